// Direct solutions against exact integers and a matrix known to be hard.
#include <gtest/gtest.h>

#include <cmath>
#include <utility>
#include <vector>

#include <vouch/core/error.hpp>
#include <vouch/core/random.hpp>
#include <vouch/dense/factor/lapack.hpp>
#include <vouch/solve/direct/direct.hpp>
#include <vouch/solve/loop/inner_solver.hpp>
#include <vouch/solve/loop/residual_checked_solve.hpp>

namespace vouch {
namespace {

template <class T>
class direct : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!lapack::present()) GTEST_SKIP() << "no LAPACK on this machine";
  }
};
using precisions = ::testing::Types<float, double>;
TYPED_TEST_SUITE(direct, precisions);

// Integers from -4 to 4 by columns; symmetric positive definite as B B^T + n I.
std::vector<double> random_integers(std::int64_t n, bool definite) {
  std::vector<double> B(static_cast<std::size_t>(n * n)), A(B.size());
  for (std::size_t k = 0; k < B.size(); ++k) B[k] = static_cast<double>(random_bits(5, k) % 9) - 4;
  if (!definite) return B;
  for (std::int64_t i = 0; i < n; ++i)
    for (std::int64_t j = 0; j < n; ++j) {
      double sum = i == j ? static_cast<double>(n) : 0;
      for (std::int64_t k = 0; k < n; ++k)
        sum += B[static_cast<std::size_t>(i + k * n)] * B[static_cast<std::size_t>(j + k * n)];
      A[static_cast<std::size_t>(i + j * n)] = sum;
    }
  return A;
}

TYPED_TEST(direct, finds_integers_exactly) {
  using T = TypeParam;
  for (const std::int64_t n : {1, 2, 37, 90})
    for (const bool definite : {false, true})
      for (const transpose op : {transpose::no, transpose::yes}) {
        const std::vector<double> wide = random_integers(n, definite);
        const std::vector<T> A(wide.begin(), wide.end());
        std::vector<T> exact(static_cast<std::size_t>(n)), b(exact), x(exact);
        for (std::int64_t i = 0; i < n; ++i) exact[static_cast<std::size_t>(i)] = static_cast<T>(i % 7 + 1);
        for (std::int64_t i = 0; i < n; ++i)
          for (std::int64_t j = 0; j < n; ++j)  // integers below 2^24: exact in float, too
            b[static_cast<std::size_t>(i)] +=
                A[static_cast<std::size_t>(op == transpose::no ? i + j * n : j + i * n)] *
                exact[static_cast<std::size_t>(j)];
        const matrix_view<const T> view_of_A{A.data(), n, n, n};
        const view<const T> bv(b.data(), n);
        stopping_criterion goal;
        goal.rtol = 0;  // refined until nothing is left: x is representable, and not 0
        const solve_report report = definite ? cholesky<T>(device::cpu(2), view_of_A, bv, {x.data(), n}, goal)
                                             : lu<T>(device::cpu(2), op, view_of_A, bv, {x.data(), n}, goal);
        EXPECT_EQ(report.status, solve_status::converged) << n << ' ' << report.reason;
        EXPECT_EQ(x, exact) << n;
        EXPECT_LE(report.iterations, 8);
      }
}

TYPED_TEST(direct, refines_what_is_hard) {
  using T = TypeParam;
  // Hilbert's matrix times the least common multiple: integers; condition 10^8 (float: n = 5) and 10^13.
  const std::int64_t n = sizeof(TypeParam) == 4 ? 5 : 10;
  const double multiple = sizeof(T) == 4 ? 2520 : 232792560;
  std::vector<T> A(static_cast<std::size_t>(n * n)), b(static_cast<std::size_t>(n)), x(b);
  for (std::int64_t j = 0; j < n; ++j)
    for (std::int64_t i = 0; i < n; ++i) {
      A[static_cast<std::size_t>(i + j * n)] = static_cast<T>(multiple / static_cast<double>(i + j + 1));
      b[static_cast<std::size_t>(i)] += A[static_cast<std::size_t>(i + j * n)];
    }
  for (const bool symmetric : {false, true}) {
    std::fill(x.begin(), x.end(), T{});
    const matrix_view<const T> H{A.data(), n, n, n};
    const solve_report report = symmetric
                                    ? cholesky<T>(device::cpu(1), H, {b.data(), n}, {x.data(), n})
                                    : lu<T>(device::cpu(1), transpose::no, H, {b.data(), n}, {x.data(), n});
    EXPECT_EQ(report.status, solve_status::converged) << report.reason;
  }
}

TYPED_TEST(direct, names_what_cannot_be_solved) {
  using T = TypeParam;
  std::vector<T> singular{1, 2, 2, 4}, indefinite{1, 2, 2, 1}, x{0, 0}, b{1, 1};
  const view<const T> bv(b.data(), 2);
  const view<T> xv(x.data(), 2);
  const solve_report first = lu<T>(device::cpu(1), transpose::no, {singular.data(), 2, 2, 2}, bv, xv);
  EXPECT_EQ(first.status, solve_status::breakdown);
  EXPECT_NE(first.reason.find("pivot 2"), std::string::npos) << first.reason;
  const solve_report second = cholesky<T>(device::cpu(1), {indefinite.data(), 2, 2, 2}, bv, xv);
  EXPECT_EQ(second.status, solve_status::not_spd);
  EXPECT_NE(second.reason.find("pivot 2 is not positive"), std::string::npos) << second.reason;
  for (const bool definite : {false, true}) {
    const std::vector<T> nothing{0, 0};
    x = {0, 1};
    const view<const T> zero(nothing.data(), 2);
    const solve_report third = definite
                                   ? cholesky<T>(device::cpu(1), {indefinite.data(), 2, 2, 2}, zero, xv)
                                   : lu<T>(device::cpu(1), transpose::no, {singular.data(), 2, 2, 2}, zero, xv);
    EXPECT_EQ(third.status, solve_status::converged) << third.reason;
    EXPECT_EQ(x, nothing);
  }
  singular[0] = std::numeric_limits<T>::quiet_NaN();
  EXPECT_THROW(lu<T>(device::cpu(1), transpose::no, {singular.data(), 2, 2, 2}, bv, xv), value_error);
  EXPECT_THROW(lu<T>(device::cpu(1), transpose::no, {singular.data(), 1, 2, 1}, bv, xv), shape_error);
  stopping_criterion fixed;
  fixed.fixed_iterations = 2;
  EXPECT_THROW(cholesky<T>(device::cpu(1), {indefinite.data(), 2, 2, 2}, bv, xv, fixed), value_error);
  EXPECT_EQ(lu<T>(device::cpu(1), transpose::no, {nullptr, 0, 0, 1}, {b.data(), 0}, {x.data(), 0}).status,
            solve_status::converged);
}

// x[0] - x[1] = 2^-490, so that both are the same double and b - A x = (1, 0), next to products of 2^490.
TEST(direct_verdict, is_true_where_products_drown_the_right_hand_side) {
  if (!lapack::present()) GTEST_SKIP() << "no LAPACK on this machine";
  const std::vector<double> A{0x1p490, 1, -0x1p490, 2}, b{1, 3};
  std::vector<double> x(2);
  const solve_report report = lu<double>(device::cpu(1), transpose::no, {A.data(), 2, 2, 2},
                                         view<const double>(b.data(), 2), {x.data(), 2}, {});
  EXPECT_EQ(report.status, solve_status::stagnated) << report.reason;
  EXPECT_GE(report.true_residual, 1);
  EXPECT_NEAR(x[0], 1, 1e-15);
}

// LAPACK's bits depend on its number of threads: beyond what one thread does at once the report says so.
TEST(direct_verdict, bits_are_those_of_any_number_of_threads_or_said_not_to_be) {
  if (!lapack::present()) GTEST_SKIP() << "no LAPACK on this machine";
  for (const std::int64_t n : {150, 300, 1025}) {
    std::vector<double> A = random_integers(n, false), b(static_cast<std::size_t>(n), 1), x[3];
    for (std::int64_t i = 0; i < n; ++i) A[static_cast<std::size_t>(i + i * n)] += 50;
    for (const int threads : {1, 2, 3}) {
      x[threads - 1].resize(b.size());
      const solve_report report = lu<double>(device::cpu(threads), transpose::no, {A.data(), n, n, n},
                                             view<const double>(b.data(), n), {x[threads - 1].data(), n}, {});
      EXPECT_EQ(report.status, solve_status::converged);
      EXPECT_EQ(report.reproducible, n <= 1024);
      if (report.reproducible) {
        EXPECT_EQ(x[threads - 1], x[0]) << n << ' ' << threads;
      }
    }
  }
}

TEST(direct_verdict, says_what_ended_it) {
  if (!lapack::present()) GTEST_SKIP() << "no LAPACK on this machine";
  const auto one = [](std::vector<double> A, const stopping_criterion& goal = {}) {
    const std::vector<double> b{1, 1};
    std::vector<double> x(2);
    return lu<double>(device::cpu(1), transpose::no, {A.data(), 2, 2, 2}, view<const double>(b.data(), 2),
                      {x.data(), 2}, goal);
  };
  const solve_report overflow = one({1e-310, 0, 0, 1e-310});
  EXPECT_EQ(overflow.status, solve_status::diverged);
  EXPECT_EQ(overflow.reason, "x or its residual overflows by iteration 1");
  const solve_report singular = one({1, 2, 2, 4});
  EXPECT_EQ(singular.status, solve_status::breakdown);
  EXPECT_EQ(singular.backward_error, 1);  // of x = 0
  stopping_criterion once;
  once.rtol = 0x1p-70;
  once.max_iterations = 1;
  EXPECT_EQ(one({3, 1, 1, 7}, once).reason, "1 iteration was not enough; allow more, or take more precision");
}

// Believes after three iterations that nine tenths were all, and is then at its limit.
class stopping_short final : public inner_solver<double> {
 public:
  std::string name() const override { return "stopping short"; }
  inner_outcome run(double* r, double* d, const stopping_rule&, iteration_log&) override {
    d[0] = first_ ? 0.9 * r[0] : 0;
    const bool first = std::exchange(first_, false);
    return first ? inner_outcome{solver_event::reached, 3, 0.01 * r[0] * r[0]}
                 : inner_outcome{solver_event::iteration_limit, 0, r[0] * r[0]};
  }

 private:
  bool first_ = true;
};

TEST(direct_verdict, rates_are_those_of_all_runs) {
  const device cpu = device::cpu(1);
  std::vector<double> x(1);
  const checked_problem<double> problem{cpu, 1, [](const double* at, const double* low, double* r) {
                                          r[0] = 1 - at[0] - (low != nullptr ? low[0] : 0);
                                          residual_facts facts;
                                          facts.norm2 = facts.norm_inf = std::fabs(r[0]);
                                          facts.rhs_norm2 = facts.rhs_norm_inf = facts.matrix_norm_inf = 1;
                                          return facts;
                                        }};
  stopping_short engine;
  solve_report report;
  residual_checked_solve<double>(problem, engine, {x.data(), 1}, {}, report);
  EXPECT_EQ(report.status, solve_status::max_iterations);
  // A digit in three iterations: eight take 24.
  EXPECT_NE(report.reason.find("at the measured rate about 24 would be"), std::string::npos) << report.reason;
}

}  // namespace
}  // namespace vouch
