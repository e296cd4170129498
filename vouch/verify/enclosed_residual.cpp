#include <vouch/verify/enclosed_residual.hpp>

#include <string>

#include <vouch/core/error.hpp>
#include <vouch/verify/rows.hpp>

namespace vouch {
namespace {

template <class T>
void check_length(const char* what, view<T> v, std::int64_t wanted) {
  if (v.size() != wanted)
    throw shape_error(std::string("enclosed_residual: ") + what + " has " + std::to_string(v.size()) +
                      " elements, not " + std::to_string(wanted));
  if (v.size() > 1 && v.stride() != 1)
    throw shape_error(std::string("enclosed_residual: ") + what + " is not contiguous");
}

}  // namespace

void enclosed_residual(const device& dev, csr_view<const double> A, view<const double> b, view<const double> x,
                       const double* x_lo, view<interval<double>> r, const uncertainty& within) {
  detail::enclosed_residual(dev, A, b, x, x_lo, r, within);
}

void enclosed_residual(const device& dev, matrix_view<const double> A, view<const double> b,
                       view<const double> x, const double* x_lo, view<interval<double>> r,
                       const uncertainty& within) {
  detail::enclosed_residual(dev, A, b, x, x_lo, r, within);
}

void detail::enclosed_residual(const device& dev, const matrix_rows& A, view<const double> b,
                               view<const double> x, const double* x_lo, view<interval<double>> r,
                               const uncertainty& within) {
  check_length("b", b, row_count(A));
  check_length("x", x, column_count(A));
  check_length("r", r, row_count(A));
  for_rows(dev, A, residual_body{b.data(), x.data(), x_lo, r.data(), within});
}

}  // namespace vouch
