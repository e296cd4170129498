// vouch solve: A x = b, and how good x is.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include <vouch/solve/complex.hpp>

#include "command.hpp"
#include "interrupt.hpp"
#include "ranks.hpp"
#include "sign_of_life.hpp"
#include "solve_batch.hpp"
#include "solve_checkpoint.hpp"
#include "solve_output.hpp"
#include "solve_request.hpp"
#include "solve_run.hpp"
#include "solve_watch.hpp"

namespace vouch::cli {
namespace {

int exit_code_of(solve_status status) {
  if (status == solve_status::interrupted) return 128 + interrupt_signal();
  return vouch::goal_reached(status) ? exit_code::goal_reached : exit_code::goal_missed;
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
  request.options.run_on = open_device(request, cpu);
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
