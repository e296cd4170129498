// Direct solutions on a GPU against exact integers; as on the CPU, see direct_test.cpp.
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <vector>

#include <vouch/core/error.hpp>
#include <vouch/core/random.hpp>
#include <vouch/dense/factor/cusolver.hpp>
#include <vouch/solve/direct/direct.hpp>

#include "devices.hpp"

namespace vouch {
namespace {

template <class T>
class direct_on_gpu : public ::testing::Test {
 protected:
  void SetUp() override {
    VOUCH_NEEDS_GPU();
    if (!cusolver::present()) GTEST_SKIP() << "no cuSOLVER on this machine";
  }

  solve_report solve(bool by_cholesky, transpose op, const std::vector<T>& A, std::int64_t n, std::int64_t ld,
                     const std::vector<T>& b, std::vector<T>& x, const stopping_criterion& goal = {}) {
    const device gpu = testing::gpus().front();
    const array<T> entries = array<T>::from(gpu, A), rhs = array<T>::from(gpu, b);
    array<T> there = array<T>::from(gpu, x);
    const matrix_view<const T> view_of_A{entries.data(), n, n, ld};
    const solve_report report = by_cholesky ? cholesky<T>(gpu, view_of_A, rhs.all(), there, goal)
                                            : lu<T>(gpu, op, view_of_A, rhs.all(), there, goal);
    x = there.to_vector();
    return report;
  }
};
using precisions = ::testing::Types<float, double>;
TYPED_TEST_SUITE(direct_on_gpu, precisions);

TYPED_TEST(direct_on_gpu, finds_integers_exactly_and_the_same_bits_twice) {
  using T = TypeParam;
  for (const std::int64_t n : {1, 2, 37, 130})
    for (const bool definite : {false, true})
      for (const transpose op : {transpose::no, transpose::yes}) {
        const std::int64_t ld = n + (n == 37 ? 3 : 0);
        // Integers from -4 to 4; a symmetric one with a diagonal above its row sums is positive definite.
        std::vector<T> A(static_cast<std::size_t>(n * ld)), exact(static_cast<std::size_t>(n)), b(exact),
            x(exact);
        const auto at = [&](std::int64_t i, std::int64_t j) -> T& {
          return A[static_cast<std::size_t>(i + j * ld)];
        };
        for (std::int64_t j = 0; j < n; ++j)
          for (std::int64_t i = 0; i < n; ++i) {
            const std::int64_t low = definite ? std::min(i, j) : i, high = definite ? std::max(i, j) : j;
            at(i, j) = static_cast<T>(
                static_cast<double>(random_bits(5, static_cast<std::uint64_t>(low + 512 * high)) % 9) - 4);
          }
        for (std::int64_t i = 0; definite && i < n; ++i) at(i, i) = static_cast<T>(4 * n + 1);
        for (std::int64_t i = 0; i < n; ++i) exact[static_cast<std::size_t>(i)] = static_cast<T>(i % 7 + 1);
        for (std::int64_t i = 0; i < n; ++i)
          for (std::int64_t j = 0; j < n; ++j)  // integers below 2^24: exact in float, too
            b[static_cast<std::size_t>(i)] +=
                (op == transpose::no ? at(i, j) : at(j, i)) * exact[static_cast<std::size_t>(j)];
        stopping_criterion goal;
        goal.rtol = 0;  // refined until nothing is left: x is representable, and not 0
        std::vector<T> again = x;
        const solve_report report = this->solve(definite, op, A, n, ld, b, x, goal);
        EXPECT_EQ(report.status, solve_status::converged) << n << ' ' << report.reason;
        EXPECT_EQ(x, exact) << n;
        EXPECT_NE(report.engine.find("cusolver"), std::string::npos) << report.engine;
        this->solve(definite, op, A, n, ld, b, again, goal);
        EXPECT_EQ(x, again);
      }
}

TYPED_TEST(direct_on_gpu, names_what_cannot_be_solved) {
  using T = TypeParam;
  const std::vector<T> b{1, 1};
  std::vector<T> x{0, 0};
  const solve_report first = this->solve(false, transpose::no, {1, 2, 2, 4}, 2, 2, b, x);
  EXPECT_EQ(first.status, solve_status::breakdown);
  EXPECT_NE(first.reason.find("pivot 2"), std::string::npos) << first.reason;
  const solve_report second = this->solve(true, transpose::no, {1, 2, 2, 1}, 2, 2, b, x);
  EXPECT_EQ(second.status, solve_status::not_spd);
  EXPECT_NE(second.reason.find("pivot 2"), std::string::npos) << second.reason;
  EXPECT_THROW(this->solve(false, transpose::no, {std::numeric_limits<T>::quiet_NaN(), 2, 2, 4}, 2, 2, b, x),
               value_error);
  std::vector<T> none;
  EXPECT_EQ(this->solve(false, transpose::no, {}, 0, 1, {}, none).status, solve_status::converged);
}

// Three columns at once, as made of integers; both factors on one handle, whichever device object comes.
TYPED_TEST(direct_on_gpu, factors_serve_several_columns) {
  using T = TypeParam;
  const std::int64_t n = 3;
  const std::vector<T> A{4, 1, 0, 1, 5, 2, 0, 2, 6}, X{1, 2, 3, -1, 0, 4, 7, 5, -2};  // by columns; A symmetric
  std::vector<T> B(X.size());
  for (std::size_t j = 0; j < 3; ++j)
    for (std::size_t i = 0; i < 3; ++i)
      for (std::size_t k = 0; k < 3; ++k) B[i + 3 * j] += A[i + 3 * k] * X[k + 3 * j];
  for (const cusolver::kind which : {cusolver::kind::lu, cusolver::kind::cholesky}) {
    const device gpu = device::cuda(testing::gpus().front().index());
    cusolver::factors<T> factors(gpu, which, matrix<T>::from(gpu, n, n, A));
    EXPECT_EQ(factors.failed(), 0);
    array<T> columns = array<T>::from(gpu, B);
    factors.solve(which == cusolver::kind::lu, 3, columns.data());
    const std::vector<T> found = columns.to_vector();
    for (std::size_t k = 0; k < X.size(); ++k)
      EXPECT_NEAR(found[k], X[k], 64 * std::numeric_limits<T>::epsilon()) << k;
  }
}

}  // namespace
}  // namespace vouch
