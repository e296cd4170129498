#include "cg_results.hpp"

#include <algorithm>
#include <cmath>

namespace vouch::bench {
namespace {

// The quickest CPU time of an iteration for this case.
std::optional<double> cpu_seconds(const std::vector<iteration_cell>& cells, const std::string& case_name) {
  std::optional<double> best;
  for (const iteration_cell& cell : cells)
    if (cell.case_name == case_name && cell.device != "gpu" && cell.precision == "double" &&
        cell.layout == "automatic")
      best = std::min(best.value_or(cell.seconds), cell.seconds);
  return best;
}

}  // namespace

const solve_cell* find_solve(const cg_results& results, const std::string& case_name, const std::string& device,
                             const std::string& precision, const std::string& rule) {
  for (const solve_cell& cell : results.solves)
    if (cell.case_name == case_name && cell.device == device && cell.precision == precision &&
        cell.rule == rule && cell.preconditioner == "none")
      return &cell;
  return nullptr;
}

const iteration_cell* find_iterations(const std::vector<iteration_cell>& cells, const std::string& case_name,
                                      const std::string& device, const std::string& precision,
                                      const std::string& layout) {
  for (const iteration_cell& cell : cells)
    if (cell.case_name == case_name && cell.device == device && cell.precision == precision &&
        cell.layout == layout)
      return &cell;
  return nullptr;
}

std::optional<double> break_even(const std::vector<iteration_cell>& scaling, int dimensions) {
  const std::string family = "poisson " + std::to_string(dimensions) + "d";
  std::optional<double> last_size, last_gain;  // logarithms
  for (const iteration_cell& cell : scaling) {
    if (cell.device != "gpu" || cell.precision != "double" || cell.layout != "automatic" ||
        !cell.case_name.starts_with(family))
      continue;
    const std::optional<double> cpu = cpu_seconds(scaling, cell.case_name);
    if (!cpu) continue;
    const double size = std::log(static_cast<double>(cell.rows)), gain = std::log(*cpu / cell.seconds);
    if (last_gain && *last_gain <= 0 && gain > 0)
      return std::exp(*last_size - *last_gain * (size - *last_size) / (gain - *last_gain));
    last_size = size;
    last_gain = gain;
  }
  return std::nullopt;
}

}  // namespace vouch::bench
