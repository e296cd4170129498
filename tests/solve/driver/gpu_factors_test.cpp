// The front door with cuDSS, the real one, on a GPU: skipped, by name, where one of them is not there.
#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <string>
#include <vector>

#include <Eigen/Dense>

#include <vouch/core/error.hpp>
#include <vouch/generate/problems.hpp>
#include <vouch/generate/solution.hpp>
#include <vouch/solve/complex.hpp>
#include <vouch/solve/direct/sparse_backends.hpp>
#include <vouch/solve/solver.hpp>

#include "../../devices.hpp"
#include "../complex_systems.hpp"
#include "../systems.hpp"

namespace vouch {
namespace {

using testing::sparse;

const device cpu = device::cpu(2);

class gpu_factors_test : public ::testing::Test {
 protected:
  void SetUp() override {
    VOUCH_NEEDS_GPU();
    if (const sparse_backend& last = sparse_backends().back(); !last.missing.empty())
      GTEST_SKIP() << last.missing;
    gpu = testing::gpus().front();
  }
  solve_options options(const char* method) const {
    solve_options how;
    how.method = method;
    how.run_on = gpu;
    how.goal.rtol = 1e-13;
    return how;
  }

  device gpu = device::cpu(1);
};

// Symmetric, of either sign: grid(m) with a diagonal that is less.
csr<double> shifted(std::int32_t m, double shift) {
  csr<double> A = testing::laplacian(m);
  for (std::int64_t i = 0; i < A.rows; ++i)
    for (std::int64_t k = A.row_ptr[i]; k < A.row_ptr[i + 1]; ++k)
      if (A.col[k] == i) A.val[k] -= shift;
  return A;
}

csr<double> unsymmetric(std::int32_t m) {
  csr<double> A = testing::laplacian(m);
  for (std::int64_t i = 0; i < A.rows; ++i)
    for (std::int64_t k = A.row_ptr[i]; k < A.row_ptr[i + 1]; ++k)
      if (A.col[k] > i) A.val[k] *= 0.5;
  return A;
}

Eigen::MatrixXd densify(const csr<double>& A) {
  Eigen::MatrixXd dense = Eigen::MatrixXd::Zero(A.rows, A.cols);
  for (std::int64_t i = 0; i < A.rows; ++i)
    for (std::int64_t k = A.row_ptr[i]; k < A.row_ptr[i + 1]; ++k) dense(i, A.col[k]) = A.val[k];
  return dense;
}

TEST_F(gpu_factors_test, methods_solve_as_eigen_does_with_operands_anywhere) {
  for (const std::int32_t m : {1, 2, 13}) {
    struct one {
      const char* method;
      csr<double> A;
    };
    std::vector<one> all;
    all.push_back({"sparse-cholesky", testing::laplacian(m)});
    all.push_back({"sparse-ldlt", shifted(m, 0.37)});
    all.push_back({"sparse-lu", unsymmetric(m)});
    for (const one& system : all) {
      const csr<double>& A = system.A;
      const std::vector<double> b = testing::random_vector(A.rows, 3);
      const Eigen::VectorXd wanted =
          densify(A).partialPivLu().solve(Eigen::Map<const Eigen::VectorXd>(b.data(), A.rows));
      const csr<double> there = copy(gpu, cpu, A.all());
      for (const bool on_gpu : {false, true}) {
        std::vector<double> x(b.size());
        const view<const double> rhs(b.data(), A.rows);
        const view<double> found(x.data(), A.rows);
        const solve_result result = on_gpu ? solve(gpu, there.all(), rhs, found, options(system.method))
                                           : solve(cpu, A.all(), rhs, found, options(system.method));
        ASSERT_EQ(result.status, solve_status::converged) << system.method << ' ' << m << ' ' << result.reason;
        EXPECT_EQ(result.backend, "cudss");
        EXPECT_TRUE(result.reproducible);
        for (std::int64_t i = 0; i < A.rows; ++i)
          EXPECT_NEAR(x[static_cast<std::size_t>(i)], wanted[i], 1e-9 * (1 + wanted.cwiseAbs().maxCoeff()));
      }
    }
  }
}

using complex = std::complex<double>;

// Hermitian, definite or not, complex symmetric, or neither.
Eigen::MatrixXcd complex_matrix(const std::string& what, int n) {
  Eigen::MatrixXcd A = Eigen::MatrixXcd::Zero(n, n);
  const std::vector<double> v = testing::random_vector(6 * n, 4);
  const auto number = [&](int i, int k) {
    return complex(v[static_cast<std::size_t>(k * n + i)], v[static_cast<std::size_t>((k + 1) * n + i)]);
  };
  const bool hermitian = what == "definite" || what == "indefinite";
  for (int i = 0; i < n; ++i)
    for (const int j : {i - 1, i - 9, (5 * i) % n}) {
      if (j < 0 || j >= i) continue;
      A(i, j) = number(i, j % 3);
      A(j, i) = hermitian ? std::conj(A(i, j)) : what == "symmetric" ? A(i, j) : number(i, 3);
    }
  for (int i = 0; i < n; ++i) {
    const double size = A.row(i).cwiseAbs().sum() + 1;
    A(i, i) = hermitian ? complex(what == "indefinite" && i % 3 == 0 ? -size : size) : complex(1, size);
  }
  return A;
}

TEST_F(gpu_factors_test, complex_numbers_are_factorised_as_such) {
  constexpr int n = 300;
  struct one {
    const char *method, *what;
  };
  for (const one& c : {one{"sparse-cholesky", "definite"}, one{"sparse-ldlt", "indefinite"},
                       one{"sparse-ldlt", "symmetric"}, one{"sparse-lu", "general"}}) {
    const Eigen::MatrixXcd dense = complex_matrix(c.what, n);
    const csr<complex> A = sparse(dense);
    const Eigen::VectorXcd b = Eigen::VectorXcd::Random(n), wanted = dense.partialPivLu().solve(b);
    for (const working_precision p :
         {working_precision::double_, working_precision::mixed, working_precision::single}) {
      solve_options how = options(c.method);
      how.precision = p;
      const bool single = p == working_precision::single;
      how.goal.rtol = single ? 1e-5 : 1e-13;
      complex_solver S(cpu, A.all(), how);
      std::vector<complex> first;
      for (int k = 0; k < 5; ++k) {
        Eigen::VectorXcd x = Eigen::VectorXcd::Zero(n);
        const solve_result result = S.solve(view<const complex>(b.data(), n), view<complex>(x.data(), n));
        ASSERT_EQ(result.status, solve_status::converged) << c.what << ' ' << name(p) << ' ' << result.reason;
        EXPECT_NE(result.engine.find("complex numbers"), std::string::npos) << result.engine;
        EXPECT_TRUE(result.reproducible);
        EXPECT_LE((x - wanted).norm(), (single ? 1e-3 : 1e-10) * wanted.norm()) << c.what << ' ' << name(p);
        if (c.what == std::string("indefinite")) {
          ASSERT_TRUE(result.signs.has_value()) << result.engine;
          EXPECT_EQ(result.signs->negative, n / 3);
          EXPECT_EQ(result.signs->positive, n - n / 3);
        }
        const std::vector<complex> bits(x.data(), x.data() + n);
        if (k == 0) first = bits;
        EXPECT_EQ(bits, first) << c.what;
      }
    }
  }
}

// As many as one solve is made for take factors whose bits differ.
TEST_F(gpu_factors_test, many_columns_are_solved_for_at_once) {
  const csr<double> spd = testing::laplacian(20), any = unsymmetric(20);
  constexpr std::int64_t columns = 19;
  const std::vector<double> B = testing::random_vector(columns * any.rows, 5);
  for (const char* method : {"sparse-cholesky", "sparse-ldlt", "sparse-lu"}) {
    const csr<double>& A = method == std::string("sparse-lu") ? any : spd;
    const Eigen::MatrixXd wanted =
        densify(A).partialPivLu().solve(Eigen::Map<const Eigen::MatrixXd>(B.data(), A.rows, columns));
    for (const working_precision p : {working_precision::double_, working_precision::mixed}) {
      solve_options how = options(method);
      how.precision = p;
      solver S(cpu, A.all(), how);
      const auto solve_for = [&](std::int64_t count) {
        std::vector<double> X(static_cast<std::size_t>(count * A.rows));
        const solve_result result = S.solve(matrix_view<const double>{B.data(), A.rows, count, A.rows},
                                            matrix_view<double>{X.data(), A.rows, count, A.rows});
        EXPECT_EQ(result.status, solve_status::converged) << result.reason;
        EXPECT_TRUE(result.error_estimate.has_value());
        for (std::int64_t j = 0; j < count; ++j)
          for (std::int64_t i = 0; i < A.rows; ++i)
            EXPECT_NEAR(X[static_cast<std::size_t>(j * A.rows + i)], wanted(i, j),
                        1e-9 * (1 + wanted.cwiseAbs().maxCoeff()));
        return result.reproducible;
      };
      EXPECT_TRUE(solve_for(3)) << method;
      EXPECT_FALSE(solve_for(columns)) << method;
      EXPECT_FALSE(solve_for(1)) << method;
    }
  }
}

TEST_F(gpu_factors_test, precisions_and_their_verdicts) {
  const csr<double> A = testing::laplacian(20);
  const std::vector<double> b = testing::random_vector(A.rows, 3);
  const Eigen::VectorXd wanted = densify(A).llt().solve(Eigen::Map<const Eigen::VectorXd>(b.data(), A.rows));
  for (const working_precision p : {working_precision::single, working_precision::mixed})
    for (const char* method : {"sparse-cholesky", "sparse-ldlt", "sparse-lu"}) {
      solve_options how = options(method);
      how.precision = p;
      const bool mixed = p == working_precision::mixed;
      how.goal.rtol = mixed ? 1e-13 : 1e-5;
      std::vector<double> x(b.size());
      const solve_result result =
          solve(cpu, A.all(), view<const double>(b.data(), A.rows), view<double>(x.data(), A.rows), how);
      ASSERT_EQ(result.status, solve_status::converged) << method << ' ' << result.reason;
      EXPECT_EQ(result.precision, name(p));
      for (std::int64_t i = 0; i < A.rows; ++i)
        EXPECT_NEAR(x[static_cast<std::size_t>(i)], wanted[i],
                    (mixed ? 1e-10 : 1e-3) * wanted.cwiseAbs().maxCoeff());
    }
}

TEST_F(gpu_factors_test, the_same_bits_with_new_handles_new_values_and_other_threads) {
  for (const char* method : {"sparse-cholesky", "sparse-lu"}) {
    const csr<double> A = generate_problem(cpu, "poisson-3d", {.nx = 14});
    const array<double> b = right_hand_side(cpu, A, make_solution(cpu, known_solution::random, A.rows));
    std::vector<double> first;
    for (int k = 0; k < 20; ++k) {
      const device host = device::cpu(1 + k % 4);
      solver S(host, A.all(), options(method));
      array<double> x = array<double>::zeros(cpu, A.rows);
      ASSERT_EQ(S.solve(b.all(), x.all()).status, solve_status::converged);
      if (k == 0) first = x.to_vector();
      EXPECT_EQ(x.to_vector(), first) << method << ' ' << k;
      S.renew(A.all());
      array<double> again = array<double>::zeros(cpu, A.rows);
      ASSERT_EQ(S.solve(b.all(), again.all()).status, solve_status::converged);
      EXPECT_EQ(again.to_vector(), first) << method << ' ' << k;
    }
  }
}

TEST_F(gpu_factors_test, new_values_on_an_old_order_and_several_columns) {
  csr<double> A = unsymmetric(15);
  solver S(cpu, A.all(), options("sparse-lu"));
  constexpr std::int64_t columns = 3;
  const std::vector<double> B = testing::random_vector(columns * A.rows, 5);
  for (int step = 0; step < 3; ++step) {
    std::vector<double> X(B.size());
    const solve_result result = S.solve(matrix_view<const double>{B.data(), A.rows, columns, A.rows},
                                        matrix_view<double>{X.data(), A.rows, columns, A.rows});
    ASSERT_EQ(result.status, solve_status::converged) << result.reason;
    const Eigen::MatrixXd wanted =
        densify(A).partialPivLu().solve(Eigen::Map<const Eigen::MatrixXd>(B.data(), A.rows, columns));
    for (std::int64_t j = 0; j < columns; ++j)
      for (std::int64_t i = 0; i < A.rows; ++i)
        EXPECT_NEAR(X[static_cast<std::size_t>(j * A.rows + i)], wanted(i, j),
                    1e-9 * (1 + wanted.cwiseAbs().maxCoeff()));
    for (std::int64_t k = 0; k < A.nonzeros(); ++k) A.val[k] *= 1 + 0.05 * static_cast<double>(k % 4);
    S.renew(A.all());
  }
}

TEST_F(gpu_factors_test, pivots_count_eigenvalues) {
  for (const double shift : {0.0, 0.37, 2.51, 9.0}) {
    const csr<double> A = shifted(12, shift);
    const Eigen::VectorXd values = Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd>(densify(A)).eigenvalues();
    const std::vector<double> b = testing::random_vector(A.rows, 1);
    std::vector<double> x(b.size());
    const solve_result result = solve(cpu, A.all(), view<const double>(b.data(), A.rows),
                                      view<double>(x.data(), A.rows), options("sparse-ldlt"));
    ASSERT_EQ(result.status, solve_status::converged) << shift << ' ' << result.reason;
    ASSERT_TRUE(result.signs.has_value()) << shift;
    EXPECT_EQ(result.signs->negative, (values.array() < 0).count()) << shift;
    EXPECT_EQ(result.signs->positive, (values.array() > 0).count()) << shift;
  }
}

// Constraints have zeros on the diagonal.
TEST_F(gpu_factors_test, saddle_points_are_solved) {
  constexpr std::int32_t unknowns = 3000, constraints = 200;
  const std::vector<double> v = testing::random_vector(3 * unknowns, 1);
  std::vector<testing::triplet> entries;
  const auto add = [&](std::int32_t i, std::int32_t j, double value) {
    entries.push_back({i, j, value});
    if (i != j) entries.push_back({j, i, value});
  };
  for (std::int32_t i = 0; i < unknowns; ++i) {
    add(i, i, 3 + v[static_cast<std::size_t>(i)]);
    if (i > 0) add(i, i - 1, 0.5 * v[static_cast<std::size_t>(unknowns + i)]);
    add(unknowns + i % constraints, i, 1.5 + v[static_cast<std::size_t>(2 * unknowns + i)]);
  }
  const csr<double> A = testing::from_triplets(unknowns + constraints, entries);
  const array<double> b = right_hand_side(cpu, A, make_solution(cpu, known_solution::random, A.rows));
  array<double> x = array<double>::zeros(cpu, A.rows);
  const solve_result result = solve(cpu, A.all(), b.all(), x.all(), options("sparse-ldlt"));
  EXPECT_EQ(result.status, solve_status::converged) << result.reason;
  ASSERT_TRUE(result.signs.has_value()) << result.engine;
  EXPECT_EQ(result.signs->positive, unknowns);
  EXPECT_EQ(result.signs->negative, constraints);
}

TEST_F(gpu_factors_test, says_what_it_cannot_solve) {
  const std::vector<double> b = testing::random_vector(144, 1);
  std::vector<double> x(b.size());
  const auto status = [&](const char* method, const csr<double>& A) {
    std::fill(x.begin(), x.end(), 0.0);
    return solve(cpu, A.all(), view<const double>(b.data(), A.rows), view<double>(x.data(), A.rows),
                 options(method))
        .status;
  };
  EXPECT_EQ(status("sparse-cholesky", shifted(12, 0.37)), solve_status::not_spd);
  csr<double> empty = unsymmetric(12);
  for (std::int64_t k = empty.row_ptr[7]; k < empty.row_ptr[8]; ++k) empty.val[k] = 0;
  EXPECT_NE(status("sparse-lu", empty), solve_status::converged);
  csr<double> broken = unsymmetric(12);
  broken.val[3] = std::nan("");
  EXPECT_THROW(status("sparse-lu", broken), value_error);
}

TEST_F(gpu_factors_test, are_what_auto_ends_with_on_a_gpu) {
  // No iteration without a preconditioner solves it to that tolerance.
  const csr<double> A = shifted(30, 2.51);
  const array<double> b = right_hand_side(cpu, A, make_solution(cpu, known_solution::random, A.rows));
  array<double> x = array<double>::zeros(cpu, A.rows);
  solve_options how = options("auto");
  how.goal.rtol = 1e-12;
  const solve_result result = solve(cpu, A.all(), b.all(), x.all(), how);
  EXPECT_EQ(result.status, solve_status::converged) << result.reason;
  how.backend = "cudss";
  x = array<double>::zeros(cpu, A.rows);
  const solve_result named = solve(cpu, A.all(), b.all(), x.all(), how);
  EXPECT_EQ(named.status, solve_status::converged) << named.reason;
  EXPECT_EQ(named.backend, "cudss");
}

TEST(gpu_back_end, is_for_gpus) {
  const csr<double> A = testing::laplacian(8);
  const std::vector<double> b = testing::random_vector(A.rows, 1);
  std::vector<double> x(b.size());
  const view<const double> rhs(b.data(), A.rows);
  const view<double> found(x.data(), A.rows);
  for (const char* method : {"auto", "sparse-cholesky", "sparse-lu"}) {
    solve_options how;
    how.method = method;
    how.backend = "cudss";
    how.run_on = cpu;
    EXPECT_THROW(solve(cpu, A.all(), rhs, found, how), value_error) << method;
    how.run_on.reset();
    if (!device::best().is_cuda()) {
      EXPECT_THROW(solve(cpu, A.all(), rhs, found, how), no_cuda_error) << method;
    }
  }
  solve_options own;
  own.backend = "own";
  ASSERT_TRUE(find_refused_option(own, true).has_value());
  EXPECT_EQ(find_refused_option(own, true)->option, "backend own");
  own.backend = "cudss";
  EXPECT_FALSE(find_refused_option(own, true).has_value());
}

}  // namespace
}  // namespace vouch
