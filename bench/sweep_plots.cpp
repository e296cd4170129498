#include "sweep_plots.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string_view>

#include <cli/report/plot.hpp>
#include "suites.hpp"

namespace vouch::bench {
namespace {

constexpr std::string_view size_mark = ", n ";

std::optional<double> size_of(const bench_row& row, std::string_view mark) {
  const std::size_t at = row.case_name.rfind(size_mark);
  if (at == std::string::npos || !std::string_view(row.metric).ends_with(mark)) return {};
  return std::stod(row.case_name.substr(at + size_mark.size()));
}

std::string line_name(const bench_row& row, std::string_view mark) {
  std::string metric = row.metric.substr(0, row.metric.size() - mark.size());
  std::replace(metric.begin(), metric.end(), '_', ' ');
  return fmt::format("{}, {}, {}", row.case_name.substr(0, row.case_name.rfind(size_mark)), metric,
                     row.precision);
}

void add_point(std::vector<plot::series>& lines, const std::string& name, bool dashed, double x, double y) {
  auto line = std::ranges::find(lines, name, &plot::series::name);
  if (line == lines.end()) {
    lines.push_back({name, {}, {}, true, !dashed, dashed});
    line = lines.end() - 1;
  }
  line->x.push_back(x);
  line->y.push_back(y);
}

// A figure a device, a line for each case, metric and precision.
std::vector<figure> figures_over_size(const std::string& title, const char* unit, const char* caption,
                                      std::string_view mark, const std::vector<bench_row>& rows) {
  std::vector<figure> figures;
  for (const char* device : {"gpu", "cpu"}) {
    plot::line_plot drawing;
    drawing.title = fmt::format("{}, {}", title, device);
    drawing.x = {"unknowns", plot::scale::logarithmic, {}, {}};
    drawing.y = {unit, plot::scale::logarithmic, {}, {}};
    for (const bench_row& row : rows) {
      const std::optional<double> size = size_of(row, mark);
      if (!size || row.device != device || !row.value) continue;
      const std::string line = line_name(row, mark);
      add_point(drawing.lines, line, false, *size, *row.value);
      if (row.floor && row.metric.starts_with("jacobi"))
        add_point(drawing.lines, "floor of " + line, true, *size, *row.floor);
    }
    std::erase_if(drawing.lines, [](const plot::series& s) { return s.x.size() < 2; });
    if (!drawing.lines.empty()) figures.push_back({caption, plot::to_svg(drawing)});
  }
  return figures;
}

}  // namespace

std::vector<figure> sweep_figures(const std::string& title, const std::vector<bench_row>& rows) {
  return figures_over_size(title, "seconds a sweep", "Dashed: the floor measured in this run.", "_sweep", rows);
}

std::vector<figure> time_figures(const std::string& title, const std::vector<bench_row>& rows) {
  return figures_over_size(title, "seconds", "Means of the runs, upload included.", "_time", rows);
}

figure convergence_figure(const std::string& title, const std::vector<named_history>& solves) {
  plot::line_plot drawing;
  drawing.title = title;
  drawing.x = {"iteration", plot::scale::logarithmic, {}, {}};
  drawing.y = {"||r|| / ||b||", plot::scale::logarithmic, {}, {}};
  for (const named_history& solve : solves) {
    plot::series line;
    line.name = solve.name;
    for (const iteration_record& at : solve.report.history) {
      line.x.push_back(static_cast<double>(at.iteration + 1));
      line.y.push_back(at.residual / solve.report.rhs_norm);
    }
    drawing.lines.push_back(std::move(line));
  }
  return {"The residual as sweeps meet it, until the true one is within the tolerance.", plot::to_svg(drawing)};
}

suite_results run_stationary_suite_with_plots(const suite_options& options) {
  suite_results all = run_stationary_suite(options);
  for (report_section& section : all.sections)
    if (section.title == "Sweeps") section.figures = sweep_figures("Dense sweeps", all.rows);
  return all;
}

}  // namespace vouch::bench
