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

/// x, exactly.
template <real T>
void assign(number& to, T x) {
  mpfr_set_d(to, static_cast<double>(x), MPFR_RNDN);
}

/// The value that call(result, mode) gives, rounded to T in the same direction: MPFR rounds once to the digits
/// of T, the conversion once more where the exponent is out of T's range, which is one rounding in effect.
template <real T, class Call>
T bound(mpfr_rnd_t mode, Call call) {
  const full_range range;
  number result(precision<T>);
  call(result, mode);
  if constexpr (std::same_as<T, float>)
    return mpfr_get_flt(result, mode);
  else
    return mpfr_get_d(result, mode);
}

using unary = int (*)(mpfr_ptr, mpfr_srcptr, mpfr_rnd_t);

/// f(x) in the direction.
template <real T>
T bound(mpfr_rnd_t mode, unary f, T x) {
  return bound<T>(mode, [&](mpfr_ptr result, mpfr_rnd_t direction) {
    number operand(precision<T>);
    assign(operand, x);
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

}  // namespace vouch::elementary
