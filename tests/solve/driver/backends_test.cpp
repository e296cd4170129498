// Factorisations by other libraries, where their modules are, against Eigen.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <string>
#include <vector>

#include <Eigen/Dense>

#include <vouch/core/error.hpp>
#include <vouch/generate/problems.hpp>
#include <vouch/generate/solution.hpp>
#include <vouch/solve/direct/sparse_backends.hpp>
#include <vouch/solve/pattern_batch.hpp>
#include <vouch/solve/solver.hpp>

#include "../systems.hpp"

namespace vouch {
namespace {

// Before the modules are looked for.
const int found = setenv("VOUCH_BACKENDS", VOUCH_TEST_BACKENDS, 1);
const device cpu = device::cpu(2);

class backends : public ::testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    for (const sparse_backend& b : sparse_backends())
      if (b.name == GetParam() && !b.missing.empty()) GTEST_SKIP() << b.missing;
  }
  solve_options options() const {
    solve_options how;
    how.method = needs_definite() ? "sparse-cholesky" : "sparse-lu";
    how.backend = GetParam();
    how.goal.rtol = 1e-13;
    return how;
  }
  bool needs_definite() const { return GetParam() == std::string("cholmod"); }
};

// Symmetric positive definite, or with entries of its own above the diagonal.
csr<double> random_matrix(std::int32_t n, bool definite, std::uint64_t seed) {
  std::vector<testing::triplet> entries;
  const std::vector<double> v = testing::random_vector(6 * n, seed);
  for (std::int32_t i = 0; i < n; ++i) {
    entries.push_back({i, i, definite ? 9 : 0.1 * v[static_cast<std::size_t>(i)]});
    for (std::int32_t k = 1; k <= 2; ++k) {
      const std::int32_t j = (i * (2 * k + 1) + k * 7) % n;
      if (j == i) continue;
      const double value = v[static_cast<std::size_t>(k * n + i)];
      if (definite && j > i) {
        entries.push_back({i, j, value});
        entries.push_back({j, i, value});
      } else if (!definite) {
        entries.push_back({i, j, value});
      }
    }
    if (!definite) entries.push_back({i, (i + 1) % n, 2.5});
  }
  return testing::from_triplets(n, entries);
}

Eigen::VectorXd exact(const csr<double>& A, const array<double>& b) {
  Eigen::MatrixXd dense = Eigen::MatrixXd::Zero(A.rows, A.cols);
  for (std::int64_t i = 0; i < A.rows; ++i)
    for (std::int64_t k = A.row_ptr[i]; k < A.row_ptr[i + 1]; ++k) dense(i, A.col[k]) += A.val[k];
  return dense.partialPivLu().solve(Eigen::Map<const Eigen::VectorXd>(b.data(), A.rows));
}

TEST_P(backends, solve_as_eigen_does) {
  for (const std::int32_t n : {1, 2, 30, 200})
    for (std::uint64_t seed = 1; seed < 4; ++seed) {
      const csr<double> A = random_matrix(n, needs_definite(), seed);
      const array<double> b = right_hand_side(cpu, A, make_solution(cpu, known_solution::random, n, seed));
      array<double> x = array<double>::zeros(cpu, n);
      const solve_result result = solve(cpu, A, b, x, options());
      ASSERT_EQ(result.status, solve_status::converged) << result.reason;
      EXPECT_EQ(result.backend, GetParam());
      const Eigen::VectorXd wanted = exact(A, b);
      for (std::int64_t i = 0; i < n; ++i)
        EXPECT_NEAR(x[i], wanted[i], 1e-9 * (1 + wanted.cwiseAbs().maxCoeff()));
      ASSERT_TRUE(result.condition_estimate.has_value());
      EXPECT_GE(*result.condition_estimate, 0.3);
    }
}

TEST_P(backends, repeat_their_bits) {
  const csr<double> A = generate_problem(cpu, "poisson-2d", {.nx = 60});
  const array<double> b = right_hand_side(cpu, A, make_solution(cpu, known_solution::random, A.rows));
  std::vector<double> first;
  for (int k = 0; k < 5; ++k) {
    array<double> x = array<double>::zeros(cpu, A.rows);
    EXPECT_FALSE(solve(cpu, A, b, x, options()).reproducible);
    if (k == 0) first = x.to_vector();
    EXPECT_EQ(x.to_vector(), first);
  }
}

TEST_P(backends, say_what_they_cannot_solve) {
  const std::int32_t n = 40;
  csr<double> A = random_matrix(n, needs_definite(), 5);
  std::vector<double> b(n, 1.0), x(n);
  const auto status = [&](const csr<double>& M) {
    return solve(cpu, M, view<const double>(b.data(), n), view<double>(x.data(), n), options()).status;
  };
  if (needs_definite()) {
    A.val[0] = 1e-3;  // no longer definite, which its signs do not show
    EXPECT_EQ(status(A), solve_status::not_spd);
    const csr<double> B = random_matrix(n, false, 5);
    EXPECT_THROW(status(B), value_error);
  } else {
    for (std::int64_t k = A.row_ptr[7]; k < A.row_ptr[8]; ++k) A.val[k] = 0;
    EXPECT_EQ(status(A), solve_status::breakdown);
  }
  csr<double> C = random_matrix(n, needs_definite(), 6);
  C.val[3] = std::nan("");
  EXPECT_THROW(status(C), value_error);
}

INSTANTIATE_TEST_SUITE_P(modules, backends, ::testing::Values("cholmod", "umfpack", "klu", "mumps"),
                         [](const auto& one) { return std::string(one.param); });

TEST_P(backends, take_new_values_on_an_old_order) {
  csr<double> A = random_matrix(120, needs_definite(), 7);
  const csr<double> other = random_matrix(120, needs_definite(), 8);
  const std::vector<double> b = testing::random_vector(120, 3);
  std::vector<double> x(120);
  solver S(cpu, A, options());
  for (int step = 0; step < 4; ++step) {
    const solve_result result = S.solve(view<const double>(b.data(), 120), view<double>(x.data(), 120));
    ASSERT_EQ(result.status, solve_status::converged) << result.reason;
    const Eigen::VectorXd wanted = exact(A, array<double>::from(cpu, b));
    for (std::size_t i = 0; i < x.size(); ++i)
      EXPECT_NEAR(x[i], wanted[static_cast<Eigen::Index>(i)], 1e-9 * (1 + wanted.cwiseAbs().maxCoeff()));
    std::fill(x.begin(), x.end(), 0.0);
    for (std::int64_t k = 0; k < A.nonzeros(); ++k) A.val[k] += 0.25 * (other.val[k] - A.val[k]);
    S.renew(A);
  }
  EXPECT_THROW(S.renew(random_matrix(121, needs_definite(), 7)), value_error);
  // Zeros that take the factors away are met, and forgotten with the next values.
  const std::vector<double> kept = A.val.to_vector();
  std::fill(A.val.begin(), A.val.end(), 0.0);
  if (!needs_definite()) {
    S.renew(A);
    EXPECT_EQ(S.solve(view<const double>(b.data(), 120), view<double>(x.data(), 120)).status,
              solve_status::breakdown);
  }
  std::copy(kept.begin(), kept.end(), A.val.begin());
  S.renew(A);
  EXPECT_EQ(S.solve(view<const double>(b.data(), 120), view<double>(x.data(), 120)).status,
            solve_status::converged);
}

// One analysis, many values; the singular one among them is missed alone.
TEST_P(backends, solve_batches_of_one_pattern) {
  constexpr std::int64_t n = 60, systems = 5, singular = 2;
  const csr<double> A = random_matrix(n, needs_definite(), 7), other = random_matrix(n, needs_definite(), 8);
  std::vector<double> values, b = testing::random_vector(systems * n, 4), x(b.size());
  std::vector<csr<double>> each;
  for (std::int64_t s = 0; s < systems; ++s) {
    each.push_back(A.to(cpu));
    for (std::int64_t k = 0; k < A.nonzeros(); ++k)
      each.back().val[k] =
          s == singular ? 0 : A.val[k] + 0.2 * static_cast<double>(s) * (other.val[k] - A.val[k]);
    values.insert(values.end(), each.back().val.begin(), each.back().val.end());
  }
  const pattern_batch batch{systems, n,        A.nonzeros(), A.row_ptr.data(), A.col.data(), values.data(),
                            false,   b.data(), false};
  const view<double> all(x.data(), systems * n);
  const solve_result result = solve(cpu, batch, all, options());
  EXPECT_EQ(result.status, solve_status::breakdown);
  EXPECT_EQ(result.batch->first_missed, std::vector<std::int64_t>{singular});
  for (std::int64_t s = 0; s < systems; ++s) {
    const std::vector<double> rhs(b.begin() + s * n, b.begin() + (s + 1) * n);
    EXPECT_EQ(result.batch->systems[static_cast<std::size_t>(s)].converged, s != singular);
    if (s == singular) {
      EXPECT_TRUE(std::isnan(x[static_cast<std::size_t>(s * n)]));
      continue;
    }
    const Eigen::VectorXd wanted = exact(each[static_cast<std::size_t>(s)], array<double>::from(cpu, rhs));
    for (std::int64_t i = 0; i < n; ++i)
      EXPECT_NEAR(x[static_cast<std::size_t>(s * n + i)], wanted[i], 1e-9 * (1 + wanted.cwiseAbs().maxCoeff()));
  }
  EXPECT_THROW(solve(cpu, batch, {x.data(), n}, options()), shape_error);
  std::fill(values.begin(), values.end(), std::nan(""));
  EXPECT_THROW(solve(cpu, batch, all, options()), value_error);
}

TEST_P(backends, solve_several_columns_at_once) {
  const csr<double> A = random_matrix(90, needs_definite(), 2);
  constexpr std::int64_t columns = 11;
  const std::vector<double> B = testing::random_vector(columns * A.rows, 6);
  std::vector<double> X(B.size());
  const solve_result all = solve(cpu, A, matrix_view<const double>{B.data(), A.rows, columns, A.rows},
                                 matrix_view<double>{X.data(), A.rows, columns, A.rows}, options());
  EXPECT_EQ(all.status, solve_status::converged) << all.reason;
  EXPECT_EQ(all.columns.size(), static_cast<std::size_t>(columns));
  for (std::int64_t j = 0; j < columns; ++j) {
    const std::vector<double> b(B.begin() + j * A.rows, B.begin() + (j + 1) * A.rows);
    const Eigen::VectorXd wanted = exact(A, array<double>::from(cpu, b));
    for (std::int64_t i = 0; i < A.rows; ++i)
      EXPECT_NEAR(X[static_cast<std::size_t>(j * A.rows + i)], wanted[i],
                  1e-9 * (1 + wanted.cwiseAbs().maxCoeff()));
  }
}

// Symmetric, with a block of zeros on the diagonal as constraints make it.
csr<double> saddle_point(std::int32_t unknowns, std::int32_t constraints, std::uint64_t seed) {
  std::vector<testing::triplet> entries;
  const std::vector<double> v = testing::random_vector(4 * unknowns, seed);
  for (std::int32_t i = 0; i < unknowns; ++i) {
    entries.push_back({i, i, 3 * v[static_cast<std::size_t>(i)]});
    const std::int32_t j = (i + 1) % unknowns;
    entries.push_back({i, j, v[static_cast<std::size_t>(unknowns + i)]});
    entries.push_back({j, i, v[static_cast<std::size_t>(unknowns + i)]});
    const std::int32_t k = unknowns + i % constraints;
    entries.push_back({i, k, v[static_cast<std::size_t>(2 * unknowns + i)]});
    entries.push_back({k, i, v[static_cast<std::size_t>(2 * unknowns + i)]});
  }
  return testing::from_triplets(unknowns + constraints, entries);
}

class ldlt : public backends {};

TEST_P(ldlt, counts_eigenvalues_by_their_signs) {
  for (std::uint64_t seed = 1; seed < 12; ++seed) {
    const csr<double> A = saddle_point(60, 1 + static_cast<std::int32_t>(seed), seed);
    Eigen::MatrixXd dense = Eigen::MatrixXd::Zero(A.rows, A.rows);
    for (std::int64_t i = 0; i < A.rows; ++i)
      for (std::int64_t k = A.row_ptr[i]; k < A.row_ptr[i + 1]; ++k) dense(i, A.col[k]) = A.val[k];
    const Eigen::VectorXd values = Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd>(dense).eigenvalues();
    const array<double> b = right_hand_side(cpu, A, make_solution(cpu, known_solution::random, A.rows, seed));
    array<double> x = array<double>::zeros(cpu, A.rows);
    solve_options how = options();
    how.method = "sparse-ldlt";
    const solve_result result = solve(cpu, A, b, x, how);
    ASSERT_EQ(result.status, solve_status::converged) << result.reason;
    ASSERT_TRUE(result.signs.has_value());
    EXPECT_EQ(result.signs->negative, (values.array() < 0).count());
    EXPECT_EQ(result.signs->positive, (values.array() > 0).count());
    EXPECT_EQ(result.signs->zero, 0);
    const Eigen::VectorXd wanted = exact(A, b);
    for (std::int64_t i = 0; i < A.rows; ++i)
      EXPECT_NEAR(x[i], wanted[i], 1e-8 * (1 + wanted.cwiseAbs().maxCoeff()));
  }
}

TEST_P(ldlt, goes_around_null_spaces) {
  // Constraints that are there twice: singular, and solved where b allows it.
  const csr<double> once = saddle_point(30, 3, 4);
  std::vector<testing::triplet> entries;
  for (std::int32_t i = 0; i < 33; ++i)
    for (std::int64_t k = once.row_ptr[i]; k < once.row_ptr[i + 1]; ++k) {
      entries.push_back({i, once.col[k], once.val[k]});
      if (i == 32) {
        entries.push_back({33, once.col[k], once.val[k]});
        entries.push_back({once.col[k], 33, once.val[k]});
      }
    }
  const csr<double> A = testing::from_triplets(34, entries);
  solve_options how = options();
  how.method = "sparse-ldlt";
  array<double> b = right_hand_side(cpu, A, make_solution(cpu, known_solution::random, A.rows, 1));
  array<double> x = array<double>::zeros(cpu, A.rows);
  const solve_result inside = solve(cpu, A, b, x, how);
  EXPECT_EQ(inside.status, solve_status::converged) << inside.reason;
  ASSERT_TRUE(inside.signs.has_value());
  EXPECT_EQ(inside.signs->zero, 1);
  EXPECT_EQ(inside.rank, 33);
  b[33] += 1;
  const solve_result outside = solve(cpu, A, b, x, how);
  EXPECT_EQ(outside.status, solve_status::breakdown) << outside.reason;
  EXPECT_EQ(outside.rank, 33);
  EXPECT_NE(outside.reason.find("singular"), std::string::npos) << outside.reason;
}

TEST_P(ldlt, refuses_what_is_not_symmetric) {
  const csr<double> A = random_matrix(30, false, 5);
  std::vector<double> b(30, 1.0), x(30);
  solve_options how = options();
  how.method = "sparse-ldlt";
  EXPECT_THROW(solve(cpu, A, view<const double>(b.data(), 30), view<double>(x.data(), 30), how), value_error);
}

INSTANTIATE_TEST_SUITE_P(modules, ldlt, ::testing::Values("mumps"),
                         [](const auto& one) { return std::string(one.param); });

TEST(backend_choice, goes_on_where_a_matrix_is_not_definite) {
  csr<double> A = generate_problem(cpu, "poisson-2d", {.nx = 80});
  for (std::int64_t i = 0; i < A.rows; ++i)
    for (std::int64_t k = A.row_ptr[i]; k < A.row_ptr[i + 1]; ++k)
      if (A.col[k] == i) A.val[k] *= 0.8;  // positive, but no definite matrix
  const array<double> b = right_hand_side(cpu, A, make_solution(cpu, known_solution::smooth, A.rows));
  array<double> x = array<double>::zeros(cpu, A.rows);
  solve_options definite;
  definite.method = "sparse-cholesky";
  for (const sparse_backend& library : sparse_backends())
    if (library.name == "cholmod" && library.missing.empty()) {
      EXPECT_EQ(solve(cpu, A, b, x, definite).status, solve_status::not_spd);
    }
  const solve_result result = solve(cpu, A, b, x);
  EXPECT_EQ(result.status, solve_status::converged) << result.reason;
  EXPECT_NE(result.backend, "cholmod");
}

TEST_P(backends, are_asked_for_the_factors_that_they_make) {
  solve_options how = options();
  how.method = "auto";
  for (const std::int32_t n : {30, 3000}) {  // of small matrices, too
    const csr<double> A = random_matrix(n, true, 4);
    const std::vector<double> b = testing::random_vector(n, 5);
    auto x = array<double>::zeros(cpu, n);
    const solve_result result = solve(cpu, A, array<double>::from(cpu, b), x, how);
    EXPECT_EQ(result.status, solve_status::converged) << result.reason;
    EXPECT_EQ(result.backend, GetParam());
    EXPECT_EQ(result.attempts.size(), 1U);
  }
}

TEST(backend_choice, names_are_looked_up) {
  const csr<double> A = random_matrix(30, true, 1);
  std::vector<double> b(30, 1.0), x(30);
  solve_options how;
  how.backend = "no-such";
  EXPECT_THROW(solve(cpu, A, view<const double>(b.data(), 30), view<double>(x.data(), 30), how), value_error);
  how.backend = "own";
  const solve_result own = solve(cpu, A, view<const double>(b.data(), 30), view<double>(x.data(), 30), how);
  EXPECT_EQ(own.method, "sparse-lu");
  EXPECT_EQ(own.backend, "own");
  how.method = "cg";
  EXPECT_THROW(solve(cpu, A, view<const double>(b.data(), 30), view<double>(x.data(), 30), how), value_error);
}

}  // namespace
}  // namespace vouch
