#include <vouch/verify/enclosed_residual.hpp>

#include <vouch/core/ieee_environment.hpp>
#include <vouch/core/require.hpp>
#include <vouch/dense/require_entries.hpp>
#include <vouch/sparse/valid_csr.hpp>
#include <vouch/verify/rows.hpp>

namespace vouch {

void enclosed_residual(const device& dev, csr_view<const double> A, view<const double> b, view<const double> x,
                       const double* x_lo, view<interval<double>> r, const uncertainty& within) {
  const ieee_environment here;
  detail::require_radii("enclosed_residual", within);
  const valid_csr valid("enclosed_residual", dev, A);
  detail::enclosed_residual(dev, A, b, x, x_lo, r, within);
}

void enclosed_residual(const device& dev, matrix_view<const double> A, view<const double> b,
                       view<const double> x, const double* x_lo, view<interval<double>> r,
                       const uncertainty& within) {
  const ieee_environment here;
  detail::require_radii("enclosed_residual", within);
  detail::require_entries("enclosed_residual", A);
  detail::enclosed_residual(dev, A, b, x, x_lo, r, within);
}

void detail::enclosed_residual(const device& dev, const matrix_rows& A, view<const double> b,
                               view<const double> x, const double* x_lo, view<interval<double>> r,
                               const uncertainty& within) {
  const ieee_environment here;
  require_contiguous("enclosed_residual", "b", b, row_count(A));
  require_contiguous("enclosed_residual", "x", x, column_count(A));
  require_contiguous("enclosed_residual", "r", r, row_count(A));
  for_rows(dev, A, residual_body{b.data(), x.data(), x_lo, r.data(), within});
}

}  // namespace vouch
