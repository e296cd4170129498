#include <algorithm>
#include <cmath>

#include <vouch/interval/elementary.hpp>
#include <vouch/interval/elementary_mpfr.hpp>

namespace vouch {
namespace {

using elementary::number;

// Where bounds lie among the multiples of pi/2: the number of multiples passed between them (4 stands for any
// more) and the quarter of the circle that the lower one is in, 0 to 3.
struct quarters {
  long passed;
  long first;
};

// floor(x / (pi/2)). No number other than 0 is a multiple of pi/2, so with enough digits of pi both roundings
// of the quotient have one floor.
template <real T>
void quarter_of(number& quarter, T x) {
  const mpfr_prec_t integer_bits = x == 0 ? 0 : std::max(0, std::ilogb(x)) + 1;
  for (mpfr_prec_t digits = integer_bits + 96;; digits *= 2) {
    number half_pi_low(digits);
    number half_pi_high(digits);
    number quotient_low(digits);
    number quotient_high(digits);
    number operand(elementary::precision<T>);
    elementary::assign(operand, x);
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

template <real T>
quarters quarters_of(interval<T> x) {
  const elementary::full_range range;
  number low(2);
  number high(2);
  quarter_of(low, x.lo());
  quarter_of(high, x.hi());
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

// Both functions run between -1 and 1; inside a stretch without extremum the bounds of x give the extremes.
template <real T>
interval<T> wave(interval<T> x, elementary::unary f, long highest, long lowest) {
  if (is_empty(x)) return x;
  if (!rounding::finite(x.lo()) || !rounding::finite(x.hi())) return interval<T>::unchecked(-1, 1);
  const quarters q = quarters_of(x);
  using rounding::larger;
  using rounding::smaller;
  const T lo = passes(q, lowest) ? T{-1} : smaller(elementary::down(f, x.lo()), elementary::down(f, x.hi()));
  const T hi = passes(q, highest) ? T{1} : larger(elementary::up(f, x.lo()), elementary::up(f, x.hi()));
  return interval<T>::unchecked(lo, hi);
}

}  // namespace

template <real T>
interval<T> sin(interval<T> x) {
  return wave(x, mpfr_sin, 1, 3);
}

template <real T>
interval<T> cos(interval<T> x) {
  return wave(x, mpfr_cos, 0, 2);
}

template <real T>
interval<T> tan(interval<T> x) {
  if (is_empty(x)) return x;
  if (!rounding::finite(x.lo()) || !rounding::finite(x.hi())) return interval<T>::entire();
  const quarters q = quarters_of(x);
  return passes(q, 1) || passes(q, 3) ? interval<T>::entire() : elementary::increasing(x, mpfr_tan);
}

template interval<float> sin(interval<float>);
template interval<double> sin(interval<double>);
template interval<float> cos(interval<float>);
template interval<double> cos(interval<double>);
template interval<float> tan(interval<float>);
template interval<double> tan(interval<double>);

}  // namespace vouch
