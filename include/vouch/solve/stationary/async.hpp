// vouch/solve/stationary/async.hpp -- asynchronous (chaotic) relaxation.
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

struct async_options {
  stopping_criterion goal{};
  double omega = 1;  // in (0, 2)
  /// T double only: sweeps go over a copy of A in single precision, the residual is that of A. Where single
  /// precision does not help, or a rule other than the residual is asked for, sweeps are in double.
  bool mixed = false;
};

/// Solves op(A) x = b from the given x by sweeps in which every row takes whatever values the others happen to
/// have by then, new ones or old ones: between Jacobi and Gauss-Seidel, without their order.
///
/// Shapes, Types, Memory, Throws  As for jacobi().
/// Result  The verdict is as true as that of jacobi(). Iterates, their number and the last digits of x differ
///         from run to run: report.reproducible is false. Converges where the spectral radius of |D^-1 (A - D)|
///         is below 1, which dominance proves; without it the iteration may diverge where Jacobi's or
///         Gauss-Seidel's would not. A barrier ends every sweep, so no value is older than one sweep.
/// Cost    A sweep: one pass over A; one more pass where sweeps believe that they are done.
/// Source  Chazan, Miranker, Linear Algebra Appl. 2 (1969).
template <real T>
solve_report async_relaxation(const device& dev, csr_view<const T> A, view<const T> b, view<T> x,
                              const async_options& options = {});
template <real T>
solve_report async_relaxation(const device& dev, transpose op, matrix_view<const T> A, view<const T> b,
                              view<T> x, const async_options& options = {});

}  // namespace vouch
