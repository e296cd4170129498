#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include <vouch/core/random.hpp>
#include <vouch/price/finite_difference/steps.hpp>

namespace vouch {
namespace {

using wide = long double;

double unit(std::uint64_t stream, std::int64_t i) { return random_unit(stream, static_cast<std::uint64_t>(i)); }

fd_operator random_operator(std::int64_t n, double size) {
  fd_operator L{{}, {}, 0.05};
  for (std::int64_t i = 0; i < n; ++i) {
    L.lower.push_back(size * unit(1, i));
    L.upper.push_back(size * unit(2, i));
  }
  return L;
}

std::vector<double> random_values(std::int64_t n, std::uint64_t stream) {
  std::vector<double> v;
  for (std::int64_t i = 0; i < n; ++i) v.push_back(100 * unit(stream, i));
  return v;
}

// One step in long double by the formula itself; under an obstacle where there is one, from the last node down.
std::vector<wide> exact_step(const fd_operator& L, const std::vector<wide>& v, wide length, wide implicit,
                             wide first, wide last, const std::vector<double>* obstacle) {
  const std::size_t n = v.size();
  std::vector<wide> upper(n, 0), y(n), w(n);
  y[0] = first;
  for (std::size_t i = 1; i + 1 < n; ++i) {
    const wide a = L.lower[i], c = L.upper[i];
    const wide rhs = length * (a * (v[i - 1] - v[i]) + c * (v[i + 1] - v[i]) - L.rate * v[i]);
    const wide pivot = 1 + implicit * (a + c + L.rate) + implicit * a * upper[i - 1];
    upper[i] = -implicit * c / pivot;
    y[i] = (rhs + implicit * a * y[i - 1]) / pivot;
  }
  w[n - 1] = last;
  for (std::size_t i = n - 1; i-- > 1;) {
    w[i] = y[i] - upper[i] * w[i + 1];
    if (obstacle != nullptr) w[i] = std::max(w[i], (*obstacle)[i] - v[i]);
  }
  w[0] = first;
  for (std::size_t i = 0; i < n; ++i) w[i] += v[i];
  return w;
}

template <class T>
class fd_steps_in : public ::testing::Test {};
using precisions = ::testing::Types<float, double>;
TYPED_TEST_SUITE(fd_steps_in, precisions);

// Sizes about the border of 16 pieces; matrices whose inverse decays within a piece, and not at all.
TYPED_TEST(fd_steps_in, agree_with_elimination_in_long_double) {
  for (const std::int64_t n : {3, 4, 5, 16, 17, 18, 19, 33, 34, 100, 1000, 3001})
    for (const double size : {0.3, 40.0, 1e6})
      for (const bool american : {false, true}) {
        const fd_operator L = random_operator(n, size);
        const std::vector<double> start = random_values(n, 3), obstacle = random_values(n, 4);
        std::vector<wide> exact(start.begin(), start.end());
        fd_steps<TypeParam> steps(n);
        steps.load(start.data());
        if (american) steps.set_obstacle(obstacle.data());
        for (const double length : {0.1, 0.05}) {
          steps.factor(L, 0.05);
          steps.advance(length, 0.25, -0.5);
          exact = exact_step(L, exact, length, 0.05L, 0.25L, -0.5L, american ? &obstacle : nullptr);
        }
        std::vector<double> got(static_cast<std::size_t>(n));
        steps.store(got.data());
        const double bound =
            sizeof(TypeParam) == 4 ? (size > 1e3 ? 1.0 : 1e-3) : 1e-11 * std::max(1.0, 1e-3 * size);
        for (std::size_t i = 0; i < got.size(); ++i)
          ASSERT_NEAR(got[i], static_cast<double>(exact[i]), bound)
              << n << ' ' << size << ' ' << american << ' ' << i;
      }
}

// Where the exercised nodes are the last ones, policy iteration and the direct method solve the same problem;
// where they are not, the complementarity conditions hold.
TEST(policy_iteration, solves_the_complementarity_problem) {
  for (const bool simple : {true, false}) {
    const std::int64_t n = 200;
    const fd_operator L = random_operator(n, 20);
    std::vector<double> values, obstacle;
    for (std::int64_t i = 0; i < n; ++i) {
      const double x = static_cast<double>(i) / 100 - 1;
      values.push_back(std::max(x, 0.0));
      obstacle.push_back(simple ? std::max(x, 0.0) : std::abs(std::sin(7 * x)) - 0.5 + std::max(x, 0.0));
      values.back() = std::max(values.back(), obstacle.back());
    }
    std::vector<double> next = values;
    policy_step(L, 0.1, 0.05, obstacle, 0, 0, next);
    double worst = 0;
    int exercised = 0;
    for (std::size_t i = 1; i + 1 < values.size(); ++i) {
      const auto apply = [&](const std::vector<double>& v) {
        return L.lower[i] * (v[i - 1] - v[i]) + L.upper[i] * (v[i + 1] - v[i]) - L.rate * v[i];
      };
      std::vector<double> change = next;
      for (std::size_t k = 0; k < change.size(); ++k) change[k] -= values[k];
      const double residual = change[i] - 0.05 * apply(change) - 0.1 * apply(values);
      worst = std::max(worst, std::abs(std::min(residual, next[i] - obstacle[i])));
      exercised += next[i] - obstacle[i] < 1e-12;
    }
    EXPECT_LT(worst, 1e-12);
    EXPECT_GT(exercised, 3);
  }
}

}  // namespace
}  // namespace vouch
