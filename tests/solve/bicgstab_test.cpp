// vouch/solve/krylov/bicgstab.hpp against textbook recurrences, least squares and factorisations of Eigen.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include <vouch/solve/krylov/bicgstab.hpp>

#include "unsymmetric_cases.hpp"

namespace vouch {
namespace {

using testing::as_eigen;
using testing::convection;
using testing::krylov_answer;
using testing::wide_matrix;
using testing::wide_vector;

// For every l that is asked for.
struct with_l {
  int l;
  template <real T>
  krylov_answer operator()(const device& dev, const csr<double>& A, const std::vector<double>& b,
                           bicgstab_options options, const std::string& precondition, T) const {
    options.l = l;
    return testing::solve_from_zero<T>(
        dev, A, b, precondition, [&](const device& on, const auto& there, auto rhs, auto x, const auto* M) {
          return bicgstab(on, there, rhs, x, options, M);
        });
  }
};

TEST(bicgstab, solves_unsymmetric_and_indefinite_systems) {
  for (const int l : {1, 2, 4}) testing::expect_solutions<bicgstab_options>(with_l{l});
}

TEST(bicgstab, never_says_what_is_not_so) {
  for (const int l : {1, 2, 3}) testing::expect_honest_ends<bicgstab_options>(with_l{l});
}

TEST(bicgstab, small_empty_and_extreme_systems) {
  for (const int l : {1, 2, 8}) testing::expect_small_and_extreme_systems<bicgstab_options>(with_l{l});
}

TEST(bicgstab, ends_when_it_is_told_to) {
  for (const int l : {1, 2, 4}) testing::expect_ends_as_told<bicgstab_options>(with_l{l});
}

TEST(bicgstab, keeps_the_best_iterate) {
  for (const int l : {1, 2}) testing::expect_the_best_iterate<bicgstab_options>(with_l{l});
}

// No row has the third element of x, which overflows where no residual sees it.
TEST(bicgstab, an_element_that_overflows_unseen_is_said) {
  const csr<double> A = testing::from_triplets(6, {{0, 0, -1},
                                                   {0, 4, 1},
                                                   {1, 1, -3},
                                                   {1, 3, -2},
                                                   {1, 4, 3},
                                                   {1, 5, 2},
                                                   {3, 0, 3},
                                                   {3, 1, -3},
                                                   {3, 4, 3},
                                                   {3, 5, -2},
                                                   {4, 3, -3},
                                                   {4, 5, -2},
                                                   {5, 0, 2},
                                                   {5, 1, -3},
                                                   {5, 3, 4},
                                                   {5, 4, -2}});
  for (const int l : {1, 2, 3}) {
    const krylov_answer answer = with_l{l}(device::cpu(1), A, {2, 3, -3, 3, -2, -1}, {}, "none", double{});
    const bool finite =
        std::all_of(answer.x.begin(), answer.x.end(), [](double v) { return std::isfinite(v); });
    EXPECT_TRUE(finite || answer.report.status == solve_status::diverged) << l << ' ' << answer.report.reason;
    EXPECT_FALSE(goal_reached(answer.report.status));
  }
}

TEST(bicgstab, has_the_same_bits_for_any_number_of_threads) {
  for (const int l : {1, 2}) testing::expect_same_bits<bicgstab_options>(with_l{l});
}

TEST(bicgstab, solves_published_systems) {
  testing::expect_solutions_of_published_systems<bicgstab_options>(with_l{2});
}

// l steps of biconjugate gradients as Fletcher has them, with products by A', then the polynomial: of the plane of
// residuals through the least over r_1 to r_(l-1) and the direction left of r_l.
TEST(bicgstab, first_polynomial_is_that_of_biconjugate_gradients) {
  const csr<double> A = convection(7, 2.0);
  const std::vector<double> b = testing::random_vector(A.rows, 5);
  const wide_matrix dense = as_eigen(A);
  for (const int l : {1, 2, 3, 5}) {
    wide_vector x = wide_vector::Zero(A.rows), r = as_eigen(b), rt = r, p = r, pt = rt;
    for (int k = 0; k < l; ++k) {
      const wide_vector Ap = dense * p;
      const long double rho = rt.dot(r), alpha = rho / pt.dot(Ap);
      x += alpha * p;
      r -= alpha * Ap;
      rt -= alpha * (dense.transpose() * pt);
      const long double beta = rt.dot(r) / rho;
      p = r + beta * p;
      pt = rt + beta * pt;
    }
    wide_matrix powers(A.rows, l + 1);
    powers.col(0) = r;
    for (int k = 1; k <= l; ++k) powers.col(k) = dense * powers.col(k - 1);
    wide_vector near = r, last = powers.col(l);
    wide_vector c = wide_vector::Zero(l), of_last = c;
    if (l > 1) {
      const auto middle = powers.middleCols(1, l - 1);
      c.head(l - 1) = middle.colPivHouseholderQr().solve(near);
      near -= middle * c.head(l - 1);
      of_last.head(l - 1) = middle.colPivHouseholderQr().solve(last);
      last -= middle * of_last.head(l - 1);
    }
    const long double cosine = near.dot(last) / near.norm() / last.norm();
    const long double weight =
        std::copysign(std::max(std::fabs(cosine), 0.7L), cosine) * near.norm() / last.norm();
    c += weight * (wide_vector::Unit(l, l - 1) - of_last);
    x += powers.leftCols(l) * c;
    bicgstab_options options;
    options.fixed_iterations = l;
    const krylov_answer found = with_l{l}(device::cpu(1), A, b, options, "none", 0.0);
    EXPECT_LT(static_cast<double>((as_eigen(found.x) - x).norm() / x.norm()), 1e-9) << l;
    EXPECT_NEAR(found.report.recurrence_residual, static_cast<double>((as_eigen(b) - dense * x).norm()),
                1e-9 * found.report.recurrence_residual)
        << l;
  }
}

// van der Vorst's recurrence, its omega by the same rule, over several polynomials; and n steps are enough.
TEST(bicgstab, of_degree_one_is_van_der_vorsts) {
  const csr<double> A = convection(6, 1.0);
  const std::vector<double> b = testing::random_vector(A.rows, 6);
  const wide_matrix dense = as_eigen(A);
  wide_vector x = wide_vector::Zero(A.rows), r = as_eigen(b), p = r;
  const wide_vector shadow = r;
  int compared = 0;
  for (int step = 1; step <= 8; ++step) {
    const wide_vector v = dense * p;
    const long double rho = shadow.dot(r), alpha = rho / shadow.dot(v);
    const wide_vector s = r - alpha * v, t = dense * s;
    const long double cosine = t.dot(s) / t.norm() / s.norm();
    const long double omega = std::copysign(std::max(std::fabs(cosine), 0.7L), cosine) * s.norm() / t.norm();
    x += alpha * p + omega * s;
    r = s - omega * t;
    p = r + shadow.dot(r) / rho * (alpha / omega) * (p - omega * v);
    bicgstab_options options;
    options.fixed_iterations = step;
    const krylov_answer found = with_l{1}(device::cpu(1), A, b, options, "none", 0.0);
    if (found.report.recurrence_residual > 1.01 * found.report.true_residual)
      continue;  // an earlier x was better
    ++compared;
    EXPECT_LT(static_cast<double>((as_eigen(found.x) - x).norm() / x.norm()), 1e-8) << step;
  }
  EXPECT_GE(compared, 6);
  const csr<double> small = convection(3, 1.0);
  for (const int l : {1, 2, 4}) {
    const krylov_answer found =
        with_l{l}(device::cpu(1), small, testing::random_vector(9, 1), bicgstab_options{}, "none", 0.0);
    EXPECT_EQ(found.report.status, solve_status::converged);
    EXPECT_LE(found.report.iterations, 10) << l;
  }
}

TEST(bicgstab, refuses_other_degrees) {
  for (const int l : {0, -1, 9})
    EXPECT_THROW(with_l{l}(device::cpu(1), convection(3, 1.0), std::vector<double>(9, 1.0), bicgstab_options{},
                           "none", 0.0),
                 value_error);
}

}  // namespace
}  // namespace vouch
