// tests/interval/oracle.hpp -- directed results by MPFR, at the precision and exponent range of T.
#pragma once
#include <mpfr.h>

#include <limits>
#include <type_traits>

namespace vouch::testing {

/// An MPFR number wide enough for every float and double, freed with its scope.
class big {
 public:
  explicit big(mpfr_prec_t precision = 53) { mpfr_init2(value_, precision); }
  explicit big(double x) : big() { mpfr_set_d(value_, x, MPFR_RNDN); }
  big(const big&) = delete;
  big& operator=(const big&) = delete;
  ~big() { mpfr_clear(value_); }
  mpfr_ptr get() { return value_; }

 private:
  mpfr_t value_;
};

/// The result of call(result, mode) rounded once to T: MPFR computes with T's precision and exponents and
/// rounds subnormal results from the ternary value of the first rounding.
template <class T, class Call>
T directed(mpfr_rnd_t mode, Call call) {
  constexpr int digits = std::numeric_limits<T>::digits;
  const mpfr_exp_t least = mpfr_get_emin();
  const mpfr_exp_t most = mpfr_get_emax();
  mpfr_set_emin(std::numeric_limits<T>::min_exponent - digits + 1);
  mpfr_set_emax(std::numeric_limits<T>::max_exponent);
  mpfr_t result;
  mpfr_init2(result, digits);
  const int ternary = call(static_cast<mpfr_ptr>(result), mode);
  mpfr_subnormalize(result, ternary, mode);
  const double value = mpfr_get_d(result, MPFR_RNDN);
  mpfr_clear(result);
  mpfr_set_emin(least);
  mpfr_set_emax(most);
  return static_cast<T>(value);
}

}  // namespace vouch::testing
