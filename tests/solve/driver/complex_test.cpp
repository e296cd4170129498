// Complex systems against Eigen's complex factorisation.
#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <algorithm>
#include <complex>
#include <cstdint>
#include <memory>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <devices.hpp>
#include <vouch/core/error.hpp>
#include <vouch/core/random.hpp>
#include <vouch/generate/complex_problems.hpp>
#include <vouch/solve/complex.hpp>
#include <vouch/solve/direct/module_factors.hpp>
#include <vouch/solve/direct/sparse_backends.hpp>
#include <vouch/solve/driver/operand.hpp>
#include <vouch/solve/plan.hpp>
#include <vouch/sparse/coo.hpp>
#include <vouch/sparse/fill.hpp>
#include <vouch/sparse/ordering.hpp>

#include "../complex_systems.hpp"

namespace vouch {
namespace {

using testing::sparse;

using complex = std::complex<double>;
using eigen_matrix = Eigen::MatrixXcd;

enum class kind { general, hermitian_definite, hermitian_indefinite, complex_symmetric };

// Entries of a band of three on either side and some far away.
eigen_matrix random_matrix(kind of, int n, std::uint64_t seed) {
  std::uint64_t counter = 0;
  const auto number = [&] { return 2 * random_unit(seed, counter++) - 1; };
  eigen_matrix A = eigen_matrix::Zero(n, n);
  for (int i = 0; i < n; ++i)
    for (int j = 0; j <= i; ++j) {
      if (i - j > 3 && random_unit(seed, counter++) > 0.05) continue;
      A(i, j) = complex(number(), number());
      A(j, i) = of == kind::complex_symmetric ? A(i, j)
                : of == kind::general         ? complex(number(), number())
                                              : std::conj(A(i, j));
    }
  for (int i = 0; i < n; ++i) {
    const double dominant = A.row(i).cwiseAbs().sum() + 1;
    if (of == kind::hermitian_definite) A(i, i) = dominant;
    if (of == kind::hermitian_indefinite) A(i, i) = i % 2 == 0 ? dominant : -dominant;
    if (of == kind::complex_symmetric) A(i, i) += complex(0, dominant);
    if (of == kind::general) A(i, i) += dominant;
  }
  return A;
}

matrix_view<const complex> view_of(const eigen_matrix& A) { return {A.data(), A.rows(), A.cols(), A.rows()}; }

// Entries, and those across the diagonal.
std::vector<std::int32_t> mirrored(const std::vector<std::int32_t>& first,
                                   const std::vector<std::int32_t>& second) {
  std::vector<std::int32_t> all = first;
  for (std::size_t k = 0; k < first.size(); ++k)
    if (first[k] != second[k]) all.push_back(second[k]);
  return all;
}
std::vector<complex> mirrored_values(const std::vector<std::int32_t>& row, const std::vector<std::int32_t>& col,
                                     const std::vector<complex>& val, bool hermitian) {
  std::vector<complex> all = val;
  for (std::size_t k = 0; k < val.size(); ++k)
    if (row[k] != col[k]) all.push_back(hermitian ? std::conj(val[k]) : val[k]);
  return all;
}

struct complex_case {
  kind of;
  const char* method;
  const char* precondition = nullptr;
};

class complex_systems : public ::testing::TestWithParam<complex_case> {};

TEST_P(complex_systems, are_solved_as_eigen_does) {
  constexpr int n = 60;
  const complex_case& c = GetParam();
  const eigen_matrix A = random_matrix(c.of, n, 7);
  Eigen::VectorXcd expected(n);
  for (int i = 0; i < n; ++i) expected(i) = complex(1 + i % 3, i % 5 - 2.0);
  const Eigen::VectorXcd b = A * expected;
  std::vector<complex> rhs(b.data(), b.data() + n), x(n);
  solve_options options;
  options.method = c.method;
  options.goal.rtol = 1e-12;
  if (c.precondition != nullptr) options.preconditioner = preconditioner_choice{.name = c.precondition};
  complex_solver solver(device::cpu(2), sparse(A), options);
  const solve_result result = solver.solve(view<const complex>(rhs.data(), n), view<complex>(x.data(), n));
  EXPECT_EQ(result.status, solve_status::converged) << result.reason;
  const Eigen::VectorXcd reference = A.partialPivLu().solve(b);
  const Eigen::Map<const Eigen::VectorXcd> found(x.data(), n);
  EXPECT_LE((found - reference).norm(), 1e-10 * reference.norm());
  // The verdict is that of the complex system.
  EXPECT_NEAR(result.rhs_norm, b.norm(), 1e-12 * b.norm());
  EXPECT_LE((b - A * found).norm(), 1e-11 * b.norm());
}

INSTANTIATE_TEST_SUITE_P(
    methods, complex_systems,
    ::testing::Values(
        complex_case{kind::general, "auto"}, complex_case{kind::general, "gmres"},
        complex_case{kind::general, "gmres", "ilu0"}, complex_case{kind::general, "gmres", "ilut"},
        complex_case{kind::general, "fgmres", "jacobi"}, complex_case{kind::general, "bicgstab"},
        complex_case{kind::general, "bicgstab", "jacobi"}, complex_case{kind::general, "idr"},
        complex_case{kind::general, "idr", "ilu0"}, complex_case{kind::general, "bicgstab", "amg"},
        complex_case{kind::general, "sparse-lu"}, complex_case{kind::hermitian_definite, "auto"},
        complex_case{kind::hermitian_definite, "cg"}, complex_case{kind::hermitian_definite, "cg", "jacobi"},
        complex_case{kind::hermitian_definite, "cg", "ic0"},
        complex_case{kind::hermitian_definite, "gauss-seidel"},
        complex_case{kind::hermitian_indefinite, "auto"}, complex_case{kind::hermitian_indefinite, "minres"},
        complex_case{kind::complex_symmetric, "auto"}, complex_case{kind::complex_symmetric, "gmres"},
        complex_case{kind::complex_symmetric, "cocg"}, complex_case{kind::complex_symmetric, "cocg", "jacobi"},
        complex_case{kind::complex_symmetric, "cocg", "ilu0"},
        complex_case{kind::complex_symmetric, "cocg", "amg"},
        complex_case{kind::complex_symmetric, "gmres", "jacobi"},
        complex_case{kind::complex_symmetric, "bicgstab"}, complex_case{kind::complex_symmetric, "idr"}));

TEST(complex_matrix, dense_ones_and_several_columns) {
  constexpr int n = 20, columns = 3;
  const eigen_matrix A = eigen_matrix::Random(n, n), X = eigen_matrix::Random(n, columns), B = A * X;
  complex_solver solver(device::cpu(1), matrix_view<const complex>{A.data(), n, n, n});
  eigen_matrix found = eigen_matrix::Zero(n, columns);
  const solve_result result = solver.solve(matrix_view<const complex>{B.data(), n, columns, n},
                                           matrix_view<complex>{found.data(), n, columns, n});
  EXPECT_EQ(result.status, solve_status::converged) << result.reason;
  EXPECT_LE((found - X).norm(), 1e-9 * X.norm());
}

TEST(complex_matrix, the_real_form_of_a_hermitian_one_is_symmetric) {
  for (const kind of : {kind::general, kind::hermitian_definite, kind::complex_symmetric}) {
    const eigen_matrix entries = random_matrix(of, 30, 3);
    const csr<complex> A = sparse(entries);
    complex_solver solver(device::cpu(1), A);
    EXPECT_EQ(solver.real().facts().symmetric, of == kind::hermitian_definite);
    EXPECT_EQ(solver.real().facts().complex_symmetric, of == kind::complex_symmetric);
    EXPECT_EQ(complex_solver(device::cpu(1), view_of(entries)).real().facts().complex_symmetric,
              of == kind::complex_symmetric);
    const complex_symmetry seen = symmetry_of(device::cpu(1), A);
    EXPECT_EQ(seen.hermitian, of == kind::hermitian_definite);
    EXPECT_EQ(seen.symmetric, of == kind::complex_symmetric);
  }
}

// (1 + i) x = 2 + 2i, swept to half a digit: both parts of x are off by the same, the modulus by more.
TEST(complex_matrix, bounds_by_dominance_are_of_moduli) {
  const device cpu = device::cpu(1);
  eigen_matrix A(2, 2);
  A << complex(2, 0), complex(0.5, 0), complex(0, 0), complex(2, 0);
  const csr<complex> entries = sparse(A);
  for (const char* method : {"jacobi", "sor"}) {
    solve_options options;
    options.method = method;
    options.omega = 0.5;
    options.goal.rtol = 1e-2;
    complex_solver S(cpu, entries.all(), options);
    const std::vector<complex> b{{2.5, 2.5}, {2, 2}};
    std::vector<complex> x(2);
    const solve_result r = S.solve(view<const complex>(b.data(), 2), view<complex>(x.data(), 2));
    ASSERT_TRUE(r.error_bound) << method << ": " << r.reason;
    for (const complex& value : x) {
      EXPECT_LE(std::abs(value - complex(1, 1)), *r.error_bound) << method;
      EXPECT_GE(std::abs(value - complex(1, 1)), 1e-5) << method;
    }
  }
}

// Modules factorise complex numbers as such; their method, library and where one of them applies the kind of matrix.
struct library_case {
  kind of;
  const char* method;
  const char* library;
};

class complex_libraries : public ::testing::TestWithParam<library_case> {
 protected:
  void SetUp() override {
    for (const sparse_backend& b : sparse_backends())
      if (b.name == GetParam().library && !b.missing.empty()) GTEST_SKIP() << b.missing;
  }
};

TEST_P(complex_libraries, solve_as_eigen_does_with_new_values_and_several_columns) {
  constexpr int n = 80, columns = 3;
  const library_case& c = GetParam();
  solve_options options;
  options.method = c.method;
  options.backend = c.library;
  options.goal.rtol = 1e-13;
  const eigen_matrix dense = random_matrix(c.of, n, 7);
  const device cpu = device::cpu(2);
  csr<double> A = real_form(cpu, sparse(dense));
  solver S(cpu, A, options);
  const eigen_matrix B = eigen_matrix::Random(n, columns);
  for (const double times : {1.0, 3.0}) {
    eigen_matrix X = eigen_matrix::Zero(n, columns);
    const solve_result result =
        S.solve(real_form(view_of(B)), real_form(matrix_view<complex>{X.data(), n, columns, n}));
    ASSERT_EQ(result.status, solve_status::converged) << result.reason;
    EXPECT_EQ(result.backend, c.library);
    EXPECT_NE(result.engine.find("complex numbers"), std::string::npos) << result.engine;
    const eigen_matrix reference = (times * dense).partialPivLu().solve(B);
    EXPECT_LE((X - reference).norm(), 1e-11 * reference.norm());
    for (double& value : A.val) value *= 3;
    S.renew(A);
  }
}

// As the estimate of the condition asks for.
TEST_P(complex_libraries, solve_with_the_conjugate_transpose) {
  constexpr int n = 40;
  const library_case& c = GetParam();
  const int factors = c.method == std::string("sparse-lu")     ? VOUCH_FACTORS_LU
                      : c.method == std::string("sparse-ldlt") ? VOUCH_FACTORS_LDLT
                                                               : VOUCH_FACTORS_CHOLESKY;
  const eigen_matrix dense = random_matrix(c.of, n, 5);
  const csr<complex> A = sparse(dense);
  const vouch_backend& library = *backends_for(factors, c.library, true).front();
  const vouch_backend_matrix matrix{
      n, n, A.row_ptr.data(), A.col.data(), reinterpret_cast<const double*>(A.val.data()), 1};
  vouch_backend_result found{};
  void* made = nullptr;
  ASSERT_EQ(library.analyse(factors, &matrix, &made, &found), VOUCH_BACKEND_DONE);
  const std::unique_ptr<void, void (*)(void*)> kept(made, library.release);
  ASSERT_EQ(library.factorise(made, &matrix, &found), VOUCH_BACKEND_DONE);
  const eigen_matrix B = eigen_matrix::Random(n, 2);
  for (const bool transposed : {false, true}) {
    eigen_matrix X(n, 2);
    ASSERT_EQ(library.solve(made, transposed, 2, reinterpret_cast<const double*>(B.data()),
                            reinterpret_cast<double*>(X.data())),
              0);
    const eigen_matrix taken = transposed ? eigen_matrix(dense.adjoint()) : dense,
                       wanted = taken.partialPivLu().solve(B);
    EXPECT_LE((X - wanted).norm(), 1e-12 * wanted.norm()) << transposed;
  }
}

INSTANTIATE_TEST_SUITE_P(modules, complex_libraries,
                         ::testing::Values(library_case{kind::general, "sparse-lu", "umfpack"},
                                           library_case{kind::general, "sparse-lu", "klu"},
                                           library_case{kind::general, "sparse-lu", "mumps"},
                                           library_case{kind::hermitian_definite, "sparse-cholesky", "cholmod"},
                                           library_case{kind::complex_symmetric, "sparse-ldlt", "mumps"}),
                         [](const auto& one) {
                           return std::string(one.param.library) + "_" + (one.param.method + 7);
                         });

TEST(complex_matrix, ldlt_is_of_symmetric_or_hermitian_ones) {
  solve_options options;
  options.method = "sparse-ldlt";
  const csr<complex> A = sparse(random_matrix(kind::general, 20, 7));
  std::vector<complex> b(20, 1), x(20);
  EXPECT_THROW(
      solve(device::cpu(1), A, view<const complex>(b.data(), 20), view<complex>(x.data(), 20), options),
      value_error);
}

TEST(complex_matrix, rank_and_inertia_are_its_own) {
  for (const sparse_backend& b : sparse_backends())
    if (b.name == "mumps" && !b.missing.empty()) GTEST_SKIP() << b.missing;
  constexpr int n = 30;
  const eigen_matrix A = random_matrix(kind::hermitian_indefinite, n, 11);
  solve_options options;
  options.method = "sparse-ldlt";
  std::vector<complex> b(n, 1), x(n);
  const solve_result result =
      solve(device::cpu(1), sparse(A), view<const complex>(b.data(), n), view<complex>(x.data(), n), options);
  const Eigen::VectorXd eigenvalues = Eigen::SelfAdjointEigenSolver<eigen_matrix>(A).eigenvalues();
  ASSERT_TRUE(result.signs);
  EXPECT_EQ(result.signs->positive, (eigenvalues.array() > 0).count());
  EXPECT_EQ(result.signs->negative, (eigenvalues.array() < 0).count());
  EXPECT_EQ(result.rank, n);
}

TEST(complex_matrix, conjugate_gradients_read_complex_numbers_and_repeat_their_bits) {
  constexpr int n = 700;
  const eigen_matrix A = random_matrix(kind::hermitian_definite, n, 5);
  const csr<complex> S = sparse(A);
  const std::vector<complex> b(n, complex(1, -2));
  solve_options options;
  options.method = "cg";
  options.goal.rtol = 1e-13;
  const Eigen::VectorXcd expected = A.llt().solve(Eigen::Map<const Eigen::VectorXcd>(b.data(), n));
  for (const auto precision :
       {working_precision::double_, working_precision::single, working_precision::mixed}) {
    options.precision = precision;
    options.goal.rtol = precision == working_precision::single ? 1e-5 : 1e-13;
    std::vector<complex> first;
    for (const int threads : {1, 2, 3}) {
      std::vector<complex> x(n);
      const solve_result result =
          solve(device::cpu(threads), S, view<const complex>(b.data(), n), view<complex>(x.data(), n), options);
      EXPECT_EQ(result.status, solve_status::converged) << result.reason;
      EXPECT_NE(result.engine.find("complex"), std::string::npos) << result.engine;
      const double error = (Eigen::Map<const Eigen::VectorXcd>(x.data(), n) - expected).norm();
      EXPECT_LE(error, 100 * *options.goal.rtol * expected.norm());
      if (first.empty()) first = x;
      EXPECT_EQ(x, first) << threads;
    }
  }
}

// A square grid on which waves are damped: real parts of both signs on the diagonal's side of the spectrum.
TEST(complex_matrix, cocg_has_the_same_bits_for_any_number_of_threads) {
  constexpr int side = 22, n = side * side;
  eigen_matrix A = eigen_matrix::Zero(n, n);
  for (int i = 0; i < n; ++i) {
    A(i, i) = complex(3.2, 0.4);
    if (i % side > 0) A(i, i - 1) = A(i - 1, i) = -1;
    if (i >= side) A(i, i - side) = A(i - side, i) = complex(-1, 0.1);
  }
  const csr<complex> S = sparse(A);
  std::vector<complex> b(n);
  for (int i = 0; i < n; ++i) b[static_cast<std::size_t>(i)] = complex(i % 7 - 3.0, i % 3);
  const Eigen::VectorXcd expected = A.partialPivLu().solve(Eigen::Map<const Eigen::VectorXcd>(b.data(), n));
  for (const char* by : {"none", "jacobi"})
    for (const auto precision : {working_precision::double_, working_precision::single}) {
      solve_options options;
      options.method = "cocg";
      options.precision = precision;
      options.preconditioner = preconditioner_choice{.name = by};
      options.goal.rtol = precision == working_precision::single ? 1e-5 : 1e-12;
      std::vector<complex> first;
      for (const int threads : {1, 2, 3}) {
        std::vector<complex> x(n);
        const solve_result result = solve(device::cpu(threads), S, view<const complex>(b.data(), n),
                                          view<complex>(x.data(), n), options);
        EXPECT_EQ(result.status, solve_status::converged) << result.reason;
        EXPECT_EQ(result.method, "cocg");
        EXPECT_EQ(result.preconditioner, by);
        const double error = (Eigen::Map<const Eigen::VectorXcd>(x.data(), n) - expected).norm();
        EXPECT_LE(error, 100 * *options.goal.rtol * expected.norm());
        if (first.empty()) first = x;
        EXPECT_EQ(x, first) << threads;
      }
    }
}

// A real Krylov space of n vectors holds no more than half of what a complex one does.
TEST(complex_matrix, gmres_has_complex_scalars) {
  constexpr int n = 40;
  eigen_matrix A = eigen_matrix::Zero(n, n);
  for (int i = 0; i < n; ++i) {
    A(i, i) = std::polar(1.0 + i, 2.4 * i);  // all round zero
    if (i > 0) A(i, i - 1) = complex(0.2, -0.1);
  }
  const Eigen::VectorXcd b = Eigen::VectorXcd::Constant(n, complex(1, -1)),
                         expected = A.partialPivLu().solve(b);
  solve_options options;
  options.method = "gmres";
  options.goal.rtol = 1e-11;
  for (const char* by : {"none", "ilu0", "ilut"}) {
    options.preconditioner = preconditioner_choice{.name = by};
    std::vector<complex> first;
    for (const int threads : {1, 2, 3}) {
      std::vector<complex> x(n);
      const solve_result result = solve(device::cpu(threads), sparse(A), view<const complex>(b.data(), n),
                                        view<complex>(x.data(), n), options);
      EXPECT_EQ(result.status, solve_status::converged) << result.reason;
      EXPECT_NE(result.engine.find("complex numbers"), std::string::npos) << by << ": " << result.engine;
      EXPECT_LE(result.iterations, std::string(by) == "none" ? n : 2) << by;
      EXPECT_LE((Eigen::Map<const Eigen::VectorXcd>(x.data(), n) - expected).norm(), 1e-9 * expected.norm());
      if (first.empty()) first = x;
      EXPECT_EQ(x, first) << threads;
    }
  }
}

// Eigenvalues in a disc of radius 1 about 4i: with real scalars there would be another about -4i.
TEST(complex_matrix, short_recurrences_have_complex_scalars) {
  constexpr int n = 1500;
  std::vector<std::int32_t> row, col;
  std::vector<complex> val;
  for (int i = 0; i < n; ++i)
    for (const int j : {i, (i + 1) % n, (i + 37) % n}) {
      row.push_back(i);
      col.push_back(j);
      val.push_back(i == j ? complex(0, 4) : std::polar(0.5, 6.3 * random_unit(9, row.size())));
    }
  const device cpu = device::cpu(1);
  const csr<complex> A =
      to_csr(cpu, complex_coo{n, n, symmetry::general, array<std::int32_t>::from(cpu, row),
                              array<std::int32_t>::from(cpu, col), array<complex>::from(cpu, val)});
  const std::vector<complex> b(n, complex(1, -1));
  for (const char* method : {"bicgstab", "idr"})
    for (const char* by : {"none", "jacobi", "ilu0"})
      for (const auto precision : {working_precision::double_, working_precision::single}) {
        solve_options options;
        options.method = method;
        options.precision = precision;
        options.preconditioner = preconditioner_choice{.name = by};
        options.goal.rtol = precision == working_precision::single ? 1e-5 : 1e-12;
        std::vector<complex> first;
        for (const int threads : {1, 2, 3}) {
          std::vector<complex> x(n);
          const solve_result result = solve(device::cpu(threads), A, view<const complex>(b.data(), n),
                                            view<complex>(x.data(), n), options);
          EXPECT_EQ(result.status, solve_status::converged) << result.reason;
          EXPECT_NE(result.engine.find("complex numbers"), std::string::npos) << result.engine;
          EXPECT_LE(result.iterations, 30) << method << ' ' << by;
          if (first.empty()) first = x;
          EXPECT_EQ(x, first) << method << ' ' << by << ' ' << threads;
        }
        double error = 0;
        for (int i = 0; i < n; ++i) {
          complex r = b[static_cast<std::size_t>(i)];
          for (std::int64_t k = A.row_ptr[i]; k < A.row_ptr[i + 1]; ++k)
            r -= A.val[k] * first[static_cast<std::size_t>(A.col[k])];
          error += std::norm(r);
        }
        EXPECT_LE(std::sqrt(error), 1.01 * *options.goal.rtol * std::sqrt(2.0 * n)) << method << ' ' << by;
      }
}

// A grid of conductors in series with coils, earthed at one corner.
TEST(complex_matrix, multigrid_of_moduli_takes_few_iterations_at_any_size) {
  for (const int side : {20, 60}) {
    const int n = side * side;
    std::vector<std::int32_t> row{0}, col{0};
    std::vector<complex> val{1};
    const auto connect = [&](int i, int j) {
      const complex y = 1.0 / complex(0.2 + random_unit(5, row.size()), random_unit(6, row.size()));
      for (const auto& [a, c, value] : {std::tuple{i, i, y}, {j, j, y}, {i, j, -y}, {j, i, -y}}) {
        row.push_back(a);
        col.push_back(c);
        val.push_back(value);
      }
    };
    for (int i = 0; i < n; ++i) {
      if (i % side + 1 < side) connect(i, i + 1);
      if (i + side < n) connect(i, i + side);
    }
    const device cpu = device::cpu(1);
    const csr<complex> A =
        to_csr(cpu, complex_coo{n, n, symmetry::general, array<std::int32_t>::from(cpu, row),
                                array<std::int32_t>::from(cpu, col), array<complex>::from(cpu, val)});
    std::vector<complex> b(static_cast<std::size_t>(n));
    for (int i = 0; i < n; ++i) b[static_cast<std::size_t>(i)] = complex(i % 7 - 3.0, i % 5);
    for (const char* method : {"cocg", "gmres", "bicgstab", "idr", "fgmres"}) {
      solve_options options;
      options.method = method;
      options.preconditioner = preconditioner_choice{.name = "amg"};
      std::vector<complex> x(b.size());
      const solve_result result =
          solve(cpu, A, view<const complex>(b.data(), n), view<complex>(x.data(), n), options);
      EXPECT_EQ(result.status, solve_status::converged) << method << ": " << result.reason;
      EXPECT_LE(result.iterations, 40) << method << ", " << side;
      EXPECT_NE(result.engine.find("complex numbers"), std::string::npos) << result.engine;
      EXPECT_NE(result.preconditioner.find("moduli"), std::string::npos) << result.preconditioner;
    }
  }
}

// Too many rows for the whole system to stay on chip, in a pattern that diagonals do not hold.
TEST(complex_matrix, every_device_finds_the_same) {
  const device cpu = device::cpu(2);
  constexpr int n = 60000;
  std::vector<std::int32_t> row, col;
  std::vector<complex> val;
  for (int i = 0; i < n; ++i)
    for (const int j :
         {i, i + 1, i + 2 + static_cast<int>(random_unit(4, static_cast<std::uint64_t>(i)) * 20000)}) {
      if (j >= n) continue;
      row.push_back(i);
      col.push_back(j);
      val.push_back(i == j ? complex(8, 0) : complex(0.3, random_unit(3, static_cast<std::uint64_t>(i)) - 0.5));
    }
  for (const bool hermitian : {true, false}) {
    const csr<complex> A =
        to_csr(cpu, complex_coo{n, n, symmetry::general, array<std::int32_t>::from(cpu, mirrored(row, col)),
                                array<std::int32_t>::from(cpu, mirrored(col, row)),
                                array<complex>::from(cpu, mirrored_values(row, col, val, hermitian))});
    const std::vector<complex> b(n, complex(1, 2));
    const view<const complex> rhs(b.data(), n);
    for (const char* method : {hermitian ? "cg" : "cocg", "gmres", hermitian ? "bicgstab" : "idr"})
      for (const auto precision : {working_precision::double_, working_precision::single}) {
        solve_options options;
        options.method = method;
        options.precision = precision;
        options.goal.rtol = precision == working_precision::single ? 1e-5 : 1e-12;
        std::vector<complex> first;
        for (const device& dev : testing::devices()) {
          std::vector<complex> x(n);
          options.run_on = dev;
          const solve_result result = solve(cpu, A, rhs, view<complex>(x.data(), n), options);
          EXPECT_EQ(result.status, solve_status::converged) << method << ": " << result.reason;
          EXPECT_EQ(result.where.is_cuda(), dev.is_cuda());
          if (first.empty()) first = x;
          const Eigen::Map<const Eigen::VectorXcd> here(first.data(), n), there(x.data(), n);
          EXPECT_LE((here - there).norm(), 100 * *options.goal.rtol * here.norm())
              << method << ' ' << result.engine;
        }
      }
  }
}

// r^T r = 0 for r = (1, i), and A r is in the same direction.
TEST(complex_matrix, cocg_says_so_where_it_breaks_down) {
  eigen_matrix A = 2 * eigen_matrix::Identity(2, 2);
  A(0, 0) = A(1, 1) = complex(2, 1);
  const std::vector<complex> b{1, complex(0, 1)};
  std::vector<complex> x(2);
  solve_options options;
  options.method = "cocg";
  const solve_result result =
      solve(device::cpu(1), sparse(A), view<const complex>(b.data(), 2), view<complex>(x.data(), 2), options);
  EXPECT_EQ(result.status, solve_status::breakdown) << result.reason;
}

TEST(complex_matrix, cocg_solves_at_every_scale) {
  constexpr int n = 60;
  const eigen_matrix A = random_matrix(kind::complex_symmetric, n, 7);
  const Eigen::VectorXcd expected = random_matrix(kind::general, n, 8).rowwise().sum();
  for (const double scale : {1e-300, 1e-160, 1e160, 1e300})
    for (const char* precondition : {"none", "jacobi", "amg"}) {
      const eigen_matrix scaled = scale * A;
      const Eigen::VectorXcd b = scaled * expected;
      std::vector<complex> x(n);
      solve_options options;
      options.method = "cocg";
      options.goal.rtol = 1e-12;
      options.preconditioner = preconditioner_choice{.name = precondition};
      const solve_result result = solve(device::cpu(1), sparse(scaled), view<const complex>(b.data(), n),
                                        view<complex>(x.data(), n), options);
      EXPECT_EQ(result.status, solve_status::converged) << scale << precondition << result.reason;
      const Eigen::Map<const Eigen::VectorXcd> found(x.data(), n);
      EXPECT_LE((found - expected).norm(), 1e-10 * expected.norm()) << scale << precondition;
    }
}

// The identity, which counts.
class counting final : public preconditioner<double> {
 public:
  void apply(const device&, view<const double> r, view<double> z) const override {
    ++applied;
    std::copy(r.data(), r.data() + r.size(), z.data());
  }
  std::string name() const override { return "counting"; }

  mutable int applied = 0;
};

TEST(complex_matrix, a_preconditioner_is_tried_once) {
  constexpr int n = 40;
  const csr<complex> A = sparse(random_matrix(kind::complex_symmetric, n, 7));
  const std::vector<complex> b(n, complex(1, 2));
  for (const auto& [method, tries] : {std::pair{"cocg", 4}, std::pair{"gmres", 2}}) {
    const counting M;
    solve_options options;
    options.method = method;
    options.own_preconditioner = &M;
    complex_solver solver(device::cpu(1), A, options);
    int before = 0, first = 0;
    for (const bool again : {false, true}) {
      std::vector<complex> x(n);
      const solve_result result = solver.solve(view<const complex>(b.data(), n), view<complex>(x.data(), n));
      EXPECT_EQ(result.status, solve_status::converged) << result.reason;
      const int applied = M.applied - std::exchange(before, M.applied);
      if (again) {
        EXPECT_EQ(applied, first - tries) << method;
      }
      first = applied;
    }
  }
}

TEST(complex_matrix, cocg_refuses_what_is_not_complex_symmetric) {
  solve_options options;
  options.method = "cocg";
  const std::vector<complex> b(20, 1);
  std::vector<complex> x(20);
  const auto refusal = [&](const eigen_matrix& A) -> std::string {
    try {
      solve(device::cpu(1), sparse(A), view<const complex>(b.data(), 20), view<complex>(x.data(), 20), options);
    } catch (const value_error& e) {
      return e.what();
    }
    return "";
  };
  EXPECT_NE(refusal(random_matrix(kind::general, 20, 3)).find("not complex symmetric"), std::string::npos);
  EXPECT_NE(refusal(random_matrix(kind::hermitian_definite, 20, 3)).find("Hermitian, not complex symmetric"),
            std::string::npos);
  eigen_matrix A = random_matrix(kind::complex_symmetric, 20, 3);
  options.preconditioner = preconditioner_choice{.name = "jacobi"};
  A(4, 4) = 0;
  EXPECT_NE(refusal(A).find("diagonal entry of row 5"), std::string::npos) << refusal(A);
  options.preconditioner = preconditioner_choice{.name = "ilu0"};
  EXPECT_NE(refusal(A).find("has to be complex symmetric"), std::string::npos) << refusal(A);
}

TEST(complex_matrix, conjugate_gradients_refuse_what_is_not_hermitian) {
  const csr<complex> A = sparse(random_matrix(kind::complex_symmetric, 20, 3));
  const std::vector<complex> b(20, 1);
  std::vector<complex> x(20);
  solve_options options;
  options.method = "cg";
  try {
    solve(device::cpu(1), A, view<const complex>(b.data(), 20), view<complex>(x.data(), 20), options);
    FAIL();
  } catch (const value_error& e) {
    EXPECT_NE(std::string(e.what()).find("not symmetric"), std::string::npos) << e.what();
  }
}

TEST(complex_matrix, what_is_none_is_refused) {
  csr<complex> bad = sparse(eigen_matrix::Ones(2, 2));
  bad.col[1] = 7;
  EXPECT_THROW(complex_solver(device::cpu(1), bad), value_error);
  csr<complex> nan = sparse(eigen_matrix::Ones(2, 2));
  nan.val[1] = complex(1, NAN);
  std::vector<complex> b{1, 1}, x{0, 0};
  EXPECT_THROW(solve(device::cpu(1), nan, view<const complex>(b.data(), 2), view<complex>(x.data(), 2)),
               value_error);
}

// L D L^T of the first, L L^H of the second.
TEST(complex_elimination, is_predicted_as_libraries_do_it) {
  const device cpu = device::cpu(1);
  for (const auto& [problem, kind] :
       {std::pair{"helmholtz", VOUCH_FACTORS_LDLT}, std::pair{"magnetic-poisson", VOUCH_FACTORS_CHOLESKY}}) {
    if (!is_backend_there(kind)) continue;
    const csr<complex> A = generate_complex(cpu, problem, {.nx = 64});
    const csr<double> parts = real_form(cpu, A);
    operand given(cpu, parts.all());
    given.complete_facts({});
    const double work = given.elimination_work();
    const csr<double> pattern{A.rows, A.cols, array<std::int64_t>::from(cpu, A.row_ptr.to_vector()),
                              array<std::int32_t>::from(cpu, A.col.to_vector()),
                              array<double>::zeros(cpu, A.nonzeros())};
    const auto cost_of = [&](const csr<double>& M) {
      return predict_elimination<double>(M, minimum_degree<double>(cpu, M), std::int64_t{1} << 27);
    };
    const elimination_cost expected = cost_of(pattern), of_parts = cost_of(parts);
    const system_facts& facts = given.facts();
    ASSERT_TRUE(facts.elimination) << problem;
    EXPECT_EQ(facts.elimination->entries, 2 * expected.entries) << problem;
    EXPECT_EQ(facts.elimination->flops, 4 * expected.flops) << problem;
    EXPECT_EQ(facts.complex_nonzeros, A.nonzeros()) << problem;
    EXPECT_EQ(work, elimination_work(*facts.elimination, A.nonzeros(), eliminator::library)) << problem;
    EXPECT_LT(work, 0.6 * elimination_work(of_parts, parts.nonzeros(), eliminator::library)) << problem;
  }
  // Vouch's own factors are of the real form, and so are those of real matrices.
  const csr<complex> A = generate_complex(cpu, "helmholtz", {.nx = 12});
  const csr<double> parts = real_form(cpu, A);
  operand small(cpu, parts.all());
  small.complete_facts({.backend = "own"});
  EXPECT_EQ(small.facts().complex_nonzeros, 0);
}

}  // namespace
}  // namespace vouch
