// vouch solve --batch: a file with several systems.

#include <fmt/format.h>

#include <cmath>
#include <memory>
#include <optional>
#include <span>
#include <utility>

#include <vouch/core/stopwatch.hpp>
#include <vouch/io/npy.hpp>
#include <vouch/io/sparse_systems.hpp>
#include <vouch/io/tridiagonal_systems.hpp>
#include <vouch/solve/pattern_batch.hpp>
#include <vouch/solve/solver.hpp>
#include <vouch/sparse/structure.hpp>
#include <vouch/text/file.hpp>
#include <vouch/text/number.hpp>

#include "command.hpp"
#include "json.hpp"
#include "solve_output.hpp"
#include "usage.hpp"
#include "verification.hpp"

namespace vouch::cli {
namespace {

// What is done with each kind of file.
class batch_source {
 public:
  virtual ~batch_source() = default;
  /// For the log: "2 tridiagonal systems".
  virtual std::string title() const = 0;
  /// How right-hand sides and solutions lie, and whether they are a table with a row for each system.
  virtual batch_shape shape() const = 0;
  virtual bool table() const = 0;
  /// As if each system had its own matrix.
  virtual std::int64_t nonzeros() const = 0;
  virtual bool symmetric() const = 0;
  /// Whether x is of use although systems were missed.
  virtual bool keeps_others() const = 0;

  /// The solutions; with a proof where one is asked for and `proves`.
  virtual solve_result solve(view<double> x, bool proves) = 0;
  /// Seconds spent on looking at the matrices, by now.
  virtual double setup_seconds() const = 0;
};

class tridiagonal_batch final : public batch_source {
 public:
  tridiagonal_batch(const solve_request& request, const device& cpu)
      : request_(request),
        batch_(read_tridiagonal_systems(request.matrix)),
        solver_(cpu, batch_.matrices(), request.options) {}

  std::string title() const override { return fmt::format("{} tridiagonal systems", batch_.systems); }
  batch_shape shape() const override { return batch_.shape(); }
  bool table() const override { return batch_.table; }
  std::int64_t nonzeros() const override { return batch_.nonzeros(); }
  bool symmetric() const override { return solver_.facts().symmetric; }
  bool keeps_others() const override { return false; }
  solve_result solve(view<double> x, bool proves) override {
    solve_result result = solver_.solve_batch(batch_.rhs(), {x.data(), shape()});
    if (proves && request_.verification.asked())
      solver_.prove_batch(batch_.rhs(), {x.data(), shape()},
                          {request_.verification.relative(), request_.verification.within, nullptr}, result);
    return result;
  }
  double setup_seconds() const override { return solver_.setup_seconds(); }

 private:
  const solve_request& request_;
  tridiagonal_systems batch_;
  solver solver_;
};

class one_pattern final : public batch_source {
 public:
  one_pattern(const solve_request& request, const device& cpu, sparse_systems systems)
      : request_(request), cpu_(cpu), file_(std::move(systems)) {
    batch_.systems = file_.systems;
    batch_.rows = file_.rows;
    batch_.nonzeros = static_cast<std::int64_t>(file_.col.size());
    batch_.row_ptr = file_.row_ptr.data();
    batch_.col = file_.col.data();
    batch_.values = file_.values.data();
    batch_.one_matrix = file_.one_matrix;
    batch_.b = file_.b.data();
    batch_.one_rhs = file_.one_rhs;
    symmetric_ = structure<double>(cpu, batch_.matrix(0)).symmetric;
  }

  std::string title() const override {
    return fmt::format("{} sparse systems of {} rows and one pattern", file_.systems, file_.rows);
  }
  batch_shape shape() const override { return contiguous(file_.rows, file_.systems); }
  bool table() const override { return !file_.one_matrix || !file_.one_rhs; }
  std::int64_t nonzeros() const override { return batch_.systems * batch_.nonzeros; }
  bool symmetric() const override { return symmetric_; }
  bool keeps_others() const override { return true; }
  solve_result solve(view<double> x, bool proves) override {
    solve_options options = request_.options;
    if (proves && request_.verification.asked())
      options.proof = proof_request{request_.verification.relative(), request_.verification.within, nullptr};
    return vouch::solve(cpu_, batch_, x, options);
  }
  double setup_seconds() const override { return 0; }  // the result has them

 private:
  const solve_request& request_;
  device cpu_;
  sparse_systems file_;
  pattern_batch batch_;
  bool symmetric_ = false;
};

// Reads the file of the request.
std::unique_ptr<batch_source> open_batch(const solve_request& request, const device& cpu) {
  if (std::optional<sparse_systems> systems = read_sparse_systems(request.matrix)) {
    if (!request.options.gpus.empty())
      throw usage_error(fmt::format("option --device: one device, not {}", request.common.device),
                        "several GPUs share batches of tridiagonal systems, not of sparse ones");
    return std::make_unique<one_pattern>(request, cpu, std::move(*systems));
  }
  const std::string& method = request.options.method;
  if (method != "auto" && !solves_tridiagonal(method))
    throw usage_error(fmt::format("option --batch: {} does not solve tridiagonal batches", method));
  return std::make_unique<tridiagonal_batch>(request, cpu);
}

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

json verdict_json(const solve_result& result) {
  const batch_verdict& batch = *result.batch;
  json object{
      {"systems", batch.systems.size()}, {"missed", batch.missed}, {"first_missed", batch.first_missed}};
  if (!result.proof) return object;
  const bool ran = result.proof->rows > 0;
  object["unproved"] = known_if(ran, result.proof->systems_unproved);
  object["first_unproved"] = known_if(ran, result.proof->first_unproved);
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

int solve_batch(const solve_request& asked, const console& log) {
  const stopwatch clock;
  batch_run run;
  solve_request request = asked;
  const device cpu = open_cpu(request.common);
  const stopwatch opening;
  request.options.run_on = open_device(request.common);
  if (request.options.run_on->is_cuda()) run.seconds.cuda_start = opening.seconds();
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
    const json matrix = matrix_json(request.matrix, rows, rows, batch->nonzeros(), batch->symmetric());
    print_json(solve_json(request, matrix, verdict_json(result), result, run.repeats, run.seconds));
  } else {
    fmt::print("{}", summary(request, result, written));
  }
  return vouch::goal_reached(result.status) && (!result.proof || result.proof->reached)
             ? exit_code::goal_reached
             : exit_code::goal_missed;
}

}  // namespace vouch::cli
