// vouch/price/normal.hpp -- the normal distribution, accurate in its tails, for CPU and GPU.
#pragma once
#include <cmath>

#include <vouch/core/types.hpp>
#include <vouch/core/visibility.hpp>

namespace VOUCH_PUBLIC vouch {
namespace normal {

inline constexpr double root_half = 0.70710678118654752440;         // 1/sqrt(2)
inline constexpr double root_two_pi_inverse = 0.39894228040143268;  // 1/sqrt(2 pi)
inline constexpr double root_pi_inverse = 0.56418958354775629;      // 1/sqrt(pi)

VOUCH_HOST_DEVICE inline double density(double x) { return root_two_pi_inverse * std::exp(-0.5 * x * x); }

/// Result  A relative error of a few units in the last place times 1 + x^2, also far out on the left.
VOUCH_HOST_DEVICE inline double cumulative(double x) { return 0.5 * std::erfc(-x * root_half); }

/// exp(x^2) erfc(x) for x >= 0.
///
/// Result  A relative error of a few 1e-16.
VOUCH_HOST_DEVICE inline double scaled_erfc(double x) {
  if (x < 10) {
    const double square = x * x;
    const double rest = std::fma(x, x, -square);
    return std::exp(square) * std::erfc(x) * (1 + rest);
  }
  // The asymptotic series: from x = 10 on, ten terms are below 1e-16.
  const double step = 0.5 / (x * x);
  double sum = 0;
  for (int k = 10; k >= 1; --k) sum = -(2 * k - 1) * step * (1 + sum);
  return root_pi_inverse / x * (1 + sum);
}

/// Mills' ratio N(-y) / density(y) for y >= 0.
///
/// Result  A relative error of a few 1e-16.
VOUCH_HOST_DEVICE inline double mills_ratio(double y) {
  constexpr double root_half_pi = 1.2533141373155003;
  return root_half_pi * scaled_erfc(y * root_half);
}

/// exp(a) N(x), also where exp(a) alone would overflow.
VOUCH_HOST_DEVICE inline double weighted_cumulative(double a, double x) {
  if (x > -1) return std::exp(a) * cumulative(x);
  return 0.5 * std::exp(a - 0.5 * x * x) * scaled_erfc(-x * root_half);
}

}  // namespace normal
}  // namespace vouch
