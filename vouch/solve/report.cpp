#include <bit>
#include <limits>

#include <vouch/core/ieee_environment.hpp>
#include <vouch/solve/report.hpp>

namespace vouch {

namespace {
double over(double residual, double rhs_norm) {
  const ieee_environment here;
  if (residual == 0) return 0;
  return rhs_norm > 0 ? residual / rhs_norm : std::numeric_limits<double>::infinity();
}
}  // namespace

double solve_report::relative_true() const { return over(true_residual, rhs_norm); }
double solve_report::relative_recurrence() const { return over(recurrence_residual, rhs_norm); }

bool history_rule::records(std::int64_t iteration) {
  if (iteration < dense) return true;
  const auto stride = std::int64_t{1} << (std::bit_width(static_cast<std::uint64_t>(iteration / dense)));
  return iteration % stride == 0;
}

}  // namespace vouch
