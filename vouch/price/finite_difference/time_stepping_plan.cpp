// What the kernel of time_stepping_cuda.cu needs to know of a matrix, and the segments that it runs.
#include <algorithm>
#include <cmath>
#include <limits>

#include <vouch/core/config.hpp>
#include <vouch/price/finite_difference/boundary_condition.hpp>
#include <vouch/price/finite_difference/steps.hpp>
#include <vouch/price/finite_difference/time_stepping_cuda.hpp>

namespace vouch {
namespace {

constexpr int small_team = 4, large_team = 8;         // threads
constexpr int most_small_reach = 8, most_reach = 12;  // teams
constexpr double neglected = 1e-14;
constexpr std::int64_t most_alone = 256;

// log of the bound of what `steps` steps carry over `distance` rows: min over l of steps log((1+z)/(1-z)) - l
// distance, z = alpha (2 cosh l - 2), from the symbol of one step moved into the complex plane. Under exercise
// a step is 2 W - V where W, and its floor, move no more than the inverse applied to sizes: 2/(1-z) + 1.
class influence {
 public:
  influence(double alpha, bool exercised) {
    for (int k = 1; k < points; ++k) {
      const double z = static_cast<double>(k) / points;
      decay_[k] = std::acosh(1 + 0.5 * z / alpha);
      growth_[k] = exercised ? std::log(2 / (1 - z) + 1) : 2 * std::atanh(z);
    }
  }
  double log_at(double steps, double distance) const {
    double best = 0;
    for (int k = 1; k < points; ++k) best = std::min(best, steps * growth_[k] - decay_[k] * distance);
    return best;
  }

 private:
  static constexpr int points = 400;
  double decay_[points], growth_[points];
};

double largest(std::span<const double> v) {
  double m = 0;
  for (const double x : v) m = std::max(m, std::abs(x));
  return m;
}

// Over how many teams the largest of the multipliers lets a carry reach.
int reach_of(double multiplier, int team) {
  if (!(multiplier > 0)) return 1;
  if (!(multiplier < 1)) return most_reach + 1;
  return static_cast<int>(
      std::ceil(std::log(0x1p-60) / (std::log(multiplier) * team * stepping_rows_a_thread)));
}

stepping_end edge_of(const boundary_condition& b, double rate, double dividend, double length) {
  const linear parts = b.parts();
  if (b.is_barrier()) return {parts.slope, parts.constant, 1, 1};
  return {parts.slope, parts.constant, std::exp(-dividend * length), std::exp(-rate * length), b.least()};
}

// With blocks of so many threads; nothing alone where their window is too short.
stepping_plan plan_with(int threads, std::int64_t n, const influence& carried, int processors) {
  const std::int64_t window = threads * stepping_rows_a_thread;
  stepping_plan plan;
  plan.threads = threads;
  constexpr std::int64_t beyond =
      stepping_rows_a_thread;      // rows of a thread on each side, as the ends need one
  if (n + 2 * beyond <= window) {  // one block has it all
    plan.own = n;
    plan.blocks = 1;
    plan.halo = beyond;
    plan.alone = std::numeric_limits<std::int64_t>::max() / 2;
    return plan;
  }
  plan.own = std::max<std::int64_t>(ceil_div<std::int64_t>(n, processors), 32);
  plan.blocks = static_cast<int>(ceil_div(n, plan.own));
  plan.halo = (window - plan.own) / 2;
  if (plan.halo < large_team * stepping_rows_a_thread) return plan;
  const auto fits = [&](std::int64_t steps) {
    return carried.log_at(static_cast<double>(steps), static_cast<double>(plan.halo)) < std::log(neglected);
  };
  for (std::int64_t stride = most_alone; stride > 0; stride /= 2)
    if (plan.alone + stride <= most_alone && fits(plan.alone + stride)) plan.alone += stride;
  return plan;
}

}  // namespace

stepping_factors factor_for_stepping(const fd_operator& L, double implicit) {
  const std::size_t n = L.lower.size();
  stepping_factors f{std::vector<double>(n, 0.0), std::vector<double>(n, 1.0), std::vector<double>(n, 0.0), {}};
  const auto centre = [&](std::size_t i) { return 1 + implicit * (L.lower[i] + L.upper[i] + L.rate); };
  // Both eliminations side by side, as each waits for its own divisions. Pivots of that upwards are kept where
  // the middle pivots will be.
  double pivot = 1, before = 0, pivot_down = 1, before_down = 0;
  std::vector<double> taken(n, 0.0);
  for (std::size_t i = 1; i + 1 < n; ++i) {
    f.lower[i] = implicit * L.lower[i] / pivot;
    f.inverse[i] = pivot = centre(i) - f.lower[i] * before;
    before = implicit * L.upper[i];
    const std::size_t j = n - 1 - i;
    f.upper[j] = implicit * L.upper[j] / pivot_down;
    taken[j] = f.upper[j] * before_down;
    pivot_down = centre(j) - taken[j];
    before_down = implicit * L.lower[j];
  }
  for (std::size_t i = 1; i + 1 < n; ++i) f.inverse[i] = 1 / (f.inverse[i] - taken[i]);
  return f;
}

stepping_factors factor_for_exercised_stepping(const fd_operator& L, double implicit,
                                               std::vector<double> floor) {
  const std::size_t n = L.lower.size();
  stepping_factors f{std::vector<double>(n, 0.0), std::vector<double>(n, 1.0), std::vector<double>(n, 0.0),
                     std::move(floor)};
  f.floor.front() = f.floor.back() = -1e300;
  for (std::size_t i = 1; i + 1 < n; ++i) {
    const double a = implicit * L.lower[i], c = implicit * L.upper[i];
    const double pivot = 1 + a + c + implicit * L.rate - a * f.upper[i - 1];
    f.inverse[i] = 1 / pivot;
    f.lower[i] = a / pivot;
    f.upper[i] = c / pivot;
  }
  return f;
}

std::optional<stepping_plan> plan_stepping(const fd_operator& L, const stepping_factors& factors,
                                           double implicit, int processors) {
  const auto n = static_cast<std::int64_t>(L.lower.size());
  const bool exercised = !factors.floor.empty();
  // But for the couplings to the given values at the ends, which are no part of a chain.
  const std::span lower(factors.lower), upper(factors.upper);
  const double multiplier = std::max(largest(lower.subspan(2)), largest(upper.first(upper.size() - 2)));
  int team = small_team, reach = reach_of(multiplier, team);
  if (reach > most_small_reach && !exercised) reach = reach_of(multiplier, team = large_team);
  if (reach > most_reach) return std::nullopt;
  const influence carried(implicit * std::max(largest(L.lower), largest(L.upper)), exercised);
  // Short windows step faster, long ones synchronise less often.
  constexpr std::int64_t often_enough = 24;
  stepping_plan plan;
  for (const int threads : {128, 256}) {
    plan = plan_with(threads, n, carried, processors);
    if (plan.alone >= often_enough) break;
  }
  if (plan.alone == 0) return std::nullopt;
  plan.team = team;
  plan.reach = reach;
  return plan;
}

bool fits_gpu_stepping(const contract& c) {
  const bool simple = c.exercise != exercise_style::american || !needs_policy(c);
  return simple && c.local_volatility.empty() && !c.is_escrowed();
}

namespace {

// The steps of a segment as the kernel takes them; exercise is on the side of the last rows, so that those of a
// put are reversed.
struct prepared_steps {
  double rate = 0, implicit = 0;
  stepping_factors factors;
  stepping_plan plan;
};

bool is_american(const contract& c) { return c.exercise == exercise_style::american; }
bool is_reversed(const contract& c) { return is_american(c) && c.plain.type == option_type::put; }

template <class T>
void reverse(std::vector<T>& v) {
  std::reverse(v.begin(), v.end());
}

std::optional<prepared_steps> prepare(const device& gpu, const contract& c, const fd_grid& grid,
                                      const std::vector<double>& exercise, const fd_segment& s,
                                      time_scheme scheme) {
  const double length = (s.to - s.from) / static_cast<double>(s.steps);
  prepared_steps p;
  p.implicit = scheme == time_scheme::implicit_euler ? length : 0.5 * length;
  fd_operator L = make_operator(c, grid, c.plain.expiry - 0.5 * (s.from + s.to));
  p.rate = L.rate;
  std::vector<double> floor = exercise;
  if (is_reversed(c)) {
    reverse(L.lower);
    reverse(L.upper);
    std::swap(L.lower, L.upper);
    reverse(floor);
  }
  p.factors = is_american(c) ? factor_for_exercised_stepping(L, p.implicit, std::move(floor))
                             : factor_for_stepping(L, p.implicit);
  const auto plan = plan_stepping(L, p.factors, p.implicit, gpu.processors());
  if (!plan) return std::nullopt;
  p.plan = *plan;
  return p;
}

// One segment's steps.
void run_on_gpu([[maybe_unused]] const device& gpu, const contract& c, const fd_segment& s,
                const prepared_steps& p, time_scheme scheme, boundary_condition& low, boundary_condition& high,
                std::vector<double>& values) {
  std::vector<stepping_run> runs;
  const auto add = [&](std::int64_t steps, bool damped) {
    if (steps <= 0) return;
    const double each = damped ? p.implicit : 2 * p.implicit, yield = c.plain.dividend;
    runs.push_back({steps, damped, edge_of(low, p.rate, yield, each), edge_of(high, p.rate, yield, each)});
    if (is_reversed(c)) std::swap(runs.back().first, runs.back().last);
    low.step(each * static_cast<double>(steps), p.rate, yield);
    high.step(each * static_cast<double>(steps), p.rate, yield);
  };
  const bool smooths = scheme == time_scheme::rannacher && s.smooths;
  const std::int64_t smooth = smooths ? std::min<std::int64_t>(2, s.steps) : 0;
  add(2 * smooth, true);
  add(s.steps - smooth, scheme == time_scheme::implicit_euler);
  if (is_reversed(c)) reverse(values);
  if constexpr (built_with_cuda) step_in_time_cuda(gpu, p.factors, p.plan, runs, values);
  if (is_reversed(c)) reverse(values);
}

}  // namespace

std::optional<std::vector<double>> step_in_time_on_gpu(const device& gpu, const contract& c,
                                                       const fd_grid& grid, const fd_payment& payment,
                                                       const std::vector<fd_segment>& segments,
                                                       const stepping_method& how) {
  const time_scheme scheme = how.scheme;
  const bool smoothed = how.smooths_kinks && c.plain.payoff == payoff_kind::vanilla;
  if (!built_with_cuda || !fits_gpu_stepping(c) || grid.size() < 64) return std::nullopt;
  std::vector<double> exercise, values;
  for (const double spot : grid.spot) exercise.push_back(payoff_at(c.plain, spot));
  for (const double paid : exercise) values.push_back(paid - payment.less);
  std::vector<prepared_steps> all;
  for (const fd_segment& s : segments) {
    auto p = prepare(gpu, c, grid, exercise, s, scheme);
    if (!p) return std::nullopt;
    all.push_back(std::move(*p));
  }
  boundary_condition low(c, payment, grid.spot.front(), false), high(c, payment, grid.spot.back(), true);
  values.front() = low.value();
  values.back() = high.value();
  for (std::size_t k = 0; k < segments.size(); ++k) {
    const fd_segment& s = segments[k];
    run_on_gpu(gpu, c, s, all[k], scheme, low, high, values);
    if (s.dividend > 0) pay_dividend(grid, s.dividend, smoothed, low, high, values);
    if (s.exercise || (is_american(c) && s.dividend > 0)) exercise_now(exercise, smoothed, low, high, values);
  }
  return values;
}

}  // namespace vouch
