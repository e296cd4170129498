// bench/machine_cuda.hpp -- the CUDA side of machine; defined only in CUDA builds.
#pragma once
#include <cstddef>

#include <vouch/core/device.hpp>

namespace vouch::bench {

/// Bytes read and written a second by a device-to-device copy of `bytes`, best of `passes`.
double cuda_copy_speed(const device& gpu, std::byte* to, const std::byte* from, std::size_t bytes, int passes);

}  // namespace vouch::bench
