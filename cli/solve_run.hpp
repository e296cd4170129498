// cli/solve_run.hpp -- the work of vouch solve: device chosen, every column solved, times taken.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include <vouch/core/array.hpp>
#include <vouch/core/device.hpp>
#include <vouch/solve/choose_device.hpp>
#include <vouch/solve/report.hpp>

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

/// Solves for every column, --repeat times from the same start.
///
/// Result  Ends early when a column is interrupted or leaves no solution, once those that go with it are done;
///         columns not begun keep their start.
/// Throws  value_error  as make_column_solver
solve_outcome run_solve(const solve_request& request, const linear_system& system, const device& cpu,
                        const device& dev, solve_watch& watch);

}  // namespace vouch::cli
