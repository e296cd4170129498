#include "solve_system.hpp"

#include <memory>
#include <nlohmann/json.hpp>

#include <vouch/core/stopwatch.hpp>

#include "common.hpp"

namespace vouch::cli {
namespace {

bool is_file(const std::string& rhs_or_start) {
  return rhs_or_start != "ones" && rhs_or_start != "row-sums" && rhs_or_start != "zeros";
}

}  // namespace

void take_near_nullspace(const device& cpu, const linear_system& system, solve_request& request) {
  if (request.near_nullspace.empty() && request.coordinates.empty()) return;
  std::shared_ptr<const near_nullspace>& near = request.options.preconditioner->near;
  if (!request.near_nullspace.empty())
    near = std::make_shared<near_nullspace>(read_near_nullspace(cpu, request.near_nullspace, system));
  if (!request.coordinates.empty())
    near = std::make_shared<near_nullspace>(read_rigid_body_modes(cpu, request.coordinates, system));
}

void take_vectors(const device& cpu, const solve_request& request, linear_system& system,
                  spent_seconds& seconds) {
  const stopwatch rhs;
  take_rhs(cpu, request.rhs, system);
  (is_file(request.rhs) ? seconds.read : seconds.setup) += rhs.seconds();
  const stopwatch start;
  take_start(cpu, request.initial, system);
  (is_file(request.initial) ? seconds.read : seconds.setup) += start.seconds();
}

std::int64_t entries_of(const linear_system& system, const structure_facts& facts) {
  return system.complex_entries.value_or(facts.nonzeros);
}

nlohmann::ordered_json matrix_json(const linear_system& system, const structure_facts& facts) {
  nlohmann::ordered_json object = matrix_json(system.file, system.equations(), system.unknowns(),
                                              entries_of(system, facts), facts.symmetric);
  if (system.complex_entries) object["field"] = "complex";
  return object;
}

}  // namespace vouch::cli
