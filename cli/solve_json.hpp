// cli/solve_json.hpp -- the object of vouch solve --json, schema vouch.solve/1.
#pragma once
#include <nlohmann/json_fwd.hpp>

#include "solve_request.hpp"
#include "solve_run.hpp"
#include "solve_system.hpp"

namespace vouch::cli {

/// Every key always, null for what is unknown, NaN or infinite.
nlohmann::ordered_json solve_json(const solve_request& request, const linear_system& system,
                                  const solve_outcome& outcome, const solver& A, double write_seconds,
                                  double total_seconds);

}  // namespace vouch::cli
