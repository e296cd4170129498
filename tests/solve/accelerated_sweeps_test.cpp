// What a dense and a sparse matrix have alike on every device: Chebyshev's acceleration of dense sweeps, and
// asynchronous sweeps.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include <vouch/core/error.hpp>
#include <vouch/solve/async.hpp>
#include <vouch/solve/gauss_seidel.hpp>
#include <vouch/solve/jacobi.hpp>
#include <vouch/solve/sor.hpp>

#include "devices.hpp"
#include "solve/systems.hpp"

namespace vouch {
namespace {

using testing::from_triplets;
using testing::laplacian;
using testing::triplet;

// The matrix as a dense one, by columns.
template <real T>
array<T> dense_of(const device& dev, const csr<double>& A) {
  std::vector<T> all(static_cast<std::size_t>(A.rows * A.rows), T{});
  for (std::int64_t i = 0; i < A.rows; ++i)
    for (std::int64_t k = A.row_ptr[i]; k < A.row_ptr[i + 1]; ++k)
      all[static_cast<std::size_t>(i + A.rows * A.col[k])] = static_cast<T>(A.val[k]);
  return array<T>::from(dev, all);
}

// Positive entries, one eigenvalue apart from the others: dominant by little.
csr<double> full_positive(std::int32_t n) {
  std::vector<triplet> entries;
  for (std::int32_t i = 0; i < n; ++i) {
    double sum = 0;
    for (std::int32_t j = 0; j < n; ++j)
      if (i != j) {
        const double value = static_cast<double>(
            1 + random_bits(9, static_cast<std::uint64_t>(i) * 4096 + static_cast<std::uint64_t>(j)) % 16);
        entries.push_back({i, j, value});
        sum += value;
      }
    entries.push_back({i, i, std::ceil(1.05 * sum)});
  }
  return from_triplets(n, entries);
}

template <class T>
double relative_residual(const csr<double>& A, const std::vector<double>& b, const array<T>& x) {
  const std::vector<T> here = x.to_vector();
  return testing::relative_residual(A, b, std::vector<double>(here.begin(), here.end()));
}

csr<float> from_single(const device& dev) {
  return convert_values<float>(device::cpu(1), from_triplets(1, {{0, 0, 1}}).all()).to(dev);
}

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

// What single precision cannot reduce any more says nothing about the spectrum.
TEST(accelerated_sweeps_in_mixed_precision, take_no_more_sweeps_than_in_double) {
  const device cpu = device::cpu(2);
  const csr<double> A = laplacian(60);
  const array<double> b = array<double>::from(cpu, testing::random_vector(A.rows, 5));
  const auto sweeps_of = [&](bool mixed) {
    array<double> x = array<double>::zeros(cpu, A.rows);
    const solve_report report =
        sor<double>(cpu, A, b.all(), x,
                    {{}, 1.5, sweep_order::symmetric, {0, true}, sweep_ordering::natural, mixed, false});
    EXPECT_EQ(report.status, solve_status::converged) << report.reason;
    EXPECT_LE(relative_residual(A, b.to_vector(), x), 1e-8);
    return report.iterations;
  };
  EXPECT_LE(sweeps_of(true), 2 * sweeps_of(false));
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

// Single precision alone attains about 1e-7 of these systems.
TEST(mixed_sweeps, reach_what_double_reaches) {
  const csr<double> grid = laplacian(12), full = full_positive(203);
  for (const csr<double>* A : {&grid, &full}) {
    const std::vector<double> b = testing::random_vector(A->rows, 7);
    for (const device& dev : testing::devices()) {
      const csr<double> placed = A->to(dev);
      const array<double> entries = dense_of<double>(dev, *A), rhs = array<double>::from(dev, b);
      const matrix_view<const double> D{entries.data(), A->rows, A->rows, A->rows};
      solve_goal goal;
      goal.rtol = 1e-13;
      const bool small_gpu = dev.is_cuda() && dev.processors() < 128;
      for (const sweep_order order : {sweep_order::forward, sweep_order::symmetric}) {
        array<double> x = array<double>::zeros(dev, A->rows), y = array<double>::zeros(dev, A->rows);
        const solve_report s =
            gauss_seidel<double>(dev, placed, rhs.all(), x, {goal, order, {}, sweep_ordering::natural, true});
        EXPECT_EQ(s.status, solve_status::converged) << s.reason;
        EXPECT_EQ(s.precision, "mixed");
        EXPECT_NE(s.engine.find("single precision inside"), std::string::npos) << s.engine;
        EXPECT_LE(relative_residual(*A, b, x), 1e-13);
        if (small_gpu) continue;
        const solve_report d = gauss_seidel<double>(dev, transpose::no, D, rhs.all(), y,
                                                    {goal, order, {}, sweep_ordering::natural, true});
        EXPECT_EQ(d.status, solve_status::converged) << d.reason;
        EXPECT_LE(relative_residual(*A, b, y), 1e-13);
      }
      array<double> x = array<double>::zeros(dev, A->rows);
      const solve_report j = jacobi<double>(dev, transpose::no, D, rhs.all(), x, {goal, 1, {}, true});
      EXPECT_EQ(j.status, solve_status::converged) << j.reason;
      EXPECT_LE(relative_residual(*A, b, x), 1e-13);
    }
  }
}

// Entries that single precision cannot hold: double takes over.
TEST(mixed_sweeps, go_on_in_double_where_single_precision_does_not_help) {
  const csr<double> A = from_triplets(2, {{0, 0, 4e60}, {0, 1, 1e60}, {1, 0, 1e60}, {1, 1, 4e60}});
  for (const device& dev : testing::devices()) {
    const csr<double> placed = A.to(dev);
    const array<double> rhs = array<double>::from(dev, std::vector<double>{1e60, 2e60});
    array<double> x = array<double>::zeros(dev, 2);
    const solve_report report = jacobi<double>(dev, placed, rhs.all(), x, {{}, 1, {}, true});
    EXPECT_EQ(report.status, solve_status::converged) << report.reason;
    ASSERT_FALSE(report.warnings.empty());
    EXPECT_NE(report.warnings.back().find("went on in double"), std::string::npos) << report.warnings.back();
    EXPECT_NEAR(x.to_vector()[0], 2.0 / 15, 1e-7);
    EXPECT_NEAR(x.to_vector()[1], 7.0 / 15, 1e-7);
    const csr<float> single = from_single(dev);
    array<float> y = array<float>::zeros(dev, 1);
    EXPECT_THROW(jacobi<float>(dev, single, y.all(), y, {{}, 1, {}, true}), value_error);
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
