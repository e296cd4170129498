// vouch/core/launch.cuh -- the one door to a kernel.
#pragma once
#include <cuda_runtime.h>

#include <cstdint>
#include <limits>

#include <vouch/core/check.cuh>
#include <vouch/core/device.hpp>

namespace vouch {

struct launch_shape {
  std::int64_t blocks = 0;
  unsigned threads = 0;
  unsigned shared_bytes = 0;
};

/// Enqueues kernel(args...) on dev's stream; no blocks is no work.
///
/// Throws  device_error  the launch was refused; the text names the kernel
template <class... Parameters, class... Arguments>
void launch(const device& dev, const char* name, launch_shape shape, void (*kernel)(Parameters...),
            Arguments... arguments) {
  if (shape.blocks == 0) return;
  if (shape.blocks > std::numeric_limits<int>::max()) throw value_error(std::string(name) + ": too many blocks");
  kernel<<<static_cast<unsigned>(shape.blocks), shape.threads, shape.shared_bytes,
           static_cast<cudaStream_t>(dev.stream())>>>(arguments...);
  check(cudaGetLastError(), name);
}

}  // namespace vouch
