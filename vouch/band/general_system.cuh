// vouch/band/general_system.cuh -- one long system whose inverse does not decay; private, defined only in CUDA
// builds.
#pragma once
#include <vouch/band/held_runs.cuh>

namespace vouch::detail {

/// Of the memory that solve_general_system() needs.
std::int64_t general_system_numbers(std::int64_t n);

/// Enqueues a kernel that solves the system of a task if one pass has found out that it cannot do; held: and
/// solve_held_runs(), where interchanges are needed. Returns false, and does nothing, where there are more
/// systems, or rows do not lie so that it can.
///
/// Memory  x overlaps nothing; on the way it holds relations
bool solve_general_system(const device& dev, const band_task<double>& task, bool held, pass_state* state,
                          double* memory);

}  // namespace vouch::detail
