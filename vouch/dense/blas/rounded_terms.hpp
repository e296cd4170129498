// vouch/dense/blas/rounded_terms.hpp -- what rounded sums are made of, for CPU and GPU; private.
#pragma once
#include <cmath>
#include <cstdint>
#include <limits>

#include <vouch/core/device.hpp>
#include <vouch/core/types.hpp>
#include <vouch/core/view.hpp>

namespace vouch::detail {

enum class summand { number, magnitude, square, product };

/// Doubles of which the exact sum consists, for each element: a product of doubles is one of two.
template <real T, summand What>
inline constexpr int terms_each = sizeof(T) == 8 && (What == summand::square || What == summand::product) ? 2
                                                                                                          : 1;

// Terms stay below this, so that a power of two 2^12 times larger and its sums are finite.
inline constexpr double largest_term = 0x1p990;
// From here on the error of a product of doubles is a double: its last bit is worth 2^-1007 or more.
inline constexpr double smallest_product = 0x1p-900;

/// Element i as terms. False where that cannot be done: what is not finite, too large, or has bits too low.
template <real T, summand What>
VOUCH_HOST_DEVICE inline bool split(T x, T y, double* terms) {
  if constexpr (What == summand::number || What == summand::magnitude) {
    terms[0] = What == summand::number ? double{x} : std::fabs(double{x});
    return std::fabs(terms[0]) < largest_term;
  } else {
    const double a = double{x}, b = double{What == summand::square ? x : y};
    terms[0] = a * b;
    if constexpr (sizeof(T) == 8) terms[1] = std::fma(a, b, -terms[0]);
    const double size = std::fabs(terms[0]);
    return size < largest_term && (sizeof(T) == 4 || size >= smallest_product || a == 0 || b == 0);
  }
}

/// What an element that is not finite does to a sum: NaN, +infinity, -infinity; 0 where it is finite.
template <real T, summand What>
VOUCH_HOST_DEVICE inline T disturbance(T x, T y) {
  const auto finite = [](T t) { return std::fabs(t) <= std::numeric_limits<T>::max(); };
  if (finite(x) && (What != summand::product || finite(y))) return 0;
  if (What == summand::number) return x;
  if (What == summand::magnitude) return std::fabs(x);
  return What == summand::square ? x * x : x * y;
}

/// Which disturbances a sum has met.
enum : unsigned { met_nan = 1, met_positive = 2, met_negative = 4 };

template <real T>
VOUCH_HOST_DEVICE inline unsigned mark_of(T disturbance) {
  if (disturbance != disturbance) return met_nan;
  if (disturbance == 0) return 0;
  return disturbance > 0 ? met_positive : met_negative;
}

/// Digits of 32 bits, in int64, of a number in units of 2^-2176: all products of doubles, and sums of 2^62.
inline constexpr int digit_origin = 2176;
inline constexpr int digit_count = 138;

/// The sums on a GPU: digits in units of 2^-digit_origin and the marks.
template <real T, summand What>
unsigned digits_cuda(const device& dev, view<const T> x, view<const T> y, std::int64_t* digits);

}  // namespace vouch::detail
