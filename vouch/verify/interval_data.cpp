#include <vouch/verify/interval_data.hpp>

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include <vouch/core/cancellation.hpp>
#include <vouch/core/error.hpp>
#include <vouch/core/ieee_environment.hpp>
#include <vouch/core/require.hpp>
#include <vouch/core/stopwatch.hpp>
#include <vouch/sparse/valid_csr.hpp>
#include <vouch/verify/bound_text.hpp>
#include <vouch/verify/elements.hpp>
#include <vouch/verify/median.hpp>

namespace vouch {
namespace {

using numbers = std::vector<double>;

constexpr int most_steps = 25;

std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

void check_radii(const double* radius, std::int64_t size, const char* whose) {
  for (std::int64_t k = 0; k < size; ++k)
    if (!(radius[k] >= 0) || !std::isfinite(radius[k]))
      throw value_error(std::string("a radius of the ") + whose + " is negative or not finite");
}

// At least start + R t, for t >= 0.
numbers plus_product(const numbers& start, const csr<double>& R, const numbers& t) {
  numbers sum = start;
  for (std::int64_t i = 0; i < R.rows; ++i)
    for (std::int64_t k = R.row_ptr[i]; k < R.row_ptr[i + 1]; ++k)
      if (R.val[k] > 0) sum[at(i)] = add_up(sum[at(i)], mul_up(R.val[k], t[at(R.col[k])]));
  return sum;
}

// |A^-1| s at most, as the proof has it.
numbers times_inverse(const device& dev, certificate& proof, const numbers& s) {
  std::vector<interval<double>> around;
  for (const double size : s)
    around.push_back(std::isfinite(size) ? interval<double>::unchecked(-size, size)
                                         : interval<double>::entire());
  const auto placed = array<interval<double>>::from(dev, around);
  array<double> result(dev, std::ssize(s));
  proof.bound(placed.all(), result.all());
  return result.to_vector();
}

// Every x' of a system within the radii has |x' - x*| <= z wherever |A^-1| (c + R w) <= z < w: then the
// spectral radius of |A^-1| R is below 1, so that all A' are nonsingular, and x' - x* = A^-1 (b' - b - (A' - A)
// x') gives |x' - x*| <= |A^-1| (c + R |x' - x*|) with c = rhs + R |x*|, hence first w and then z. Empty where
// not found.
numbers distance_of_solutions(const device& dev, certificate& proof, const data_radii& radii,
                              const numbers& size_of_x) {
  const numbers c = plus_product(radii.rhs.to_vector(), radii.matrix, size_of_x);
  numbers z = times_inverse(dev, proof, c);
  for (int step = 0; step < most_steps; ++step) {
    check_cancellation();
    numbers w;
    for (const double value : z) w.push_back(1.1 * value + 0x1p-900);
    numbers next = times_inverse(dev, proof, plus_product(c, radii.matrix, w));
    bool inside = true, finite = true;
    for (std::size_t i = 0; i < next.size(); ++i) {
      inside = inside && next[i] < w[i];
      finite = finite && std::isfinite(next[i]);
    }
    if (inside) return next;
    if (!finite) break;
    z = std::move(next);
  }
  return {};
}

// The figures of a bound whose radius has changed.
void judge(const numbers& x, const numbers& radius, double relative, error_bound& bound) {
  const detail::relative_body of{x.data(), radius.data(), nullptr};
  numbers relatives;
  bound.max_absolute = bound.max_relative = bound.median_relative = 0;
  const std::size_t first = at(bound.about.first), count = at(bound.about.size(std::ssize(x)));
  for (std::size_t i = first; i < first + count; ++i) {
    relatives.push_back(of.value(static_cast<std::int64_t>(i)));
    bound.max_absolute = std::max(bound.max_absolute, radius[i]);
    bound.max_relative = std::max(bound.max_relative, relatives.back());
  }
  bound.median_relative = detail::median(std::move(relatives));
  bound.reached = relative == 0 || bound.max_relative <= relative;
  bound.reason = bound.reached ? "every component lies within " + detail::rounded_above(bound.max_absolute) +
                                     " of all exact solutions"
                               : detail::relative_shortfall(bound.max_relative);
}

}  // namespace

void widen_to_data(const device& dev, certificate& proof, const data_radii& radii, view<const double> x,
                   double relative, error_bound& bound) {
  const ieee_environment here;
  const std::int64_t n = x.size();
  if (radii.matrix.rows != n || radii.matrix.cols != n || radii.rhs.size() != n || bound.radius.size() != n)
    throw shape_error("widen_to_data: the radii are not those of this system");
  detail::require_contiguous("widen_to_data", "x", x, n);
  const valid_csr valid("widen_to_data", device::cpu(1), radii.matrix);
  check_radii(radii.matrix.val.data(), radii.matrix.nonzeros(), "matrix");
  check_radii(radii.rhs.data(), n, "right-hand side");
  if (!bound.verified) return;
  proof.require_covers("widen_to_data", bound.matrix, {});
  const stopwatch clock;
  numbers x_here(at(n)), radius = bound.radius.to_vector(), size_of_x;
  copy_bytes(x_here.data(), device::cpu(1), x.data(), dev, x_here.size() * sizeof(double));
  for (std::size_t i = 0; i < radius.size(); ++i) size_of_x.push_back(add_up(std::fabs(x_here[i]), radius[i]));
  const numbers z = distance_of_solutions(dev, proof, radii, size_of_x);
  if (z.size() != radius.size()) {
    bound.verified = bound.reached = false;
    bound.reason = "the radii are too wide: a singular matrix may be within them";
  } else {
    for (std::size_t i = 0; i < radius.size(); ++i) radius[i] = add_up(radius[i], z[i]);
    bound.radius = array<double>::from(dev, radius);
    judge(x_here, radius, relative, bound);
  }
  bound.seconds += clock.seconds();
}

}  // namespace vouch
