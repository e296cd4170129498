#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>
#include <vector>

#include <vouch/core/array.hpp>
#include <vouch/core/ieee_environment.hpp>
#include <vouch/solve/krylov/cg.hpp>
#include <vouch/solve/loop/vector_update.hpp>

namespace vouch {
namespace {

constexpr std::int64_t trial_iterations = 8;

array<double> hashed_rhs(const device& cpu, std::int64_t n, bool constants_in_null_space) {
  constexpr std::uint64_t stream = 0x616d67;
  array<double> b(cpu, n);
  fill_hashed<double>(cpu, stream, b);
  if (constants_in_null_space) {
    const double mean = std::accumulate(b.begin(), b.end(), 0.0) / static_cast<double>(n);
    for (double& element : b) element -= mean;
  }
  return b;
}

iteration_forecast forecast_from(const solve_report& trial, double rtol) {
  if (trial.status == solve_status::converged) {
    iteration_forecast done{trial.iterations, {}, "done on hashed numbers"};
    if (trial.iterations > 0)
      done.reduction = std::pow(trial.relative_true(), 1 / static_cast<double>(trial.iterations));
    return done;
  }
  const std::vector<iteration_record>& history = trial.history;
  if (trial.status != solve_status::max_iterations || std::ssize(history) != trial_iterations + 1)
    return {{}, {}, trial.reason};
  constexpr std::int64_t half = trial_iterations / 2;
  const double first = history[0].residual, middle = history[half].residual, last = history[2 * half].residual;
  const double reduction = std::pow(last / middle, 1.0 / half);
  const std::string trials = std::to_string(trial_iterations);
  if (!(reduction < 1))
    return {{}, {}, "the residual did not fall in " + trials + " iterations on hashed numbers"};
  constexpr double most = 1e15;
  const double more = std::max(0.0, std::ceil(std::log(rtol * first / last) / std::log(reduction)));
  if (!(more < most)) return {{}, reduction, "it would take more than 1e15 iterations"};
  return {trial_iterations + static_cast<std::int64_t>(more), reduction,
          "at the rate of iterations " + std::to_string(half + 1) + " to " + trials + " on hashed numbers"};
}

}  // namespace

iteration_forecast forecast_cg(const device& cpu, csr_view<const double> A, const preconditioner<double>& M,
                               double rtol, bool constants_in_null_space) {
  const ieee_environment here;
  const array<double> b = hashed_rhs(cpu, A.rows, constants_in_null_space);
  array<double> x = array<double>::zeros(cpu, A.rows);
  cg_options options;
  options.rtol = rtol;
  options.max_iterations = trial_iterations;
  options.matrix_checked = true;
  return forecast_from(cg<double>(cpu, A, b, x, options, &M), rtol);
}

}  // namespace vouch
