// vouch/interval/power.hpp -- integer powers of intervals.
#pragma once
#include <cmath>

#include <vouch/core/double_double.hpp>
#include <vouch/core/visibility.hpp>
#include <vouch/interval/functions.hpp>

VOUCH_AS_WRITTEN_BEGIN
namespace VOUCH_PUBLIC vouch {

namespace rounding {

// (part.hi + part.lo) * 2^exponent with part.hi in [1, 4). exact: no rounding happened on the way.
struct scaled_power {
  double_double<double> part;
  std::int64_t exponent;
  bool exact;
};

// The product errs by at most 5 * 2^-106 of its size.
// Source  Joldes, Muller, Popescu, ACM TOMS 44 (2017), theorem 5.3.
VOUCH_HOST_DEVICE inline scaled_power times(scaled_power x, scaled_power y) {
  const double_double<double> head = two_prod(rounded(x.part.hi), y.part.hi);
  const double cross = fused(x.part.lo, y.part.hi, rounded_product(x.part.hi, y.part.lo));
  double_double<double> product = quick_two_sum(head.hi, head.lo + cross);
  // In [1, 16): brought back by an exact quarter, so that powers of any height stay in range.
  std::int64_t exponent = x.exponent + y.exponent;
  if (product.hi >= 4) {
    product = {product.hi / 4, product.lo / 4};
    exponent += 2;
  }
  const bool exact = x.exact && y.exact && head.lo == 0 && x.part.lo == 0 && y.part.lo == 0;
  return {product, exponent, exact};
}

// The reciprocal errs by at most 7 * 2^-106 of its size beside what x errs.
VOUCH_HOST_DEVICE inline scaled_power inverse(scaled_power x) {
  const double head = 1 / x.part.hi;
  const double rest = fused(-head, x.part.hi, 1.0);
  const double tail = fused(-head, x.part.lo, rest) / x.part.hi;
  const double_double<double> quotient = quick_two_sum(head, tail);
  // In (1/4, 1]: times 4 it is in (1, 4].
  return {{4 * quotient.hi, 4 * quotient.lo}, -x.exponent - 2, x.exact && rest == 0 && x.part.lo == 0};
}

// x^n for finite x > 0 and n != 0, by squaring.
VOUCH_HOST_DEVICE inline scaled_power power_of(double x, std::int64_t n) {
  int exponent = 0;
  const double fraction = std::frexp(x, &exponent);
  scaled_power square{{2 * fraction, 0}, exponent - 1, true};
  scaled_power result{{1, 0}, 0, true};
  for (std::uint64_t k = static_cast<std::uint64_t>(n < 0 ? -n : n); k != 0; k /= 2) {
    if (k % 2 == 1) result = times(result, square);
    if (k > 1) square = times(square, square);
  }
  return n < 0 ? inverse(result) : result;
}

VOUCH_HOST_DEVICE inline double power_of_two(int exponent) { return std::ldexp(1.0, exponent); }

// x * 2^exponent in a direction for x in [1/2, 8]: one rounding, at the end.
template <direction To>
VOUCH_HOST_DEVICE inline double scaled_in_direction(double x, std::int64_t exponent) {
  constexpr std::int64_t far = 1200;
  const int near = static_cast<int>(exponent > far ? far : exponent < -far ? -far : exponent);
  const double first = x * power_of_two(near / 2);
  const double second = power_of_two(near - near / 2);
  return To == direction::down ? mul_down(first, second) : mul_up(first, second);
}

// x^n for 0 <= x <= infinity and n != 0. With n - 1 products each in error by 5 * 2^-106 of its size, and a
// reciprocal, the result errs by less than (|n| + 2) * 2^-103 of its size; the bound lies outside of that.
template <direction To, real T>
VOUCH_HOST_DEVICE inline T power_bound(T x, std::int64_t n) {
  if (x == 0) return n > 0 ? T{} : infinity<T>;
  if (x == infinity<T>) return n > 0 ? infinity<T> : T{};
  const scaled_power p = power_of(static_cast<double>(x), n);
  const double error = p.exact ? 0 : static_cast<double>((n < 0 ? -n : n) + 2) * 0x1p-103 * p.part.hi;
  if constexpr (To == direction::down)
    return converted<To, T>(
        scaled_in_direction<To>(add_down(p.part.hi, sub_down(p.part.lo, error)), p.exponent));
  else
    return converted<To, T>(scaled_in_direction<To>(add_up(p.part.hi, add_up(p.part.lo, error)), p.exponent));
}

}  // namespace rounding

/// x^n for all numbers of x; for n < 0 without 0.
///
/// Result  The smallest interval, unless the exact bound lies so close to a number that (|n| + 2) * 2^-101
///         of it decides: one number wider there. Exact powers are exact.
template <real T>
VOUCH_HOST_DEVICE inline interval<T> pown(interval<T> x, int n) {
  VOUCH_IN_IEEE(pown(x, n));
  using namespace rounding;
  if (is_empty(x) || (n < 0 && x.lo() == 0 && x.hi() == 0)) return interval<T>::empty();
  if (n == 0) return interval<T>(T{1});
  if (n == 1) return x;
  if (n == 2) return sqr(x);
  if (n == -1) return recip(x);
  constexpr auto down = direction::down;
  constexpr auto up = direction::up;
  if (n % 2 == 0) {
    const T near = n > 0 ? mig(x) : mag(x);
    const T far = n > 0 ? mag(x) : mig(x);
    return interval<T>::unchecked(power_bound<down>(near, n), power_bound<up>(far, n));
  }
  if (n < 0 && x.lo() < 0 && x.hi() > 0) return interval<T>::entire();
  // Odd powers keep the order, their reciprocals turn it; a bound 0 of a divisor is approached from the inside.
  const bool negative = x.hi() <= 0;
  if (negative) x = -x;
  interval<T> power;
  if (n > 0)
    power = interval<T>::unchecked(x.lo() < 0 ? -power_bound<up>(-x.lo(), n) : power_bound<down>(x.lo(), n),
                                   power_bound<up>(x.hi(), n));
  else
    power = interval<T>::unchecked(power_bound<down>(x.hi(), n), power_bound<up>(magnitude(x.lo()), n));
  return negative ? -power : power;
}

}  // namespace vouch
VOUCH_AS_WRITTEN_END
