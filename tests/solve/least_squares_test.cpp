// vouch/solve/krylov/least_squares.hpp against orthogonal factorisations of Eigen in long double.
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <variant>
#include <vector>

#include <vouch/core/error.hpp>
#include <vouch/core/random.hpp>
#include <vouch/io/vectors.hpp>
#include <vouch/solve/krylov/least_squares.hpp>
#include <vouch/sparse/transpose.hpp>

#include "../data.hpp"
#include "../devices.hpp"
#include "krylov_answer.hpp"

namespace vouch {
namespace {

using testing::as_eigen;
using testing::wide_matrix;
using testing::wide_vector;

struct answer {
  solve_report report;
  std::vector<double> x;
};

template <real T>
answer solve_on(const device& dev, bool by_lsmr, const csr<double>& A, const std::vector<double>& b,
                const least_squares_options& options = {}) {
  const csr<T> there = convert_values<T>(device::cpu(), A.all()).to(dev);
  const auto rhs = array<T>::from(dev, std::vector<T>(b.begin(), b.end()));
  auto x = array<T>::zeros(dev, A.cols);
  const auto solve = by_lsmr ? lsmr<T> : lsqr<T>;
  answer found{solve(dev, there, rhs, x, options), {}};
  const std::vector<T> back = x.to_vector();
  found.x.assign(back.begin(), back.end());
  return found;
}

// More rows than columns, columns of sizes from 1e-3 to 1e3.
csr<double> tall(std::int32_t rows, std::int32_t cols) {
  std::vector<testing::triplet> entries;
  for (std::int32_t i = 0; i < rows; ++i)
    for (std::int32_t j = 0; j < cols; ++j)
      if (i % cols == j || random_bits(1, static_cast<std::uint64_t>(i * cols + j)) % 5 == 0)
        entries.push_back(
            {i, j,
             (i % cols == j ? 2 : random_unit(2, static_cast<std::uint64_t>(i * cols + j)) - 0.5) *
                 std::pow(10.0, j % 7 - 3)});
  csr<double> A = testing::from_triplets(rows, entries);
  A.cols = cols;
  return A;
}

double optimality(const csr<double>& A, const std::vector<double>& b, const std::vector<double>& x) {
  const wide_matrix dense = as_eigen(A);
  const wide_vector r = as_eigen(b) - dense * as_eigen(x);
  return static_cast<double>((dense.transpose() * r).norm() / (dense.norm() * r.norm()));
}

TEST(least_squares, finds_the_least_residual_of_tall_systems) {
  const csr<double> A = tall(80, 23);
  const std::vector<double> b = testing::random_vector(A.rows, 4);
  const wide_vector best = as_eigen(A).colPivHouseholderQr().solve(as_eigen(b));
  const auto least = static_cast<double>((as_eigen(b) - as_eigen(A) * best).norm());
  for (const device& dev : testing::devices())
    for (const bool by_lsmr : {false, true}) {
      const answer found = solve_on<double>(dev, by_lsmr, A, b);
      EXPECT_EQ(found.report.status, solve_status::converged) << found.report.reason;
      EXPECT_EQ(found.report.method, by_lsmr ? "lsmr" : "lsqr");
      EXPECT_LE(found.report.iterations, 60);
      EXPECT_NE(found.report.reason.find("a least-squares solution"), std::string::npos) << found.report.reason;
      EXPECT_NEAR(found.report.true_residual, least, 1e-12 * least);
      EXPECT_LE(*found.report.normal_equations, 1e-8);
      EXPECT_NEAR(*found.report.normal_equations, optimality(A, b, found.x), 1e-14);
      for (std::size_t j = 0; j < found.x.size(); ++j) {
        const auto exact = static_cast<double>(best(static_cast<Eigen::Index>(j)));
        EXPECT_NEAR(found.x[j], exact, 1e-6 * std::fabs(exact)) << j;
      }
      const answer single = solve_on<float>(dev, by_lsmr, A, b);
      EXPECT_EQ(single.report.status, solve_status::converged) << single.report.reason;
      EXPECT_LE(optimality(A, b, single.x), 2e-5);
    }
}

TEST(least_squares, finds_the_shortest_solution_of_wide_systems) {
  const csr<double> A = transpose<double>(device::cpu(), tall(50, 17));
  wide_matrix dense = as_eigen(A);
  csr<double> scaled = transpose<double>(device::cpu(), A);  // its rows are columns of A
  for (std::int64_t j = 0; j < scaled.rows; ++j)
    for (std::int64_t k = scaled.row_ptr[j]; k < scaled.row_ptr[j + 1]; ++k)
      scaled.val[k] /= static_cast<double>(dense.col(j).norm());
  const csr<double> B = transpose<double>(device::cpu(), scaled);
  const std::vector<double> b = testing::random_vector(B.rows, 4);
  const wide_vector shortest = as_eigen(B).completeOrthogonalDecomposition().solve(as_eigen(b));
  for (const device& dev : testing::devices())
    for (const bool by_lsmr : {false, true}) {
      least_squares_options options;
      options.rtol = 1e-11;
      const answer found = solve_on<double>(dev, by_lsmr, B, b, options);
      EXPECT_EQ(found.report.status, solve_status::converged) << found.report.reason;
      EXPECT_LE(found.report.true_residual, found.report.tolerance);
      EXPECT_LT(static_cast<double>((as_eigen(found.x) - shortest).norm() / shortest.norm()), 1e-8);
    }
}

// The iterates of exact arithmetic: LSQR's have the least residual of the Krylov space, LSMR's the least gradient.
TEST(least_squares, iterates_are_least_in_the_krylov_space) {
  const csr<double> A = testing::convection(6, 1.5);
  const std::vector<double> b = testing::random_vector(A.rows, 5);
  wide_matrix B = as_eigen(A);
  const wide_vector norms = B.colwise().norm().transpose();
  for (Eigen::Index j = 0; j < B.cols(); ++j) B.col(j) /= norms(j);
  for (const device& dev : testing::devices())
    for (const bool by_lsmr : {false, true})
      for (const int steps : {1, 2, 3, 5, 8}) {
        least_squares_options options;
        options.must_fit = true;
        options.fixed_iterations = steps;
        const answer found = solve_on<double>(dev, by_lsmr, A, b, options);
        EXPECT_EQ(found.report.status, solve_status::fixed) << found.report.reason;
        wide_matrix space(A.rows, steps);
        wide_vector v = B.transpose() * as_eigen(b);
        for (int k = 0; k < steps; ++k) {
          space.col(k) = v / v.norm();
          v = B.transpose() * (B * space.col(k));
        }
        const wide_matrix image = by_lsmr ? wide_matrix(B.transpose() * B * space) : wide_matrix(B * space);
        const wide_vector side = by_lsmr ? wide_vector(B.transpose() * as_eigen(b)) : as_eigen(b);
        const wide_vector y = space * image.colPivHouseholderQr().solve(side);
        const wide_vector x = y.cwiseQuotient(norms);
        EXPECT_LT(static_cast<double>((as_eigen(found.x) - x).norm() / x.norm()), 1e-9) << steps << by_lsmr;
        const auto residual = static_cast<double>((as_eigen(b) - B * y).norm());
        EXPECT_NEAR(found.report.recurrence_residual, residual, 1e-9 * residual) << steps << by_lsmr;
      }
}

// Where the system is square and has to fit, a least-squares solution is not enough.
TEST(least_squares, says_when_a_square_system_has_no_solution) {
  const csr<double> A = testing::from_triplets(3, {{0, 0, 1}, {1, 1, 1}, {2, 1, 1}});
  const std::vector<double> b{1, 2, 4};
  for (const bool by_lsmr : {false, true}) {
    least_squares_options options;
    const answer least = solve_on<double>(device::cpu(2), by_lsmr, A, b, options);
    EXPECT_EQ(least.report.status, solve_status::converged);
    EXPECT_NEAR(least.x[1], 3, 1e-12);
    EXPECT_EQ(least.x[2], 0);
    options.must_fit = true;
    const answer fit = solve_on<double>(device::cpu(2), by_lsmr, A, b, options);
    EXPECT_EQ(fit.report.status, solve_status::stagnated) << fit.report.reason;
    EXPECT_FALSE(fit.report.normal_equations);
    EXPECT_NEAR(fit.report.true_residual, std::sqrt(2.0), 1e-12);
  }
}

TEST(least_squares, published_problems) {
  struct problem {
    std::string name;
    std::int64_t most;
  };
  for (const problem& p : {problem{"well1033", 220}, problem{"illc1033", 3700}}) {
    const std::string file = testing::data_file("matrices/" + p.name + ".mtx");
    VOUCH_NEEDS_DATA(file);
    const csr<double> A = std::get<csr<double>>(read_matrix(device::cpu(1), file));
    const std::vector<double> b =
        read_vectors(device::cpu(1), testing::data_file("matrices/" + p.name + "_rhs1.mtx")).values.to_vector();
    for (const bool by_lsmr : {false, true}) {
      const answer found = solve_on<double>(device::cpu(1), by_lsmr, A, b);
      EXPECT_EQ(found.report.status, solve_status::converged) << p.name << ": " << found.report.reason;
      EXPECT_LE(found.report.iterations, p.most) << p.name;
      EXPECT_TRUE(*found.report.normal_equations <= 1e-8 ||
                  found.report.true_residual <= found.report.tolerance);
    }
  }
}

TEST(least_squares, same_bits_for_any_number_of_threads_and_any_scale) {
  csr<double> A = tall(9000, 1400);
  std::vector<double> b = testing::random_vector(A.rows, 6);
  const answer one = solve_on<double>(device::cpu(1), false, A, b);
  EXPECT_EQ(one.x, solve_on<double>(device::cpu(3), false, A, b).x);
  for (double& v : A.val) v = std::ldexp(v, 600);
  for (double& v : b) v = std::ldexp(v, -300);
  const answer far = solve_on<double>(device::cpu(3), false, A, b);
  EXPECT_EQ(far.report.status, solve_status::converged) << far.report.reason;
  EXPECT_EQ(far.report.iterations, one.report.iterations);
}

TEST(least_squares, edges) {
  for (const bool by_lsmr : {false, true}) {
    // Nothing to be done with a matrix of zeros, or with no columns, rows, or right-hand side.
    const csr<double> zero{3, 2, array<std::int64_t>::zeros(device::cpu(), 4), {}, {}};
    const answer none = solve_on<double>(device::cpu(), by_lsmr, zero, {1, 2, 3});
    EXPECT_EQ(none.report.status, solve_status::converged) << none.report.reason;
    EXPECT_EQ(none.x, (std::vector<double>{0, 0}));
    const csr<double> no_columns{3, 0, array<std::int64_t>::zeros(device::cpu(), 4), {}, {}};
    EXPECT_EQ(solve_on<double>(device::cpu(), by_lsmr, no_columns, {1, 2, 3}).report.status,
              solve_status::converged);
    const csr<double> no_rows{0, 3, array<std::int64_t>::zeros(device::cpu(), 1), {}, {}};
    EXPECT_EQ(solve_on<double>(device::cpu(), by_lsmr, no_rows, {}).x, (std::vector<double>{0, 0, 0}));
    const csr<double> A = tall(20, 7);
    EXPECT_EQ(solve_on<double>(device::cpu(), by_lsmr, A, std::vector<double>(20)).x, std::vector<double>(7));
    // Ends.
    const std::vector<double> b = testing::random_vector(20, 4);
    least_squares_options options;
    options.max_iterations = 2;
    EXPECT_EQ(solve_on<double>(device::cpu(), by_lsmr, A, b, options).report.status,
              solve_status::max_iterations);
    options = {};
    options.on_iteration = [](const iteration_record& at) { return at.iteration < 3; };
    EXPECT_EQ(solve_on<double>(device::cpu(), by_lsmr, A, b, options).report.status, solve_status::interrupted);
  }
}

TEST(least_squares, refuses_by_name) {
  const csr<double> A = tall(20, 7);
  std::vector<double> b = testing::random_vector(20, 4);
  const auto refusal = [&](const std::vector<double>& rhs,
                           const least_squares_options& options) -> std::string {
    try {
      solve_on<double>(device::cpu(), false, A, rhs, options);
    } catch (const error& e) {
      return e.what();
    }
    return "";
  };
  EXPECT_EQ(refusal({1, 2}, {}), "LSQR: the matrix is 20 by 7, so b has 20 elements and x 7, not 2 and 7");
  least_squares_options options;
  options.fixed_iterations = 3;
  EXPECT_EQ(refusal(b, options), "LSQR for least squares stops by the true residual and its gradient");
  options = {};
  options.must_fit = true;
  EXPECT_EQ(refusal(b, options), "LSQR needs a square matrix, this one is 20 by 7");
  b[3] = std::nan("");
  EXPECT_EQ(refusal(b, {}), "the right-hand side holds a NaN or an infinity");
}

}  // namespace
}  // namespace vouch
