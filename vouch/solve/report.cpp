#include <bit>
#include <limits>

#include <vouch/solve/report.hpp>

namespace vouch {

const char* name(solve_status status) {
  switch (status) {
    case solve_status::converged:
      return "converged";
    case solve_status::fixed:
      return "fixed";
    case solve_status::stopped:
      return "stopped";
    case solve_status::max_iterations:
      return "max_iterations";
    case solve_status::stagnated:
      return "stagnated";
    case solve_status::diverged:
      return "diverged";
    case solve_status::breakdown:
      return "breakdown";
    case solve_status::not_spd:
      return "not_spd";
    case solve_status::interrupted:
      return "interrupted";
  }
  return "unknown";
}

bool has_solution(solve_status status) {
  return status != solve_status::diverged && status != solve_status::breakdown &&
         status != solve_status::not_spd;
}

bool goal_reached(solve_status status) {
  return status == solve_status::converged || status == solve_status::fixed || status == solve_status::stopped;
}

namespace {
double over(double residual, double rhs_norm) {
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
