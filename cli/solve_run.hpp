// cli/solve_run.hpp -- the work of vouch solve: device chosen, every column solved, times taken.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include <vouch/core/array.hpp>
#include <vouch/core/device.hpp>
#include <vouch/solve/choose_device.hpp>
#include <vouch/solve/report.hpp>
#include <vouch/sparse/residual.hpp>

#include "patience.hpp"
#include "solve_column.hpp"
#include "solve_request.hpp"
#include "solve_system.hpp"
#include "solve_watch.hpp"

namespace vouch::cli {

/// The GPU that --device names, opened before anything is read; else the CPU.
device open_device(const solve_request& request);

/// The device for this system: the one that was opened, or what the library chooses for --device auto.
device_choice choose_for(const solve_request& request, const linear_system& system, const device& opened);

struct solve_outcome {
  solve_report report;          // the worst column's, with the iterations and warnings of all
  std::int64_t column = 0;      // which one that is, from 0
  array<double> x;              // column by column, on the CPU
  std::vector<double> repeats;  // seconds to solve all columns, each time
  solve_times times;
};

/// Puts the residual of x, of the system as it was read, into the report of a run in any precision.
void take_residual(const residual_facts& facts, double rtol, double atol, solve_report& report);

/// Solves for every column, --repeat times from the same start; while `limit`, if there is one, has patience.
///
/// Result  Ends early when a column is interrupted or leaves no solution, once those that go with it are done;
///         columns not begun keep their start.
/// Throws  value_error  as make_column_solver
solve_outcome run_solve(const solve_request& request, const linear_system& system, const device& cpu,
                        const device& dev, solve_watch& watch, patience* limit = nullptr);

/// The verdict on a solution that a proof has improved: residuals and, where these decide, the status.
void judge_improved(const solve_request& request, const linear_system& system, const device& cpu,
                    solve_outcome& outcome);

/// run_solve; but where auto stood for conjugate gradients and these end without a solution, stagnate, or do
/// several times the work that elimination is predicted to take, the system is factorised on the CPU, unless
/// something was asked for that only iterations or a GPU have.
///
/// Result  request and chosen tell what was used in the end, a warning why; times are those of all attempts.
///         What conjugate gradients found stays where the factors do no better.
solve_outcome run_settled(solve_request& request, const linear_system& system, const device& cpu,
                          device_choice& chosen, solve_watch& watch);

}  // namespace vouch::cli
