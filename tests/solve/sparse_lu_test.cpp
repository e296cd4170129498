// Sparse factorisations: solutions that are known exactly.
#include <vouch/solve/direct/sparse_lu.hpp>

#include <gtest/gtest.h>

#include <limits>
#include <vector>

#include <vouch/core/error.hpp>

#include "sparse/matrices.hpp"

namespace vouch {
namespace {

template <class T>
class sparse_lu_solves : public ::testing::Test {};
using precisions = ::testing::Types<float, double>;
TYPED_TEST_SUITE(sparse_lu_solves, precisions);

// A permuted matrix with small integers around it and integers for a solution: b is exact, too.
TYPED_TEST(sparse_lu_solves, integers_exactly) {
  using T = TypeParam;
  for (const std::int64_t n : {1, 2, 50, 400}) {
    testing::entries list = testing::random_entries(n, n, 3 * n, static_cast<std::uint64_t>(n));
    for (std::int64_t i = 0; i < n; ++i) list[{i, (i + n / 3) % n}] = 40;
    const csr<T> A = testing::matrix_of<T>(n, n, list);
    array<T> exact(device::cpu(1), n), b = array<T>::zeros(device::cpu(1), n);
    for (std::int64_t i = 0; i < n; ++i) exact[i] = static_cast<T>(i % 7 + 1);
    for (std::int64_t i = 0; i < n; ++i)
      for (std::int64_t k = A.row_ptr[i]; k < A.row_ptr[i + 1]; ++k) b[i] += A.val[k] * exact[A.col[k]];
    stopping_criterion goal;
    goal.rtol = 0;  // refined until nothing is left
    for (const int threads : {1, 3}) {
      array<T> x = array<T>::zeros(device::cpu(1), n);
      const solve_report report = sparse_lu<T>(device::cpu(threads), A, b, x, goal);
      EXPECT_EQ(report.status, solve_status::converged) << n << ' ' << report.reason;
      EXPECT_EQ(report.method, "sparse-lu");
      EXPECT_EQ(x.to_vector(), exact.to_vector());
      EXPECT_LE(report.iterations, 8);
    }
  }
}

TYPED_TEST(sparse_lu_solves, with_the_same_factors_again) {
  using T = TypeParam;
  const csr<T> A = testing::matrix_of<T>(2, 2, {{{0, 1}, 2}, {{1, 0}, 4}});
  const lu_factors<T> factors = factorise<T>(device::cpu(1), A);
  for (const T size : {T{1}, T{1024}}) {
    array<T> b(device::cpu(1), 2), x = array<T>::zeros(device::cpu(1), 2);
    b[0] = b[1] = size;
    EXPECT_EQ(sparse_lu<T>(device::cpu(1), A, factors, b, x).status, solve_status::converged);
    EXPECT_EQ(x[0], size / 4);
    EXPECT_EQ(x[1], size / 2);
  }
}

TEST(sparse_lu, says_what_is_wrong) {
  const device cpu = device::cpu(1);
  auto b = array<double>::zeros(cpu, 2), x = array<double>::zeros(cpu, 2);
  b[0] = 1;
  const csr<double> singular = testing::matrix_of(2, 2, {{{0, 0}, 1}, {{0, 1}, 2}, {{1, 0}, 2}, {{1, 1}, 4}});
  const solve_report report = sparse_lu<double>(cpu, singular, b, x);
  EXPECT_EQ(report.status, solve_status::breakdown);
  EXPECT_NE(report.reason.find("singular"), std::string::npos);
  const auto nothing = array<double>::zeros(cpu, 2);
  x[1] = 1;
  EXPECT_EQ(sparse_lu<double>(cpu, singular, nothing, x).status, solve_status::converged);
  EXPECT_EQ(x.to_vector(), nothing.to_vector());

  csr<double> A = testing::matrix_of(2, 2, {{{0, 0}, 1}, {{1, 1}, 4}});
  EXPECT_THROW(sparse_lu<double>(cpu, testing::matrix_of(2, 3, {{{0, 0}, 1}}), b, x), shape_error);
  auto longer = array<double>::zeros(cpu, 3);
  EXPECT_THROW(sparse_lu<double>(cpu, A, b, longer), shape_error);
  const auto other = factorise<double>(cpu, testing::matrix_of(3, 3, {{{0, 0}, 1}}));
  EXPECT_THROW(sparse_lu<double>(cpu, A, other, b, x), shape_error);
  stopping_criterion goal;
  goal.fixed_iterations = 3;
  EXPECT_THROW(sparse_lu<double>(cpu, A, b, x, goal), value_error);
  A.val[0] = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THROW(sparse_lu<double>(cpu, A, b, x), value_error);
}

}  // namespace
}  // namespace vouch
