#include "price_plots.hpp"

#include <algorithm>

#include <cli/report/plot.hpp>

namespace vouch::bench {

figure error_figure(const std::string& title, const std::string& x_title,
                    const std::vector<price_point>& points) {
  plot::line_plot drawing;
  drawing.title = title;
  drawing.x = {x_title, plot::scale::logarithmic, {}, {}};
  drawing.y = {"error of the price", plot::scale::logarithmic, {}, {}};
  for (const price_point& p : points) {
    auto found = std::find_if(drawing.lines.begin(), drawing.lines.end(),
                              [&](const plot::series& s) { return s.name == p.series; });
    if (found == drawing.lines.end())
      found = drawing.lines.insert(found, plot::series{p.series, {}, {}, true, true, false});
    found->x.push_back(p.x);
    found->y.push_back(std::max(p.y, 1e-16));
  }
  return {title, plot::to_svg(drawing)};
}

}  // namespace vouch::bench
