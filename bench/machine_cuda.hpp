// bench/machine_cuda.hpp -- the CUDA side of machine; defined only in CUDA builds.
#pragma once
#include <cstddef>
#include <functional>

#include <vouch/core/device.hpp>

namespace vouch::bench {

/// Seconds of work that is enqueued on gpu's stream, by events: the fastest of `passes` after one to warm up.
double cuda_seconds(const device& gpu, int passes, const std::function<void()>& enqueue);

/// A device-to-device copy on gpu's stream.
void enqueue_copy(const device& gpu, std::byte* to, const std::byte* from, std::size_t bytes);

/// Bytes read and written a second by a device-to-device copy of `bytes`, best of `passes`.
double cuda_copy_speed(const device& gpu, std::byte* to, const std::byte* from, std::size_t bytes, int passes);

}  // namespace vouch::bench
