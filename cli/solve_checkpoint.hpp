// cli/solve_checkpoint.hpp -- --checkpoint and --resume of vouch solve.
#pragma once
#include <functional>
#include <nlohmann/json_fwd.hpp>

#include "console.hpp"
#include "solve_request.hpp"

namespace vouch::cli {

/// "5min", "30s", "2h" or plain seconds; otherwise usage_error.
double parse_duration(std::string_view option, const std::string& text);

/// Refuses, by usage_error, options that go with no checkpoint.
void check_companions_of_checkpoint(const solve_request& request);

/// Opens what the request asks for. With --resume the options of the solve come from the file.
///
/// Memory  The team, if there is one, outlives request.kept; all of it call this.
/// Throws  usage_error  an option that contradicts the file
///         file_error, parse_error  there is no such file, or it is none of checkpoints
void take_checkpoint(solve_request& request, checkpoint_team* team = nullptr);

/// Says where it goes on, and from now on what is written, behind make_room().
void log_checkpoints(const console& log, solve_request& request, const std::function<void()>& make_room);

/// {"file", "iteration", "written", "resumed_at"}; null without --checkpoint and --resume.
nlohmann::ordered_json checkpoint_json(const solve_request& request);

}  // namespace vouch::cli
