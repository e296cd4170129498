// Enclosed steps under early exercise: any values will do that are the floor's or above it, for what they miss
// of the complementarity problem is counted; policy iteration finds good ones.
#include <algorithm>
#include <cmath>

#include <vouch/core/double_double.hpp>
#include <vouch/interval/rounding.hpp>
#include <vouch/price/finite_difference/enclosed_steps.hpp>

namespace vouch {
namespace {

// In steps that are long for their grid policies move the border of exercise by a node at a time.
constexpr int most_policies = 2000, most_lifts = 4;

}  // namespace

// (I - implicit L) x = x in the rows that are not exercised, the others and the ends given.
void enclosed_steps::solve_between(std::vector<double>& x) {
  share_.front() = 0;
  for (std::size_t i = 1; i + 1 < n_; ++i) {
    share_[i] = 0;
    if (exercised_[i] != 0) continue;
    const double a = lower_.hi[i], c = upper_.hi[i];
    const double inverse = 1 / (1 + a + c + discount_.hi - a * share_[i - 1]);
    x[i] = inverse * (x[i] + a * x[i - 1]);
    share_[i] = c * inverse;
  }
  for (std::size_t i = n_ - 2; i > 0; --i) x[i] += share_[i] * x[i + 1];
}

// Of V' itself or, where `balanced`, of the mean of V and V', which is what is solved for.
double enclosed_steps::floor_of_mean(bool balanced, std::size_t i) const {
  return balanced ? 0.5 * ((*floor_)[i] + value_[i]) : (*floor_)[i];
}

// Changes what is exercised where next_value_ says otherwise, rounding apart; false where nothing changes.
bool enclosed_steps::revise_exercise(bool balanced) {
  const std::vector<double>& w = next_value_;
  bool changed = false;
  for (std::size_t i = 1; i + 1 < n_; ++i) {
    if (exercised_[i] == 0) {
      if (!(w[i] < floor_of_mean(balanced, i))) continue;
    } else {
      const double below = lower_.hi[i] * (w[i] - w[i - 1]), above = upper_.hi[i] * (w[i] - w[i + 1]),
                   discounted = discount_.hi * w[i], left = (w[i] - value_[i]) + below + above + discounted;
      const double size = std::fabs(w[i]) + std::fabs(below) + std::fabs(above) + std::fabs(discounted);
      if (!(left < -0x1p-50 * size)) continue;
    }
    exercised_[i] = exercised_[i] == 0 ? 1 : 0;
    changed = true;
  }
  return changed;
}

// E' from the residual of V'; 0 where V' is the floor.
void enclosed_steps::correct_between(bool balanced) {
  const double copies = balanced ? 2 : 1;
  for (std::size_t i = 1; i + 1 < n_; ++i)
    next_rest_[i] = exercised_[i] == 0 ? copies * rest_[i] + right_[i] : balanced ? rest_[i] : 0;
  solve_between(next_rest_);
  if (balanced)
    for (std::size_t i = 1; i + 1 < n_; ++i) next_rest_[i] -= rest_[i];
}

// Lets go to the floor what does not surely lie above it; true where there was such a node.
bool enclosed_steps::lift() {
  bool lifted = false;
  for (std::size_t i = 1; i + 1 < n_; ++i) {
    if (exercised_[i] != 0) continue;
    const double_double<double> over = two_sum((*floor_)[i], -next_value_[i]);
    if (sub_down(next_rest_[i], over.hi) >= std::fabs(over.lo)) continue;
    exercised_[i] = 1;
    next_value_[i] = (*floor_)[i];
    next_rest_[i] = 0;
    lifted = true;
  }
  return lifted;
}

// V' + E' respects the floor, and is the floor where exercised_ says so; right_ belongs to V'.
void enclosed_steps::step_above(bool balanced, double first, double last) {
  for (int policy = 0; policy < most_policies; ++policy) {
    for (std::size_t i = 1; i + 1 < n_; ++i)
      next_value_[i] = exercised_[i] != 0 ? floor_of_mean(balanced, i) : value_[i];
    take_ends(balanced, first, last);
    solve_between(next_value_);
    if (!revise_exercise(balanced)) break;
  }
  for (std::size_t i = 1; i + 1 < n_; ++i)
    if (exercised_[i] != 0)
      next_value_[i] = (*floor_)[i];
    else if (balanced)
      next_value_[i] = 2 * next_value_[i] - value_[i];
  next_value_.front() = first;
  next_value_.back() = last;
  bool lifted = true;
  for (int k = 0; k < most_lifts && lifted; ++k) {
    find_residual_of_values(balanced);
    correct_between(balanced);
    lifted = lift();
  }
  if (lifted) find_residual_of_values(balanced);
}

}  // namespace vouch
