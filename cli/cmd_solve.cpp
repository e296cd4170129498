// vouch solve: A x = b, and how good x is.
#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "command.hpp"
#include "interrupt.hpp"
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

  std::optional<band_run> band = run_band(request, cpu, log);
  const linear_system system = band ? std::move(band->system) : read_system(cpu, request);
  const device_choice chosen = band ? band->device : choose_for(request, system, opened);
  solve_outcome outcome;
  if (band) {
    outcome = std::move(band->outcome);
  } else {
    log_task(log, request, system, chosen);
    catch_interrupts();
    solve_watch watch(log);
    outcome = run_solve(request, system, cpu, chosen.dev, watch);
  }
  log_verdict(log, request, outcome);
  warn_after(log, request, outcome);

  const stopwatch writing;
  write_files(request, system, outcome, chosen);
  const double write_seconds = writing.seconds();
  log_costs(log, system, outcome, write_seconds);
  const double total_seconds = clock.seconds();
  if (request.common.json)
    print_json(solve_json(request, system, outcome, chosen, write_seconds, total_seconds));
  else
    fmt::print("{}", summary(request, system, outcome, chosen, total_seconds));
  return exit_code_of(outcome.report.status);
}

}  // namespace vouch::cli
