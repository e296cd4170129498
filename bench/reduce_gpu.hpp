// bench/reduce_gpu.hpp -- what the suites of text need of CUDA; defined only in CUDA builds.
#pragma once
#include <cstddef>

#include <vouch/core/device.hpp>

namespace vouch::bench {

/// Seconds to read bytes of GPU memory once and do next to nothing with them; 16 bytes aligned.
double cuda_read_seconds(const device& gpu, const void* from, std::size_t bytes);

/// Seconds that so many bytes take from pinned memory to the GPU, 32 MB at a time: the bus's floor.
double cuda_bus_seconds(const device& gpu, double bytes);

}  // namespace vouch::bench
