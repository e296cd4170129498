#include "solve_output.hpp"

#include <cli/report/statistics.hpp>

#include "json.hpp"

namespace vouch::cli {
namespace {

const char* reproducible_at(const solve_request& request, const solve_report& report) {
  if (!report.reproducible) return report.repeats ? "same-threads" : "never";
  return request.engine == "petsc" ? "same-ranks" : "any-threads";
}

// What dominance proves; only sweeps look for it.
json bound_json(const solve_report& report) {
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
json convergence_json(const solve_report& report) {
  if (!report.convergence) return nullptr;
  const convergence_facts& facts = *report.convergence;
  return {{"proved", facts.proved},
          {"dominance", facts.dominance},
          {"ratio", or_null(facts.ratio)},
          {"weakest_row", known_if(facts.weakest_row >= 0, facts.weakest_row + 1)},
          {"omega_below", known_if(facts.omega_below > 0, facts.omega_below)},
          {"omega", facts.omega},
          {"reason", facts.reason}};
}

}  // namespace

json inertia_json(const std::optional<inertia>& signs) {
  if (!signs) return nullptr;
  return {{"positive", signs->positive}, {"negative", signs->negative}, {"zero", signs->zero}};
}

json matrix_json(const linear_system& system, const structure_facts& facts) {
  return matrix_json(system.file, system.equations(), system.unknowns(), entries_of(system, facts),
                     facts.symmetric, system.complex_entries.has_value());
}

json solve_json(const solve_request& request, const json& matrix, const json& batch, const solve_result& report,
                const std::vector<double>& repeats, const spent_seconds& seconds) {
  const report::statistics times = report::summarize(repeats);
  json object = object_of("solve");
  object["matrix"] = matrix;
  if (!batch.is_null()) object["batch"] = batch;
  object["method"] = report.method;
  object["method_reason"] = or_null(report.method_reason);
  object["preconditioner"] = report.preconditioner;
  object["backend"] = or_null(report.backend);
  object["engine"] = or_null(request.engine);
  object["problem"] = report.problem;
  object["rank"] = or_null(report.rank);
  object["inertia"] = inertia_json(report.signs);
  object["precision"] = report.precision;
  object["device"] = to_json(report.where, request.options.gpus);
  object["status"] = name(report.status);
  object["reason"] = report.reason;
  object["iterations"] = report.iterations;
  object["reproducible"] = report.reproducible;
  object["reproducible_at"] = reproducible_at(request, report);
  object["tolerance"] = {{"relative", request.relative_tolerance()}, {"absolute", request.options.goal.atol}};
  object["residual"] = {{"relative_true", or_null(report.relative_true())},
                        {"relative_recurrence", or_null(report.relative_recurrence())},
                        {"backward_error", or_null(report.backward_error)},
                        {"normal_equations", or_null(report.normal_equations)}};
  object["condition_estimate"] = or_null(report.condition_estimate);
  object["error_estimate"] = or_null(report.error_estimate);
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
  object["memory_bytes"] = memory_json();
  return object;
}

}  // namespace vouch::cli
