#include "solve_batch.hpp"

#include <fmt/format.h>

#include <cmath>
#include <memory>
#include <span>

#include <nlohmann/json.hpp>
#include <vouch/core/stopwatch.hpp>
#include <vouch/io/npy.hpp>
#include <vouch/text/file.hpp>
#include <vouch/text/number.hpp>

#include "batch_source.hpp"
#include "command.hpp"
#include "solve_output.hpp"
#include "verification.hpp"

namespace vouch::cli {
namespace {

void write_answers(atomic_file& file, const batch_source& batch, view<const double> x) {
  const batch_shape shape = batch.shape();
  if (file.path().ends_with(".npy")) {
    const std::int64_t line[] = {x.size()}, table[] = {shape.systems, shape.n};
    write_npy(file, x,
              batch.table() ? std::span<const std::int64_t>(table) : std::span<const std::int64_t>(line),
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

void solve_all(const solve_request& request, const device& cpu, batch_source& batch, batch_run& run) {
  run.x = array<double>(cpu, batch.shape().extent());
  for (std::int64_t k = 1; k <= request.common.repeat; ++k) {
    run.result = batch.solve(run.x, k == request.common.repeat);
    run.repeats.push_back(run.result.times.solve);
    run.seconds.add(run.result.times);
  }
  run.seconds.setup += batch.setup_seconds();
  if (run.result.proof) withhold_overflow(request.verification, run.x, *run.result.proof);
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

bool has_use(const batch_source& batch, const solve_result& result) {
  const bool others = result.batch->missed < static_cast<std::int64_t>(result.batch->systems.size());
  return has_solution(result.status) || (batch.keeps_others() && others);
}

}  // namespace

int solve_batch(solve_request request, const console& log) {
  const stopwatch clock;
  batch_run run;
  const device cpu = open_cpu(request.common);
  const device_request wanted = parse_device(request.common.device, true);
  const stopwatch opening;
  request.options.run_on = wanted.cuda ? device::cuda(wanted.index) : cpu;
  if (wanted.cuda) run.seconds.cuda_start = opening.seconds();
  request.options.names.rhs = request.matrix;
  const stopwatch reading;
  const std::unique_ptr<batch_source> batch = open_batch(request, cpu);
  run.seconds.read = reading.seconds() - batch->setup_seconds();
  const std::int64_t rows = batch->shape().extent();
  log.line(fmt::format("batch      {}: {}, {} rows in all", request.matrix, batch->title(), rows));
  solve_all(request, cpu, *batch, run);
  solve_result& result = run.result;
  log.line(fmt::format("method     {}: {}", result.method, result.engine));
  for (const std::string& warning : result.warnings) log.warning(warning);
  if (result.proof) log_verification(log, *result.proof);
  const bool written = !request.common.output.empty() && has_use(*batch, result);
  const stopwatch writing;
  atomic_files files;
  if (written) write_answers(files.open(request.common.output), *batch, run.x);
  if (result.proof) write_bounds(files, request.verification, run.x, *result.proof);
  files.commit();
  run.seconds.write = writing.seconds();
  run.seconds.total = clock.seconds();
  if (request.common.json) {
    result.method_reason.clear();  // of several systems
    const nlohmann::ordered_json matrix =
        matrix_json(request.matrix, rows, rows, batch->nonzeros(), batch->symmetric());
    print_json(solve_json(request, matrix, verdict_json(result), result, run.repeats, run.seconds));
  } else {
    fmt::print("{}", summary(request, result, written));
  }
  return vouch::goal_reached(result.status) && (!result.proof || result.proof->reached)
             ? exit_code::goal_reached
             : exit_code::goal_missed;
}

}  // namespace vouch::cli
