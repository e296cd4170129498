#include "verify_common.hpp"

#include <algorithm>
#include <cmath>

#include <vouch/verify/enclosed_residual.hpp>
#include <vouch/verify/error_bound.hpp>

namespace vouch::bench {

known_solution all_ones(std::int64_t n) { return {std::vector<double>(static_cast<std::size_t>(n), 1.0), {}}; }

known_solution refined(const device& dev, csr_view<const double> A, certificate& proof, view<const double> b,
                       view<const double> x) {
  array<double> best(dev, x.size());
  copy_bytes(best.data(), dev, x.data(), dev, static_cast<std::size_t>(x.size()) * sizeof(double));
  bound_options to_the_end;
  to_the_end.relative = 1e-16;
  const error_bound bound = bound_error(dev, A, proof, b, best, to_the_end);
  return {best.to_vector(), bound.radius.to_vector()};
}

std::optional<double> median_overestimation(const std::vector<double>& x, const std::vector<double>& radius,
                                            const known_solution& known) {
  constexpr double digits = 10;  // errors that are known to one digit
  std::vector<double> ratios;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double error = std::fabs(x[i] - known.x[i]), unknown = known.radius.empty() ? 0 : known.radius[i];
    if (error > digits * unknown) ratios.push_back(radius[i] / error);
  }
  if (ratios.empty()) return std::nullopt;
  const auto middle = ratios.begin() + static_cast<std::ptrdiff_t>(ratios.size() / 2);
  std::nth_element(ratios.begin(), middle, ratios.end());
  return *middle;
}

double largest_error(const std::vector<double>& x, const known_solution& known) {
  double most = 0;
  for (std::size_t i = 0; i < x.size(); ++i)
    if (x[i] != known.x[i]) most = std::max(most, std::fabs((x[i] - known.x[i]) / known.x[i]));
  return most;
}

plain_bound bound_plainly(const device& dev, csr_view<const double> A, certificate& proof, view<const double> b,
                          view<const double> x) {
  array<interval<double>> r(dev, x.size());
  array<double> radius(dev, x.size());
  plain_bound plain;
  plain.seconds = seconds_of_call(dev, [&] {
    enclosed_residual(dev, A, b, x, nullptr, r.all());
    proof.bound(r.all(), radius.all());
  });
  plain.radius = radius.to_vector();
  return plain;
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
