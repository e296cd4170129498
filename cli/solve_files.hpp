// cli/solve_files.hpp -- the files that vouch solve leaves: x, its bounds, the history, the convergence plot.
#pragma once
#include "solve_request.hpp"
#include "solve_run.hpp"
#include "solve_system.hpp"

namespace vouch::cli {

/// Writes what was asked for; x only where the status has one that is of use. All files appear together, whole, or none does.
///
/// Throws  file_error
void write_files(const solve_request& request, const linear_system& system, const solve_outcome& outcome,
                 const structure_facts& facts);

}  // namespace vouch::cli
