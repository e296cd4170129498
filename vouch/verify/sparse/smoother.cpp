#include <vouch/verify/sparse/smoother.hpp>

#include <algorithm>
#include <cmath>
#include <utility>

#include <vouch/core/cancellation.hpp>
#include <vouch/core/error.hpp>
#include <vouch/dense/blas1.hpp>
#include <vouch/solve/krylov/bicgstab.hpp>
#include <vouch/solve/loop/checkpoint.hpp>
#include <vouch/solve/loop/plan_operator.hpp>
#include <vouch/verify/elements.hpp>
#include <vouch/verify/pass.hpp>
#include <vouch/verify/rows.hpp>

namespace vouch::detail {
namespace {

// The iteration for other matrices: so much of the residual may stay, after so many steps for one of the
// polynomial.
constexpr double enough = 1e-4;
constexpr int steps_of_iteration = 40;

// From the three-term recurrence of Jacobi polynomials, scaled to be 1 at 1:
// q_(n+1)(t) = alpha t q_n(t) + (1 + beta - alpha) q_n(t) - beta q_(n-1)(t).
float alpha_of(int n) {
  const double k = n;
  return static_cast<float>(2 * (2 * k + 3) * (k + 2) / ((k + 3) * (2 * k + 5)));
}
float beta_of(int n) {
  const double k = n;
  return static_cast<float>(k * (k + 0.5) * (k + 2) / ((k + 1) * (k + 3) * (k + 2.5)));
}

array<float> scaled_values(const device& dev, csr_view<const double> A, const array<double>& scale) {
  array<float> values(dev, A.nonzeros);
  for_rows(dev, A, scaled_body{scale.data(), values.data()});
  return values;
}

}  // namespace

smoother::smoother(const device& dev, csr_view<const double> A, const array<double>& scale, bool positive)
    : device_(dev),
      positive_(positive),
      values_(scaled_values(dev, A, scale)),
      rows_{A.rows, A.cols, A.nonzeros, A.row_ptr, A.col, values_.data()},
      plan_(spmv_plan<float>::make(dev, rows_, positive)) {
  if (has_diagonals()) values_ = {};
}

bool smoother::smooth(view<const interval<double>> residual, const array<double>& scale, int steps,
                      view<double> d) const {
  const std::int64_t n = rows_.rows;
  const double size = largest(device_, n, scale_residual_body{residual.data(), scale.data(), d.data()});
  if (!(size > 0) || !std::isfinite(size)) return false;
  int exponent = 0;
  std::frexp(size, &exponent);
  // Both factors are numbers: size is at least 2^-1074.
  const double down = std::ldexp(1.0, std::min(-exponent, 1000)),
               up = std::ldexp(1.0, -std::min(-exponent, 1000));
  array<float> r(device_, n), z(device_, n);
  for_elements(device_, n, first_step_body{d.data(), down, positive_ ? alpha_of(0) : 0.0F, r.data(), z.data()});
  if (positive_)
    take_polynomial(r, steps, z);
  else if (!iterate(r, steps, z))
    return false;
  for_elements(device_, n, unscale_body{scale.data(), z.data(), up, d.data()});
  return true;
}

bool smoother::iterate(array<float>& r, int steps, array<float>& z) const {
  bicgstab_options options;
  options.rtol = enough;
  options.max_iterations = steps_of_iteration * steps;
  try {
    const checkpoint_scope unsaved;
    bicgstab<float>(device_, plan_operator<float>(plan_), r, z, options);
  } catch (const value_error&) {  // of numbers beyond its range
    return false;
  }
  check_cancellation();
  const float before = nrm2<float>(device_, r);
  plan_.multiply(-1.0F, z, 1.0F, r);
  return nrm2<float>(device_, r) <= before / 2;  // what it says of itself may be wrong
}

void smoother::take_polynomial(const array<float>& r, int steps, array<float>& z) const {
  array<float> other = array<float>::zeros(device_, z.size());
  for (int k = 1; k < steps; ++k) {
    const smoothing_body step{z.data(), other.data(), r.data(), other.data(), alpha_of(k), beta_of(k)};
    if (has_diagonals())
      for_rows(device_, plan_.as_dia(), step);
    else
      for_rows(device_, rows_, step);
    std::swap(z, other);
  }
}

}  // namespace vouch::detail
