
#include "solve_request.hpp"

#include <fmt/format.h>

#include <memory>
#include <string_view>
#include <utility>
#include <vouch/solve/methods.hpp>
#include <vouch/solve/resume.hpp>

#include "command_line.hpp"
#include "json.hpp"
#include "usage.hpp"

namespace vouch::cli {
namespace {

const char* option_of(const solve_request& request) {
  return request.resume_file.empty() ? "--checkpoint" : "--resume";
}

// The options of the file, where the command line says nothing else.
void take_resumed_options(solve_request& request) {
  const std::vector<kept_option> kept = kept_options(*request.kept);
  const auto refuse = [&](const kept_option& other) {
    throw usage_error(fmt::format("option --{}: the solve of {} has {}", other.name, request.resume_file,
                                  other.value.empty() ? "none" : other.value),
                      "leave it out: options come from the checkpoint");
  };
  for (const kept_option& option : kept)
    if (option.name == "engine" && option.value != request.engine) {
      if (!request.engine.empty()) refuse(option);
      throw usage_error(
          fmt::format("option --resume: the solve of {} has --engine {}", request.resume_file, option.value),
          "with that engine it goes on, on any number of ranks");
    }
  if (const std::optional<kept_option> other = find_contradiction(request.options, kept)) refuse(*other);
  take_options(kept, request.options);
  for (const kept_option& option : kept) {
    if (option.name == "precision") request.common.precision = option.value;
    if (option.name == "precond") request.precondition = option.value;
    if (option.name != "device") continue;
    if (request.common.device == "auto") request.common.device = option.value;
    if (!request.common.device.starts_with(option.value)) refuse(option);
  }
}

}  // namespace

void check_companions_of_checkpoint(const solve_request& request) {
  if (request.checkpoint_file.empty() && request.resume_file.empty()) return;
  const auto refuse = [&](const char* other, const char* why) {
    throw usage_error(fmt::format("option {}: no {}", option_of(request), other), why);
  };
  if (request.batch) refuse("--batch", "batches are solved without iterations");
  if (request.common.repeat > 1) refuse("--repeat", "one solve is saved");
  if (!request.coordinates.empty() || !request.near_nullspace.empty())
    refuse("--coordinates or --near-nullspace", "a checkpoint keeps neither");
  if (!request.resume_file.empty() && request.initial != "zeros")
    refuse("--initial", "x comes from the checkpoint");
  const method* const named = find_method(request.options.method);
  if (named != nullptr && named->direct)
    refuse(fmt::format("--method {}", named->name).c_str(), "it has no iterations to save");
}

double parse_duration(std::string_view option, const std::string& text) {
  const std::size_t digits = text.find_last_not_of("abcdefghijklmnopqrstuvwxyz") + 1;
  const std::string unit = text.substr(digits);
  constexpr std::pair<std::string_view, double> units[] = {{"", 1}, {"s", 1}, {"min", 60}, {"h", 3600}};
  for (const auto& [name, seconds] : units)
    if (unit == name && digits > 0) return seconds * parse_real(option, text.substr(0, digits), 0);
  throw usage_error(fmt::format("option {}: '{}' is no time", option, text), "as in 30s, 5min, 2h or seconds");
}

void take_checkpoint(solve_request& request, checkpoint_team* team) {
  if (request.checkpoint_file.empty() && request.resume_file.empty()) return;
  const auto heard = [&request](const checkpoint_note& note) {
    if (request.on_checkpoint) request.on_checkpoint(note);
  };
  if (request.resume_file.empty()) {
    request.kept =
        std::make_shared<checkpoint>(request.checkpoint_file, request.checkpoint_seconds, heard, team);
    // Conjugate gradients on a GPU save nothing.
    if (request.common.device == "auto") request.common.device = "cpu";
    return;
  }
  request.kept = std::make_shared<checkpoint>(checkpoint::resumed(request.resume_file, request.checkpoint_file,
                                                                  request.checkpoint_seconds, heard, team));
  request.resumed_at = request.kept->iteration();
  take_resumed_options(request);
}

void log_checkpoints(const console& log, solve_request& request, const std::function<void()>& make_room) {
  if (request.resumed_at)
    log.line(fmt::format("resumed    at iteration {} of {}; what was computed after it is lost",
                         *request.resumed_at, request.resume_file));
  request.on_checkpoint = [&log, make_room, failing = false](const checkpoint_note& note) mutable {
    make_room();
    if (note.failure.empty())
      log.line(fmt::format("checkpoint at iteration {}: {}", note.iteration, note.file));
    else if (!failing)
      log.warning(
          fmt::format("no checkpoint at iteration {}: {}; the solve goes on", note.iteration, note.failure));
    failing = !note.failure.empty();
  };
}

json checkpoint_json(const solve_request& request) {
  if (!request.kept) return nullptr;
  return {{"file", or_null(request.checkpoint_file)},
          {"iteration", known_if(request.kept->written() > 0, request.kept->iteration())},
          {"written", request.kept->written()},
          {"resumed_at", or_null(request.resumed_at)}};
}

}  // namespace vouch::cli
