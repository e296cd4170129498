#include <vouch/verify/sparse/positive_definite.hpp>

#include <gtest/gtest.h>

#include <vouch/core/error.hpp>
#include <vouch/io/matrix_market.hpp>
#include <vouch/verify/error_bound.hpp>

#include "data.hpp"
#include "devices.hpp"
#include "sparse/matrices.hpp"
#include "verify/proofs.hpp"

namespace vouch {
namespace {

using testing::dice;

// G^T G for a G of whole numbers, exactly: singular for fewer rows than columns, and not positive definite once
// a unit is taken from the diagonal.
csr<double> gram(dice& die, int n, int rows, int shift, double graded, double density = 0.6) {
  std::vector<std::vector<double>> G(static_cast<std::size_t>(rows),
                                     std::vector<double>(static_cast<std::size_t>(n)));
  for (auto& row : G)
    for (double& value : row) value = die.unit() < density ? die.below(2001) - 1000 : 0;
  testing::entries list;
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j) {
      double sum = i == j ? shift : 0;
      for (const auto& row : G) sum += row[static_cast<std::size_t>(i)] * row[static_cast<std::size_t>(j)];
      if (sum != 0 || i == j) list[{i, j}] = std::ldexp(sum, static_cast<int>(graded) * (i + j));
    }
  return testing::matrix_of(n, n, list);
}

bool positive(const csr<double>& A) {
  testing::rational_matrix M = testing::exactly(A);
  for (std::size_t k = 0; k < M.size(); ++k) {
    if (M[k][k] <= 0) return false;
    for (std::size_t i = k + 1; i < M.size(); ++i) {
      const mpq_class factor = M[i][k] / M[k][k];
      for (std::size_t j = k; j < M.size(); ++j) M[i][j] -= factor * M[k][j];
    }
  }
  return true;
}

TEST(positive_definite, bounds_hold_and_nothing_else_is_proved) {
  int proved = 0, refused = 0;
  for (const device& dev : testing::devices())
    for (int c = 0; c < testing::campaign(dev.is_cuda() ? 10000 : 100000); ++c) {
      dice die(static_cast<std::uint64_t>(c) + 5000000);
      const int n = 1 + die.below(8);
      const int rows = c % 3 == 0 ? n - 1 : n + die.below(2);
      const csr<double> A =
          gram(die, n, rows, c % 5 == 0 ? die.below(3) - 1 : 0, c % 2 == 0 ? die.below(9) : 0);
      const csr<double> placed = A.to(dev);
      std::string reason;
      const auto proof = positive_definite::prove(dev, placed, {}, reason);
      ASSERT_EQ(proof == nullptr, !reason.empty());
      if (!positive(A)) {
        ++refused;
        ASSERT_EQ(proof, nullptr) << "case " << c;
        continue;
      }
      if (proof == nullptr) continue;
      ++proved;
      std::vector<double> b;
      for (int i = 0; i < n; ++i) b.push_back(die.number(true));
      const auto exact = testing::exact_solution(testing::exactly(A), b);
      testing::expect_bound_holds(dev, placed, *proof, b, *exact, die, c % 2 == 0 ? 1e-14 : 0, c);
      ASSERT_FALSE(HasFailure());
    }
  EXPECT_GT(proved, 200);
  EXPECT_GT(refused, 200);
}

// Sparse ones, whose factors have several fronts: singular where a column of G is 0, or nearly so.
TEST(positive_definite, sparse_matrices_are_proved_and_singular_ones_are_not) {
  const device cpu = device::cpu(1);
  int proved = 0, refused = 0;
  for (int c = 0; c < testing::campaign(20000); ++c) {
    dice die(static_cast<std::uint64_t>(c) + 7000000);
    const int n = 6 + die.below(12);
    const csr<double> A = gram(die, n, c % 3 == 0 ? n - 1 : 2 * n, 0, c % 2 == 0 ? die.below(3) : 0, 2.5 / n);
    std::string reason;
    const auto proof = positive_definite::prove(cpu, A, {}, reason);
    ASSERT_EQ(proof == nullptr, !reason.empty());
    if (!positive(A)) {
      ++refused;
      ASSERT_EQ(proof, nullptr) << "case " << c;
    }
    if (proof == nullptr) continue;
    ++proved;
    std::vector<double> b;
    for (int i = 0; i < n; ++i) b.push_back(die.number(true));
    const auto exact = testing::exact_solution(testing::exactly(A), b);
    testing::expect_bound_holds(cpu, A, *proof, b, *exact, die, 0, c);
    ASSERT_FALSE(HasFailure());
  }
  EXPECT_GT(proved, 20);
  EXPECT_GT(refused, 20);
}

// [[1, a], [a, 1]] has the eigenvalue 1 - a: what is proved is below and not by much.
TEST(positive_definite, the_eigenvalue_bound_is_below_and_near) {
  for (const double gap : {0.5, 1e-3, 1e-8, 1e-14}) {
    const csr<double> A =
        testing::matrix_of(2, 2, {{{0, 0}, 1}, {{0, 1}, 1 - gap}, {{1, 0}, 1 - gap}, {{1, 1}, 1}});
    std::string reason;
    const auto proof = positive_definite::prove(device::cpu(1), A, {}, reason);
    ASSERT_NE(proof, nullptr) << reason;
    EXPECT_LE(proof->eigenvalue_bound(), 1 - (1 - gap));
    EXPECT_GE(proof->eigenvalue_bound(), 0.3 * gap);
  }
}

TEST(positive_definite, refuses_what_it_cannot_treat) {
  const device cpu = device::cpu(1);
  std::string reason;
  EXPECT_THROW(positive_definite::prove(cpu, testing::matrix_of(2, 2, {{{0, 1}, 1.0}}), {}, reason),
               value_error);
  EXPECT_THROW(positive_definite::prove(cpu, testing::matrix_of(1, 2, {{{0, 1}, 1.0}}), {}, reason),
               shape_error);
  const csr<double> A =
      testing::matrix_of(3, 3, {{{0, 0}, 1}, {{1, 1}, 1}, {{2, 2}, 1}, {{0, 2}, 0.1}, {{2, 0}, 0.1}});
  positive_definite_options small;
  small.most_entries = 2;
  EXPECT_EQ(positive_definite::prove(cpu, A, small, reason), nullptr);
  EXPECT_NE(reason.find("entries"), std::string::npos);
}

// Stiffness matrices with condition numbers to 10^10: from x = 0, refined, at least 6 digits; the bounds of
// runs with different starts must overlap, since both hold the solution.
TEST(positive_definite, verifies_stiffness_matrices) {
  const device cpu = device::cpu(2);
  for (const char* name : {"bcsstk11", "bcsstk13", "bcsstk14", "bcsstk15", "bcsstk16"}) {
    const std::string path = testing::data_file(std::string("matrices/") + name + ".mtx");
    VOUCH_NEEDS_DATA(path);
    const csr<double> A = read_csr(cpu, path);
    std::string reason;
    const auto proof = positive_definite::prove(cpu, A, {}, reason);
    ASSERT_NE(proof, nullptr) << name << ": " << reason;
    const array<double> b =
        array<double>::from(cpu, std::vector<double>(static_cast<std::size_t>(A.rows), 1.0));
    array<double> x = array<double>::zeros(cpu, A.rows);
    const error_bound bound = bound_error(cpu, A, *proof, b, x, {{}, 1e-6, 10});
    EXPECT_TRUE(bound.reached) << name << ": " << bound.reason;
    EXPECT_GE(bound.digits(), 6) << name;
  }
}

}  // namespace
}  // namespace vouch
