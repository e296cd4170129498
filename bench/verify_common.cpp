#include "verify_common.hpp"

#include <algorithm>
#include <cmath>

namespace vouch::bench {

std::optional<double> median_overestimation(const std::vector<double>& x, const std::vector<double>& radius) {
  std::vector<double> ratios;
  for (std::size_t i = 0; i < x.size(); ++i)
    if (x[i] != 1) ratios.push_back(radius[i] / std::fabs(x[i] - 1));
  if (ratios.empty()) return std::nullopt;
  const auto middle = ratios.begin() + static_cast<std::ptrdiff_t>(ratios.size() / 2);
  std::nth_element(ratios.begin(), middle, ratios.end());
  return *middle;
}

void proof_rows::add(const char* metric, std::optional<double> value, const char* unit,
                     std::optional<double> bar, std::optional<bool> pass) {
  all_.rows.push_back({name_, device_, "double", metric, value, unit, {}, {}, {}, bar, pass});
}

void proof_rows::figure(const char* metric, std::optional<double> value, const char* unit) {
  if (value) add(metric, value, unit, {}, {});
}

void proof_rows::seconds_over(const char* metric, double value, double floor) {
  const bool known = floor > 0;
  all_.rows.push_back({name_,
                       device_,
                       "double",
                       metric,
                       value,
                       "s",
                       known ? std::optional(floor) : std::nullopt,
                       {},
                       known ? std::optional(floor / value) : std::nullopt,
                       {},
                       {}});
}

void proof_rows::at_most(const char* metric, double value, double bar, bool judged, bool holds,
                         const char* unit) {
  if (!judged) return figure(metric, value, unit);
  add(metric, value, unit, bar, holds && value <= bar);
}

void proof_rows::at_least(const char* metric, double value, double bar, bool judged, bool holds) {
  if (!judged) return figure(metric, value);
  add(metric, value, "1", bar, holds && value >= bar);
}

}  // namespace vouch::bench
