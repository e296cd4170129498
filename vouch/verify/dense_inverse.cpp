#include <vouch/verify/dense_inverse.hpp>

#include <vouch/core/error.hpp>
#include <vouch/core/formatted.hpp>
#include <vouch/dense/blas2.hpp>
#include <vouch/dense/blas3.hpp>
#include <vouch/interval/interval.hpp>
#include <vouch/verify/approximate_inverse.hpp>
#include <vouch/verify/elements.hpp>
#include <vouch/verify/rows.hpp>

namespace vouch {
namespace {

using namespace detail;

// Bytes that the proof takes besides the matrix itself: copy, R, R A as intervals and as magnitudes, and the
// parts that a fast product is made of.
double bytes_needed(std::int64_t n, bool uncertain) {
  const double doubles = uncertain ? 9 : 7;
  return doubles * 8 * static_cast<double>(n) * static_cast<double>(n);
}

bool fits(const device& dev, std::int64_t n, const uncertainty& within, std::string& reason) {
  const double needed = bytes_needed(n, within.matrix > 0);
  if (needed <= static_cast<double>(dev.memory_free())) return true;
  reason = formatted("a dense approximate inverse would take %.0f GB, %.0f are free", needed / 1e9,
                     static_cast<double>(dev.memory_free()) / 1e9);
  return false;
}

// The matrix with nothing between its columns.
matrix<double> packed(const device& dev, matrix_view<const double> A) {
  matrix<double> M(dev, A.rows, A.cols);
  const auto column = static_cast<std::size_t>(A.rows) * sizeof(double);
  if (A.ld == A.rows) {
    copy_bytes(M.data(), dev, A.data, dev, column * static_cast<std::size_t>(A.cols));
    return M;
  }
  for (std::int64_t j = 0; j < A.cols; ++j)
    copy_bytes(M.data() + j * A.rows, dev, A.data + j * A.ld, dev, column);
  return M;
}

matrix<double> as_dense(const device& dev, csr_view<const double> A) {
  matrix<double> M = matrix<double>::zeros(dev, A.rows, A.cols);
  for_elements(dev, A.rows, scatter_body{A.row_ptr, A.col, A.val, A.rows, M.data()});
  return M;
}

void check_square(std::int64_t rows, std::int64_t cols) {
  if (rows != cols) throw shape_error("dense_inverse: the matrix is not square");
}

}  // namespace

std::unique_ptr<dense_inverse> dense_inverse::prove(const device& dev, csr_view<const double> A,
                                                    const uncertainty& within, std::string& reason) {
  check_square(A.rows, A.cols);
  if (!fits(dev, A.rows, within, reason)) return nullptr;
  return prove(dev, as_dense(dev, A).read(), within, reason);
}

std::unique_ptr<dense_inverse> dense_inverse::prove(const device& dev, matrix_view<const double> A,
                                                    const uncertainty& within, std::string& reason) {
  check_square(A.rows, A.cols);
  if (!fits(dev, A.rows, within, reason)) return nullptr;
  std::unique_ptr<dense_inverse> proof(new dense_inverse(dev, A.rows));
  if (!invert_approximately(dev, packed(dev, A), proof->R_, proof->remark_)) {
    reason = "elimination met a pivot of zero: the matrix is singular, or nearly so";
    return nullptr;
  }
  proof->product_ = matrix<double>(dev, A.rows, A.rows);
  proof->comparison_.emplace(dev, proof->product_.read(), uncertainty{});
  if (!proof->is_h_matrix(A, within, gemm_mode::fast) && !proof->is_h_matrix(A, within, gemm_mode::tight)) {
    reason =
        "the matrix is singular or too ill-conditioned: an approximate inverse does not bring it near the "
        "identity";
    return nullptr;
  }
  array<double> norm(dev, A.rows);
  for_rows(dev, proof->R_.read(), row_norm_body{norm.data()});
  proof->inverse_norm_ = largest(dev, A.rows, size_body{norm.data()});
  return proof;
}

// R A is near the identity or there is nothing to be had: then v near e is enough, but for columns of A of very
// different size. Their v is far from e, and <C> v is positive beyond rounding only where v is a little more
// than one step of Jacobi gives; at last not more, for what is no H-matrix by much.
bool dense_inverse::is_h_matrix(matrix_view<const double> A, const uncertainty& within, gemm_mode mode) {
  const interval<double> zero(0.0), one(1.0);
  matrix<interval<double>> C(device_, n_, n_);
  if (within.matrix > 0) {
    matrix<interval<double>> wide(device_, n_, n_);
    for_elements(device_, n_ * n_, widen_entry_body{A.data, n_, A.ld, within.matrix, wide.data()});
    gemm<double, interval<double>, interval<double>>(device_, transpose::no, transpose::no, one, R_.read(),
                                                     wide.read(), zero, C.all(), mode);
  } else {
    gemm<double, double, interval<double>>(device_, transpose::no, transpose::no, one, R_.read(), A, zero,
                                           C.all(), mode);
  }
  for_elements(device_, n_ * n_, compare_entry_body{C.data(), n_, product_.data()});
  C = {};
  for_elements(device_, n_, fill_body<double>{1.0, comparison_->v().data()});
  for (int step = 0; step < 24; ++step) {
    if (comparison_->holds()) return true;
    comparison_->improve_v(step < 16 ? 1.25 : 1.0);
  }
  return false;
}

void dense_inverse::bound(view<const interval<double>> r, view<double> radius) {
  array<interval<double>> Rr(device_, n_);
  gemv<double, interval<double>, interval<double>>(device_, transpose::no, interval<double>(1.0), R_.read(), r,
                                                   interval<double>(0.0), Rr.all());
  comparison_->bound(Rr.all(), 1, radius);
}

bool dense_inverse::correct(view<const double> s, view<double> d) {
  gemv<double, double, double>(device_, transpose::no, 1.0, R_.read(), s, 0.0, d);
  return true;
}

}  // namespace vouch
