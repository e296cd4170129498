#include <vouch/price/finite_difference/enclosed_steps.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

#include <vouch/core/double_double.hpp>
#include <vouch/core/simd.hpp>
#include <vouch/interval/functions.hpp>
#include <vouch/interval/rounding.hpp>

namespace vouch {
namespace {

constexpr double infinite = std::numeric_limits<double>::infinity();

using fd::difference, fd::pair, fd::product;

// right[i] := the residual of V', rounded; loss[i] >= what that and the arithmetic of pairs lose: 2^-100 of the
// sum of magnitudes, where 3 u^2 a sum, 8 u^2 a product and three sums of the four terms make 20 u^2.
template <bool Balanced>
VOUCH_SIMD_INLINE void residual_of_values(const step_rows& r, double* right, double* loss) {
  const auto sum = [&](std::size_t j) {
    return Balanced ? two_sum(r.next_value[j], r.value[j]) : pair{r.next_value[j], 0};
  };
  for (std::size_t i = 1; i + 1 < r.n; ++i) {
    const pair here = sum(i);
    const pair below = product({r.lower_hi[i], r.lower_lo[i]}, difference(sum(i - 1), here));
    const pair above = product({r.upper_hi[i], r.upper_lo[i]}, difference(sum(i + 1), here));
    const pair discounted = product(r.discount, here);
    const pair change = two_sum(r.value[i], -r.next_value[i]);
    const pair total = difference((change + below) + above, discounted);
    const double size =
        std::fabs(change.hi) + std::fabs(below.hi) + std::fabs(above.hi) + std::fabs(discounted.hi);
    right[i] = total.hi;
    loss[i] = std::fabs(total.lo) + 0x1p-100 * size;
  }
}

// loss[i] >= the residual of V' + E'. E is small, so that plain arithmetic does: 9 roundings, 2^-49 covers
// them. Of nodes that are exercised only the part counts by which A V' falls below the right-hand side.
template <bool Balanced, bool Above>
VOUCH_SIMD_INLINE void residual_of_rest(const step_rows& r, const double* right, double* loss) {
  const auto sum = [&](std::size_t j) { return Balanced ? r.next_rest[j] + r.rest[j] : r.next_rest[j]; };
  const auto size_of = [&](std::size_t j) {
    return Balanced ? std::fabs(r.next_rest[j]) + std::fabs(r.rest[j]) : std::fabs(r.next_rest[j]);
  };
  for (std::size_t i = 1; i + 1 < r.n; ++i) {
    const double here = sum(i), lower = r.lower_hi[i], upper = r.upper_hi[i], discount = r.discount.hi;
    const double left = right[i] + ((r.rest[i] - r.next_rest[i]) + lower * (sum(i - 1) - here) +
                                    upper * (sum(i + 1) - here) - discount * here);
    const double size = std::fabs(right[i]) + std::fabs(r.rest[i]) + std::fabs(r.next_rest[i]) +
                        lower * (size_of(i - 1) + size_of(i)) + upper * (size_of(i + 1) + size_of(i)) +
                        std::fabs(discount) * size_of(i);
    const double slack = (loss[i] + 0x1p-49 * size) * (1 + 0x1p-40);
    const double counts = Above && r.exercised[i] != 0 ? std::max(left, -slack) : std::fabs(left);
    loss[i] = (counts + slack) * (1 + 0x1p-40) + 0x1p-900;
  }
}

VOUCH_SIMD_CLONES void values_balanced(const step_rows& r, double* right, double* loss) {
  residual_of_values<true>(r, right, loss);
}
VOUCH_SIMD_CLONES void values_implicit(const step_rows& r, double* right, double* loss) {
  residual_of_values<false>(r, right, loss);
}
VOUCH_SIMD_CLONES void rest_balanced(const step_rows& r, const double* right, double* loss) {
  residual_of_rest<true, false>(r, right, loss);
}
VOUCH_SIMD_CLONES void rest_implicit(const step_rows& r, const double* right, double* loss) {
  residual_of_rest<false, false>(r, right, loss);
}
VOUCH_SIMD_CLONES void rest_balanced_above(const step_rows& r, const double* right, double* loss) {
  residual_of_rest<true, true>(r, right, loss);
}
VOUCH_SIMD_CLONES void rest_implicit_above(const step_rows& r, const double* right, double* loss) {
  residual_of_rest<false, true>(r, right, loss);
}

}  // namespace

enclosed_steps::enclosed_steps(std::vector<double> values, std::size_t near, const std::vector<double>* floor)
    : n_(values.size()),
      near_(std::clamp<std::size_t>(near, 1, n_ - 2)),
      floor_(floor),
      value_(std::move(values)) {
  for (auto* v : {&rest_, &next_value_, &next_rest_, &right_, &loss_, &lower_.hi, &lower_.lo, &upper_.hi,
                  &upper_.lo, &inverse_, &forth_, &back_, &share_})
    v->assign(n_, 0.0);
  if (floor_ != nullptr) exercised_.assign(n_, 1);
  if (!are_moderate(value_)) lose();
}

// Numbers for which none of the bounds above can be spoilt by underflow or overflow.
bool enclosed_steps::are_moderate(const std::vector<double>& v) {
  return std::all_of(v.begin(), v.end(), [](double x) { return std::fabs(x) <= 0x1p100; });
}

void enclosed_steps::lose() { in_max_ = in_weighted_ = infinite; }

// What is exact stays so, however much it might have grown.
double enclosed_steps::scaled(double bound, double growth) { return bound == 0 ? 0 : mul_up(bound, growth); }

void enclosed_steps::factor(const fd_operator& L, double implicit) {
  const bool same = L.lower == L_.lower && L.upper == L_.upper;
  fd_weights weights = same ? weights_ : make_weights(L, near_);
  const double plain = scaled(plain_weighted(), same ? 1 : heavier(weights));
  const double direct = scaled(in_weighted_, energy_growth(L, implicit, weights));
  weights_ = std::move(weights);
  L_ = L;
  implicit_ = implicit;
  discount_ = two_prod(implicit, L.rate);
  const double least = add_down(1.0, mul_down(implicit, L.rate));
  inverse_norm_ = least > 0 ? div_up(1.0, least) : infinite;
  largest_ = 0;
  double upper_before = 0;
  bool fine = implicit > 0;
  for (std::size_t i = 1; i + 1 < n_; ++i) {
    fine &= L.lower[i] >= 0 && L.upper[i] >= 0;
    const pair a = two_prod(implicit, L.lower[i]), c = two_prod(implicit, L.upper[i]);
    lower_.hi[i] = a.hi;
    lower_.lo[i] = a.lo;
    upper_.hi[i] = c.hi;
    upper_.lo[i] = c.lo;
    inverse_[i] = 1 / (1 + a.hi + c.hi + discount_.hi - a.hi * upper_before);
    forth_[i] = a.hi * inverse_[i];
    back_[i] = upper_before = c.hi * inverse_[i];
    largest_ = std::max(largest_, mul_up(implicit, add_up(L.lower[i], L.upper[i])));
  }
  in_weighted_ = plain;
  enter_energy();
  if (floor_ != nullptr) in_weighted_ = std::min(in_weighted_, direct);
  if (!weights_.exist()) in_weighted_ = infinite;
  if (!fine || !(largest_ <= 0x1p100)) lose();
  exchange();
}

// What the plain second norm grows by at most as these weights take the place of the present ones.
double enclosed_steps::heavier(const fd_weights& weights) const {
  if (!weights_.exist() || !weights.exist()) return infinite;
  double most = 0;
  for (std::size_t i = 1; i + 1 < n_; ++i) most = std::max(most, div_up(weights.up[i], weights_.down[i]));
  return most;
}

// What the energy norm grows by at most as these take the place of the present A and weights. Its square is the
// sum of w_i^2 (1 + m r) x_i^2 and of m w_i^2 c_i (x_{i+1} - x_i)^2, likewise at the ends: the largest quotient
// of two such coefficients.
double enclosed_steps::energy_growth(const fd_operator& L, double implicit, const fd_weights& weights) const {
  if (floor_ == nullptr || !weights_.exist() || !weights.exist() || !(inverse_norm_ < infinite))
    return infinite;
  const auto quotient = [&](double now, double before) {
    if (now == 0) return 0.0;
    const double q = div_up(mul_up(implicit, now), mul_down(implicit_, before));
    return q >= 0 ? q : infinite;
  };
  const double of_masses = mul_up(std::max(add_up(1.0, mul_up(implicit, L.rate)), 0.0), inverse_norm_);
  double most = 0;
  for (std::size_t i = 1; i + 1 < n_; ++i) {
    const double weight = div_up(weights.up[i], weights_.down[i]);
    double most_here = std::max(of_masses, quotient(L.upper[i], L_.upper[i]));
    if (i == 1) most_here = std::max(most_here, quotient(L.lower[i], L_.lower[i]));
    most = std::max(most, mul_up(most_here, mul_up(weight, weight)));
  }
  return sqrt_up(most);
}

// (I - implicit L) x = x, the ends given.
void enclosed_steps::solve(std::vector<double>& x) const {
  for (std::size_t i = 1; i + 1 < n_; ++i) x[i] = inverse_[i] * x[i] + forth_[i] * x[i - 1];
  for (std::size_t i = n_ - 2; i > 0; --i) x[i] += back_[i] * x[i + 1];
}

// The ends of what a step solves for: V', or the mean of V and V' where `balanced`.
void enclosed_steps::take_ends(bool balanced, double first, double last) {
  const double share = balanced ? 0.5 : 1;
  next_value_.front() = value_.front() + share * (first - value_.front());
  next_value_.back() = value_.back() + share * (last - value_.back());
}

void enclosed_steps::find_residual_of_values(bool balanced) {
  (balanced ? values_balanced : values_implicit)(rows(), right_.data(), loss_.data());
}

void enclosed_steps::find_residual_of_rest(bool balanced) {
  const auto find = floor_ != nullptr ? (balanced ? rest_balanced_above : rest_implicit_above)
                                      : (balanced ? rest_balanced : rest_implicit);
  find(rows(), right_.data(), loss_.data());
}

step_rows enclosed_steps::rows() const {
  return {n_,
          lower_.hi.data(),
          lower_.lo.data(),
          upper_.hi.data(),
          upper_.lo.data(),
          discount_,
          value_.data(),
          next_value_.data(),
          rest_.data(),
          next_rest_.data(),
          exercised_.data()};
}

void enclosed_steps::set_ends(double first, double last, const end_offs& off) {
  value_.front() = first;
  value_.back() = last;
  off_ = off;
}

// What is not known of the values at the ends is missing in the rows beside them.
void enclosed_steps::miss_at_ends(bool balanced, const end_offs& off) {
  const auto missing = [&](double hi, double lo, double now, double before) {
    return mul_up(add_up(hi, std::fabs(lo)), balanced ? add_up(now, before) : now);
  };
  loss_[1] = add_up(loss_[1], missing(lower_.hi[1], lower_.lo[1], off.first, off_.first));
  loss_[n_ - 2] = add_up(loss_[n_ - 2], missing(upper_.hi[n_ - 2], upper_.lo[n_ - 2], off.last, off_.last));
  off_ = off;
}

void enclosed_steps::advance(bool balanced, double first, double last, const end_offs& off) {
  if (floor_ != nullptr) {
    step_above(balanced, first, last);
  } else {
    next_value_ = value_;
    take_ends(balanced, first, last);
    solve(next_value_);
    if (balanced)
      for (std::size_t i = 1; i + 1 < n_; ++i) next_value_[i] = 2 * next_value_[i] - value_[i];
    next_value_.front() = first;
    next_value_.back() = last;
    find_residual_of_values(balanced);
    const double copies = balanced ? 2 : 1;
    for (std::size_t i = 1; i + 1 < n_; ++i) next_rest_[i] = copies * rest_[i] + right_[i];
    solve(next_rest_);
    if (balanced)
      for (std::size_t i = 1; i + 1 < n_; ++i) next_rest_[i] -= rest_[i];
  }
  find_residual_of_rest(balanced);
  miss_at_ends(balanced, off);
  if (!are_moderate(next_value_) || !are_moderate(next_rest_)) lose();
  grow(balanced);
  value_.swap(next_value_);
  rest_.swap(next_rest_);
}

// The bounds after a step with residuals up to loss_: |A^-1 B| |e| + |A^-1| loss, in both norms. The energy
// norm of A^-1 loss is at most the root of |A^-1| times its plain norm.
void enclosed_steps::grow(bool balanced) {
  const double inverse = inverse_norm_;
  if (!(inverse < infinite)) return lose();
  double by_max = inverse, by_weighted = inverse;
  if (balanced) {
    const interval<double> kept = interval<double>::unchecked(sub_down(1.0, mul_up(implicit_, L_.rate)),
                                                              sub_up(1.0, mul_down(implicit_, L_.rate)));
    const auto size = [](double lo, double hi) { return std::max(std::fabs(lo), std::fabs(hi)); };
    const double alone = size(kept.lo(), kept.hi());
    const double beside = add_up(size(sub_down(kept.lo(), largest_), sub_up(kept.hi(), largest_)), largest_);
    by_max = mul_up(inverse, std::max(alone, beside));
    by_weighted = std::max(1.0, mul_up(inverse, alone));
  }
  const norms lost = norms_of_loss();
  in_max_ = add_up(mul_up(by_max, in_max_), mul_up(inverse, lost.in_max));
  const double of_loss = floor_ != nullptr ? sqrt_up(inverse) : inverse;
  in_weighted_ = add_up(mul_up(by_weighted, in_weighted_), mul_up(of_loss, lost.in_weighted));
  exchange();
}

// Each norm bounds the other.
void enclosed_steps::exchange() {
  if (!weights_.exist()) return;
  in_max_ = std::min(in_max_, div_up(plain_weighted(), weights_.lightest));
  in_weighted_ = std::min(in_weighted_, mul_up(energy_of_plain(), mul_up(weights_.of_all, in_max_)));
}

// The eigenvalues of A are at least 1 / inverse_norm_ and, by Gershgorin, at most 1 + implicit rate + 2
// largest_.
double enclosed_steps::energy_of_plain() const {
  if (floor_ == nullptr) return 1;
  return sqrt_up(add_up(add_up(1.0, std::max(mul_up(implicit_, L_.rate), 0.0)), 2 * largest_));
}

double enclosed_steps::plain_weighted() const {
  if (floor_ == nullptr || in_weighted_ == 0) return in_weighted_;
  return mul_up(in_weighted_, sqrt_up(inverse_norm_));
}

void enclosed_steps::leave_energy() { in_weighted_ = plain_weighted(); }

void enclosed_steps::enter_energy() { in_weighted_ = scaled(in_weighted_, energy_of_plain()); }

enclosed_steps::norms enclosed_steps::norms_of_loss() const {
  double largest = 0;
  bool known = true;
  for (std::size_t i = 1; i + 1 < n_; ++i) {
    known &= loss_[i] <= 1e140;  // NaN is not
    largest = std::max(largest, loss_[i]);
  }
  if (!known) return {infinite, infinite};
  return {largest, weights_.exist() ? weights_.norm(loss_) : infinite};
}

interval<double> enclosed_steps::at(std::size_t node) const {
  if (node == 0 || node + 1 == n_) {
    const double off = node == 0 ? off_.first : off_.last;
    return interval<double>::unchecked(sub_down(value_[node], off), add_up(value_[node], off));
  }
  double distance = in_max_;
  if (weights_.exist()) distance = std::min(distance, div_up(plain_weighted(), weights_.down[node]));
  if (!(distance < infinite)) return interval<double>::entire();
  return interval<double>::unchecked(add_down(value_[node], sub_down(rest_[node], distance)),
                                     add_up(value_[node], add_up(rest_[node], distance)));
}

// Early exercise: any values will do that are the floor's or above it, for what they miss of the complementarity
// problem is counted; policy iteration finds good ones.
namespace {

// In steps that are long for their grid policies move the exercise boundary by a node at a time.
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

fd_weights make_weights(const fd_operator& L, std::size_t near) {
  const std::size_t n = L.lower.size();
  fd_weights w{std::vector<double>(n, 0.0), std::vector<double>(n, 0.0), infinite, 0};
  w.up[near] = w.down[near] = 1;
  const auto next = [&](std::size_t from, std::size_t to, double more, double less) {
    w.up[to] = div_up(mul_up(w.up[from], more), less);
    w.down[to] = div_down(mul_down(w.down[from], more), less);
  };
  for (std::size_t i = near; i + 2 < n; ++i) next(i, i + 1, L.upper[i], L.lower[i + 1]);
  for (std::size_t i = near; i > 1; --i) next(i, i - 1, L.lower[i], L.upper[i - 1]);
  double squares = 0;
  bool fine = true;
  for (std::size_t i = 1; i + 1 < n; ++i) {
    squares = add_up(squares, w.up[i]);
    w.up[i] = sqrt_up(w.up[i]);
    w.down[i] = sqrt_down(w.down[i]);
    fine &= w.down[i] > 0x1p-400 && w.up[i] < 0x1p400;  // NaN is not
    w.lightest = std::min(w.lightest, w.down[i]);
  }
  if (!fine) return {};
  w.of_all = sqrt_up(squares);
  return w;
}

double fd_weights::norm(const std::vector<double>& sizes) const {
  constexpr double tiny = 1e-150;  // whose square is a normal number
  double squares[8] = {};
  bool known = true;
  for (std::size_t i = 1; i + 1 < sizes.size(); ++i) {
    known &= sizes[i] <= 1e140;
    const double part = std::max(up[i] * sizes[i], tiny);
    squares[i % 8] += part * part;
  }
  if (!known) return infinite;
  double sum = 0;
  for (const double s : squares) sum += s;
  // Every term passed fewer than 2^22 roundings.
  return sqrt_up(mul_up(sum, 1 + 0x1p-29));
}

}  // namespace vouch
