#include <vouch/verify/sparse/sparse_cholesky.hpp>

#include <gtest/gtest.h>

#include <cmath>

#include <vouch/core/cancellation.hpp>
#include <vouch/sparse/ordering.hpp>

#include "sparse/matrices.hpp"
#include "verify/proofs.hpp"

namespace vouch {
namespace {

using testing::dice;

// Symmetric, each row's diagonal 1 above the sum of its other magnitudes; now and then with a full row.
csr<double> dominant(dice& die, int n, double density) {
  testing::entries list;
  std::vector<double> sum(static_cast<std::size_t>(n));
  const int full = die.below(3) == 0 ? die.below(n) : -1;
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < i; ++j)
      if (i == full || j == full || die.unit() < density) {
        const double value = 2 * die.unit() - 1;
        list[{i, j}] = list[{j, i}] = value;
        sum[static_cast<std::size_t>(i)] += std::fabs(value);
        sum[static_cast<std::size_t>(j)] += std::fabs(value);
      }
  for (int i = 0; i < n; ++i) list[{i, i}] = sum[static_cast<std::size_t>(i)] + 1;
  return testing::matrix_of(n, n, list);
}

// Entries left of the diagonal of each row of L, by elimination in a full table.
std::vector<std::int64_t> terms_of(const csr<double>& A) {
  const auto n = static_cast<std::size_t>(A.rows);
  std::vector<std::vector<bool>> there(n, std::vector<bool>(n));
  for (std::int64_t i = 0; i < A.rows; ++i)
    for (std::int64_t k = A.row_ptr[i]; k < A.row_ptr[i + 1]; ++k)
      there[static_cast<std::size_t>(i)][static_cast<std::size_t>(A.col[k])] = true;
  std::vector<std::int64_t> terms(n, 0);
  for (std::size_t k = 0; k < n; ++k)
    for (std::size_t i = k + 1; i < n; ++i) {
      if (!there[i][k]) continue;
      ++terms[i];
      for (std::size_t j = k + 1; j <= i; ++j)
        if (there[j][k]) there[i][j] = there[j][i] = true;
    }
  return terms;
}

TEST(sparse_cholesky, has_the_entries_of_elimination_and_solves) {
  const device cpu = device::cpu(1);
  for (int c = 0; c < 400; ++c) {
    dice die(static_cast<std::uint64_t>(c) + 91);
    const int n = 1 + die.below(c % 10 == 0 ? 150 : 40);
    const csr<double> given = dominant(die, n, c % 4 == 0 ? 0.9 : 3.0 * die.unit() / n);
    const csr<double> A = permute<double>(cpu, given, detail::cholesky_order(cpu, given));
    const detail::cholesky_structure structure(A, 1 << 28);
    ASSERT_EQ(structure.terms, terms_of(A)) << "case " << c;
    const double shift = c % 2 == 0 ? 0 : 0.5;
    const detail::sparse_cholesky L(A, structure, shift);
    ASSERT_TRUE(L.completed()) << "case " << c;
    std::vector<double> b, x;
    for (int i = 0; i < n; ++i) b.push_back(2 * die.unit() - 1);
    x = b;
    L.solve(x);
    for (std::int64_t i = 0; i < n; ++i) {
      const auto at = static_cast<std::size_t>(i);
      long double rest = static_cast<long double>(b[at]) + static_cast<long double>(shift) * x[at];
      for (std::int64_t k = A.row_ptr[i]; k < A.row_ptr[i + 1]; ++k)
        rest -= static_cast<long double>(A.val[k]) * x[static_cast<std::size_t>(A.col[k])];
      ASSERT_LE(std::fabs(rest), 1e-12) << "case " << c << ", row " << i;
    }
  }
}

TEST(sparse_cholesky, ends_where_it_is_asked_to) {
  const device cpu = device::cpu(1);
  dice die(5);
  const csr<double> A = dominant(die, 100, 0.9);
  const detail::cholesky_structure structure(A, 1 << 28);
  cancellation request;
  const cancellation_scope listening(request);
  request.request();
  EXPECT_THROW(detail::sparse_cholesky(A, structure, 0), cancelled);
}

// The operator of 5 points has the smallest eigenvalue 8 sin^2(pi / (2 m + 2)).
TEST(sparse_cholesky, ends_at_a_pivot_that_is_not_positive) {
  const device cpu = device::cpu(1);
  const int m = 30;
  testing::entries list;
  for (int i = 0; i < m * m; ++i) {
    list[{i, i}] = 4;
    if (i % m > 0) list[{i, i - 1}] = list[{i - 1, i}] = -1;
    if (i >= m) list[{i, i - m}] = list[{i - m, i}] = -1;
  }
  const csr<double> given = testing::matrix_of(m * m, m * m, list);
  const csr<double> A = permute<double>(cpu, given, detail::cholesky_order(cpu, given));
  const detail::cholesky_structure structure(A, 1 << 28);
  const double least = 8 * std::pow(std::sin(std::acos(-1.0) / (2 * m + 2)), 2);
  EXPECT_TRUE(detail::sparse_cholesky(A, structure, 0.999999 * least).completed());
  EXPECT_FALSE(detail::sparse_cholesky(A, structure, 1.000001 * least).completed());
  EXPECT_GT(detail::cholesky_structure(A, 1000).entries(), 1000);
}

}  // namespace
}  // namespace vouch
