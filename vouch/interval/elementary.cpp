#include <vouch/interval/elementary.hpp>
#include <vouch/interval/elementary_mpfr.hpp>

namespace vouch {
namespace {

using elementary::decreasing;
using elementary::increasing;

template <real T>
constexpr T infinite = std::numeric_limits<T>::infinity();

template <real T>
interval<T> restricted(interval<T> x, T lo, T hi) {
  return intersection(x, interval<T>::unchecked(lo, hi));
}

// The domain is open below: nothing but its end is nothing at all.
template <real T>
interval<T> above(interval<T> x, T lo) {
  return x.hi() <= lo ? interval<T>::empty() : restricted(x, lo, infinite<T>);
}

}  // namespace

template <real T>
interval<T> exp(interval<T> x) {
  return increasing(x, mpfr_exp);
}
template <real T>
interval<T> exp2(interval<T> x) {
  return increasing(x, mpfr_exp2);
}
template <real T>
interval<T> exp10(interval<T> x) {
  return increasing(x, mpfr_exp10);
}
template <real T>
interval<T> expm1(interval<T> x) {
  return increasing(x, mpfr_expm1);
}

template <real T>
interval<T> log(interval<T> x) {
  return increasing(above(x, T{0}), mpfr_log);
}
template <real T>
interval<T> log2(interval<T> x) {
  return increasing(above(x, T{0}), mpfr_log2);
}
template <real T>
interval<T> log10(interval<T> x) {
  return increasing(above(x, T{0}), mpfr_log10);
}
template <real T>
interval<T> log1p(interval<T> x) {
  return increasing(above(x, T{-1}), mpfr_log1p);
}

template <real T>
interval<T> asin(interval<T> x) {
  return increasing(restricted(x, T{-1}, T{1}), mpfr_asin);
}
template <real T>
interval<T> acos(interval<T> x) {
  return decreasing(restricted(x, T{-1}, T{1}), mpfr_acos);
}
template <real T>
interval<T> atan(interval<T> x) {
  return increasing(x, mpfr_atan);
}

template <real T>
interval<T> sinh(interval<T> x) {
  return increasing(x, mpfr_sinh);
}
template <real T>
interval<T> cosh(interval<T> x) {
  return increasing(abs(x), mpfr_cosh);
}
template <real T>
interval<T> tanh(interval<T> x) {
  return increasing(x, mpfr_tanh);
}
template <real T>
interval<T> asinh(interval<T> x) {
  return increasing(x, mpfr_asinh);
}
template <real T>
interval<T> acosh(interval<T> x) {
  return increasing(restricted(x, T{1}, infinite<T>), mpfr_acosh);
}
template <real T>
interval<T> atanh(interval<T> x) {
  if (x.hi() <= -1 || x.lo() >= 1) return interval<T>::empty();
  return increasing(restricted(x, T{-1}, T{1}), mpfr_atanh);
}

template <real T>
interval<T> erf(interval<T> x) {
  return increasing(x, mpfr_erf);
}
template <real T>
interval<T> erfc(interval<T> x) {
  return decreasing(x, mpfr_erfc);
}

#define VOUCH_INSTANTIATE(function)                   \
  template interval<float> function(interval<float>); \
  template interval<double> function(interval<double>);
VOUCH_INSTANTIATE(exp)
VOUCH_INSTANTIATE(exp2)
VOUCH_INSTANTIATE(exp10)
VOUCH_INSTANTIATE(expm1)
VOUCH_INSTANTIATE(log)
VOUCH_INSTANTIATE(log2)
VOUCH_INSTANTIATE(log10)
VOUCH_INSTANTIATE(log1p)
VOUCH_INSTANTIATE(asin)
VOUCH_INSTANTIATE(acos)
VOUCH_INSTANTIATE(atan)
VOUCH_INSTANTIATE(sinh)
VOUCH_INSTANTIATE(cosh)
VOUCH_INSTANTIATE(tanh)
VOUCH_INSTANTIATE(asinh)
VOUCH_INSTANTIATE(acosh)
VOUCH_INSTANTIATE(atanh)
VOUCH_INSTANTIATE(erf)
VOUCH_INSTANTIATE(erfc)
#undef VOUCH_INSTANTIATE

}  // namespace vouch
