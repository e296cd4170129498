// vouch/solve/solver.hpp against the factorisations of Eigen.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include <Eigen/Dense>

#include <vouch/core/error.hpp>
#include <vouch/dense/factor/lapack.hpp>
#include <vouch/io/matrix_market.hpp>
#include <vouch/solve/direct/sparse_backends.hpp>
#include <vouch/solve/direct/sparse_lu.hpp>
#include <vouch/solve/solver.hpp>

#include "../systems.hpp"
#include "data.hpp"
#include "devices.hpp"

namespace vouch {
namespace {

using testing::from_triplets;
using testing::triplet;

const device cpu = device::cpu(2);

view<const double> in(const std::vector<double>& v) { return {v.data(), static_cast<std::int64_t>(v.size())}; }
view<double> out(std::vector<double>& v) { return {v.data(), static_cast<std::int64_t>(v.size())}; }

Eigen::MatrixXd as_eigen(const csr<double>& A) {
  Eigen::MatrixXd dense = Eigen::MatrixXd::Zero(A.rows, A.cols);
  for (std::int64_t i = 0; i < A.rows; ++i)
    for (std::int64_t k = A.row_ptr[i]; k < A.row_ptr[i + 1]; ++k) dense(i, A.col[k]) = A.val[k];
  return dense;
}

std::vector<double> exact(const csr<double>& A, const std::vector<double>& b) {
  const Eigen::VectorXd x =
      as_eigen(A).partialPivLu().solve(Eigen::Map<const Eigen::VectorXd>(b.data(), A.rows));
  return {x.data(), x.data() + x.size()};
}

// ||x - exact|| / ||exact||
double error_of(const double* x, const std::vector<double>& exact) {
  double apart = 0, size = 0;
  for (std::size_t i = 0; i < exact.size(); ++i) {
    apart += (x[i] - exact[i]) * (x[i] - exact[i]);
    size += exact[i] * exact[i];
  }
  return std::sqrt(apart / size);
}

// Unsymmetric; shift on the diagonal makes its rows dominate or not.
csr<double> random_unsymmetric(std::int32_t n, double shift) {
  std::vector<triplet> entries;
  const std::vector<double> v = testing::random_vector(5 * n, 3);
  for (std::int32_t i = 0; i < n; ++i) {
    std::vector<std::int32_t> columns{i, (i * 7 + 3) % n, (i * 5 + 1) % n, (i + n / 2) % n};
    std::sort(columns.begin() + 1, columns.end());
    columns.erase(std::unique(columns.begin() + 1, columns.end()), columns.end());
    for (std::size_t k = 0; k < columns.size(); ++k)
      if (k == 0 || columns[k] != i)
        entries.push_back({i, columns[k], v[static_cast<std::size_t>(5 * i) + k] + (k == 0 ? shift : 0)});
  }
  return from_triplets(n, entries);
}

// The real form of a complex symmetric matrix, dominated by its diagonal.
csr<double> complex_symmetric(std::int32_t numbers, double diagonal) {
  std::vector<triplet> entries;
  for (std::int32_t i = 0; i < numbers; ++i)
    for (std::int32_t part = 0; part < 2; ++part)
      for (const std::int32_t step : {-5, -1, 0, 1, 5}) {
        const std::int32_t j = i + step;
        if (j < 0 || j >= numbers) continue;
        const double real = step == 0 ? diagonal : step * step == 1 ? 1 : 0, imaginary = step == 0 ? 1 : -0.5;
        const double first = part == 0 ? real : imaginary, second = part == 0 ? -imaginary : real;
        if (first != 0) entries.push_back({2 * i + part, 2 * j, first});
        if (second != 0) entries.push_back({2 * i + part, 2 * j + 1, second});
      }
  return from_triplets(2 * numbers, entries);
}

matrix<double> as_dense(const csr<double>& A) {
  auto dense = matrix<double>::zeros(cpu, A.rows, A.cols);
  for (std::int64_t i = 0; i < A.rows; ++i)
    for (std::int64_t k = A.row_ptr[i]; k < A.row_ptr[i + 1]; ++k) dense(i, A.col[k]) = A.val[k];
  return dense;
}

TEST(solver, solves_in_one_line) {
  const csr<double> A = testing::laplacian(12);
  const std::vector<double> given = testing::random_vector(A.rows, 1);
  const auto b = array<double>::from(cpu, given);
  auto x = array<double>::zeros(cpu, A.rows);
  const solve_result r = solve(cpu, A, b, x);
  EXPECT_EQ(r.status, solve_status::converged);
  EXPECT_EQ(r.method, "cg");
  EXPECT_EQ(r.method_reason, "symmetric with a positive diagonal");
  EXPECT_LE(r.relative_true(), 1e-8);
  ASSERT_EQ(r.attempts.size(), 1U);
  EXPECT_EQ(r.attempts[0].status, solve_status::converged);
  EXPECT_LT(error_of(x.data(), exact(A, given)), 1e-6);
}

// Every other diagonal entry has the opposite sign: symmetric, not definite.
csr<double> indefinite(csr<double> A) {
  for (std::int64_t i = 1; i < A.rows; i += 2)
    for (std::int64_t k = A.row_ptr[i]; k < A.row_ptr[i + 1]; ++k)
      if (A.col[k] == i) A.val[k] = -A.val[k];
  return A;
}

// Whether the library that a method needs is there.
bool has_library(const std::string& method) {
  const std::string library = method == "sparse-cholesky" ? "cholmod"
                              : method == "sparse-ldlt"   ? "mumps"
                              : method == "sparse-qr"     ? "spqr"
                                                          : "own";
  for (const sparse_backend& b : sparse_backends())
    if (b.name == library) return b.missing.empty();
  return false;
}

// Every method of the table, sparse and dense, in every precision that it has, on a matrix of the least kind that it
// takes: symmetric positive definite, symmetric, unsymmetric.
TEST(solver, every_method_finds_the_solution) {
  const csr<double> spd = testing::random_spd(60, 6, 5), symmetric = indefinite(testing::random_spd(60, 6, 5)),
                    dominant = random_unsymmetric(60, 8);
  std::vector<triplet> chain;
  for (std::int32_t i = 0; i < 60; ++i)
    for (std::int32_t j = std::max(0, i - 1); j <= std::min(59, i + 1); ++j)
      chain.push_back({i, j, i == j ? 3.0 : j < i ? -1.25 : 0.75});
  const csr<double> band = from_triplets(60, chain);
  const csr<double> symmetric_complex = complex_symmetric(30, 7);
  for (const method* m : methods())
    for (const working_precision p :
         {working_precision::double_, working_precision::single, working_precision::mixed}) {
      if (!m->precisions.has(p)) continue;
      if (m->takes.has(matrix_form::dense) && m->direct && !lapack::present()) continue;
      if (!has_library(m->name)) continue;
      const csr<double>& A = m->takes.has(matrix_form::tridiagonal)                 ? band
                             : m->refuse == nullptr                                 ? dominant
                             : m->refuse(structure<double>(cpu, symmetric)).empty() ? symmetric
                             : m->refuse(structure<double>(cpu, spd)).empty()       ? spd
                                                                                    : symmetric_complex;
      const std::vector<double> given = testing::random_vector(A.rows, 2);
      const std::vector<double> expected = exact(A, given);
      const auto b = array<double>::from(cpu, given);
      const matrix<double> dense = as_dense(A);
      solve_options options;
      options.method = m->name;
      options.precision = p;
      for (const bool as_sparse : {true, false}) {
        auto x = array<double>::zeros(cpu, A.rows);
        const solve_result r =
            as_sparse ? solve(cpu, A, b, x, options) : solve(cpu, dense.read(), b, x, options);
        EXPECT_EQ(r.status, solve_status::converged) << m->name << " " << name(p) << ": " << r.reason;
        EXPECT_LT(error_of(x.data(), expected), p == working_precision::single ? 1e-3 : 1e-6)
            << m->name << " " << name(p);
        EXPECT_EQ(r.method_reason, "");
        EXPECT_EQ(r.how, m);
      }
    }
}

TEST(solver, auto_takes_a_method_that_solves_it) {
  struct {
    csr<double> A;
    const char* method;
  } cases[] = {{testing::laplacian(10), "cg"},
               {random_unsymmetric(50, 0), "sparse-lu"},
               {random_unsymmetric(50, 8), "gauss-seidel"},
               {from_triplets(3, {{0, 0, 2}, {0, 1, 1}, {1, 0, 3}, {1, 1, 1}, {2, 2, 4}}), "partition"}};
  for (const auto& c : cases) {
    const std::vector<double> given = testing::random_vector(c.A.rows, 4);
    const auto b = array<double>::from(cpu, given);
    auto x = array<double>::zeros(cpu, c.A.rows);
    const solve_result r = solve(cpu, c.A, b, x);
    EXPECT_EQ(r.status, solve_status::converged) << c.method;
    EXPECT_EQ(r.method, c.method);
    EXPECT_NE(r.method_reason, "");
    EXPECT_LT(error_of(x.data(), exact(c.A, given)), 1e-6) << c.method;
  }
}

TEST(solver, serves_any_number_of_right_hand_sides) {
  const csr<double> A = testing::random_spd(80, 6, 9);
  for (const char* name : {"auto", "sparse-lu", "gauss-seidel"}) {
    solve_options options;
    options.method = name;
    solver S(cpu, A, options);
    constexpr std::int64_t columns = 11;
    const std::vector<double> given = testing::random_vector(columns * A.rows, 6);
    auto X = matrix<double>::zeros(cpu, A.rows, columns);
    const solve_result all = S.solve(matrix_view<const double>{given.data(), A.rows, columns, A.rows}, X);
    EXPECT_EQ(all.status, solve_status::converged);
    ASSERT_EQ(all.columns.size(), 11U);
    const auto worst = std::max_element(
        all.columns.begin(), all.columns.end(),
        [](const solve_report& a, const solve_report& b) { return a.relative_true() < b.relative_true(); });
    EXPECT_EQ(all.column, worst - all.columns.begin());
    for (std::int64_t j = 0; j < columns; ++j) {
      const std::vector<double> b(given.begin() + j * A.rows, given.begin() + (j + 1) * A.rows);
      EXPECT_LT(error_of(&X(0, j), exact(A, b)), 1e-6) << name;
      auto x = array<double>::zeros(cpu, A.rows);
      EXPECT_EQ(S.solve(in(b), x).status, solve_status::converged);
      EXPECT_LT(error_of(x.data(), exact(A, b)), 1e-6) << name;
    }
  }
}

TEST(solver, uses_vectors_in_place_and_begins_with_the_start) {
  const csr<double> A = testing::laplacian(8);
  const std::vector<double> given = testing::random_vector(A.rows, 7);
  std::vector<double> x = exact(A, given);
  const std::vector<double> start = x;
  solve_options options;
  options.method = "cg";
  const solve_result r = solve(cpu, A, in(given), out(x), options);
  EXPECT_EQ(r.iterations, 0);
  EXPECT_EQ(x, start);
  EXPECT_EQ(r.times.transfer, 0);
}

// Positive definite by its looks alone.
TEST(solver, goes_on_where_an_attempt_fails_and_remembers_it) {
  const csr<double> A = from_triplets(
      3, {{0, 0, 1}, {0, 1, 2}, {0, 2, 3}, {1, 0, 2}, {1, 1, 1}, {1, 2, 5}, {2, 0, 3}, {2, 1, 5}, {2, 2, 1}});
  const std::vector<double> given{1, -2, 4}, expected = exact(A, given);
  const matrix<double> dense = as_dense(A);
  for (const bool as_sparse : {true, false}) {
    if (!as_sparse && !lapack::present()) continue;
    solver S = as_sparse ? solver(cpu, A) : solver(cpu, dense.read());
    std::vector<double> x{0.5, 0.5, 0.5};
    const solve_result r = S.solve(in(given), out(x));
    EXPECT_EQ(r.status, solve_status::converged);
    EXPECT_EQ(r.method, as_sparse ? "sparse-lu" : "lu");
    EXPECT_EQ(r.method_reason, as_sparse ? "not positive definite" : "dense, not positive definite");
    ASSERT_EQ(r.attempts.size(), 2U);
    EXPECT_EQ(r.attempts[0].status, solve_status::not_spd);
    ASSERT_FALSE(r.warnings.empty());
    EXPECT_NE(r.warnings[0].find(std::string("went on with ") + r.method), std::string::npos) << r.warnings[0];
    EXPECT_LT(error_of(x.data(), expected), 1e-12);
    EXPECT_EQ(S.next().method, r.how);
    std::vector<double> again(3);
    const solve_result second = S.solve(in(given), out(again));
    EXPECT_EQ(second.attempts.size(), 1U);
    EXPECT_TRUE(second.warnings.empty());
    EXPECT_LT(error_of(again.data(), expected), 1e-12);
  }
}

// Upwind convection on a grid of m by m by m points. Row `cancels`, if there is one, has the entry before it alone beside a
// diagonal entry that elimination takes away, so that ILU(0) loses its pivot: 1/9 - 1 * 1 / 9.
csr<double> convection(std::int32_t m, std::int32_t cancels) {
  std::vector<triplet> entries;
  for (std::int32_t i = 0; i < m * m * m; ++i) {
    if (i == cancels) {
      entries.push_back({i, i - 1, 1});
      entries.push_back({i, i, 1 / 9.0});
      continue;
    }
    entries.push_back({i, i, 9});
    for (const std::int32_t step : {1, m, m * m}) {
      const bool first = i / step % m == 0, last = i / step % m == m - 1;
      if (!first && i + 1 != cancels) entries.push_back({i, i - step, -2});
      if (!last) entries.push_back({i, i + step, i + step == cancels ? 1.0 : -1.0});
    }
  }
  return from_triplets(m * m * m, entries);
}

TEST(solver, large_unsymmetric_systems_are_iterated_and_preconditioned_otherwise_where_that_fails) {
  constexpr std::int32_t m = 17, middle = m * m * m / 2;
  for (const bool cancels : {false, true}) {
    const csr<double> A = convection(m, cancels ? middle : -1);
    solve_options options;
    options.goal.rtol = 1e-10;
    solver S(cpu, A, options);
    ASSERT_GE(S.plan().size(), 3U);
    const std::vector<double> given = testing::random_vector(A.rows, 2);
    std::vector<double> x(given.size());
    const solve_result r = S.solve(in(given), out(x));
    EXPECT_EQ(r.status, solve_status::converged) << r.reason;
    EXPECT_LE(testing::relative_residual(A, given, x), 1.0001e-10);
    if (cancels &&
        S.plan()[1].method->direct) {  // a library that factorises it comes before another preconditioner
      EXPECT_EQ(r.method, "sparse-lu");
      continue;
    }
    EXPECT_EQ(r.method, cancels ? "gmres" : "bicgstab");  // its rows do not dominate, or weakly
    EXPECT_EQ(r.preconditioner.substr(0, 4), cancels ? "ilut" : "ilu0");
    ASSERT_EQ(r.attempts.size(), cancels ? 2U : 1U);
    if (!cancels) continue;
    const std::string refusal = "ilu0: the pivot of row " + std::to_string(middle + 1) + " is zero";
    EXPECT_FALSE(r.attempts[0].status);
    EXPECT_NE(r.attempts[0].reason.find(refusal), std::string::npos) << r.attempts[0].reason;
    EXPECT_EQ(r.method_reason, "the attempt before it failed");
    ASSERT_EQ(r.warnings.size(), 1U);
    EXPECT_NE(r.warnings[0].find("GMRES with ilu0 ended, "), std::string::npos) << r.warnings[0];
    EXPECT_NE(r.warnings[0].find(": went on with ilut"), std::string::npos) << r.warnings[0];
    // By name it is the only attempt.
    options.preconditioner = preconditioner_choice{"ilu0"};
    EXPECT_THROW(solve(cpu, A, in(given), out(x), options), value_error);
  }
}

// Saddle points: both preconditioners fail, or iterations stagnate; elimination does not.
TEST(solver, where_no_preconditioner_serves_elimination_does) {
  for (const char* name : {"cavity14.mtx.gz", "gemat11.mtx.gz", "e20r0000.mtx.gz"}) {
    const std::string path = testing::data_file(std::string("matrices/") + name);
    VOUCH_NEEDS_DATA(path);
    const csr<double> A = read_csr(cpu, path);
    const std::vector<double> given(static_cast<std::size_t>(A.rows), 1.0);
    std::vector<double> x(given.size());
    const solve_result r = solve(cpu, A, in(given), out(x));
    EXPECT_EQ(r.status, solve_status::converged) << name << ": " << r.reason;
    EXPECT_LE(testing::relative_residual(A, given, x), 1.0001e-8) << name;
    EXPECT_GE(r.attempts.size(), 2U) << name;
    EXPECT_EQ(r.attempts[0].method, "gmres") << name;
  }
}

// Where the recurrence's residual has no bits left, nothing more is done, and nothing more is claimed.
TEST(solver, claims_no_iterations_that_were_not_done) {
  const csr<double> A = testing::laplacian(8);
  const std::vector<double> b(static_cast<std::size_t>(A.rows), 1.0);
  for (const char* method : {"fcg", "minres", "gmres", "fgmres", "bicgstab", "idr", "lsqr", "lsmr"}) {
    std::vector<double> x(b.size());
    std::int64_t last = 0;
    solve_options options;
    options.method = method;
    options.goal.fixed_iterations = 100000;
    options.goal.on_iteration = [&](const iteration_record& record) {
      last = std::max(last, record.iteration);
      return true;
    };
    const solve_result r = solve(cpu, A, in(b), out(x), options);
    EXPECT_EQ(r.status, solve_status::fixed) << method;
    EXPECT_LE(r.iterations, 2 * last + 1) << method << ": " << r.reason;
    EXPECT_LT(r.iterations, 100000) << method;
    EXPECT_EQ(r.reason.find("as asked"), std::string::npos) << method << ": " << r.reason;
  }
}

// MINRES gives its preconditioner vectors of the size of the root of A, which single precision may not hold.
TEST(solver, multigrid_serves_methods_at_any_scale) {
  for (const int power : {-700, -300, 300, 700}) {
    csr<double> A = testing::laplacian(70);
    for (double& v : A.val) v = std::ldexp(v, power);
    const std::vector<double> b(static_cast<std::size_t>(A.rows), 1.0);
    for (const char* method : {"cg", "fcg", "gmres", "fgmres", "bicgstab", "idr"}) {
      std::vector<double> x(b.size());
      solve_options options;
      options.method = method;
      options.preconditioner = preconditioner_choice{"amg"};
      const solve_result r = solve(cpu, A, in(b), out(x), options);
      EXPECT_EQ(r.status, solve_status::converged) << method << ", 2^" << power << ": " << r.reason;
      EXPECT_LE(r.iterations, 30) << method << ", 2^" << power;
    }
  }
}

TEST(solver, conjugate_gradients_refuse_unsymmetric_preconditioners) {
  const csr<double> A = testing::laplacian(10);
  std::vector<double> b(static_cast<std::size_t>(A.rows), 1.0), x(b.size());
  for (const char* name : {"ilu0", "ilut"}) {
    solve_options options;
    options.preconditioner = preconditioner_choice{name};
    EXPECT_EQ(solve(cpu, A, in(b), out(x), options).method, "gmres") << name;
    options.method = "cg";
    EXPECT_THROW(solve(cpu, A, in(b), out(x), options), value_error) << name;
  }
}

TEST(solver, a_singular_system_keeps_its_verdict) {
  const csr<double> A = from_triplets(3, {{0, 0, 1}, {0, 2, 2}, {1, 0, 1}, {1, 1, 5}, {2, 0, 2}, {2, 2, 4}});
  const std::vector<double> given{1, 1, 1};
  std::vector<double> x(3);
  const solve_result r = solve(cpu, A, in(given), out(x));
  EXPECT_EQ(r.status, solve_status::breakdown);
  EXPECT_EQ(r.method, "sparse-lu");
}

TEST(solver, takes_dense_matrices_in_either_order) {
  if (!lapack::present()) GTEST_SKIP() << "no LAPACK on this machine";
  for (const bool symmetric : {true, false}) {
    const csr<double> A = symmetric ? testing::random_spd(20, 6, 3) : random_unsymmetric(20, 0);
    const Eigen::MatrixXd columns = as_eigen(A);
    // Rows lie 3 elements apart from one another's ends.
    std::vector<double> rows(20 * 23, std::numeric_limits<double>::quiet_NaN());
    for (int i = 0; i < 20; ++i)
      for (int j = 0; j < 20; ++j) rows[static_cast<std::size_t>(23 * i + j)] = columns(i, j);
    const std::vector<double> given = testing::random_vector(20, 8), expected = exact(A, given);
    solver by_columns(cpu, matrix_view<const double>{columns.data(), 20, 20, 20});
    solver by_rows(cpu, matrix_view<const double>{rows.data(), 20, 20, 23}, {}, storage_order::by_rows);
    for (solver* S : {&by_columns, &by_rows}) {
      std::vector<double> x(20);
      EXPECT_EQ(S->solve(in(given), out(x)).status, solve_status::converged);
      EXPECT_LT(error_of(x.data(), expected), 1e-10);
    }
  }
}

TEST(solver, judges_the_system_as_given_where_it_was_rounded) {
  // 16777219 rounds to 16777220: the rounded system is solved, this one is not.
  const csr<double> A = from_triplets(2, {{0, 0, 16777219}, {0, 1, -16777216}, {1, 1, 1}});
  const std::vector<double> b{1, 1};
  std::vector<double> x(2);
  solve_options options;
  options.method = "sparse-lu";
  options.precision = working_precision::single;
  const solve_result r = solve(cpu, A, in(b), out(x), options);
  EXPECT_EQ(r.status, solve_status::stagnated);
  EXPECT_NE(r.reason.find("rounded to single precision"), std::string::npos) << r.reason;
  EXPECT_GT(r.relative_true(), 0.1);
  const csr<double> huge = from_triplets(1, {{0, 0, 1e300}});
  const std::vector<double> one{1};
  std::vector<double> y(1);
  options.names.matrix = "H";
  try {
    solve(cpu, huge, in(one), out(y), options);
    ADD_FAILURE() << "an overflow went unseen";
  } catch (const value_error& e) {
    EXPECT_EQ(std::string(e.what()).substr(0, 2), "H:") << e.what();
  }
}

// A diagonal that single precision takes for zero is no zero of the matrix.
TEST(solver, what_underflows_in_single_precision_is_called_that) {
  const csr<double> row = from_triplets(3, {{0, 0, 4}, {0, 2, 1}, {1, 1, 1e-50}, {2, 0, 1}, {2, 2, 4}}),
                    diagonal =
                        from_triplets(3, {{0, 0, 4}, {0, 1, 1e-30}, {1, 0, 1e-30}, {1, 1, 1e-50}, {2, 2, 4}}),
                    general = from_triplets(3, {{0, 0, 4}, {0, 1, 1}, {1, 0, 2}, {1, 1, 1e-50}, {2, 2, 4}});
  const std::vector<double> b{1, 1e-50, 1};
  std::vector<double> x(3);
  solve_options options;
  options.precision = working_precision::single;
  for (const char* method :
       {"auto", "cg", "fcg", "minres", "gmres", "jacobi", "gauss-seidel", "sparse-lu", "band"})
    for (const csr<double>* A : {&row, &diagonal}) {
      if (std::string(method) == "band" && A == &row) continue;  // not tridiagonal
      options.method = method;
      try {
        const solve_result r = solve(cpu, *A, in(b), out(x), options);
        ADD_FAILURE() << method << ": " << name(r.status) << ", " << r.reason;
      } catch (const value_error& e) {
        EXPECT_NE(std::string(e.what()).find("row 2 is zero in single precision: 1e-50"), std::string::npos)
            << method << ": " << e.what();
        EXPECT_NE(std::string(e.what()).find("underflows"), std::string::npos) << method << ": " << e.what();
        EXPECT_NE(std::string(e.hint()).find("--precision double"), std::string::npos) << method;
      }
    }
  // Where nothing needs the diagonal it may go.
  for (const char* method : {"gmres", "sparse-lu"}) {
    options.method = method;
    EXPECT_EQ(solve(cpu, general, in(b), out(x), options).status, solve_status::converged) << method;
  }
}

TEST(solver, proves_what_it_found) {
  const csr<double> sparse = testing::random_spd(40, 6, 11);
  const matrix<double> dense = as_dense(sparse);
  const std::vector<double> given = testing::random_vector(80, 12);
  for (const bool as_sparse : {true, false}) {
    solve_options options;
    options.method = "cg";
    options.goal.rtol = 1e-4;
    options.proof = proof_request{1e-12, {}, nullptr};
    solver S = as_sparse ? solver(cpu, sparse, options) : solver(cpu, dense.read(), options);
    auto X = matrix<double>::zeros(cpu, 40, 2);
    const solve_result r = S.solve(matrix_view<const double>{given.data(), 40, 2, 40}, X);
    ASSERT_TRUE(r.proof);
    EXPECT_TRUE(r.proof->verified && r.proof->reached) << r.proof->reason;
    EXPECT_GT(r.proof->refinements, 0);
    EXPECT_NE(r.reason.find("improved"), std::string::npos) << r.reason;
    for (std::int64_t j = 0; j < 2; ++j) {
      const std::vector<double> b(given.begin() + 40 * j, given.begin() + 40 * (j + 1));
      const Eigen::Matrix<long double, Eigen::Dynamic, 1> x =
          as_eigen(sparse).cast<long double>().partialPivLu().solve(
              Eigen::Map<const Eigen::VectorXd>(b.data(), 40).cast<long double>());
      for (std::int64_t i = 0; i < 40; ++i)
        EXPECT_LE(std::fabs(static_cast<double>(x(i) - X(i, j))), r.proof->radius[40 * j + i] + 1e-17);
    }
  }
}

TEST(solver, a_proof_speaks_of_solutions_from_anywhere) {
  const csr<double> A = testing::laplacian(6);
  const std::vector<double> given = testing::random_vector(36, 3), expected = exact(A, given);
  auto x = array<double>::from(cpu, expected);
  for (double& v : x) v *= 1 + 1e-7;
  const std::vector<double> before = x.to_vector();
  solver S(cpu, A);
  const solution_proof improved =
      S.prove(matrix_view<const double>{given.data(), 36, 1, 36}, {x.data(), 36, 1, 36}, {1e-12, {}, nullptr});
  ASSERT_TRUE(improved.reached) << improved.reason;
  const solution_proof of_given = about_given(in(before), x, improved, 0);
  EXPECT_TRUE(of_given.verified);
  double largest = 0;
  for (std::size_t i = 0; i < 36; ++i) largest = std::max(largest, std::fabs(before[i] - expected[i]));
  EXPECT_GE(of_given.max_absolute, largest * (1 - 1e-6));
  EXPECT_LE(of_given.max_absolute, largest * (1 + 1e-3));
}

// What a matrix on a GPU is solved to is what it is solved to where it lives on the CPU.
TEST(solver, takes_a_matrix_on_a_gpu_with_vectors_there_or_here) {
  VOUCH_NEEDS_GPU();
  const device gpu = testing::gpus().front();
  const csr<double> spd = testing::random_spd(300, 6, 5), dominant = random_unsymmetric(300, 8),
                    symmetric_complex = complex_symmetric(150, 8);
  const std::vector<sparse_backend>& backends = sparse_backends();
  const bool factorises = std::any_of(backends.begin(), backends.end(), [](const sparse_backend& b) {
    return b.name == "cudss" && b.missing.empty();
  });
  for (const method* m : methods())
    for (const working_precision p : {working_precision::double_, working_precision::single}) {
      if (!m->takes.has(matrix_form::sparse) || !m->on_cuda.has(true) || !m->precisions.has(p)) continue;
      if (m->makes && !factorises) continue;
      const csr<double>& A = m->refuse == nullptr                             ? dominant
                             : m->refuse(structure<double>(cpu, spd)).empty() ? spd
                                                                              : symmetric_complex;
      const csr<double> there = A.to(gpu);
      const std::vector<double> given = testing::random_vector(A.rows, 2), expected = exact(A, given);
      solve_options options;
      options.method = m->name;
      options.precision = p;
      options.run_on = gpu;
      options.proof = proof_request{};
      const auto b = array<double>::from(gpu, given);
      auto x = array<double>::zeros(gpu, A.rows);
      std::vector<double> y(given.size()), z(given.size());
      solver S(gpu, there, options);
      const solve_result r = S.solve(b, x);
      EXPECT_EQ(r.status, solve_status::converged) << m->name << ": " << r.reason;
      EXPECT_TRUE(r.proof->verified) << m->name << ": " << r.proof->reason;
      EXPECT_LT(error_of(x.to_vector().data(), expected), p == working_precision::single ? 1e-3 : 1e-6);
      EXPECT_EQ(S.solve(in(given), out(y)).status, solve_status::converged) << m->name;
      EXPECT_EQ(solver(cpu, A, options).solve(in(given), out(z)).status, solve_status::converged) << m->name;
      if (!r.reproducible) continue;
      EXPECT_EQ(x.to_vector(), y) << m->name;
      EXPECT_EQ(z, y) << m->name;
    }
}

TEST(solver, takes_offsets_of_32_bits) {
  const csr<double> A = testing::random_spd(60, 6, 5);
  std::vector<std::int32_t> offsets;
  for (const std::int64_t at : A.row_ptr) offsets.push_back(static_cast<std::int32_t>(at));
  const csr32_view<const double> B{A.rows, A.cols, A.nonzeros(), offsets.data(), A.col.data(), A.val.data()};
  const std::vector<double> b = testing::random_vector(A.rows, 2);
  std::vector<double> x(b.size()), y(b.size());
  EXPECT_EQ(solver(cpu, A).solve(in(b), out(x)).status, solve_status::converged);
  solver S(cpu, B);
  offsets.assign(offsets.size(), -1);  // they were copied
  EXPECT_EQ(S.solve(in(b), out(y)).status, solve_status::converged);
  EXPECT_EQ(x, y);
  EXPECT_THROW(solver(cpu, B), value_error);
  EXPECT_THROW(solver(cpu, csr32_view<const double>{2, 2, 1, nullptr, nullptr, nullptr}), value_error);
  EXPECT_THROW(solver(cpu, csr32_view<const double>{-2, 2, 1, nullptr, nullptr, nullptr}), shape_error);
}

TEST(solver, refuses_operands_that_lie_nowhere) {
  const csr<double> A = testing::laplacian(2);
  std::vector<double> four(4, 1.0);
  const view<const double> nowhere(nullptr, 4);
  EXPECT_THROW(solve(cpu, A, nowhere, out(four)), value_error);
  EXPECT_THROW(solve(cpu, A, in(four), view<double>(nullptr, 4)), value_error);
  EXPECT_THROW(solve(cpu, matrix_view<const double>{nullptr, 4, 4, 4}, in(four), out(four)), value_error);
  EXPECT_THROW(solver(cpu, matrix_view<const double>{four.data(), 2, 2, 1}), value_error);
  EXPECT_THROW(solver(cpu, matrix_view<const double>{four.data(), -2, -2, 2}), shape_error);
}

TEST(solver, refuses_shapes_and_matrices_that_are_none) {
  const csr<double> A = testing::laplacian(3);
  std::vector<double> b(9), x(8);
  solver S(cpu, A);
  EXPECT_THROW(S.solve(in(b), out(x)), shape_error);
  EXPECT_THROW(S.solve(matrix_view<const double>{b.data(), 9, 2, 10}, {x.data(), 9, 2, 9}), shape_error);
  EXPECT_EQ(S.solve(matrix_view<const double>{b.data(), 9, 0, 9}, {x.data(), 9, 0, 9}).status,
            solve_status::converged);
  csr<double> broken = testing::laplacian(3);
  broken.col[1] = 77;
  EXPECT_THROW(solver(cpu, broken), value_error);
  csr_view<const double> wide = A;
  wide.cols = 10;
  solve_options square;
  square.method = "cg";
  EXPECT_THROW(solver(cpu, wide, square).plan(), shape_error);
  b[3] = std::numeric_limits<double>::quiet_NaN();
  std::vector<double> y(9);
  EXPECT_THROW(S.solve(in(b), out(y)), value_error);
}

TEST(solver, refuses_to_solve_in_place) {
  const std::vector<std::int64_t> row_ptr{0, 2, 4};
  const std::vector<std::int32_t> col{0, 1, 0, 1};
  const std::vector<double> val{4, 1, 1, 3};
  const csr_view<const double> A{2, 2, 4, row_ptr.data(), col.data(), val.data()};
  std::vector<double> memory{1, 2, 3};
  for (const std::ptrdiff_t shift : {0, 1})
    EXPECT_THROW(
        solve(device::cpu(), A, view<const double>(memory.data(), 2), view<double>(memory.data() + shift, 2)),
        value_error);
  EXPECT_EQ(memory, (std::vector<double>{1, 2, 3}));
}

// a x = b of subnormal numbers: no double comes nearer than a tenth of b, which only an exact residual shows.
TEST(solver, what_underflow_hides_is_not_called_solved) {
  const std::int64_t row_ptr[] = {0, 1};
  const std::int32_t col[] = {0};
  const double val[] = {0.586838683520719};
  for (const char* method : {"auto", "thomas", "lu", "sparse-lu", "gmres", "bicgstab", "idr", "cg", "minres",
                             "jacobi", "gauss-seidel", "lsmr"}) {
    if (std::string(method) == "lu" && !lapack::present()) continue;
    const double b = -5e-324;
    double x = 0;
    solve_options how;
    how.method = method;
    const solve_result result = solve(device::cpu(1), csr_view<const double>{1, 1, 1, row_ptr, col, val},
                                      view<const double>(&b, 1), view<double>(&x, 1), how);
    EXPECT_NE(result.status, solve_status::converged) << method;
    EXPECT_GT(result.relative_true(), 0.1) << method;
  }
  // Where underflow cannot count, it does not: multiples of the smallest normal number.
  const double b = 0x1p-950;
  double x = 0;
  const solve_result result = solve(device::cpu(1), csr_view<const double>{1, 1, 1, row_ptr, col, val},
                                    view<const double>(&b, 1), view<double>(&x, 1));
  EXPECT_EQ(result.status, solve_status::converged);
}

TEST(solver, names_the_entry_that_is_no_number) {
  csr<double> A = testing::laplacian(4);
  A.val[A.row_ptr[5] + 1] = std::numeric_limits<double>::infinity();
  std::vector<double> b(16, 1), x(16);
  for (const char* method : {"gmres", "sparse-lu"}) {
    solve_options options;
    options.method = method;
    options.names.matrix = "A";
    try {
      solver(cpu, A, options).solve(in(b), out(x));
      FAIL() << method;
    } catch (const value_error& e) {
      const std::int64_t k = A.row_ptr[5] + 1;
      EXPECT_EQ(e.what(), "A: entry " + std::to_string(k) + " of row 5, in column " + std::to_string(A.col[k]) +
                              ", is infinite")
          << method;
    }
  }
}

class counter : public solve_observer {
 public:
  void begin(std::int64_t, std::int64_t count) override { columns += count; }
  bool iteration(const iteration_record& record) override { return record.iteration < stop; }
  void end(std::span<const solve_report> reports) override {
    ended += static_cast<std::int64_t>(reports.size());
  }
  std::int64_t columns = 0, ended = 0, stop = 1 << 30;
};

TEST(solver, is_followed_and_interrupted) {
  const csr<double> A = testing::laplacian(20);
  const std::vector<double> b(1200, 1.0);
  counter seen;
  solve_options options;
  options.observer = &seen;
  solver S(cpu, A, options);
  auto X = matrix<double>::zeros(cpu, 400, 3);
  EXPECT_EQ(S.solve(matrix_view<const double>{b.data(), 400, 3, 400}, X).status, solve_status::converged);
  EXPECT_EQ(seen.columns, 3);
  EXPECT_EQ(seen.ended, 3);
  seen.stop = 5;
  std::vector<double> x(400);
  const solve_result r = S.solve(view<const double>(b.data(), 400), out(x));
  EXPECT_EQ(r.status, solve_status::interrupted);
  EXPECT_EQ(r.attempts.size(), 1U);  // an interruption is no failure of the method
}

TEST(preconditioner_choice, has_named_parameters) {
  const csr<double> A = testing::laplacian(10);
  EXPECT_EQ(parse_preconditioner("ssor:1.2").parameters.at("omega"), 1.2);
  EXPECT_EQ(parse_preconditioner("ic0").parameters.size(), 0U);
  solve_options options;
  options.preconditioner = preconditioner_choice{"ssor", {{"omega", 1.2}}};
  std::vector<double> b(100, 1.0), x(100);
  const solve_result r = solve(cpu, A, in(b), out(x), options);
  EXPECT_EQ(r.status, solve_status::converged);
  EXPECT_EQ(r.preconditioner.substr(0, 4), "ssor");
  for (const preconditioner_choice& wrong :
       {preconditioner_choice{"ssor", {{"size", 1}}}, preconditioner_choice{"block-jacobi", {{"size", 1.5}}},
        preconditioner_choice{"no such", {}}})
    EXPECT_THROW(make_preconditioner<double>(cpu, A, wrong), value_error) << wrong.name;
}

// 2 on the diagonal, -1 beside it, by its action.
class string_of_springs final : public linear_operator<double> {
 public:
  explicit string_of_springs(std::int64_t n) : n_(n) {}
  std::int64_t rows() const override { return n_; }
  void apply(const device&, view<const double> x, view<double> y) const override {
    for (std::int64_t i = 0; i < n_; ++i)
      y[i] = 2 * x[i] - (i > 0 ? x[i - 1] : 0) - (i + 1 < n_ ? x[i + 1] : 0);
  }

 private:
  std::int64_t n_;
};

// One sweep of Gauss-Seidel forwards and one backwards for it, started from zero.
class both_ways final : public preconditioner<double> {
 public:
  explicit both_ways(std::int64_t n) : n_(n) {}
  std::string name() const override { return "both ways"; }
  std::int64_t rows() const override { return n_; }
  void apply(const device&, view<const double> r, view<double> z) const override {
    for (std::int64_t i = 0; i < n_; ++i) z[i] = (r[i] + (i > 0 ? z[i - 1] : 0)) / 2;
    for (std::int64_t i = n_; i-- > 0;) z[i] = (2 * z[i] + (i + 1 < n_ ? z[i + 1] : 0)) / 2;
  }

 private:
  std::int64_t n_;
};

csr<double> springs(std::int32_t n) {
  std::vector<triplet> entries;
  for (std::int32_t i = 0; i < n; ++i)
    for (std::int32_t j = std::max(0, i - 1); j <= std::min(n - 1, i + 1); ++j)
      entries.push_back({i, j, i == j ? 2.0 : -1.0});
  return from_triplets(n, entries);
}

TEST(solver, takes_a_matrix_given_by_its_action) {
  constexpr std::int32_t n = 150;
  const string_of_springs A(n);
  const both_ways M(n);
  std::int64_t plain = 0;
  for (const bool preconditioned : {false, true}) {
    solve_options options;
    if (preconditioned) options.own_preconditioner = &M;
    solver s(cpu, A, options);
    EXPECT_EQ(s.form(), matrix_form::matrix_free);
    const std::vector<double> one = testing::random_vector(n, 4), two = testing::random_vector(n, 5);
    std::vector<double> both = one, x(2 * n, 0.0);
    both.insert(both.end(), two.begin(), two.end());
    const solve_result r = s.solve(matrix_view<const double>{both.data(), n, 2, n}, {x.data(), n, 2, n});
    EXPECT_EQ(r.status, solve_status::converged) << r.reason;
    EXPECT_EQ(r.method, "cg");
    EXPECT_EQ(r.method_reason, "they need the action of the matrix alone");
    EXPECT_EQ(r.preconditioner, preconditioned ? "both ways" : "none");
    ASSERT_EQ(r.columns.size(), 2U);
    EXPECT_LT(error_of(x.data(), exact(springs(n), one)), 1e-5);
    EXPECT_LT(error_of(x.data() + n, exact(springs(n), two)), 1e-5);
    if (preconditioned)
      EXPECT_LT(r.iterations, plain);
    else
      plain = r.iterations;
  }
}

TEST(solver, every_method_for_actions_solves_with_one) {
  constexpr std::int32_t n = 120;
  const string_of_springs A(n);
  const both_ways M(n);
  const std::vector<double> b = testing::random_vector(2 * n, 4);
  for (const method* m : methods()) {
    if (!m->takes.has(matrix_form::matrix_free)) continue;
    for (const bool preconditioned : {false, true}) {
      solve_options options;
      options.method = m->name;
      if (preconditioned) options.own_preconditioner = &M;
      std::vector<double> x(2 * n, 0.0);
      solver s(cpu, A, options);
      const solve_result r = s.solve(matrix_view<const double>{b.data(), n, 2, n}, {x.data(), n, 2, n});
      EXPECT_EQ(r.status, solve_status::converged) << m->name << ": " << r.reason;
      EXPECT_EQ(r.preconditioner, preconditioned ? "both ways" : "none") << m->name;
      for (int j = 0; j < 2; ++j)
        EXPECT_LT(error_of(x.data() + j * n, exact(springs(n), {b.begin() + j * n, b.begin() + (j + 1) * n})),
                  1e-4)
            << m->name;
    }
  }
}

TEST(solver, refuses_what_needs_the_entries_of_an_action) {
  constexpr std::int64_t n = 20;
  const string_of_springs A(n);
  const both_ways M(n);
  const std::vector<double> b(n, 1.0);
  std::vector<double> x(n, 0.0);
  const auto refused = [&](const solve_options& options) {
    EXPECT_THROW(solve(cpu, A, in(b), out(x), options), value_error);
    EXPECT_EQ(x, std::vector<double>(n, 0.0));
  };
  for (const method* m : methods())
    if (!m->takes.has(matrix_form::matrix_free)) {
      solve_options options;
      options.method = m->name;
      refused(options);
    }
  solve_options proof, jacobi, single, both;
  proof.proof = proof_request{};
  refused(proof);
  jacobi.preconditioner = preconditioner_choice{"jacobi"};
  refused(jacobi);
  single.precision = working_precision::single;
  refused(single);
  both.own_preconditioner = &M;
  both.preconditioner = preconditioner_choice{"jacobi"};
  refused(both);
  solver s(cpu, A);
  s.solve(in(b), out(x));
  EXPECT_THROW(s.prove({b.data(), n, 1, n}, {x.data(), n, 1, n}, proof_request{}), value_error);
}

TEST(solver, takes_a_preconditioner_of_the_caller) {
  constexpr std::int32_t n = 150;
  const csr<double> A = springs(n);
  const both_ways M(n), other(n + 1);
  const std::vector<double> b = testing::random_vector(n, 6);
  std::vector<double> x(n, 0.0);
  solve_options options;
  options.method = "cg";
  options.own_preconditioner = &M;
  const solve_result r = solve(cpu, A, in(b), out(x), options);
  EXPECT_EQ(r.status, solve_status::converged) << r.reason;
  EXPECT_EQ(r.preconditioner, "both ways");
  EXPECT_LT(error_of(x.data(), exact(A, b)), 1e-5);
  options.own_preconditioner = &other;
  EXPECT_THROW(solve(cpu, A, in(b), out(x), options), shape_error);
  options.own_preconditioner = &M;
  options.method = "sparse-lu";
  EXPECT_THROW(solve(cpu, A, in(b), out(x), options), value_error);
}

TEST(solver, criteria_that_are_no_numbers_are_refused) {
  const csr<double> A = random_unsymmetric(20, 9);
  const std::vector<double> b(20, 1.0);
  std::vector<double> x(20);
  for (const double wrong : {-1e-8, std::nan("")}) {
    for (const char* method : {"auto", "gmres", "gauss-seidel", "sparse-lu", "lu"}) {
      solve_options how;
      how.method = method;
      how.goal.rtol = wrong;
      EXPECT_THROW(solve(cpu, A, in(b), out(x), how), value_error) << method;
      how.goal.rtol.reset();
      how.goal.atol = wrong;
      EXPECT_THROW(solve(cpu, A, in(b), out(x), how), value_error) << method;
    }
    stopping_criterion goal;
    goal.rtol = wrong;
    EXPECT_THROW(sparse_lu<double>(cpu, A, in(b), out(x), goal), value_error);
  }
}

TEST(solver, offsets_of_32_bits_for_too_many_rows_are_refused) {
  const std::int32_t offset = 0;
  for (const std::int64_t rows : {std::int64_t{1} << 31, std::numeric_limits<std::int64_t>::max()})
    EXPECT_THROW(solver(cpu, csr32_view<const double>{rows, rows, 0, &offset, nullptr, nullptr}, {}),
                 value_error);
}

// Keeps each iterate with what the method believes its residual to be.
class iterates final : public solve_observer {
 public:
  bool wants_iterates() const override { return true; }
  bool iterate(const iteration_record& at, view<const double> x) override {
    seen.push_back({at, {x.data(), x.data() + x.size()}});
    return static_cast<std::int64_t>(seen.size()) < most;
  }
  std::int64_t most = 1000000;
  std::vector<std::pair<iteration_record, std::vector<double>>> seen;
};

TEST(solver, shows_the_iterates_of_several_columns_one_after_the_other) {
  const csr<double> A = testing::random_spd(40, 5, 3);
  const std::vector<double> b = testing::random_vector(80, 4);
  auto x = array<double>::zeros(cpu, 80);
  const auto given = array<double>::from(cpu, b);
  solve_options options;
  options.method = "cg";
  std::int64_t shown = 0;
  options.goal.on_iterate = [&](const iteration_record&, view<const double> at) {
    EXPECT_EQ(at.size(), 40);
    return ++shown > 0;
  };
  const solve_result result =
      solve(cpu, A, {given.data(), 40, 2, 40}, matrix_view<double>{x.data(), 40, 2, 40}, options);
  EXPECT_EQ(result.status, solve_status::converged) << result.reason;
  EXPECT_GE(shown, result.iterations);
}

TEST(solver, shows_true_iterates) {
  const csr<double> A = testing::laplacian(12);
  const auto n = static_cast<std::size_t>(A.rows);
  const std::vector<double> b = testing::random_vector(A.rows, 4), start = testing::random_vector(A.rows, 5);
  const Eigen::MatrixXd dense = as_eigen(A);
  const Eigen::Map<const Eigen::VectorXd> rhs(b.data(), A.rows);
  for (const char* method : {"cg", "fcg", "minres", "bicgstab", "idr", "gmres"})
    for (const char* M : {"none", "jacobi", "ic0"}) {
      iterates user;
      solve_options options;
      options.method = method;
      options.preconditioner = parse_preconditioner(M);
      options.observer = &user;
      std::vector<double> x = start;
      const solve_result r = solve(device::cpu(2), A, in(b), out(x), options);
      ASSERT_EQ(r.status, solve_status::converged) << method << " " << M << ": " << r.reason;
      ASSERT_FALSE(user.seen.empty()) << method;
      EXPECT_EQ(user.seen.front().first.iteration, 0);
      EXPECT_LT(error_of(user.seen.front().second.data(), start), 1e-15) << method;
      EXPECT_LT(error_of(user.seen.back().second.data(), x), 1e-12) << method << " " << M;
      if (std::string(method) != "gmres") {
        EXPECT_EQ(user.seen.size(), r.history.size()) << method << " " << M;
      }
      for (const auto& [at, now] : user.seen) {
        const double residual = (rhs - dense * Eigen::Map<const Eigen::VectorXd>(now.data(), A.rows)).norm();
        EXPECT_NEAR(at.residual, residual, 1e-8 * rhs.norm()) << method << " " << M << " " << at.iteration;
      }
      iterates impatient;
      impatient.most = 2;
      options.observer = &impatient;
      std::vector<double> stopped(n, 0.0);
      const solve_result ended = solve(cpu, A, in(b), out(stopped), options);
      if (r.iterations > 4 && std::string(method) != "gmres") {
        EXPECT_EQ(ended.status, solve_status::interrupted) << method << " " << M;
      }
    }
}

}  // namespace
}  // namespace vouch
