#include <gtest/gtest.h>

#include <Eigen/SparseCholesky>
#include <algorithm>
#include <cmath>
#include <limits>
#include <mutex>
#include <string>

#include <vouch/core/cancellation.hpp>
#include <vouch/core/error.hpp>
#include <vouch/core/random.hpp>
#include <vouch/solve/distributed/row_bound.hpp>
#include <vouch/solve/distributed/row_solver.hpp>
#include <vouch/solve/krylov/cg.hpp>
#include <vouch/verify/sparse/h_matrix.hpp>

#include "distributed/split_systems.hpp"
#include "distributed/thread_ranks.hpp"

namespace vouch {
namespace {

using testing::named_matrix;
using testing::numbers_of_ranks;
using testing::on_ranks;

std::vector<double> random_rhs(std::int64_t n) {
  std::vector<double> b(static_cast<std::size_t>(n));
  for (std::size_t i = 0; i < b.size(); ++i) b[i] = random_unit(5, i) - 0.25;
  return b;
}

struct shared_answer {
  solve_report report;
  std::vector<double> x;
  solution_proof bound;
  std::vector<double> radius;
};

// As rank 0 has it, once all ranks were seen to say the same.
shared_answer solve_on(int count, const csr<double>& matrix, const std::vector<double>& b,
                       const row_solve_options& options, bool prove = false, int threads = 1) {
  shared_answer first;
  on_ranks(count, [&](communicator& ranks) {
    const device cpu = device::cpu(threads);
    const row_matrix A = row_matrix::from_entries(ranks, matrix.rows, testing::share_of(ranks, matrix));
    const std::vector<double> rhs = testing::part_of(A, b);
    std::vector<double> x(rhs.size(), 0.0);
    shared_answer mine;
    mine.report = solve_rows(cpu, A, {rhs.data(), A.rows()}, {x.data(), A.rows()}, options);
    mine.x = testing::whole_of(A, x.data());
    if (prove) {
      mine.bound = bound_rows(cpu, A, {rhs.data(), A.rows()}, {x.data(), A.rows()});
      if (mine.bound.verified) mine.radius = testing::whole_of(A, mine.bound.radius.data());
    }
    EXPECT_EQ(gather(ranks, mine.report.true_residual),
              std::vector<double>(static_cast<std::size_t>(count), mine.report.true_residual));
    if (ranks.rank() == 0) first = std::move(mine);
  });
  return first;
}

Eigen::VectorXd solved_by_eigen(const csr<double>& A, const std::vector<double>& b) {
  std::vector<Eigen::Triplet<double>> entries;
  for (std::int64_t i = 0; i < A.rows; ++i)
    for (std::int64_t k = A.row_ptr[i]; k < A.row_ptr[i + 1]; ++k)
      entries.emplace_back(static_cast<int>(i), A.col[k], A.val[k]);
  Eigen::SparseMatrix<double> matrix(A.rows, A.cols);
  matrix.setFromTriplets(entries.begin(), entries.end());
  const Eigen::SimplicialLDLT<Eigen::SparseMatrix<double>> factors(matrix);
  return factors.solve(Eigen::Map<const Eigen::VectorXd>(b.data(), A.rows));
}

void expect_same(const shared_answer& a, const shared_answer& b, const std::string& what) {
  EXPECT_EQ(a.x, b.x) << what;
  EXPECT_EQ(a.report.status, b.report.status) << what;
  EXPECT_EQ(a.report.reason, b.report.reason) << what;
  EXPECT_EQ(a.report.iterations, b.report.iterations) << what;
  EXPECT_EQ(a.report.true_residual, b.report.true_residual) << what;
  EXPECT_EQ(a.report.backward_error, b.report.backward_error) << what;
  EXPECT_EQ(a.report.error_estimate, b.report.error_estimate) << what;
  EXPECT_EQ(a.report.condition_estimate, b.report.condition_estimate) << what;
  ASSERT_EQ(a.report.history.size(), b.report.history.size()) << what;
  for (std::size_t k = 0; k < a.report.history.size(); ++k)
    EXPECT_EQ(a.report.history[k].residual, b.report.history[k].residual) << what;
}

TEST(row_cg, has_the_same_bits_on_any_number_of_ranks) {
  for (const named_matrix& m : testing::shared_matrices()) {
    const std::vector<double> b = random_rhs(m.A.rows);
    const Eigen::VectorXd exact = solved_by_eigen(m.A, b);
    for (const char* M : {"none", "jacobi", "chebyshev"}) {
      row_solve_options options;
      options.preconditioner.name = M;
      options.rtol = 1e-10;
      const shared_answer one = solve_on(1, m.A, b, options);
      ASSERT_EQ(one.report.status, solve_status::converged) << m.name << ' ' << M << ' ' << one.report.reason;
      const double away =
          (Eigen::Map<const Eigen::VectorXd>(one.x.data(), m.A.rows) - exact).norm() / exact.norm();
      EXPECT_LE(away, 1e-4) << m.name << ' ' << M;
      ASSERT_TRUE(one.report.error_estimate);
      EXPECT_GE(*one.report.error_estimate, away / 3) << m.name << ' ' << M;
      for (const int ranks : numbers_of_ranks)
        expect_same(one, solve_on(ranks, m.A, b, options), m.name + " " + M + " " + std::to_string(ranks));
    }
  }
}

TEST(row_cg, has_the_same_bits_on_any_number_of_threads) {
  const named_matrix m = std::move(testing::shared_matrices()[0]);
  const std::vector<double> b = random_rhs(m.A.rows);
  for (const char* M : {"jacobi", "chebyshev"}) {
    row_solve_options options;
    options.preconditioner.name = M;
    expect_same(solve_on(1, m.A, b, options, false, 1), solve_on(1, m.A, b, options, false, 3), M);
  }
}

TEST(row_cg, takes_as_many_iterations_as_that_of_one_process) {
  for (const named_matrix& m : testing::shared_matrices()) {
    const std::vector<double> b = random_rhs(m.A.rows);
    std::vector<double> x(b.size(), 0.0);
    const solve_report alone = cg<double>(device::cpu(1), m.A, {b.data(), m.A.rows}, {x.data(), m.A.rows});
    const shared_answer shared = solve_on(4, m.A, b, {});
    EXPECT_EQ(alone.status, shared.report.status);
    EXPECT_NEAR(static_cast<double>(alone.iterations), static_cast<double>(shared.report.iterations),
                2 + 0.02 * static_cast<double>(alone.iterations))
        << m.name;
  }
}

TEST(row_cg, solves_for_the_x_that_sums_to_zero_where_rows_do) {
  problem_options given;
  given.nx = 60;
  given.boundary = "neumann";
  const csr<double> A = generate_problem(device::cpu(1), "poisson-2d", given);
  std::vector<double> b = random_rhs(A.rows);
  shared_answer none = solve_on(3, A, b, {});
  EXPECT_EQ(none.report.status, solve_status::breakdown) << none.report.reason;
  double mean = 0;
  for (const double v : b) mean += v / static_cast<double>(A.rows);
  for (double& v : b) v -= mean;
  const shared_answer one = solve_on(1, A, b, {}, true);
  EXPECT_EQ(one.report.status, solve_status::converged) << one.report.reason;
  EXPECT_FALSE(one.bound.verified);
  double sum = 0;
  for (const double v : one.x) sum += v;
  EXPECT_NEAR(sum, 0, 1e-8);
  for (const int ranks : numbers_of_ranks) expect_same(one, solve_on(ranks, A, b, {}), std::to_string(ranks));
}

TEST(row_jacobi, has_the_same_bits_on_any_number_of_ranks) {
  problem_options given;
  given.nx = 50;
  const csr<double> A = generate_problem(device::cpu(1), "poisson-2d", given);
  const std::vector<double> b = random_rhs(A.rows);
  row_solve_options options;
  options.method = row_method::jacobi;
  options.rtol = 1e-4;
  const shared_answer one = solve_on(1, A, b, options);
  ASSERT_EQ(one.report.status, solve_status::converged) << one.report.reason;
  for (const int ranks : numbers_of_ranks)
    expect_same(one, solve_on(ranks, A, b, options), std::to_string(ranks));
}

TEST(row_solver, says_how_it_ended_as_every_solver_does) {
  problem_options given;
  given.nx = 60;
  csr<double> A = generate_problem(device::cpu(1), "poisson-2d", given);
  const std::vector<double> b = random_rhs(A.rows), zero(b.size(), 0.0);
  row_solve_options few;
  few.max_iterations = 3;
  EXPECT_EQ(solve_on(3, A, b, few).report.status, solve_status::max_iterations);
  row_solve_options exactly;
  exactly.fixed_iterations = 5;
  EXPECT_EQ(solve_on(3, A, b, exactly).report.status, solve_status::fixed);
  EXPECT_EQ(solve_on(3, A, zero, {}).report.status, solve_status::converged);
  row_solve_options beyond;
  beyond.rtol = 1e-30;
  EXPECT_EQ(solve_on(3, A, b, beyond).report.status, solve_status::stagnated);

  // A negative eigenvalue behind a positive diagonal; where it is found does not depend on the ranks.
  for (std::int64_t k = 0; k < A.nonzeros(); ++k)
    if (A.val[k] > 0) A.val[k] = 3.9;
  const shared_answer indefinite = solve_on(3, A, b, {});
  EXPECT_EQ(indefinite.report.status, solve_status::not_spd) << indefinite.report.reason;
  EXPECT_EQ(indefinite.report.reason, solve_on(1, A, b, {}).report.reason);
}

TEST(row_solver, refuses_what_the_method_cannot_solve_on_every_rank) {
  problem_options given;
  given.nx = 60;
  const csr<double> A = generate_problem(device::cpu(1), "poisson-2d", given);
  std::vector<double> b = random_rhs(A.rows);
  for (const int ranks : {1, 3}) {
    csr<double> bad = A.to(device::cpu(1));
    bad.val[bad.row_ptr[2000]] = -3;  // row 2001, column 1941: what mirrors it may stand on another rank
    EXPECT_EQ(
        testing::refusal([&] { solve_on(ranks, bad, b, {}); }),
        "conjugate gradients cannot solve this system: the matrix is not symmetric: entry (1941, 2001) is -1, "
        "entry (2001, 1941) is -3");
    bad = A.to(device::cpu(1));
    for (std::int64_t k = bad.row_ptr[3000]; k < bad.row_ptr[3001]; ++k)
      if (bad.col[k] == 3000) bad.val[k] = -4;
    EXPECT_EQ(
        testing::refusal([&] { solve_on(ranks, bad, b, {}); }),
        "conjugate gradients cannot solve this system: the diagonal entry of row 3001 is not positive: the "
        "matrix is not positive definite");
    row_solve_options other;
    other.preconditioner.name = "ic0";
    EXPECT_NE(testing::refusal([&] { solve_on(ranks, A, b, other); }), "");
    b[3500] = std::numeric_limits<double>::quiet_NaN();
    EXPECT_EQ(testing::refusal([&] { solve_on(ranks, A, b, {}); }),
              "the right-hand side holds a NaN or an infinity");
    b[3500] = 0;
  }
}

// A length that is wrong on one rank would leave the others waiting.
TEST(row_solver, refuses_on_all_ranks_what_is_wrong_on_one) {
  problem_options given;
  given.nx = 60;
  const csr<double> matrix = generate_problem(device::cpu(1), "poisson-2d", given);
  on_ranks(3, [&](communicator& ranks) {
    const row_matrix A = row_matrix::from_entries(ranks, matrix.rows, testing::share_of(ranks, matrix));
    const std::vector<double> b(static_cast<std::size_t>(A.rows()), 1.0);
    std::vector<double> x(b.size(), 0.0);
    const std::int64_t rows = ranks.rank() == 1 ? A.rows() - 1 : A.rows();
    const view<const double> all(b.data(), A.rows());
    const view<double> some(x.data(), rows);
    EXPECT_THROW(solve_rows(device::cpu(1), A, all, some), shape_error);
    EXPECT_THROW(bound_rows(device::cpu(1), A, all, view<const double>(x.data(), rows)), shape_error);
    // Each rank's own checkpoint would be taken for one of all rows.
    checkpoint kept("never written", 0);
    const checkpoint_scope saves(kept);
    EXPECT_THROW(solve_rows(device::cpu(1), A, all, {x.data(), A.rows()}), value_error);
  });
}

// One rank alone is asked to end.
TEST(row_solver, ends_on_all_ranks_when_one_is_asked_to) {
  problem_options given;
  given.nx = 60;
  const csr<double> matrix = generate_problem(device::cpu(1), "poisson-2d", given);
  const std::vector<double> b = random_rhs(matrix.rows);
  for (const char* M : {"none", "chebyshev"})
    on_ranks(3, [&](communicator& ranks) {
      cancellation request;
      const cancellation_scope listens(request);
      const row_matrix A = row_matrix::from_entries(ranks, matrix.rows, testing::share_of(ranks, matrix));
      const std::vector<double> rhs = testing::part_of(A, b);
      std::vector<double> x(rhs.size(), 0.0);
      row_solve_options options;
      options.preconditioner.name = M;
      options.rtol = 1e-14;
      options.on_iteration = [&](const iteration_record& r) {
        if (ranks.rank() == 2 && r.iteration == 4) request.request();
        return true;
      };
      const solve_report report =
          solve_rows(device::cpu(1), A, {rhs.data(), A.rows()}, {x.data(), A.rows()}, options);
      EXPECT_EQ(report.status, solve_status::interrupted);
      EXPECT_LE(report.iterations, 6);
    });
}

// Against Eigen's Cholesky factors in double, whose own error is far below these radii.
TEST(row_bound, holds_the_error_with_the_same_bits_on_any_number_of_ranks) {
  for (const named_matrix& m : testing::shared_matrices()) {
    const std::vector<double> b = random_rhs(m.A.rows);
    row_solve_options options;
    options.rtol = 1e-6;
    options.preconditioner.name = "jacobi";
    const shared_answer one = solve_on(1, m.A, b, options, true);
    std::string reason;
    const auto alone = h_matrix::prove(device::cpu(1), m.A, {{}, true, true}, reason);
    EXPECT_EQ(one.bound.verified, alone != nullptr) << m.name;
    if (alone == nullptr) {
      EXPECT_EQ(one.bound.reason, reason);
      continue;
    }
    ASSERT_TRUE(one.bound.verified) << m.name << ' ' << one.bound.reason;
    const Eigen::VectorXd exact = solved_by_eigen(m.A, b);
    double largest_error = 0;
    for (std::int64_t i = 0; i < m.A.rows; ++i) {
      const double error = std::fabs(one.x[static_cast<std::size_t>(i)] - exact[i]);
      EXPECT_LE(error, one.radius[static_cast<std::size_t>(i)] + 1e-13 * std::fabs(exact[i])) << m.name;
      largest_error = std::max(largest_error, error);
    }
    std::vector<double> relative;
    for (std::size_t i = 0; i < one.x.size(); ++i)
      relative.push_back(one.radius[i] / (std::fabs(one.x[i]) - one.radius[i]));
    for (double& v : relative)
      if (v < 0) v = std::numeric_limits<double>::infinity();
    std::nth_element(relative.begin(), relative.begin() + m.A.rows / 2, relative.end());
    EXPECT_NEAR(one.bound.median_relative, relative[static_cast<std::size_t>(m.A.rows / 2)],
                1e-6 * one.bound.median_relative);
    EXPECT_LE(one.bound.max_absolute, 10 * largest_error + 1e-13) << m.name;
    for (const int ranks : numbers_of_ranks) {
      const shared_answer more = solve_on(ranks, m.A, b, options, true);
      EXPECT_EQ(more.radius, one.radius) << m.name << ' ' << ranks;
      EXPECT_EQ(more.bound.median_relative, one.bound.median_relative);
      EXPECT_EQ(more.bound.max_relative, one.bound.max_relative) << m.name << ' ' << ranks;
      EXPECT_EQ(more.bound.reason, one.bound.reason);
    }
  }
}

TEST(row_bound, takes_an_unsymmetric_matrix_of_dominant_rows) {
  std::vector<matrix_entry> all;
  constexpr std::int32_t n = 3000;
  for (std::int32_t i = 0; i < n; ++i) {
    all.push_back({i, i, 4});
    if (i > 0) all.push_back({i, i - 1, -2});
    if (i + 1 < n) all.push_back({i, i + 1, 1});
  }
  for (const int count : {1, 3})
    on_ranks(count, [&](communicator& ranks) {
      const row_matrix A =
          row_matrix::from_entries(ranks, n, ranks.rank() == 0 ? all : std::vector<matrix_entry>{});
      // x = ones.
      std::vector<double> b(static_cast<std::size_t>(A.rows())), x(b.size(), 0.0);
      for (std::int64_t i = 0; i < A.rows(); ++i) {
        const std::int64_t row = A.first_row() + i;
        b[static_cast<std::size_t>(i)] = row == 0 ? 5 : row == n - 1 ? 2 : 3;
      }
      row_solve_options options;
      options.method = row_method::jacobi;
      const view<const double> rhs(b.data(), A.rows());
      EXPECT_EQ(solve_rows(device::cpu(1), A, rhs, {x.data(), A.rows()}, options).status,
                solve_status::converged);
      const solution_proof bound = bound_rows(device::cpu(1), A, rhs, {x.data(), A.rows()});
      ASSERT_TRUE(bound.verified) << bound.reason;
      for (std::int64_t i = 0; i < A.rows(); ++i)
        EXPECT_LE(std::fabs(x[static_cast<std::size_t>(i)] - 1), bound.radius[i]);
    });
}

}  // namespace
}  // namespace vouch
