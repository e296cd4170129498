#include <vouch/verify/enclosed_residual.hpp>

#include <gtest/gtest.h>

#include <limits>
#include <vouch/core/error.hpp>
#include <vouch/sparse/spmv_plan.hpp>

#include "devices.hpp"
#include "sparse/matrices.hpp"
#include "verify/exact.hpp"

namespace vouch {
namespace {

using testing::dice;

std::vector<interval<double>> residual_on(const device& dev, const csr<double>& A, const std::vector<double>& b,
                                          const std::vector<double>& x, const std::vector<double>& x_lo,
                                          const uncertainty& within = {}) {
  const csr<double> placed = A.to(dev);
  const auto b_dev = array<double>::from(dev, b), x_dev = array<double>::from(dev, x);
  const auto lo_dev = array<double>::from(dev, x_lo);
  array<interval<double>> r(dev, A.rows);
  enclosed_residual(dev, placed, b_dev, x_dev, x_lo.empty() ? nullptr : lo_dev.data(), r, within);
  return r.to_vector();
}

mpq_class exact_row(const csr<double>& A, const std::vector<double>& b, const std::vector<double>& x,
                    const std::vector<double>& x_lo, std::int64_t i) {
  mpq_class r(b[static_cast<std::size_t>(i)]);
  for (std::int64_t k = A.row_ptr[i]; k < A.row_ptr[i + 1]; ++k) {
    const auto j = static_cast<std::size_t>(A.col[k]);
    r -= mpq_class(A.val[k]) * (mpq_class(x[j]) + (x_lo.empty() ? mpq_class(0) : mpq_class(x_lo[j])));
  }
  return r;
}

TEST(enclosed_residual, is_exact_for_small_integers) {
  const csr<double> A = testing::matrix_of(2, 2, {{{0, 0}, 3}, {{0, 1}, -2}, {{1, 1}, 5}});
  for (const device& dev : testing::devices()) {
    const auto r = residual_on(dev, A, {1, 10}, {2, 2}, {});
    EXPECT_EQ(r[0], interval<double>(-1));
    EXPECT_EQ(r[1], interval<double>(0));
  }
}

// Cancelling rows of numbers of every size down to where products underflow.
TEST(enclosed_residual, contains_the_rational_residual_and_is_narrow) {
  for (const device& dev : testing::devices())
    for (int c = 0; c < testing::campaign(dev.is_cuda() ? 20000 : 100000); ++c) {
      dice die(static_cast<std::uint64_t>(c) + 1);
      const int n = 1 + die.below(c % 10 == 0 ? 120 : 12);
      const int shift = c % 3 == 0 ? -520 : 0;
      testing::entries list;
      for (int i = 0; i < n; ++i)
        for (int j = 0; j < n; ++j)
          if (die.unit() < 0.6) list[{i, j}] = std::ldexp(die.number(c % 2 == 0), shift);
      const csr<double> A = testing::matrix_of(n, n, list);
      std::vector<double> x, lo, b(static_cast<std::size_t>(n));
      for (int i = 0; i < n; ++i) x.push_back(std::ldexp(die.number(false), shift));
      if (c % 4 < 2)
        for (int i = 0; i < n; ++i) lo.push_back(x[static_cast<std::size_t>(i)] * 0x1p-54 * die.unit());
      for (std::int64_t i = 0; i < n; ++i)  // so that the residual nearly vanishes
        b[static_cast<std::size_t>(i)] = -exact_row(A, b, x, lo, i).get_d();
      const auto r = residual_on(dev, A, b, x, lo);
      for (std::int64_t i = 0; i < n; ++i) {
        const mpq_class exact = exact_row(A, b, x, lo, i);
        const interval<double> bounds = r[static_cast<std::size_t>(i)];
        ASSERT_LE(mpq_class(bounds.lo()), exact) << "case " << c << " row " << i;
        ASSERT_GE(mpq_class(bounds.hi()), exact) << "case " << c << " row " << i;
        double scale = std::fabs(b[static_cast<std::size_t>(i)]);
        for (std::int64_t k = A.row_ptr[i]; k < A.row_ptr[i + 1]; ++k)
          scale += std::fabs(A.val[k] * x[static_cast<std::size_t>(A.col[k])]);
        ASSERT_LE(bounds.hi() - bounds.lo(),
                  0x1p-51 * std::fabs(exact.get_d()) + (n * n + 8) * 0x1p-97 * scale + 0x1p-1060);
      }
    }
}

// A band matrix as rows, as diagonals and as a dense matrix of more than one block; also its upper half alone.
TEST(enclosed_residual, dense_and_diagonal_rows_enclose_the_same) {
  constexpr int n = 600;
  for (const bool symmetric : {false, true}) {
    dice die(symmetric ? 31 : 32);
    testing::entries list;
    for (int i = 0; i < n; ++i)
      for (const int j : {i - 20, i - 1, i, i + 1, i + 20})
        if (j >= 0 && j < n && (!symmetric || j >= i)) {
          const double value = die.number(true);
          list[{i, j}] = value;
          if (symmetric) list[{j, i}] = value;
        }
    const csr<double> A = testing::matrix_of(n, n, list);
    std::vector<double> b, x;
    for (int i = 0; i < n; ++i) x.push_back(die.number(true));
    for (int i = 0; i < n; ++i) b.push_back(die.number(false));
    for (std::int64_t i = 0; i < n; ++i) b[static_cast<std::size_t>(i)] = -exact_row(A, b, x, {}, i).get_d();
    std::vector<double> dense(n * n);
    for (const auto& [at, value] : list) dense[static_cast<std::size_t>(at.first + at.second * n)] = value;
    for (const device& dev : testing::devices()) {
      const csr<double> placed = A.to(dev);
      const auto plan = spmv_plan<double>::make(dev, placed, symmetric, layout::dia);
      const auto M = matrix<double>::from(dev, n, n, dense);
      const auto b_dev = array<double>::from(dev, b), x_dev = array<double>::from(dev, x);
      array<interval<double>> of_dense(dev, n), of_diagonals(dev, n);
      enclosed_residual(dev, M.read(), b_dev, x_dev, nullptr, of_dense);
      detail::enclosed_residual(dev, plan.as_dia(), b_dev, x_dev, nullptr, of_diagonals, {});
      for (const auto& found : {of_dense.to_vector(), of_diagonals.to_vector()})
        for (std::int64_t i = 0; i < n; ++i) {
          const mpq_class exact = exact_row(A, b, x, {}, i);
          const interval<double> bounds = found[static_cast<std::size_t>(i)];
          ASSERT_LE(mpq_class(bounds.lo()), exact) << "row " << i;
          ASSERT_GE(mpq_class(bounds.hi()), exact) << "row " << i;
          ASSERT_LE(bounds.hi() - bounds.lo(), 0x1p-51 * std::fabs(exact.get_d()) + 0x1p-60);
        }
    }
  }
}

TEST(enclosed_residual, covers_all_data_within_the_radii) {
  const csr<double> A = testing::matrix_of(1, 2, {{{0, 0}, 3}, {{0, 1}, -2}});
  for (const device& dev : testing::devices()) {
    const auto r = residual_on(dev, A, {1}, {1, 1}, {}, {0.1, 0.5});
    // b in [0.5, 1.5], A x in [2.7, 3.3] - [1.8, 2.2]
    EXPECT_LE(r[0].lo(), 0.5 - 3.3 + 1.8);
    EXPECT_GE(r[0].hi(), 1.5 - 2.7 + 2.2);
    EXPECT_GT(r[0].lo(), -1.0000001);
    EXPECT_LT(r[0].hi(), 1.0000001);
  }
}

TEST(enclosed_residual, says_nothing_of_what_is_no_number) {
  const double huge = std::numeric_limits<double>::max();
  const csr<double> A = testing::matrix_of(2, 2, {{{0, 0}, huge}, {{0, 1}, huge}, {{1, 1}, 1}});
  for (const device& dev : testing::devices()) {
    EXPECT_EQ(residual_on(dev, A, {1, 1}, {1, 1}, {})[0], interval<double>::entire());
    const auto r = residual_on(dev, A, {1, 1}, {1, std::numeric_limits<double>::quiet_NaN()}, {});
    EXPECT_EQ(r[1], interval<double>::entire());
  }
}

TEST(enclosed_residual, refuses_what_does_not_fit) {
  const device cpu = device::cpu(1);
  const csr<double> A = testing::matrix_of(2, 2, {{{0, 0}, 1}});
  const array<double> two(cpu, 2), three(cpu, 3);
  array<interval<double>> r(cpu, 2);
  EXPECT_THROW(enclosed_residual(cpu, A, three, two, nullptr, r), shape_error);
  EXPECT_THROW(enclosed_residual(cpu, A, two, three, nullptr, r), shape_error);
}

TEST(enclosed_residual, has_the_same_bits_for_any_number_of_threads) {
  testing::entries list;
  dice die(7);
  const int n = 20000;
  std::vector<double> b, x;
  for (int i = 0; i < n; ++i) {
    for (int k = 0; k < 4; ++k) list[{i, die.below(n)}] = die.number(true);
    b.push_back(die.number(true));
    x.push_back(die.number(true));
  }
  const csr<double> A = testing::matrix_of(n, n, list);
  const auto one = residual_on(device::cpu(1), A, b, x, {});
  EXPECT_EQ(one, residual_on(device::cpu(3), A, b, x, {}));
}

}  // namespace
}  // namespace vouch
