// Estimates of the condition number and of the error against numbers known otherwise; sizes far from 1.
#include <gtest/gtest.h>

#include <array>
#include <cfenv>
#include <cmath>
#include <numbers>
#include <optional>
#include <vector>

#include <vouch/core/random.hpp>
#include <vouch/dense/factor/lapack.hpp>
#include <vouch/generate/diffusion.hpp>
#include <vouch/generate/solution.hpp>
#include <vouch/solve/direct/direct.hpp>
#include <vouch/solve/direct/sparse_lu.hpp>
#include <vouch/solve/krylov/cg.hpp>
#include <vouch/solve/krylov/cg_many.hpp>
#include <vouch/solve/loop/vector_update.hpp>
#include <vouch/solve/precond/make.hpp>
#include <vouch/sparse/lu_factors.hpp>

#include "devices.hpp"
#include "sparse/matrices.hpp"

namespace vouch {
namespace {

// A chain of springs, both ends held: eigenvalues 2 - 2 cos(k pi / (n + 1)) where all are of stiffness 1.
testing::entries chain(const std::vector<double>& stiffness) {
  testing::entries list;
  const auto n = static_cast<std::int64_t>(stiffness.size()) - 1;
  for (std::int64_t i = 0; i < n; ++i) {
    const double left = stiffness[static_cast<std::size_t>(i)],
                 right = stiffness[static_cast<std::size_t>(i) + 1];
    list[{i, i}] = left + right;
    if (i + 1 < n) list[{i, i + 1}] = list[{i + 1, i}] = -right;
  }
  return list;
}

double relative_error(const array<double>& x, double exact) {
  double error = 0, size = 0;
  for (const double value : x) {
    error += (value - exact) * (value - exact);
    size += value * value;
  }
  return std::sqrt(error / size);
}

TEST(estimates, of_conjugate_gradients_know_the_condition) {
  constexpr std::int64_t n = 100;
  const csr<double> chain_of_ones = testing::matrix_of(n, n, chain(std::vector<double>(n + 1, 1.0)));
  const double half = std::numbers::pi / (2 * (n + 1)), condition = std::pow(1 / std::tan(half), 2);
  std::vector<double> rhs(3 * n);
  for (std::size_t i = 0; i < rhs.size(); ++i) rhs[i] = random_unit(1, i) - 0.5;
  for (const device& dev : testing::devices()) {
    SCOPED_TRACE(dev.name());
    const csr<double> A = copy(dev, device::cpu(1), chain_of_ones.all());
    const auto b = array<double>::from(dev, rhs);
    // Each by another kernel: resident on a GPU or fused, by the matrix as csr, by the loop for any M.
    for (const std::string name : {"none", "csr", "jacobi", "ssor", "chebyshev"}) {
      const auto M = make_preconditioner<double>(dev, A, name == "csr" ? "none" : name);
      auto x = array<double>::zeros(dev, n);
      cg_options options;
      if (name == "csr") options.matrix_layout = layout::csr;
      const solve_report report = cg<double>(dev, A, {b.data(), n}, x, options, M.get());
      ASSERT_TRUE(report.condition_estimate && report.error_estimate) << name;
      EXPECT_LE(*report.condition_estimate, condition * (1 + 1e-6)) << name;
      if (name != "ssor" && name != "chebyshev") {
        EXPECT_GE(*report.condition_estimate, 0.9 * condition) << name;
      }
    }
    auto X = array<double>::zeros(dev, 3 * n);
    cg_options options;
    options.matrix_layout = layout::csr;  // which goes through the loop for several
    for (const solve_report& report : cg_many<double>(dev, A, 3, b, X, options)) {
      ASSERT_TRUE(report.condition_estimate);
      EXPECT_NEAR(*report.condition_estimate, 0.95 * condition, 0.06 * condition);
    }
  }
}

// More steps than a GPU's mailbox holds at a time, and than the history keeps: none is missed.
TEST(estimates, of_long_runs_see_every_step) {
  constexpr std::int64_t n = 40000;
  const csr<double> on_host = testing::matrix_of(n, n, chain(std::vector<double>(n + 1, 1.0)));
  const double half = std::numbers::pi / (2 * (n + 1)), condition = std::pow(1 / std::tan(half), 2);
  for (const device& dev : testing::devices()) {
    SCOPED_TRACE(dev.name());
    const csr<double> A = copy(dev, device::cpu(1), on_host.all());
    auto b = array<double>::zeros(dev, n), x = array<double>::zeros(dev, n);
    fill(dev, b.data(), 1.0, n);
    cg_options options;
    options.rtol = 1e-10;
    const solve_report report = cg<double>(dev, A, b, x, options);  // symmetric: n / 2 steps and their rounding
    EXPECT_GE(report.iterations, n / 2);
    ASSERT_TRUE(report.condition_estimate);
    EXPECT_LE(*report.condition_estimate, condition * (1 + 1e-6));
    EXPECT_GE(*report.condition_estimate, 0.5 * condition);
  }
}

// The exact solutions are known: b is A times them, of whole numbers or rounded once more.
// Preconditioned, the matrix is harmless, and the residual small; where the coefficient is small the error is not.
TEST(estimates, of_preconditioned_systems_are_about_the_error_itself) {
  const device cpu = device::cpu(2);
  const csr<double> on_host = diffusion(cpu, 50, 50, 1, {.kind = coefficient::jump, .contrast = 1e10});
  const array<double> exact = make_solution(cpu, known_solution::random, on_host.rows),
                      rhs = right_hand_side(cpu, on_host, exact);
  for (const device& dev : testing::devices()) {
    SCOPED_TRACE(dev.name());
    const csr<double> A = copy(dev, cpu, on_host.all());
    const auto b = array<double>::from(dev, rhs.to_vector());
    for (const std::string name : {"jacobi", "block-jacobi:4", "ssor", "ic0", "chebyshev"}) {
      const auto M = make_preconditioner<double>(dev, A, name);
      auto x = array<double>::zeros(dev, A.rows);
      const solve_report report = cg<double>(dev, A, b, x, {}, M.get());
      EXPECT_EQ(report.status, solve_status::converged) << name;
      const std::vector<double> found = x.to_vector();
      double error = 0, size = 0;
      for (std::int64_t i = 0; i < A.rows; ++i) {
        const double xi = found[static_cast<std::size_t>(i)];
        error += (xi - exact[i]) * (xi - exact[i]);
        size += xi * xi;
      }
      ASSERT_TRUE(report.error_estimate) << name;
      EXPECT_GT(error / size, 1e-4) << name;
      EXPECT_GT(*report.error_estimate, std::sqrt(error / size) / 30) << name;
    }
  }
}

// Islands of a large coefficient: x is far off there while the residual is small, and conjugate gradients have not met
// the eigenvalue that says so.
TEST(estimates, of_jumping_coefficients_see_parts_that_are_off_as_a_whole) {
  const device cpu = device::cpu(2);
  for (const int n : {30, 50, 90})
    for (const double contrast : {1e6, 1e8, 1e10}) {
      const csr<double> A = diffusion(cpu, n, n, 1, {.kind = coefficient::jump, .contrast = contrast});
      const array<double> exact = make_solution(cpu, known_solution::ones, A.rows),
                          b = right_hand_side(cpu, A, exact);
      for (const std::string name : {"none", "jacobi", "block-jacobi:4", "ssor", "ic0", "amg"}) {
        if (name == "amg" && contrast > 1e8) continue;  // whose cycle in single precision is not definite then
        const auto M = make_preconditioner<double>(cpu, A, name);
        auto x = array<double>::zeros(cpu, A.rows);
        const solve_report report = cg<double>(cpu, A, b, x, {}, M.get());
        EXPECT_EQ(report.status, solve_status::converged) << name;
        ASSERT_TRUE(report.error_estimate) << name;
        const double error = relative_error(x, 1);
        EXPECT_GT(*report.error_estimate, error / 5) << name << ", " << n << ", contrast " << contrast;
      }
      auto X = array<double>::zeros(cpu, 2 * A.rows);
      auto B = array<double>::zeros(cpu, 2 * A.rows);
      for (std::int64_t i = 0; i < A.rows; ++i) B[i] = B[A.rows + i] = b[i];
      for (const solve_report& report : cg_many<double>(cpu, A, 2, B, X)) {
        ASSERT_TRUE(report.error_estimate);
        EXPECT_GT(*report.error_estimate, relative_error(X, 1) / 5) << n << ", contrast " << contrast;
      }
    }
}

TEST(estimates, of_several_columns_are_at_most_about) {
  constexpr std::int64_t n = 100, columns = 3;
  const csr<double> on_host = testing::matrix_of(n, n, chain(std::vector<double>(n + 1, 1.0)));
  std::vector<double> exact(columns * n), rhs(columns * n);
  for (std::size_t j = 0; j < columns; ++j) {
    double* x = exact.data() + j * n;
    for (std::size_t i = 0; i < n; ++i)
      x[i] = j == 0 ? 1 : j == 1 ? random_unit(8, i) : static_cast<double>(i * i);
    for (std::size_t i = 0; i < n; ++i)
      rhs[j * n + i] = 2 * x[i] - (i > 0 ? x[i - 1] : 0) - (i + 1 < n ? x[i + 1] : 0);
  }
  for (const device& dev : testing::devices()) {
    SCOPED_TRACE(dev.name());
    const csr<double> A = copy(dev, device::cpu(1), on_host.all());
    const auto b = array<double>::from(dev, rhs);
    for (const double rtol : {1e-4, 1e-8}) {
      auto X = array<double>::zeros(dev, columns * n);
      cg_options options;
      options.rtol = rtol;
      options.matrix_layout = layout::csr;
      const std::vector<solve_report> reports = cg_many<double>(dev, A, columns, b, X, options);
      const std::vector<double> found = X.to_vector();
      for (std::size_t j = 0; j < columns; ++j) {
        double error = 0, size = 0;
        for (std::size_t i = j * n; i < (j + 1) * n; ++i) {
          error += std::pow(found[i] - exact[i], 2);
          size += found[i] * found[i];
        }
        const std::optional<double> estimate = reports[j].error_estimate;
        ASSERT_TRUE(estimate) << rtol << ' ' << j;
        EXPECT_GE(*estimate, 0.9 * std::sqrt(error / size)) << rtol << ' ' << j;
      }
    }
  }
}

// b is large where the springs are stiff: its residual is small long before the soft part has moved.
TEST(estimates, see_an_error_behind_a_small_residual) {
  constexpr std::int64_t n = 60;
  std::vector<double> stiffness(n + 1, 1.0);
  std::fill(stiffness.begin(), stiffness.begin() + 30, 1e8);
  const csr<double> A = testing::matrix_of(n, n, chain(stiffness));
  const device cpu = device::cpu(1);
  auto b = array<double>::zeros(cpu, n), x = array<double>::zeros(cpu, n);
  b[0] = 1e8;  // A times ones
  b[n - 1] = 1;
  const solve_report report = cg<double>(cpu, A, b, x);
  EXPECT_EQ(report.status, solve_status::converged);
  const double error = relative_error(x, 1);
  EXPECT_GT(error, 0.1);
  ASSERT_TRUE(report.error_estimate);
  EXPECT_GT(*report.error_estimate, 0.01);
  auto y = array<double>::zeros(cpu, n);
  const solve_report direct = sparse_lu<double>(cpu, A, b, y);
  EXPECT_LT(*direct.error_estimate, 1e-12);
  EXPECT_LT(relative_error(y, 1), 1e-10);
  EXPECT_GT(*direct.condition_estimate, 1e8);
}

// Its error in the 2-norm is within a factor of 3 of what a solve of twice the precision would find.
TEST(estimates, of_factors_are_near) {
  // Hilbert's matrix times 360360, n = 8: whole numbers, and a condition number of 3.387e10 in the norm of rows.
  constexpr std::int64_t n = 8;
  testing::entries list;
  std::vector<double> dense, rhs(n);
  for (std::int64_t j = 0; j < n; ++j)
    for (std::int64_t i = 0; i < n; ++i) {
      list[{i, j}] = 360360.0 / static_cast<double>(i + j + 1);
      dense.push_back(360360.0 / static_cast<double>(i + j + 1));
      rhs[static_cast<std::size_t>(i)] += dense.back();
    }
  const device cpu = device::cpu(1);
  const auto b = array<double>::from(cpu, rhs);
  const csr<double> A = testing::matrix_of(n, n, list);
  const matrix_view<const double> D{dense.data(), n, n, n};
  for (int method = 0; method < (lapack::present() ? 3 : 1); ++method) {
    auto x = array<double>::zeros(cpu, n);
    const solve_report report = method == 0   ? sparse_lu<double>(cpu, A, b, x)
                                : method == 1 ? lu<double>(cpu, transpose::no, D, b, x)
                                              : cholesky<double>(cpu, D, b, x);
    ASSERT_TRUE(report.condition_estimate && report.error_estimate) << method;
    EXPECT_NEAR(*report.condition_estimate, 3.387e10, 0.1e10) << method;
    const double error = relative_error(x, 1);
    EXPECT_LE(error, 3 * *report.error_estimate + 1e-16) << method;
    EXPECT_GE(error, *report.error_estimate / 3 - 1e-16) << method;
  }
}

// u u' + v v' of whole numbers is singular, but the last pivot is rounded to next to nothing, not to zero: b has
// no solution, and what the factors take for the error of x is of no size at all.
TEST(estimates, there_are_none_of_singular_matrices) {
  const device cpu = device::cpu(1);
  const std::vector<std::array<std::array<double, 3>, 2>> parts{
      {{{3, 7, 11}, {-5, 9, 2}}}, {{{13, 49, 7}, {1, -8, 6}}}, {{{49, 3, 13}, {-7, 4, 9}}}};
  int eliminated = 0;
  for (const auto& [u, v] : parts) {
    testing::entries list;
    for (std::int64_t i = 0; i < 3; ++i)
      for (std::int64_t j = 0; j < 3; ++j)
        list[{i, j}] = u[static_cast<std::size_t>(i)] * u[static_cast<std::size_t>(j)] +
                       v[static_cast<std::size_t>(i)] * v[static_cast<std::size_t>(j)];
    auto x = array<double>::zeros(cpu, 3);
    const solve_report report = sparse_lu<double>(cpu, testing::matrix_of(3, 3, list),
                                                  array<double>::from(cpu, std::vector<double>{1, 2, 4}), x);
    EXPECT_FALSE(report.error_estimate);
    if (report.status == solve_status::breakdown) continue;
    ++eliminated;
    ASSERT_EQ(report.warnings.size(), 1u);
    EXPECT_EQ(report.warnings[0].find("the matrix is singular to double precision"), 0u) << report.warnings[0];
  }
  EXPECT_GT(eliminated, 0);
}

// Entries from 1e-100 to 1e100 on a diagonal: a condition number of 1e200, and an x with nothing wrong.
TEST(estimates, rows_of_different_size_are_not_singular) {
  const device cpu = device::cpu(1);
  const csr<double> A = testing::matrix_of(3, 3, {{{0, 0}, 3e-100}, {{1, 1}, 7.0}, {{2, 2}, 1e100}});
  auto x = array<double>::zeros(cpu, 3);
  const solve_report report =
      sparse_lu<double>(cpu, A, array<double>::from(cpu, std::vector<double>{1e-100, 1, 1e100}), x);
  ASSERT_TRUE(report.error_estimate);
  EXPECT_LT(*report.error_estimate, 1e-15);
  EXPECT_TRUE(report.warnings.empty());
}

// x is next to nothing and rounded by up to half the smallest number, which no residual shows: of the first
// element, 2^-1074 / 3, all is lost. Above, powers of two change no estimate.
TEST(estimates, there_are_none_where_rounding_underflows) {
  const device cpu = device::cpu(1);
  const csr<double> A = testing::matrix_of(3, 3, {{{0, 0}, 3.0}, {{1, 1}, 7.0}, {{2, 2}, 11.0}});
  const auto estimates = [&](int exponent) {
    std::vector<double> rhs;
    for (const double value : {1.0, 3.0, 5.0}) rhs.push_back(std::ldexp(value, exponent));
    const auto b = array<double>::from(cpu, rhs);
    auto x = array<double>::zeros(cpu, 3), y = array<double>::zeros(cpu, 3);
    return std::array{cg<double>(cpu, A, b, x).error_estimate, sparse_lu<double>(cpu, A, b, y).error_estimate};
  };
  for (const int exponent : {-1074, -1050, -1000}) {
    EXPECT_FALSE(estimates(exponent)[0]) << exponent;
    EXPECT_FALSE(estimates(exponent)[1]) << exponent;
  }
  EXPECT_TRUE(estimates(0)[0] && estimates(0)[1]);
  EXPECT_EQ(estimates(-900), estimates(0));
}

// ||A^-1||_inf of small matrices, by Gauss-Jordan elimination in long double.
TEST(estimates, of_inverses_are_within_a_factor_of_three) {
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    const std::int64_t n = 2 + static_cast<std::int64_t>(seed % 12);
    testing::entries list = testing::random_entries(n, n, 3 * n, seed);
    for (std::int64_t i = 0; i < n; ++i) list[{i, (i + 1) % n}] = 11 + static_cast<double>(i);
    const lu_factors<double> factors = factorise<double>(device::cpu(1), testing::matrix_of(n, n, list));
    ASSERT_EQ(factors.failed, 0);
    const auto size = static_cast<std::size_t>(n);
    std::vector<std::vector<long double>> M(size, std::vector<long double>(2 * size));
    for (const auto& [place, value] : list)
      M[static_cast<std::size_t>(place.first)][static_cast<std::size_t>(place.second)] = value;
    for (std::size_t i = 0; i < size; ++i) M[i][size + i] = 1;
    for (std::size_t k = 0; k < size; ++k) {
      std::size_t pivot = k;
      for (std::size_t i = k; i < size; ++i)
        if (std::fabs(M[i][k]) > std::fabs(M[pivot][k])) pivot = i;
      std::swap(M[k], M[pivot]);
      for (std::size_t i = 0; i < size; ++i) {
        if (i == k) continue;
        const long double factor = M[i][k] / M[k][k];
        for (std::size_t j = k; j < 2 * size; ++j) M[i][j] -= factor * M[k][j];
      }
    }
    double norm = 0;
    for (std::size_t i = 0; i < size; ++i) {
      long double row = 0;
      for (std::size_t j = size; j < 2 * size; ++j) row += std::fabs(M[i][j] / M[i][i]);
      norm = std::max(norm, static_cast<double>(row));
    }
    EXPECT_LE(factors.inverse_norm, norm * (1 + 1e-9)) << seed;
    EXPECT_GE(factors.inverse_norm, norm / 3) << seed;
  }
}

// Powers of two change no iterate, however far they are from 1.
TEST(size, of_a_matrix_is_no_concern_of_conjugate_gradients) {
  constexpr std::int64_t n = 60;
  const testing::entries list = chain(std::vector<double>(n + 1, 1.0));
  for (const device& dev : testing::devices()) {
    std::int64_t iterations = 0;
    for (const int exponent : {0, -950, -600, 600, 950}) {
      testing::entries scaled = list;
      for (auto& [place, value] : scaled) value = std::ldexp(value, exponent);
      const csr<double> A = testing::matrix_of(n, n, scaled).to(dev);
      std::vector<double> rhs;
      for (std::int64_t i = 0; i < 2 * n; ++i)
        rhs.push_back(std::ldexp(random_unit(3, static_cast<std::uint64_t>(i)), exponent));
      const auto b = array<double>::from(dev, rhs);
      auto x = array<double>::zeros(dev, 2 * n);
      const solve_report report = cg<double>(dev, A, {b.data(), n}, {x.data(), n});
      EXPECT_EQ(report.status, solve_status::converged) << exponent;
      EXPECT_EQ(report.preconditioner, "none");
      if (exponent == 0) iterations = report.iterations;
      EXPECT_EQ(report.iterations, iterations) << exponent;
      fill(dev, x.data(), 0.0, 2 * n);
      for (const solve_report& one : cg_many<double>(dev, A, 2, b, x))
        EXPECT_LE(one.iterations, iterations + 1) << exponent;
    }
  }
}

// x + 2^60 y = 2^60, x + y = 2 has x and y next to 1. Eliminating with the large row leaves nothing of x, and a
// residual that is small beside 2^60.
TEST(size, of_rows_is_no_concern_of_dense_elimination) {
  if (!lapack::present()) GTEST_SKIP() << "no LAPACK on this machine";
  const std::vector<double> A{1, 1, 0x1p60, 1};
  const device cpu = device::cpu(1);
  for (const int exponent : {0, -900, 900}) {
    std::vector<double> scaled, b{0x1p60, 2};
    for (const double value : A) scaled.push_back(std::ldexp(value, exponent));
    for (double& value : b) value = std::ldexp(value, exponent);
    auto x = array<double>::zeros(cpu, 2);
    const solve_report report =
        lu<double>(cpu, transpose::no, {scaled.data(), 2, 2, 2}, array<double>::from(cpu, b), x);
    EXPECT_EQ(report.status, solve_status::converged);
    EXPECT_NEAR(x[0], 1, 1e-15) << exponent;
    EXPECT_NEAR(x[1], 1, 1e-15) << exponent;
    EXPECT_LT(*report.error_estimate, 1e-15);
  }
}

// Rows from 1e-116 to 1e113: what the large ones leave of the residual goes up and down for ever.
TEST(size, of_rows_keeps_no_refinement_busy) {
  const testing::entries list{
      {{0, 0}, -1.0561248435043519e+73}, {{0, 1}, -1.0405057893820187e+73},  {{0, 2}, 6.645733892091181e+72},
      {{0, 3}, 3.2177254289424077e+72},  {{0, 4}, -2.729468894288539e+72},   {{0, 5}, -1.2047837863975757e+73},
      {{1, 0}, -6.137287432284483e-45},  {{1, 1}, 8.03402845864241e-45},     {{1, 2}, -1.8416233301800287e-45},
      {{1, 3}, -1.0479997848876166e-44}, {{1, 4}, -1.0831873786783017e-44},  {{1, 5}, 4.1948651177610496e-47},
      {{2, 0}, -7.353451359507214e+28},  {{2, 1}, -1.392040156872783e+28},   {{2, 2}, 4.7739565546032776e+27},
      {{2, 3}, -3.0056049667286607e+28}, {{2, 4}, 7.234980173173407e+28},    {{2, 5}, -6.390883483646757e+28},
      {{3, 0}, 4.7292807373786844e-116}, {{3, 1}, -4.25125492875777e-116},   {{3, 2}, -4.8716980316555733e-116},
      {{3, 3}, 1.298976549729406e-116},  {{3, 4}, -3.1903180653892287e-116}, {{3, 5}, 3.8015773863107017e-116},
      {{4, 0}, 5.963210434960641e-81},   {{4, 1}, -2.887028789473542e-81},   {{4, 2}, 4.861863401201501e-81},
      {{4, 3}, -6.340438792533236e-81},  {{4, 4}, 5.43608486670576e-81},     {{4, 5}, 1.6601105887630462e-81},
      {{5, 0}, -2.345281576715426e+113}, {{5, 1}, 4.468136017927899e+112},   {{5, 2}, 4.711161165584435e+113},
      {{5, 3}, 2.8642783780877834e+113}, {{5, 4}, 4.4708139840555715e+113},  {{5, 5}, -3.285312991745162e+113}};
  const device cpu = device::cpu(1);
  const auto b = array<double>::from(
      cpu, std::vector<double>{-7.43358160650724e-309, 9.82193329291489e-309, 6.81711817694835e-309,
                               -3.29772248929485e-309, 9.327245551478483e-309, 1.828204703861307e-309});
  auto x = array<double>::zeros(cpu, 6);
  const solve_report report = sparse_lu<double>(cpu, testing::matrix_of(6, 6, list), b, x);
  EXPECT_EQ(report.status, solve_status::stagnated);
  EXPECT_LE(report.iterations, 100);
}

#if defined(__GLIBC__)
// Estimates in long double, whose unit has a control word of its own, died of the first rounding.
TEST(estimates, nothing_traps_whatever_the_caller_set) {
  const device cpu = device::cpu(1);
  const csr<double> A = testing::matrix_of(30, 30, chain(std::vector<double>(31, 1.0 / 3)));
  const auto b = array<double>::from(cpu, std::vector<double>(30, 1.0 / 3));
  array<double> x = array<double>::zeros(cpu, 30);
  std::feclearexcept(FE_ALL_EXCEPT);
  const int before = feenableexcept(FE_ALL_EXCEPT);
  const solve_report iterated = cg<double>(cpu, A, b, x), eliminated = sparse_lu<double>(cpu, A, b, x);
  fedisableexcept(FE_ALL_EXCEPT);
  feenableexcept(before);
  EXPECT_EQ(iterated.status, solve_status::converged);
  EXPECT_EQ(eliminated.status, solve_status::converged);
}
#endif

}  // namespace
}  // namespace vouch
