#include "solve_output.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cli/report/statistics.hpp>
#include <cli/report/units.hpp>
#include <cmath>
#include <filesystem>
#include <limits>
#include <vouch/core/config.hpp>
#include <vouch/verify/bound_text.hpp>

namespace vouch::cli {
namespace {

std::string base_name(const std::string& path) { return std::filesystem::path(path).filename().string(); }

std::string plural(std::int64_t count, std::string_view word) {
  return fmt::format("{} {}{}", count, word, count == 1 ? "" : "s");
}

std::string device_text(const device& dev) {
  return dev.is_cuda() ? fmt::format("cuda:{}, {}", dev.index(), dev.name())
                       : fmt::format("cpu, {}, {}", plural(dev.threads(), "thread"), dev.name());
}

// ", with cuda:1 and cuda:2" where they share the work.
std::string others_text(const device& dev, const std::vector<int>& gpus) {
  std::string text;
  for (const int gpu : gpus)
    if (gpu != dev.index()) text += fmt::format("{}cuda:{}", text.empty() ? ", with " : " and ", gpu);
  return text;
}

std::string dominance_text(const structure_facts& facts) {
  if (facts.dominant != dominance::none) return fmt::format("{} diagonal dominance", name(facts.dominant));
  if (facts.weakest_row < 0) return "no diagonal dominance";
  return fmt::format("no diagonal dominance (row {}: diagonal {:.2g} of the rest)", facts.weakest_row + 1,
                     facts.dominance_ratio);
}

std::string rhs_text(const solve_request& request, const linear_system& system) {
  std::string text = request.rhs == "ones" ? "all ones" : request.rhs == "row-sums" ? "A*ones" : request.rhs;
  if (system.columns > 1) text += fmt::format(", {} columns", system.columns);
  if (system.complex_columns) text += ": real and imaginary parts in turns, x is complex";
  if (request.initial != "zeros") text += fmt::format("; start {}", request.initial);
  return text;
}

std::string method_text(const attempt& taken, const solve_options& options) {
  std::string text = taken.method->title;
  if (!taken.why.empty()) text += fmt::format(" ({})", taken.why);
  if (options.sweep)
    text += *options.sweep == sweep_order::forward    ? ", forward"
            : *options.sweep == sweep_order::backward ? ", backward"
                                                      : ", symmetric";
  if (options.ordering == sweep_ordering::multicolor) text += ", multicolor";
  if (options.omega) text += fmt::format(", omega {}", *options.omega);
  if (options.estimate_omega) text += ", omega estimated";
  if (taken.accelerate.anderson > 0)
    text += fmt::format(", mixed by Anderson's method over {}", taken.accelerate.anderson);
  if (taken.accelerate.chebyshev) text += ", accelerated by Chebyshev's method";
  return text;
}

std::string goal_text(const solve_request& request, bool square) {
  const stopping_criterion& goal = request.options.goal;
  if (goal.fixed_iterations) return fmt::format("exactly {}", plural(*goal.fixed_iterations, "iteration"));
  if (goal.stop_recurrence) return fmt::format("||r|| < {:.3g} by the recurrence", *goal.stop_recurrence);
  if (goal.stop_mean_change) return fmt::format("mean |x_new - x_old| < {:.3g}", *goal.stop_mean_change);
  std::string text = fmt::format("||b - Ax|| <= {:.3g} ||b||", request.relative_tolerance());
  if (goal.atol > 0) text += fmt::format(" or {:.3g}", goal.atol);
  if (!square)
    text += fmt::format(", or ||A'(b - Ax)|| <= {:.3g} ||A|| ||b - Ax||", request.relative_tolerance());
  return text + ", checked on the x returned";
}

std::string symmetry_text(const linear_system& system, const structure_facts& facts) {
  if (!facts.square) return system.complex_entries ? "complex, rectangular" : "rectangular";
  if (system.complex_entries)
    return facts.symmetric ? "complex, Hermitian" : facts.complex_symmetric ? "complex, symmetric" : "complex";
  if (system.dense) return "dense";
  return facts.symmetric ? "symmetric" : "unsymmetric";
}

void log_matrix(const console& log, const linear_system& system, const structure_facts& facts) {
  const std::string size =
      fmt::format("matrix     {}: {} x {}", base_name(system.file), system.equations(), system.unknowns());
  if (facts.rows == 0) return log.line(size + ", nothing to solve");
  log.line(fmt::format("{}, {} nonzeros, {}{}", size, entries_of(system, facts), symmetry_text(system, facts),
                       !facts.square             ? ""
                       : facts.diagonal_positive ? ", positive diagonal"
                                                 : ", mixed diagonal"));
  if (system.complex_entries)
    log.line(fmt::format("           by its real form, {} x {}, {} nonzeros", facts.rows, facts.cols,
                         facts.nonzeros));
  const std::string entries =
      fmt::format("           {} to {} entries a row", facts.entries_min, facts.entries_max);
  log.line(facts.square ? fmt::format("{}, bandwidth {}, {}", entries, facts.bandwidth(), dominance_text(facts))
                        : entries);
}

double unit_roundoff(const solve_request& request) {
  return request.common.precision == "single" ? std::numeric_limits<float>::epsilon() / 2
                                              : std::numeric_limits<double>::epsilon() / 2;
}

}  // namespace

std::int64_t entries_of(const linear_system& system, const structure_facts& facts) {
  return system.complex_entries.value_or(facts.nonzeros);
}

void log_task(const console& log, const solve_request& request, const linear_system& system, solver& A) {
  const attempt& first = A.next();
  log_matrix(log, system, A.facts());
  log.line(fmt::format("system     b {}", rhs_text(request, system)));
  const bool preconditioned = first.method->options.has(method_option::preconditioner);
  log.line(fmt::format(
      "method     {}, {} precision{}", method_text(first, request.options), name(first.precision),
      preconditioned ? ", preconditioner " +
                           (request.precondition.empty() ? first.preconditioner.name : request.precondition)
                     : ""));
  const device& dev = A.where().dev;
  log.line(
      fmt::format("device     {}{}: {}", device_text(dev), others_text(dev, A.where().gpus), A.where().why));
  log.line(fmt::format("goal       {}", goal_text(request, A.facts().square)));
}

void warn_before(const console& log, const solve_request& request) {
  const double u = unit_roundoff(request);
  if (request.options.goal.by_residual() && request.options.goal.atol == 0 && request.relative_tolerance() < u)
    log.warning(fmt::format("the tolerance {:.2g} is below the unit roundoff {:.1g} of {} precision",
                            request.relative_tolerance(), u, request.common.precision));
}

void warn_after(const console& log, const solve_request& request, const solve_outcome& outcome) {
  const solve_result& report = outcome.result;
  if (!report.precision_reason.empty()) log.warning(report.precision_reason);
  for (const std::string& warning : report.warnings) log.warning(warning);
  if (report.status == solve_status::not_spd)
    log.warning(fmt::format("--method {} solves systems that are not positive definite",
                            direct_method_for_any(*report.how).name));
  constexpr double large_error = 0.01;
  if (report.error_estimate.value_or(0) > large_error && !request.verification.asked())
    log.warning(
        fmt::format("the error of x {} {:.2g} of it, however small the residual: the condition number is about "
                    "{:.1g}; --verify proves a bound",
                    report.how->direct ? "is estimated at" : "may be up to about", *report.error_estimate,
                    report.condition_estimate.value_or(0)));
  if (!request.options.goal.by_residual() || report.status == solve_status::converged || report.rhs_norm == 0)
    return;
  const double relative = report.tolerance / report.rhs_norm;
  if (relative < report.attainable_relative && report.attainable_relative < 1)
    log.warning(
        fmt::format("the tolerance {:.2g} is below about {:.1g}, what rounding in {} precision was expected to "
                    "leave of this x",
                    relative, report.attainable_relative, report.precision));
}

void log_verdict(const console& log, const solve_request& request, const solve_outcome& outcome) {
  const solve_result& report = outcome.result;
  const double relative_tolerance = report.rhs_norm > 0 ? report.tolerance / report.rhs_norm : 0;
  const auto against = [&](double residual) { return residual <= report.tolerance ? "within" : "misses"; };
  if (std::isnan(report.relative_true()))
    log.line("\nchecked    true residual        none: there is no solution");
  else
    log.line(fmt::format("\nchecked    true residual        {:.3e}{}", report.relative_true(),
                         request.options.goal.by_residual() && !report.normal_equations
                             ? fmt::format(", {} {:.3e}", against(report.true_residual), relative_tolerance)
                             : ""));
  if (std::isfinite(report.relative_recurrence()))
    log.line(fmt::format("           recurrence believed  {:.3e}", report.relative_recurrence()));
  if (report.normal_equations)
    log.line(fmt::format("           normal equations     {:.3e}", *report.normal_equations));
  if (report.rank) log.line(fmt::format("           rank                 {}, by the factors", *report.rank));
  if (report.attainable_relative > 0)
    log.line(fmt::format("           rounding may leave   {:.1e}", report.attainable_relative));
  if (!std::isnan(report.backward_error))
    log.line(fmt::format("           backward error       {:.1e}", report.backward_error));
  if (report.condition_estimate)
    log.line(fmt::format("           condition about      {:.1e}{}", *report.condition_estimate,
                         report.preconditioner == "none" ? "" : ", preconditioned"));
  if (report.error_estimate)
    log.line(fmt::format("           error {}{:.1e} of x, an estimate",
                         report.how->direct ? "about          " : "at most about  ", *report.error_estimate));
  if (report.error_bound && !request.verification.asked())
    log.line(fmt::format("           error at most        {}, proved by {}",
                         vouch::detail::rounded_above(*report.error_bound), report.error_bound_source));
  if (report.signs)
    log.line(fmt::format("           eigenvalues          {} positive, {} negative, {} zero, by the factors",
                         report.signs->positive, report.signs->negative, report.signs->zero));
  if (report.restarts > 0) log.line(fmt::format("           restarts             {}", report.restarts));
  log.line(fmt::format("engine     {}{}", report.engine,
                       report.preconditioner == "none" ? "" : ", preconditioner " + report.preconditioner));
}

void log_costs(const console& log, const spent_seconds& seconds) {
  log.line(fmt::format(
      "time       {}read {}, setup {}, transfer {}, solve {}, write {}",
      seconds.cuda_start > 0 ? fmt::format("start of CUDA {}, ", report::seconds_text(seconds.cuda_start)) : "",
      report::seconds_text(seconds.read), report::seconds_text(seconds.setup),
      report::seconds_text(seconds.transfer), report::seconds_text(seconds.solve),
      report::seconds_text(seconds.write)));
  std::string memory = report::bytes_text(static_cast<double>(host_peak_bytes())) + " on the host at most";
  if (device_peak_bytes() > 0)
    memory += fmt::format(", {} on GPUs", report::bytes_text(static_cast<double>(device_peak_bytes())));
  log.line("memory     " + memory);
}

std::string summary(const solve_request& request, const linear_system& system, const solve_outcome& outcome,
                    double total_seconds) {
  const solve_result& report = outcome.result;
  const bool reached = goal_reached(report.status);
  std::string status = name(report.status);
  status = shaded(reached ? shade::good : shade::bad, status, STDOUT_FILENO);
  const report::statistics times = report::summarize(outcome.repeats);
  const std::string repeated = outcome.repeats.size() > 1
                                   ? fmt::format(" (mean of {}, deviation {})", outcome.repeats.size(),
                                                 report::seconds_text(times.deviation))
                                   : "";
  std::string text = fmt::format("{}: {}\n", status, report.reason);
  if (system.columns > 1)
    text += fmt::format("worst of {} columns: number {}\n", system.columns, report.column + 1);
  if (std::isfinite(report.relative_true()))
    text += fmt::format("relative residual {:.3g}, backward error {:.2g}\n", report.relative_true(),
                        report.backward_error);
  if (report.error_bound && !request.verification.asked())
    text +=
        fmt::format("error at most {} in every element\n", vouch::detail::rounded_above(*report.error_bound));
  text += fmt::format(
      "{} in {}{} on {}, {} in all\n", plural(report.iterations, "iteration"), report::seconds_text(times.mean),
      repeated, report.where.is_cuda() ? report.where.name() : "the CPU", report::seconds_text(total_seconds));
  if (!request.common.output.empty())
    text += has_solution(report.status) ? fmt::format("x written to {}\n", printable(request.common.output))
                                        : fmt::format("no x written: there is none of use\n");
  return text;
}

}  // namespace vouch::cli
