// tests/devices.hpp -- the devices a test runs on.
#pragma once
#include <gtest/gtest.h>

#include <cstdlib>
#include <vector>

#include <vouch/core/cuda_devices.hpp>
#include <vouch/core/device.hpp>

namespace vouch::testing {

/// The first GPU, or nothing. VOUCH_REQUIRE_GPU=1 turns "nothing" into a failure.
inline std::vector<device> gpus() {
  if (const device best = device::best(); best.is_cuda()) return {best};
  const char* required = std::getenv("VOUCH_REQUIRE_GPU");
  if (required != nullptr && *required == '1') ADD_FAILURE() << "VOUCH_REQUIRE_GPU=1 and no usable GPU";
  return {};
}

/// One thread, several threads, and the GPU where there is one; with VOUCH_ONLY_GPU=1 that alone.
inline std::vector<device> devices() {
  const char* only = std::getenv("VOUCH_ONLY_GPU");
  if (only != nullptr && *only == '1') return gpus();
  std::vector<device> all{device::cpu(1), device::cpu(3)};
  for (const device& gpu : gpus()) all.push_back(gpu);
  return all;
}

/// Whether the kernels that run on dev may have clusters and tensor maps.
inline bool runs_sm90_code(const device& dev) {
  for (const cuda_device_facts& gpu : cuda_devices())
    if (gpu.index == dev.index()) return gpu.code_generation >= 90;
  return false;
}

}  // namespace vouch::testing

/// A test of CUDA code alone: skipped, by name, where there is no GPU.
#define VOUCH_NEEDS_GPU() \
  if (vouch::testing::gpus().empty()) GTEST_SKIP() << "no GPU on this machine"
