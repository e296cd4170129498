#include <gtest/gtest.h>

#include <cmath>

#include <vouch/solve/krylov/cg.hpp>

#include "devices.hpp"
#include "solve/systems.hpp"

namespace vouch {
namespace {

using testing::devices;
using testing::relative_residual;

TEST(cg_mixed, reaches_a_double_tolerance) {
  const csr<double> A = testing::laplacian(700);  // past the size at which single precision pays
  const std::vector<double> b = testing::random_vector(A.rows, 11);
  for (const device& dev : devices()) {
    if (dev.threads() > 1) continue;
    const csr<double> matrix = A.to(dev);
    const array<double> right = array<double>::from(dev, b);
    cg_options options;
    options.rtol = 1e-10;
    array<double> x = array<double>::zeros(dev, A.rows);
    const solve_report report = cg_mixed(dev, matrix.all(), right, x, options);
    EXPECT_EQ(report.status, solve_status::converged) << report.reason;
    EXPECT_EQ(report.precision, "mixed");
    EXPECT_GE(report.restarts, 1);  // single precision alone cannot get there
    EXPECT_LE(relative_residual(A, b, x.to_vector()), 1e-10);
  }
}

TEST(cg_mixed, falls_back_and_says_so) {
  const csr<double> small = testing::laplacian(10);
  for (const device& dev : devices()) {
    const csr<double> matrix = small.to(dev);
    const array<double> right = array<double>::from(dev, testing::random_vector(100, 1));
    array<double> x = array<double>::zeros(dev, 100);
    const solve_report report = cg_mixed(dev, matrix.all(), right, x);
    EXPECT_EQ(report.status, solve_status::converged);
    EXPECT_FALSE(report.warnings.empty());
  }
  // A chain of springs from 1 to 1e-9: far beyond single precision.
  std::vector<testing::triplet> entries;
  const std::int32_t n = 500000;
  const auto spring = [](std::int32_t i) { return std::pow(10.0, -9.0 * (i % 1000) / 1000.0); };
  for (std::int32_t i = 0; i < n; ++i) {
    entries.push_back({i, i, spring(i) + spring(i + 1)});
    if (i + 1 < n) {
      entries.push_back({i, i + 1, -spring(i + 1)});
      entries.push_back({i + 1, i, -spring(i + 1)});
    }
  }
  const csr<double> A = testing::from_triplets(n, entries);
  const device dev = device::cpu(2);
  const std::vector<double> b = testing::row_sums(A);
  const array<double> right = array<double>::from(dev, b);
  array<double> x = array<double>::zeros(dev, n);
  cg_options options;
  options.rtol = 1e-6;
  options.max_iterations = 60;
  const solve_report report = cg_mixed(dev, A.all(), right, x, options);
  EXPECT_TRUE(report.status == solve_status::converged || report.status == solve_status::max_iterations);
  EXPECT_NEAR(report.relative_true(), relative_residual(A, b, x.to_vector()), 1e-9);
}

}  // namespace
}  // namespace vouch
