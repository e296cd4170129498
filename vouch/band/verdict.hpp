// vouch/band/verdict.hpp -- what residuals and eliminations of a batch amount to; private.
#pragma once
#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include <vouch/band/band_rows.hpp>
#include <vouch/band/elimination.hpp>
#include <vouch/band/solve.hpp>
#include <vouch/core/device_group.hpp>
#include <vouch/core/underflow.hpp>

namespace vouch::detail {

/// What a solve in mixed precision says that went on in double.
inline constexpr const char* single_does_not_suffice =
    "single precision inside does not suffice for this matrix, double was used";

/// The evidence on every system of a batch.
struct judgement {
  std::vector<band_residual_facts> residuals;
  std::vector<elimination_facts> eliminations;
  double rtol = 0, atol = 0, unit = 0;
  double rows = 0;  // of a system

  // ||b - A x||_2, with what underflow may hide.
  double norm(std::size_t s) const {
    const double computed = residuals[s].residual.value();
    return computed + lost_to_underflow(unit, computed, residuals[s].x_inf, residuals[s].rhs.value(), 4 * rows);
  }
  bool converged(std::size_t s) const {
    const double norm = this->norm(s);
    return norm <= std::max(rtol * residuals[s].rhs.value(), atol) && !(eliminations[s].broken && norm != 0);
  }
  // Numbers so far from 1 that the solution of a regular system may have no place in the range.
  bool may_overflow(std::size_t s) const {
    const double most = unit > std::numeric_limits<double>::epsilon() ? std::numeric_limits<float>::max()
                                                                      : std::numeric_limits<double>::max();
    return residuals[s].rhs_inf > std::sqrt(most) || residuals[s].matrix_inf < 1 / std::sqrt(most);
  }
  // Those with a right-hand side of zeros that elimination has not solved: their matrices are singular.
  std::vector<unsigned char> with_solution_zero() const {
    std::vector<unsigned char> those(residuals.size());
    for (std::size_t s = 0; s < residuals.size(); ++s)
      those[s] = residuals[s].rhs_inf == 0 && residuals[s].residual.value() != 0;
    return those;
  }
  // Those that miss the tolerance, and whose backward error is above that of elimination without growth: they
  // are corrected once, whatever the tolerance. What is no number is beyond correction.
  std::vector<unsigned char> to_correct() const {
    std::vector<unsigned char> those(residuals.size());
    for (std::size_t s = 0; s < residuals.size(); ++s)
      those[s] = std::isfinite(relative(s)) &&
                 (!converged(s) || (!eliminations[s].broken && residuals[s].backward_error() > 4 * unit));
    return those;
  }
  // After a correction: those of them that still miss the tolerance and have come nearer to it.
  void keep_correcting(const std::vector<band_residual_facts>& before,
                       std::vector<unsigned char>& those) const {
    for (std::size_t s = 0; s < residuals.size(); ++s)
      those[s] =
          those[s] != 0 && !converged(s) && residuals[s].residual.value() <= before[s].residual.value() / 2;
  }
  double relative(std::size_t s) const {
    const double norm = this->norm(s), rhs = residuals[s].rhs.value();
    return norm == 0 ? 0 : rhs > 0 ? norm / rhs : std::numeric_limits<double>::infinity();
  }
};

/// solve(), which leaves what options.check finds of every system in found.
template <real T>
tridiagonal_report solve_and_judge(const device& dev, const tridiagonal_view<const T>& A,
                                   const batch_view<const T>& b, const batch_view<T>& x,
                                   const tridiagonal_options& options, judgement& found);

/// The same by a group of devices: A, b and x live on the host, and a solve without workspace is that of
/// solve.hpp.
template <real T>
tridiagonal_report solve_and_judge(const device_group& devices, const tridiagonal_view<const T>& A,
                                   const batch_view<const T>& b, const batch_view<T>& x,
                                   const tridiagonal_options& options, judgement& found);

/// Throws  shape_error, value_error  operands of a solve that do not fit together; elements of x upon each other
void require_shapes(const batch_shape& A, const batch_shape& b, const batch_shape& x);

/// Throws  value_error  a right-hand side, which lives on dev, has a NaN or infinity as found says: the text names it
template <real T>
void require_finite(const device& dev, const batch_view<const T>& b, const judgement& found);

/// Fills status, reason, the worst system's figures and the list of those that missed.
void report_systems(const judgement& found, tridiagonal_report& report);
/// Fills growth, and warns of much of it.
void report_growth(const judgement& found, tridiagonal_method method, tridiagonal_report& report);

}  // namespace vouch::detail
