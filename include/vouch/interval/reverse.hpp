// vouch/interval/reverse.hpp -- operations solved for an operand: cancellation, division in two parts, the
// numbers whose square, magnitude, integer power or product lies in a set.
#pragma once
#include <vouch/core/visibility.hpp>
#include <vouch/interval/relations.hpp>
#include <vouch/interval/roots.hpp>

VOUCH_AS_WRITTEN_BEGIN
namespace VOUCH_PUBLIC vouch {

namespace rounding {

// The width of a bounded interval as an unevaluated sum, larger part first. Where two widths overflow, their
// bounds are so large that halving them is exact.
template <real T>
struct exact_width {
  T width;
  T error;
};

template <real T>
VOUCH_HOST_DEVICE inline exact_width<T> width_of(T lo, T hi) {
  const T s = hi - lo;
  const T z = s - hi;
  return {s, (hi - (s - z)) - (lo + z)};
}

template <real T>
VOUCH_HOST_DEVICE inline bool narrower(interval<T> x, interval<T> y) {
  const bool overflows = x.hi() - x.lo() == infinity<T> && y.hi() - y.lo() == infinity<T>;
  const T factor = overflows ? T(0.5) : T(1);
  const auto width_x = width_of(factor * x.lo(), factor * x.hi());
  const auto width_y = width_of(factor * y.lo(), factor * y.hi());
  // Where rounding went to the same number, the parts that it left decide.
  return width_x.width != width_y.width ? width_x.width < width_y.width : width_x.error < width_y.error;
}

}  // namespace rounding

/// The smallest interval z with x inside y + z where x is at least as wide as y, else entire.
///
/// Result  Empty for an empty x and a y that is bounded or empty; entire where either is unbounded or only y is
///         empty. The widths are compared exactly.
/// Source  IEEE Std 1788-2015, 10.5.6.
template <real T>
VOUCH_HOST_DEVICE inline interval<T> cancel_minus(interval<T> x, interval<T> y) {
  VOUCH_IN_IEEE(cancel_minus(x, y));
  if (is_empty(x)) return is_empty(y) || is_common(y) ? interval<T>::empty() : interval<T>::entire();
  if (!is_common(x) || !is_common(y) || rounding::narrower(x, y)) return interval<T>::entire();
  return interval<T>::unchecked(sub_down(x.lo(), y.lo()), sub_up(x.hi(), y.hi()));
}

/// cancel_minus(x, -y)
template <real T>
VOUCH_HOST_DEVICE inline interval<T> cancel_plus(interval<T> x, interval<T> y) {
  return cancel_minus(x, -y);
}

/// A set of numbers in up to two disjoint intervals, in their order; what is not needed is empty.
template <class Interval>
struct two_part {
  Interval first;
  Interval second;
};

/// The smallest interval around both parts.
template <real T>
VOUCH_HOST_DEVICE constexpr interval<T> hull(two_part<interval<T>> x) {
  return hull(x.first, x.second);
}

namespace rounding {

// The real numbers between two ends that need be no numbers of type T: each is given by the narrowest interval
// around it. An end that is only approached is an end beside that number: just above 0 is [0, least_positive].
template <real T>
struct stretch {
  interval<T> least;
  interval<T> greatest;
};

template <real T>
VOUCH_HOST_DEVICE constexpr interval<T> exactly(T x) {
  return interval<T>::unchecked(x, x);
}
template <real T>
VOUCH_HOST_DEVICE inline interval<T> just_above(T x) {
  return interval<T>::unchecked(x, next_up(x));
}
template <real T>
VOUCH_HOST_DEVICE inline interval<T> just_below(T x) {
  return interval<T>::unchecked(next_down(x), x);
}

template <real T>
VOUCH_HOST_DEVICE constexpr stretch<T> operator-(stretch<T> s) {
  return {-s.greatest, -s.least};
}

// The smallest interval around what x has of s. An end is not above a number if its upper neighbour is not.
template <real T>
VOUCH_HOST_DEVICE constexpr interval<T> within(stretch<T> s, interval<T> x) {
  if (!(s.least.hi() <= x.hi() && x.lo() <= s.greatest.lo())) return interval<T>::empty();
  return interval<T>::unchecked(larger(x.lo(), s.least.lo()), smaller(x.hi(), s.greatest.hi()));
}

// The same for s on both sides of 0.
template <real T>
VOUCH_HOST_DEVICE constexpr interval<T> within_both_signs(stretch<T> s, interval<T> x) {
  return hull(within(s, x), within(-s, x));
}

template <real T>
VOUCH_HOST_DEVICE constexpr interval<T> not_negative(interval<T> x) {
  return intersection(x, interval<T>::unchecked(0, infinity<T>));
}

// The t >= 0 with t^n in c, for n != 0 and a c >= 0 that holds such a power.
template <real T>
VOUCH_HOST_DEVICE inline stretch<T> roots_of(interval<T> c, int n) {
  const interval<T> low = root_bounds(c.lo(), n);
  const interval<T> high = root_bounds(c.hi(), n);
  return n > 0 ? stretch<T>{low, high} : stretch<T>{high, low};
}

template <real T>
VOUCH_HOST_DEVICE inline bool has_power(interval<T> c, int n) {
  return c.hi() > 0 || (n > 0 && c.hi() == 0);
}

}  // namespace rounding

// NAME_rev(c, x) is the smallest interval around those t of x for which NAME(t) lies in c, x being all numbers
// where it is left out; operations of two operands are given the other one first.
//
// Source  IEEE Std 1788-2015, 10.5.4.

template <real T>
VOUCH_HOST_DEVICE inline interval<T> sqr_rev(interval<T> c, interval<T> x = interval<T>::entire()) {
  VOUCH_IN_IEEE(sqr_rev(c, x));
  using namespace rounding;
  c = not_negative(c);
  if (is_empty(c)) return c;
  return within_both_signs(roots_of(c, 2), x);
}

template <real T>
VOUCH_HOST_DEVICE constexpr interval<T> abs_rev(interval<T> c, interval<T> x = interval<T>::entire()) {
  VOUCH_IN_IEEE(abs_rev(c, x));
  using namespace rounding;
  c = not_negative(c);
  if (is_empty(c)) return c;
  return within_both_signs<T>({exactly(c.lo()), exactly(c.hi())}, x);
}

/// The t of x with t^n in c; for n < 0 without 0.
///
/// Result  The smallest interval, unless the power of a number differs from a bound of c by less than |n|
///         2^-125 of it and yet differs: one number wider there.
template <real T>
VOUCH_HOST_DEVICE inline interval<T> pown_rev(interval<T> c, interval<T> x, int n) {
  VOUCH_IN_IEEE(pown_rev(c, x, n));
  using namespace rounding;
  if (n == 0) return is_member(T{1}, c) ? x : interval<T>::empty();
  const interval<T> above = not_negative(c);
  const interval<T> below = not_negative(n % 2 == 0 ? c : -c);
  auto result = interval<T>::empty();
  if (has_power(above, n)) result = within(roots_of(above, n), x);
  if (has_power(below, n)) result = hull(result, within(-roots_of(below, n), x));
  return result;
}
template <real T>
VOUCH_HOST_DEVICE inline interval<T> pown_rev(interval<T> c, int n) {
  return pown_rev(c, interval<T>::entire(), n);
}

namespace rounding {

// The solutions t of t b = c as quotients, for quantities that stand in some order on both sides of a pivot as
// numbers do around 0. Algebra says what the pivots are, what quotient belongs to c = pivot, what to two ends
// of known sign, and what all quotients are.

// Of numbers.
template <real T>
struct number_algebra {
  static constexpr T pivot_of_divisors = 0;
  static constexpr T pivot_of_products = 0;
  VOUCH_HOST_DEVICE static interval<T> at_pivot() { return exactly(T{}); }
  VOUCH_HOST_DEVICE static stretch<T> all() { return {exactly(-infinity<T>), exactly(infinity<T>)}; }
  // Divisors come near to a bound that is 0 or infinite, but do not reach it.
  VOUCH_HOST_DEVICE static interval<T> quotient(T c, T b, bool positive) {
    if (b == 0) return exactly(positive ? infinity<T> : -infinity<T>);
    if (!finite(b)) return positive ? just_above(T{}) : just_below(T{});
    return interval<T>::unchecked(div_down(c, b), div_up(c, b));
  }
};

// Quotients with divisors of one sign, from near to far from the pivot, and c from low to high; for negative
// divisors c is taken from high to low.
template <class Algebra, real T>
VOUCH_HOST_DEVICE inline stretch<T> quotients(T low, T high, T near, T far) {
  constexpr T pivot = Algebra::pivot_of_products;
  const bool negative = far < Algebra::pivot_of_divisors;
  const bool low_positive = negative ? low < pivot : low > pivot;
  const bool high_negative = negative ? high > pivot : high < pivot;
  return {low == pivot ? Algebra::at_pivot() : Algebra::quotient(low, low_positive ? far : near, low_positive),
          high == pivot ? Algebra::at_pivot()
                        : Algebra::quotient(high, high_negative ? far : near, !high_negative)};
}

// What x has of the solutions, by the sign of the divisor.
template <class Algebra, real T>
VOUCH_HOST_DEVICE inline two_part<interval<T>> solutions(interval<T> b, interval<T> c, interval<T> x) {
  constexpr T pivot = Algebra::pivot_of_divisors;
  two_part<interval<T>> parts{interval<T>::empty(), interval<T>::empty()};
  if (is_empty(b) || is_empty(c)) return parts;
  if (is_member(pivot, b) && is_member(Algebra::pivot_of_products, c)) {
    parts.first = within(Algebra::all(), x);
    return parts;
  }
  if (b.lo() < pivot)
    parts.first = within(quotients<Algebra>(c.hi(), c.lo(), smaller(b.hi(), pivot), b.lo()), x);
  if (b.hi() > pivot)
    parts.second = within(quotients<Algebra>(c.lo(), c.hi(), larger(b.lo(), pivot), b.hi()), x);
  return parts;
}

}  // namespace rounding

/// All x with x*b in c for some b: the quotient c / b with nothing thrown away where b holds 0.
///
/// Result  Entire where both hold 0. Where only b does, the two half lines around the gap that c leaves.
/// Source  IEEE Std 1788-2015, 10.5.5.
template <real T>
VOUCH_HOST_DEVICE inline two_part<interval<T>> mul_rev_to_pair(interval<T> b, interval<T> c) {
  VOUCH_IN_IEEE(mul_rev_to_pair(b, c));
  const auto parts = rounding::solutions<rounding::number_algebra<T>>(b, c, interval<T>::entire());
  if (is_empty(parts.first) || parts.second.lo() < parts.first.lo()) return {parts.second, parts.first};
  return parts;
}

/// The t of x with t*b in c for some b.
template <real T>
VOUCH_HOST_DEVICE inline interval<T> mul_rev(interval<T> b, interval<T> c,
                                             interval<T> x = interval<T>::entire()) {
  VOUCH_IN_IEEE(mul_rev(b, c, x));
  return hull(rounding::solutions<rounding::number_algebra<T>>(b, c, x));
}

}  // namespace vouch
VOUCH_AS_WRITTEN_END
