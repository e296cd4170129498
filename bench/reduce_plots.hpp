// bench/reduce_plots.hpp -- the drawings of the reduction suite.
#pragma once
#include <string>
#include <vector>

#include "results.hpp"

namespace vouch::bench {

/// A rate that was measured; points of one name are a line.
struct rate_point {
  std::string name;
  double x = 0;
  double rate = 0;      // bytes a second
  bool dashed = false;  // what nothing can be faster than
};

/// Rates over x, both logarithmic; no figure where no line has two points.
std::vector<figure> rate_figures(const std::string& title, const std::string& x_title,
                                 const std::string& caption, const std::vector<rate_point>& points);

}  // namespace vouch::bench
