// cli/report/plot.hpp -- line plots as self-contained SVG.
#pragma once
#include <optional>
#include <string>
#include <vector>

namespace vouch::plot {

enum class scale { linear, logarithmic };

/// One axis. Ends that are not given come from the data, rounded outward to a tick (a decade where
/// logarithmic).
struct axis {
  std::string title;
  scale kind = scale::linear;
  std::optional<double> from, to;
};

/// Points joined in the order of x, marked, or both. What an axis cannot show (NaN, infinity, no positive
/// number on a logarithmic one) leaves a gap.
struct series {
  std::string name;  // in the legend; "": not listed
  std::vector<double> x, y;
  bool line = true;
  bool markers = false;
  bool dashed = false;
};

/// A horizontal line across the plot.
struct reference_line {
  double y = 0;
  std::string label;
};

struct line_plot {
  std::string title;
  std::string subtitle;
  axis x, y;
  std::vector<series> lines;
  std::vector<reference_line> references;
  int width = 820;
  int height = 480;
};

/// The drawing: one <svg> element with a light background, no script, nothing fetched, text as text.
///
/// Result  The same bytes for the same plot. A series longer than the plot is wide is drawn by its first,
///         least, greatest and last point in every pixel column, so that a drawing stays small.
/// Throws  value_error  a series with x and y of different lengths
std::string to_svg(const line_plot& plot);

}  // namespace vouch::plot
