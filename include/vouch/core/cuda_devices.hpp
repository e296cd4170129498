// vouch/core/cuda_devices.hpp -- which GPUs there are.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include <vouch/core/visibility.hpp>

namespace VOUCH_PUBLIC vouch {

/// What `vouch devices` shows of one GPU.
struct cuda_device_facts {
  int index = 0;
  std::string name;
  int compute_major = 0, compute_minor = 0;
  int code_generation =
      0;  // compute capability, times 10, for which the kernels that run on it were compiled; 0: none
  int processors = 0;
  std::int64_t memory_total = 0, memory_free = 0;
  std::int64_t l2_bytes = 0;
  std::int64_t shared_per_block = 0;
  int driver_version = 0, runtime_version = 0;
};

/// All usable GPUs; empty where there is none, no driver, or a build without CUDA. Never throws for those.
std::vector<cuda_device_facts> cuda_devices();

}  // namespace vouch
