#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>
#include <vector>

#include <vouch/core/array.hpp>
#include <vouch/core/cancellation.hpp>
#include <vouch/core/ieee_environment.hpp>
#include <vouch/core/random.hpp>
#include <vouch/solve/stationary/chebyshev_steps.hpp>
#include <vouch/solve/stationary/omega_estimate.hpp>

namespace vouch {
namespace {

constexpr std::int64_t most_sweeps = 4000;

// What sweeps for a random right-hand side did to the residual.
struct trial {
  double left;    // of a norm near 1
  double factor;  // of a sweep, over the last half of them, where the slowest part has prevailed
};

double late_factor(const std::vector<iteration_record>& history) {
  if (history.size() < 2) return 1;
  const iteration_record &last = history.back(), &middle = history[(history.size() - 1) / 2];
  return std::pow(last.residual / middle.residual,
                  1.0 / static_cast<double>(last.iteration - middle.iteration));
}

template <real T>
trial run_random(const device& dev, inner_solver<T>& engine, std::int64_t n, double target,
                 std::int64_t limit) {
  std::vector<T> random(static_cast<std::size_t>(n));
  const double scale = std::sqrt(12.0 / static_cast<double>(std::max<std::int64_t>(n, 1)));
  for (std::size_t i = 0; i < random.size(); ++i) random[i] = static_cast<T>(scale * (random_unit(5, i) - 0.5));
  array<T> r = array<T>::from(dev, random), d(dev, n);
  stopping_rule rule;
  rule.target_squared = target * target;
  rule.diverged_squared = 1e8;
  rule.limit = limit;
  std::vector<iteration_record> history;
  iteration_log log({}, history);
  const inner_outcome outcome = engine.run(r.data(), d.data(), rule, log);
  dev.synchronize();
  if (outcome.event == solver_event::interrupted) check_cancellation();
  constexpr double infinite = std::numeric_limits<double>::infinity();
  if (outcome.event == solver_event::diverged) return {infinite, infinite};
  return {std::sqrt(outcome.residual_squared), late_factor(history)};
}

template <class... Values>
omega_estimate stays(const char* format, Values... values) {
  char line[240];
  std::snprintf(line, sizeof line, format, values...);
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
omega_estimate estimate_omega(const device& dev, const iteration_matrix<T>& A, sweep_rule rule,
                              double lowest_jacobi_eigenvalue) {
  const ieee_environment here;
  chebyshev_steps learnt;
  sweep_rule simultaneous;
  simultaneous.simultaneous = true;
  simultaneous.lowest_eigenvalue = lowest_jacobi_eigenvalue;
  simultaneous.learnt = &learnt;
  const auto jacobi = A.make_engine(dev, simultaneous, true, {0, true});
  // Farther down rounding would pass for slow convergence.
  run_random(dev, *jacobi, A.rows(), sizeof(T) == 4 ? 1e-4 : 1e-10, most_sweeps);
  if (learnt.failed) return stays("%s", "the spectrum of the Jacobi iteration does not look real");
  if (learnt.estimates == 0) return {};  // nothing above zero, or too fast to matter

  const auto [omega, factor] = relaxation_for(learnt.high, rule.order == sweep_order::symmetric);
  const auto sweeps =
      std::clamp<std::int64_t>(static_cast<std::int64_t>(8 / -std::log(factor)), 12, most_sweeps);
  const auto try_with = [&](double relaxation) {
    rule.omega = relaxation;
    return run_random(dev, *A.make_engine(dev, rule, true, {}), A.rows(), 1e-3, sweeps);
  };
  const trial with = try_with(omega), without = try_with(1);
  if (!(with.left < 1) || with.factor > without.factor)
    return stays("%.6g was estimated, but a sweep with it leaves %.3g of a residual, with 1 only %.3g", omega,
                 with.factor, without.factor);
  return {omega, ""};
}

template omega_estimate estimate_omega(const device&, const iteration_matrix<float>&, sweep_rule, double);
template omega_estimate estimate_omega(const device&, const iteration_matrix<double>&, sweep_rule, double);

}  // namespace vouch
