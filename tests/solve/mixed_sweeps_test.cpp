// Sweeps over copies of less precision inside, a double answer outside.
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include <vouch/core/error.hpp>
#include <vouch/solve/stationary/gauss_seidel.hpp>
#include <vouch/solve/stationary/jacobi.hpp>
#include <vouch/solve/stationary/sor.hpp>

#include "devices.hpp"
#include "solve/full_systems.hpp"

namespace vouch {
namespace {

using testing::dense_of;
using testing::from_triplets;
using testing::full_positive;
using testing::laplacian;
using testing::relative_residual;
using testing::triplet;

csr<float> from_single(const device& dev) {
  return convert_values<float>(device::cpu(1), from_triplets(1, {{0, 0, 1}}).all()).to(dev);
}

// What single precision cannot reduce any more says nothing about the spectrum; on the larger grid that is
// after three digits.
TEST(accelerated_sweeps_in_mixed_precision, take_few_more_sweeps_than_in_double) {
  const device cpu = device::cpu(2);
  const acceleration chebyshev{0, true};
  for (const int n : {60, 150}) {
    const csr<double> A = laplacian(n);
    const array<double> b = array<double>::from(cpu, testing::random_vector(A.rows, 5));
    const auto sweeps_of = [&](auto sweeps) {
      array<double> x = array<double>::zeros(cpu, A.rows);
      const solve_report report = sweeps(x);
      EXPECT_EQ(report.status, solve_status::converged) << report.reason;
      EXPECT_LE(relative_residual(A, b.to_vector(), x), 1e-8);
      return report.iterations;
    };
    const auto symmetric = [&](bool mixed) {
      return sweeps_of([&](array<double>& x) {
        return sor<double>(cpu, A, b.all(), x,
                           {{}, 1.5, sweep_order::symmetric, chebyshev, sweep_ordering::natural, mixed, false});
      });
    };
    const auto simultaneous = [&](bool mixed) {
      return sweeps_of([&](array<double>& x) {
        return jacobi<double>(cpu, A, b.all(), x, {{}, 1, chebyshev, mixed});
      });
    };
    if (n == 60) {
      EXPECT_LE(symmetric(true), 2 * symmetric(false));
    }
    EXPECT_LE(simultaneous(true), 3 * simultaneous(false));
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
      stopping_criterion goal;
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

// Every entry off the diagonal is -entry, and the diagonal outweighs its row by `dominance`; rows from half of
// n on come in other units.
csr<double> constant_matrix(std::int32_t n, double entry, double dominance) {
  std::vector<triplet> entries;
  for (std::int32_t i = 0; i < n; ++i)
    for (std::int32_t j = 0; j < n; ++j) {
      const double unit = i < n / 2 ? entry : 0x1p-40 * entry;
      entries.push_back({i, j, unit * (i == j ? dominance * (n - 1) : -1)});
    }
  return from_triplets(n, entries);
}

csr<double> random_matrix(std::int32_t n, double dominance) {
  std::vector<triplet> entries;
  for (std::int32_t i = 0; i < n; ++i) {
    double sum = 0;
    for (std::int32_t j = 0; j < n; ++j)
      if (i != j) {
        const auto place = static_cast<std::uint64_t>(i) * 4096 + static_cast<std::uint64_t>(j);
        const double value = static_cast<double>(random_bits(11, place) >> 11) * 0x1p-53;
        entries.push_back({i, j, value});
        sum += value;
      }
    entries.push_back({i, i, dominance * sum + 1});
  }
  return from_triplets(n, entries);
}

struct dense_run {
  solve_report report;
  array<double> x;
};
dense_run run(const device& dev, const csr<double>& A, const std::vector<double>& b, int anderson, bool mixed,
              double rtol) {
  const array<double> entries = dense_of<double>(dev, A), rhs = array<double>::from(dev, b);
  array<double> x = array<double>::zeros(dev, A.rows);
  stopping_criterion goal;
  goal.rtol = rtol;
  const solve_report report =
      jacobi<double>(dev, transpose::no, matrix_view<const double>{entries.data(), A.rows, A.rows, A.rows},
                     rhs.all(), x, {goal, 1, {anderson}, mixed});
  return {report, std::move(x)};
}

TEST(mixed_sweeps, over_rounded_copies_attain_what_double_attains) {
  for (const std::int32_t n : {1, 5, 130, 515})
    for (const double dominance : {1.05, 2.0}) {
      const csr<double> A = random_matrix(n, dominance);
      const std::vector<double> b = testing::random_vector(n, 5);
      for (const device& dev : testing::devices())
        for (const int anderson : {0, 2}) {
          const dense_run found = run(dev, A, b, anderson, true, 1e-13);
          EXPECT_EQ(found.report.status, solve_status::converged) << found.report.reason;
          EXPECT_LE(relative_residual(A, b, found.x), 1e-13) << n << found.report.engine;
          const std::string copy = anderson > 0     ? "single precision inside"
                                   : dominance == 2 ? "bfloat16 inside"
                                                    : "8-bit floats inside";
          if (dev.is_cuda() && n > 100) {
            EXPECT_NE(found.report.engine.find(copy), std::string::npos) << found.report.engine;
          }
          EXPECT_TRUE(found.report.warnings.empty()) << found.report.warnings.front();
          EXPECT_EQ(found.x.to_vector(), run(dev, A, b, anderson, true, 1e-13).x.to_vector());
          const dense_run plain = run(dev, A, b, anderson, false, 1e-13);
          EXPECT_LE(found.report.iterations, 3 * plain.report.iterations + 30) << found.report.engine;
        }
    }
}

// Large enough for the CPU to take 16 bits as well. Positive entries, dominance 1.25.
TEST(mixed_sweeps, on_the_cpu_go_over_rounded_copies_of_large_matrices) {
  const device cpu = device::cpu(2);
  const std::int64_t n = 2048;
  std::vector<double> a(static_cast<std::size_t>(n * n)), b(static_cast<std::size_t>(n));
  for (std::int64_t i = 0; i < n; ++i) {
    double sum = 0;
    for (std::int64_t j = 0; j < n; ++j) {
      double& entry = a[static_cast<std::size_t>(i * n + j)];
      entry = static_cast<double>(random_bits(3, static_cast<std::uint64_t>(i * n + j)) >> 11) * 0x1p-53;
      sum += entry;
    }
    a[static_cast<std::size_t>(i * n + i)] = 1.25 * sum;
    b[static_cast<std::size_t>(i)] = static_cast<double>(i % 17);
  }
  const array<double> entries = array<double>::from(cpu, a), rhs = array<double>::from(cpu, b);
  const matrix_view<const double> A{entries.data(), n, n, n};
  stopping_criterion goal;
  goal.rtol = 1e-12;
  for (const transpose op : {transpose::yes, transpose::no}) {
    array<double> x = array<double>::zeros(cpu, n);
    const solve_report report = jacobi<double>(cpu, op, A, rhs.all(), x, {goal, 1, {}, true});
    EXPECT_EQ(report.status, solve_status::converged) << report.reason;
    EXPECT_EQ(report.engine.find("bfloat16 inside"), 0U) << report.engine;
    long double squares = 0, rhs_squares = 0;
    for (std::int64_t i = 0; i < n; ++i) {
      long double s = b[static_cast<std::size_t>(i)];
      rhs_squares += s * s;
      for (std::int64_t j = 0; j < n; ++j)
        s -= static_cast<long double>(
                 a[static_cast<std::size_t>(op == transpose::yes ? i * n + j : i + j * n)]) *
             x[j];
      squares += s * s;
    }
    EXPECT_LE(std::sqrt(squares / rhs_squares), 1e-12L);
  }
}

// 17/16 becomes 1 in 8 bits and stays in 16; 1 + 3/512 becomes 1, or 1 + 1/128. With so little dominance the
// iteration over such a copy diverges, or tells little of A.
TEST(mixed_sweeps, leave_a_copy_that_does_not_do) {
  const std::int32_t n = 64;
  const csr<double> first = constant_matrix(n, 17.0 / 16, 1.02), second = constant_matrix(n, 1 + 0x3p-9, 1.002);
  for (const device& dev : testing::devices())
    for (const csr<double>* A : {&first, &second}) {
      const std::vector<double> b = testing::row_sums(*A);
      const dense_run found = run(dev, *A, b, 0, true, 1e-10);
      EXPECT_EQ(found.report.status, solve_status::converged) << found.report.reason;
      EXPECT_LE(relative_residual(*A, b, found.x), 1e-10);
      if (!dev.is_cuda()) continue;
      const std::string copies = A == &first ? "8-bit floats, then bfloat16 inside"
                                             : "8-bit floats, then bfloat16, then single precision inside";
      EXPECT_NE(found.report.engine.find(copies), std::string::npos) << found.report.engine;
    }
}

}  // namespace
}  // namespace vouch
