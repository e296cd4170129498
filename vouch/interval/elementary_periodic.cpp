#include <algorithm>
#include <cmath>

#include <vouch/core/ieee_environment.hpp>
#include <vouch/interval/elementary.hpp>
#include <vouch/interval/elementary_mpfr.hpp>
#include <vouch/interval/relations.hpp>

namespace vouch {

namespace elementary {

// No number other than 0 is a multiple of pi/2, so with enough digits of pi both roundings
// of the quotient have one floor.
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

}  // namespace vouch
