// bench/stationary_cuda.hpp -- the CUDA side of the suite of stationary iterations; defined only in CUDA
// builds.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>

#include <vouch/core/device.hpp>

namespace vouch::bench {

/// Dense systems: random entries in [0, 1) under a diagonal of so many times their sum, or the published
/// generator's band of small integers under a diagonal near n.
enum class dense_family { dominant, banded };

/// Fills A by rows, x with numbers in [0, 1) and b = A x, summed in double and rounded; all on the GPU.
template <class T>
void fill_dense_system(const device& gpu, dense_family family, double dominance, std::int64_t n, T* A, T* x,
                       T* b);

/// Bytes read a second by a kernel that only reads, best of `passes`.
double cuda_read_speed(const device& gpu, const std::byte* from, std::size_t bytes, int passes);

/// Pinned host memory.
std::shared_ptr<std::byte> pinned_memory(std::size_t bytes);
/// Copies from pinned memory and waits.
void upload(const device& gpu, std::byte* to, const std::byte* from, std::size_t bytes);

}  // namespace vouch::bench
