// vouch solve: A x = b, and how good x is.
#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "command.hpp"
#include "interrupt.hpp"
#include "sign_of_life.hpp"
#include "solve_band.hpp"
#include "solve_files.hpp"
#include "solve_json.hpp"
#include "solve_request.hpp"
#include "solve_run.hpp"
#include "solve_text.hpp"

namespace vouch::cli {
namespace {

int exit_code_of(solve_status status) {
  if (status == solve_status::interrupted) return 128 + interrupt_signal();
  return vouch::goal_reached(status) ? exit_code::goal_reached : exit_code::goal_missed;
}

// The proof that was asked for; refinement may change x.
std::optional<verification> verify_outcome(const solve_request& request, const device& cpu, const device& dev,
                                           const linear_system& system, const console& log,
                                           solve_outcome& outcome) {
  if (!request.verification.asked()) return std::nullopt;
  if (!has_solution(outcome.report.status)) return unverified("there is no solution to verify");
  if (outcome.report.status == solve_status::interrupted) return unverified("interrupted");
  const sign_of_life proving(log, "proving");
  verification verified = verify_columns(request.verification, cpu, dev, system, outcome.x);
  if (verified.refinements > 0) judge_improved(request, system, cpu, outcome);
  return verified;
}

}  // namespace

int cmd_solve(std::span<const char* const> arguments) {
  const stopwatch clock;
  solve_request request;
  if (!parse_solve_request(arguments, request)) return exit_code::goal_reached;
  const console log = make_console(request.common);
  if (request.batch) return solve_batch(request, log);
  const device cpu = open_cpu(request.common);
  const device opened = open_device(request);
  warn_before(log, request);

  linear_system system = read_system_matrix(cpu, request);
  std::optional<band_run> band = run_band(request, cpu, log, system);
  if (!band) complete_system(cpu, request, system);
  device_choice chosen = band ? band->device : choose_for(request, system, opened);
  solve_outcome outcome;
  if (band) {
    outcome = std::move(band->outcome);
  } else {
    log_task(log, request, system, chosen);
    solve_watch watch(log);
    outcome = run_settled(request, system, cpu, chosen, watch);
  }
  if (outcome.report.status == solve_status::interrupted) finish_in_peace();
  log_verdict(log, request, outcome);
  warn_after(log, request, outcome);

  const std::optional<verification> verified = verify_outcome(request, cpu, chosen.dev, system, log, outcome);
  if (verified) log_verification(log, *verified);

  const stopwatch writing;
  write_files(request, system, outcome, chosen);
  if (verified) write_bounds(request.verification, outcome.x, *verified);
  const double write_seconds = writing.seconds();
  log_costs(log, system, outcome, write_seconds);
  const double total_seconds = clock.seconds();
  if (request.common.json)
    print_json(solve_json(request, system, outcome, chosen, verified, write_seconds, total_seconds));
  else
    fmt::print("{}{}", summary(request, system, outcome, chosen, total_seconds),
               verified ? sentence(*verified) : "");
  const int code = exit_code_of(outcome.report.status);
  return code == exit_code::goal_reached && verified && !verified->reached ? exit_code::goal_missed : code;
}

}  // namespace vouch::cli
