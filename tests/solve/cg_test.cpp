#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>

#include <vouch/core/cancellation.hpp>
#include <vouch/core/error.hpp>
#include <vouch/generate/poisson.hpp>
#include <vouch/io/matrix_market.hpp>
#include <vouch/solve/krylov/cg.hpp>
#include <vouch/solve/krylov/cg_many.hpp>
#include <vouch/solve/precond/make.hpp>

#include "data.hpp"
#include "devices.hpp"
#include "solve/cg_answer.hpp"

namespace vouch {
namespace {

using testing::answer;
using testing::devices;
using testing::random_spd;
using testing::relative_residual;
using testing::solve;

TEST(cg, agrees_with_dense_cholesky) {
  for (const std::int32_t n : {1, 2, 3, 7, 33, 150})
    for (const device& dev : devices()) {
      const csr<double> A = random_spd(n, 6, static_cast<std::uint64_t>(n));
      const std::vector<double> b = testing::random_vector(n, 5), exact = testing::cholesky_solve(A, b);
      cg_options options;
      options.rtol = 1e-14;
      const answer a = solve(dev, A, b, options);
      EXPECT_EQ(a.report.status, solve_status::converged) << a.report.reason;
      for (std::size_t i = 0; i < exact.size(); ++i) EXPECT_NEAR(a.x[i], exact[i], 1e-12) << dev.kind();
    }
}

TEST(cg, converged_is_true_of_the_x_returned) {
  const csr<double> A = testing::laplacian(70);
  const std::vector<double> b = testing::random_vector(A.rows, 1);
  for (const device& dev : devices())
    for (const char* precondition : {"none", "jacobi", "ssor", "ic0"})
      for (const double rtol : {1e-3, 1e-8, 1e-12}) {
        cg_options options;
        options.rtol = rtol;
        const answer a = solve(dev, A, b, options, precondition);
        ASSERT_EQ(a.report.status, solve_status::converged) << precondition << ' ' << a.report.reason;
        const double really = relative_residual(A, b, a.x);
        EXPECT_LE(really, rtol) << dev.kind() << ' ' << precondition;
        EXPECT_NEAR(a.report.relative_true(), really, 1e-6 * rtol);
      }
}

TEST(cg, single_precision_is_judged_in_double) {
  const csr<double> A = testing::laplacian(40);
  const std::vector<double> b(static_cast<std::size_t>(A.rows), 1.0);
  for (const device& dev : devices()) {
    const answer a = solve<float>(dev, A, b);
    ASSERT_EQ(a.report.status, solve_status::converged) << a.report.reason;
    EXPECT_LE(relative_residual(A, b, a.x), 1e-5);
  }
}

TEST(cg, an_impossible_tolerance_ends_stagnated_with_the_attainable_level) {
  const csr<double> A = testing::laplacian(60);
  const std::vector<double> b = testing::random_vector(A.rows, 2);
  for (const device& dev : devices()) {
    cg_options options;
    options.rtol = 1e-18;
    const answer a = solve(dev, A, b, options);
    EXPECT_EQ(a.report.status, solve_status::stagnated) << a.report.reason;
    EXPECT_LT(a.report.relative_true(), 1e-13);
    EXPECT_LT(a.report.backward_error, 4e-16);
    EXPECT_GT(a.report.attainable_relative, 1e-17);
    EXPECT_LE(a.report.relative_true(), a.report.attainable_relative);
    EXPECT_NE(a.report.reason.find("no more than what rounding was expected to leave of this x"),
              std::string::npos)
        << a.report.reason;
  }
}

TEST(cg, same_bits_on_every_run_and_for_any_threads) {
  const csr<double> A = testing::laplacian(120);
  const std::vector<double> b = testing::random_vector(A.rows, 3);
  for (const char* precondition : {"none", "jacobi", "ic0"}) {
    const answer one = solve(device::cpu(1), A, b, {}, precondition);
    for (const int threads : {1, 2, 3, 7}) {
      const answer again = solve(device::cpu(threads), A, b, {}, precondition);
      EXPECT_EQ(std::memcmp(one.x.data(), again.x.data(), one.x.size() * 8), 0)
          << precondition << ' ' << threads;
    }
    for (const device& gpu : testing::gpus()) {
      const answer first = solve(gpu, A, b, {}, precondition), second = solve(gpu, A, b, {}, precondition);
      EXPECT_EQ(std::memcmp(first.x.data(), second.x.data(), first.x.size() * 8), 0) << precondition;
      EXPECT_EQ(first.report.iterations, second.report.iterations);
    }
  }
}

TEST(cg, indefinite_and_unsymmetric_matrices_are_named) {
  const csr<double> indefinite =
      testing::from_triplets(2, {{0, 0, 1}, {0, 1, 2}, {1, 0, 2}, {1, 1, 1}});  // eigenvalues 3 and -1
  const csr<double> unsymmetric = testing::from_triplets(2, {{0, 0, 1}, {0, 1, 2}, {1, 1, 1}});
  const csr<double> negative = testing::from_triplets(2, {{0, 0, 1}, {1, 1, -1}});
  for (const device& dev : devices()) {
    EXPECT_EQ(solve(dev, indefinite, {1, -1}).report.status, solve_status::not_spd);
    EXPECT_THROW(solve(dev, unsymmetric, {1, 1}), value_error);
    EXPECT_THROW(solve(dev, negative, {1, 1}), value_error);
  }
}

// One that is definite with such a diagonal has a condition number by which rounding hides its curvature.
TEST(cg, rounding_is_named_where_it_may_hide_definiteness) {
  for (const double entry : {1e12, 1e3}) {
    const csr<double> A =
        testing::from_triplets(3, {{0, 0, entry}, {1, 1, 1}, {1, 2, 2}, {2, 1, 2}, {2, 2, 1}});
    for (const device& dev : devices())
      for (const char* precondition : {"none", "jacobi"}) {
        const solve_report report = solve(dev, A, {0, 1, -1}, {}, precondition).report;
        ASSERT_EQ(report.status, solve_status::not_spd) << report.reason;
        EXPECT_EQ(report.reason.find("rounding may make it look so") != std::string::npos, entry == 1e12)
            << report.reason;
        EXPECT_EQ(report.reason.find("a condition number of at least about 1e+12") != std::string::npos,
                  entry == 1e12)
            << report.reason;
      }
  }
}

// Twice the unit matrix, which counts its products.
class counted final : public linear_operator<double> {
 public:
  std::int64_t rows() const override { return 3; }
  void apply(const device&, view<const double> x, view<double> y) const override {
    ++products;
    for (std::int64_t i = 0; i < 3; ++i) y[i] = 2 * x[i];
  }
  mutable int products = 0;
};

TEST(cg, a_request_to_end_is_heard_before_the_first_iteration) {
  const device cpu = device::cpu(1);
  const array<double> b = array<double>::from(cpu, std::vector<double>{1, 2, 3});
  array<double> x = array<double>::zeros(cpu, 3);
  cancellation stop;
  stop.request();
  const cancellation_scope listens(stop);
  const counted A;
  const solve_report report = cg<double>(cpu, A, b, x);
  EXPECT_EQ(report.status, solve_status::interrupted);
  EXPECT_EQ(report.iterations, 0);
  EXPECT_EQ(report.relative_true(), 1);
  EXPECT_EQ(A.products, 1);  // of the residual of the start
}

// Plain sums that are far from zero spare the pass in twice the precision, and none that are not.
TEST(cg, rows_that_sum_to_nearly_zero_are_looked_at_twice) {
  for (const double shift : {0.0, 1e-14, 1e-6, 1e-3}) {
    const csr<double> A =
        testing::from_triplets(2, {{0, 0, 1 + shift}, {0, 1, -1}, {1, 0, -1}, {1, 1, 1 + shift}});
    const solve_status found = solve(device::cpu(1), A, {1, 1}).report.status;
    EXPECT_EQ(found, shift < 1e-13 ? solve_status::breakdown : solve_status::converged) << shift;
  }
}

TEST(cg, bad_operands) {
  const csr<double> A = testing::laplacian(3);
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (const device& dev : devices()) {
    std::vector<double> b(9, 1.0);
    b[4] = nan;
    EXPECT_THROW(solve(dev, A, b), value_error);
    b[4] = std::numeric_limits<double>::infinity();
    EXPECT_THROW(solve(dev, A, b), value_error);
    EXPECT_THROW(solve(dev, A, std::vector<double>(9, 1.0), {}, "none", std::vector<double>(9, nan)),
                 value_error);
    EXPECT_THROW(solve(dev, A, std::vector<double>(8, 1.0)), shape_error);
  }
}

TEST(forecast_cg, tells_the_iterations_of_another_right_hand_side) {
  const device cpu = device::cpu(2);
  const csr<double> A = poisson_2d(cpu, 60, 60);
  const auto M = make_preconditioner<double>(cpu, A, "amg");
  const iteration_forecast told = forecast_cg(cpu, A, *M, 1e-8);
  ASSERT_TRUE(told.iterations && told.reduction) << told.reason;
  EXPECT_LT(*told.reduction, 1);
  const std::vector<double> b = testing::random_vector(3600, 9);
  const auto there = array<double>::from(cpu, b);
  array<double> x = array<double>::zeros(cpu, 3600);
  cg_options options;
  options.rtol = 1e-8;
  const solve_report done = cg<double>(cpu, A, there, x, options, M.get());
  EXPECT_NEAR(static_cast<double>(*told.iterations), static_cast<double>(done.iterations), 3);
}

TEST(cg, trivial_systems) {
  for (const device& dev : devices()) {
    const csr<double> empty = testing::from_triplets(0, {});
    EXPECT_EQ(solve(dev, empty, {}).report.status, solve_status::converged);
    const csr<double> A = testing::laplacian(4);
    const answer zero = solve(dev, A, std::vector<double>(16, 0.0), {}, "none", std::vector<double>(16, 3.0));
    EXPECT_EQ(zero.report.status, solve_status::converged);
    for (const double v : zero.x) EXPECT_EQ(v, 0.0);
    const answer there = solve(dev, A, testing::row_sums(A), {}, "none", std::vector<double>(16, 1.0));
    EXPECT_EQ(there.report.status, solve_status::converged);
    EXPECT_EQ(there.report.iterations, 0);
  }
}

TEST(cg, a_diagonal_matrix_with_its_inverse_takes_one_step) {
  std::vector<testing::triplet> entries;
  for (std::int32_t i = 0; i < 500; ++i) entries.push_back({i, i, std::pow(10.0, i % 13 - 6)});
  const csr<double> A = testing::from_triplets(500, entries);
  for (const device& dev : devices()) {
    const answer a = solve(dev, A, testing::random_vector(500, 9), {}, "jacobi");
    EXPECT_EQ(a.report.status, solve_status::converged);
    EXPECT_LE(a.report.iterations, 2);
  }
}

TEST(cg, fixed_limited_and_stopped) {
  const csr<double> A = testing::laplacian(50);
  const std::vector<double> b = testing::random_vector(A.rows, 4);
  for (const device& dev : devices())
    for (const char* precondition : {"none", "jacobi", "ssor"}) {
      cg_options options;
      options.fixed_iterations = 17;
      const answer fixed = solve(dev, A, b, options, precondition);
      EXPECT_EQ(fixed.report.status, solve_status::fixed);
      EXPECT_EQ(fixed.report.iterations, 17);
      EXPECT_NEAR(fixed.report.relative_true(), relative_residual(A, b, fixed.x), 1e-12);
      options = {};
      options.max_iterations = 9;
      const answer limited = solve(dev, A, b, options, precondition);
      EXPECT_EQ(limited.report.status, solve_status::max_iterations);
      EXPECT_EQ(limited.report.iterations, 9);
      options = {};
      options.stop_recurrence = 0.5;
      const answer stopped = solve(dev, A, b, options, precondition);
      EXPECT_EQ(stopped.report.status, solve_status::stopped);
      EXPECT_LE(stopped.report.recurrence_residual, 0.5);
    }
}

TEST(cg, units_of_the_right_hand_side_do_not_matter) {
  const csr<double> A = testing::laplacian(20);
  const std::vector<double> b = testing::random_vector(A.rows, 6);
  for (const device& dev : devices()) {
    const answer plain = solve(dev, A, b);
    for (const int exponent : {-330, 400}) {
      std::vector<double> scaled = b;
      for (double& v : scaled) v = std::ldexp(v, exponent);
      const answer a = solve(dev, A, scaled);
      ASSERT_EQ(a.report.status, solve_status::converged) << exponent << ' ' << a.report.reason;
      EXPECT_LE(relative_residual(A, scaled, a.x), 1e-8);
    }
    ASSERT_EQ(plain.report.status, solve_status::converged);
  }
}

TEST(cg, a_pure_neumann_problem_is_recognised) {
  const csr<double> A = testing::laplacian(30, true);
  std::vector<double> b = testing::random_vector(A.rows, 7);
  const double mean = std::accumulate(b.begin(), b.end(), 0.0) / static_cast<double>(b.size());
  std::vector<double> consistent = b;
  for (double& v : consistent) v -= mean;
  for (const device& dev : devices()) {
    const answer a = solve(dev, A, consistent);
    EXPECT_EQ(a.report.status, solve_status::converged) << a.report.reason;
    EXPECT_FALSE(a.report.warnings.empty());
    EXPECT_LE(relative_residual(A, consistent, a.x), 1e-8);
    EXPECT_NEAR(std::accumulate(a.x.begin(), a.x.end(), 0.0), 0.0, 1e-9);
    EXPECT_EQ(solve(dev, A, b).report.status, solve_status::breakdown);
  }
}

TEST(cg, the_monitor_sees_the_history_and_can_stop) {
  const csr<double> A = testing::laplacian(200);
  const std::vector<double> b = testing::random_vector(A.rows, 8);
  for (const device& dev : devices()) {
    cg_options options;
    std::int64_t seen = 0;
    options.on_iteration = [&](const iteration_record&) { return ++seen, true; };
    const answer a = solve(dev, A, b, options);
    EXPECT_EQ(seen, static_cast<std::int64_t>(a.report.history.size()));
    EXPECT_GE(seen, a.report.iterations);
    for (std::size_t k = 0; k < a.report.history.size(); ++k) {
      EXPECT_EQ(a.report.history[k].iteration, static_cast<std::int64_t>(k));
      EXPECT_GT(a.report.history[k].residual, 0);
    }
    options.fixed_iterations = 100000000;
    options.on_iteration = [](const iteration_record& r) { return r.iteration < 50; };
    const answer stopped = solve(dev, A, b, options);
    EXPECT_EQ(stopped.report.status, solve_status::interrupted);
    EXPECT_LT(stopped.report.iterations, 100000000);
  }
}

struct known {
  const char* file;
  std::int64_t iterations;  // of textbook CG, b = A * ones, to the true 1e-8
};

TEST(cg, the_matrices_of_2010) {
  for (const known& k :
       {known{"bcsstk11", 8900}, known{"bcsstk13", 63000}, known{"bcsstk14", 5700}, known{"bcsstk15", 8800},
        known{"bcsstm25", 12000}, known{"nos2_reconstructed", 30000}}) {
    const std::string path = testing::data_file("matrices/" + std::string(k.file) + ".mtx");
    VOUCH_NEEDS_DATA(path);
    const csr<double> A = read_csr(device::cpu(1), path);
    const std::vector<double> b = testing::row_sums(A);
    for (const device& dev : devices()) {
      if (dev.threads() > 1) continue;
      const answer a = solve(dev, A, b);
      EXPECT_EQ(a.report.status, solve_status::converged) << k.file << ' ' << a.report.reason;
      EXPECT_LE(relative_residual(A, b, a.x), 1e-8) << k.file;
      EXPECT_NEAR(static_cast<double>(a.report.iterations), static_cast<double>(k.iterations),
                  0.15 * static_cast<double>(k.iterations))
          << k.file;
    }
  }
}

TEST(cg, a_preconditioner_for_another_number_of_unknowns_is_refused) {
  const device cpu = device::cpu(1);
  const csr<double> A = testing::laplacian(5), larger = testing::laplacian(9);
  const std::vector<double> ones(25, 1.0);
  const auto b = array<double>::from(cpu, ones);
  array<double> x = array<double>::zeros(cpu, 25);
  for (const char* spec : {"jacobi", "block-jacobi:2", "ssor", "ic0", "chebyshev:3"}) {
    const auto M = make_preconditioner<double>(cpu, larger, spec);
    EXPECT_THROW(cg<double>(cpu, A, b, x, {}, M.get()), shape_error) << spec;
    EXPECT_THROW(cg_many<double>(cpu, A, 1, b, x, {}, M.get()), shape_error) << spec;
  }
  const auto M = make_preconditioner<float>(cpu, convert_values<float, double>(cpu, larger), "ic0");
  EXPECT_THROW(cg_mixed(cpu, A, b, x, {}, M.get()), shape_error);
}

}  // namespace
}  // namespace vouch
