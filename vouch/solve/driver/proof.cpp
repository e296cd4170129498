#include <vouch/solve/driver/proof.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include <vouch/core/ieee_environment.hpp>
#include <vouch/interval/rounding.hpp>
#include <vouch/verify/bound_text.hpp>
#include <vouch/verify/error_bound.hpp>
#include <vouch/verify/tridiagonal_bound.hpp>

namespace vouch {
namespace {

double median(std::vector<double>& values) {
  if (values.empty()) return 0;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

// Elements first to first + proved.rows - 1: a column.
error_bound about_column(view<const double> given, view<const double> improved, const solution_proof& proved,
                         std::int64_t first) {
  error_bound column;
  std::vector<double> relative;
  for (std::int64_t i = first; i < first + proved.rows; ++i) {
    const double apart = std::max(sub_up(given[i], improved[i]), sub_up(improved[i], given[i]));
    const double radius = add_up(apart, proved.radius[i]);
    const double least = sub_down(std::fabs(improved[i]), proved.radius[i]);  // of the exact solution
    relative.push_back(radius == 0 ? 0
                       : least > 0 ? div_up(radius, least)
                                   : std::numeric_limits<double>::infinity());
    column.max_absolute = std::max(column.max_absolute, radius);
    column.max_relative = std::max(column.max_relative, relative.back());
  }
  column.median_relative = median(relative);
  return column;
}

void judge(error_bound& column, double asked) {
  using namespace vouch::detail;
  column.verified = std::isfinite(column.max_absolute);
  column.reached = column.verified && (asked == 0 || column.max_relative <= asked);
  column.reason = !column.verified ? "the bound of the error overflows"
                  : column.reached ? every_component_within(column.max_absolute)
                                   : relative_shortfall(column.max_relative);
}

}  // namespace

void add_column(solution_proof& all, const error_bound& one, bool first) {
  all.method = one.method;
  if (first || !one.verified || (all.verified && !one.reached)) all.reason = one.reason;
  all.verified = (first || all.verified) && one.verified;
  all.reached = (first || all.reached) && one.reached;
  all.digits = first ? one.digits() : std::min(all.digits, one.digits());
  all.max_absolute = std::max(all.max_absolute, one.max_absolute);
  all.max_relative = std::max(all.max_relative, one.max_relative);
  all.median_relative = std::max(all.median_relative, one.median_relative);
  all.condition_estimate = one.condition_estimate;
  all.refinements = std::max(all.refinements, one.refinements);
}

void take_batch(solution_proof& all, const tridiagonal_bound& bound, view<const double> x) {
  const ieee_environment here;
  all.verified = bound.verified;
  all.reached = bound.reached;
  all.method = bound.method;
  all.reason = bound.reason;
  all.max_absolute = bound.max_absolute;
  all.max_relative = bound.max_relative;
  all.condition_estimate = bound.condition_estimate;
  all.digits = bound.digits();
  all.refinements = bound.refinements;
  all.systems_unproved = bound.systems_unproved;
  all.first_unproved = bound.first_unproved;
  all.seconds = bound.seconds;
  std::vector<double> relative;
  for (std::int64_t i = 0; i < x.size(); ++i)
    relative.push_back(all.radius[i] == 0 ? 0
                                          : div_up(all.radius[i], sub_down(std::fabs(x[i]), all.radius[i])));
  for (double& value : relative)
    if (!(value >= 0)) value = std::numeric_limits<double>::infinity();
  all.median_relative = median(relative);
}

solution_proof unproved(const std::string& reason) {
  solution_proof none;
  none.reason = reason;
  return none;
}

solution_proof about_given(view<const double> given, view<const double> improved, const solution_proof& proved,
                           double relative) {
  const ieee_environment here;
  solution_proof result;
  result.reason = proved.reason;
  result.verified = result.reached = proved.verified;
  result.digits = proved.digits;  // where there is no column
  for (std::int64_t first = 0; proved.verified && first < given.size(); first += proved.rows) {
    error_bound column = about_column(given, improved, proved, first);
    column.method = proved.method;
    column.condition_estimate = proved.condition_estimate;
    judge(column, relative);
    add_column(result, column, first == 0);
  }
  result.method = proved.method;
  result.rows = proved.rows;
  result.refinements = proved.refinements;
  result.seconds = proved.seconds;
  return result;
}

}  // namespace vouch
