// What stationary iterations say of themselves, and what they refuse.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include <vouch/core/error.hpp>
#include <vouch/solve/stationary/dominance.hpp>

#include "solve/stationary_systems.hpp"

namespace vouch {
namespace {

using namespace testing;

TEST(stationary_status, divergence_names_the_factor_and_the_row) {
  square A{2, {1, 2, 2, 1}};  // Jacobi: radius 2; Gauss-Seidel: radius 4
  for (const auto& [dev, form] : ways()) {
    const auto r = solve<double>(A, {1, 2}, {0, 0}, method::jacobi, form, {}, dev);
    EXPECT_EQ(r.report.status, solve_status::diverged);
    EXPECT_NE(r.report.reason.find("factor of 2"), std::string::npos) << r.report.reason;
    EXPECT_NE(r.report.reason.find("row 1 breaks dominance"), std::string::npos) << r.report.reason;
    EXPECT_FALSE(r.report.error_bound.has_value());
    EXPECT_EQ(r.report.warnings.size(), 1U);
  }
}

TEST(stationary_status, divergence_within_two_sweeps_has_a_factor_too) {
  square A{2, {1, 200, 200, 1}};  // Gauss-Seidel: radius 40,000
  for (const auto& [dev, form] : ways()) {
    const auto r = solve<double>(A, {1, 2}, {0, 0}, method::forward, form, {}, dev);
    EXPECT_EQ(r.report.status, solve_status::diverged);
    EXPECT_NE(r.report.reason.find("by a factor of"), std::string::npos) << r.report.reason;
  }
}

// |A||x| overflows, where neither b nor A x does.
TEST(stationary_status, right_hand_sides_near_overflow) {
  square A{3, {4, 1, 0, 1, 4, 1, 0, 1, 4}};
  for (const auto& [dev, form] : ways()) {
    const auto r = solve<double>(A, {1e308, 1e308, -1e308}, {0, 0, 0}, method::jacobi, form, {}, dev);
    EXPECT_EQ(r.report.status, solve_status::converged) << r.report.reason;
    EXPECT_LE(r.report.iterations, 100);
  }
}

// The solution is below the smallest number and rounds to zero, at once and after every restart.
TEST(stationary_status, sweeps_that_are_proved_to_converge_end_where_x_underflows) {
  const square A{1, {0x1p70}};
  for (const auto& [dev, form] : ways()) {
    const auto r = solve<double>(A, {0x1p-1024}, {0}, method::jacobi, form, {}, dev);
    EXPECT_EQ(r.report.status, solve_status::stagnated) << r.report.reason;
    EXPECT_LE(r.report.iterations, 100);
  }
}

// Scaled by the largest power of two whose inverse is a number, such residuals are still next to nothing.
TEST(stationary_status, right_hand_sides_below_the_normal_numbers_come_to_an_end) {
  const square A{2, {4, -1, -1, 4}};
  for (const auto& [dev, form] : ways())
    for (const double size : {3e-315, 1e-308, 4e-323})
      for (const method m : {method::jacobi, method::forward, method::symmetric}) {
        const auto r = solve<double>(A, {size, size}, {0, 0}, m, form, {}, dev);
        EXPECT_TRUE(has_solution(r.report.status)) << r.report.reason;
        EXPECT_LE(r.report.iterations, 1000);
      }
}

TEST(stationary_status, converges_without_dominance) {
  // Positive definite, rows not dominant: Gauss-Seidel converges, Jacobi diverges (radius 1.8).
  square A{3, {1, .9, .9, .9, 1, .9, .9, .9, 1}};
  const std::vector<double> b{1, 2, 3};
  for (const auto& [dev, form] : ways()) {
    EXPECT_EQ(solve<double>(A, b, {0, 0, 0}, method::forward, form, {}, dev).report.status,
              solve_status::converged);
    EXPECT_EQ(solve<double>(A, b, {0, 0, 0}, method::jacobi, form, {}, dev).report.status,
              solve_status::diverged);
  }
}

TEST(stationary_status, columns_or_scaling_prove_what_rows_do_not) {
  const square by_columns{2, {3, 5, 1, 6}};                     // row 1: 5/3; columns: 1/3, 5/6
  const square scaled{3, {1, 1.5, 0, .25, 1, .25, 0, 1.5, 1}};  // rows 1.5, columns 3; radius sqrt(0.75)
  for (const square& A : {by_columns, scaled}) {
    const std::vector<double> exact = integers(A.n, 9), b = product(A, exact);
    for (const auto& [dev, form] : ways()) {
      const auto r = solve<double>(A, b, std::vector<double>(b.size()), method::jacobi, form, {}, dev);
      EXPECT_EQ(r.report.status, solve_status::converged);
      ASSERT_TRUE(r.report.error_bound.has_value()) << r.report.error_bound_source;
      EXPECT_GE(*r.report.error_bound, distance(r.x, std::vector<long double>(exact.begin(), exact.end())));
      EXPECT_LE(*r.report.error_bound, 1e-4);
      EXPECT_TRUE(r.report.warnings.empty());
    }
  }
}

// Rounding errors add up in the eigenvector of -1/1.02: what is left lies far above those of a single sweep,
// and turns its sign for ever.
TEST(stationary_status, sweeps_that_stand_still_end) {
  square A{64, std::vector<double>(64 * 64, 17.0 / 16)};
  for (std::int64_t i = 0; i < A.n; ++i) A(i, i) = 1.02 * 63 * 17 / 16;
  stopping_criterion goal;
  goal.rtol = 1e-7;
  for (const auto& [dev, form] : ways()) {
    const auto r = solve<float>(A, product(A, std::vector<double>(64, 1)), std::vector<float>(64),
                                method::jacobi, form, goal, dev);
    EXPECT_NE(r.report.status, solve_status::max_iterations) << r.report.reason;
    EXPECT_LE(r.report.iterations, 10000) << r.report.engine;
  }
}

// Sweeps by columns keep a residual, which falls for ever where the one of x does not any more; and now and
// then the residual of a few unknowns is nothing by luck.
TEST(stationary_status, no_luck_and_no_drift_keeps_sweeps_going) {
  stopping_criterion goal;
  goal.rtol = 1e-7;
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    square A = random_square(3 + static_cast<std::int64_t>(seed % 3), 1.05, 100 + seed);
    if (seed % 2 == 0)
      for (std::int64_t i = 0; i < A.n; ++i)
        for (std::int64_t j = 0; j < A.n; ++j) A(i, j) = std::ldexp(A(i, j), static_cast<int>(i % 3) * 20);
    const auto n = static_cast<std::size_t>(A.n);
    const std::vector<double> b = product(A, random_vector(A.n, 40 + seed));
    for (const auto& [dev, form] : ways()) {
      if (dev.is_cuda() && seed >= 12) continue;
      for (const method m : {method::jacobi, method::forward, method::backward, method::symmetric}) {
        const auto r = solve<float>(A, b, std::vector<float>(n), m, form, goal, dev);
        EXPECT_NE(r.report.status, solve_status::max_iterations) << seed << ' ' << r.report.reason;
        EXPECT_LE(r.report.iterations, 20000) << seed << ' ' << r.report.engine;
      }
    }
  }
}

TEST(stationary_status, stops_by_the_mean_change) {
  const square A = random_square(50, 1.05, 15);
  const std::vector<double> b = product(A, integers(50, 10));
  std::vector<long double> x(50, 1), old;
  int sweeps = 0;
  for (long double mean = 1; mean >= 1e-5L; ++sweeps) {
    old = x;
    sweep(A, b, x, method::jacobi);
    mean = 0;
    for (std::size_t i = 0; i < x.size(); ++i) mean += std::fabs(x[i] - old[i]) / 50;
  }
  for (const auto& [dev, form] : ways()) {
    stopping_criterion goal;
    goal.stop_mean_change = 1e-5;
    const auto r = solve<double>(A, b, std::vector<double>(50, 1.0), method::jacobi, form, goal, dev);
    EXPECT_EQ(r.report.status, solve_status::stopped);
    EXPECT_EQ(r.report.iterations, sweeps);
    EXPECT_LE(distance(r.x, x), 1e-12);
  }
}

// Jacobi's sweeps meet the residual of the iterate before them: that one is the answer. What sweeps in place
// meet belongs to no iterate: they may do one more than would have been enough.
TEST(stationary_status, stops_by_the_residual_at_the_iterate_that_has_it) {
  const square A = random_square(50, 1.05, 15);
  const std::vector<double> b = product(A, integers(50, 10));
  for (const method m : {method::jacobi, method::damped, method::forward})
    for (const double fall : {2.0, 1e-1, 1e-3, 1e-6}) {
      stopping_criterion goal;
      std::vector<long double> x(50, 1), needed;
      std::int64_t sweeps = 0;
      const auto norm = [&] {
        long double squares = 0;
        for (std::int64_t i = 0; i < A.n; ++i) {
          long double r = b[static_cast<std::size_t>(i)];
          for (std::int64_t j = 0; j < A.n; ++j) r -= A(i, j) * x[static_cast<std::size_t>(j)];
          squares += r * r;
        }
        return static_cast<double>(std::sqrt(squares));
      };
      goal.stop_recurrence = fall * norm();
      for (; norm() >= *goal.stop_recurrence; ++sweeps) sweep(A, b, x, m);
      for (const auto& [dev, form] : ways()) {
        const auto r = solve<double>(A, b, std::vector<double>(50, 1.0), m, form, goal, dev);
        EXPECT_EQ(r.report.status, solve_status::stopped);
        EXPECT_LE(r.report.recurrence_residual, *goal.stop_recurrence);
        EXPECT_GE(r.report.iterations, sweeps);
        EXPECT_LE(r.report.iterations, m == method::forward ? sweeps + 1 : sweeps) << r.report.engine;
        if (m == method::forward) continue;
        EXPECT_LE(distance(r.x, x), 1e-11) << r.report.engine;
        EXPECT_NEAR(r.report.true_residual, norm(), 1e-6 * norm());
      }
    }
}

TEST(stationary_status, tolerance_below_rounding_ends_as_stagnated) {
  const square A = random_square(100, 1.1, 16);
  const std::vector<double> b = product(A, random_vector(100, 11));
  for (const auto& [dev, form] : ways())
    for (const method m : {method::jacobi, method::forward}) {
      stopping_criterion goal;
      goal.rtol = 1e-20;
      const auto r = solve<double>(A, b, std::vector<double>(100), m, form, goal, dev);
      EXPECT_EQ(r.report.status, solve_status::stagnated) << r.report.reason;
      EXPECT_LE(r.report.relative_true(), 1e-14);
      goal.rtol = 1e-9;
      const auto f = solve<float>(A, b, std::vector<float>(100), m, form, goal, dev);
      EXPECT_EQ(f.report.status, solve_status::stagnated) << f.report.reason;
      EXPECT_LE(f.report.relative_true(), 1e-6);
    }
}

TEST(stationary_status, slow_convergence_is_waited_for) {
  const csr<double> A = laplacian(30);
  const std::vector<double> b = testing::row_sums(A);
  for (const int order : {0, 1, 2}) {
    std::vector<double> x(b.size(), 0.0);
    solve_report report;
    const view<const double> bv(b.data(), A.rows);
    const view<double> xv(x.data(), A.rows);
    if (order == 0)
      report = jacobi<double>(device::cpu(2), A, bv, xv);
    else
      report = gauss_seidel<double>(device::cpu(2), A, bv, xv,
                                    {{}, order == 1 ? sweep_order::forward : sweep_order::symmetric, {}});
    EXPECT_EQ(report.status, solve_status::converged) << report.reason;
    EXPECT_LE(testing::relative_residual(A, b, x), 1e-8);
    // -ln(1e-8) over the rate of the iteration, 1 - cos(pi/31) for Jacobi, bounds the sweeps; with room.
    EXPECT_LE(report.iterations, 4500);
  }
}

TEST(stationary_status, limit_fixed_zero_and_interruption) {
  const square A = random_square(30, 1.02, 17);
  const std::vector<double> b = product(A, integers(30, 12));
  for (const auto& [dev, form] : ways()) {
    stopping_criterion goal;
    goal.max_iterations = 2;
    EXPECT_EQ(solve<double>(A, b, std::vector<double>(30), method::jacobi, form, goal, dev).report.status,
              solve_status::max_iterations);
    EXPECT_EQ(
        solve<double>(A, std::vector<double>(30), std::vector<double>(30, 1.0), method::jacobi, form, {}, dev)
            .report.status,
        solve_status::converged);
    stopping_criterion endless;
    endless.fixed_iterations = 10000000;
    endless.on_iteration = [](const iteration_record& r) { return r.iteration < 1; };
    const auto r = solve<double>(A, b, std::vector<double>(30), method::jacobi, form, endless, dev);
    EXPECT_EQ(r.report.status, solve_status::interrupted);
    EXPECT_LT(r.report.iterations, 10000000);
  }
  std::vector<double> none;
  const matrix_view<const double> empty{nullptr, 0, 0, 1};
  EXPECT_EQ(jacobi<double>(device::cpu(1), transpose::no, empty, {none.data(), 0}, {none.data(), 0}).status,
            solve_status::converged);
}

std::string refusal(const square& A, double omega = 1) {
  std::vector<double> x(static_cast<std::size_t>(A.n)), b(x);
  const csr<double> S = sparse_of(A);
  try {
    sor<double>(device::cpu(1), S, {b.data(), A.n}, {x.data(), A.n}, {{}, omega, sweep_order::forward, {}});
  } catch (const value_error& e) {
    return e.what();
  }
  return "";
}

TEST(stationary_refusal, names_what_is_wrong) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_NE(refusal({2, {1, 0, 1, 0}}).find("diagonal entry of row 2 is zero"), std::string::npos);
  EXPECT_NE(refusal({2, {1, 0, 1, 1e-17}}).find("diagonal entry of row 2 is too small"), std::string::npos);
  EXPECT_NE(refusal({2, {1e-320, 0, 0, 1}}).find("diagonal entry of row 1 is too small"), std::string::npos);
  EXPECT_NE(refusal({2, {1, 0, nan, 1}}).find("row 2"), std::string::npos);
  for (const double omega : {0.0, -1.0, 2.0, 2.5, nan})
    EXPECT_NE(refusal({1, {1}}, omega).find("omega"), std::string::npos);
  EXPECT_EQ(refusal({1, {1}}, 1.999), "");

  std::vector<double> entries{1, 2, 3, 4}, x{0, 0}, b{1, nan};
  const matrix_view<const double> square_view{entries.data(), 2, 2, 2}, wide{entries.data(), 1, 2, 1};
  EXPECT_THROW(jacobi<double>(device::cpu(1), transpose::no, wide, {b.data(), 1}, {x.data(), 1}), shape_error);
  EXPECT_THROW(jacobi<double>(device::cpu(1), transpose::no, square_view, {b.data(), 1}, {x.data(), 2}),
               shape_error);
  EXPECT_THROW(jacobi<double>(device::cpu(1), transpose::no, square_view, {b.data(), 2}, {x.data(), 2}),
               value_error);
}

TEST(dominance, a_proof_is_about_one_matrix) {
  const device cpu = device::cpu(1);
  const std::vector<double> dominant{4, 1, 1, 4}, other{1, 0.999, 0.999, 1}, b{1, 1}, x{0, 0};
  const auto A =
      make_iteration_matrix<double>(cpu, transpose::no, matrix_view<const double>{dominant.data(), 2, 2, 2});
  const auto B =
      make_iteration_matrix<double>(cpu, transpose::no, matrix_view<const double>{other.data(), 2, 2, 2});
  const dominance_proof proof = prove_dominance(cpu, *A);
  const view<const double> rhs(b.data(), 2), at(x.data(), 2);
  EXPECT_TRUE(dominance_error_bound<double>(cpu, *A, proof, rhs, at).has_value());
  EXPECT_THROW(dominance_error_bound<double>(cpu, *B, proof, rhs, at), value_error);
}

}  // namespace
}  // namespace vouch
