// cli/solve_band.hpp -- tridiagonal systems in vouch solve: a matrix that is one, or a file with a batch of
// them.
#pragma once
#include <optional>

#include <vouch/band/solve.hpp>

#include "console.hpp"
#include "solve_request.hpp"
#include "solve_run.hpp"
#include "solve_system.hpp"

namespace vouch::cli {

/// What the rest of vouch solve goes on with.
struct band_run {
  solve_outcome outcome;
  device_choice device;
};

/// Solves where a method for tridiagonal systems is asked for, and by --method auto where the matrix is
/// tridiagonal (its blocks may well be uncoupled), its rows do not all sum to zero, and nothing is asked for
/// that only an iteration has. Takes the right-hand sides into the system, whose matrix is there.
///
/// Result  Nothing where another method has to.
/// Throws  what the readers throw; value_error  such a method was asked for and the matrix is not tridiagonal
std::optional<band_run> run_band(const solve_request& request, const device& cpu, const console& log,
                                 linear_system& system);

/// What the command line asks of the tridiagonal solver.
tridiagonal_options band_options(const solve_request& request);

/// vouch solve --batch: reads, solves, writes and reports; the exit code.
int solve_batch(const solve_request& request, const console& log);

}  // namespace vouch::cli
