// Anderson acceleration of every iteration, matrix form and device against one by hand: textbook sweeps in long
// double, the least-squares problem by orthogonalisation.
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "solve/stationary_systems.hpp"

namespace vouch {
namespace {

using namespace testing;
using wide_vector = std::vector<long double>;

// Sum of squares of the residual as the rows meet it, those of a symmetric sweep on the way there.
long double met_by(const square& A, const std::vector<double>& b, wide_vector x, method m) {
  const bool backward = m == method::backward, at_once = m == method::jacobi || m == method::damped;
  const wide_vector old = x;
  long double squares = 0;
  for (std::int64_t k = 0; k < A.n; ++k) {
    const std::int64_t i = backward ? A.n - 1 - k : k;
    long double s = b[static_cast<std::size_t>(i)];
    for (std::int64_t j = 0; j < A.n; ++j) s -= A(i, j) * (at_once ? old : x)[static_cast<std::size_t>(j)];
    squares += s * s;
    x[static_cast<std::size_t>(i)] += omega_of(m) * s / A(i, i);
  }
  return squares;
}

wide_vector minus(const wide_vector& a, const wide_vector& b) {
  wide_vector c(a.size());
  for (std::size_t i = 0; i < a.size(); ++i) c[i] = a[i] - b[i];
  return c;
}
long double dot(const wide_vector& a, const wide_vector& b) {
  long double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

// g minus the images' combination whose changes come nearest to the last one.
wide_vector combined(std::vector<wide_vector> changes, std::vector<wide_vector> images, wide_vector change,
                     wide_vector g) {
  for (std::size_t k = 0; k < changes.size(); ++k) {
    for (std::size_t l = 0; l < 2 * k; ++l) {  // twice, so that nothing is left
      const auto& q = changes[l % k];
      const long double part = dot(q, changes[k]) / dot(q, q);
      for (std::size_t i = 0; i < g.size(); ++i) {
        changes[k][i] -= part * q[i];
        images[k][i] -= part * images[l % k][i];
      }
    }
    const long double part = dot(changes[k], change) / dot(changes[k], changes[k]);
    for (std::size_t i = 0; i < g.size(); ++i) {
      change[i] -= part * changes[k][i];
      g[i] -= part * images[k][i];
    }
  }
  return g;
}

struct by_hand {
  wide_vector x;
  int mixed = 0, dropped = 0;
};

by_hand iterate(const square& A, const std::vector<double>& b, method m, std::size_t depth, int sweeps) {
  by_hand now{wide_vector(b.size())};
  wide_vector plain, last_change, last_g;
  std::vector<wide_vector> changes, images;
  long double accepted = 0;
  bool accelerated = false;
  for (int k = 0; k < sweeps; ++k) {
    const wide_vector before = now.x;
    const long double met = met_by(A, b, before, m);
    sweep(A, b, now.x, m);
    if (accelerated && met > accepted) {
      now.x = plain;
      changes.clear();
      images.clear();
      last_g.clear();
      accelerated = false;
      ++now.dropped;
      continue;
    }
    if (k + 1 == sweeps) break;
    const wide_vector g = now.x, change = minus(g, before);
    if (!last_g.empty()) {
      changes.push_back(minus(change, last_change));
      images.push_back(minus(g, last_g));
      if (changes.size() > depth) {
        changes.erase(changes.begin());
        images.erase(images.begin());
      }
    }
    plain = last_g = g;
    last_change = change;
    accepted = met;
    accelerated = !changes.empty();
    now.x = combined(changes, images, change, g);
    now.mixed += accelerated;
  }
  return now;
}

// Positive entries, one eigenvalue apart from the others: dominant by little.
square positive_square(std::int64_t n, std::uint64_t seed) {
  square A = random_square(n, 0, seed);
  for (std::int64_t i = 0; i < A.n; ++i) {
    double sum = 0;
    for (std::int64_t j = 0; j < A.n; ++j) sum += i == j ? 0 : (A(i, j) = std::fabs(A(i, j)));
    A(i, i) = std::ceil(1.05 * sum);
  }
  return A;
}

std::vector<std::pair<device, kept>> all_ways() {
  auto all = ways();
  for (const device& gpu : gpus()) all.emplace_back(gpu, kept::sparse);
  return all;
}

template <class T>
class anderson : public ::testing::Test {};
using scalars = ::testing::Types<float, double>;
TYPED_TEST_SUITE(anderson, scalars);

TYPED_TEST(anderson, gives_the_iterates_of_the_method) {
  using T = TypeParam;
  for (const std::int64_t n : {7, 150, 301}) {
    const square A = positive_square(n, 18);
    const std::vector<double> b = product(A, integers(n, 13));
    for (const method m : methods)
      for (const int depth : {1, 4})
        for (const int sweeps : {2, 5}) {
          if (n > 300 && (depth == 1 || sweeps == 2)) continue;
          const by_hand expected = iterate(A, b, m, static_cast<std::size_t>(depth), sweeps);
          stopping_criterion goal;
          goal.fixed_iterations = sweeps;
          for (const auto& [dev, form] : all_ways()) {
            const auto found = solve<T>(A, b, std::vector<T>(b.size()), m, form, goal, dev, depth);
            EXPECT_EQ(found.report.status, solve_status::fixed);
            EXPECT_LE(distance(found.x, expected.x), (sizeof(T) == 4 ? 1e-3 : 1e-10) * largest(expected.x))
                << dev.kind() << ' ' << n << ' ' << static_cast<int>(m) << ' ' << static_cast<int>(form) << ' '
                << depth << ' ' << sweeps << ' ' << found.report.engine;
          }
        }
  }
}

// Mixing makes the change of the iterate small, which rows of different units make another thing than a small
// residual.
TYPED_TEST(anderson, drops_what_does_not_reduce_the_residual) {
  using T = TypeParam;
  int dropped = 0;
  for (std::uint64_t seed = 1; seed < 9; ++seed) {
    square A = random_square(24, 0.5, seed);
    for (std::int64_t i = 0; i < A.n; ++i)
      for (std::int64_t j = 0; j < A.n; ++j) A(i, j) *= i % 4 == 0 ? 1000 : 1;
    const std::vector<double> b = product(A, integers(A.n, seed));
    for (const method m : {method::damped, method::forward}) {
      const by_hand expected = iterate(A, b, m, 2, 8);
      dropped += expected.dropped;
      stopping_criterion goal;
      goal.fixed_iterations = 8;
      for (const auto& [dev, form] : all_ways()) {
        const auto found = solve<T>(A, b, std::vector<T>(b.size()), m, form, goal, dev, 2);
        EXPECT_LE(distance(found.x, expected.x), (sizeof(T) == 4 ? 1e-2 : 1e-9) * largest(expected.x))
            << dev.kind() << ' ' << seed << ' ' << static_cast<int>(m) << ' ' << static_cast<int>(form) << ' '
            << expected.dropped;
      }
    }
  }
  EXPECT_GT(dropped, 0);
}

TYPED_TEST(anderson, takes_fewer_sweeps_and_the_same_bits_twice) {
  using T = TypeParam;
  const square A = positive_square(200, 18);
  const std::vector<double> exact = integers(200, 13), b = product(A, exact);
  for (const auto& [dev, form] : all_ways())
    for (const method m : {method::jacobi, method::forward, method::ssor}) {
      const auto plain = solve<T>(A, b, std::vector<T>(200), m, form, {}, dev);
      const auto mixed = solve<T>(A, b, std::vector<T>(200), m, form, {}, dev, 2);
      EXPECT_EQ(plain.report.status, solve_status::converged);
      EXPECT_EQ(mixed.report.status, solve_status::converged) << mixed.report.reason;
      EXPECT_LE((m == method::jacobi ? 5 : 1) * mixed.report.iterations, plain.report.iterations + 2)
          << dev.kind() << ' ' << mixed.report.engine;
      EXPECT_EQ(mixed.x, (solve<T>(A, b, std::vector<T>(200), m, form, {}, dev, 2).x));
    }
}

}  // namespace
}  // namespace vouch
