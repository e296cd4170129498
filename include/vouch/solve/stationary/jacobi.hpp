// vouch/solve/stationary/jacobi.hpp -- the Jacobi iteration, plain and damped.
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

struct jacobi_options {
  stopping_criterion goal{};
  double omega = 1;  // damping, in (0, 2)
  acceleration accelerate{};
  /// T double only: sweeps go over a copy of A in less precision, the residual is that of A: single precision,
  /// or where A is dense and many sweeps are to be expected entries of 16 or, on a GPU, 8 bits for as long as
  /// these gain. Where single precision does not help, or a rule other than the residual is asked for, sweeps
  /// are in double.
  bool mixed = false;
};

/// Solves op(A) x = b from the given x by x += omega D^-1 (b - op(A) x), D the diagonal of A.
///
/// Shapes  A is n-by-n, b and x have n elements; n may be 0.
/// Types   T is float or double.
/// Memory  Everything lives on dev; x holds the start and receives the result; overlaps nothing. A row-major
///         matrix is a column-major view of its transpose with op = transpose::yes. A GPU makes a copy of a
///         matrix that is not row-major with whole 16 bytes a row, and one of every sparse matrix, which the
///         host has a copy of, too.
/// Result  The numerical contract of docs/contract.md: status converged means ||b - op(A) x||_2 <=
///         max(rtol ||b||_2, atol) for the x returned, recomputed in twice the working precision. With
///         goal.fixed_iterations the iterates of the textbook's sweep up to rounding. Where dominance is proved
///         (see dominance.hpp), report.error_bound holds |x - exact|_inf. The same bits on every run, for any
///         number of threads, or on one GPU. Not converging is a status, never an exception.
/// Cost    A sweep: one pass over A, 2 n^2 (2 nnz) flops. Before and after: a few passes for the proofs.
/// Throws  shape_error  A not square, wrong lengths
///         value_error  omega outside of (0, 2); a diagonal entry that is zero or too small (the text names its
///                      row); NaN or infinity in A, b or x; anderson and chebyshev together; for dense matrices
///                      on a GPU more than 8 iterates to mix in this iteration, and chebyshev for others
template <real T>
solve_report jacobi(const device& dev, csr_view<const T> A, view<const T> b, view<T> x,
                    const jacobi_options& options = {});
template <real T>
solve_report jacobi(const device& dev, transpose op, matrix_view<const T> A, view<const T> b, view<T> x,
                    const jacobi_options& options = {});

}  // namespace vouch
