// The drawings of the report.
#include <fmt/format.h>

#include <cli/report/plot.hpp>
#include "cg_results.hpp"

namespace vouch::bench {
namespace {

constexpr const char* labels[] = {"gpu", "cpu", "cpu1"};

// Times of one device over sizes; of its peer where peers is set.
plot::series times(const std::vector<iteration_cell>& cells, const std::string& family,
                   const std::string& device, const std::string& precision, bool peers) {
  plot::series s;
  s.markers = true;
  s.dashed = peers;
  for (const iteration_cell& cell : cells) {
    if (!cell.case_name.starts_with(family) || cell.device != device || cell.precision != precision ||
        cell.layout != "automatic" || (peers && !cell.peer_seconds))
      continue;
    s.name = fmt::format("{}, {}", peers ? cell.peer + " on " + device : device, precision);
    s.x.push_back(static_cast<double>(cell.rows));
    s.y.push_back(peers ? *cell.peer_seconds : cell.seconds);
  }
  return s;
}

plot::series residuals(const solve_cell& cell) {
  plot::series s;
  s.name = cell.preconditioner == "none" ? "no preconditioner" : cell.preconditioner;
  for (const iteration_record& at : cell.report.history) {
    s.x.push_back(static_cast<double>(at.iteration));
    s.y.push_back(at.residual / cell.report.rhs_norm);
  }
  return s;
}

}  // namespace

std::vector<figure> scaling_figures(const std::vector<iteration_cell>& scaling, int dimensions) {
  const std::string family = fmt::format("poisson {}d", dimensions);
  plot::line_plot drawing;
  drawing.title = fmt::format("Time an iteration, Poisson {}D", dimensions);
  drawing.x = {"unknowns", plot::scale::logarithmic, {}, {}};
  drawing.y = {"seconds", plot::scale::logarithmic, {}, {}};
  for (const bool peers : {false, true})
    for (const char* device : labels)
      for (const char* precision : {"double", "single"}) {
        if (peers && precision != std::string_view("double")) continue;
        plot::series s = times(scaling, family, device, precision, peers);
        if (s.x.size() > 1) drawing.lines.push_back(std::move(s));
      }
  if (drawing.lines.empty()) return {};
  return {{"Solid: vouch. Dashed: the peer on the same device, double.", plot::to_svg(drawing)}};
}

std::vector<figure> convergence_figures(const cg_results& results) {
  std::vector<figure> figures;
  for (const cg_case_facts& c : results.cases)
    for (const char* device : labels) {
      plot::line_plot drawing;
      drawing.title = fmt::format("{}, {}, double", c.name, device);
      drawing.x = {"iteration", plot::scale::logarithmic, {}, {}};
      drawing.y = {"||r|| / ||b||", plot::scale::logarithmic, {}, {}};
      for (const solve_cell& cell : results.solves)
        if (cell.case_name == c.name && cell.device == device && cell.precision == "double" &&
            cell.rule == true_rule && cell.report.history.size() > 1)
          drawing.lines.push_back(residuals(cell));
      if (drawing.lines.empty()) continue;
      figures.push_back({fmt::format("{}: the recurrence's residual until the true one is 1e-8.", c.name),
                         plot::to_svg(drawing)});
      break;
    }
  return figures;
}

}  // namespace vouch::bench
