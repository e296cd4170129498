// bench/stationary_cuda.hpp -- the CUDA side of the suite of stationary iterations; defined only in CUDA
// builds.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>

#include <vouch/core/device.hpp>

#include "dense_family.hpp"

namespace vouch::bench {

/// Fills A by rows, x with the solution and b = A x, summed in double and rounded; all on the GPU.
template <class T>
void fill_dense_system(const device& gpu, dense_family family, double dominance, std::int64_t n, T* A, T* x,
                       T* b);

/// Bytes read a second by a kernel that only reads, best of `passes`.
double cuda_read_speed(const device& gpu, const std::byte* from, std::size_t bytes, int passes);

/// to becomes the transpose of from, of order n, as it is written first: a thread an element.
void transpose_plainly(const device& gpu, std::int64_t n, const float* from, float* to);

/// How long numbers travel between blocks of a running kernel: all blocks' numbers to all of them, and one
/// number to one other block. No sweep of a matrix that stays on the chip takes less than the former.
struct travel_seconds {
  double exchange = 0, hop = 0;
};
travel_seconds cuda_travel_seconds(const device& gpu);

/// Pinned host memory.
std::shared_ptr<std::byte> pinned_memory(std::size_t bytes);

}  // namespace vouch::bench
