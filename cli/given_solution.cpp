#include "given_solution.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include <vouch/interval/rounding.hpp>
#include <vouch/verify/bound_text.hpp>
#include <vouch/verify/error_bound.hpp>

namespace vouch::cli {
namespace {

// Elements first to first + proved.rows - 1: a column.
error_bound about_column(const array<double>& given, const array<double>& improved, const verification& proved,
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
  const auto middle = relative.begin() + static_cast<std::ptrdiff_t>(relative.size() / 2);
  std::nth_element(relative.begin(), middle, relative.end());
  column.median_relative = *middle;
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

verification about_given(const verification_request& request, const array<double>& given,
                         const array<double>& improved, const verification& proved) {
  verification result;
  result.reason = proved.reason;
  result.verified = result.reached = proved.verified;
  result.digits = proved.digits;  // where there is no column
  for (std::int64_t first = 0; proved.verified && first < given.size(); first += proved.rows) {
    error_bound column = about_column(given, improved, proved, first);
    column.method = proved.method;
    column.condition_estimate = proved.condition_estimate;
    judge(column, request.relative());
    add_column(result, column, first == 0);
  }
  result.method = proved.method;
  result.rows = proved.rows;
  result.refinements = proved.refinements;
  result.seconds = proved.seconds;
  return result;
}

}  // namespace vouch::cli
