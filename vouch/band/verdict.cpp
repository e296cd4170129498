#include <algorithm>
#include <cmath>
#include <string>

#include <vouch/band/verdict.hpp>
#include <vouch/core/string_printf.hpp>

namespace vouch::detail {

void report_systems(const judgement& found, tridiagonal_report& report) {
  double worst = -1;
  bool broken = false;
  for (std::size_t s = 0; s < found.residuals.size(); ++s) {
    const double relative = found.relative(s), rank = std::isnan(relative) ? 1e301 : relative;
    if (rank > worst) {
      worst = rank;
      report.worst_system = static_cast<std::int64_t>(s);
      report.true_residual = found.residuals[s].residual.value();
      report.rhs_norm = found.residuals[s].rhs.value();
    }
    const double error = found.residuals[s].backward_error();
    if (!(error <= report.backward_error)) report.backward_error = error;
    if (found.converged(s)) continue;
    ++report.systems_missed;
    if (report.first_missed.size() < 100) report.first_missed.push_back(static_cast<std::int64_t>(s));
    broken = broken || found.eliminations[s].broken || !std::isfinite(relative);
  }
  const bool many = found.residuals.size() > 1;
  const std::int64_t first = report.first_missed.empty() ? 0 : report.first_missed[0];
  const std::string which = many ? "system " + std::to_string(first) : std::string("the matrix");
  if (report.systems_missed == 0) {
    report.status = solve_status::converged;
    report.reason = "the recomputed residual meets the tolerance";
  } else if (broken) {
    report.status = solve_status::breakdown;
    // Where rows dominate, if only weakly, no pivot of a regular matrix is 0.
    const bool singular =
        report.method == "partition" || report.method == "auto" || report.matrix.dominance >= 1;
    report.reason =
        which + (singular ? " is singular to working precision" : " needs interchanges of rows or is singular");
    if (found.may_overflow(static_cast<std::size_t>(first))) report.reason += ", or its solution overflows";
  } else {
    report.status = solve_status::stagnated;
    report.reason = which + " keeps a residual above the tolerance";
  }
}

void report_growth(const judgement& found, tridiagonal_method how, tridiagonal_report& report) {
  double largest = 0;
  for (const elimination_facts& f : found.eliminations) largest = std::max(largest, f.largest);
  const double of = how == tridiagonal_method::partition ? 1.0 : report.matrix.largest;
  report.growth = of > 0 && largest > 0 ? std::max(1.0, largest / of) : 0;
  constexpr double worrying = 1e4;
  if (!(report.growth > worrying) || how == tridiagonal_method::partition) return;
  report.warnings.push_back(string_printf(
      "coefficients grew by %.0e without interchanges of rows; partition keeps them small", report.growth));
}

}  // namespace vouch::detail
