#include "price_request.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cli/report/plot.hpp>
#include <cmath>
#include <vouch/core/error.hpp>
#include <vouch/text/file.hpp>

namespace vouch::cli {
namespace {

plot::series payoff(const contract& c, const std::vector<double>& spots) {
  plot::series s{"payoff", {}, {}, true, false, true};
  for (const double spot : spots) {
    s.x.push_back(spot);
    s.y.push_back(payoff_at(c.plain, spot));
  }
  return s;
}

// Times run along the value axis of a second drawing, so the boundary gets one of its own.
std::string boundary_plot(const fd_surface& surface, const contract& c) {
  plot::line_plot drawing;
  drawing.title = "boundary of early exercise";
  drawing.x = {"time in years", plot::scale::linear, 0.0, c.plain.expiry};
  drawing.y = {"spot", plot::scale::linear, {}, {}};
  // Where it is there only just before dividends, its points stand alone.
  const auto there = std::count_if(surface.boundary.begin(), surface.boundary.end(),
                                   [](double spot) { return std::isfinite(spot); });
  drawing.lines = {{"", surface.times, surface.boundary, true, there < 10, false}};
  drawing.references = {{c.plain.strike, "strike"}};
  drawing.height = 300;
  return plot::to_svg(drawing);
}

}  // namespace

void write_surface_plot(const price_request& request, const pricing& p) {
  contract c = request.option;
  check(c);
  if (p.method == pricing_method::limit) throw value_error("there is no surface to draw: nothing is random");
  const fd_surface surface = finite_difference_surface(c, request.method.finite_difference);
  const double strike = c.plain.strike, spot = c.plain.spot;
  plot::line_plot drawing;
  drawing.title = fmt::format("{}, strike {:g}, expiry {:g} years",
                              c.plain.type == option_type::call ? "call" : "put", strike, c.plain.expiry);
  drawing.subtitle =
      fmt::format("price {:.6g} at spot {:g}, volatility {:g}", p.value.price, spot, typical_volatility(c));
  const double low = 0.3 * std::min(spot, strike), high = 2 * std::max(spot, strike);
  std::vector<double> x, y;
  for (std::size_t i = 0; i < surface.spot.size(); ++i)
    if (surface.spot[i] >= low && surface.spot[i] <= high) {
      x.push_back(surface.spot[i]);
      y.push_back(surface.value[i]);
    }
  drawing.x = {"spot", plot::scale::linear, {}, {}};
  drawing.y = {"value", plot::scale::linear, {}, {}};
  drawing.lines = {{"value now", x, y, true, false, false},
                   payoff(c, x),
                   {"this option", {spot}, {p.value.price}, false, true, false}};
  std::string svg = plot::to_svg(drawing);
  if (!surface.boundary.empty()) {
    // Both drawings in one file: the second below the first.
    const std::string second = boundary_plot(surface, c);
    svg = fmt::format(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1}\" viewBox=\"0 0 {0} {1}\">\n"
        "{2}\n<svg y=\"{3}\" width=\"{0}\" height=\"300\">\n{4}\n</svg>\n</svg>\n",
        drawing.width, drawing.height + 300, svg, drawing.height, second);
  }
  atomic_file file(request.plot);
  file.write(svg);
  file.commit();
}

}  // namespace vouch::cli
