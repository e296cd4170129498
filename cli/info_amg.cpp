#include "info_amg.hpp"

#include <fmt/format.h>

#include <cli/report/text_table.hpp>
#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>
#include <numeric>
#include <vector>

#include <vouch/core/error.hpp>
#include <vouch/core/random.hpp>
#include <vouch/solve/krylov/cg.hpp>
#include <vouch/solve/loop/spd_check.hpp>

#include "common.hpp"

namespace vouch::cli {
namespace {

constexpr std::int64_t trial_iterations = 8;
constexpr double goal = 1e-8;

// The same on every run; without a part along the constants where those are the null space.
array<double> hashed_rhs(const device& cpu, std::int64_t n, bool constants_in_null_space) {
  constexpr std::uint64_t stream = 0x616d67;
  std::vector<double> b(static_cast<std::size_t>(n));
  for (std::size_t i = 0; i < b.size(); ++i) b[i] = random_unit(stream, i) - 0.5;
  if (constants_in_null_space) {
    const double mean = std::accumulate(b.begin(), b.end(), 0.0) / static_cast<double>(n);
    for (double& element : b) element -= mean;
  }
  return array<double>::from(cpu, b);
}

// The first iterations take away what any smoother would, so the later half of them shows the rate.
void predict(const solve_report& trial, multigrid_facts& m) {
  if (trial.status == solve_status::converged) {
    m.iterations = trial.iterations;
    m.reason = "done on hashed numbers";
    if (trial.iterations > 0)
      m.reduction = std::pow(trial.relative_true(), 1 / static_cast<double>(trial.iterations));
    return;
  }
  const std::vector<iteration_record>& history = trial.history;
  if (trial.status != solve_status::max_iterations || std::ssize(history) != trial_iterations + 1) {
    m.reason = trial.reason;
    return;
  }
  constexpr std::int64_t half = trial_iterations / 2;
  const double first = history[0].residual, middle = history[half].residual, last = history[2 * half].residual;
  const double reduction = std::pow(last / middle, 1.0 / half);
  if (!(reduction < 1)) {
    m.reason = fmt::format("the residual did not fall in {} iterations on hashed numbers", trial_iterations);
    return;
  }
  m.reduction = reduction;
  m.iterations = trial_iterations +
                 static_cast<std::int64_t>(std::ceil(std::log(goal * first / last) / std::log(reduction)));
  m.reason = fmt::format("at the rate of iterations {} to {} on hashed numbers", half + 1, trial_iterations);
}

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
  const array<double> b = hashed_rhs(cpu, A.rows, facts.row_sums_zero);
  array<double> x = array<double>::zeros(cpu, A.rows);
  cg_options options;
  options.rtol = goal;
  options.max_iterations = trial_iterations;
  options.matrix_checked = true;
  predict(cg<double>(cpu, A, b, x, options, M.get()), m);
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
  text += m.iterations ? fmt::format("  {:<16}about {} of conjugate gradients to {:g}, {}\n", "iterations",
                                     *m.iterations, goal, m.reason)
                       : fmt::format("  {:<16}not predicted: {}\n", "iterations", m.reason);
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
  if (m.iterations) object["predicted_iterations"] = *m.iterations;
  object["reduction"] = nullptr;
  if (m.reduction) object["reduction"] = *m.reduction;
  object["reason"] = m.reason;
  return object;
}

}  // namespace vouch::cli
