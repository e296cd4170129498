// Bounds for all data within radii, against exact solutions at corners and inside.
#include <vouch/verify/interval_data.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include <vouch/core/error.hpp>
#include <vouch/verify/prove.hpp>

#include "devices.hpp"
#include "sparse/matrices.hpp"
#include "verify/exact.hpp"

namespace vouch {
namespace {

using testing::dice;

struct uncertain_system {
  testing::entries A, R;
  std::vector<double> b, b_radius;
};

// kind 0: dominant, 1: symmetric positive definite, 2: any; some radii outside of the pattern of A, some zero.
uncertain_system random_system(dice& die, int n, int kind) {
  uncertain_system s;
  const double size = std::ldexp(1.0, -4 - die.below(30));
  for (int i = 0; i < n; ++i) {
    for (int k = 0; k < 2; ++k) {
      const int j = die.below(n);
      s.A[{i, j}] = die.number(false);
      if (kind == 1) s.A[{j, i}] = s.A[{i, j}];
    }
    s.b.push_back(die.number(true));
    s.b_radius.push_back(die.below(2) * die.unit() * size);
  }
  for (int i = 0; i < n; ++i) s.A[{i, i}] = kind == 0 ? -9 - die.unit() : kind == 1 ? 4 : die.number(false);
  for (const auto& [place, value] : s.A)
    if (die.below(3) > 0) s.R[place] = die.unit() * size;
  s.R[{die.below(n), die.below(n)}] = size;
  return s;
}

// A system within the radii: at a corner, or inside; sums are rounded towards the middle.
void take_one(dice& die, const uncertain_system& s, testing::entries& A, std::vector<double>& b) {
  const bool corner = die.below(2) == 0;
  const auto part = [&] { return corner ? static_cast<double>(die.below(3) - 1) : 2 * die.unit() - 1; };
  const auto moved = [&](double middle, double radius) {
    const double to = middle + part() * radius;
    return std::fabs(to - middle) <= radius ? to : std::nextafter(to, middle);
  };
  A = s.A;
  b.clear();
  for (const auto& [place, radius] : s.R) A[place] = moved(A[place], radius);
  for (std::size_t i = 0; i < s.b.size(); ++i) b.push_back(moved(s.b[i], s.b_radius[i]));
}

TEST(interval_data, all_solutions_lie_within) {
  int proved = 0, refused = 0;
  for (const device& dev : testing::devices())
    for (int c = 0; c < testing::campaign(dev.is_cuda() ? 10000 : 100000); ++c) {
      dice die(static_cast<std::uint64_t>(c) + 21000000);
      const int n = 1 + die.below(8);
      const uncertain_system s = random_system(die, n, c % 3);
      const csr<double> A = testing::matrix_of(n, n, s.A);
      const csr<double> placed = A.to(dev);
      std::string reason;
      const auto proof = prove_nonsingular(dev, placed, structure<double>(device::cpu(1), A), {}, reason);
      if (proof == nullptr) continue;
      const auto b = array<double>::from(dev, s.b);
      auto x = array<double>::zeros(dev, n);
      const double wish = c % 2 == 0 ? 0 : 1e-12;
      error_bound bound = bound_error(dev, placed, *proof, b, x, {{}, wish, 10});
      if (!bound.verified) continue;
      const data_radii radii{testing::matrix_of(n, n, s.R), array<double>::from(device::cpu(1), s.b_radius)};
      widen_to_data(dev, *proof, radii, x, wish, bound);
      if (!bound.verified) {
        ++refused;
        continue;
      }
      ++proved;
      for (int k = 0; k < 6; ++k) {
        testing::entries one;
        std::vector<double> rhs;
        take_one(die, s, one, rhs);
        const auto exact = testing::exact_solution(testing::exactly(testing::matrix_of(n, n, one)), rhs);
        ASSERT_TRUE(exact) << "case " << c << ": a singular matrix within the radii";
        ASSERT_TRUE(testing::contains(*exact, x.to_vector(), bound.radius.to_vector())) << "case " << c;
      }
    }
  EXPECT_GT(proved, 500);
  EXPECT_GT(refused, 2);
}

// (a) x = b: the solutions are [8, 12] / [3, 5], the radius about the middle 2.5 is at least 1.5.
TEST(interval_data, is_sharp_where_one_number_decides) {
  const device cpu = device::cpu(1);
  const csr<double> A = testing::matrix_of(1, 1, {{{0, 0}, 4}});
  std::string reason;
  const auto proof = prove_nonsingular(cpu, A, structure<double>(cpu, A), {}, reason);
  const auto b = array<double>::from(cpu, std::vector<double>{10});
  auto x = array<double>::from(cpu, std::vector<double>{2.5});
  error_bound bound = bound_error(cpu, A, *proof, b, x);
  const data_radii radii{testing::matrix_of(1, 1, {{{0, 0}, 1}}),
                         array<double>::from(cpu, std::vector<double>{2})};
  widen_to_data(cpu, *proof, radii, x, 0, bound);
  ASSERT_TRUE(bound.verified);
  EXPECT_GE(bound.max_absolute, 1.5);
  EXPECT_LE(bound.max_absolute, 1.6);
  const data_radii wide{testing::matrix_of(1, 1, {{{0, 0}, 4}}), array<double>::zeros(cpu, 1)};
  widen_to_data(cpu, *proof, wide, x, 0, bound);
  EXPECT_FALSE(bound.verified);
  EXPECT_NE(bound.reason.find("singular"), std::string::npos);
}

TEST(interval_data, refuses_what_is_no_radius) {
  const device cpu = device::cpu(1);
  const csr<double> A = testing::matrix_of(1, 1, {{{0, 0}, 4}});
  std::string reason;
  const auto proof = prove_nonsingular(cpu, A, structure<double>(cpu, A), {}, reason);
  const auto b = array<double>::from(cpu, std::vector<double>{10});
  auto x = array<double>::from(cpu, std::vector<double>{2.5});
  error_bound bound = bound_error(cpu, A, *proof, b, x);
  for (const double radius : {-1.0, std::numeric_limits<double>::infinity(), std::nan("")}) {
    const csr<double> none = testing::matrix_of(1, 1, {{{0, 0}, 0}});
    const csr<double> bad = testing::matrix_of(1, 1, {{{0, 0}, radius}});
    EXPECT_THROW(widen_to_data(cpu, *proof, {bad.to(cpu), array<double>::zeros(cpu, 1)}, x, 0, bound),
                 value_error);
    auto rhs = array<double>::from(cpu, std::vector<double>{radius});
    EXPECT_THROW(widen_to_data(cpu, *proof, {none.to(cpu), std::move(rhs)}, x, 0, bound), value_error);
  }
  EXPECT_THROW(
      widen_to_data(cpu, *proof, {testing::matrix_of(2, 2, {}), array<double>::zeros(cpu, 1)}, x, 0, bound),
      shape_error);
}

}  // namespace
}  // namespace vouch
