// vouch/dense/small_factors.hpp -- triangular factors of matrices of intervals, and substitution with them.
//
// Intervals lose dependencies at every step of an elimination: widths grow with a power of the order. These
// factors are for small systems, for matrices with a dominant diagonal, and for preconditioned ones (R A near
// the identity); small_systems.hpp preconditions by itself.
//
// Shapes  A is n-by-n, B is n-by-k; sizes may be 0.
// Types   T is float or double.
// Memory  On the CPU. Results are new matrices.
// Throws  shape_error  A is not square, or the rows of B are not those of A; the text has both
#pragma once
#include <cstdint>
#include <vector>

#include <vouch/core/device.hpp>
#include <vouch/core/visibility.hpp>
#include <vouch/dense/matrix.hpp>
#include <vouch/interval/interval.hpp>

namespace VOUCH_PUBLIC vouch {

/// P A = L U: row k of P A is row rows[k] of A; L with unit diagonal below, U on and above the diagonal of
/// factors. Every regular point of A has its factors, for this P, in them.
template <real T>
struct interval_lu {
  bool complete =
      false;  // false: column `failed` has no pivot that does not hold 0; factors are not to be used
  std::int64_t failed = -1;
  matrix<interval<T>> factors;
  std::vector<std::int64_t> rows;
};

/// Pivots are those of the largest mignitude in their column.
template <real T>
interval_lu<T> lu(const device& dev, matrix_view<const interval<T>> A);

/// A = L L^T for the symmetric matrices in A, of which the lower triangle is read.
template <real T>
struct interval_cholesky {
  bool complete = false;  // true proves that every symmetric point of A is positive definite
  std::int64_t failed = -1;
  matrix<interval<T>> factor;  // L, zeros above the diagonal
};
template <real T>
interval_cholesky<T> cholesky(const device& dev, matrix_view<const interval<T>> A);

/// Encloses the X with A X = B by substitution with complete factors.
/// Throws  value_error  the factors are not complete
template <real T>
matrix<interval<T>> substitute(const device& dev, const interval_lu<T>& lu, matrix_view<const interval<T>> B);
template <real T>
matrix<interval<T>> substitute(const device& dev, const interval_cholesky<T>& cholesky,
                               matrix_view<const interval<T>> B);

}  // namespace vouch
