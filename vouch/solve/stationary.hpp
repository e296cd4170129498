// vouch/solve/stationary.hpp -- what jacobi(), gauss_seidel() and sor() share; private.
#pragma once
#include <functional>
#include <memory>
#include <string>

#include <vouch/core/device.hpp>
#include <vouch/core/view.hpp>
#include <vouch/solve/report.hpp>
#include <vouch/solve/stationary_options.hpp>
#include <vouch/solve/sweeper.hpp>

namespace vouch {

/// What makes the loop of a rule's sweeps, the matrix at hand; empty: the matrix itself does.
template <real T>
using engine_maker =
    std::function<std::unique_ptr<cg_engine<T>>(const sweepable_matrix<T>& A, const sweep_rule& rule)>;

struct sweep_request {
  sweep_rule rule;
  bool estimate_omega = false;
  std::string method;
};

/// Preflight, solve, verdict and proof.
///
/// Throws  shape_error  wrong lengths
///         value_error  as jacobi()
template <real T>
solve_report solve_by_sweeps(const device& dev, const sweepable_matrix<T>& A, view<const T> b, view<T> x,
                             const sweep_request& request, const solve_goal& goal,
                             const acceleration& accelerate, const engine_maker<T>& mixed = {});

}  // namespace vouch
