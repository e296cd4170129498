// bench/dense_family.hpp -- the dense systems of the suite of stationary iterations, the same on every device.
#pragma once
#include <cmath>
#include <cstdint>

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

}  // namespace vouch::bench
