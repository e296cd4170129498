// bench/reduce_gpu.hpp -- what the reduction suite needs of CUDA; defined only in CUDA builds.
#pragma once
#include <cstddef>
#include <functional>

#include <vouch/core/device.hpp>

namespace vouch::bench {

/// Seconds of work that is enqueued on gpu's stream, by events: the fastest of `passes` after one to warm up.
double cuda_seconds(const device& gpu, int passes, const std::function<void()>& enqueue);

/// Seconds to read bytes of GPU memory once and do next to nothing with them; 16 bytes aligned.
double cuda_read_seconds(const device& gpu, const void* from, std::size_t bytes);

}  // namespace vouch::bench
