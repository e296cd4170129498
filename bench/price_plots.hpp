// bench/price_plots.hpp -- error against time of option prices.
#pragma once
#include <string>
#include <vector>

#include "results.hpp"

namespace vouch::bench {

/// One measurement; those of one series are joined in the order of x.
struct price_point {
  std::string series;
  double x = 0, y = 0;
};

/// Both axes logarithmic; errors below 1e-16 are drawn there.
figure error_figure(const std::string& title, const std::string& x_title,
                    const std::vector<price_point>& points);

}  // namespace vouch::bench
