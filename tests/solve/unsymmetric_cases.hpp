// tests/solve/unsymmetric_cases.hpp -- what is asked of every method for unsymmetric systems with short recurrences.
#pragma once
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include <vouch/core/error.hpp>
#include <vouch/io/matrix_market.hpp>

#include "../data.hpp"
#include "../devices.hpp"
#include "krylov_answer.hpp"

namespace vouch::testing {

/// solve(dev, A, b, options, precondition, T{}) -> krylov_answer
template <class Options, class Solve>
void expect_solutions(const Solve& solve) {
  for (const device& dev : devices())
    for (const csr<double>& A :
         {convection(12, 0.0), convection(12, 5.0), convection(12, 1000.0), shifted_laplacian(12, 0.7)}) {
      const std::vector<double> b = random_vector(A.rows, 3);
      const krylov_answer found = solve(dev, A, b, Options{}, "none", 0.0);
      EXPECT_EQ(found.report.status, solve_status::converged) << found.report.reason;
      EXPECT_LE(residual_of(A, b, found.x), 1.0001e-8 * static_cast<double>(as_eigen(b).norm()));
      EXPECT_LE(found.report.true_residual, found.report.tolerance);
      EXPECT_LT(error_of(A, b, found.x), 1e-5);
    }
  const csr<double> A = convection(20, 3.0);
  const std::vector<double> b = random_vector(A.rows, 7);
  for (const device& dev : devices()) {
    const krylov_answer plain = solve(dev, A, b, Options{}, "none", 0.0),
                        single = solve(dev, A, b, Options{}, "block-jacobi:4", 0.0F),
                        blocks = solve(dev, A, b, Options{}, "block-jacobi:4", 0.0);
    EXPECT_EQ(single.report.status, solve_status::converged) << single.report.reason;
    EXPECT_EQ(single.report.precision, "single");
    EXPECT_LE(residual_of(A, b, single.x), 1.0001e-5 * static_cast<double>(as_eigen(b).norm()));
    EXPECT_EQ(blocks.report.status, solve_status::converged) << blocks.report.reason;
    EXPECT_LT(blocks.report.iterations, plain.report.iterations);
    EXPECT_LE(residual_of(A, b, blocks.x), 1.0001e-8 * static_cast<double>(as_eigen(b).norm()));
  }
}

/// Whatever is said of x is true of it.
inline void expect_honest(const csr<double>& A, const std::vector<double>& b, const krylov_answer& found) {
  for (const double v : found.x) ASSERT_TRUE(std::isfinite(v)) << found.report.reason;
  const double residual = residual_of(A, b, found.x), size = static_cast<double>(as_eigen(b).norm());
  EXPECT_EQ(goal_reached(found.report.status), residual <= 1.0000001e-8 * size) << found.report.reason;
  EXPECT_NEAR(found.report.true_residual, residual, 1e-6 * residual + 1e-14 * size);
  EXPECT_FALSE(found.report.reason.empty());
}

template <class Options, class Solve>
void expect_honest_ends(const Solve& solve) {
  for (const device& dev : devices()) {
    const auto honest = [&](const csr<double>& A, const std::vector<double>& b) {
      const krylov_answer found = solve(dev, A, b, Options{}, "none", 0.0);
      expect_honest(A, b, found);
      return found.report;
    };
    // r' A r = 0 for every r.
    const csr<double> S = skew(20), swap = from_triplets(2, {{0, 1, 1}, {1, 0, 1}});
    EXPECT_EQ(honest(S, random_vector(20, 1)).status, solve_status::converged);
    EXPECT_EQ(honest(swap, {1, 0}).status, solve_status::converged);
    EXPECT_EQ(honest(swap, {1, -1}).status, solve_status::converged);
    std::vector<double> first(30, 0.0);
    first[0] = 1;
    honest(cyclic_shift(30), first);
    // Singular: consistent, not, nilpotent, nothing at all.
    const csr<double> half = from_triplets(2, {{0, 0, 1.0}});
    EXPECT_EQ(honest(half, {1, 0}).status, solve_status::converged);
    EXPECT_FALSE(goal_reached(honest(half, {1, 1}).status));
    EXPECT_FALSE(goal_reached(honest(from_triplets(3, {{0, 1, 1}, {1, 2, 1}}), {0, 0, 1}).status));
    EXPECT_FALSE(goal_reached(honest(from_triplets(3, {}), {1, 2, 3}).status));
    EXPECT_EQ(honest(from_triplets(4, {{0, 0, 2}, {0, 1, 1}, {1, 1, -3}, {2, 2, 5}, {2, 0, 1}}), {3, -3, 6, 0})
                  .status,
              solve_status::converged);
    csr<double> neumann = laplacian(6, true);
    std::vector<double> b = random_vector(36, 5);
    EXPECT_FALSE(goal_reached(honest(neumann, b).status));
  }
}

template <class Options, class Solve>
void expect_small_and_extreme_systems(const Solve& solve) {
  const device cpu = device::cpu(1);
  for (const double scale : {1.0, 1e-300, 1e300}) {
    const krylov_answer found =
        solve(cpu, from_triplets(1, {{0, 0, -2 * scale}}), {3 * scale}, Options{}, "none", 0.0);
    EXPECT_EQ(found.report.status, solve_status::converged) << found.report.reason;
    EXPECT_NEAR(found.x[0], -1.5, 1e-12);
    csr<double> A = convection(8, 1.0);
    for (std::int64_t k = 0; k < A.nonzeros(); ++k) A.val[k] *= scale;
    for (const double size : {1.0, 1e-100, 1e100}) {
      std::vector<double> b = random_vector(A.rows, 9);
      for (double& v : b) v *= size;
      const krylov_answer large = solve(cpu, A, b, Options{}, "none", 0.0);
      // Else x is no number of double.
      const bool exists = std::fabs(std::log10(size) - std::log10(scale)) < 305;
      EXPECT_EQ(large.report.status == solve_status::converged, exists)
          << scale << " " << size << ": " << large.report.reason;
    }
  }
  for (const double scale : {1e-30, 1e30}) {
    csr<double> A = convection(8, 1.0);
    for (std::int64_t k = 0; k < A.nonzeros(); ++k) A.val[k] *= scale;
    const krylov_answer found = solve(cpu, A, random_vector(A.rows, 9), Options{}, "none", 0.0F);
    EXPECT_EQ(found.report.status, solve_status::converged) << scale << ": " << found.report.reason;
  }
  EXPECT_EQ(solve(cpu, from_triplets(0, {}), {}, Options{}, "none", 0.0).report.status,
            solve_status::converged);
  const krylov_answer zero = solve(cpu, convection(3, 1.0), std::vector<double>(9), Options{}, "none", 0.0);
  EXPECT_EQ(zero.report.status, solve_status::converged);
  EXPECT_EQ(zero.report.iterations, 0);
}

template <class Options, class Solve>
void expect_ends_as_told(const Solve& solve) {
  const device cpu = device::cpu(1);
  const csr<double> A = convection(20, 1.0);
  const std::vector<double> b = random_vector(A.rows, 1);
  for (const int most : {1, 2, 3, 7, 8}) {
    Options options;
    options.max_iterations = most;
    const krylov_answer few = solve(cpu, A, b, options, "none", 0.0);
    EXPECT_EQ(few.report.status, solve_status::max_iterations);
    EXPECT_EQ(few.report.iterations, most);
    EXPECT_NEAR(few.report.true_residual, residual_of(A, b, few.x), 1e-10 * few.report.true_residual);
    options = {};
    options.fixed_iterations = most;
    const krylov_answer fixed = solve(cpu, A, b, options, "none", 0.0);
    EXPECT_EQ(fixed.report.status, solve_status::fixed);
    EXPECT_EQ(fixed.report.iterations, most);
  }
  Options options;
  options.on_iteration = [](const iteration_record& r) { return r.iteration < 7; };
  const krylov_answer cut = solve(cpu, A, b, options, "none", 0.0);
  EXPECT_EQ(cut.report.status, solve_status::interrupted);
  EXPECT_EQ(cut.report.iterations, 7);
  options = {};
  options.stop_mean_change = 1e-3;
  EXPECT_THROW(solve(cpu, A, b, options, "none", 0.0), value_error);
  EXPECT_THROW(solve(cpu, A, std::vector<double>(3, 1.0), Options{}, "none", 0.0), shape_error);
}

/// Of an end without success, x is nearly the best that was met.
template <class Options, class Solve>
void expect_the_best_iterate(const Solve& solve) {
  const csr<double> A = shifted_laplacian(24, 1.3);
  const std::vector<double> b = random_vector(A.rows, 2);
  for (int most = 20; most < 60; ++most) {
    Options options;
    options.max_iterations = most;
    const krylov_answer found = solve(device::cpu(1), A, b, options, "none", 0.0);
    double least = std::numeric_limits<double>::infinity();
    for (const iteration_record& record : found.report.history) least = std::min(least, record.residual);
    EXPECT_LE(found.report.true_residual, 2.001 * least) << most;
  }
}

template <class Options, class Solve>
void expect_same_bits(const Solve& solve) {
  const csr<double> A = convection(70, 4.0);
  const std::vector<double> b = random_vector(A.rows, 11);
  const krylov_answer one = solve(device::cpu(1), A, b, Options{}, "none", 0.0),
                      three = solve(device::cpu(3), A, b, Options{}, "none", 0.0);
  EXPECT_EQ(one.x, three.x);
  EXPECT_EQ(one.report.iterations, three.report.iterations);
}

template <class Options, class Solve>
void expect_solutions_of_published_systems(const Solve& solve) {
  struct {
    const char* name;
    const char* precondition;
  } cases[] = {{"jpwh_991.mtx", "none"},
               {"orsirr_1.mtx", "none"},
               {"sherman5.mtx", "none"},
               {"pde900.mtx.gz", "jacobi"},
               {"vem2.mtx.gz", "jacobi"}};
  for (const auto& c : cases) {
    const std::string path = data_file(std::string("matrices/") + c.name);
    VOUCH_NEEDS_DATA(path);
    const csr<double> A = read_csr(device::cpu(2), path);
    const std::vector<double> b = row_sums(A);
    const krylov_answer found = solve(device::cpu(2), A, b, Options{}, c.precondition, 0.0);
    EXPECT_EQ(found.report.status, solve_status::converged) << c.name << ": " << found.report.reason;
    EXPECT_LE(relative_residual(A, b, found.x), 1.0001e-8) << c.name;
  }
}

}  // namespace vouch::testing
