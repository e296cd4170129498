// vouch/interval/decorated_elementary.hpp -- elementary functions of decorated intervals.
#pragma once
#include <vouch/core/visibility.hpp>
#include <vouch/interval/decorated_functions.hpp>
#include <vouch/interval/elementary.hpp>

VOUCH_AS_WRITTEN_BEGIN
namespace VOUCH_PUBLIC vouch {

// The bare functions on the parts, on the host; what is said beside them is where they are defined.

template <real T>
decorated_interval<T> exp(decorated_interval<T> x) {
  return decorated_result(exp(x.bare()), decoration::com, x);
}
template <real T>
decorated_interval<T> exp2(decorated_interval<T> x) {
  return decorated_result(exp2(x.bare()), decoration::com, x);
}
template <real T>
decorated_interval<T> exp10(decorated_interval<T> x) {
  return decorated_result(exp10(x.bare()), decoration::com, x);
}
template <real T>
decorated_interval<T> expm1(decorated_interval<T> x) {
  return decorated_result(expm1(x.bare()), decoration::com, x);
}
template <real T>
decorated_interval<T> sin(decorated_interval<T> x) {
  return decorated_result(sin(x.bare()), decoration::com, x);
}
template <real T>
decorated_interval<T> cos(decorated_interval<T> x) {
  return decorated_result(cos(x.bare()), decoration::com, x);
}
template <real T>
decorated_interval<T> atan(decorated_interval<T> x) {
  return decorated_result(atan(x.bare()), decoration::com, x);
}
template <real T>
decorated_interval<T> sinh(decorated_interval<T> x) {
  return decorated_result(sinh(x.bare()), decoration::com, x);
}
template <real T>
decorated_interval<T> cosh(decorated_interval<T> x) {
  return decorated_result(cosh(x.bare()), decoration::com, x);
}
template <real T>
decorated_interval<T> tanh(decorated_interval<T> x) {
  return decorated_result(tanh(x.bare()), decoration::com, x);
}
template <real T>
decorated_interval<T> asinh(decorated_interval<T> x) {
  return decorated_result(asinh(x.bare()), decoration::com, x);
}
template <real T>
decorated_interval<T> acot(decorated_interval<T> x) {
  return decorated_result(acot(x.bare()), decoration::com, x);
}
template <real T>
decorated_interval<T> sech(decorated_interval<T> x) {
  return decorated_result(sech(x.bare()), decoration::com, x);
}
template <real T>
decorated_interval<T> hypot(decorated_interval<T> x, decorated_interval<T> y) {
  return decorated_result(hypot(x.bare(), y.bare()), decoration::com, x, y);
}
template <real T>
decorated_interval<T> erf(decorated_interval<T> x) {
  return decorated_result(erf(x.bare()), decoration::com, x);
}
template <real T>
decorated_interval<T> erfc(decorated_interval<T> x) {
  return decorated_result(erfc(x.bare()), decoration::com, x);
}

template <real T>
decorated_interval<T> log(decorated_interval<T> x) {
  VOUCH_IN_IEEE(log(x));
  return decorated_result(log(x.bare()), decorating::com_if(x.bare().lo() > 0), x);
}
template <real T>
decorated_interval<T> log2(decorated_interval<T> x) {
  VOUCH_IN_IEEE(log2(x));
  return decorated_result(log2(x.bare()), decorating::com_if(x.bare().lo() > 0), x);
}
template <real T>
decorated_interval<T> log10(decorated_interval<T> x) {
  VOUCH_IN_IEEE(log10(x));
  return decorated_result(log10(x.bare()), decorating::com_if(x.bare().lo() > 0), x);
}
template <real T>
decorated_interval<T> log1p(decorated_interval<T> x) {
  VOUCH_IN_IEEE(log1p(x));
  return decorated_result(log1p(x.bare()), decorating::com_if(x.bare().lo() > -1), x);
}
template <real T>
decorated_interval<T> asin(decorated_interval<T> x) {
  VOUCH_IN_IEEE(asin(x));
  return decorated_result(asin(x.bare()), decorating::com_if(x.bare().lo() >= -1 && x.bare().hi() <= 1), x);
}
template <real T>
decorated_interval<T> acos(decorated_interval<T> x) {
  VOUCH_IN_IEEE(acos(x));
  return decorated_result(acos(x.bare()), decorating::com_if(x.bare().lo() >= -1 && x.bare().hi() <= 1), x);
}
template <real T>
decorated_interval<T> acosh(decorated_interval<T> x) {
  VOUCH_IN_IEEE(acosh(x));
  return decorated_result(acosh(x.bare()), decorating::com_if(x.bare().lo() >= 1), x);
}
template <real T>
decorated_interval<T> atanh(decorated_interval<T> x) {
  VOUCH_IN_IEEE(atanh(x));
  return decorated_result(atanh(x.bare()), decorating::com_if(x.bare().lo() > -1 && x.bare().hi() < 1), x);
}
/// A range that is entire goes over a pole: tan of a stretch without one is bounded.
template <real T>
decorated_interval<T> tan(decorated_interval<T> x) {
  const auto result = tan(x.bare());
  return decorated_result(result, decorating::com_if(!is_entire(result)), x);
}
/// As tan: sec of a stretch without pole has one sign.
template <real T>
decorated_interval<T> sec(decorated_interval<T> x) {
  const auto result = sec(x.bare());
  return decorated_result(result, decorating::com_if(!is_entire(result)), x);
}
/// Of the poles of csc and cot only 0 may be a bound of x.
template <real T>
decorated_interval<T> csc(decorated_interval<T> x) {
  VOUCH_IN_IEEE(csc(x));
  const auto result = csc(x.bare());
  return decorated_result(result, decorating::com_if(!is_entire(result) && !decorating::has_zero(x)), x);
}
template <real T>
decorated_interval<T> cot(decorated_interval<T> x) {
  VOUCH_IN_IEEE(cot(x));
  const auto result = cot(x.bare());
  return decorated_result(result, decorating::com_if(!is_entire(result) && !decorating::has_zero(x)), x);
}
template <real T>
decorated_interval<T> csch(decorated_interval<T> x) {
  VOUCH_IN_IEEE(csch(x));
  return decorated_result(csch(x.bare()), decorating::com_if(!decorating::has_zero(x)), x);
}
template <real T>
decorated_interval<T> coth(decorated_interval<T> x) {
  VOUCH_IN_IEEE(coth(x));
  return decorated_result(coth(x.bare()), decorating::com_if(!decorating::has_zero(x)), x);
}
template <real T>
decorated_interval<T> acoth(decorated_interval<T> x) {
  VOUCH_IN_IEEE(acoth(x));
  return decorated_result(acoth(x.bare()), decorating::com_if(x.bare().lo() > 1 || x.bare().hi() < -1), x);
}
template <real T>
decorated_interval<T> pow(decorated_interval<T> x, decorated_interval<T> y) {
  VOUCH_IN_IEEE(pow(x, y));
  const T least = x.bare().lo();
  return decorated_result(pow(x.bare(), y.bare()),
                          decorating::com_if(least > 0 || (least == 0 && y.bare().lo() > 0)), x, y);
}
template <real T>
decorated_interval<T> rootn(decorated_interval<T> x, int n) {
  VOUCH_IN_IEEE(rootn(x, n));
  const bool defined = n != 0 && (n % 2 != 0 || x.bare().lo() >= 0) && (n > 0 || !decorating::has_zero(x));
  return decorated_result(rootn(x.bare(), n), decorating::com_if(defined), x);
}
/// Not defined at the origin. On the negative real axis it jumps: continuous on a box that ends there from
/// above, defined on one that has numbers below.
template <real T>
decorated_interval<T> atan2(decorated_interval<T> y, decorated_interval<T> x) {
  VOUCH_IN_IEEE(atan2(y, x));
  const bool level = decorating::has_zero(y);
  auto local = decoration::com;
  if (level && x.bare().lo() < 0) local = y.bare().lo() < 0 ? decoration::def : decoration::dac;
  if (level && decorating::has_zero(x)) local = decoration::trv;
  return decorated_result(atan2(y.bare(), x.bare()), local, y, x);
}

// Reverse operations are no point functions, so that nothing is known after them (trv).

template <real T>
decorated_interval<T> sin_rev(decorated_interval<T> c, decorated_interval<T> x = interval<T>::entire()) {
  return decorated_result(sin_rev(c.bare(), x.bare()), decoration::trv, c, x);
}
template <real T>
decorated_interval<T> cos_rev(decorated_interval<T> c, decorated_interval<T> x = interval<T>::entire()) {
  return decorated_result(cos_rev(c.bare(), x.bare()), decoration::trv, c, x);
}
template <real T>
decorated_interval<T> tan_rev(decorated_interval<T> c, decorated_interval<T> x = interval<T>::entire()) {
  return decorated_result(tan_rev(c.bare(), x.bare()), decoration::trv, c, x);
}
template <real T>
decorated_interval<T> cosh_rev(decorated_interval<T> c, decorated_interval<T> x = interval<T>::entire()) {
  return decorated_result(cosh_rev(c.bare(), x.bare()), decoration::trv, c, x);
}
template <real T>
decorated_interval<T> pow_rev1(decorated_interval<T> y, decorated_interval<T> c,
                               decorated_interval<T> x = interval<T>::entire()) {
  return decorated_result(pow_rev1(y.bare(), c.bare(), x.bare()), decoration::trv, y, c, x);
}
template <real T>
decorated_interval<T> pow_rev2(decorated_interval<T> x, decorated_interval<T> c,
                               decorated_interval<T> y = interval<T>::entire()) {
  return decorated_result(pow_rev2(x.bare(), c.bare(), y.bare()), decoration::trv, x, c, y);
}

template <real T>
decorated_interval<T> atan2_rev1(decorated_interval<T> x, decorated_interval<T> c,
                                 decorated_interval<T> y = interval<T>::entire()) {
  return decorated_result(atan2_rev1(x.bare(), c.bare(), y.bare()), decoration::trv, x, c, y);
}
template <real T>
decorated_interval<T> atan2_rev2(decorated_interval<T> y, decorated_interval<T> c,
                                 decorated_interval<T> x = interval<T>::entire()) {
  return decorated_result(atan2_rev2(y.bare(), c.bare(), x.bare()), decoration::trv, y, c, x);
}

}  // namespace vouch
VOUCH_AS_WRITTEN_END
