// vouch/solve/krylov/gmres.hpp against factorisations and least squares of Eigen.
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include <vouch/core/error.hpp>
#include <vouch/solve/krylov/gmres.hpp>

#include "../devices.hpp"
#include "krylov_answer.hpp"

namespace vouch {
namespace {

using testing::as_eigen;
using testing::convection;
using testing::cyclic_shift;
using testing::from_triplets;
using testing::residual_of;
using testing::wide_matrix;
using testing::wide_vector;

template <real T>
testing::krylov_answer solve_on(const device& dev, const csr<double>& A, const std::vector<double>& b,
                                const gmres_options& options = {}, const std::string& precondition = "none",
                                bool flexible = false) {
  return testing::solve_from_zero<T>(
      dev, A, b, precondition, [&](const device& on, const auto& there, auto rhs, auto x, const auto* M) {
        return flexible ? fgmres(on, there, rhs, x, options, M) : gmres(on, there, rhs, x, options, M);
      });
}

TEST(gmres, solves_unsymmetric_and_indefinite_systems) {
  for (const device& dev : testing::devices()) {
    for (const csr<double>& A : {convection(12, 0.0), convection(12, 5.0), convection(12, 1000.0),
                                 testing::shifted_laplacian(12, 0.7)}) {
      const std::vector<double> b = testing::random_vector(A.rows, 3);
      for (const int restart : {20, 50, 1000}) {
        gmres_options options;
        options.restart = restart;
        const testing::krylov_answer found = solve_on<double>(dev, A, b, options);
        if (found.report.status != solve_status::converged && restart == 20)
          continue;  // may stagnate: that is said
        EXPECT_EQ(found.report.status, solve_status::converged) << found.report.reason;
        EXPECT_LE(residual_of(A, b, found.x), 1.0001e-8 * static_cast<double>(as_eigen(b).norm()));
        EXPECT_LE(found.report.true_residual, found.report.tolerance);
      }
    }
  }
}

TEST(gmres, has_the_least_residual_of_the_krylov_space) {
  const csr<double> A = convection(6, 2.0);
  const std::vector<double> b = testing::random_vector(A.rows, 5);
  const wide_matrix dense = as_eigen(A);
  for (const device& dev : testing::devices())
    for (const int steps : {1, 2, 5, 9}) {
      gmres_options options;
      options.fixed_iterations = steps;
      const testing::krylov_answer found = solve_on<double>(dev, A, b, options);
      EXPECT_EQ(found.report.status, solve_status::fixed);
      EXPECT_EQ(found.report.iterations, steps);
      wide_matrix space(A.rows, steps);
      wide_vector v = as_eigen(b);
      for (int k = 0; k < steps; ++k) {
        space.col(k) = v / v.norm();
        v = dense * space.col(k);
      }
      const wide_matrix image = dense * space;
      const wide_vector y = image.colPivHouseholderQr().solve(as_eigen(b));
      const double least = static_cast<double>((as_eigen(b) - image * y).norm());
      EXPECT_NEAR(residual_of(A, b, found.x), least, 1e-10 * least);
      EXPECT_NEAR(found.report.recurrence_residual, least, 1e-10 * least);
    }
}

TEST(gmres, takes_preconditioners_operators_and_single_precision) {
  const csr<double> A = convection(20, 3.0);
  const std::vector<double> b = testing::random_vector(A.rows, 7);
  for (const device& dev : testing::devices()) {
    const testing::krylov_answer plain = solve_on<double>(dev, A, b), single = solve_on<float>(dev, A, b);
    EXPECT_EQ(single.report.status, solve_status::converged) << single.report.reason;
    EXPECT_EQ(single.report.precision, "single");
    const testing::krylov_answer jacobi = solve_on<double>(dev, A, b, {}, "block-jacobi:4");
    EXPECT_EQ(jacobi.report.status, solve_status::converged) << jacobi.report.reason;
    EXPECT_EQ(jacobi.report.preconditioner.substr(0, 12), "block-jacobi");
    EXPECT_LT(jacobi.report.iterations, plain.report.iterations);
    EXPECT_LE(residual_of(A, b, jacobi.x), 1.0001e-8 * static_cast<double>(as_eigen(b).norm()));
  }
}

TEST(gmres, says_where_restarts_gain_nothing) {
  for (const device& dev : testing::devices()) {
    const csr<double> A = cyclic_shift(40);
    std::vector<double> b(40, 0.0);
    b[0] = 1;
    gmres_options options;
    options.restart = options.longest_restart = 10;
    const testing::krylov_answer stuck = solve_on<double>(dev, A, b, options);
    EXPECT_EQ(stuck.report.status, solve_status::stagnated) << stuck.report.reason;
    EXPECT_LE(stuck.report.iterations, 100);
    options.restart = 40;
    const testing::krylov_answer whole = solve_on<double>(dev, A, b, options);
    EXPECT_EQ(whole.report.status, solve_status::converged) << whole.report.reason;
    EXPECT_EQ(whole.report.iterations, 40);
  }
}

TEST(gmres, restarts_later_where_it_gains_little) {
  std::vector<double> b(40, 0.0);
  b[0] = 1;
  for (const device& dev : testing::devices())
    for (const bool flexible : {false, true}) {
      gmres_options options;
      options.restart = 10;
      const testing::krylov_answer found =
          solve_on<double>(dev, cyclic_shift(40), b, options, "none", flexible);
      EXPECT_EQ(found.report.status, solve_status::converged) << found.report.reason;
      EXPECT_EQ(found.report.iterations, 10 + 20 + 40);
      options.longest_restart = 20;
      EXPECT_EQ(solve_on<double>(dev, cyclic_shift(40), b, options, "none", flexible).report.status,
                solve_status::stagnated);
    }
}

TEST(gmres, singular_systems_converge_or_say_that_they_do_not) {
  // [1 0; 0 0]: consistent for (1, 0), not for (1, 1).
  const csr<double> A = from_triplets(2, {{0, 0, 1.0}});
  const testing::krylov_answer consistent = solve_on<double>(device::cpu(1), A, {1, 0});
  EXPECT_EQ(consistent.report.status, solve_status::converged);
  const testing::krylov_answer not_so = solve_on<double>(device::cpu(1), A, {1, 1});
  EXPECT_FALSE(goal_reached(not_so.report.status));
  for (const double v : not_so.x) EXPECT_TRUE(std::isfinite(v));
  EXPECT_NEAR(not_so.report.true_residual, 1, 1e-12);
}

// Rounding of an x that grows without bound is no excuse for a residual above that of x = 0.
TEST(gmres, an_x_worse_than_none_is_called_that) {
  std::vector<testing::triplet> entries;
  for (std::int32_t i = 0; i < 20; ++i) {
    if (i == 6) continue;  // a row of zeros
    entries.push_back({i, i, 4});
    if (i > 0) entries.push_back({i, i - 1, -1 - 0.1 * (i % 3)});
    if (i < 19) entries.push_back({i, i + 1, -1 - 0.2 * (i % 3)});
  }
  const csr<double> A = from_triplets(20, entries);
  const testing::krylov_answer found = solve_on<double>(device::cpu(1), A, std::vector<double>(20, 1.0));
  EXPECT_EQ(found.report.status, solve_status::stagnated);
  ASSERT_GT(found.report.relative_true(), 1) << found.report.reason;
  EXPECT_NE(found.report.reason.find("no better than that of x = 0: the matrix may be singular"),
            std::string::npos)
      << found.report.reason;
}

TEST(gmres, small_empty_and_extreme_systems) {
  for (const double scale : {1.0, 1e-300, 1e300}) {
    const csr<double> one = from_triplets(1, {{0, 0, 2 * scale}});
    const testing::krylov_answer found = solve_on<double>(device::cpu(1), one, {3 * scale});
    EXPECT_EQ(found.report.status, solve_status::converged) << found.report.reason;
    EXPECT_NEAR(found.x[0], 1.5, 1e-12);
    csr<double> A = convection(8, 1.0);
    for (std::int64_t k = 0; k < A.nonzeros(); ++k) A.val[k] *= scale;
    const testing::krylov_answer large = solve_on<double>(device::cpu(1), A, testing::random_vector(A.rows, 9));
    EXPECT_EQ(large.report.status, solve_status::converged) << scale << ": " << large.report.reason;
  }
  const testing::krylov_answer none = solve_on<double>(device::cpu(1), from_triplets(0, {}), {});
  EXPECT_EQ(none.report.status, solve_status::converged);
}

TEST(gmres, has_the_same_bits_for_any_number_of_threads) {
  const csr<double> A = convection(60, 4.0);
  const std::vector<double> b = testing::random_vector(A.rows, 11);
  const testing::krylov_answer one = solve_on<double>(device::cpu(1), A, b),
                               two = solve_on<double>(device::cpu(2), A, b);
  EXPECT_EQ(one.x, two.x);
  EXPECT_EQ(one.report.iterations, two.report.iterations);
}

TEST(gmres, a_monitor_ends_it_and_bad_requests_are_refused) {
  const csr<double> A = convection(10, 1.0);
  const std::vector<double> b(static_cast<std::size_t>(A.rows), 1.0);
  gmres_options options;
  options.on_iteration = [](const iteration_record& r) { return r.iteration < 7; };
  const testing::krylov_answer cut = solve_on<double>(device::cpu(1), A, b, options);
  EXPECT_EQ(cut.report.status, solve_status::interrupted);
  EXPECT_EQ(cut.report.iterations, 7);
  EXPECT_LT(cut.report.true_residual, 10);
  gmres_options none;
  none.restart = 0;
  EXPECT_THROW(solve_on<double>(device::cpu(1), A, b, none), value_error);
  gmres_options change;
  change.stop_mean_change = 1e-3;
  EXPECT_THROW(solve_on<double>(device::cpu(1), A, b, change), value_error);
  EXPECT_THROW(solve_on<double>(device::cpu(1), A, std::vector<double>(3, 1.0)), shape_error);
}

TEST(fgmres, is_gmres_where_the_preconditioner_stays) {
  const csr<double> A = convection(20, 3.0);
  const std::vector<double> b = testing::random_vector(A.rows, 7);
  for (const device& dev : testing::devices())
    for (const char* precondition : {"none", "block-jacobi:4"}) {
      gmres_options options;
      options.restart = 15;
      const testing::krylov_answer plain = solve_on<double>(dev, A, b, options, precondition),
                                   flexible = solve_on<double>(dev, A, b, options, precondition, true),
                                   single = solve_on<float>(dev, A, b, options, precondition, true);
      EXPECT_EQ(flexible.report.status, solve_status::converged) << flexible.report.reason;
      EXPECT_EQ(flexible.report.method, "fgmres");
      EXPECT_NEAR(static_cast<double>(flexible.report.iterations), static_cast<double>(plain.report.iterations),
                  1);
      EXPECT_LE(residual_of(A, b, flexible.x), 1.0001e-8 * static_cast<double>(as_eigen(b).norm()));
      EXPECT_EQ(single.report.status, solve_status::converged) << single.report.reason;
    }
}

// The step is made of what the preconditioner returned, not of what it would return now.
TEST(fgmres, takes_a_preconditioner_that_changes) {
  const csr<double> A = convection(10, 2.0);
  const std::vector<double> b = testing::random_vector(A.rows, 8);
  const auto solved = [&](bool flexible) {
    const testing::changing_scale M({1.0, 3.0, 0.2, 5.0, 0.7});
    gmres_options options;
    options.fixed_iterations = 12;
    options.restart = 12;
    return testing::solve_from_zero<double>(
        device::cpu(2), A, b, "none", [&](const device& on, const auto& there, auto rhs, auto x, const auto*) {
          return flexible ? fgmres<double>(on, there, rhs, x, options, &M)
                          : gmres<double>(on, there, rhs, x, options, &M);
        });
  };
  // The least residual over the vectors that M made, by Eigen.
  const wide_matrix dense = as_eigen(A);
  const std::vector<double> factors{1.0, 3.0, 0.2, 5.0, 0.7};
  wide_matrix V(A.rows, 13), Z(A.rows, 12);
  V.col(0) = as_eigen(b).normalized();
  for (int k = 0; k < 12; ++k) {
    const long double factor = factors[static_cast<std::size_t>(k) % factors.size()];
    for (Eigen::Index i = 0; i < Z.rows(); ++i) Z(i, k) = factor * (i % 2 == 0 ? 1 : factor) * V(i, k);
    wide_vector next = dense * Z.col(k);
    for (int pass = 0; pass < 2; ++pass) next -= V.leftCols(k + 1) * (V.leftCols(k + 1).transpose() * next);
    V.col(k + 1) = next.normalized();
  }
  const wide_matrix image = dense * Z;
  const wide_vector y = image.colPivHouseholderQr().solve(as_eigen(b));
  const double least = static_cast<double>((as_eigen(b) - image * y).norm());
  EXPECT_NEAR(residual_of(A, b, solved(true).x), least, 1e-10 * least);
  EXPECT_GT(residual_of(A, b, solved(false).x), 1.01 * least);
}

}  // namespace
}  // namespace vouch
