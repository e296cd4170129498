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

template interval<float> exp(interval<float>);
template interval<double> exp(interval<double>);
template interval<float> exp2(interval<float>);
template interval<double> exp2(interval<double>);
template interval<float> exp10(interval<float>);
template interval<double> exp10(interval<double>);
template interval<float> expm1(interval<float>);
template interval<double> expm1(interval<double>);
template interval<float> log(interval<float>);
template interval<double> log(interval<double>);
template interval<float> log2(interval<float>);
template interval<double> log2(interval<double>);
template interval<float> log10(interval<float>);
template interval<double> log10(interval<double>);
template interval<float> log1p(interval<float>);
template interval<double> log1p(interval<double>);
template interval<float> asin(interval<float>);
template interval<double> asin(interval<double>);
template interval<float> acos(interval<float>);
template interval<double> acos(interval<double>);
template interval<float> atan(interval<float>);
template interval<double> atan(interval<double>);
template interval<float> sinh(interval<float>);
template interval<double> sinh(interval<double>);
template interval<float> cosh(interval<float>);
template interval<double> cosh(interval<double>);
template interval<float> tanh(interval<float>);
template interval<double> tanh(interval<double>);
template interval<float> asinh(interval<float>);
template interval<double> asinh(interval<double>);
template interval<float> acosh(interval<float>);
template interval<double> acosh(interval<double>);
template interval<float> atanh(interval<float>);
template interval<double> atanh(interval<double>);
template interval<float> erf(interval<float>);
template interval<double> erf(interval<double>);
template interval<float> erfc(interval<float>);
template interval<double> erfc(interval<double>);

}  // namespace vouch
