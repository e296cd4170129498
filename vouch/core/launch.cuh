// vouch/core/launch.cuh -- the one door to a kernel.
#pragma once
#include <cuda_runtime.h>

#include <cstdint>
#include <limits>

#include <vouch/core/check.cuh>
#include <vouch/core/device.hpp>
#include <vouch/core/gpu/generation.hpp>

namespace vouch {

/// Throws  value_error  naming the kernel
[[noreturn]] void throw_too_many_blocks(const char* name);

/// Throws  device_error  naming the kernel, what its blocks need and what the current GPU has
[[noreturn]] void throw_too_much_shared_memory(const char* name, std::size_t bytes);

struct launch_shape {
  std::int64_t blocks = 0;
  unsigned threads = 0;
  std::size_t shared_bytes = 0;
  unsigned cluster = 1;      // blocks a cluster
  bool cooperative = false;  // all blocks must be resident at once, or the launch fails
  // Begins once all blocks of the kernel before have come to let_next_kernel_begin(), where there is such code.
  bool programmatic_dependent_launch = false;
  int shared_percent = -1;  // of a multiprocessor's memory, to be shared; else as much as its blocks need
};

/// Enqueues kernel(args...) on dev's stream; no blocks is no work.
///
/// Throws  device_error  the launch was refused; the text names the kernel
template <class... Parameters, class... Arguments>
void launch(const device& dev, const char* name, launch_shape shape, void (*kernel)(Parameters...),
            Arguments... arguments) {
  if (shape.blocks == 0) return;
  if (shape.blocks > std::numeric_limits<int>::max()) throw_too_many_blocks(name);
  cudaLaunchAttribute attributes[4];
  unsigned count = 0;
  const auto add = [&](cudaLaunchAttributeID id) -> cudaLaunchAttributeValue& {
    attributes[count] = {};
    attributes[count].id = id;
    return attributes[count++].val;
  };
  if (shape.cluster > 1) add(cudaLaunchAttributeClusterDimension).clusterDim = {shape.cluster, 1, 1};
  if (shape.cooperative) add(cudaLaunchAttributeCooperative).cooperative = 1;
  if (shape.programmatic_dependent_launch && runs_sm90_code(dev))
    add(cudaLaunchAttributeProgrammaticStreamSerialization).programmaticStreamSerializationAllowed = 1;
  if (shape.shared_percent >= 0)
    add(cudaLaunchAttributePreferredSharedMemoryCarveout).sharedMemCarveout =
        static_cast<unsigned>(shape.shared_percent);
  cudaLaunchConfig_t config = {};
  config.gridDim = static_cast<unsigned>(shape.blocks);
  config.blockDim = shape.threads;
  config.dynamicSmemBytes = shape.shared_bytes;
  config.stream = static_cast<cudaStream_t>(dev.stream());
  config.attrs = attributes;
  config.numAttrs = count;
  check(cudaSetDevice(dev.index()), name);  // another GPU, or another thread, may have been at work
  constexpr std::size_t always_allowed = 48 << 10;
  if (shape.shared_bytes > always_allowed) {
    const cudaError_t code = cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                                  static_cast<int>(shape.shared_bytes));
    if (code == cudaErrorInvalidValue) throw_too_much_shared_memory(name, shape.shared_bytes);
    check(code, name);
  }
  check(cudaLaunchKernelEx(&config, kernel, static_cast<Parameters>(arguments)...), name);
}

}  // namespace vouch
