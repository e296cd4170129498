// vouch/solve/stationary/gauss_seidel.hpp -- the Gauss-Seidel iteration.
#pragma once
#include <vouch/core/device.hpp>
#include <vouch/core/view.hpp>
#include <vouch/core/visibility.hpp>
#include <vouch/dense/matrix.hpp>
#include <vouch/dense/types.hpp>
#include <vouch/solve/loop/report.hpp>
#include <vouch/solve/stationary/stationary_options.hpp>
#include <vouch/sparse/csr.hpp>

namespace VOUCH_PUBLIC vouch {

struct gauss_seidel_options {
  stopping_criterion goal{};
  sweep_order order = sweep_order::forward;
  acceleration accelerate{};
  sweep_ordering ordering = sweep_ordering::natural;  // of sparse matrices; a dense one knows only its own
  /// T double only: sweeps go over a copy of A in single precision, the residual is that of A. Where single
  /// precision does not help, or a rule other than the residual is asked for, sweeps are in double.
  bool mixed = false;
};

/// Solves op(A) x = b from the given x: row after row, x_i is set so that equation i holds.
///
/// Shapes, Types, Memory, Throws  As for jacobi().
/// Result  As for jacobi(); the iterates are those of the sequential algorithm up to rounding, whatever the
///         number of threads. The residual in the history is the one that a sweep meets, row i after rows
///         before it have changed. With ordering multicolor "before" means earlier colours.
/// Cost    A sweep: one pass over A (two for the symmetric one), 2 n^2 (2 nnz) flops. Dense matrices have
///         blocks of 128 rows, sequential inside, the rest a matrix-vector product; of sparse ones, independent
///         rows are taken by several threads where there are enough of them.
template <real T>
solve_report gauss_seidel(const device& dev, csr_view<const T> A, view<const T> b, view<T> x,
                          const gauss_seidel_options& options = {});
template <real T>
solve_report gauss_seidel(const device& dev, transpose op, matrix_view<const T> A, view<const T> b, view<T> x,
                          const gauss_seidel_options& options = {});

}  // namespace vouch
