// What a dense and a sparse matrix have alike on every device: Chebyshev's acceleration of dense sweeps, and
// asynchronous sweeps.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include <vouch/core/cancellation.hpp>
#include <vouch/core/error.hpp>
#include <vouch/solve/stationary/async.hpp>
#include <vouch/solve/stationary/gauss_seidel.hpp>
#include <vouch/solve/stationary/jacobi.hpp>
#include <vouch/solve/stationary/sor.hpp>

#include "devices.hpp"
#include "solve/full_systems.hpp"

namespace vouch {
namespace {

using testing::dense_of;
using testing::full_positive;
using testing::laplacian;
using testing::relative_residual;

template <class T>
class accelerated_sweeps : public ::testing::Test {};
using scalars = ::testing::Types<float, double>;
TYPED_TEST_SUITE(accelerated_sweeps, scalars);

TYPED_TEST(accelerated_sweeps, chebyshev_on_dense_matrices) {
  using T = TypeParam;
  const csr<double> grid = laplacian(17), full = full_positive(203);
  for (const csr<double>* A : {&grid, &full}) {
    const std::vector<double> b = testing::random_vector(A->rows, 3);
    for (const device& dev : testing::devices()) {
      const array<T> entries = dense_of<T>(dev, *A);
      const array<T> rhs = array<T>::from(dev, std::vector<T>(b.begin(), b.end()));
      const matrix_view<const T> D{entries.data(), A->rows, A->rows, A->rows};
      for (const transpose op : {transpose::no, transpose::yes}) {
        if (op == transpose::yes && A == &full) continue;  // not symmetric
        array<T> x = array<T>::zeros(dev, A->rows), y = array<T>::zeros(dev, A->rows),
                 again = array<T>::zeros(dev, A->rows);
        const solve_report plain = jacobi<T>(dev, op, D, rhs.all(), x);
        const solve_report fast = jacobi<T>(dev, op, D, rhs.all(), y, {{}, 1, {0, true}});
        EXPECT_EQ(fast.status, solve_status::converged) << fast.reason;
        EXPECT_LE(relative_residual(*A, b, y), sizeof(T) == 4 ? 1e-5 : 1e-8);
        EXPECT_LE(3 * fast.iterations, plain.iterations) << dev.kind() << ' ' << fast.engine;
        jacobi<T>(dev, op, D, rhs.all(), again, {{}, 1, {0, true}});
        EXPECT_EQ(y.to_vector(), again.to_vector());
      }
    }
  }
}

// Unsymmetric, skew or symmetric but for the diagonal, whose entries times q are the sums of the others; rows
// in different units: the spectra lie anywhere within a circle.
csr<double> anywhere(std::uint64_t seed) {
  const auto unit = [&](std::int32_t k) { return 2 * random_unit(seed, static_cast<std::uint64_t>(k)) - 1; };
  const auto n = static_cast<std::int32_t>(2 + random_bits(seed, 0) % 9);
  const int sign = static_cast<int>(random_bits(seed, 1) % 3) - 1;  // of the entry across; 0: unrelated
  const double q = 1 - std::pow(10.0, -1.4 + 1.1 * unit(2));
  std::vector<testing::triplet> entries;
  for (std::int32_t i = 0; i < n; ++i) {
    const int scale = static_cast<int>(7 * unit(300 + i));
    double sum = 0;
    for (std::int32_t j = 0; j < n; ++j) {
      if (i == j) continue;
      const std::int32_t low = sign == 0 ? i : std::min(i, j), high = sign == 0 ? j : std::max(i, j);
      const double value = unit(16 + 16 * low + high);
      entries.push_back({i, j, std::ldexp(sign < 0 && i > j ? -value : value, scale)});
      sum += std::fabs(value);
    }
    entries.push_back({i, i, std::ldexp(sum / q, scale)});
  }
  return testing::from_triplets(n, entries);
}

TEST(chebyshevs_method, is_never_much_slower_than_plain_sweeps) {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    const csr<double> A = anywhere(seed);
    const std::vector<double> b = testing::random_vector(A.rows, 6);
    for (const device& dev : testing::devices()) {
      if (dev.is_cuda() ? seed >= 60 : dev.threads() > 1) continue;
      const csr<double> sparse = A.to(dev);
      const array<double> entries = dense_of<double>(dev, A), rhs = array<double>::from(dev, b);
      const matrix_view<const double> dense{entries.data(), A.rows, A.rows, A.rows};
      array<double> x = array<double>::zeros(dev, A.rows), y = array<double>::zeros(dev, A.rows),
                    z = array<double>::zeros(dev, A.rows);
      const solve_report plain = jacobi<double>(dev, sparse, rhs.all(), x);
      const solve_report fast = jacobi<double>(dev, sparse, rhs.all(), y, {{}, 1, {0, true}});
      const solve_report full = jacobi<double>(dev, transpose::no, dense, rhs.all(), z, {{}, 1, {0, true}});
      ASSERT_EQ(plain.status, solve_status::converged) << seed << ' ' << plain.reason;
      EXPECT_EQ(fast.status, solve_status::converged) << seed << ' ' << fast.reason;
      EXPECT_EQ(full.status, solve_status::converged) << seed << ' ' << full.reason;
      EXPECT_LE(fast.iterations, 2 * plain.iterations + 100) << seed << ' ' << fast.engine;
      EXPECT_LE(full.iterations, 2 * plain.iterations + 100) << seed << ' ' << full.engine;
      EXPECT_LE(relative_residual(A, b, y), 1e-8);
      EXPECT_LE(relative_residual(A, b, z), 1e-8);
    }
  }
}

// Long after nothing but rounding errors is left.
TEST(chebyshevs_method, does_as_many_sweeps_as_are_asked) {
  const csr<double> A = laplacian(17);
  const std::vector<double> b = testing::random_vector(A.rows, 3);
  stopping_criterion goal;
  goal.fixed_iterations = 1500;
  for (const device& dev : testing::devices()) {
    const csr<double> sparse = A.to(dev);
    const array<double> entries = dense_of<double>(dev, A), rhs = array<double>::from(dev, b);
    const matrix_view<const double> dense{entries.data(), A.rows, A.rows, A.rows};
    array<double> x = array<double>::zeros(dev, A.rows), y = array<double>::zeros(dev, A.rows);
    const solve_report s = jacobi<double>(dev, sparse, rhs.all(), x, {goal, 1, {0, true}});
    const solve_report d = jacobi<double>(dev, transpose::no, dense, rhs.all(), y, {goal, 1, {0, true}});
    for (const solve_report* report : {&s, &d}) {
      EXPECT_EQ(report->status, solve_status::fixed) << report->reason;
      EXPECT_EQ(report->iterations, 1500);
      EXPECT_EQ(report->restarts, 0);
    }
  }
}

TYPED_TEST(accelerated_sweeps, asynchronous_sweeps_converge_to_the_solution) {
  using T = TypeParam;
  const csr<double> grid = laplacian(30), full = full_positive(203);
  for (const csr<double>* A : {&grid, &full}) {
    const std::vector<double> b = testing::random_vector(A->rows, 4);
    for (const device& dev : testing::devices()) {
      const csr<T> placed = convert_values<T>(device::cpu(1), A->all()).to(dev);
      const array<T> rhs = array<T>::from(dev, std::vector<T>(b.begin(), b.end()));
      const double tolerance = sizeof(T) == 4 ? 1e-5 : 1e-8;
      array<T> x = array<T>::zeros(dev, A->rows), plain = array<T>::zeros(dev, A->rows);
      const solve_report report = async_relaxation<T>(dev, placed, rhs.all(), x);
      EXPECT_EQ(report.status, solve_status::converged) << report.reason;
      EXPECT_FALSE(report.reproducible);
      EXPECT_EQ(report.method, "async");
      EXPECT_LE(relative_residual(*A, b, x), tolerance);
      // No value is older than one sweep, so it is no slower than Jacobi but for rounding and luck.
      EXPECT_LE(report.iterations, 2 * jacobi<T>(dev, placed, rhs.all(), plain).iterations + 10);
      if (A->rows > 300) continue;
      const array<T> entries = dense_of<T>(dev, *A);
      const matrix_view<const T> D{entries.data(), A->rows, A->rows, A->rows};
      array<T> y = array<T>::zeros(dev, A->rows);
      const solve_report dense = async_relaxation<T>(dev, transpose::no, D, rhs.all(), y);
      EXPECT_EQ(dense.status, solve_status::converged) << dense.reason;
      EXPECT_TRUE(dense.error_bound.has_value());
      EXPECT_LE(relative_residual(*A, b, y), tolerance);
    }
  }
}

// Young's omega for the grid is 2 / (1 + sin(pi / 41)); the sweeps it takes are judged by its radius omega - 1.
TYPED_TEST(accelerated_sweeps, omega_is_estimated) {
  using T = TypeParam;
  const csr<double> A = laplacian(40);
  const std::vector<double> b = testing::random_vector(A.rows, 8);
  for (const device& dev : testing::devices()) {
    const csr<T> placed = convert_values<T>(device::cpu(1), A.all()).to(dev);
    const array<T> rhs = array<T>::from(dev, std::vector<T>(b.begin(), b.end()));
    array<T> x = array<T>::zeros(dev, A.rows);
    sor_options o;
    o.estimate_omega = true;
    const solve_report report = sor<T>(dev, placed, rhs.all(), x, o);
    EXPECT_EQ(report.status, solve_status::converged) << report.reason;
    const double omega = std::stod(report.engine.substr(report.engine.find("omega ") + 6));
    EXPECT_NEAR(omega, 2 / (1 + std::sin(std::acos(-1.0) / 41)), 0.02);
    EXPECT_LE(report.iterations, 2 * std::log(sizeof(T) == 4 ? 1e-5 : 1e-8) / std::log(0.8577));
  }
}

// An omega that was not found to the end would be another one, and so would x.
TEST(omega, is_not_guessed_where_the_estimate_is_interrupted) {
  const csr<double> A = laplacian(40);
  const std::vector<double> b(1600, 1.0);
  std::vector<double> x(1600);
  sor_options o;
  o.estimate_omega = true;
  cancellation stop;
  stop.request();
  const cancellation_scope listens(stop);
  EXPECT_THROW(
      sor<double>(device::cpu(1), A, view<const double>(b.data(), 1600), view<double>(x.data(), 1600), o),
      cancelled);
}

TEST(asynchronous_sweeps, fixed_counts_and_bad_requests) {
  const csr<double> A = laplacian(5);
  const std::vector<double> b(25, 1.0);
  for (const device& dev : testing::devices()) {
    const csr<double> placed = A.to(dev);
    const array<double> rhs = array<double>::from(dev, b);
    array<double> x = array<double>::zeros(dev, 25);
    async_options o;
    o.goal.fixed_iterations = 7;
    const solve_report report = async_relaxation<double>(dev, placed, rhs.all(), x, o);
    EXPECT_EQ(report.status, solve_status::fixed);
    EXPECT_EQ(report.iterations, 7);
    o.omega = 2;
    EXPECT_THROW(async_relaxation<double>(dev, placed, rhs.all(), x, o), value_error);
  }
}

}  // namespace
}  // namespace vouch
