#include <vouch/verify/sparse/sparse_inverse.hpp>

#include <gtest/gtest.h>

#include <cmath>

#include <vouch/core/error.hpp>
#include <vouch/verify/error_bound.hpp>
#include <vouch/verify/prove.hpp>

#include "devices.hpp"
#include "sparse/matrices.hpp"
#include "verify/proofs.hpp"

namespace vouch {
namespace {

using testing::dice;

// Few entries a row: of wildly different sizes, graded, integers, or with a last row that is a combination of
// two others, exactly or but for one unit of the last place of an entry.
csr<double> sparse_matrix(dice& die, int n, int kind) {
  testing::entries list;
  for (int i = 0; i < n; ++i) {
    list[{i, kind == 2 ? i : (i + 1) % n}] = kind == 0 ? die.number(true) : die.below(9) + 1;
    for (int k = 0; k < 2; ++k) list[{i, die.below(n)}] = kind == 0 ? die.number(true) : die.below(2001) - 1000;
  }
  if (kind >= 3 && n > 2) {
    for (int j = 0; j < n; ++j) {
      const auto entry = [&](int i) { return list.count({i, j}) > 0 ? list[{i, j}] : 0.0; };
      const double sum = 3 * entry(0) - entry(1);
      list.erase({n - 1, j});
      if (sum != 0) list[{n - 1, j}] = sum;
    }
    if (kind == 4)
      for (int j = 0; j < n; ++j)
        if (list.count({n - 1, j}) > 0) {
          list[{n - 1, j}] = std::nextafter(list[{n - 1, j}], 1e9);
          break;
        }
  }
  if (kind == 1)
    for (auto& [place, value] : list)
      value = std::ldexp(value, 3 * static_cast<int>(place.first - place.second));
  return testing::matrix_of(n, n, list);
}

TEST(sparse_inverse, bounds_hold_and_singular_matrices_never_verify) {
  int proved = 0, singular = 0, tight = 0;
  for (const device& dev : testing::devices())
    for (int c = 0; c < testing::campaign(dev.is_cuda() ? 10000 : 100000); ++c) {
      dice die(static_cast<std::uint64_t>(c) + 11000000);
      const int n = 1 + die.below(c % 50 == 0 ? 30 : 11);
      const csr<double> A = sparse_matrix(die, n, c % 5);
      std::vector<double> b;
      for (int i = 0; i < n; ++i) b.push_back(die.number(true));
      const auto exact = testing::exact_solution(testing::exactly(A), b);
      const csr<double> placed = A.to(dev);
      std::string reason;
      const auto proof = sparse_inverse::prove(dev, placed, {}, reason);
      ASSERT_EQ(proof == nullptr, !reason.empty());
      if (!exact) {
        ++singular;
        ASSERT_EQ(proof, nullptr) << "case " << c;
        continue;
      }
      if (proof == nullptr) continue;
      ++proved;
      const error_bound bound =
          testing::expect_bound_holds(dev, placed, *proof, b, *exact, die, c % 8 < 4 ? 1e-15 : 0, c);
      ASSERT_FALSE(HasFailure());
      tight += bound.max_relative < 1e-14 ? 1 : 0;
    }
  EXPECT_GT(proved, 500);
  EXPECT_GT(singular, 150);
  EXPECT_GT(tight, 200);
}

TEST(sparse_inverse, covers_uncertain_matrices) {
  const device cpu = device::cpu(1);
  dice die(4);
  const int n = 12;
  const csr<double> A = sparse_matrix(die, n, 2);
  const double radius = 1e-6;
  std::string reason;
  const auto proof = sparse_inverse::prove(cpu, A, {{radius, 0}}, reason);
  ASSERT_NE(proof, nullptr) << reason;
  testing::expect_covers_corners(cpu, A, *proof, radius, die, 100);
}

TEST(sparse_inverse, gives_the_same_bits_for_any_number_of_threads) {
  dice die(5);
  const int n = 300;
  const csr<double> A = sparse_matrix(die, n, 2);
  std::vector<std::vector<double>> radii;
  for (const int threads : {1, 2, 5}) {
    const device cpu = device::cpu(threads);
    std::string reason;
    const auto proof = sparse_inverse::prove(cpu, A, {}, reason);
    ASSERT_NE(proof, nullptr) << reason;
    const auto b = array<double>::from(cpu, std::vector<double>(n, 1.0));
    auto x = array<double>::zeros(cpu, n);
    radii.push_back(bound_error(cpu, A, *proof, b, x, {{}, 1e-12, 10}).radius.to_vector());
    radii.back().push_back(proof->inverse_norm());
  }
  EXPECT_EQ(radii[0], radii[1]);
  EXPECT_EQ(radii[0], radii[2]);
}

TEST(sparse_inverse, says_why_it_proves_nothing) {
  const device cpu = device::cpu(1);
  const auto refused = [&](const csr<double>& A, std::int64_t most_work) {
    std::string reason;
    EXPECT_EQ(sparse_inverse::prove(cpu, A, {{}, most_work}, reason), nullptr);
    return reason;
  };
  dice die(6);
  EXPECT_NE(refused(sparse_matrix(die, 40, 2), 400).find("too long"), std::string::npos);
  EXPECT_NE(refused(testing::matrix_of(2, 2, {{{0, 0}, 1}, {{0, 1}, 1}}), 100).find("singular"),
            std::string::npos);
  const testing::entries far_apart = {{{0, 0}, 1e300}, {{0, 1}, 5e-324}, {{1, 1}, 1}};
  EXPECT_NE(refused(testing::matrix_of(2, 2, far_apart), 100).find("too far apart"), std::string::npos);
  std::string reason;
  EXPECT_THROW(sparse_inverse::prove(cpu, testing::matrix_of(1, 2, {{{0, 0}, 1}}), {}, reason), shape_error);
}

TEST(prove_nonsingular, takes_the_sparse_inverse_for_what_is_sparse) {
  const device cpu = device::cpu(1);
  testing::entries list;
  const int n = 200;
  for (int i = 0; i < n; ++i) {
    list[{i, (i + 1) % n}] = 1;
    list[{i, (i + 7) % n}] = 3;
  }
  const csr<double> A = testing::matrix_of(n, n, list);
  std::string reason;
  const auto proof = prove_nonsingular(cpu, A, structure<double>(cpu, A), {}, reason);
  ASSERT_NE(proof, nullptr) << reason;
  EXPECT_EQ(proof->method(), "sparse inverse");
}

}  // namespace
}  // namespace vouch
