#include "statistics.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include <vouch/core/error.hpp>

namespace vouch::report {

statistics summarize(std::span<const double> samples) {
  if (samples.empty()) throw value_error("statistics of no samples");
  const auto count = static_cast<double>(samples.size());
  statistics s;
  s.count = static_cast<std::int64_t>(samples.size());
  for (const double sample : samples) s.mean += sample / count;
  if (samples.size() > 1) {
    double squares = 0;
    for (const double sample : samples) squares += (sample - s.mean) * (sample - s.mean);
    s.deviation = std::sqrt(squares / (count - 1));
  }
  std::vector<double> sorted(samples.begin(), samples.end());
  std::sort(sorted.begin(), sorted.end());
  s.least = sorted.front();
  s.median = (sorted[(sorted.size() - 1) / 2] + sorted[sorted.size() / 2]) / 2;
  return s;
}

}  // namespace vouch::report
