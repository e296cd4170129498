// vouch/solve/loop/least_squares_loop.hpp -- the residual-checked loop for systems of any shape; private.
#pragma once
#include <vouch/core/device.hpp>
#include <vouch/core/view.hpp>
#include <vouch/solve/loop/inner_solver.hpp>
#include <vouch/solve/loop/report.hpp>
#include <vouch/solve/loop/stopping_criterion.hpp>
#include <vouch/sparse/csr.hpp>
#include <vouch/sparse/residual.hpp>

namespace vouch {

template <real T>
struct least_squares_problem {
  device dev;
  csr_view<const T> A, transposed;  // A and A'
  view<const T> b;
};

/// b - A x and its gradient, recomputed in twice the precision.
struct least_squares_facts {
  residual_facts residual;
  double normal_equations = 0;  // ||A' r||_2 / (||A||_F ||r||_2)
  double up = 1;                // the power of two that r is multiplied by, so that its size is near 1
};

/// r := up (b - A x).
///
/// Shapes  norm_of_A is ||A||_F; r has as many elements as b.
template <real T>
least_squares_facts judge_least_squares(const least_squares_problem<T>& problem, double norm_of_A,
                                        view<const T> x, view<T> r);

/// Improves x until its recomputed residual or that residual's gradient is small, or says why neither is. The engine
/// makes r - A d small, of a residual r times a power of two.
///
/// Result  Fills everything of report but the names and the setup time. The gradient is summed in twice the
///         precision, too.
/// Throws  value_error  NaN or infinity in A, b or the start
template <real T>
void least_squares_solve(const least_squares_problem<T>& problem, inner_solver<T>& engine, view<T> x,
                         const stopping_criterion& goal, solve_report& report);

}  // namespace vouch
