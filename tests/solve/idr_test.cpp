// vouch/solve/krylov/idr.hpp against what defines it and factorisations of Eigen.
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include <vouch/solve/krylov/idr.hpp>
#include <vouch/solve/krylov/krylov_system.hpp>
#include <vouch/solve/loop/vector_update.hpp>

#include "unsymmetric_cases.hpp"

namespace vouch {
namespace {

using testing::as_eigen;
using testing::convection;
using testing::krylov_answer;
using testing::wide_matrix;
using testing::wide_vector;

struct with_s {
  int s;
  template <real T>
  krylov_answer operator()(const device& dev, const csr<double>& A, const std::vector<double>& b,
                           idr_options options, const std::string& precondition, T) const {
    options.s = s;
    return testing::solve_from_zero<T>(
        dev, A, b, precondition, [&](const device& on, const auto& there, auto rhs, auto x, const auto* M) {
          return idr(on, there, rhs, x, options, M);
        });
  }
};

TEST(idr, solves_unsymmetric_and_indefinite_systems) {
  for (const int s : {1, 4, 8}) testing::expect_solutions<idr_options>(with_s{s});
}

TEST(idr, never_says_what_is_not_so) {
  for (const int s : {1, 4}) testing::expect_honest_ends<idr_options>(with_s{s});
}

TEST(idr, small_empty_and_extreme_systems) {
  for (const int s : {1, 4}) testing::expect_small_and_extreme_systems<idr_options>(with_s{s});
}

TEST(idr, ends_when_it_is_told_to) { testing::expect_ends_as_told<idr_options>(with_s{4}); }

TEST(idr, keeps_the_best_iterate) { testing::expect_the_best_iterate<idr_options>(with_s{4}); }

TEST(idr, has_the_same_bits_for_any_number_of_threads) { testing::expect_same_bits<idr_options>(with_s{4}); }

TEST(idr, solves_published_systems) { testing::expect_solutions_of_published_systems<idr_options>(with_s{4}); }

// That and the Krylov space decide the first s steps.
TEST(idr, first_steps_leave_nothing_along_the_shadows) {
  const csr<double> A = convection(6, 1.5);
  const std::vector<double> b = testing::random_vector(A.rows, 6);
  for (const int s : {1, 2, 4}) {
    wide_matrix P(A.rows, s);
    auto hashed = array<double>(device::cpu(1), A.rows);
    for (int k = 0; k < s; ++k) {
      fill_hashed<double>(device::cpu(1), own_stream + static_cast<std::uint64_t>(k) + 1, hashed);
      P.col(k) = as_eigen(hashed.to_vector());
    }
    idr_options options;
    options.fixed_iterations = s;
    const krylov_answer found = with_s{s}(device::cpu(1), A, b, options, "none", 0.0);
    if (found.report.recurrence_residual > 1.01 * found.report.true_residual)
      continue;  // an earlier x was better
    const wide_vector x = as_eigen(found.x), r = as_eigen(b) - as_eigen(A) * x;
    EXPECT_LT(static_cast<double>((P.transpose() * r).norm() / r.norm()), 1e-10) << s;
    // x lies in the Krylov space of s vectors, in which that decides it.
    wide_matrix space(A.rows, s);
    wide_vector v = as_eigen(b);
    for (int k = 0; k < s; ++k, v = as_eigen(A) * v) space.col(k) = v;
    const wide_vector y =
        (P.transpose() * as_eigen(A) * space).partialPivLu().solve(P.transpose() * as_eigen(b));
    EXPECT_LT(static_cast<double>((x - space * y).norm() / x.norm()), 1e-9) << s;
  }
}

// In exact arithmetic n + n / s products are enough.
TEST(idr, ends_after_few_more_products_than_unknowns) {
  const csr<double> A = convection(4, 1.0);
  const std::vector<double> b = testing::random_vector(16, 1);
  for (const int s : {1, 2, 4, 16}) {
    const krylov_answer found = with_s{s}(device::cpu(1), A, b, idr_options{}, "none", 0.0);
    EXPECT_EQ(found.report.status, solve_status::converged) << found.report.reason;
    EXPECT_LE(found.report.iterations, 16 + 16 / s + 2) << s;
  }
}

TEST(idr, refuses_other_dimensions) {
  for (const int s : {0, -1, 17})
    EXPECT_THROW(
        with_s{s}(device::cpu(1), convection(3, 1.0), std::vector<double>(9, 1.0), idr_options{}, "none", 0.0),
        value_error);
}

}  // namespace
}  // namespace vouch
