// What happens to enclosed values between steps: exercise at a date, and the fall of a cash dividend.
#include <algorithm>
#include <cmath>
#include <limits>

#include <vouch/core/double_double.hpp>
#include <vouch/interval/functions.hpp>
#include <vouch/interval/rounding.hpp>
#include <vouch/price/finite_difference/enclosed_steps.hpp>

namespace vouch {
namespace {

constexpr double infinite = std::numeric_limits<double>::infinity();

}  // namespace

// The larger of two numbers moves no farther than they do, so that only rounding in what is chosen, or might
// have been, adds to the distance.
void enclosed_steps::exercise(const std::vector<double>& floor, double first, double last) {
  for (std::size_t i = 1; i + 1 < n_; ++i) {
    const double_double<double> over = two_sum(floor[i], -value_[i]);
    const double rest = rest_[i],
                 rounding = std::fabs(over.lo) + 0x1p-50 * (std::fabs(rest) + std::fabs(over.hi));
    const bool raised = over.hi > 0;
    const bool close = raised ? rest - over.hi > -rounding : over.hi - rest > -rounding;
    loss_[i] = close ? rounding + 0x1p-900 : 0;
    rest_[i] = raised ? std::max(rest - over.hi, 0.0) : std::max(rest, over.hi);
    if (raised) value_[i] = floor[i];
  }
  value_.front() = first;
  value_.back() = last;
  const norms lost = norms_of_loss();
  leave_energy();
  in_max_ = add_up(in_max_, lost.in_max);
  in_weighted_ = add_up(in_weighted_, lost.in_weighted);
  enter_energy();
  exchange();
}

// Four sums of pairs err by at most 12 u^2 of the terms, for which 2^-100 is taken. The new distances are P
// times the old ones for the matrix P of weights: in the largest value by its largest row sum, in the weighted
// norm, w_i P_ij / w_j being the matrix, by the root of largest row sum times column sum.
void enclosed_steps::mix(const std::vector<mixture>& rows, double first, double last) {
  const bool weighted = weights_.exist();
  double widest = 0, widest_weighted = 0;
  std::vector<double> columns(n_, 0.0);
  for (std::size_t i = 1; i + 1 < n_; ++i) {
    const mixture& row = rows[i];
    double_double<double> sum{row.given, 0};
    interval<double> missing(0.0);
    double sizes = 0, weighted_sizes = 0, terms = 0;
    for (int k = 0; k < row.count; ++k) {
      const std::size_t j = row.first + static_cast<std::size_t>(k);
      const enclosed_weight& weight = row.weight[k];
      const interval<double> near(weight.near), value(value_[j]), rest(rest_[j]);
      const double_double<double> term = two_prod(weight.near, value_[j]);
      sum = sum + term;
      terms = add_up(terms, std::fabs(term.hi));
      missing = missing + near * rest + weight.rest * (value + rest);
      if (j == 0 || j + 1 == n_) continue;  // known exactly
      const double size = mag(near + weight.rest);
      sizes = add_up(sizes, size);
      if (!weighted) continue;
      const double part = mul_up(size, div_up(weights_.up[i], weights_.down[j]));
      weighted_sizes = add_up(weighted_sizes, part);
      columns[j] = add_up(columns[j], part);
    }
    missing = missing + interval<double>(sum.lo);
    next_value_[i] = sum.hi;
    next_rest_[i] = mid(missing);
    loss_[i] = add_up(rad(missing), add_up(mul_up(0x1p-100, terms), 0x1p-900));
    widest = std::max(widest, sizes);
    widest_weighted = std::max(widest_weighted, weighted_sizes);
  }
  leave_energy();
  const norms lost = norms_of_loss();
  const double tallest = *std::max_element(columns.begin(), columns.end());
  in_max_ = add_up(mul_up(widest, in_max_), lost.in_max);
  in_weighted_ = weighted
                     ? add_up(mul_up(sqrt_up(mul_up(widest_weighted, tallest)), in_weighted_), lost.in_weighted)
                     : infinite;
  next_value_.front() = first;
  next_value_.back() = last;
  value_.swap(next_value_);
  rest_.swap(next_rest_);
  if (!are_moderate(value_) || !are_moderate(rest_)) lose();
  enter_energy();
  exchange();
}

}  // namespace vouch
