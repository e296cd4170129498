// vouch/band/verdict.hpp -- what residuals and eliminations of a batch amount to; private.
#pragma once
#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include <vouch/band/band_residual.hpp>
#include <vouch/band/elimination.hpp>
#include <vouch/band/solve.hpp>

namespace vouch::detail {

/// The evidence on every system of a batch.
struct judgement {
  std::vector<band_residual_facts> residuals;
  std::vector<elimination_facts> eliminations;
  double rtol = 0, atol = 0, unit = 0;

  bool converged(std::size_t s) const {
    const double norm = residuals[s].residual.value();
    return norm <= std::max(rtol * residuals[s].rhs.value(), atol) && !(eliminations[s].broken && norm != 0);
  }
  // A backward error above that of elimination without growth is corrected once, whatever the tolerance.
  bool wants_correction(std::size_t s, bool first) const {
    return !converged(s) || (first && !eliminations[s].broken && residuals[s].backward_error() > 4 * unit);
  }
  std::vector<unsigned char> to_correct(bool first) const {
    std::vector<unsigned char> those(residuals.size());
    for (std::size_t s = 0; s < residuals.size(); ++s) those[s] = wants_correction(s, first);
    return those;
  }
  double relative(std::size_t s) const {
    const double norm = residuals[s].residual.value(), rhs = residuals[s].rhs.value();
    return norm == 0 ? 0 : rhs > 0 ? norm / rhs : std::numeric_limits<double>::infinity();
  }
  // The sum over systems of what is missed, to see whether a correction helped; NaN counts as everything.
  double distance() const {
    double worst = 0;
    for (std::size_t s = 0; s < residuals.size(); ++s)
      if (!converged(s)) worst = std::max(worst, std::isnan(relative(s)) ? 1e300 : relative(s));
    return worst;
  }
};

/// Fills status, reason, the worst system's figures and the list of those that missed.
void report_systems(const judgement& found, tridiagonal_report& report);
/// Fills growth, and warns of much of it.
void report_growth(const judgement& found, tridiagonal_method method, tridiagonal_report& report);

}  // namespace vouch::detail
