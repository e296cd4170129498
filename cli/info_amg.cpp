#include "info_amg.hpp"

#include <fmt/format.h>

#include <cli/report/text_table.hpp>
#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>

#include <vouch/core/error.hpp>
#include <vouch/solve/loop/spd_check.hpp>

#include "common.hpp"

namespace vouch::cli {
namespace {

constexpr double goal = 1e-8;

// " (64 x 64 x 64)"
std::string grid_text(const amg_level& l) {
  if (l.grid[0] == 0) return "";
  std::string text = fmt::format(" ({} x {}", l.grid[0], l.grid[1]);
  if (l.grid[2] > 1) text += fmt::format(" x {}", l.grid[2]);
  return text + ")";
}

}  // namespace

multigrid_facts examine_multigrid(const device& cpu, const std::string& file, csr_view<const double> A,
                                  const structure_facts& facts) {
  const auto refuse = [&](const std::string& why) {
    throw value_error(printable(file) + ": no multigrid hierarchy: " + why,
                      "leave out --amg for the facts alone");
  };
  if (!facts.square) refuse("the matrix is not square");
  if (const std::string why = not_spd_reason(facts); !why.empty()) refuse(why);
  multigrid_facts m;
  std::unique_ptr<amg<double>> M;
  try {
    M = make_amg<double>(cpu, A);
  } catch (const value_error& e) {
    refuse(e.what());
  }
  m.hierarchy = M->hierarchy();
  m.forecast = forecast_cg(cpu, A, *M, goal, facts.row_sums_zero);
  return m;
}

std::string multigrid_text(const multigrid_facts& m) {
  const amg_hierarchy& h = m.hierarchy;
  std::string text = fmt::format(
      "  {:<16}{}, {} level{}, operator complexity {:.2f}, grid complexity {:.2f}, {}, set up in {}\n",
      "multigrid", h.type == amg_type::structured ? "structured" : "smoothed aggregation", h.levels.size(),
      h.levels.size() == 1 ? "" : "s", h.operator_complexity(), h.grid_complexity(),
      report::bytes_text(static_cast<double>(h.bytes)), report::seconds_text(h.setup_seconds));
  if (!h.why_not_structured.empty())
    text += fmt::format("  {:<16}no: {}\n", "  structured", h.why_not_structured);
  for (std::size_t k = 0; k < h.levels.size(); ++k) {
    const amg_level& l = h.levels[k];
    const bool last = k + 1 == h.levels.size();
    text += fmt::format("  {:<16}{} rows{}, {} nonzeros{}\n", fmt::format("  level {}", k + 1), l.rows,
                        grid_text(l), l.nonzeros,
                        !last               ? std::isinf(l.filter) ? ", prolongator not smoothed" : ""
                        : h.coarsest_solved ? ", solved"
                                            : ", smoothed: it does not coarsen");
  }
  const iteration_forecast& f = m.forecast;
  text += f.iterations ? fmt::format("  {:<16}about {} of conjugate gradients to {:g}, {}\n", "iterations",
                                     *f.iterations, goal, f.reason)
                       : fmt::format("  {:<16}not predicted: {}\n", "iterations", f.reason);
  return text;
}

nlohmann::ordered_json multigrid_json(const multigrid_facts& m) {
  const amg_hierarchy& h = m.hierarchy;
  nlohmann::ordered_json levels = nlohmann::ordered_json::array();
  for (std::size_t k = 0; k < h.levels.size(); ++k) {
    nlohmann::ordered_json level{
        {"rows", h.levels[k].rows}, {"nonzeros", h.levels[k].nonzeros}, {"grid", nullptr}};
    if (h.levels[k].grid[0] > 0) level["grid"] = h.levels[k].grid;
    level["prolongator_smoothed"] = nullptr;  // there is no next level
    if (k + 1 < h.levels.size()) level["prolongator_smoothed"] = !std::isinf(h.levels[k].filter);
    levels.push_back(level);
  }
  nlohmann::ordered_json object{{"type", name(h.type)},
                                {"why_not_structured", nullptr},
                                {"levels", levels},
                                {"coarsest_solved", h.coarsest_solved},
                                {"operator_complexity", h.operator_complexity()},
                                {"grid_complexity", h.grid_complexity()},
                                {"memory_bytes", h.bytes},
                                {"cycle_bytes", h.cycle_bytes},
                                {"setup_s", h.setup_seconds}};
  if (!h.why_not_structured.empty()) object["why_not_structured"] = h.why_not_structured;
  object["predicted_iterations"] = nullptr;
  if (m.forecast.iterations) object["predicted_iterations"] = *m.forecast.iterations;
  object["reduction"] = nullptr;
  if (m.forecast.reduction) object["reduction"] = *m.forecast.reduction;
  object["reason"] = m.forecast.reason;
  return object;
}

}  // namespace vouch::cli
