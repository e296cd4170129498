#include <algorithm>
#include <cmath>

#include <vouch/core/ieee_environment.hpp>
#include <vouch/interval/elementary.hpp>
#include <vouch/interval/elementary_mpfr.hpp>
#include <vouch/interval/relations.hpp>

namespace vouch {

// ---- functions of one operand that rise or fall

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

// ---- periodic functions

namespace elementary {

// No number other than 0 is a multiple of pi/2, so with enough digits of pi both roundings of the quotient have
// one floor.
template <real T>
void quarter_of(number& quarter, T x) {
  const ieee_environment here;
  const mpfr_prec_t integer_bits = x == 0 ? 0 : std::max(0, std::ilogb(x)) + 1;
  for (mpfr_prec_t digits = integer_bits + 96;; digits *= 2) {
    number half_pi_low(digits);
    number half_pi_high(digits);
    number quotient_low(digits);
    number quotient_high(digits);
    const number operand(x);
    mpfr_const_pi(half_pi_low, MPFR_RNDD);
    mpfr_const_pi(half_pi_high, MPFR_RNDU);
    mpfr_div_2ui(half_pi_low, half_pi_low, 1, MPFR_RNDN);
    mpfr_div_2ui(half_pi_high, half_pi_high, 1, MPFR_RNDN);
    mpfr_div(quotient_low, operand, x < 0 ? half_pi_low : half_pi_high, MPFR_RNDD);
    mpfr_div(quotient_high, operand, x < 0 ? half_pi_high : half_pi_low, MPFR_RNDU);
    mpfr_floor(quotient_low, quotient_low);
    mpfr_floor(quotient_high, quotient_high);
    if (mpfr_equal_p(quotient_low, quotient_high)) {
      mpfr_set_prec(quarter, digits);
      mpfr_set(quarter, quotient_low, MPFR_RNDN);
      return;
    }
  }
}

template void quarter_of(number&, float);
template void quarter_of(number&, double);

}  // namespace elementary

namespace {

using elementary::number;

// Where bounds lie among the multiples of pi/2: the number of multiples passed between them (4 stands for any
// more) and the quarter of the circle that the lower one is in, 0 to 3.
struct quarters {
  long passed;
  long first;
};

template <real T>
quarters quarters_of(interval<T> x) {
  const elementary::full_range range;
  number low(2);
  number high(2);
  elementary::quarter_of(low, x.lo());
  elementary::quarter_of(high, x.hi());
  number four(8);
  number rest(8);
  mpfr_set_ui(four, 4, MPFR_RNDN);
  mpfr_fmod(rest, low, four, MPFR_RNDN);
  const long remainder = mpfr_get_si(rest, MPFR_RNDN);
  number passed(std::max(mpfr_get_prec(low), mpfr_get_prec(high)) + 1);
  mpfr_sub(passed, high, low, MPFR_RNDN);
  return {mpfr_cmp_ui(passed, 4) > 0 ? 4 : mpfr_get_si(passed, MPFR_RNDN), (remainder + 4) % 4};
}

// Whether a multiple k of pi/2 with k = wanted modulo 4 lies above the lower bound and not above the upper one.
bool passes(quarters q, long wanted) {
  for (long k = 1; k <= q.passed; ++k)
    if ((q.first + k) % 4 == wanted) return true;
  return false;
}

// The range over a stretch without pole: a least value of -height or a greatest of height where x reaches one
// inside, the rest at the bounds of x.
template <real T>
interval<T> range(interval<T> x, elementary::unary f, bool reaches_least, bool reaches_greatest, T height) {
  using rounding::larger;
  using rounding::smaller;
  const T lo = reaches_least ? -height : smaller(elementary::down(f, x.lo()), elementary::down(f, x.hi()));
  const T hi = reaches_greatest ? height : larger(elementary::up(f, x.lo()), elementary::up(f, x.hi()));
  return interval<T>::unchecked(lo, hi);
}

template <real T>
interval<T> wave(interval<T> x, elementary::unary f, long highest, long lowest) {
  if (is_empty(x)) return x;
  if (!is_common(x)) return interval<T>::unchecked(-1, 1);
  const quarters q = quarters_of(x);
  return range(x, f, passes(q, lowest), passes(q, highest), T{1});
}

// A function with poles at 0 and all other multiples of pi, odd; rest gives its range over an x that is on one
// side of 0, and whose lower bound may be 0.
template <real T, class Rest>
interval<T> with_poles_at_multiples_of_pi(interval<T> x, Rest rest) {
  if (is_empty(x) || (x.lo() == 0 && x.hi() == 0)) return interval<T>::empty();
  if (!is_common(x)) return interval<T>::entire();
  const bool ends_at_zero = x.hi() == 0;
  if (ends_at_zero) x = -x;
  x = interval<T>::unchecked(x.lo() + T{}, x.hi());  // no -0
  const quarters q = quarters_of(x);
  if (passes(q, 0) || passes(q, 2)) return interval<T>::entire();
  return ends_at_zero ? -rest(x, q) : rest(x, q);
}

}  // namespace

template <real T>
interval<T> sin(interval<T> x) {
  const ieee_environment here;
  return wave(x, mpfr_sin, 1, 3);
}

template <real T>
interval<T> cos(interval<T> x) {
  const ieee_environment here;
  return wave(x, mpfr_cos, 0, 2);
}

template <real T>
interval<T> tan(interval<T> x) {
  const ieee_environment here;
  if (is_empty(x)) return x;
  if (!is_common(x)) return interval<T>::entire();
  const quarters q = quarters_of(x);
  return passes(q, 1) || passes(q, 3) ? interval<T>::entire() : elementary::increasing(x, mpfr_tan);
}

template <real T>
interval<T> sec(interval<T> x) {
  const ieee_environment here;
  if (is_empty(x)) return x;
  if (!is_common(x)) return interval<T>::entire();
  const quarters q = quarters_of(x);
  if (passes(q, 1) || passes(q, 3)) return interval<T>::entire();
  return range(x, mpfr_sec, passes(q, 0), passes(q, 2), T{-1});
}

template <real T>
interval<T> csc(interval<T> x) {
  const ieee_environment here;
  return with_poles_at_multiples_of_pi(
      x, [](interval<T> y, quarters q) { return range(y, mpfr_csc, passes(q, 1), passes(q, 3), T{-1}); });
}

template <real T>
interval<T> cot(interval<T> x) {
  const ieee_environment here;
  return with_poles_at_multiples_of_pi(
      x, [](interval<T> y, quarters) { return elementary::decreasing(y, mpfr_cot); });
}

#define VOUCH_INSTANTIATE(function)                   \
  template interval<float> function(interval<float>); \
  template interval<double> function(interval<double>);
VOUCH_INSTANTIATE(sin)
VOUCH_INSTANTIATE(cos)
VOUCH_INSTANTIATE(tan)
VOUCH_INSTANTIATE(sec)
VOUCH_INSTANTIATE(csc)
VOUCH_INSTANTIATE(cot)
#undef VOUCH_INSTANTIATE

// ---- powers, roots and the angle of a point

namespace {

using elementary::bound;
using elementary::number;
using rounding::larger;
using rounding::smaller;

using binary = int (*)(mpfr_ptr, mpfr_srcptr, mpfr_srcptr, mpfr_rnd_t);

template <real T>
T bound_of(mpfr_rnd_t mode, binary f, T a, T b) {
  return bound<T>(mode, [&](mpfr_ptr result, mpfr_rnd_t direction) {
    const number first(a + T{});  // no -0
    const number second(b + T{});
    f(result, first, second, direction);
  });
}

template <real T>
T power(mpfr_rnd_t mode, T x, T y) {
  return bound_of(mode, mpfr_pow, x, y);
}

template <real T>
T angle_down(T y, T x) {
  return bound_of(MPFR_RNDD, mpfr_atan2, y, x);
}
template <real T>
T angle_up(T y, T x) {
  return bound_of(MPFR_RNDU, mpfr_atan2, y, x);
}

template <real T>
T pi_down() {
  return angle_down(T{0}, T{-1});
}
template <real T>
T pi_up() {
  return angle_up(T{0}, T{-1});
}

// The angles of a box with y >= 0 that is not the origin alone. Right of the axis the angle grows with y, left
// of it it falls; it always falls with x.
template <real T>
interval<T> upper_angles(interval<T> y, interval<T> x) {
  if (x.hi() <= 0 && y.hi() == 0) return interval<T>::unchecked(pi_down<T>(), pi_up<T>());
  const T lo = angle_down(x.hi() > 0 ? y.lo() : y.hi(), x.hi());
  const T hi = angle_up(x.lo() < 0 ? y.lo() : y.hi(), x.lo());
  return interval<T>::unchecked(lo, hi);
}

template <real T>
T root(mpfr_rnd_t mode, T x, int n) {
  return bound<T>(mode, [&](mpfr_ptr result, mpfr_rnd_t direction) {
    const number operand(x + T{});
    mpfr_rootn_si(result, operand, n, direction);
  });
}

}  // namespace

// y log x has its extremes at corners of the box, limits at 0 and infinity included, which mpfr_pow knows.
template <real T>
interval<T> pow(interval<T> x, interval<T> y) {
  const ieee_environment here;
  if (is_empty(x) || is_empty(y) || x.hi() < 0) return interval<T>::empty();
  if (x.hi() == 0) return y.hi() > 0 ? interval<T>{} : interval<T>::empty();
  const T least = larger(x.lo(), T{});
  const T most = x.hi();
  const T lo = smaller(smaller(power(MPFR_RNDD, least, y.lo()), power(MPFR_RNDD, least, y.hi())),
                       smaller(power(MPFR_RNDD, most, y.lo()), power(MPFR_RNDD, most, y.hi())));
  const T hi = larger(larger(power(MPFR_RNDU, least, y.lo()), power(MPFR_RNDU, least, y.hi())),
                      larger(power(MPFR_RNDU, most, y.lo()), power(MPFR_RNDU, most, y.hi())));
  return interval<T>::unchecked(lo, hi);
}

template <real T>
interval<T> rootn(interval<T> x, int n) {
  const ieee_environment here;
  const bool even = n % 2 == 0;
  if (even) x = intersection(x, interval<T>::unchecked(0, std::numeric_limits<T>::infinity()));
  if (is_empty(x) || n == 0 || (n < 0 && x.lo() == 0 && x.hi() == 0)) return interval<T>::empty();
  if (n > 0) return interval<T>::unchecked(root(MPFR_RNDD, x.lo(), n), root(MPFR_RNDU, x.hi(), n));
  if (x.lo() < 0 && x.hi() > 0) return interval<T>::entire();
  const auto of_positive = [n](interval<T> y) {
    return interval<T>::unchecked(root(MPFR_RNDD, y.hi(), n), root(MPFR_RNDU, y.lo(), n));
  };
  return x.hi() <= 0 ? -of_positive(-x) : of_positive(x);
}

// The value at y = 0, x < 0 is pi: a box that reaches this cut from below has all angles between its two sides.
template <real T>
interval<T> atan2(interval<T> y, interval<T> x) {
  const ieee_environment here;
  if (is_empty(x) || is_empty(y)) return interval<T>::empty();
  const bool level = y.lo() == 0 && y.hi() == 0;
  if (level && x.lo() == 0 && x.hi() == 0) return interval<T>::empty();
  if (y.lo() >= 0) return upper_angles(y, x);
  if (x.lo() < 0 && y.hi() >= 0) return interval<T>::unchecked(-pi_up<T>(), pi_up<T>());
  if (y.hi() <= 0) return -upper_angles(-y, x);
  return interval<T>::unchecked(angle_down(y.lo(), x.lo()), angle_up(y.hi(), x.lo()));
}

template <real T>
interval<T> hypot(interval<T> x, interval<T> y) {
  const ieee_environment here;
  if (is_empty(x) || is_empty(y)) return interval<T>::empty();
  return interval<T>::unchecked(bound_of(MPFR_RNDD, mpfr_hypot, mig(x), mig(y)),
                                bound_of(MPFR_RNDU, mpfr_hypot, mag(x), mag(y)));
}

template VOUCH_PUBLIC interval<float> pow(interval<float>, interval<float>);
template VOUCH_PUBLIC interval<double> pow(interval<double>, interval<double>);
template VOUCH_PUBLIC interval<float> rootn(interval<float>, int);
template VOUCH_PUBLIC interval<double> rootn(interval<double>, int);
template VOUCH_PUBLIC interval<float> atan2(interval<float>, interval<float>);
template VOUCH_PUBLIC interval<double> atan2(interval<double>, interval<double>);
template VOUCH_PUBLIC interval<float> hypot(interval<float>, interval<float>);
template VOUCH_PUBLIC interval<double> hypot(interval<double>, interval<double>);

}  // namespace vouch
