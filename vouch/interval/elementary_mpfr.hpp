// vouch/interval/elementary_mpfr.hpp -- bounds from MPFR; private to the elementary functions.
#pragma once
#include <mpfr.h>

#include <limits>

#include <vouch/interval/functions.hpp>

namespace vouch::elementary {

/// An MPFR number, freed with its scope.
class number {
 public:
  explicit number(mpfr_prec_t precision) { mpfr_init2(value_, precision); }
  /// x, exactly.
  template <real T>
  explicit number(T x) : number(mpfr_prec_t{std::numeric_limits<T>::digits}) {
    mpfr_set_d(value_, static_cast<double>(x), MPFR_RNDN);
  }
  number(const number&) = delete;
  number& operator=(const number&) = delete;
  ~number() { mpfr_clear(value_); }
  operator mpfr_ptr() { return value_; }
  operator mpfr_srcptr() const { return value_; }

 private:
  mpfr_t value_;
};

/// All exponents MPFR has, while this lives: what somebody else set in this thread must not reach our bounds.
class full_range {
 public:
  full_range() : least_(mpfr_get_emin()), most_(mpfr_get_emax()) {
    mpfr_set_emin(mpfr_get_emin_min());
    mpfr_set_emax(mpfr_get_emax_max());
  }
  full_range(const full_range&) = delete;
  full_range& operator=(const full_range&) = delete;
  ~full_range() {
    mpfr_set_emin(least_);
    mpfr_set_emax(most_);
  }

 private:
  mpfr_exp_t least_;
  mpfr_exp_t most_;
};

template <real T>
constexpr mpfr_prec_t precision = std::numeric_limits<T>::digits;

/// x in T.
template <real T>
T rounded(const number& x, mpfr_rnd_t mode) {
  if constexpr (std::same_as<T, float>)
    return mpfr_get_flt(x, mode);
  else
    return mpfr_get_d(x, mode);
}

/// The value that call(result, mode) gives, rounded to T in the same direction: MPFR rounds once to the digits
/// of T, the conversion once more where the exponent is out of T's range, which is one rounding in effect.
template <real T, class Call>
T bound(mpfr_rnd_t mode, Call call) {
  const full_range range;
  number result(precision<T>);
  call(result, mode);
  return rounded<T>(result, mode);
}

/// The narrowest interval around a value that enclose(low, high) brackets at the precision of its arguments,
/// the closer the more of it there is. The value is no number of type T unless is_value says so of that number,
/// or the bracket is a point.
template <real T, class Enclose, class IsValue>
interval<T> narrowest(Enclose enclose, IsValue is_value, mpfr_prec_t more_digits = 0) {
  const full_range range;
  for (mpfr_prec_t digits = 2 * precision<T> + 32 + more_digits;; digits *= 2) {
    number low(digits);
    number high(digits);
    enclose(low, high);
    const T below = rounded<T>(low, MPFR_RNDD);
    const T above = rounded<T>(high, MPFR_RNDU);
    const T between = next_up(below);
    if (!(between < above)) return interval<T>::unchecked(below, above);
    if (next_up(between) == above && is_value(between)) return interval<T>(between);
  }
}

using unary = int (*)(mpfr_ptr, mpfr_srcptr, mpfr_rnd_t);

/// f(x) in the direction.
template <real T>
T bound(mpfr_rnd_t mode, unary f, T x) {
  return bound<T>(mode, [&](mpfr_ptr result, mpfr_rnd_t direction) {
    const number operand(x);
    f(result, operand, direction);
  });
}

template <real T>
T down(unary f, T x) {
  return bound(MPFR_RNDD, f, x);
}

template <real T>
T up(unary f, T x) {
  return bound(MPFR_RNDU, f, x);
}

/// The range of a function that never decreases, over a set where it is defined but for limits at its ends.
template <real T>
interval<T> increasing(interval<T> x, unary f) {
  return is_empty(x) ? x : interval<T>::unchecked(down(f, x.lo()), up(f, x.hi()));
}

template <real T>
interval<T> decreasing(interval<T> x, unary f) {
  return is_empty(x) ? x : interval<T>::unchecked(down(f, x.hi()), up(f, x.lo()));
}

/// floor(x / (pi/2)), exactly: the number of the quarter turn that x is in. Its precision becomes what that
/// takes.
template <real T>
void quarter_of(number& quarter, T x);

}  // namespace vouch::elementary
