// vouch/interval/reverse.hpp -- sums and products solved for an operand: cancellation, division in two parts.
#pragma once
#include <vouch/interval/relations.hpp>

namespace vouch {

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

/// All x with x*b in c for some b: the quotient c / b with nothing thrown away where b holds 0.
///
/// Result  Entire where both hold 0. Where only b does, the two half lines around the gap that c leaves.
/// Source  IEEE Std 1788-2015, 10.5.5.
template <real T>
VOUCH_HOST_DEVICE inline two_part<interval<T>> mul_rev_to_pair(interval<T> b, interval<T> c) {
  using set = interval<T>;
  if (is_empty(b) || is_empty(c)) return {set::empty(), set::empty()};
  if (!is_member(T{}, b)) return {c / b, set::empty()};
  if (is_member(T{}, c)) return {set::entire(), set::empty()};
  // The divisor that makes the part below zero, and the one that makes the part above.
  const T numerator = c.lo() > 0 ? c.lo() : c.hi();
  const T below = c.lo() > 0 ? b.lo() : b.hi();
  const T above = c.lo() > 0 ? b.hi() : b.lo();
  const set negative =
      below == 0 ? set::empty() : set::unchecked(-rounding::infinity<T>, div_up(numerator, below));
  const set positive =
      above == 0 ? set::empty() : set::unchecked(div_down(numerator, above), rounding::infinity<T>);
  if (is_empty(negative)) return {positive, set::empty()};
  return {negative, positive};
}

}  // namespace vouch
