// vouch/solve/driver/moduli.hpp -- moduli of complex numbers, rounded to one side; private.
#pragma once
#include <algorithm>
#include <cmath>

#include <vouch/interval/rounding.hpp>

namespace vouch {

/// sqrt(a^2 + b^2), or more, of a and b that are not negative. Scaled by the larger one: squares may leave the range.
inline double modulus_above(double a, double b) {
  const double large = std::max(a, b), small = std::min(a, b);
  if (small == 0 || !std::isfinite(large)) return large;
  const double ratio = div_up(small, large);
  return mul_up(large, sqrt_up(add_up(1.0, mul_up(ratio, ratio))));
}

/// sqrt(a^2 + b^2), or less.
inline double modulus_below(double a, double b) {
  const double large = std::max(std::fabs(a), std::fabs(b)), small = std::min(std::fabs(a), std::fabs(b));
  if (small == 0) return large;
  const double ratio = div_down(small, large);
  return mul_down(large, sqrt_down(add_down(1.0, mul_down(ratio, ratio))));
}

}  // namespace vouch
