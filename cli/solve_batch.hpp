// cli/solve_batch.hpp -- vouch solve --batch: a file with several systems.
#pragma once
#include "console.hpp"
#include "solve_request.hpp"

namespace vouch::cli {

/// Reads, solves, writes and reports; the exit code.
int solve_batch(solve_request request, const console& log);

}  // namespace vouch::cli
