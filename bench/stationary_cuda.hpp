// bench/stationary_cuda.hpp -- the dense systems of the suite of stationary iterations, the same on every device,
// and its CUDA side, which is defined in CUDA builds alone.
#pragma once
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>

#include <vouch/core/device.hpp>
#include <vouch/core/random.hpp>
#include <vouch/core/types.hpp>

namespace vouch::bench {

/// Random entries in [0, 1), or in (-1, 1), under a diagonal of so many times the sum of their magnitudes; or
/// the published generator's band of small integers under a diagonal near n, for a solution of integers.
enum class dense_family { positive, signed_entries, banded };

template <class T>
VOUCH_HOST_DEVICE T family_entry(dense_family family, std::int64_t n, std::int64_t i, std::int64_t j) {
  constexpr std::uint64_t seed = 1;
  const auto at = static_cast<std::uint64_t>(i * n + j);
  if (family == dense_family::banded) {
    const std::int64_t band = 15 * n / 100;
    return i - j <= band && j - i <= band ? static_cast<T>(random_bits(seed, at) % 5) : T{};
  }
  const double unit = random_unit(seed, at);
  return static_cast<T>(family == dense_family::positive ? unit : 2 * unit - 1);
}

/// others: the sum of the magnitudes beside it.
template <class T>
VOUCH_HOST_DEVICE T family_diagonal(dense_family family, double dominance, std::int64_t n, std::int64_t i,
                                    double others) {
  constexpr std::uint64_t seed = 1;
  if (family != dense_family::banded) return static_cast<T>(dominance * others);
  return static_cast<T>(
      n + static_cast<std::int64_t>(random_bits(seed, static_cast<std::uint64_t>(i * n + i)) % 50));
}

template <class T>
VOUCH_HOST_DEVICE T family_solution(dense_family family, std::int64_t i) {
  constexpr std::uint64_t seed = 2;
  const double unit = random_unit(seed, static_cast<std::uint64_t>(i));
  return static_cast<T>(family == dense_family::banded ? std::floor(50 * unit) : unit);
}

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
  double all_to_all = 0, hop = 0;
};
travel_seconds cuda_travel_seconds(const device& gpu);

/// Pinned host memory.
std::shared_ptr<std::byte> pinned_memory(std::size_t bytes);

}  // namespace vouch::bench
