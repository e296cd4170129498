// vouch/solve/stationary/sor.hpp -- successive over-relaxation, one-sided and symmetric.
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

struct sor_options {
  stopping_criterion goal{};
  double omega = 1;                          // in (0, 2); outside of it SOR diverges for every matrix
  sweep_order order = sweep_order::forward;  // symmetric: SSOR
  acceleration accelerate{};
  sweep_ordering ordering = sweep_ordering::natural;  // of sparse matrices; a dense one knows only its own
  /// T double only: sweeps go over a copy of A in single precision, the residual is that of A. Where single
  /// precision does not help, or a rule other than the residual is asked for, sweeps are in double.
  bool mixed = false;
  bool estimate_omega = false;  // omega is estimated and tried first (see below)
};

/// Solves op(A) x = b from the given x: row after row, x_i moves omega times as far as Gauss-Seidel would move
/// it.
///
/// With estimate_omega, accelerated Jacobi sweeps tell the spectral radius of the Jacobi iteration, Young's
/// formula an omega from it, and a trial whether sweeps with it are faster than with 1; where they are not a
/// warning says so and omega is 1. The engine's name in the report tells omega. The estimate
/// costs about four times the sweeps that Jacobi with Chebyshev's acceleration takes.
///
/// Shapes, Types, Memory, Result, Cost, Throws  As for gauss_seidel().
/// Source  Kahan 1958; Young, Iterative Solution of Large Linear Systems, 1971.
template <real T>
solve_report sor(const device& dev, csr_view<const T> A, view<const T> b, view<T> x,
                 const sor_options& options = {});
template <real T>
solve_report sor(const device& dev, transpose op, matrix_view<const T> A, view<const T> b, view<T> x,
                 const sor_options& options = {});

}  // namespace vouch
