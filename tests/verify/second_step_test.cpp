// Matrices of a condition number of 1 / u and more, whole numbers with a determinant of 1 or 0.
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <string>
#include <vector>

#include <vouch/dense/blas3.hpp>
#include <vouch/verify/dense/dense_inverse.hpp>
#include <vouch/verify/error_bound.hpp>
#include <vouch/verify/prove.hpp>
#include <vouch/verify/sparse/positive_definite.hpp>

#include "devices.hpp"
#include "sparse/matrices.hpp"
#include "verify/proofs.hpp"

namespace vouch {
namespace {

using testing::dice;
using whole = std::vector<std::vector<double>>;

std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

// Unit lower triangular, with so many entries of -most to most below the diagonal as `density` says.
whole unit_lower(dice& die, int n, int most, double density) {
  whole L(at(n), std::vector<double>(at(n)));
  for (int i = 0; i < n; ++i) {
    L[at(i)][at(i)] = 1;
    for (int j = 0; j < i; ++j)
      if (die.unit() < density) L[at(i)][at(j)] = die.below(2 * most + 1) - most;
  }
  return L;
}

whole transposed(const whole& M) {
  whole T = M;
  for (std::size_t i = 0; i < M.size(); ++i)
    for (std::size_t j = 0; j < M.size(); ++j) T[i][j] = M[j][i];
  return T;
}

// Exact as long as all sums stay below 2^53, which entries of this size do.
whole product(const whole& A, const whole& B) {
  whole C(A.size(), std::vector<double>(A.size()));
  for (std::size_t i = 0; i < A.size(); ++i)
    for (std::size_t k = 0; k < A.size(); ++k)
      for (std::size_t j = 0; j < A.size(); ++j) C[i][j] += A[i][k] * B[k][j];
  return C;
}

// Row after row, which is exact for whole numbers below 2^53 and good to some digits beyond.
whole inverse_of_unit_lower(const whole& L) {
  whole X(L.size(), std::vector<double>(L.size()));
  for (std::size_t i = 0; i < L.size(); ++i) {
    X[i][i] = 1;
    for (std::size_t k = 0; k < i; ++k)
      for (std::size_t j = 0; j <= k; ++j) X[i][j] -= L[i][k] * X[k][j];
  }
  return X;
}

double norm(const whole& A) {
  double most = 0;
  for (const auto& row : A)
    most = std::max(most, std::accumulate(row.begin(), row.end(), 0.0,
                                          [](double sum, double a) { return sum + std::fabs(a); }));
  return most;
}

matrix<double> placed(const device& dev, const whole& A) {
  std::vector<double> entries;
  for (std::size_t j = 0; j < A.size(); ++j)
    for (const auto& row : A) entries.push_back(row[j]);
  return matrix<double>::from(dev, std::ssize(A), std::ssize(A), entries);
}

// L U and its condition number.
struct unimodular {
  whole A;
  double condition;
};

unimodular made(dice& die, int n, int most, double density) {
  const whole L = unit_lower(die, n, most, density), U = unit_lower(die, n, most, density);
  unimodular M{product(L, transposed(U)), 0};
  M.condition = norm(M.A) * norm(product(transposed(inverse_of_unit_lower(U)), inverse_of_unit_lower(L)));
  return M;
}

testing::rational_matrix exactly(const whole& A) {
  testing::rational_matrix M;
  for (const auto& row : A) M.emplace_back(row.begin(), row.end());
  return M;
}

TEST(second_step, bounds_hold_up_to_a_condition_of_1e21_and_singular_matrices_never_verify) {
  int beyond = 0, proved_beyond = 0, twice = 0, singular = 0;
  for (const device& dev : testing::devices())
    for (int c = 0; c < testing::campaign(20000); ++c) {
      dice die(static_cast<std::uint64_t>(c) + 31000000);
      const int n = 9 + die.below(5);
      unimodular M = made(die, n, 3 + die.below(12), 0.9);
      if (!(M.condition < 1e21)) continue;
      const bool is_singular = c % 4 == 0;
      if (is_singular)  // a whole combination of other rows, moved by nothing
        for (std::size_t j = 0; j < M.A.size(); ++j)
          M.A[at(n - 1)][j] = 2 * M.A[0][j] - 3 * M.A[1][j] + M.A[2][j];
      std::string reason;
      const auto A = placed(dev, M.A);
      const auto proof = dense_inverse::prove(dev, A.read(), {}, reason);
      if (is_singular) {
        ++singular;
        ASSERT_EQ(proof, nullptr) << "case " << c;
        continue;
      }
      const bool is_beyond = M.condition > 1e15;
      beyond += is_beyond;
      if (proof == nullptr) continue;
      proved_beyond += is_beyond;
      twice += proof->method() == "approximate inverse, second step";
      std::vector<double> b;
      for (int i = 0; i < n; ++i) b.push_back(die.below(2001) - 1000);
      const auto exact = testing::exact_solution(exactly(M.A), b);
      testing::expect_bound_holds(dev, A.read(), *proof, b, *exact, die, 0, c);
      ASSERT_FALSE(HasFailure());
    }
  EXPECT_GE(proved_beyond, beyond * 99 / 100);
  EXPECT_GT(beyond, 20);
  EXPECT_GT(twice, 20);
  EXPECT_GT(singular, 30);
}

// Hilbert's matrices times the least common multiple of their denominators: 1.7e16 for 12 rows, 6e18 for 14.
TEST(second_step, hilbert_matrices_are_solved) {
  for (const device& dev : testing::devices())
    for (int n = 10; n <= 14; ++n) {
      std::int64_t multiple = 1;
      for (std::int64_t k = 2; k < 2 * n; ++k) multiple = std::lcm(multiple, k);
      whole H(at(n), std::vector<double>(at(n)));
      for (int i = 0; i < n; ++i)
        for (int j = 0; j < n; ++j) H[at(i)][at(j)] = static_cast<double>(multiple / (i + j + 1));
      std::string reason;
      const auto A = placed(dev, H);
      const auto proof = prove_nonsingular(dev, A.read(), {}, reason);
      ASSERT_NE(proof, nullptr) << n << ": " << reason;
      dice die(static_cast<std::uint64_t>(n));
      std::vector<double> b(at(n), 1.0);
      const auto exact = testing::exact_solution(exactly(H), b);
      const error_bound bound = testing::expect_bound_holds(dev, A.read(), *proof, b, *exact, die, 1e-2, n);
      EXPECT_TRUE(bound.reached) << n << ": " << bound.reason;
    }
}

// The solution is e: sums of whole numbers are exact.
TEST(second_step, larger_matrices_are_solved_from_zero) {
  for (const device& dev : testing::devices())
    for (const double density : {0.3, 0.33}) {
      constexpr int n = 100;
      dice die(12);
      const unimodular M = made(die, n, 2, density);
      ASSERT_GT(M.condition, 1e15);
      ASSERT_LT(M.condition, 1e21);
      std::vector<double> b;
      for (const auto& row : M.A) b.push_back(std::accumulate(row.begin(), row.end(), 0.0));
      const auto A = placed(dev, M.A);
      std::string reason;
      const auto proof = prove_nonsingular(dev, A.read(), {}, reason);
      ASSERT_NE(proof, nullptr) << M.condition << ": " << reason;
      array<double> x = array<double>::zeros(dev, n);
      const error_bound bound =
          bound_error(dev, A.read(), *proof, array<double>::from(dev, b), x, {{}, 1e-8, 10});
      EXPECT_TRUE(bound.reached) << M.condition << ": " << bound.reason;
      const std::vector<double> found = x.to_vector(), radius = bound.radius.to_vector();
      for (std::size_t i = 0; i < n; ++i) ASSERT_LE(std::fabs(found[i] - 1), radius[i]);
    }
}

// L L^T, which Cholesky's method cannot prove to be positive definite.
TEST(second_step, positive_definite_matrices_go_on_to_it) {
  const device cpu = device::cpu(1);
  constexpr int n = 12;
  int refused = 0, twice = 0;
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    dice die(seed);
    const whole L = unit_lower(die, n, 9, 0.8), A = product(L, transposed(L));
    testing::entries list;
    for (int i = 0; i < n; ++i)
      for (int j = 0; j < n; ++j) list[{i, j}] = A[at(i)][at(j)];
    const csr<double> sparse = testing::matrix_of(n, n, list);
    std::string reason;
    if (positive_definite::prove(cpu, sparse, {}, reason) != nullptr) continue;
    ++refused;
    const auto proof = prove_nonsingular(cpu, sparse, structure<double>(cpu, sparse), {}, reason);
    ASSERT_NE(proof, nullptr) << reason;
    twice += proof->method() == "approximate inverse, second step";
    const std::vector<double> b(at(n), 1.0);
    const int number = static_cast<int>(seed);
    testing::expect_bound_holds(cpu, sparse, *proof, b, *testing::exact_solution(exactly(A), b), die, 0,
                                number);
  }
  EXPECT_GT(refused, 10);
  EXPECT_GT(twice, 2);
}

// No larger radius of the entries comes through than those of a proof in one step.
TEST(second_step, uncertain_matrices_of_such_a_condition_are_not_proved) {
  const device cpu = device::cpu(1);
  dice die(7);
  unimodular M = made(die, 10, 10, 0.9);
  while (!(M.condition > 1e15 && M.condition < 1e17)) M = made(die, 10, 10, 0.9);
  std::string reason;
  EXPECT_NE(dense_inverse::prove(cpu, placed(cpu, M.A).read(), {}, reason), nullptr);
  EXPECT_EQ(dense_inverse::prove(cpu, placed(cpu, M.A).read(), {1e-10, 0}, reason), nullptr);
  EXPECT_NE(reason.find("second step"), std::string::npos);
}

}  // namespace
}  // namespace vouch
