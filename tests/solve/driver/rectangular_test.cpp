// Systems that are not square through the front door, and singular ones by QR, against Eigen in long double.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <string>
#include <vector>

#include <vouch/core/error.hpp>
#include <vouch/core/random.hpp>
#include <vouch/solve/direct/sparse_backends.hpp>
#include <vouch/solve/solver.hpp>
#include <vouch/sparse/transpose.hpp>

#include "../krylov_answer.hpp"

namespace vouch {
namespace {

using testing::as_eigen;
using testing::wide_matrix;
using testing::wide_vector;

const int found = setenv("VOUCH_BACKENDS", VOUCH_TEST_BACKENDS, 1);
const device cpu = device::cpu(2);

bool has_spqr() {
  for (const sparse_backend& b : sparse_backends())
    if (b.name == "spqr") return b.missing.empty();
  return false;
}

#define NEEDS_SPQR() \
  if (!has_spqr()) GTEST_SKIP() << "there is no SPQR"

// Columns of sizes from 1e-2 to 1e2; of so many the last are combinations of the first two.
csr<double> tall(std::int32_t rows, std::int32_t cols, std::uint64_t seed, std::int32_t dependent = 0) {
  std::vector<testing::triplet> entries;
  const auto value = [&](std::int32_t i, std::int32_t j) {
    const auto key = static_cast<std::uint64_t>(i * cols + j);
    return i % cols == j || random_bits(seed, key) % 5 == 0
               ? (random_unit(seed + 1, key) - 0.5) * std::pow(10.0, j % 5 - 2)
               : 0.0;
  };
  for (std::int32_t i = 0; i < rows; ++i)
    for (std::int32_t j = 0; j < cols; ++j) {
      const double v = j < cols - dependent ? value(i, j) : (j + 1) * value(i, 0) - value(i, 1);
      if (v != 0) entries.push_back({i, j, v});
    }
  csr<double> A = testing::from_triplets(rows, entries);
  A.cols = cols;
  return A;
}

struct answer {
  solve_result result;
  std::vector<double> x;
};

answer solve_with(const csr<double>& A, const std::vector<double>& b, const std::string& method = "auto") {
  solve_options how;
  how.method = method;
  answer a{{}, std::vector<double>(static_cast<std::size_t>(A.cols))};
  a.result = solve(cpu, A, view<const double>(b.data(), A.rows), view<double>(a.x.data(), A.cols), how);
  return a;
}

double apart(const std::vector<double>& x, const wide_vector& y) {
  return static_cast<double>((as_eigen(x) - y).norm() / y.norm());
}

double gradient(const csr<double>& A, const std::vector<double>& b, const std::vector<double>& x) {
  const wide_matrix M = as_eigen(A);
  const wide_vector r = as_eigen(b) - M * as_eigen(x);
  return static_cast<double>((M.transpose() * r).norm() / (M.norm() * r.norm()));
}

TEST(rectangular, tall_systems_have_the_least_residual) {
  for (std::uint64_t seed = 1; seed < 6; ++seed) {
    const csr<double> A = tall(90, 31, seed);
    const std::vector<double> b = testing::random_vector(A.rows, seed);
    const answer a = solve_with(A, b);
    ASSERT_EQ(a.result.status, solve_status::converged) << a.result.reason;
    EXPECT_EQ(a.result.method, has_spqr() ? "sparse-qr" : "lsmr");
    EXPECT_EQ(a.result.problem, "least-squares");
    ASSERT_TRUE(a.result.normal_equations.has_value());
    EXPECT_NEAR(*a.result.normal_equations, gradient(A, b, a.x), 1e-15);
    EXPECT_LE(gradient(A, b, a.x), has_spqr() ? 1e-14 : 1e-8);
    EXPECT_LE(apart(a.x, as_eigen(A).colPivHouseholderQr().solve(as_eigen(b))), has_spqr() ? 1e-11 : 1e-4);
  }
}

TEST(rectangular, wide_systems_have_the_shortest_solution) {
  NEEDS_SPQR();
  for (std::uint64_t seed = 1; seed < 6; ++seed) {
    const csr<double> A = transpose<double>(cpu, tall(90, 31, seed));
    const std::vector<double> b = testing::random_vector(A.rows, seed);
    const answer a = solve_with(A, b);
    ASSERT_EQ(a.result.status, solve_status::converged) << a.result.reason;
    EXPECT_EQ(a.result.problem, "least-norm");
    EXPECT_EQ(a.result.rank, A.rows);
    EXPECT_LE(apart(a.x, as_eigen(A).completeOrthogonalDecomposition().solve(as_eigen(b))), 1e-11);
  }
}

TEST(rectangular, what_has_not_full_rank_is_solved_and_said) {
  NEEDS_SPQR();
  const csr<double> A = tall(60, 20, 7, 3);
  const std::vector<double> b = testing::random_vector(A.rows, 3);
  const answer a = solve_with(A, b, "sparse-qr");
  ASSERT_EQ(a.result.status, solve_status::converged) << a.result.reason;
  EXPECT_EQ(a.result.rank, 17);
  ASSERT_FALSE(a.result.warnings.empty());
  EXPECT_NE(a.result.warnings.front().find("depend on one another"), std::string::npos);
  EXPECT_LE(gradient(A, b, a.x), 1e-13);

  const csr<double> B = transpose<double>(cpu, A);
  const std::vector<double> outside = testing::random_vector(B.rows, 3);
  EXPECT_NE(solve_with(B, outside, "sparse-qr").result.status, solve_status::converged);
  const answer least = solve_with(B, outside);
  EXPECT_EQ(least.result.status, solve_status::converged) << least.result.reason;
  EXPECT_EQ(least.result.problem, "least-squares");
  EXPECT_LE(gradient(B, outside, least.x), 1.1e-8);

  std::vector<double> inside(static_cast<std::size_t>(B.rows));
  const wide_vector image = as_eigen(B) * as_eigen(testing::random_vector(B.cols, 8));
  for (std::size_t i = 0; i < inside.size(); ++i)
    inside[i] = static_cast<double>(image(static_cast<Eigen::Index>(i)));
  const answer shortest = solve_with(B, inside, "sparse-qr");
  ASSERT_EQ(shortest.result.status, solve_status::converged) << shortest.result.reason;
  wide_matrix M = as_eigen(B);
  Eigen::JacobiSVD<wide_matrix> svd(M, Eigen::ComputeThinU | Eigen::ComputeThinV);
  svd.setThreshold(1e-12L);
  EXPECT_LE(apart(shortest.x, svd.solve(as_eigen(inside))), 1e-9);
}

TEST(rectangular, singular_square_systems_are_solved_where_they_can_be) {
  NEEDS_SPQR();
  csr<double> A = tall(40, 40, 9, 2);
  const std::vector<double> x = testing::random_vector(40, 2);
  const wide_vector image = as_eigen(A) * as_eigen(x);
  std::vector<double> b(40);
  for (std::size_t i = 0; i < 40; ++i) b[i] = static_cast<double>(image(static_cast<Eigen::Index>(i)));
  const answer inside = solve_with(A, b);
  EXPECT_EQ(inside.result.status, solve_status::converged) << inside.result.reason;
  EXPECT_EQ(inside.result.problem, "square");
  const answer qr = solve_with(A, testing::random_vector(40, 3), "sparse-qr");
  EXPECT_EQ(qr.result.status, solve_status::breakdown);
  EXPECT_EQ(qr.result.rank, 38);
  EXPECT_NE(qr.result.reason.find("singular"), std::string::npos) << qr.result.reason;
  EXPECT_NE(solve_with(A, testing::random_vector(40, 3)).result.status, solve_status::converged);
}

TEST(rectangular, columns_are_solved_each_and_repeat_their_bits) {
  NEEDS_SPQR();
  for (const bool wide : {false, true}) {
    const csr<double> A = wide ? transpose<double>(cpu, tall(50, 20, 4)) : tall(50, 20, 4);
    const std::vector<double> B = testing::random_vector(3 * A.rows, 5);
    std::vector<double> X(static_cast<std::size_t>(3 * A.cols)), again(X.size());
    solver S(cpu, A);
    const solve_result all = S.solve(matrix_view<const double>{B.data(), A.rows, 3, A.rows},
                                     matrix_view<double>{X.data(), A.cols, 3, A.cols});
    EXPECT_EQ(all.status, solve_status::converged) << all.reason;
    ASSERT_EQ(all.columns.size(), 3U);
    S.solve(matrix_view<const double>{B.data(), A.rows, 3, A.rows},
            matrix_view<double>{again.data(), A.cols, 3, A.cols});
    EXPECT_LE(apart(again, as_eigen(X)), 1e-15);
    for (std::int64_t j = 0; j < 3; ++j) {
      const std::vector<double> b(B.begin() + j * A.rows, B.begin() + (j + 1) * A.rows);
      const std::vector<double> x(X.begin() + j * A.cols, X.begin() + (j + 1) * A.cols);
      EXPECT_LE(apart(x, as_eigen(A).completeOrthogonalDecomposition().solve(as_eigen(b))), 1e-11);
    }
  }
}

TEST(rectangular, iterations_take_them_by_name) {
  const csr<double> A = tall(80, 23, 3);
  const std::vector<double> b = testing::random_vector(A.rows, 4);
  for (const char* method : {"lsqr", "lsmr"}) {
    const answer a = solve_with(A, b, method);
    EXPECT_EQ(a.result.status, solve_status::converged) << a.result.reason;
    EXPECT_EQ(a.result.problem, "least-squares");
    EXPECT_LE(gradient(A, b, a.x), 1.1e-8);
    const csr<double> B = transpose<double>(cpu, A);
    const answer wide = solve_with(B, testing::random_vector(B.rows, 4), method);
    EXPECT_EQ(wide.result.status, solve_status::converged) << wide.result.reason;
    EXPECT_EQ(wide.result.problem, "least-squares");
    EXPECT_NE(wide.result.warnings.front().find("not the shortest"), std::string::npos);
  }
}

TEST(rectangular, what_has_no_rows_or_no_columns_is_solved) {
  const auto empty = [](std::int64_t rows, std::int64_t cols) {
    csr<double> A = testing::from_triplets(rows, {});
    A.cols = cols;
    return A;
  };
  EXPECT_EQ(solve_with(empty(0, 4), {}).result.status, solve_status::converged);
  EXPECT_EQ(solve_with(empty(4, 0), {1, 2, 3, 4}).result.status, solve_status::converged);
}

// The least digits that all methods have: x is improved, and the verdict is about the improved one.
TEST(rectangular, solutions_are_proved) {
  for (const bool wide : {false, true}) {
    const csr<double> A = wide ? transpose<double>(cpu, tall(50, 20, 4)) : tall(50, 20, 4);
    const std::vector<double> B = testing::random_vector(2 * A.rows, 6);
    std::vector<double> X(static_cast<std::size_t>(2 * A.cols));
    solve_options how;
    how.method = wide ? "auto" : "lsmr";
    how.proof = proof_request{1e-13};
    const solve_result result = solve(cpu, A, matrix_view<const double>{B.data(), A.rows, 2, A.rows},
                                      matrix_view<double>{X.data(), A.cols, 2, A.cols}, how);
    EXPECT_EQ(result.status, solve_status::converged) << result.reason;
    ASSERT_TRUE(result.proof && result.proof->reached) << result.proof->reason;
    EXPECT_EQ(result.proof->problem, wide ? "least-norm" : "least-squares");
    EXPECT_TRUE(std::isinf(result.proof->condition_estimate));
    if (!wide) {
      EXPECT_GT(result.proof->refinements, 0);
    }
    ASSERT_EQ(result.proof->radius.size(), 2 * A.cols);
    for (std::int64_t j = 0; j < 2; ++j) {
      const std::vector<double> b(B.begin() + j * A.rows, B.begin() + (j + 1) * A.rows);
      const std::vector<double> x(X.begin() + j * A.cols, X.begin() + (j + 1) * A.cols);
      if (!wide) {
        EXPECT_LE(gradient(A, b, x), 1e-14);
      }
      EXPECT_LE(apart(x, as_eigen(A).completeOrthogonalDecomposition().solve(as_eigen(b))), 1e-13);
    }
  }
}

TEST(rectangular, what_has_not_full_rank_is_not_proved) {
  const csr<double> A = tall(30, 10, 7, 2);
  const std::vector<double> b = testing::random_vector(A.rows, 3);
  std::vector<double> x(10);
  solve_options how;
  how.proof = proof_request{};
  const solve_result result = solve(cpu, A, view<const double>(b.data(), 30), view<double>(x.data(), 10), how);
  EXPECT_EQ(result.status, solve_status::converged) << result.reason;
  ASSERT_TRUE(result.proof);
  EXPECT_FALSE(result.proof->verified);
  EXPECT_NE(result.proof->reason.find("not full column rank"), std::string::npos) << result.proof->reason;
}

TEST(rectangular, what_cannot_be_is_refused) {
  const csr<double> A = tall(12, 5, 1);
  const std::vector<double> b(12, 1.0);
  std::vector<double> x(12);
  const auto attempt = [&](const solve_options& how, std::int64_t length = 5) {
    solve(cpu, A, view<const double>(b.data(), 12), view<double>(x.data(), length), how);
  };
  for (const method* m : methods())
    if (!m->any_shape && m->takes.has(matrix_form::sparse)) {
      solve_options how;
      how.method = m->name;
      EXPECT_THROW(attempt(how), shape_error) << m->name;
    }
  EXPECT_THROW(attempt({}, 12), shape_error);
  solve_options single;
  single.precision = working_precision::single;
  EXPECT_THROW(attempt(single), value_error);
  solve_options counted;
  counted.goal.fixed_iterations = 3;
  EXPECT_THROW(attempt(counted), value_error);
  csr<double> wrong = tall(12, 5, 1);
  wrong.val[3] = std::nan("");
  EXPECT_THROW(solve(cpu, wrong, view<const double>(b.data(), 12), view<double>(x.data(), 5)), value_error);
}

}  // namespace
}  // namespace vouch
