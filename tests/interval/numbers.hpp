// tests/interval/numbers.hpp -- operands that break rounding: special values, ties, exact cases, any bits.
#pragma once
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <vector>

#include <vouch/core/random.hpp>
#include <vouch/core/types.hpp>

namespace vouch::testing {

/// Zeros, ones, the ends of the subnormal, normal and finite range and their neighbours, infinities.
template <real T>
std::vector<T> special_numbers() {
  using limits = std::numeric_limits<T>;
  const T epsilon = limits::epsilon();
  std::vector<T> positive{0,
                          1,
                          2,
                          3,
                          T(0.1),
                          1 + epsilon,
                          1 - epsilon / 2,
                          2 - epsilon,
                          epsilon,
                          limits::denorm_min(),
                          2 * limits::denorm_min(),
                          3 * limits::denorm_min(),
                          limits::min(),
                          limits::min() - limits::denorm_min(),
                          limits::min() * (1 + epsilon),
                          limits::max(),
                          limits::max() * (1 - epsilon),
                          limits::max() / 2,
                          std::sqrt(limits::max()),
                          std::sqrt(limits::min()),
                          limits::infinity()};
  std::vector<T> all = positive;
  for (const T x : positive) all.push_back(-x);
  return all;
}

/// Number `counter` of a stream that mixes any bit pattern (without NaN), moderate numbers, short mantissas
/// (exact results and ties) and numbers near the ends of the range.
template <real T>
T adversarial_number(std::uint64_t seed, std::uint64_t counter) {
  using limits = std::numeric_limits<T>;
  const std::uint64_t bits = random_bits(seed, counter);
  const std::uint64_t kind = random_bits(seed + 1, counter) % 8;
  const T sign = bits & 1 ? T{-1} : T{1};
  const T fraction = 1 + static_cast<T>(bits >> 40) * T(0x1p-24);
  const int few = static_cast<int>(bits >> 20 & 15);
  switch (kind) {
    case 0:
    case 1: {
      T any;
      std::memcpy(&any, &bits, sizeof any);
      return any == any ? any : T{1};
    }
    case 2:
      return sign * static_cast<T>(bits >> 50) * std::ldexp(T{1}, few - 8);
    case 3:
      return sign * std::ldexp(1 + static_cast<T>(few) * limits::epsilon(), static_cast<int>(bits >> 8 & 7));
    case 4:
      return sign * std::ldexp(fraction, limits::min_exponent - 30 + static_cast<int>(bits >> 8 & 63));
    case 5:
      return sign * std::ldexp(fraction, limits::max_exponent - 1 - (few & 3));
    case 6:
      return sign * std::ldexp(fraction, (limits::min_exponent >> (bits >> 8 & 1)) / 2 + few - 8);
    default:
      return sign * static_cast<T>(random_unit(seed + 2, counter) * 4);
  }
}

}  // namespace vouch::testing
