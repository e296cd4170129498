#include "stationary_systems.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>

#include <vouch/core/config.hpp>
#include <vouch/solve/loop/vector_update.hpp>
#include <vouch/solve/stationary/gauss_seidel.hpp>
#include <vouch/solve/stationary/jacobi.hpp>

namespace vouch::bench {
namespace {

using clock = std::chrono::steady_clock;

double seconds_since(clock::time_point begin) {
  return std::chrono::duration<double>(clock::now() - begin).count();
}

template <real T>
void fill_on_cpu(dense_system<T>& s, dense_family family, double dominance) {
  for (std::int64_t i = 0; i < s.n; ++i) s.exact[i] = family_solution<T>(family, i);
#pragma omp parallel for num_threads(s.dev.threads()) schedule(static)
  for (std::int64_t i = 0; i < s.n; ++i) {
    double sum = 0, product = 0;
    for (std::int64_t j = 0; j < s.n; ++j) {
      const T a = family_entry<T>(family, s.n, i, j);
      s.A[i * s.n + j] = a;
      if (j == i) continue;
      sum += std::fabs(static_cast<double>(a));
      product += static_cast<double>(a) * static_cast<double>(s.exact[j]);
    }
    const T diagonal = family_diagonal<T>(family, dominance, s.n, i, sum);
    s.A[i * s.n + i] = diagonal;
    s.b[i] = static_cast<T>(product + static_cast<double>(diagonal) * static_cast<double>(s.exact[i]));
  }
}

// The best of several calls after one that warms up.
template <class Work>
double best_of(const suite_options& options, Work work) {
  const std::int64_t times = options.repeat > 0 ? options.repeat : 7;
  double best = std::numeric_limits<double>::infinity();
  const auto begin = clock::now();
  for (std::int64_t k = 0; k <= times && !options.stop(); ++k) {
    const double seconds = work();
    if (k > 0) best = std::min(best, seconds);
    if (k > 1 && seconds_since(begin) > 2) break;
  }
  return best;
}

}  // namespace

template <real T>
dense_system<T>::dense_system(const device& where, dense_family family, double dominance, std::int64_t rows)
    : dev(where), n(rows), A(where, rows * rows), exact(where, rows), b(where, rows), x(where, rows) {
  if constexpr (built_with_cuda)
    if (where.is_cuda()) {
      fill_dense_system(where, family, dominance, rows, A.data(), exact.data(), b.data());
      return;
    }
  fill_on_cpu(*this, family, dominance);
}

template <real T>
double dense_system<T>::relative_error() const {
  const std::vector<T> found = x.to_vector(), wanted = exact.to_vector();
  double error = 0, largest = 0;
  for (std::size_t i = 0; i < found.size(); ++i) {
    error = std::max(error, std::fabs(static_cast<double>(found[i]) - static_cast<double>(wanted[i])));
    largest = std::max(largest, std::fabs(static_cast<double>(wanted[i])));
  }
  return error / largest;
}

const char* name(sweep_method method) {
  return method == sweep_method::jacobi          ? "jacobi"
         : method == sweep_method::mixed_jacobi  ? "jacobi_mixed"
         : method == sweep_method::copied_jacobi ? "jacobi_over_copies"
                                                 : "gauss_seidel";
}

template <real T>
solve_report solve_by(dense_system<T>& system, sweep_method method, const stopping_criterion& goal) {
  fill(system.dev, system.x.data(), T{}, system.n);
  if (method == sweep_method::gauss_seidel)
    return gauss_seidel<T>(system.dev, transpose::yes, system.matrix(), system.b, system.x,
                           {goal, sweep_order::forward, {}, sweep_ordering::natural});
  const acceleration mixed{method == sweep_method::mixed_jacobi ? 2 : 0};
  return jacobi<T>(system.dev, transpose::yes, system.matrix(), system.b, system.x,
                   {goal, 1, mixed, method == sweep_method::copied_jacobi});
}

template <real T>
timed_sweep sweep_seconds(dense_system<T>& system, sweep_method method, std::int64_t sweeps,
                          const suite_options& options) {
  stopping_criterion goal;
  goal.fixed_iterations = sweeps;
  timed_sweep result;
  result.seconds = best_of(options, [&] {
    const solve_report report = solve_by(system, method, goal);
    result.engine = report.engine;
    return report.solve_seconds / static_cast<double>(std::max<std::int64_t>(1, report.iterations));
  });
  return result;
}

template <real T>
timed_solve solve_seconds(dense_system<T>& system, sweep_method method, double rtol,
                          const suite_options& options) {
  timed_solve result;
  stopping_criterion goal;
  goal.rtol = rtol;
  result.seconds = best_of(options, [&] {
    const auto begin = clock::now();
    result.report = solve_by(system, method, goal);
    system.dev.synchronize();
    return seconds_since(begin);
  });
  result.relative_error = system.relative_error();
  return result;
}

double sweep_deviation(dense_system<float>& system, std::int64_t sweeps) {
  const device cpu = device::cpu();
  stopping_criterion goal;
  goal.fixed_iterations = sweeps;
  solve_by(system, sweep_method::gauss_seidel, goal);
  const std::vector<float> found = system.x.to_vector(), rounded = system.A.to_vector();
  const std::vector<float> rhs = system.b.to_vector();
  const std::vector<double> A(rounded.begin(), rounded.end()), b(rhs.begin(), rhs.end());
  std::vector<double> x(b.size(), 0.0);
  gauss_seidel<double>(cpu, transpose::yes, {A.data(), system.n, system.n, system.n}, {b.data(), system.n},
                       {x.data(), system.n}, {goal, sweep_order::forward, {}, sweep_ordering::natural});
  double error = 0, largest = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    error = std::max(error, std::fabs(static_cast<double>(found[i]) - x[i]));
    largest = std::max(largest, std::fabs(x[i]));
  }
  return error / largest;
}

double cpu_read_speed(const device& cpu, std::int64_t bytes) {
  constexpr std::int64_t piece = 65536;
  const std::int64_t pieces = bytes / static_cast<std::int64_t>(sizeof(float)) / piece;
  const auto values = array<float>::zeros(cpu, pieces * piece);
  double best = 0, all = 0;
  for (int pass = 0; pass < 6; ++pass) {
    const auto begin = clock::now();
    double sum = 0;
#pragma omp parallel for num_threads(cpu.threads()) schedule(static) reduction(+ : sum)
    for (std::int64_t k = 0; k < pieces; ++k) {
      const float* from = values.data() + k * piece;
      float lanes[64] = {};
      for (std::int64_t i = 0; i < piece; i += 64)
        for (int l = 0; l < 64; ++l) lanes[l] += from[i + l];
      for (const float lane : lanes) sum += static_cast<double>(lane);
    }
    all += sum;
    best = std::max(best, static_cast<double>(pieces * piece) * sizeof(float) / seconds_since(begin));
  }
  return all == 0 ? best : 0;  // all are zeros; so the sums are not left out
}

#define VOUCH_INSTANTIATE(T)                                                                              \
  template struct dense_system<T>;                                                                        \
  template solve_report solve_by(dense_system<T>&, sweep_method, const stopping_criterion&);              \
  template timed_sweep sweep_seconds(dense_system<T>&, sweep_method, std::int64_t, const suite_options&); \
  template timed_solve solve_seconds(dense_system<T>&, sweep_method, double, const suite_options&);
VOUCH_INSTANTIATE(float)
VOUCH_INSTANTIATE(double)
#undef VOUCH_INSTANTIATE

}  // namespace vouch::bench
