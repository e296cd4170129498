// vouch/band/band_residual.hpp -- r = b - A x of tridiagonal systems in twice the working precision; private.
#pragma once
#include <cmath>
#include <limits>

#include <vouch/band/tridiagonal.hpp>
#include <vouch/core/device.hpp>

namespace vouch::detail {

/// sqrt of a sum of squares that neither over- nor underflows: scale * sqrt(sum), scale a power of two.
struct scaled_norm {
  double scale = 1, sum = 0;

  VOUCH_HOST_DEVICE void add(const scaled_norm& other) {
    if (other.sum == 0) return;
    if (sum == 0 || other.scale > scale) {
      const double ratio = scale / other.scale;
      sum = sum == 0 ? other.sum : other.sum + sum * ratio * ratio;
      scale = other.scale;
    } else {
      const double ratio = other.scale / scale;
      sum += other.sum * ratio * ratio;
    }
  }
  /// At most the largest number: what overflows is no less than that.
  double value() const {
    const double root = std::sqrt(sum), whole = scale * root;
    return std::isinf(whole) && std::isfinite(root) ? std::numeric_limits<double>::max() : whole;
  }
};

/// One system's residual. A NaN or infinity in A, b or x shows in what it belongs to.
struct band_residual_facts {
  scaled_norm residual, rhs;
  double residual_inf = 0, matrix_inf = 0, x_inf = 0, rhs_inf = 0;

  void add(const band_residual_facts& other);
  double backward_error() const;
};

/// r := b - A x, and facts[s] of every system, in host memory; all else lives on dev. r may be nullptr, or lies
/// as x does.
///
/// Result  Each row is summed in double-double (double) or double (float) and rounded once. Same bits for
///         any number of threads.
template <real T>
void band_residual(const device& dev, const tridiagonal_view<const T>& A, const batch_view<const T>& b,
                   const batch_view<const T>& x, T* r, band_residual_facts* facts);

}  // namespace vouch::detail
