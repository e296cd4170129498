// vouch/solve/loop/least_squares_loop.hpp -- the residual-checked loop for systems of any shape; private.
#pragma once
#include <vouch/core/device.hpp>
#include <vouch/core/view.hpp>
#include <vouch/solve/loop/inner_solver.hpp>
#include <vouch/solve/loop/report.hpp>
#include <vouch/solve/loop/stopping_criterion.hpp>
#include <vouch/sparse/csr.hpp>

namespace vouch {

template <real T>
struct least_squares_problem {
  device dev;
  csr_view<const T> A, transposed;  // A and A'
  view<const T> b;
};

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
