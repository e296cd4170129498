#include <vouch/price/finite_difference/policy.hpp>

#include <algorithm>

namespace vouch {
namespace {

// The change of one step where `exercised` nodes go to their obstacle; by Thomas's algorithm.
void solve(const fd_operator& L, double implicit, const std::vector<double>& rhs,
           const std::vector<double>& floor, const std::vector<char>& exercised, std::vector<double>& upper,
           std::vector<double>& change) {
  const std::size_t n = rhs.size();
  upper[0] = 0;
  change[0] = rhs[0];
  for (std::size_t i = 1; i < n; ++i) {
    if (i + 1 == n || exercised[i]) {
      upper[i] = 0;
      change[i] = i + 1 == n ? rhs[i] : floor[i];
      continue;
    }
    const double a = -implicit * L.lower[i], c = -implicit * L.upper[i];
    const double pivot = 1 + implicit * (L.lower[i] + L.upper[i] + L.rate) - a * upper[i - 1];
    upper[i] = c / pivot;
    change[i] = (rhs[i] - a * change[i - 1]) / pivot;
  }
  for (std::size_t i = n - 1; i-- > 0;) change[i] -= upper[i] * change[i + 1];
}

}  // namespace

bool needs_policy(const contract& c) {
  const plain_option& o = c.plain;
  if (o.payoff != payoff_kind::vanilla) return true;
  // Near a barrier one waits for a rebate that pays more than exercise.
  const bool waits = !is_in(o.barrier) && o.barrier != barrier_kind::none && o.rebate > 0 &&
                     is_up(o.barrier) == (o.type == option_type::call);
  if (waits && o.rebate > payoff_at(o, o.barrier_level)) return true;
  const auto negative = [](const curve_step& s) { return s.value < 0; };
  const bool some = c.rates.empty() ? o.rate < 0 : std::any_of(c.rates.begin(), c.rates.end(), negative),
             all = c.rates.empty() ? some : std::all_of(c.rates.begin(), c.rates.end(), negative);
  // A value convex in the spot meets the payoff in an interval. It ends at spot 0, or never for a call, where
  // waiting for ever costs; with a gain both from waiting there and from exercise it does not.
  if (o.type == option_type::call) return some && o.dividend < 0;
  return some && !(all && o.dividend >= 0);
}

void policy_step(const fd_operator& L, double length, double implicit, const std::vector<double>& obstacle,
                 double first, double last, std::vector<double>& values) {
  const std::size_t n = values.size();
  std::vector<double> rhs(n), floor(n), upper(n), change(n);
  std::vector<char> exercised(n, 0);
  rhs[0] = first;
  rhs[n - 1] = last;
  for (std::size_t i = 1; i + 1 < n; ++i) {
    rhs[i] = length * (L.lower[i] * (values[i - 1] - values[i]) + L.upper[i] * (values[i + 1] - values[i]) -
                       L.rate * values[i]);
    floor[i] = obstacle[i] - values[i];
    exercised[i] = floor[i] >= 0;  // a good start: what was exercised before
  }
  for (std::size_t iteration = 0; iteration < n; ++iteration) {
    solve(L, implicit, rhs, floor, exercised, upper, change);
    bool same = true;
    for (std::size_t i = 1; i + 1 < n; ++i) {
      // Of the two equations the one with the smaller residual holds.
      const double free = change[i] +
                          implicit * (L.lower[i] * (change[i] - change[i - 1]) +
                                      L.upper[i] * (change[i] - change[i + 1]) + L.rate * change[i]) -
                          rhs[i];
      const bool now = exercised[i] ? free >= 0 : change[i] - floor[i] < 0;
      same &= now == static_cast<bool>(exercised[i]);
      exercised[i] = now;
    }
    if (same) break;
  }
  for (std::size_t i = 0; i < n; ++i) values[i] += change[i];
}

}  // namespace vouch
