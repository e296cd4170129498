// What the kernel of fd_march_cuda.cu needs to know of a matrix, and the segments that it runs.
#include <algorithm>
#include <cmath>
#include <limits>

#include <vouch/core/config.hpp>
#include <vouch/price/fd_border.hpp>
#include <vouch/price/fd_march_cuda.hpp>

namespace vouch {
namespace {

constexpr int small_team = 4, large_team = 8;         // threads
constexpr int most_small_reach = 8, most_reach = 12;  // teams
constexpr double neglected = 1e-14;
constexpr std::int64_t most_alone = 256;

// log of the bound of what `steps` steps carry over `distance` rows: min over l of steps log((1+z)/(1-z)) - l
// distance, z = alpha (2 cosh l - 2), from the symbol of one step moved into the complex plane.
double log_influence(double alpha, double steps, double distance) {
  double best = 0;
  for (int k = 1; k < 400; ++k) {
    const double l = std::acosh(1 + 0.5 * (k / 400.0) / alpha);  // z = k / 400
    best = std::min(best, steps * std::log((400.0 + k) / (400.0 - k)) - l * distance);
  }
  return best;
}

double largest(std::span<const double> v) {
  double m = 0;
  for (const double x : v) m = std::max(m, std::abs(x));
  return m;
}

// Over how many teams the largest of the multipliers lets a carry reach.
int reach_of(double multiplier, int team) {
  if (!(multiplier > 0)) return 1;
  if (!(multiplier < 1)) return most_reach + 1;
  return static_cast<int>(std::ceil(std::log(0x1p-60) / (std::log(multiplier) * team * march_rows_a_thread)));
}

march_edge edge_of(const border& b, double rate, double dividend, double length) {
  const linear parts = b.parts();
  if (b.is_barrier()) return {parts.slope, parts.constant, 1, 1};
  return {parts.slope, parts.constant, std::exp(-dividend * length), std::exp(-rate * length)};
}

// With blocks of so many threads; nothing alone where their window is too short.
march_plan plan_with(int threads, std::int64_t n, double alpha, int processors) {
  const std::int64_t window = threads * march_rows_a_thread;
  march_plan plan;
  plan.threads = threads;
  if (n <= window) {  // one block has it all
    plan.own = n;
    plan.blocks = 1;
    plan.alone = std::numeric_limits<std::int64_t>::max() / 2;
    return plan;
  }
  plan.own = std::max<std::int64_t>(ceil_div<std::int64_t>(n, processors), 32);
  plan.blocks = static_cast<int>(ceil_div(n, plan.own));
  plan.halo = (window - plan.own) / 2;
  if (plan.halo < large_team * march_rows_a_thread) return plan;
  const auto fits = [&](std::int64_t steps) {
    return log_influence(alpha, static_cast<double>(steps), static_cast<double>(plan.halo)) <
           std::log(neglected);
  };
  for (std::int64_t stride = most_alone; stride > 0; stride /= 2)
    if (plan.alone + stride <= most_alone && fits(plan.alone + stride)) plan.alone += stride;
  return plan;
}

}  // namespace

march_factors factor_for_march(const fd_operator& L, double implicit) {
  const std::size_t n = L.lower.size();
  march_factors f{std::vector<double>(n, 0.0), std::vector<double>(n, 1.0), std::vector<double>(n, 0.0)};
  const auto centre = [&](std::size_t i) { return 1 + implicit * (L.lower[i] + L.upper[i] + L.rate); };
  // Pivots of elimination upwards, kept where the middle pivots will be; then of elimination downwards.
  double pivot = 1, before = 0;
  for (std::size_t i = 1; i + 1 < n; ++i) {
    const double a = implicit * L.lower[i];
    f.lower[i] = a / pivot;
    f.inverse[i] = pivot = centre(i) - f.lower[i] * before;
    before = implicit * L.upper[i];
  }
  pivot = 1;
  before = 0;
  for (std::size_t i = n - 2; i > 0; --i) {
    const double c = implicit * L.upper[i];
    f.upper[i] = c / pivot;
    const double taken = f.upper[i] * before;
    pivot = centre(i) - taken;
    f.inverse[i] = 1 / (f.inverse[i] - taken);
    before = implicit * L.lower[i];
  }
  return f;
}

std::optional<march_plan> plan_march(const fd_operator& L, const march_factors& factors, double implicit,
                                     int processors) {
  const auto n = static_cast<std::int64_t>(L.lower.size());
  // But for the couplings to the given values at the ends, which are no part of a chain.
  const std::span lower(factors.lower), upper(factors.upper);
  const double multiplier = std::max(largest(lower.subspan(2)), largest(upper.first(upper.size() - 2)));
  int team = small_team, reach = reach_of(multiplier, team);
  if (reach > most_small_reach) reach = reach_of(multiplier, team = large_team);
  if (reach > most_reach) return std::nullopt;
  const double alpha = implicit * std::max(largest(L.lower), largest(L.upper));
  // Short windows step faster, long ones meet less often.
  constexpr std::int64_t often_enough = 24;
  march_plan plan;
  for (const int threads : {128, 256}) {
    plan = plan_with(threads, n, alpha, processors);
    if (plan.alone >= often_enough) break;
  }
  if (plan.alone == 0) return std::nullopt;
  plan.team = team;
  plan.reach = reach;
  return plan;
}

bool fits_gpu_march(const contract& c) {
  return c.exercise != exercise_style::american && c.local_volatility.empty() && !c.is_escrowed();
}

namespace {

// The steps of a segment as the kernel takes them.
struct prepared {
  double rate = 0, implicit = 0;
  march_factors factors;
  march_plan plan;
};

std::optional<prepared> prepare(const device& gpu, const contract& c, const fd_grid& grid, const fd_segment& s,
                                time_scheme scheme) {
  const double length = (s.to - s.from) / static_cast<double>(s.steps);
  prepared p;
  p.implicit = scheme == time_scheme::implicit_euler ? length : 0.5 * length;
  const fd_operator L = make_operator(c, grid, c.plain.expiry - 0.5 * (s.from + s.to));
  p.rate = L.rate;
  p.factors = factor_for_march(L, p.implicit);
  const auto plan = plan_march(L, p.factors, p.implicit, gpu.processors());
  if (!plan) return std::nullopt;
  p.plan = *plan;
  return p;
}

// One segment's steps, in one or two launches.
void run_on_gpu(const device& gpu, const contract& c, const fd_segment& s, const prepared& p,
                time_scheme scheme, border& low, border& high, std::vector<double>& values) {
  const auto run = [&](std::int64_t steps, bool damped) {
    if (steps <= 0) return;
    const double each = damped ? p.implicit : 2 * p.implicit, yield = c.plain.dividend;
    if constexpr (built_with_cuda)
      march_cuda(gpu, p.factors, p.plan, steps, damped, edge_of(low, p.rate, yield, each),
                 edge_of(high, p.rate, yield, each), values);
    low.step(each * static_cast<double>(steps), p.rate, yield);
    high.step(each * static_cast<double>(steps), p.rate, yield);
  };
  const bool smooths = scheme == time_scheme::rannacher && s.smooths;
  const std::int64_t smooth = smooths ? std::min<std::int64_t>(2, s.steps) : 0;
  run(2 * smooth, true);
  run(s.steps - smooth, scheme == time_scheme::implicit_euler);
}

}  // namespace

std::optional<std::vector<double>> march_on_gpu(const device& gpu, const contract& c, const fd_grid& grid,
                                                const fd_payment& payment,
                                                const std::vector<fd_segment>& segments, time_scheme scheme) {
  if (!built_with_cuda || !fits_gpu_march(c) || grid.size() < 64) return std::nullopt;
  std::vector<prepared> all;
  for (const fd_segment& s : segments) {
    auto p = prepare(gpu, c, grid, s, scheme);
    if (!p) return std::nullopt;
    all.push_back(std::move(*p));
  }
  border low(c, payment, grid.spot.front(), false), high(c, payment, grid.spot.back(), true);
  std::vector<double> exercise, values;
  for (const double spot : grid.spot) exercise.push_back(payoff_at(c.plain, spot));
  for (const double paid : exercise) values.push_back(paid - payment.less);
  values.front() = low.value();
  values.back() = high.value();
  for (std::size_t k = 0; k < segments.size(); ++k) {
    const fd_segment& s = segments[k];
    run_on_gpu(gpu, c, s, all[k], scheme, low, high, values);
    if (s.dividend > 0) let_fall(grid, s.dividend, low, high, values);
    if (s.exercise) exercise_now(c.plain, exercise, low, high, values);
  }
  return values;
}

}  // namespace vouch
