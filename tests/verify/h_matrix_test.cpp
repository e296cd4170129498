#include <vouch/verify/sparse/h_matrix.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include <vouch/core/error.hpp>
#include <vouch/verify/error_bound.hpp>

#include "devices.hpp"
#include "solve/systems.hpp"
#include "sparse/matrices.hpp"
#include "verify/exact.hpp"

namespace vouch {
namespace {

using testing::dice;

struct outcome {
  bool proved = false;
  error_bound bound;
  std::vector<double> x, radius;
};

outcome verify_on(const device& dev, const csr<double>& A, const std::vector<double>& b,
                  const std::vector<double>& x, const h_matrix_options& how, const bound_options& wish = {}) {
  outcome result;
  const csr<double> placed = A.to(dev);
  const auto b_dev = array<double>::from(dev, b);
  auto x_dev = array<double>::from(dev, x);
  std::string reason;
  const auto proof = h_matrix::prove(dev, placed, how, reason);
  EXPECT_EQ(proof == nullptr, !reason.empty());
  if (proof == nullptr) return result;
  result.proved = true;
  result.bound = bound_error(dev, placed, *proof, b_dev, x_dev, wish);
  result.x = x_dev.to_vector();
  result.radius = result.bound.radius.to_vector();
  return result;
}

std::vector<double> near(const std::vector<mpq_class>& exact, dice& die, double error) {
  std::vector<double> x;
  for (const mpq_class& value : exact) x.push_back(value.get_d() * (1 + error * (2 * die.unit() - 1)));
  return x;
}

// Matrices that are H-matrices, barely are, barely are not, and singular ones.
testing::entries adversarial(dice& die, int n, int kind, bool symmetric) {
  testing::entries list;
  for (int i = 0; i < n; ++i)
    for (int j = symmetric ? i + 1 : 0; j < n; ++j) {
      if (j == i || die.unit() > 0.5) continue;
      const double value = kind == 0 ? die.number(true) : die.below(9) - 4;
      if (value == 0) continue;
      list[{i, j}] = value;
      if (symmetric) list[{j, i}] = value;
    }
  for (int i = 0; i < n; ++i) {
    double sum = 0;
    for (int j = 0; j < n; ++j)
      if (const auto at = list.find({i, j}); at != list.end()) sum += std::fabs(at->second);
    if (kind == 1 && die.unit() < 0.8) sum += die.below(2);         // singular or nearly dominant
    if (kind == 2) sum = sum * (1 + 0x1p-52 * (die.below(9) - 4));  // ill-conditioned to 1e16
    if (kind == 3) sum *= 0.5 + die.unit();                         // no H-matrix perhaps
    if (kind == 0) sum *= 1 + die.unit();
    if (sum != 0) list[{i, i}] = die.below(2) != 0 && !symmetric ? -sum : sum;
  }
  return list;
}

TEST(h_matrix, bounds_contain_the_rational_solution_and_singular_matrices_never_verify) {
  int proved = 0, singular = 0;
  for (const device& dev : testing::devices())
    for (int c = 0; c < testing::campaign(dev.is_cuda() ? 20000 : 100000); ++c) {
      dice die(static_cast<std::uint64_t>(c) + 1000000);
      const int n = 1 + die.below(7);
      const bool symmetric = c % 2 == 0;
      const csr<double> A = testing::matrix_of(n, n, adversarial(die, n, c % 4, symmetric));
      std::vector<double> b;
      for (int i = 0; i < n; ++i) b.push_back(die.number(false));
      const auto exact = testing::exact_solution(testing::exactly(A), b);
      const std::vector<double> x =
          exact ? near(*exact, die, std::ldexp(1.0, -die.below(53))) : std::vector<double>(b);
      bound_options wish;
      if (c % 8 < 4) wish.relative = 1e-14;
      const outcome found = verify_on(dev, A, b, x, {{}, symmetric, symmetric, die.below(4)}, wish);
      if (!exact) {
        ++singular;
        ASSERT_FALSE(found.proved) << "case " << c;
        continue;
      }
      if (!found.proved || !found.bound.verified) continue;
      ++proved;
      ASSERT_TRUE(testing::contains(*exact, found.x, found.radius)) << "case " << c;
    }
  EXPECT_GT(proved, 300);
  EXPECT_GT(singular, 10);
}

TEST(h_matrix, refines_to_the_last_digits) {
  for (const device& dev : testing::devices()) {
    const csr<double> A = testing::laplacian(5);
    const std::vector<double> b(25, 0.1);
    const auto exact = testing::exact_solution(testing::exactly(A), b);
    dice die(5);
    const outcome found =
        verify_on(dev, A, b, near(*exact, die, 1e-6), {{}, true, true, 2}, {{}, 4 * 0x1p-53, 10});
    ASSERT_TRUE(found.bound.reached) << found.bound.reason;
    EXPECT_TRUE(testing::contains(*exact, found.x, found.radius));
    EXPECT_EQ(found.bound.digits(), 15);
    EXPECT_GE(found.bound.refinements, 1);
  }
}

// The bound that needs no refinement is close to the error on a grid.
TEST(h_matrix, is_sharp_on_a_grid) {
  for (const device& dev : testing::devices()) {
    const csr<double> A = testing::laplacian(6);
    const std::vector<double> b(36, 1.0);
    const auto exact = testing::exact_solution(testing::exactly(A), b);
    dice die(6);
    const std::vector<double> x = near(*exact, die, 1e-8);
    const outcome found = verify_on(dev, A, b, x, {{}, true, true, 2});
    ASSERT_TRUE(found.bound.verified);
    std::vector<double> ratio;
    for (std::size_t i = 0; i < x.size(); ++i)
      ratio.push_back(found.radius[i] / std::fabs(mpq_class((*exact)[i] - mpq_class(x[i])).get_d()));
    std::nth_element(ratio.begin(), ratio.begin() + 18, ratio.end());
    EXPECT_LT(ratio[18], 100);
  }
}

// Upwind differences of a flow: where errors only flow one way, most components have far smaller ones than the
// largest. The solution is e, since all entries are whole numbers; x misses it by what is left of a
// perturbation, and by little but noise.
TEST(h_matrix, stays_near_the_error_on_unsymmetric_grids_of_any_size) {
  for (const device& dev : testing::devices())
    for (const int n : {12, 40, 110})
      for (const int flow : {1, 20})
        for (const bool noise : {false, true}) {
          testing::entries list;
          std::vector<double> b(static_cast<std::size_t>(n * n)), x;
          const auto add = [&](bool there, int i, int j, int value) {
            if (!there) return;
            list[{i, j}] = value;
            b[static_cast<std::size_t>(i)] += value;
          };
          dice die(12);
          for (int i = 0; i < n * n; ++i) {
            const int column = i % n, row = i / n;
            add(row > 0, i, i - n, -1 - flow);
            add(column > 0, i, i - 1, -1 - 2 * flow);
            add(true, i, i, 4 + 3 * flow);
            add(column + 1 < n, i, i + 1, -1);
            add(row + 1 < n, i, i + n, -1);
            x.push_back(1 + (noise ? std::ldexp(die.unit(), -40) : 1e-7 * std::sin(0.5 * column + 0.3 * row)));
          }
          const csr<double> A = testing::matrix_of(n * n, n * n, list);
          const outcome found = verify_on(dev, A, b, x, {}, {{}, 0, 0});
          ASSERT_TRUE(found.bound.verified) << found.bound.reason;
          std::vector<double> ratio;
          for (std::size_t i = 0; i < x.size(); ++i) {
            ASSERT_GE(found.radius[i], std::fabs(x[i] - 1));
            ratio.push_back(found.radius[i] / std::fabs(x[i] - 1));
          }
          std::nth_element(ratio.begin(), ratio.begin() + std::ssize(ratio) / 2, ratio.end());
          EXPECT_LT(ratio[ratio.size() / 2], 100) << n << ' ' << flow << ' ' << noise;
        }
}

// Natural boundaries but for one node: smooth errors are far larger than what passes of smoothing find. The
// solution is whole numbers.
TEST(h_matrix, stays_near_the_error_on_nearly_singular_grids) {
  for (const device& dev : testing::devices())
    for (const bool noise : {false, true}) {
      constexpr int n = 60;
      testing::entries list = testing::entries_of(testing::laplacian(n, true));
      list[{0, 0}] += 1;
      dice die(13);
      std::vector<double> exact(n * n), b(n * n), x;
      for (double& value : exact) value = 1 + die.below(9);
      for (const auto& [place, value] : list)
        b[static_cast<std::size_t>(place.first)] += value * exact[static_cast<std::size_t>(place.second)];
      for (std::size_t i = 0; i < exact.size(); ++i)
        x.push_back(exact[i] *
                    (1 + 1e-9 * (noise ? die.unit() - 0.5 : 1 + std::sin(0.01 * static_cast<double>(i)))));
      const csr<double> A = testing::matrix_of(n * n, n * n, list);
      const auto median_ratio = [&](double looseness) {
        bound_options how;
        how.most_refinements = 0;
        how.looseness = looseness;
        const outcome found = verify_on(dev, A, b, x, {{}, true, true}, how);
        EXPECT_TRUE(found.bound.verified) << found.bound.reason;
        std::vector<double> ratio;
        for (std::size_t i = 0; i < x.size(); ++i) {
          const double error = std::fabs(found.x[i] - exact[i]);
          EXPECT_GE(found.radius[i], error);
          ratio.push_back(found.radius[i] / error);
        }
        std::nth_element(ratio.begin(), ratio.begin() + std::ssize(ratio) / 2, ratio.end());
        return ratio[ratio.size() / 2];
      };
      const double sharp = median_ratio(50);
      EXPECT_LT(sharp, 60);
      EXPECT_LE(sharp, median_ratio(std::numeric_limits<double>::infinity()));
    }
}

// Every system within the radii, taken at its corners.
TEST(h_matrix, covers_uncertain_data) {
  const device cpu = device::cpu(1);
  const csr<double> A = testing::laplacian(3);
  const std::vector<double> b(9, 1.0);
  const double radius = 0.01;
  const auto exact = testing::exact_solution(testing::exactly(A), b);
  dice die(8);
  const outcome found =
      verify_on(cpu, A, b, near(*exact, die, 0), {{radius, radius}, true, true, 2}, {{radius, radius}, 0, 0});
  ASSERT_TRUE(found.bound.verified);
  for (int c = 0; c < 200; ++c) {
    csr<double> corner = A.to(cpu);
    std::vector<double> rhs = b;
    for (std::int64_t k = 0; k < corner.nonzeros(); ++k) corner.val[k] *= die.below(2) != 0 ? 1.0099 : 0.9901;
    for (double& value : rhs) value *= die.below(2) != 0 ? 1.0099 : 0.9901;
    EXPECT_TRUE(
        testing::contains(*testing::exact_solution(testing::exactly(corner), rhs), found.x, found.radius));
  }
}

TEST(h_matrix, proves_larger_systems_of_every_kind) {
  for (const device& dev : testing::devices()) {
    for (const csr<double>& A : {testing::laplacian(40), testing::random_spd(500, 6, 3)}) {
      const std::vector<double> b(static_cast<std::size_t>(A.rows), 1.0);
      const outcome found = verify_on(dev, A, b, b, {{}, true, true, 2}, {{}, 1e-10, 10});
      EXPECT_TRUE(found.bound.reached) << found.bound.reason;
    }
    testing::entries upwind;  // unsymmetric: convection and diffusion
    for (int i = 0; i < 300; ++i) {
      upwind[{i, i}] = 3;
      if (i > 0) upwind[{i, i - 1}] = -2;
      if (i < 299) upwind[{i, i + 1}] = -1;
    }
    const std::vector<double> b(300, 1.0);
    const outcome found = verify_on(dev, testing::matrix_of(300, 300, upwind), b, b, {}, {{}, 1e-10, 10});
    EXPECT_TRUE(found.bound.reached) << found.bound.reason;
  }
}

TEST(h_matrix, gives_the_same_bits_every_time) {
  const csr<double> A = testing::laplacian(70);
  const std::vector<double> b(4900, 1.0);
  const auto radius_on = [&](const device& dev) { return verify_on(dev, A, b, b, {{}, true, true, 2}).radius; };
  EXPECT_EQ(radius_on(device::cpu(1)), radius_on(device::cpu(3)));
  for (const device& dev : testing::devices()) EXPECT_EQ(radius_on(dev), radius_on(dev));
}

TEST(h_matrix, says_so_where_x_is_no_number) {
  for (const device& dev : testing::devices()) {
    const csr<double> A = testing::laplacian(3);
    std::vector<double> x(9, 1.0);
    x[4] = std::nan("");
    const outcome found = verify_on(dev, A, std::vector<double>(9, 1.0), x, {{}, true, true, 2});
    EXPECT_TRUE(found.proved);
    EXPECT_FALSE(found.bound.verified);
    EXPECT_FALSE(found.bound.reason.empty());
  }
}

TEST(h_matrix, natural_boundaries_are_singular) {
  for (const device& dev : testing::devices())
    EXPECT_FALSE(verify_on(dev, testing::laplacian(12, true), std::vector<double>(144),
                           std::vector<double>(144), {{}, true, true, 2})
                     .proved);
}

}  // namespace
}  // namespace vouch
