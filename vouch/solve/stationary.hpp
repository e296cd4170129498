// vouch/solve/stationary.hpp -- what jacobi(), gauss_seidel() and sor() share; private.
#pragma once
#include <string>

#include <vouch/core/device.hpp>
#include <vouch/core/view.hpp>
#include <vouch/solve/report.hpp>
#include <vouch/solve/stationary_options.hpp>
#include <vouch/solve/sweeper.hpp>

namespace vouch {

/// Preflight, solve, verdict and proof.
///
/// Throws  shape_error  wrong lengths
///         value_error  as jacobi()
template <real T>
solve_report solve_by_sweeps(const device& dev, const sweepable_matrix<T>& A, view<const T> b, view<T> x,
                             sweep_rule rule, const solve_goal& goal, const acceleration& accelerate,
                             std::string method);

}  // namespace vouch
