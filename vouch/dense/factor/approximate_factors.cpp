#include <cmath>
#include <utility>

#include <vouch/core/cancellation.hpp>
#include <vouch/dense/blas3.hpp>
#include <vouch/dense/factor/approximate_factors.hpp>

namespace vouch::detail {
namespace {

constexpr std::int64_t width = 48;  // columns of a panel

std::int64_t largest_below(const matrix<double>& A, std::int64_t k) {
  std::int64_t best = k;
  for (std::int64_t i = k + 1; i < A.rows(); ++i)
    if (std::abs(A(i, k)) > std::abs(A(best, k))) best = i;
  return best;
}

// Columns first to last - 1, all rows from first on; whole rows are interchanged.
void factorise_panel(approximate_lu& lu, std::int64_t first, std::int64_t last) {
  matrix<double>& A = lu.factors;
  for (std::int64_t k = first; k < last; ++k) {
    const std::int64_t row = largest_below(A, k);
    if (A(row, k) == 0 || !std::isfinite(A(row, k))) {
      lu.singular = true;
      return;
    }
    if (row != k) {
      for (std::int64_t j = 0; j < A.cols(); ++j) std::swap(A(k, j), A(row, j));
      std::swap(lu.rows[static_cast<std::size_t>(k)], lu.rows[static_cast<std::size_t>(row)]);
      lu.odd = !lu.odd;
    }
    for (std::int64_t i = k + 1; i < A.rows(); ++i) A(i, k) /= A(k, k);
    for (std::int64_t j = k + 1; j < last; ++j)
      for (std::int64_t i = k + 1; i < A.rows(); ++i) A(i, j) -= A(i, k) * A(k, j);
  }
}

matrix<double> identity(const device& dev, std::int64_t n) {
  auto I = matrix<double>::zeros(dev, n, n);
  for (std::int64_t i = 0; i < n; ++i) I(i, i) = 1;
  return I;
}

// The other triangle is 0 whatever the solution of the system has left there.
void clear(matrix<double>& X, triangle other) {
  for (std::int64_t j = 0; j < X.cols(); ++j)
    for (std::int64_t i = 0; i < X.rows(); ++i)
      if (other == triangle::upper ? i < j : i > j) X(i, j) = 0;
}

}  // namespace

approximate_lu factorise(const device& dev, matrix<double> A) {
  approximate_lu lu;
  const std::int64_t n = A.rows();
  lu.factors = std::move(A);
  for (std::int64_t i = 0; i < n; ++i) lu.rows.push_back(i);
  const matrix_view<double> all = lu.factors;
  const cancellation_probe stop;
  for (std::int64_t k = 0; k < n && !lu.singular; k += width) {
    stop.check();
    const std::int64_t panel = std::min(width, n - k), rest = n - k - panel;
    factorise_panel(lu, k, k + panel);
    if (rest == 0 || lu.singular) continue;
    const matrix_view<const double> corner = all.block(k, k, panel, panel),
                                    below = all.block(k + panel, k, rest, panel);
    const matrix_view<double> beside = all.block(k, k + panel, panel, rest);
    trsm<double, double>(dev, side::left, triangle::lower, transpose::no, diagonal::unit, 1, corner, beside);
    gemm<double, double, double>(dev, transpose::no, transpose::no, -1, below, beside, 1,
                                 all.block(k + panel, k + panel, rest, rest));
  }
  return lu;
}

matrix<double> inverse_of_lower(const device& dev, const approximate_lu& lu) {
  matrix<double> X = identity(dev, lu.factors.rows());
  trsm<double, double>(dev, side::left, triangle::lower, transpose::no, diagonal::unit, 1, lu.factors, X);
  clear(X, triangle::upper);
  return X;
}

matrix<double> inverse_of_upper(const device& dev, const approximate_lu& lu) {
  matrix<double> X = identity(dev, lu.factors.rows());
  trsm<double, double>(dev, side::left, triangle::upper, transpose::no, diagonal::general, 1, lu.factors, X);
  clear(X, triangle::lower);
  return X;
}

}  // namespace vouch::detail
