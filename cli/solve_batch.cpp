#include "solve_batch.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cli/report/statistics.hpp>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>
#include <span>

#include <nlohmann/json.hpp>
#include <vouch/band/solve.hpp>
#include <vouch/band/verdict.hpp>
#include <vouch/core/config.hpp>
#include <vouch/core/error.hpp>
#include <vouch/core/stopwatch.hpp>
#include <vouch/io/npy.hpp>
#include <vouch/solve/proof.hpp>
#include <vouch/solve/driver/ready_method.hpp>
#include <vouch/solve/driver/rounding.hpp>
#include <vouch/text/file.hpp>
#include <vouch/text/number.hpp>
#include <vouch/verify/tridiagonal_bound.hpp>

#include "batch_file.hpp"
#include "command.hpp"
#include "verification.hpp"

namespace vouch::cli {
namespace {

// What the command line asks of the tridiagonal solver.
tridiagonal_options band_options(const solve_request& request) {
  tridiagonal_options options;
  for (const tridiagonal_method m : {tridiagonal_method::thomas, tridiagonal_method::cyclic_reduction,
                                     tridiagonal_method::pcr, tridiagonal_method::partition})
    if (request.options.method == name(m)) options.method = m;
  options.mixed = request.options.precision == working_precision::mixed;
  options.rtol = std::max(request.relative_tolerance(), std::numeric_limits<double>::min());  // not its default
  options.atol = request.options.goal.atol;
  return options;
}

void write_answers(atomic_file& file, const batch_file& batch, const std::vector<double>& x) {
  const batch_shape shape = batch.shape();
  if (file.path().ends_with(".npy")) {
    const auto all = static_cast<std::int64_t>(x.size());
    const std::int64_t line[] = {all}, table[] = {shape.systems, shape.n};
    write_npy(file, view<const double>(x.data(), all),
              batch.table ? std::span<const std::int64_t>(table) : std::span<const std::int64_t>(line), false);
    file.finish();
    return;
  }
  std::string text;
  for (std::int64_t s = 0; s < shape.systems; ++s) {
    if (s > 0) text += '\n';
    for (std::int64_t i = 0; i < shape.rows(s); ++i)
      text += number_text(x[static_cast<std::size_t>(shape.at(s, i))]) + '\n';
    if (text.size() < (std::size_t{1} << 20)) continue;
    file.write(text);
    text.clear();
  }
  file.write(text);
  file.finish();
}

// Seconds of the parts of a run.
struct batch_times {
  double read = 0, transfer = 0, write = 0;
  std::vector<double> solves;
};

template <real T>
tridiagonal_report solve_all(const device& dev, const solve_request& request, const batch_file& batch,
                             std::vector<double>& x, batch_times& times) {
  const auto place = [&](const std::vector<double>& from) {
    const view<const double> values(from.data(), static_cast<std::int64_t>(from.size()));
    return rounded_to<T>(open_cpu(request.common), values, request.matrix).to(dev);
  };
  array<T> dl, d, du, b, answer;
  timed(times.transfer, [&] {
    dl = place(batch.dl);
    d = place(batch.d);
    du = place(batch.du);
    b = place(batch.b);
    answer = array<T>(dev, b.size());
  });
  const batch_shape shape = batch.shape();
  tridiagonal_report report;
  for (std::int64_t k = 0; k < request.common.repeat; ++k)
    timed(times.solves.emplace_back(), [&] {
      report = solve<T>(dev, {dl.data(), d.data(), du.data(), batch.matrix_shape()}, {b.data(), shape},
                        {answer.data(), shape}, band_options(request));
    });
  timed(times.transfer, [&] {
    const std::vector<T> back = answer.to_vector();
    x.assign(back.begin(), back.end());
  });
  return report;
}

// The verdict is about the x that is written and the systems of the file, which single precision rounds.
void judge_by_file(const batch_file& batch, const std::vector<double>& x, const tridiagonal_options& options,
                   tridiagonal_report& report) {
  if (report.status == solve_status::breakdown) return;
  detail::judgement found;
  found.rtol = options.rtol;
  found.atol = options.atol;
  found.residuals.resize(static_cast<std::size_t>(batch.systems));
  found.eliminations.resize(found.residuals.size());
  const batch_shape shape = batch.shape();
  batch_shape of_matrix = batch.matrix_shape();
  if (of_matrix.systems < shape.systems) {  // one matrix for all is a batch that stands still
    of_matrix.systems = shape.systems;
    of_matrix.system_stride = 0;
  }
  detail::band_residual<double>(device::cpu(), {batch.dl.data(), batch.d.data(), batch.du.data(), of_matrix},
                                {batch.b.data(), shape}, {x.data(), shape}, nullptr, found.residuals.data());
  report.systems_missed = 0;
  report.first_missed.clear();
  report.backward_error = 0;
  detail::report_systems(found, report);
}

// Bounds for the systems as the file has them, whatever the precision of the solution; refinement may change x.
solution_proof verify_batch(const solve_request& request, const device& dev, const batch_file& batch,
                            std::vector<double>& x) {
  const auto dl = array<double>::from(dev, batch.dl), d = array<double>::from(dev, batch.d),
             du = array<double>::from(dev, batch.du), b = array<double>::from(dev, batch.b);
  array<double> answer = array<double>::from(dev, x), radius(dev, answer.size());
  const batch_shape shape = batch.shape();
  const tridiagonal_bound bound = bound_error(
      dev, {dl.data(), d.data(), du.data(), batch.matrix_shape()}, {b.data(), shape}, {answer.data(), shape},
      {radius.data(), shape}, {request.verification.within, request.verification.relative(), 10});
  const device cpu = device::cpu(1);
  const array<double> improved = answer.to(cpu);
  x.assign(improved.begin(), improved.end());
  solution_proof all;
  all.rows = improved.size();
  all.radius = radius.to(cpu);
  take_batch(all, bound, improved);
  withhold_overflow(request.verification, improved, all);
  return all;
}

nlohmann::ordered_json batch_json(const solve_request& request, const batch_file& batch,
                                  const tridiagonal_report& report,
                                  const std::optional<solution_proof>& verified, const device& dev,
                                  const batch_times& times, double total) {
  const auto rows = static_cast<std::int64_t>(batch.b.size());
  nlohmann::ordered_json object{{"schema", "vouch.solve/1"}, {"version", version}};
  object["matrix"] = matrix_json(request.matrix, rows, rows, batch.nonzeros(), report.matrix.symmetric);
  object["batch"] = {
      {"systems", batch.systems}, {"missed", report.systems_missed}, {"first_missed", report.first_missed}};
  if (verified) {
    const bool ran = verified->rows > 0;
    object["batch"]["unproved"] = ran ? nlohmann::ordered_json(verified->systems_unproved) : nullptr;
    object["batch"]["first_unproved"] = ran ? nlohmann::ordered_json(verified->first_unproved) : nullptr;
  }
  object["method"] = report.method;
  object["method_reason"] = nullptr;
  object["preconditioner"] = "none";
  object["precision"] = report.precision;
  object["device"] = to_json(dev);
  object["status"] = name(report.status);
  object["reason"] = report.reason;
  object["iterations"] = report.refinements;
  object["reproducible"] = true;
  object["tolerance"] = {{"relative", request.relative_tolerance()}, {"absolute", request.options.goal.atol}};
  object["residual"] = {{"relative_true", report.relative_true()},
                        {"relative_recurrence", nullptr},
                        {"backward_error", report.backward_error}};
  object["condition_estimate"] = nullptr;
  object["error_estimate"] = nullptr;
  object["convergence"] = nullptr;
  object["error_bound"] = verified ? to_json(*verified) : nlohmann::ordered_json(nullptr);
  const report::statistics solves = report::summarize(times.solves);
  object["repeat"] = {
      {"count", solves.count}, {"mean_s", solves.mean}, {"stddev_s", solves.deviation.value_or(0.0)}};
  const double solve = std::accumulate(times.solves.begin(), times.solves.end(), 0.0);
  object["time_s"] = {{"read", times.read}, {"setup", 0.0},         {"transfer", times.transfer},
                      {"solve", solve},     {"write", times.write}, {"total", total}};
  object["memory_bytes"] = {{"host_peak", host_peak_bytes()}, {"device_peak", device_peak_bytes()}};
  return object;
}

}  // namespace

int solve_batch(const solve_request& request, const console& log) {
  const stopwatch clock;
  const device_request wanted = parse_device(request.common.device);
  const device dev = wanted.cuda ? device::cuda(wanted.index) : open_cpu(request.common);
  batch_times times;
  batch_file batch;
  timed(times.read, [&] { batch = read_batch(request.matrix); });
  log.line(fmt::format("batch      {}: {} tridiagonal systems, {} rows in all", request.matrix, batch.systems,
                       batch.b.size()));
  std::vector<double> x;
  const bool single = request.common.precision == "single";
  tridiagonal_report report = single ? solve_all<float>(dev, request, batch, x, times)
                                     : solve_all<double>(dev, request, batch, x, times);
  log.line(fmt::format("method     {}: {}", report.method, report.engine));
  for (const std::string& warning : report.warnings) log.warning(warning);
  std::optional<solution_proof> verified;
  if (request.verification.asked())
    verified = report.systems_missed < batch.systems ? verify_batch(request, dev, batch, x)
                                                     : unproved("there is no solution to verify");
  if (single || (verified && verified->refinements > 0)) judge_by_file(batch, x, band_options(request), report);
  if (verified) log_verification(log, *verified);
  const bool reached = vouch::goal_reached(report.status) && (!verified || verified->reached);
  const bool written = !request.common.output.empty() && has_solution(report.status);
  timed(times.write, [&] {
    atomic_files files;
    if (written) write_answers(files.open(request.common.output), batch, x);
    if (verified) write_bounds(files, request.verification, array<double>::from(device::cpu(1), x), *verified);
    files.commit();
  });
  if (request.common.json) {
    print_json(batch_json(request, batch, report, verified, dev, times, clock.seconds()));
  } else {
    fmt::print("{}: {}\n", name(report.status), report.reason);
    fmt::print("{} of {} systems solved", batch.systems - report.systems_missed, batch.systems);
    if (std::isfinite(report.relative_true()))
      fmt::print("; worst relative residual {:.3g}, backward error {:.2g}", report.relative_true(),
                 report.backward_error);
    fmt::print("\n{}", verified ? sentence(*verified) : "");
    if (!request.common.output.empty())
      fmt::print("{}\n", written ? "x written to " + printable(request.common.output)
                                 : "no x written: there is none of use");
  }
  return reached ? exit_code::goal_reached : exit_code::goal_missed;
}

}  // namespace vouch::cli
