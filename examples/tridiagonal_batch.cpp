// tridiagonal_batch [rods] -- heat in many rods at once: implicit steps in time, each a batch of tridiagonal
// systems, first solved with a verdict, then with factors that are made once.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include <vouch/band/factored.hpp>
#include <vouch/band/solve.hpp>
#include <vouch/core/array.hpp>
#include <vouch/core/device.hpp>

int main(int count, char** arguments) {
  const std::int64_t rods = count > 1 ? std::atoll(arguments[1]) : 1000;
  if (rods < 1) return 2;
  constexpr std::int64_t cells = 512;
  constexpr double conduction = 0.4;  // k dt / dx^2
  constexpr int steps = 100;
  const vouch::device dev = vouch::device::best();  // a GPU where there is one

  // Cell i of rod s is element s * cells + i; the first half of every rod is hot, the ends are kept at 0.
  const vouch::batch_shape shape = vouch::contiguous(cells, rods);
  std::vector<double> hot(static_cast<std::size_t>(cells * rods));
  for (std::size_t k = 0; k < hot.size(); ++k) hot[k] = k % cells < cells / 2 ? 1.0 : 0.0;
  auto heat = vouch::array<double>::from(dev, hot);
  vouch::array<double> next(dev, heat.size());

  // The same three numbers in every row of every rod, which takes the memory of three numbers.
  const auto A =
      vouch::tridiagonal<double>::constant(dev, -conduction, 1 + 2 * conduction, -conduction, cells, rods);
  const vouch::batch_view<const double> from{heat.data(), shape};
  const vouch::batch_view<double> to{next.data(), shape};
  const vouch::tridiagonal_report report = vouch::solve<double>(dev, A, from, to);
  std::printf("%s by %s: %s, worst ||b - Ax|| / ||b|| = %.2e (recomputed)\n", dev.name().c_str(),
              report.method.c_str(), name(report.status), report.relative_true());
  if (!goal_reached(report.status)) return 1;

  // The matrix does not change: its factors serve all steps. Heat is stepped in place.
  const auto one =
      vouch::tridiagonal<double>::constant(dev, -conduction, 1 + 2 * conduction, -conduction, cells);
  const vouch::factored_tridiagonal<double> factors(dev, one);
  const vouch::batch_view<double> in_place{heat.data(), shape};
  factors.solve(from, in_place);
  const std::vector<double> by_factors = heat.to_vector(), by_solve = next.to_vector();
  double apart = 0;
  for (std::size_t k = 0; k < hot.size(); ++k) apart = std::max(apart, std::abs(by_factors[k] - by_solve[k]));
  for (int step = 1; step < steps; ++step) factors.solve(from, in_place);

  const double middle = heat.to_vector()[cells / 2];
  std::printf("the factors agree to %.1e; in the middle of a rod after %d steps: %.6f\n", apart, steps, middle);
  return apart < 1e-14 && middle > 0.4 && middle < 0.5 ? 0 : 1;
}
