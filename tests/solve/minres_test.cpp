// vouch/solve/krylov/minres.hpp against factorisations and least squares of Eigen.
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include <vouch/core/error.hpp>
#include <vouch/io/matrix_market.hpp>
#include <vouch/solve/krylov/minres.hpp>

#include "../data.hpp"
#include "../devices.hpp"
#include "krylov_answer.hpp"

namespace vouch {
namespace {

using testing::as_eigen;
using testing::error_of;
using testing::from_triplets;
using testing::krylov_answer;
using testing::residual_of;
using testing::saddle_point;
using testing::shifted_laplacian;
using testing::wide_matrix;
using testing::wide_vector;

template <real T>
krylov_answer solve_on(const device& dev, const csr<double>& A, const std::vector<double>& b,
                       const minres_options& options = {}, const std::string& precondition = "none") {
  return testing::solve_from_zero<T>(dev, A, b, precondition,
                                     [&](const device& on, const auto& there, auto rhs, auto x, const auto* M) {
                                       return minres(on, there, rhs, x, options, M);
                                     });
}

template <class M>
krylov_answer solve_with(const M& preconditioner, const csr<double>& A, const std::vector<double>& b,
                         const minres_options& options = {}) {
  return testing::solve_from_zero<double>(
      device::cpu(2), A, b, "none", [&](const device& on, const auto& there, auto rhs, auto x, const auto*) {
        return minres<double>(on, there, rhs, x, options, &preconditioner);
      });
}

// z_i := d_i r_i
class scaled final : public preconditioner<double> {
 public:
  explicit scaled(std::vector<double> d) : d_(std::move(d)) {}
  std::string name() const override { return "scaled"; }
  void apply(const device&, view<const double> r, view<double> z) const override {
    for (std::int64_t i = 0; i < r.size(); ++i) z[i] = d_[static_cast<std::size_t>(i)] * r[i];
  }

 private:
  std::vector<double> d_;
};

TEST(minres, solves_definite_indefinite_and_saddle_point_systems) {
  for (const device& dev : testing::devices())
    for (const csr<double>& A : {testing::laplacian(10), shifted_laplacian(12, 0.7), shifted_laplacian(12, 3.9),
                                 saddle_point(8, 0), saddle_point(9, 0.3)}) {
      const std::vector<double> b = testing::random_vector(A.rows, 3);
      const krylov_answer found = solve_on<double>(dev, A, b);
      EXPECT_EQ(found.report.status, solve_status::converged) << found.report.reason;
      EXPECT_EQ(found.report.method, "minres");
      EXPECT_LE(residual_of(A, b, found.x), 1.0001e-8 * static_cast<double>(as_eigen(b).norm()));
      EXPECT_LE(found.report.true_residual, found.report.tolerance);
      EXPECT_LT(error_of(A, b, found.x), 1e-5);
      EXPECT_LE(found.report.restarts, 1);
    }
}

TEST(minres, has_the_least_residual_of_the_krylov_space) {
  const csr<double> A = saddle_point(6, 0.2);
  const std::vector<double> b = testing::random_vector(A.rows, 5);
  const wide_matrix dense = as_eigen(A);
  for (const device& dev : testing::devices())
    for (const int steps : {1, 2, 3, 5, 9}) {
      minres_options options;
      options.fixed_iterations = steps;
      const krylov_answer found = solve_on<double>(dev, A, b, options);
      EXPECT_EQ(found.report.status, solve_status::fixed);
      EXPECT_EQ(found.report.iterations, steps);
      wide_matrix space(A.rows, steps);
      wide_vector v = as_eigen(b);
      for (int k = 0; k < steps; ++k) {
        space.col(k) = v / v.norm();
        v = dense * space.col(k);
      }
      const wide_matrix image = dense * space;
      const wide_vector y = image.colPivHouseholderQr().solve(as_eigen(b));
      const double least = static_cast<double>((as_eigen(b) - image * y).norm());
      EXPECT_NEAR(residual_of(A, b, found.x), least, 1e-10 * least);
      EXPECT_NEAR(found.report.recurrence_residual, least, 1e-10 * least);
    }
}

// The residual is least in the norm of M; what is watched is its 2-norm.
TEST(minres, watches_the_residual_itself_with_a_preconditioner) {
  const csr<double> A = saddle_point(6, 0);
  const std::vector<double> b = testing::random_vector(A.rows, 6);
  std::vector<double> d(b.size());
  for (std::size_t i = 0; i < d.size(); ++i) d[i] = std::pow(10.0, static_cast<double>(i % 7) - 3);
  const scaled M(d);
  const wide_matrix dense = as_eigen(A);
  const wide_vector roots = as_eigen(d).cwiseSqrt();
  const wide_matrix split = roots.asDiagonal() * dense * roots.asDiagonal();
  for (const int steps : {1, 2, 4, 8}) {
    minres_options options;
    options.fixed_iterations = steps;
    const krylov_answer found = solve_with(M, A, b, options);
    wide_matrix space(A.rows, steps);
    wide_vector v = roots.cwiseProduct(as_eigen(b));
    for (int k = 0; k < steps; ++k) {
      space.col(k) = v / v.norm();
      v = split * space.col(k);
    }
    const wide_vector y = (split * space).colPivHouseholderQr().solve(roots.cwiseProduct(as_eigen(b)));
    const wide_vector x = roots.cwiseProduct(space * y);
    const double expected = static_cast<double>((as_eigen(b) - dense * x).norm());
    EXPECT_NEAR(residual_of(A, b, found.x), expected, 1e-9 * expected) << steps;
    EXPECT_NEAR(found.report.recurrence_residual, expected, 1e-9 * expected) << steps;
  }
  const krylov_answer whole = solve_with(M, A, b);
  EXPECT_EQ(whole.report.status, solve_status::converged) << whole.report.reason;
  EXPECT_LE(residual_of(A, b, whole.x), 1.0001e-8 * static_cast<double>(as_eigen(b).norm()));
}

TEST(minres, takes_preconditioners_and_single_precision) {
  csr<double> A = shifted_laplacian(16, 0.5);  // badly scaled, its diagonal positive
  std::vector<double> s(static_cast<std::size_t>(A.rows));
  for (std::size_t i = 0; i < s.size(); ++i) s[i] = std::ldexp(1.0, static_cast<int>(i % 5));
  for (std::int64_t i = 0; i < A.rows; ++i)
    for (std::int64_t k = A.row_ptr[i]; k < A.row_ptr[i + 1]; ++k)
      A.val[k] *= s[static_cast<std::size_t>(i)] * s[static_cast<std::size_t>(A.col[k])];
  const std::vector<double> b = testing::random_vector(A.rows, 7);
  for (const device& dev : testing::devices()) {
    const krylov_answer plain = solve_on<double>(dev, A, b), jacobi = solve_on<double>(dev, A, b, {}, "jacobi"),
                        single = solve_on<float>(dev, A, b, {}, "jacobi");
    EXPECT_EQ(jacobi.report.status, solve_status::converged) << jacobi.report.reason;
    EXPECT_EQ(jacobi.report.preconditioner, "jacobi");
    EXPECT_LT(jacobi.report.iterations, plain.report.iterations);
    EXPECT_LE(residual_of(A, b, jacobi.x), 1.0001e-8 * static_cast<double>(as_eigen(b).norm()));
    EXPECT_EQ(single.report.status, solve_status::converged) << single.report.reason;
    EXPECT_EQ(single.report.precision, "single");
    EXPECT_LE(residual_of(A, b, single.x), 1.0001e-5 * static_cast<double>(as_eigen(b).norm()));
  }
  // Block diagonal, of the Laplacian's diagonal and of the Schur complement's: a handful of clusters of eigenvalues.
  const csr<double> S = saddle_point(12, 0);
  std::vector<double> d(static_cast<std::size_t>(S.rows), 0.25);
  for (std::size_t i = 144; i < d.size(); ++i) d[i] = 2;
  const std::vector<double> c = testing::random_vector(S.rows, 8);
  const krylov_answer blocks = solve_with(scaled(d), S, c);
  EXPECT_EQ(blocks.report.status, solve_status::converged) << blocks.report.reason;
  EXPECT_LT(error_of(S, c, blocks.x), 1e-5);
}

TEST(minres, refuses_unsymmetric_matrices_and_indefinite_preconditioners) {
  const device cpu = device::cpu(1);
  try {
    solve_on<double>(cpu, from_triplets(2, {{0, 0, 1}, {0, 1, 2}, {1, 0, 3}, {1, 1, 1}}), {1, 1});
    ADD_FAILURE() << "not refused";
  } catch (const value_error& e) {
    EXPECT_NE(std::string(e.what()).find("not symmetric: entry (1, 2) is 2"), std::string::npos) << e.what();
  }
  const csr<double> A = testing::laplacian(4);
  const std::vector<double> b = testing::random_vector(A.rows, 2);
  std::vector<double> d(16, 1.0);
  const auto outcome = [&] { return solve_with(scaled(d), A, b).report; };
  EXPECT_EQ(outcome().status, solve_status::converged);
  d.assign(16, -1.0);
  EXPECT_EQ(outcome().status, solve_status::not_spd);
  EXPECT_NE(outcome().reason.find("preconditioner is not positive definite"), std::string::npos);
  for (std::size_t i = 0; i < 16; ++i) d[i] = i == 5 ? -30 : 1;
  EXPECT_EQ(outcome().status, solve_status::not_spd);
}

TEST(minres, singular_systems_converge_or_end_at_least_squares) {
  // diag(3, -2, 0, 5, -1, 0): consistent and not.
  const csr<double> D = from_triplets(6, {{0, 0, 3}, {1, 1, -2}, {3, 3, 5}, {4, 4, -1}});
  for (const device& dev : testing::devices()) {
    const krylov_answer consistent = solve_on<double>(dev, D, {1, 2, 0, 4, 5, 0});
    EXPECT_EQ(consistent.report.status, solve_status::converged) << consistent.report.reason;
    EXPECT_NEAR(consistent.x[1], -1, 1e-7);
    const krylov_answer least = solve_on<double>(dev, D, {1, 2, 3, 4, 5, 6});
    EXPECT_EQ(least.report.status, solve_status::stagnated) << least.report.reason;
    EXPECT_NEAR(least.report.true_residual, std::sqrt(45.0), 1e-6);
    EXPECT_NEAR(least.x[0], 1.0 / 3, 1e-6);
    EXPECT_NE(least.report.reason.find("the matrix is singular"), std::string::npos) << least.report.reason;
    const krylov_answer nothing = solve_on<double>(dev, from_triplets(4, {}), {1, 2, 3, 4});
    EXPECT_FALSE(goal_reached(nothing.report.status));
    for (const double v : nothing.x) EXPECT_EQ(v, 0);
    EXPECT_NE(nothing.report.reason.find("least there is, relative 1:"), std::string::npos)
        << nothing.report.reason;
  }
  // Singular by a shift onto an eigenvalue, the right-hand side not orthogonal to its vector.
  const Eigen::SelfAdjointEigenSolver<wide_matrix> eigen(as_eigen(testing::laplacian(8)));
  const csr<double> near = shifted_laplacian(8, static_cast<double>(eigen.eigenvalues()(7)));
  const std::vector<double> b = testing::random_vector(near.rows, 4);
  const krylov_answer found = solve_on<double>(device::cpu(2), near, b);
  for (const double v : found.x) EXPECT_TRUE(std::isfinite(v));
  const double relative = residual_of(near, b, found.x) / static_cast<double>(as_eigen(b).norm());
  EXPECT_EQ(found.report.status == solve_status::converged, relative <= 1e-8) << found.report.reason;
}

// Against the orthogonal projection onto the range, by Eigen: a grid without a boundary, whose rows sum to zero, and one
// shifted onto a multiple eigenvalue, at several scales.
void expect_least_squares(const device& dev, const csr<double>& A, const std::vector<double>& b, double least,
                          double scale, const char* precondition) {
  const krylov_answer found = solve_on<double>(dev, A, b, {}, precondition);
  EXPECT_EQ(found.report.status, solve_status::stagnated) << found.report.reason;
  EXPECT_NE(found.report.reason.find("the matrix is singular"), std::string::npos) << found.report.reason;
  if (*precondition == 'n') {
    EXPECT_NEAR(found.report.true_residual, least, 1e-6 * least);
  }
  for (const double v : found.x) EXPECT_LT(std::fabs(v) * scale, 1e10) << precondition;
}

TEST(minres, systems_without_a_solution_say_so) {
  for (const bool shifted : {false, true}) {
    const csr<double> unscaled = shifted ? shifted_laplacian(11, 4.0) : testing::laplacian(12, true);
    const Eigen::SelfAdjointEigenSolver<wide_matrix> eigen(as_eigen(unscaled));
    for (std::uint64_t seed = 21; seed < 41; ++seed) {
      const std::vector<double> b = testing::random_vector(unscaled.rows, seed);
      wide_vector left = as_eigen(b);
      for (std::int64_t k = 0; k < unscaled.rows; ++k)
        if (std::fabs(static_cast<double>(eigen.eigenvalues()(k))) > 1e-12)
          left -= eigen.eigenvectors().col(k) * eigen.eigenvectors().col(k).dot(as_eigen(b));
      const auto least = static_cast<double>(left.norm());
      ASSERT_GT(least, 0.01);
      for (const double scale : {1.0, 1e-200, 1e200}) {
        csr<double> A = unscaled.to(device::cpu(1));
        for (double& v : A.val) v *= scale;
        for (const device& dev : testing::devices()) {
          expect_least_squares(dev, A, b, least, scale, "none");
          if (!shifted) expect_least_squares(dev, A, b, least, scale, "jacobi");
        }
      }
    }
  }
}

// Ill-conditioned, not singular: nothing is said of least squares.
TEST(minres, hard_systems_are_not_called_singular) {
  const csr<double> A = from_triplets(3, {{0, 0, 1}, {1, 1, -1e-9}, {2, 2, 1e-5}});
  const krylov_answer found = solve_on<double>(device::cpu(1), A, {1, 1, 1});
  EXPECT_EQ(found.report.status, solve_status::converged) << found.report.reason;
  // Along an eigenvector of 1e-10 of the largest, where the gradient is as small as of singular systems.
  std::vector<testing::triplet> entries;
  for (std::int32_t i = 0; i < 40; ++i)
    entries.push_back({i, i, i == 0 ? 1e-10 : i % 2 == 0 ? 1.0 + i : -1.0 - i});
  const krylov_answer along =
      solve_on<double>(device::cpu(1), from_triplets(40, entries), std::vector<double>(40, 1.0));
  EXPECT_EQ(along.report.status, solve_status::converged) << along.report.reason;
  EXPECT_NEAR(along.x[0], 1e10, 1e4);
}

TEST(minres, small_empty_and_extreme_systems) {
  for (const double scale : {1.0, 1e-300, 1e300}) {
    const csr<double> one = from_triplets(1, {{0, 0, -2 * scale}});
    const krylov_answer found = solve_on<double>(device::cpu(1), one, {3 * scale});
    EXPECT_EQ(found.report.status, solve_status::converged) << found.report.reason;
    EXPECT_NEAR(found.x[0], -1.5, 1e-12);
    csr<double> A = saddle_point(5, 0);
    for (std::int64_t k = 0; k < A.nonzeros(); ++k) A.val[k] *= scale;
    for (const double size : {1.0, 1e-100, 1e100}) {
      std::vector<double> b = testing::random_vector(A.rows, 9);
      for (double& v : b) v *= size;
      const krylov_answer large = solve_on<double>(device::cpu(1), A, b);
      // Else x is no number of double.
      const bool exists = std::fabs(std::log10(size) - std::log10(scale)) < 305;
      EXPECT_EQ(large.report.status == solve_status::converged, exists)
          << scale << " " << size << ": " << large.report.reason;
    }
  }
  EXPECT_EQ(solve_on<double>(device::cpu(1), from_triplets(0, {}), {}).report.status, solve_status::converged);
  const krylov_answer zero = solve_on<double>(device::cpu(1), testing::laplacian(3), std::vector<double>(9));
  EXPECT_EQ(zero.report.status, solve_status::converged);
  EXPECT_EQ(zero.report.iterations, 0);
}

TEST(minres, ends_when_it_is_told_to) {
  const csr<double> A = shifted_laplacian(20, 0.6);
  const std::vector<double> b = testing::random_vector(A.rows, 1);
  minres_options options;
  options.max_iterations = 11;
  const krylov_answer few = solve_on<double>(device::cpu(1), A, b, options);
  EXPECT_EQ(few.report.status, solve_status::max_iterations);
  EXPECT_EQ(few.report.iterations, 11);
  EXPECT_NEAR(few.report.true_residual, residual_of(A, b, few.x), 1e-10 * few.report.true_residual);
  options = {};
  options.on_iteration = [](const iteration_record& r) { return r.iteration < 7; };
  const krylov_answer cut = solve_on<double>(device::cpu(1), A, b, options);
  EXPECT_EQ(cut.report.status, solve_status::interrupted);
  EXPECT_EQ(cut.report.iterations, 7);
  options = {};
  options.stop_mean_change = 1e-3;
  EXPECT_THROW(solve_on<double>(device::cpu(1), A, b, options), value_error);
  EXPECT_THROW(solve_on<double>(device::cpu(1), A, std::vector<double>(3, 1.0)), shape_error);
}

TEST(minres, has_the_same_bits_for_any_number_of_threads) {
  const csr<double> A = shifted_laplacian(70, 0.1);
  const std::vector<double> b = testing::random_vector(A.rows, 11);
  minres_options options;
  options.fixed_iterations = 60;
  const krylov_answer one = solve_on<double>(device::cpu(1), A, b, options),
                      three = solve_on<double>(device::cpu(3), A, b, options);
  EXPECT_EQ(one.x, three.x);
}

// Plates and bars shifted past their lowest eigenvalues, and published optimality conditions.
TEST(minres, solves_published_indefinite_systems) {
  struct {
    const char* name;
    double shift;
    bool jacobi;
  } cases[] = {{"gr_30_30", 0.5, true}, {"nos5", 200, true}, {"reorientation_1", 0, false}};
  for (const auto& c : cases) {
    std::string path = testing::data_file(std::string("matrices/") + c.name + ".mtx");
    if (path.empty()) path = testing::data_file(std::string("matrices/") + c.name + ".mtx.gz");
    VOUCH_NEEDS_DATA(path);
    csr<double> A = read_csr(device::cpu(2), path);
    for (std::int64_t i = 0; i < A.rows; ++i)
      for (std::int64_t k = A.row_ptr[i]; k < A.row_ptr[i + 1]; ++k)
        if (A.col[k] == i) A.val[k] -= c.shift;
    const std::vector<double> b = testing::row_sums(A);
    const krylov_answer found = solve_on<double>(device::cpu(2), A, b, {}, c.jacobi ? "jacobi" : "none");
    EXPECT_EQ(found.report.status, solve_status::converged) << c.name << ": " << found.report.reason;
    EXPECT_LE(testing::relative_residual(A, b, found.x), 1.0001e-8) << c.name;
  }
}

}  // namespace
}  // namespace vouch
