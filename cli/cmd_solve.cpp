// vouch solve: A x = b, and how good x is.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include <vouch/solve/complex.hpp>

#include "command.hpp"
#include "interrupt.hpp"
#include "json.hpp"
#include "ranks.hpp"
#include "solve_output.hpp"
#include "solve_request.hpp"
#include "solve_watch.hpp"

namespace vouch::cli {
namespace {

int exit_code_of(solve_status status) {
  if (status == solve_status::interrupted) return 128 + interrupt_signal();
  return vouch::goal_reached(status) ? exit_code::goal_reached : exit_code::goal_missed;
}

// The GPU that --device names, opened before anything is read; nothing for auto.
std::optional<device> wanted_device(const solve_request& request) {
  if (parse_device(request.common.device, true).automatic) return {};
  return open_device(request.common);
}

bool is_file(const std::string& rhs_or_start) {
  return rhs_or_start != "ones" && rhs_or_start != "row-sums" && rhs_or_start != "zeros";
}

// Reads what --coordinates or --near-nullspace names into the options.
void take_near_nullspace(const device& cpu, const linear_system& system, solve_request& request) {
  if (request.near_nullspace.empty() && request.coordinates.empty()) return;
  std::shared_ptr<const near_nullspace>& near = request.options.preconditioner->near;
  if (!request.near_nullspace.empty())
    near = std::make_shared<near_nullspace>(read_near_nullspace(cpu, request.near_nullspace, system));
  if (!request.coordinates.empty())
    near = std::make_shared<near_nullspace>(read_rigid_body_modes(cpu, request.coordinates, system));
}

// Reads the vectors of the request. Setup is of vectors that no file holds.
void take_vectors(const device& cpu, const solve_request& request, linear_system& system,
                  spent_seconds& seconds) {
  const stopwatch rhs;
  take_rhs(cpu, request.rhs, system);
  (is_file(request.rhs) ? seconds.read : seconds.setup) += rhs.seconds();
  const stopwatch start;
  take_start(cpu, request.initial, system);
  (is_file(request.initial) ? seconds.read : seconds.setup) += start.seconds();
}

// Those of the first run say how the method was found.
void add_earlier(const std::vector<std::string>& before, std::vector<std::string>& warnings) {
  std::vector<std::string> all = before;
  for (std::string& w : warnings)
    if (std::find(before.begin(), before.end(), w) == before.end()) all.push_back(std::move(w));
  warnings = std::move(all);
}

// Solves for every column, --repeat times from the same start; ends early where a column is interrupted or leaves no
// solution.
solve_outcome run_solve(const solve_request& request, const linear_system& system, const device& cpu, solver& A,
                        solve_watch& watch) {
  solve_outcome outcome;
  solve_times spent;
  std::optional<checkpoint_scope> saves;
  if (request.kept) saves.emplace(*request.kept);
  for (std::int64_t run = 0; run < request.common.repeat; ++run) {
    const stopwatch clock;
    outcome.x = system.start.to(cpu);
    spent.transfer += clock.seconds();
    watch.begin_run(run);
    const std::vector<std::string> before = std::move(outcome.result.warnings);
    outcome.result = A.solve(system.block_of_b(), system.block_of_x(outcome.x));
    if (system.complex_entries) take_numbers(outcome.result);
    add_earlier(before, outcome.result.warnings);
    const solve_times& times = outcome.result.times;
    outcome.repeats.push_back(times.solve);
    spent.cuda_start += times.cuda_start;
    spent.setup += times.setup;
    spent.transfer += times.transfer;
    spent.solve += times.solve;
    const solve_status status = outcome.result.status;
    if (status == solve_status::interrupted || !has_solution(status)) break;
  }
  outcome.result.times = spent;
  return outcome;
}

// The proof that was asked for; refinement may change x.
void prove_outcome(const solve_request& request, const device& cpu, const linear_system& system,
                   const console& log, solver& A, solve_outcome& outcome) {
  if (!request.verification.asked()) return;
  const sign_of_life proving(log, "proving");
  data_radii radii;
  const proof_request asked = proof_for(cpu, request.verification, system, radii);
  A.prove(system.block_of_b(), system.block_of_x(outcome.x), asked, outcome.result);
  if (system.complex_entries) take_moduli(*outcome.result.proof, outcome.x, asked.relative);
  withhold_overflow(request.verification, outcome.x, *outcome.result.proof);
}

}  // namespace

int cmd_solve(std::span<const char* const> arguments) {
  if (asks_for_engine(arguments)) return solve_on_ranks(arguments);
  const stopwatch clock;
  solve_request request;
  if (!parse_solve_request(arguments, request)) return exit_code::goal_reached;
  const console log = make_console(request.common);
  if (request.batch) return solve_batch(request, log);
  const device cpu = open_cpu(request.common);
  const stopwatch opening;
  request.options.run_on = wanted_device(request);
  const double opening_seconds = opening.seconds();
  warn_before(log, request);

  const device dev = request.options.run_on.value_or(cpu);
  spent_seconds seconds;
  const stopwatch reading;
  linear_system system =
      with_sign_of_life(log, "reading", [&] { return read_linear_system(cpu, dev, request.matrix); });
  seconds.read = reading.seconds();
  if (dev.is_cuda()) seconds.cuda_start = opening_seconds;
  take_near_nullspace(cpu, system, request);
  solve_watch watch(log, request, system);
  request.options.observer = &watch;
  solver A = make_solver(cpu, system, request.options);
  A.plan();
  take_vectors(cpu, request, system, seconds);
  log_task(log, request, system, A);
  log_checkpoints(log, request, [&watch] { watch.make_room(); });
  solve_outcome outcome = run_solve(request, system, cpu, A, watch);
  solve_result& result = outcome.result;
  if (result.status == solve_status::interrupted) finish_in_peace();
  log_verdict(log, request, outcome);
  warn_after(log, request, outcome);

  prove_outcome(request, cpu, system, log, A, outcome);
  if (result.proof) log_verification(log, *result.proof);

  seconds.add(result.times);
  seconds.setup += A.setup_seconds();
  const structure_facts& facts = A.facts();
  const stopwatch writing;
  write_files(request, system, outcome, facts);
  seconds.write = writing.seconds();
  log_costs(log, seconds);
  seconds.total = clock.seconds();
  if (request.common.json)
    print_json(solve_json(request, matrix_json(system, facts), nullptr, result, outcome.repeats, seconds));
  else
    fmt::print("{}{}", summary(request, system, outcome, seconds.total),
               result.proof ? sentence(*result.proof) : "");
  const int code = exit_code_of(result.status);
  return code == exit_code::goal_reached && result.proof && !result.proof->reached ? exit_code::goal_missed
                                                                                   : code;
}

}  // namespace vouch::cli
