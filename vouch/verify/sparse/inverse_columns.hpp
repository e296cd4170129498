// vouch/verify/sparse/inverse_columns.hpp -- columns of an approximate inverse and how far they are from it; private.
#pragma once
#include <cstdint>
#include <vector>

#include <vouch/core/simd.hpp>
#include <vouch/sparse/csr.hpp>
#include <vouch/sparse/lu_factors.hpp>
#include <vouch/verify/sparse/powers_of_two.hpp>
#include <vouch/verify/uncertainty.hpp>

namespace vouch::detail {

/// Columns of Y, the inverse of D A about, where the diagonal D is factors.scale.
///
/// Memory  One for each thread: 16 n doubles. A and factors live on the CPU and must outlive it.
class inverse_columns {
 public:
  static constexpr std::int64_t at_once = simd<double>::width;

  inverse_columns(csr_view<const double> A, const lu_factors<double>& factors, const uncertainty& within,
                  const powers_of_two& scaled_by);

  /// Solves for the columns at places first to first + 7 of the row order.
  void solve(std::int64_t first);
  /// An upper bound of the sum of |I - D A Y| over each of these columns, the largest of them; NaN where a
  /// number is not finite.
  double largest_residual() const;
  /// largest[i] := the largest |Y_ij| for these columns and what it was. Returns about the largest column sum
  /// of the inverse of what A was before it was scaled.
  double collect(std::vector<double>& largest) const;

 private:
  csr_view<const double> A_;
  const lu_factors<double>& factors_;
  std::vector<double>
      slack_;  // of each row: what rounding and uncertain entries are worth, relative to |A| |Y|
  std::vector<double> left_, right_;  // the powers that A was scaled by, of rows and columns
  std::int64_t first_ = 0;
  std::vector<double> y_, placed_;  // 8 columns side by side: by unknowns, and by places
};

}  // namespace vouch::detail
