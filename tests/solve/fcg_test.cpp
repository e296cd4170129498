// vouch/solve/krylov/fcg.hpp against factorisations of Eigen and against cg().
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include <vouch/core/error.hpp>
#include <vouch/solve/krylov/cg.hpp>
#include <vouch/solve/krylov/fcg.hpp>
#include <vouch/sparse/spmv.hpp>

#include "../devices.hpp"
#include "krylov_answer.hpp"

namespace vouch {
namespace {

using testing::as_eigen;
using testing::error_of;
using testing::krylov_answer;
using testing::residual_of;

template <real T>
krylov_answer solve_on(const device& dev, const csr<double>& A, const std::vector<double>& b,
                       const fcg_options& options = {}, const std::string& precondition = "none") {
  return testing::solve_from_zero<T>(dev, A, b, precondition,
                                     [&](const device& on, const auto& there, auto rhs, auto x, const auto* M) {
                                       return fcg(on, there, rhs, x, options, M);
                                     });
}

TEST(fcg, solves_and_takes_the_steps_of_cg) {
  const csr<double> A = testing::laplacian(16);
  const std::vector<double> b = testing::random_vector(A.rows, 3);
  for (const device& dev : testing::devices())
    for (const char* precondition : {"none", "jacobi", "ic0"}) {
      const krylov_answer found = solve_on<double>(dev, A, b, {}, precondition);
      EXPECT_EQ(found.report.status, solve_status::converged) << found.report.reason;
      EXPECT_EQ(found.report.method, "fcg");
      EXPECT_LE(residual_of(A, b, found.x), 1.0001e-8 * static_cast<double>(as_eigen(b).norm()));
      EXPECT_LT(error_of(A, b, found.x), 1e-6);
      const krylov_answer plain = testing::solve_from_zero<double>(
          dev, A, b, precondition, [](const device& on, const auto& there, auto rhs, auto x, const auto* M) {
            return cg<double>(on, there, rhs, x, {}, M);
          });
      EXPECT_NEAR(static_cast<double>(found.report.iterations), static_cast<double>(plain.report.iterations),
                  1);
      EXPECT_EQ(solve_on<float>(dev, A, b, {}, precondition).report.status, solve_status::converged);
    }
}

// Two steps of Richardson iteration one time, twenty the next, and so on: conjugate gradients lose their way.
class richardson_steps final : public preconditioner<double> {
 public:
  explicit richardson_steps(const csr<double>& A) : A_(A) {}
  std::string name() const override { return "richardson steps"; }
  void apply(const device& dev, view<const double> r, view<double> z) const override {
    array<double> product(dev, r.size());
    for (std::int64_t i = 0; i < r.size(); ++i) z[i] = 0;
    const int steps = calls_++ % 2 == 0 ? 2 : 20;
    for (int k = 0; k < steps; ++k) {
      spmv<double>(dev, 1, A_, {z.data(), z.size()}, 0, product);
      for (std::int64_t i = 0; i < r.size(); ++i) z[i] += (r[i] - product[i]) / 5;
    }
  }

 private:
  const csr<double>& A_;
  mutable int calls_ = 0;
};

TEST(fcg, takes_a_preconditioner_that_changes) {
  const csr<double> A = testing::laplacian(16);
  const std::vector<double> b = testing::random_vector(A.rows, 3);
  const auto solve_with = [&](const auto& solve) {
    const richardson_steps M(A);
    return testing::solve_from_zero<double>(
        device::cpu(2), A, b, "none", [&](const device& on, const auto& there, auto rhs, auto x, const auto*) {
          return solve(on, there, rhs, x, M);
        });
  };
  const auto flexibly = [](int directions) {
    return [directions](const device& on, const auto& there, auto rhs, auto x, const auto& M) {
      fcg_options options;
      options.directions = directions;
      return fcg<double>(on, there, rhs, x, options, &M);
    };
  };
  const krylov_answer flexible = solve_with(flexibly(8));
  const krylov_answer plain = solve_with([](const device& on, const auto& there, auto rhs, auto x,
                                            const auto& M) { return cg<double>(on, there, rhs, x, {}, &M); });
  EXPECT_EQ(flexible.report.status, solve_status::converged) << flexible.report.reason;
  EXPECT_LT(error_of(A, b, flexible.x), 1e-6);
  EXPECT_LT(flexible.report.iterations, plain.report.iterations);
  EXPECT_LE(solve_with(flexibly(30)).report.iterations, flexible.report.iterations);
  EXPECT_THROW(solve_with(flexibly(0)), value_error);
  EXPECT_THROW(solve_with(flexibly(101)), value_error);
}

TEST(fcg, says_what_is_not_positive_definite) {
  const csr<double> A = testing::shifted_laplacian(12, 0.7);
  const std::vector<double> b = testing::random_vector(A.rows, 3);
  const krylov_answer found = solve_on<double>(device::cpu(2), A, b);
  EXPECT_EQ(found.report.status, solve_status::not_spd) << found.report.reason;
  const testing::changing_scale M({-1.0});
  const csr<double> L = testing::laplacian(5);
  const krylov_answer negative =
      testing::solve_from_zero<double>(device::cpu(2), L, testing::random_vector(L.rows, 3), "none",
                                       [&](const device& on, const auto& there, auto rhs, auto x, const auto*) {
                                         return fcg<double>(on, there, rhs, x, {}, &M);
                                       });
  EXPECT_EQ(negative.report.status, solve_status::not_spd) << negative.report.reason;
  EXPECT_THROW(solve_on<double>(device::cpu(), testing::convection(4, 1), testing::random_vector(16, 3)),
               value_error);
}

TEST(fcg, same_bits_for_any_number_of_threads) {
  const csr<double> A = testing::laplacian(90);
  const std::vector<double> b = testing::random_vector(A.rows, 3);
  EXPECT_EQ(solve_on<double>(device::cpu(1), A, b).x, solve_on<double>(device::cpu(3), A, b).x);
}

}  // namespace
}  // namespace vouch
