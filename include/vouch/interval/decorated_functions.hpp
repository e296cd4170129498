// vouch/interval/decorated_functions.hpp -- arithmetic, comparisons and sizes of decorated intervals.
#pragma once
#include <vouch/core/visibility.hpp>
#include <vouch/interval/decorated.hpp>
#include <vouch/interval/functions.hpp>
#include <vouch/interval/integer.hpp>
#include <vouch/interval/power.hpp>
#include <vouch/interval/reverse.hpp>

VOUCH_AS_WRITTEN_BEGIN
namespace VOUCH_PUBLIC vouch {

// Each function is the bare one on the parts. What is said beside it is where it is defined and continuous;
// set operations and cancellation are no point functions, so that nothing is known after them (trv).

namespace decorating {

template <real T>
VOUCH_HOST_DEVICE constexpr bool has_zero(decorated_interval<T> x) {
  return x.bare().lo() <= 0 && x.bare().hi() >= 0;
}

VOUCH_HOST_DEVICE constexpr decoration com_if(bool defined) {
  return defined ? decoration::com : decoration::trv;
}

// Of a step function: constant on x it is continuous there, and beyond x too unless x touches a step.
template <real T>
VOUCH_HOST_DEVICE constexpr decorated_interval<T> steps(interval<T> result, bool touches,
                                                        decorated_interval<T> x) {
  const bool constant = result.lo() == result.hi();
  const auto local = !constant ? decoration::def : touches ? decoration::dac : decoration::com;
  return decorated_result(result, local, x);
}

}  // namespace decorating

template <real T>
VOUCH_HOST_DEVICE constexpr decorated_interval<T> operator+(decorated_interval<T> x) {
  return x;
}
template <real T>
VOUCH_HOST_DEVICE constexpr decorated_interval<T> operator-(decorated_interval<T> x) {
  return decorated_result(-x.bare(), decoration::com, x);
}
template <real T>
VOUCH_HOST_DEVICE inline decorated_interval<T> operator+(decorated_interval<T> x, decorated_interval<T> y) {
  return decorated_result(x.bare() + y.bare(), decoration::com, x, y);
}
template <real T>
VOUCH_HOST_DEVICE inline decorated_interval<T> operator-(decorated_interval<T> x, decorated_interval<T> y) {
  return decorated_result(x.bare() - y.bare(), decoration::com, x, y);
}
template <real T>
VOUCH_HOST_DEVICE inline decorated_interval<T> operator*(decorated_interval<T> x, decorated_interval<T> y) {
  return decorated_result(x.bare() * y.bare(), decoration::com, x, y);
}
/// Not defined where y holds 0.
template <real T>
VOUCH_HOST_DEVICE inline decorated_interval<T> operator/(decorated_interval<T> x, decorated_interval<T> y) {
  VOUCH_IN_IEEE(x / y);
  return decorated_result(x.bare() / y.bare(), decorating::com_if(!decorating::has_zero(y)), x, y);
}
template <real T>
VOUCH_HOST_DEVICE inline decorated_interval<T> recip(decorated_interval<T> x) {
  VOUCH_IN_IEEE(recip(x));
  return decorated_result(recip(x.bare()), decorating::com_if(!decorating::has_zero(x)), x);
}
template <real T>
VOUCH_HOST_DEVICE inline decorated_interval<T> fma(decorated_interval<T> x, decorated_interval<T> y,
                                                   decorated_interval<T> z) {
  return decorated_result(fma(x.bare(), y.bare(), z.bare()), decoration::com, x, y, z);
}
template <real T>
VOUCH_HOST_DEVICE inline decorated_interval<T> sqr(decorated_interval<T> x) {
  return decorated_result(sqr(x.bare()), decoration::com, x);
}
/// Not defined below 0.
template <real T>
VOUCH_HOST_DEVICE inline decorated_interval<T> sqrt(decorated_interval<T> x) {
  VOUCH_IN_IEEE(sqrt(x));
  return decorated_result(sqrt(x.bare()), decorating::com_if(x.bare().lo() >= 0), x);
}
/// For n < 0 not defined at 0.
template <real T>
VOUCH_HOST_DEVICE inline decorated_interval<T> pown(decorated_interval<T> x, int n) {
  VOUCH_IN_IEEE(pown(x, n));
  return decorated_result(pown(x.bare(), n), decorating::com_if(n >= 0 || !decorating::has_zero(x)), x);
}
template <real T>
VOUCH_HOST_DEVICE constexpr decorated_interval<T> abs(decorated_interval<T> x) {
  return decorated_result(abs(x.bare()), decoration::com, x);
}
template <real T>
VOUCH_HOST_DEVICE constexpr decorated_interval<T> min(decorated_interval<T> x, decorated_interval<T> y) {
  return decorated_result(min(x.bare(), y.bare()), decoration::com, x, y);
}
template <real T>
VOUCH_HOST_DEVICE constexpr decorated_interval<T> max(decorated_interval<T> x, decorated_interval<T> y) {
  return decorated_result(max(x.bare(), y.bare()), decoration::com, x, y);
}

/// A step at 0.
template <real T>
VOUCH_HOST_DEVICE constexpr decorated_interval<T> sign(decorated_interval<T> x) {
  VOUCH_IN_IEEE(sign(x));
  return decorating::steps(sign(x.bare()), decorating::has_zero(x), x);
}
/// Steps just above the integers.
template <real T>
VOUCH_HOST_DEVICE inline decorated_interval<T> ceil(decorated_interval<T> x) {
  VOUCH_IN_IEEE(ceil(x));
  const auto result = ceil(x.bare());
  return decorating::steps(result, x.bare().hi() == result.hi(), x);
}
/// Steps just below the integers.
template <real T>
VOUCH_HOST_DEVICE inline decorated_interval<T> floor(decorated_interval<T> x) {
  VOUCH_IN_IEEE(floor(x));
  const auto result = floor(x.bare());
  return decorating::steps(result, x.bare().lo() == result.lo(), x);
}
/// Steps at the integers but 0.
template <real T>
VOUCH_HOST_DEVICE inline decorated_interval<T> trunc(decorated_interval<T> x) {
  VOUCH_IN_IEEE(trunc(x));
  const auto result = trunc(x.bare());
  const T step = result.lo();
  return decorating::steps(result, step != 0 && (x.bare().lo() == step || x.bare().hi() == step), x);
}
/// Steps at the halves.
template <real T>
VOUCH_HOST_DEVICE inline decorated_interval<T> round(decorated_interval<T> x) {
  VOUCH_IN_IEEE(round(x));
  const auto result = round(x.bare());
  return decorating::steps(result, mag(x.bare() - result.lo()) >= T(0.5), x);
}
/// Steps at the halves.
template <real T>
VOUCH_HOST_DEVICE inline decorated_interval<T> round_ties_to_even(decorated_interval<T> x) {
  VOUCH_IN_IEEE(round_ties_to_even(x));
  const auto result = round_ties_to_even(x.bare());
  return decorating::steps(result, mag(x.bare() - result.lo()) >= T(0.5), x);
}

template <real T>
VOUCH_HOST_DEVICE constexpr decorated_interval<T> intersection(decorated_interval<T> x,
                                                               decorated_interval<T> y) {
  return decorated_result(intersection(x.bare(), y.bare()), decoration::trv, x, y);
}
template <real T>
VOUCH_HOST_DEVICE constexpr decorated_interval<T> hull(decorated_interval<T> x, decorated_interval<T> y) {
  return decorated_result(hull(x.bare(), y.bare()), decoration::trv, x, y);
}
template <real T>
VOUCH_HOST_DEVICE inline decorated_interval<T> cancel_minus(decorated_interval<T> x, decorated_interval<T> y) {
  return decorated_result(cancel_minus(x.bare(), y.bare()), decoration::trv, x, y);
}
template <real T>
VOUCH_HOST_DEVICE inline decorated_interval<T> cancel_plus(decorated_interval<T> x, decorated_interval<T> y) {
  return decorated_result(cancel_plus(x.bare(), y.bare()), decoration::trv, x, y);
}
/// Where b holds no 0 this is the quotient, and decorated as such.
template <real T>
VOUCH_HOST_DEVICE inline two_part<decorated_interval<T>> mul_rev_to_pair(decorated_interval<T> b,
                                                                         decorated_interval<T> c) {
  VOUCH_IN_IEEE(mul_rev_to_pair(b, c));
  const auto parts = mul_rev_to_pair(b.bare(), c.bare());
  const auto local = decorating::com_if(!decorating::has_zero(b));
  return {decorated_result(parts.first, local, b, c), decorated_result(parts.second, decoration::trv, b, c)};
}

// Reverse operations are no point functions either.

template <real T>
VOUCH_HOST_DEVICE inline decorated_interval<T> mul_rev(decorated_interval<T> b, decorated_interval<T> c,
                                                       decorated_interval<T> x = interval<T>::entire()) {
  return decorated_result(mul_rev(b.bare(), c.bare(), x.bare()), decoration::trv, b, c, x);
}
template <real T>
VOUCH_HOST_DEVICE inline decorated_interval<T> sqr_rev(decorated_interval<T> c,
                                                       decorated_interval<T> x = interval<T>::entire()) {
  return decorated_result(sqr_rev(c.bare(), x.bare()), decoration::trv, c, x);
}
template <real T>
VOUCH_HOST_DEVICE constexpr decorated_interval<T> abs_rev(decorated_interval<T> c,
                                                          decorated_interval<T> x = interval<T>::entire()) {
  return decorated_result(abs_rev(c.bare(), x.bare()), decoration::trv, c, x);
}
template <real T>
VOUCH_HOST_DEVICE inline decorated_interval<T> pown_rev(decorated_interval<T> c, decorated_interval<T> x,
                                                        int n) {
  return decorated_result(pown_rev(c.bare(), x.bare(), n), decoration::trv, c, x);
}
template <real T>
VOUCH_HOST_DEVICE inline decorated_interval<T> pown_rev(decorated_interval<T> c, int n) {
  return pown_rev(c, decorated_interval<T>(interval<T>::entire()), n);
}

// Of NaI every size is NaN and every comparison false. Its bare part is the empty set, whose bounds are NaN.

template <real T>
VOUCH_HOST_DEVICE constexpr T inf(decorated_interval<T> x) {
  return is_nai(x) ? rounding::not_a_number<T> : inf(x.bare());
}
template <real T>
VOUCH_HOST_DEVICE constexpr T sup(decorated_interval<T> x) {
  return is_nai(x) ? rounding::not_a_number<T> : sup(x.bare());
}
template <real T>
VOUCH_HOST_DEVICE constexpr T mag(decorated_interval<T> x) {
  return mag(x.bare());
}
template <real T>
VOUCH_HOST_DEVICE constexpr T mig(decorated_interval<T> x) {
  return mig(x.bare());
}
template <real T>
VOUCH_HOST_DEVICE inline T wid(decorated_interval<T> x) {
  return wid(x.bare());
}
template <real T>
VOUCH_HOST_DEVICE constexpr T mid(decorated_interval<T> x) {
  return mid(x.bare());
}
template <real T>
VOUCH_HOST_DEVICE inline T rad(decorated_interval<T> x) {
  return rad(x.bare());
}

template <real T>
VOUCH_HOST_DEVICE constexpr bool is_empty(decorated_interval<T> x) {
  return !is_nai(x) && is_empty(x.bare());
}
template <real T>
VOUCH_HOST_DEVICE constexpr bool is_entire(decorated_interval<T> x) {
  return is_entire(x.bare());
}
template <real T>
VOUCH_HOST_DEVICE constexpr bool is_singleton(decorated_interval<T> x) {
  return is_singleton(x.bare());
}
template <real T>
VOUCH_HOST_DEVICE constexpr bool is_common(decorated_interval<T> x) {
  return is_common(x.bare());
}
template <real T>
VOUCH_HOST_DEVICE constexpr bool is_member(T m, decorated_interval<T> x) {
  return is_member(m, x.bare());
}

namespace decorating {

template <real T>
VOUCH_HOST_DEVICE constexpr bool valid(decorated_interval<T> x, decorated_interval<T> y) {
  return !is_nai(x) && !is_nai(y);
}

}  // namespace decorating

template <real T>
VOUCH_HOST_DEVICE constexpr bool operator==(decorated_interval<T> x, decorated_interval<T> y) {
  VOUCH_IN_IEEE(x == y);
  return decorating::valid(x, y) && x.bare() == y.bare();
}
template <real T>
VOUCH_HOST_DEVICE constexpr bool equal(decorated_interval<T> x, decorated_interval<T> y) {
  VOUCH_IN_IEEE(equal(x, y));
  return x == y;
}
template <real T>
VOUCH_HOST_DEVICE constexpr bool subset(decorated_interval<T> x, decorated_interval<T> y) {
  return decorating::valid(x, y) && subset(x.bare(), y.bare());
}
template <real T>
VOUCH_HOST_DEVICE constexpr bool interior(decorated_interval<T> x, decorated_interval<T> y) {
  return decorating::valid(x, y) && interior(x.bare(), y.bare());
}
template <real T>
VOUCH_HOST_DEVICE constexpr bool disjoint(decorated_interval<T> x, decorated_interval<T> y) {
  return decorating::valid(x, y) && disjoint(x.bare(), y.bare());
}
template <real T>
VOUCH_HOST_DEVICE constexpr bool less(decorated_interval<T> x, decorated_interval<T> y) {
  return decorating::valid(x, y) && less(x.bare(), y.bare());
}
template <real T>
VOUCH_HOST_DEVICE constexpr bool strict_less(decorated_interval<T> x, decorated_interval<T> y) {
  return decorating::valid(x, y) && strict_less(x.bare(), y.bare());
}
template <real T>
VOUCH_HOST_DEVICE constexpr bool precedes(decorated_interval<T> x, decorated_interval<T> y) {
  return decorating::valid(x, y) && precedes(x.bare(), y.bare());
}
template <real T>
VOUCH_HOST_DEVICE constexpr bool strict_precedes(decorated_interval<T> x, decorated_interval<T> y) {
  return decorating::valid(x, y) && strict_precedes(x.bare(), y.bare());
}
template <real T>
VOUCH_HOST_DEVICE constexpr overlap_state overlap(decorated_interval<T> x, decorated_interval<T> y) {
  return overlap(x.bare(), y.bare());
}

}  // namespace vouch
VOUCH_AS_WRITTEN_END
