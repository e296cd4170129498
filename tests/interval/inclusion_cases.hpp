// tests/interval/inclusion_cases.hpp -- random intervals, thin and wide, bounded and not, and points in them.
#pragma once
#include <algorithm>

#include "campaign.hpp"
#include "interval/inclusion.hpp"
#include "interval/numbers.hpp"

namespace vouch::testing {

template <real T>
interval<T> random_interval(std::uint64_t seed, std::uint64_t counter) {
  T lo = adversarial_number<T>(seed, counter);
  T hi = adversarial_number<T>(seed + 100, counter);
  const std::uint64_t kind = random_bits(seed + 200, counter) % 4;
  if (kind == 0) hi = lo;
  if (kind == 1) hi = next_up(next_up(lo));
  if (lo > hi) std::swap(lo, hi);
  if (lo == rounding::infinity<T>) lo = rounding::largest<T>;
  if (hi == -rounding::infinity<T>) hi = -rounding::largest<T>;
  return interval<T>::unchecked(lo, hi);
}

/// A bound, the midpoint, or something between.
template <real T>
T random_point(interval<T> x, std::uint64_t seed, std::uint64_t counter) {
  const T lo = std::max(x.lo(), -rounding::largest<T>);
  const T hi = std::min(x.hi(), rounding::largest<T>);
  switch (random_bits(seed, counter) % 4) {
    case 0:
      return lo;
    case 1:
      return hi;
    case 2:
      return mid(interval<T>::unchecked(lo, hi));
    default: {
      const T t = static_cast<T>(random_unit(seed + 1, counter));
      return std::clamp(lo * (1 - t) + hi * t, lo, hi);
    }
  }
}

template <real T>
inclusion_case<T> random_case(std::uint64_t counter) {
  inclusion_case<T> v{random_interval<T>(1000, counter),
                      random_interval<T>(2000, counter),
                      random_interval<T>(3000, counter),
                      0,
                      0,
                      0};
  v.a = random_point(v.x, 4000, counter);
  v.b = random_point(v.y, 5000, counter);
  v.c = random_point(v.z, 6000, counter);
  return v;
}

}  // namespace vouch::testing
