#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>
#include <vector>

#include <vouch/core/array.hpp>
#include <vouch/core/random.hpp>
#include <vouch/solve/chebyshev_steps.hpp>
#include <vouch/solve/omega_estimate.hpp>

namespace vouch {
namespace {

constexpr std::int64_t most_sweeps = 4000;

// Runs an engine for A d = r with a random r of norm near 1; what it leaves of the residual.
template <real T>
double run_random(const device& dev, cg_engine<T>& engine, std::int64_t n, double target, std::int64_t limit) {
  std::vector<T> random(static_cast<std::size_t>(n));
  const double scale = std::sqrt(12.0 / static_cast<double>(std::max<std::int64_t>(n, 1)));
  for (std::size_t i = 0; i < random.size(); ++i) random[i] = static_cast<T>(scale * (random_unit(5, i) - 0.5));
  array<T> r = array<T>::from(dev, random), d(dev, n);
  cg_rule rule;
  rule.target_squared = target * target;
  rule.diverged_squared = 1e8;
  rule.limit = limit;
  std::vector<iteration_record> history;
  cg_log log({}, history);
  const cg_outcome outcome = engine.run(r.data(), d.data(), rule, log);
  dev.synchronize();
  return outcome.event == cg_event::diverged ? std::numeric_limits<double>::infinity()
                                             : std::sqrt(outcome.residual_squared);
}

omega_estimate stays(const char* format, double a = 0, double b = 0, long long count = 0) {
  char line[240];
  std::snprintf(line, sizeof line, format, a, b, count);
  return {1, std::string("omega auto: ") + line + "; omega stays 1"};
}

// The best omega for rho, and what a sweep with it multiplies the error by.
struct best_relaxation {
  double omega, factor;
};
best_relaxation relaxation_for(double rho, bool symmetric) {
  if (!symmetric) {
    const double omega = 2 / (1 + std::sqrt(1 - rho * rho));
    return {omega, std::max(omega - 1, 0.01)};
  }
  const double root = std::sqrt((1 - rho) / 2);
  return {2 / (1 + 2 * root), std::max((1 - root) / (1 + root), 0.01)};
}

}  // namespace

template <real T>
omega_estimate estimate_omega(const device& dev, const sweepable_matrix<T>& A, sweep_rule rule,
                              double lowest_jacobi_eigenvalue) {
  chebyshev_steps learnt;
  sweep_rule simultaneous;
  simultaneous.simultaneous = true;
  simultaneous.lowest_eigenvalue = lowest_jacobi_eigenvalue;
  simultaneous.learnt = &learnt;
  const auto jacobi = A.make_engine(dev, simultaneous, true, {0, true});
  run_random(dev, *jacobi, A.rows(), 1e-12, most_sweeps);
  if (learnt.failed) return stays("the spectrum of the Jacobi iteration does not look real");
  if (learnt.estimates == 0) return {};  // nothing above zero, or too fast to matter

  const auto [omega, factor] = relaxation_for(learnt.high, rule.order == sweep_order::symmetric);
  const auto sweeps =
      std::clamp<std::int64_t>(static_cast<std::int64_t>(8 / -std::log(factor)), 12, most_sweeps);
  rule.omega = omega;
  const double left = run_random(dev, *A.make_engine(dev, rule, true, {}), A.rows(), 1e-3, sweeps);
  if (!(left <= 1e-2))
    return stays("%.6g was estimated, but left %.2g of a residual after %lld sweeps", omega, left,
                 static_cast<long long>(sweeps));
  return {omega, ""};
}

template omega_estimate estimate_omega(const device&, const sweepable_matrix<float>&, sweep_rule, double);
template omega_estimate estimate_omega(const device&, const sweepable_matrix<double>&, sweep_rule, double);

}  // namespace vouch
