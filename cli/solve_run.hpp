// cli/solve_run.hpp -- the work of vouch solve: every column solved, --repeat times.
#pragma once
#include <vector>

#include <vouch/core/array.hpp>
#include <vouch/core/device.hpp>
#include <vouch/solve/solver.hpp>

#include "solve_request.hpp"
#include "solve_system.hpp"
#include "solve_watch.hpp"

namespace vouch::cli {

/// The GPU that --device names, opened before anything is read; nothing for auto.
std::optional<device> open_device(const solve_request& request, const device& cpu);

struct solve_outcome {
  solve_result result;          // of the last run; times are those of all
  array<double> x;              // column by column, on the CPU
  std::vector<double> repeats;  // seconds to solve all columns, each time
};

/// Solves for every column, --repeat times from the same start.
///
/// Result  Ends early when a column is interrupted or leaves no solution; columns not begun keep their start.
/// Throws  as solver::solve
solve_outcome run_solve(const solve_request& request, const linear_system& system, const device& cpu, solver& A,
                        solve_watch& watch);

}  // namespace vouch::cli
