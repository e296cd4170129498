// cli/solve_json.hpp -- the object of vouch solve --json, schema vouch.solve/1.
#pragma once
#include <nlohmann/json_fwd.hpp>

#include <vector>

#include <vouch/solve/result.hpp>

#include "solve_request.hpp"
#include "solve_system.hpp"

namespace vouch::cli {

/// Every key always, null for what is unknown, NaN or infinite; batch alone only where it is not null.
nlohmann::ordered_json solve_json(const solve_request& request, const nlohmann::ordered_json& matrix,
                                  const nlohmann::ordered_json& batch, const solve_result& report,
                                  const std::vector<double>& repeats, const spent_seconds& seconds);

}  // namespace vouch::cli
