#include "solve_batch.hpp"

#include <fmt/format.h>

#include <cmath>
#include <span>

#include <nlohmann/json.hpp>
#include <vouch/core/stopwatch.hpp>
#include <vouch/io/npy.hpp>
#include <vouch/io/tridiagonal_systems.hpp>
#include <vouch/solve/solver.hpp>
#include <vouch/text/file.hpp>
#include <vouch/text/number.hpp>

#include "command.hpp"
#include "solve_output.hpp"
#include "verification.hpp"

namespace vouch::cli {
namespace {

void write_answers(atomic_file& file, const tridiagonal_systems& batch, view<const double> x) {
  const batch_shape shape = batch.shape();
  if (file.path().ends_with(".npy")) {
    const std::int64_t line[] = {x.size()}, table[] = {shape.systems, shape.n};
    write_npy(file, x, batch.table ? std::span<const std::int64_t>(table) : std::span<const std::int64_t>(line),
              false);
    file.finish();
    return;
  }
  std::string text;
  for (std::int64_t s = 0; s < shape.systems; ++s) {
    if (s > 0) text += '\n';
    for (std::int64_t i = 0; i < shape.rows(s); ++i) text += number_text(x[shape.at(s, i)]) + '\n';
    if (text.size() < (std::size_t{1} << 20)) continue;
    file.write(text);
    text.clear();
  }
  file.write(text);
  file.finish();
}

// The work of vouch solve --batch.
struct batch_run {
  solve_result result;  // of the last of --repeat
  array<double> x;
  std::vector<double> repeats;  // seconds of each
  spent_seconds seconds;
};

void solve_all(const solve_request& request, const device& cpu, const tridiagonal_systems& batch, solver& A,
               batch_run& run) {
  run.x = array<double>(cpu, static_cast<std::int64_t>(batch.b.size()));
  for (std::int64_t k = 0; k < request.common.repeat; ++k) {
    run.result = A.solve_batch(batch.rhs(), {run.x.data(), batch.shape()});
    run.repeats.push_back(run.result.times.solve);
    run.seconds.add(run.result.times);
  }
  run.seconds.setup += A.setup_seconds();
}

void prove_all(const solve_request& request, const tridiagonal_systems& batch, solver& A, batch_run& run) {
  if (!request.verification.asked()) return;
  A.prove_batch(batch.rhs(), {run.x.data(), batch.shape()},
                {request.verification.relative(), request.verification.within, nullptr}, run.result);
  withhold_overflow(request.verification, run.x, *run.result.proof);
}

nlohmann::ordered_json verdict_json(const solve_result& result) {
  const batch_verdict& batch = *result.batch;
  nlohmann::ordered_json object{
      {"systems", batch.systems.size()}, {"missed", batch.missed}, {"first_missed", batch.first_missed}};
  if (!result.proof) return object;
  const bool ran = result.proof->rows > 0;
  object["unproved"] = ran ? nlohmann::ordered_json(result.proof->systems_unproved) : nullptr;
  object["first_unproved"] = ran ? nlohmann::ordered_json(result.proof->first_unproved) : nullptr;
  return object;
}

std::string summary(const solve_request& request, const solve_result& result, bool written) {
  const auto systems = static_cast<std::int64_t>(result.batch->systems.size());
  std::string text = fmt::format("{}: {}\n{} of {} systems solved", name(result.status), result.reason,
                                 systems - result.batch->missed, systems);
  if (std::isfinite(result.relative_true()))
    text += fmt::format("; worst relative residual {:.3g}, backward error {:.2g}", result.relative_true(),
                        result.backward_error);
  text += '\n';
  if (result.proof) text += sentence(*result.proof);
  if (!request.common.output.empty())
    text += written ? fmt::format("x written to {}\n", printable(request.common.output))
                    : std::string("no x written: there is none of use\n");
  return text;
}

}  // namespace

int solve_batch(solve_request request, const console& log) {
  const stopwatch clock;
  batch_run run;
  const device cpu = open_cpu(request.common);
  const device_request wanted = parse_device(request.common.device);
  const stopwatch opening;
  request.options.run_on = wanted.cuda ? device::cuda(wanted.index) : cpu;
  if (wanted.cuda) run.seconds.cuda_start = opening.seconds();
  request.options.names.rhs = request.matrix;
  const stopwatch reading;
  const tridiagonal_systems batch = read_tridiagonal_systems(request.matrix);
  run.seconds.read = reading.seconds();
  log.line(fmt::format("batch      {}: {} tridiagonal systems, {} rows in all", request.matrix, batch.systems,
                       batch.b.size()));
  solver A(cpu, batch.matrices(), request.options);
  solve_all(request, cpu, batch, A, run);
  log.line(fmt::format("method     {}: {}", run.result.method, run.result.engine));
  for (const std::string& warning : run.result.warnings) log.warning(warning);
  prove_all(request, batch, A, run);
  solve_result& result = run.result;
  if (result.proof) log_verification(log, *result.proof);
  const bool written = !request.common.output.empty() && has_solution(result.status);
  const stopwatch writing;
  atomic_files files;
  if (written) write_answers(files.open(request.common.output), batch, run.x);
  if (result.proof) write_bounds(files, request.verification, run.x, *result.proof);
  files.commit();
  run.seconds.write = writing.seconds();
  run.seconds.total = clock.seconds();
  if (request.common.json) {
    result.method_reason.clear();  // there is one way
    const auto rows = static_cast<std::int64_t>(batch.b.size());
    const nlohmann::ordered_json matrix =
        matrix_json(request.matrix, rows, rows, batch.nonzeros(), A.facts().symmetric);
    print_json(solve_json(request, matrix, verdict_json(result), result, run.repeats, run.seconds));
  } else {
    fmt::print("{}", summary(request, result, written));
  }
  return vouch::goal_reached(result.status) && (!result.proof || result.proof->reached)
             ? exit_code::goal_reached
             : exit_code::goal_missed;
}

}  // namespace vouch::cli
