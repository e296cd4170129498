#include "reduce_plots.hpp"

#include <algorithm>

#include <cli/report/plot.hpp>

namespace vouch::bench {

std::vector<figure> rate_figures(const std::string& title, const std::string& x_title,
                                 const std::string& caption, const std::vector<rate_point>& points) {
  std::vector<plot::series> lines;
  for (const rate_point& p : points) {
    auto line = std::ranges::find(lines, p.name, &plot::series::name);
    if (line == lines.end()) {
      lines.push_back({p.name, {}, {}, true, true, p.dashed});
      line = lines.end() - 1;
    }
    line->x.push_back(p.x);
    line->y.push_back(p.rate * 1e-9);
  }
  std::erase_if(lines, [](const plot::series& s) { return s.x.size() < 2; });
  if (lines.empty()) return {};
  plot::line_plot drawing;
  drawing.title = title;
  drawing.x = {x_title, plot::scale::logarithmic, {}, {}};
  drawing.y = {"GB/s", plot::scale::logarithmic, {}, {}};
  drawing.lines = std::move(lines);
  return {{caption, plot::to_svg(drawing)}};
}

}  // namespace vouch::bench
