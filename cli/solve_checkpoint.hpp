// cli/solve_checkpoint.hpp -- --checkpoint and --resume of vouch solve.
#pragma once
#include <nlohmann/json_fwd.hpp>

#include "console.hpp"
#include "solve_request.hpp"
#include "solve_watch.hpp"

namespace vouch::cli {

/// "5min", "30s", "2h" or plain seconds; otherwise usage_error.
double parse_duration(std::string_view option, const std::string& text);

/// Opens what the request asks for. With --resume the options of the solve come from the file.
///
/// Throws  usage_error  an option that contradicts the file, or goes with no checkpoint
///         file_error, parse_error  there is no such file, or it is none of checkpoints
void take_checkpoint(solve_request& request);

/// Says where it goes on, and from now on what is written.
void log_checkpoints(const console& log, solve_request& request, solve_watch& watch);

/// {"file", "iteration", "written", "resumed_at"}; null without --checkpoint and --resume.
nlohmann::ordered_json checkpoint_json(const solve_request& request);

}  // namespace vouch::cli
