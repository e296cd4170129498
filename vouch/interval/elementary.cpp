#include <vouch/core/ieee_environment.hpp>
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

// Odd, falling on both sides of its pole at 0.
template <real T>
interval<T> with_pole_at_zero(interval<T> x, elementary::unary f) {
  if (is_empty(x) || (x.lo() == 0 && x.hi() == 0)) return interval<T>::empty();
  if (x.lo() < 0 && x.hi() > 0) return interval<T>::entire();
  const auto of_positive = [f](interval<T> y) {
    return decreasing(interval<T>::unchecked(y.lo() + T{}, y.hi()), f);  // no -0
  };
  return x.hi() <= 0 ? -of_positive(-x) : of_positive(x);
}

int angle_from_cotangent(mpfr_ptr result, mpfr_srcptr x, mpfr_rnd_t mode) {
  const elementary::number one(1.0);
  return mpfr_atan2(result, one, x, mode);
}

// atanh(1 / x), which is no number of type T for any number x > 1 (Lindemann).
template <real T>
interval<T> area_cotangent(T x) {
  const elementary::number operand(x);
  const auto enclose = [&operand](mpfr_ptr low, mpfr_ptr high) {
    mpfr_ui_div(low, 1, operand, MPFR_RNDD);
    mpfr_ui_div(high, 1, operand, MPFR_RNDU);
    mpfr_atanh(low, low, MPFR_RNDD);
    mpfr_atanh(high, high, MPFR_RNDU);
  };
  return elementary::narrowest<T>(enclose, [](T) { return false; });
}

template <real T>
interval<T> area_cotangents_above_one(interval<T> x) {
  const interval<T> domain = above(x, T{1});
  if (is_empty(domain)) return domain;
  return interval<T>::unchecked(area_cotangent(domain.hi()).lo(), area_cotangent(domain.lo()).hi());
}

}  // namespace

template <real T>
interval<T> exp(interval<T> x) {
  const ieee_environment here;
  return increasing(x, mpfr_exp);
}
template <real T>
interval<T> exp2(interval<T> x) {
  const ieee_environment here;
  return increasing(x, mpfr_exp2);
}
template <real T>
interval<T> exp10(interval<T> x) {
  const ieee_environment here;
  return increasing(x, mpfr_exp10);
}
template <real T>
interval<T> expm1(interval<T> x) {
  const ieee_environment here;
  return increasing(x, mpfr_expm1);
}

template <real T>
interval<T> log(interval<T> x) {
  const ieee_environment here;
  return increasing(above(x, T{0}), mpfr_log);
}
template <real T>
interval<T> log2(interval<T> x) {
  const ieee_environment here;
  return increasing(above(x, T{0}), mpfr_log2);
}
template <real T>
interval<T> log10(interval<T> x) {
  const ieee_environment here;
  return increasing(above(x, T{0}), mpfr_log10);
}
template <real T>
interval<T> log1p(interval<T> x) {
  const ieee_environment here;
  return increasing(above(x, T{-1}), mpfr_log1p);
}

template <real T>
interval<T> asin(interval<T> x) {
  const ieee_environment here;
  return increasing(restricted(x, T{-1}, T{1}), mpfr_asin);
}
template <real T>
interval<T> acos(interval<T> x) {
  const ieee_environment here;
  return decreasing(restricted(x, T{-1}, T{1}), mpfr_acos);
}
template <real T>
interval<T> atan(interval<T> x) {
  const ieee_environment here;
  return increasing(x, mpfr_atan);
}

template <real T>
interval<T> sinh(interval<T> x) {
  const ieee_environment here;
  return increasing(x, mpfr_sinh);
}
template <real T>
interval<T> cosh(interval<T> x) {
  const ieee_environment here;
  return increasing(abs(x), mpfr_cosh);
}
template <real T>
interval<T> tanh(interval<T> x) {
  const ieee_environment here;
  return increasing(x, mpfr_tanh);
}
template <real T>
interval<T> asinh(interval<T> x) {
  const ieee_environment here;
  return increasing(x, mpfr_asinh);
}
template <real T>
interval<T> acosh(interval<T> x) {
  const ieee_environment here;
  return increasing(restricted(x, T{1}, infinite<T>), mpfr_acosh);
}
template <real T>
interval<T> atanh(interval<T> x) {
  const ieee_environment here;
  if (x.hi() <= -1 || x.lo() >= 1) return interval<T>::empty();
  return increasing(restricted(x, T{-1}, T{1}), mpfr_atanh);
}

template <real T>
interval<T> acot(interval<T> x) {
  const ieee_environment here;
  return decreasing(x, angle_from_cotangent);
}
template <real T>
interval<T> sech(interval<T> x) {
  const ieee_environment here;
  return decreasing(abs(x), mpfr_sech);
}
template <real T>
interval<T> csch(interval<T> x) {
  const ieee_environment here;
  return with_pole_at_zero(x, mpfr_csch);
}
template <real T>
interval<T> coth(interval<T> x) {
  const ieee_environment here;
  return with_pole_at_zero(x, mpfr_coth);
}
template <real T>
interval<T> acoth(interval<T> x) {
  const ieee_environment here;
  return hull(area_cotangents_above_one(x), -area_cotangents_above_one(-x));
}

template <real T>
interval<T> erf(interval<T> x) {
  const ieee_environment here;
  return increasing(x, mpfr_erf);
}
template <real T>
interval<T> erfc(interval<T> x) {
  const ieee_environment here;
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
VOUCH_INSTANTIATE(acot)
VOUCH_INSTANTIATE(sech)
VOUCH_INSTANTIATE(csch)
VOUCH_INSTANTIATE(coth)
VOUCH_INSTANTIATE(acoth)
VOUCH_INSTANTIATE(erf)
VOUCH_INSTANTIATE(erfc)
#undef VOUCH_INSTANTIATE

}  // namespace vouch
