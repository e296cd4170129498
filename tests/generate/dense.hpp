// tests/generate/dense.hpp -- slow and plain dense algebra as an oracle.
#pragma once
#include <cmath>
#include <cstdint>
#include <vector>

#include <vouch/sparse/csr.hpp>

namespace vouch::testing {

using dense = std::vector<std::vector<long double>>;

inline dense to_dense(const csr<double>& A) {
  dense M(static_cast<std::size_t>(A.rows), std::vector<long double>(static_cast<std::size_t>(A.cols)));
  for (std::int64_t i = 0; i < A.rows; ++i)
    for (std::int64_t k = A.row_ptr[i]; k < A.row_ptr[i + 1]; ++k)
      M[static_cast<std::size_t>(i)][static_cast<std::size_t>(A.col[k])] += A.val[k];
  return M;
}

inline std::vector<long double> multiply(const csr<double>& A, const std::vector<long double>& x) {
  std::vector<long double> y(static_cast<std::size_t>(A.rows));
  for (std::int64_t i = 0; i < A.rows; ++i)
    for (std::int64_t k = A.row_ptr[i]; k < A.row_ptr[i + 1]; ++k)
      y[static_cast<std::size_t>(i)] +=
          static_cast<long double>(A.val[k]) * x[static_cast<std::size_t>(A.col[k])];
  return y;
}

/// A Cholesky factorisation runs through with pivots above a part of the diagonal entry.
inline bool positive_definite(dense M, long double smallest_pivot = 1e-15L) {
  for (std::size_t j = 0; j < M.size(); ++j) {
    long double pivot = M[j][j];
    for (std::size_t k = 0; k < j; ++k) pivot -= M[j][k] * M[j][k];
    if (!(pivot > smallest_pivot * M[j][j])) return false;
    M[j][j] = std::sqrt(pivot);
    for (std::size_t i = j + 1; i < M.size(); ++i) {
      for (std::size_t k = 0; k < j; ++k) M[i][j] -= M[i][k] * M[j][k];
      M[i][j] /= M[j][j];
    }
  }
  return true;
}

inline bool exactly_symmetric(const csr<double>& A) {
  const dense M = to_dense(A);
  for (std::size_t i = 0; i < M.size(); ++i)
    for (std::size_t j = 0; j < i; ++j)
      if (M[i][j] != M[j][i]) return false;
  return A.rows == A.cols;
}

/// Offsets grow from 0 to the number of entries, columns ascend within their rows.
inline bool well_formed(const csr<double>& A) {
  if (A.row_ptr.size() != A.rows + 1 || A.row_ptr[0] != 0 || A.row_ptr[A.rows] != A.nonzeros() ||
      A.col.size() != A.nonzeros())
    return false;
  for (std::int64_t i = 0; i < A.rows; ++i)
    for (std::int64_t k = A.row_ptr[i]; k < A.row_ptr[i + 1]; ++k)
      if (A.col[k] < 0 || A.col[k] >= A.cols || (k > A.row_ptr[i] && A.col[k] <= A.col[k - 1])) return false;
  return true;
}

inline bool same_bits(const csr<double>& A, const csr<double>& B) {
  return A.rows == B.rows && A.cols == B.cols && A.row_ptr.to_vector() == B.row_ptr.to_vector() &&
         A.col.to_vector() == B.col.to_vector() && A.val.to_vector() == B.val.to_vector();
}

}  // namespace vouch::testing
