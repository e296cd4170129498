// vouch/price/finite_difference/chebyshev.hpp -- the exponential function as a proved sum of Chebyshev polynomials; private.
#pragma once
#include <cstddef>
#include <vector>

#include <vouch/core/double_double.hpp>

namespace vouch {

/// p(y) = sum_k coefficient[k] T_k(y) for -1 <= y <= 1, near f(y) = exp(2 time / scale (y - 1)).
struct enclosed_chebyshev {
  std::vector<double_double<double>> coefficient;
  double magnitudes = 0;  // at least the sum of the coefficients' magnitudes
  double off = 0;         // at least |p - f|
  double slope_off = 0;   // at least |p' - f'| scale / (2 time)
};

/// For time and scale between 1e-100 and 1e100 with time / scale at most 1e12.
///
/// Cost    About nine times the root of time / scale coefficients.
enclosed_chebyshev enclose_chebyshev(double time, double scale);

}  // namespace vouch
