#include "solve_output.hpp"

#include <cli/report/statistics.hpp>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <vouch/core/config.hpp>

#include "solve_checkpoint.hpp"

namespace vouch::cli {
namespace {

nlohmann::ordered_json finite_or_null(double value) {
  return std::isfinite(value) ? nlohmann::ordered_json(value) : nlohmann::ordered_json(nullptr);
}

nlohmann::ordered_json estimate_json(const std::optional<double>& estimate) {
  return finite_or_null(estimate.value_or(std::numeric_limits<double>::quiet_NaN()));
}

const char* reproducible_at(const solve_request& request, const solve_report& report) {
  if (!report.reproducible) return report.repeats ? "same-threads" : "never";
  return request.engine == "petsc" ? "same-ranks" : "any-threads";
}

// What dominance proves; only sweeps look for it.
nlohmann::ordered_json bound_json(const solve_report& report) {
  if (!report.error_bound) return nullptr;
  return {{"verified", true},
          {"method", "dominance"},
          {"max_absolute", *report.error_bound},
          {"max_relative", nullptr},
          {"median_relative", nullptr},
          {"condition_estimate", nullptr},
          {"seconds", nullptr},
          {"reason", report.error_bound_source}};
}

// What sweeps knew before the first; rows count from 1.
nlohmann::ordered_json convergence_json(const solve_report& report) {
  if (!report.convergence) return nullptr;
  const convergence_facts& facts = *report.convergence;
  nlohmann::ordered_json object{
      {"proved", facts.proved}, {"dominance", facts.dominance}, {"ratio", finite_or_null(facts.ratio)}};
  object["weakest_row"] = nullptr;
  if (facts.weakest_row >= 0) object["weakest_row"] = facts.weakest_row + 1;
  object["omega_below"] = nullptr;
  if (facts.omega_below > 0) object["omega_below"] = facts.omega_below;
  object["omega"] = facts.omega;
  object["reason"] = facts.reason;
  return object;
}

}  // namespace

nlohmann::ordered_json inertia_json(const std::optional<inertia>& signs) {
  if (!signs) return nullptr;
  return {{"positive", signs->positive}, {"negative", signs->negative}, {"zero", signs->zero}};
}

nlohmann::ordered_json solve_json(const solve_request& request, const nlohmann::ordered_json& matrix,
                                  const nlohmann::ordered_json& batch, const solve_result& report,
                                  const std::vector<double>& repeats, const spent_seconds& seconds) {
  const report::statistics times = report::summarize(repeats);
  nlohmann::ordered_json object{{"schema", "vouch.solve/1"}, {"version", version}, {"matrix", matrix}};
  if (!batch.is_null()) object["batch"] = batch;
  object["method"] = report.method;
  object["method_reason"] = nullptr;
  if (!report.method_reason.empty()) object["method_reason"] = report.method_reason;
  object["preconditioner"] = report.preconditioner;
  object["backend"] =
      report.backend.empty() ? nlohmann::ordered_json() : nlohmann::ordered_json(report.backend);
  object["engine"] = request.engine.empty() ? nlohmann::ordered_json() : nlohmann::ordered_json(request.engine);
  object["problem"] = report.problem;
  object["rank"] = report.rank ? nlohmann::ordered_json(*report.rank) : nlohmann::ordered_json();
  object["inertia"] = inertia_json(report.signs);
  object["precision"] = report.precision;
  object["device"] = to_json(report.where, request.options.gpus);
  object["status"] = name(report.status);
  object["reason"] = report.reason;
  object["iterations"] = report.iterations;
  object["reproducible"] = report.reproducible;
  object["reproducible_at"] = reproducible_at(request, report);
  object["tolerance"] = {{"relative", request.relative_tolerance()}, {"absolute", request.options.goal.atol}};
  object["residual"] = {{"relative_true", finite_or_null(report.relative_true())},
                        {"relative_recurrence", finite_or_null(report.relative_recurrence())},
                        {"backward_error", finite_or_null(report.backward_error)},
                        {"normal_equations", estimate_json(report.normal_equations)}};
  object["condition_estimate"] = estimate_json(report.condition_estimate);
  object["error_estimate"] = estimate_json(report.error_estimate);
  object["convergence"] = convergence_json(report);
  object["error_bound"] = report.proof ? to_json(*report.proof) : bound_json(report);
  object["checkpoint"] = checkpoint_json(request);
  object["repeat"] = {
      {"count", times.count}, {"mean_s", times.mean}, {"stddev_s", times.deviation.value_or(0.0)}};
  object["time_s"] = {{"read", seconds.read},
                      {"setup", seconds.setup},
                      {"transfer", seconds.transfer},
                      {"solve", seconds.solve},
                      {"write", seconds.write},
                      {"total", seconds.total},
                      {"cuda_start", seconds.cuda_start}};
  object["memory_bytes"] = {{"host_peak", host_peak_bytes()}, {"device_peak", device_peak_bytes()}};
  return object;
}

}  // namespace vouch::cli
