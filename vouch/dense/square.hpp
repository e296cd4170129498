// vouch/dense/square.hpp -- a square dense matrix in either order of its entries, and loops over it; private to
// solvers.
#pragma once
#include <cstdint>

#include <vouch/core/device.hpp>
#include <vouch/core/types.hpp>
#include <vouch/dense/matrix.hpp>
#include <vouch/dense/types.hpp>

namespace vouch::detail {

/// op(A) of a square A: entry (i, j) is data[i*ld + j] by rows, data[i + j*ld] by columns.
template <real T>
struct square_matrix {
  const T* data = nullptr;
  std::int64_t n = 0;
  std::int64_t ld = 1;
  bool by_rows = false;

  const T* at(std::int64_t i, std::int64_t j) const { return by_rows ? data + i * ld + j : data + i + j * ld; }
};

/// Throws  shape_error  A is not square, its columns overlap
template <real T>
square_matrix<T> make_square(transpose op, matrix_view<const T> A);

/// s[i] := r[i] - (A d)[i] for first <= i < last, by the calling thread.
///
/// Result  The bits of an element do not depend on the range. It errs by gamma(n/lanes + ...) of what it sums:
///         by rows in lanes of their own, by columns in panels of 128 columns.
template <real T>
void residual_rows(const square_matrix<T>& A, const T* d, const T* r, T* s, std::int64_t first,
                   std::int64_t last);

/// s[i] -= sum over begin <= j < end of A(i, j) d[j] for first <= i < last; the rest as above.
template <real T>
void subtract_columns(const square_matrix<T>& A, std::int64_t begin, std::int64_t end, const T* d, T* s,
                      std::int64_t first, std::int64_t last);

/// Rows that one thread of several takes at a time in residual_rows(): whole vectors, all threads alike.
std::int64_t rows_of_a_thread(std::int64_t n, int threads);

}  // namespace vouch::detail
