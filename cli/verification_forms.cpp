#include "verification_forms.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include <vouch/interval/rounding.hpp>
#include <vouch/verify/bound_text.hpp>
#include <vouch/verify/tridiagonal_bound.hpp>

#include "solve_system.hpp"

namespace vouch::cli {
namespace {

// Without a wish, x is improved once its error may be larger than this part of its largest component.
constexpr double acceptable = 1e-6;

double largest(const array<double>& x) {
  double size = 0;
  for (std::int64_t i = 0; i < x.size(); ++i) size = std::max(size, std::fabs(x[i]));
  return size;
}

bool is_tridiagonal(csr_view<const double> A) {
  for (std::int64_t i = 0; i < A.rows; ++i)
    for (std::int64_t k = A.row_ptr[i]; k < A.row_ptr[i + 1]; ++k)
      if (A.col[k] < i - 1 || A.col[k] > i + 1) return false;
  return A.rows == A.cols;
}

}  // namespace

void take_batch(verification& all, const tridiagonal_bound& bound, const array<double>& x) {
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
  const auto middle = relative.begin() + static_cast<std::ptrdiff_t>(relative.size() / 2);
  std::nth_element(relative.begin(), middle, relative.end());
  all.median_relative = relative.empty() ? 0 : *middle;
}

bool verify_tridiagonal(const verification_request& request, const device& cpu, const device& dev,
                        const linear_system& system, array<double>& x, verification& all) {
  const std::int64_t n = system.rows();
  if (n == 0 || request.has_radii_of_entries() || !is_tridiagonal(system.A.all())) return false;
  array<double> diagonals[3];
  for (array<double>& diagonal : diagonals) diagonal = array<double>::zeros(cpu, n);
  for (std::int64_t i = 0; i < n; ++i)
    for (std::int64_t k = system.A.row_ptr[i]; k < system.A.row_ptr[i + 1]; ++k)
      diagonals[system.A.col[k] - i + 1][i] = system.A.val[k];
  for (array<double>& diagonal : diagonals) diagonal = diagonal.to(dev);
  const array<double> b = system.b.to(dev);
  array<double> improved = x.to(dev), radius(dev, x.size());
  const batch_shape one = contiguous(n), shape = contiguous(n, system.columns);
  const auto bound_to = [&](double relative) {
    return bound_error(dev, {diagonals[0].data(), diagonals[1].data(), diagonals[2].data(), one},
                       {b.data(), shape}, {improved.data(), shape}, {radius.data(), shape},
                       {request.within, relative, 10});
  };
  tridiagonal_bound bound = bound_to(request.relative());
  if (bound.verified && request.relative() == 0 && bound.max_absolute > acceptable * largest(x)) {
    bound = bound_to(acceptable);
    bound.reached = bound.verified;
    bound.reason = vouch::detail::every_component_within(bound.max_absolute);
  }
  if (!bound.verified) return false;
  x = improved.to(cpu);
  all.radius = radius.to(cpu);
  take_batch(all, bound, x);
  return true;
}

}  // namespace vouch::cli
