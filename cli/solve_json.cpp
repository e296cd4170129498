#include "solve_output.hpp"

#include <cli/report/statistics.hpp>

#include "json.hpp"

namespace vouch::cli {
namespace {

const char* reproducible_at(const solve_request& request, const solve_report& report) {
  if (!report.reproducible) return report.repeats ? "same-threads" : "never";
  return request.engine == "petsc" ? "same-ranks" : "any-threads";
}

}  // namespace

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
  const json said = described(report);
  for (const auto& [key, value] : said.items()) {
    object[key] = value;
    if (key == "backend") object["engine"] = or_null(request.engine);
    if (key == "precision") object["device"] = to_json(report.where, report.gpus);
    if (key != "reproducible") continue;
    object["reproducible_at"] = reproducible_at(request, report);
    object["tolerance"] = {{"relative", request.relative_tolerance()}, {"absolute", request.options.goal.atol}};
  }
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
