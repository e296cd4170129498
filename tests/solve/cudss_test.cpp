// cuDSS's factors as we use them, with a mock of the library that works on the CPU: against Eigen, and what is made of a
// library that fails or lies. What the real one does is for driver/gpu_factors_test.cpp.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include <Eigen/Dense>

#include <vouch/core/cancellation.hpp>
#include <vouch/core/error.hpp>
#include <vouch/core/random.hpp>
#include <vouch/solve/complex.hpp>
#include <vouch/solve/direct/cudss/library.hpp>
#include <vouch/solve/direct/gpu_factors.hpp>
#include <vouch/solve/direct/sparse_backends.hpp>
#include <vouch/solve/driver/operand.hpp>
#include <vouch/solve/plan.hpp>

#include "systems.hpp"

namespace vouch {
namespace {

// Before the library is looked for.
const int named = setenv("VOUCH_CUDSS", VOUCH_MOCK_CUDSS, 1);
const device cpu = device::cpu(1);

// What the mock does wrong while this lives.
class fault {
 public:
  explicit fault(const char* which) { setenv("MOCK_CUDSS", which, 1); }
  ~fault() { unsetenv("MOCK_CUDSS"); }
};

// What the mock has counted.
int counted(const char* what) { return cudss::library().find<int()>(what)(); }

// Not symmetric, with a zero on the diagonal.
csr<double> any_matrix(std::int32_t n, std::uint64_t seed) {
  std::vector<testing::triplet> entries;
  const std::vector<double> v = testing::random_vector(3 * n, seed);
  for (std::int32_t i = 0; i < n; ++i) {
    entries.push_back({i, i, i == 0 && n > 1 ? 0 : v[static_cast<std::size_t>(i)]});
    if (n > 1) entries.push_back({i, (i + 1) % n, 2.5 + v[static_cast<std::size_t>(n + i)]});
    const std::int32_t j = (7 * i + 3) % n;
    if (j != i && j != (i + 1) % n) entries.push_back({i, j, v[static_cast<std::size_t>(2 * n + i)]});
  }
  return testing::from_triplets(n, entries);
}

csr<double> indefinite(std::int32_t n, std::int32_t negative, std::uint64_t seed) {
  csr<double> A = testing::random_spd(n, 3, seed);
  for (std::int64_t i = 0; i < negative; ++i)
    for (std::int64_t k = A.row_ptr[i]; k < A.row_ptr[i + 1]; ++k)
      if (A.col[k] == i) A.val[k] = -A.val[k];
  return A;
}

Eigen::MatrixXd densify(const csr<double>& A) {
  Eigen::MatrixXd dense = Eigen::MatrixXd::Zero(A.rows, A.cols);
  for (std::int64_t i = 0; i < A.rows; ++i)
    for (std::int64_t k = A.row_ptr[i]; k < A.row_ptr[i + 1]; ++k) dense(i, A.col[k]) = A.val[k];
  return dense;
}

solve_report solve(gpu_factors<double, double>& factors, const csr<double>& A, const std::vector<double>& b,
                   std::vector<double>& x, const stopping_criterion& goal = {}) {
  x.assign(b.size(), 0.0);
  const auto n = static_cast<std::int64_t>(b.size());
  return factors.solve("sparse-lu", A.all(), 1, {b.data(), n}, {x.data(), n}, goal).front();
}

solve_report solve(cudss::kind which, const csr<double>& A) {
  gpu_factors<double, double> factors(cpu, which, A.all(), {});
  std::vector<double> x;
  return solve(factors, A, testing::random_vector(A.rows, 1), x);
}

TEST(cudss, is_found_where_it_is_named) {
  EXPECT_TRUE(cudss::is_installed());
  EXPECT_EQ(cudss::missing(), "");
  EXPECT_EQ(cudss::name(), "cuDSS 1.2.3");
  const sparse_backend& listed = sparse_backends().back();
  EXPECT_EQ(listed.name, "cudss");
  EXPECT_EQ(listed.library, "cuDSS 1.2.3");
  EXPECT_TRUE(listed.on_gpu);
  EXPECT_EQ(find_sparse_backend("cudss")->library, "cuDSS 1.2.3");
  EXPECT_EQ(find_sparse_backend("own")->missing, "");
  EXPECT_FALSE(find_sparse_backend("auto").has_value());
}

TEST(cudss, is_what_auto_has_behind_iterations) {
  const csr<double> A = testing::laplacian(120);
  operand asked(cpu, A.all());
  solve_options how;
  how.backend = "cudss";
  asked.complete_facts(how);
  system_facts facts = asked.facts();
  EXPECT_TRUE(facts.factorised_on_gpu);
  std::vector<std::string> plan;
  for (const attempt& a : make_plan(facts, {})) plan.emplace_back(a.method->name);
  EXPECT_EQ(plan.front(), "cg");
  EXPECT_EQ(plan.back(), "sparse-lu");
  EXPECT_EQ(missing_elimination(facts, {}), "");
}

TEST(cudss, factors_of_every_kind_solve_as_eigen_does) {
  for (const cudss::kind which : {cudss::kind::cholesky, cudss::kind::ldlt, cudss::kind::lu})
    for (const std::int32_t n : {1, 2, 40}) {
      const csr<double> A = which == cudss::kind::cholesky ? testing::random_spd(n, 3, 5)
                            : which == cudss::kind::ldlt   ? indefinite(n, n / 3, 6)
                                                           : any_matrix(n, 7);
      gpu_factors<double, double> factors(cpu, which, A.all(), {});
      const std::vector<double> b = testing::random_vector(n, 8);
      std::vector<double> x;
      const solve_report report = solve(factors, A, b, x, {.rtol = 1e-13});
      ASSERT_EQ(report.status, solve_status::converged) << report.reason;
      EXPECT_EQ(report.backend, "cudss");
      EXPECT_TRUE(report.reproducible);
      EXPECT_NE(report.engine.find("cuDSS 1.2.3"), std::string::npos) << report.engine;
      const Eigen::VectorXd wanted =
          densify(A).partialPivLu().solve(Eigen::Map<const Eigen::VectorXd>(b.data(), n));
      for (std::int32_t i = 0; i < n; ++i)
        EXPECT_NEAR(x[static_cast<std::size_t>(i)], wanted[i], 1e-10 * (1 + wanted.cwiseAbs().maxCoeff()));
    }
}

TEST(cudss, pivots_of_symmetric_factors_count_eigenvalues) {
  for (const std::int32_t negative : {0, 1, 9}) {
    const csr<double> A = indefinite(30, negative, 4);
    const Eigen::VectorXd values = Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd>(densify(A)).eigenvalues();
    const solve_report report = solve(cudss::kind::ldlt, A);
    ASSERT_TRUE(report.signs.has_value());
    EXPECT_EQ(report.signs->negative, (values.array() < 0).count());
    EXPECT_EQ(report.signs->positive, (values.array() > 0).count());
  }
}

// Without superpanels, as it does not interchange in them in deterministic mode.
TEST(cudss, symmetric_matrices_are_analysed_once) {
  const int before = counted("mock_cudss_analyses");
  EXPECT_EQ(solve(cudss::kind::ldlt, indefinite(30, 4, 4)).status, solve_status::converged);
  EXPECT_EQ(counted("mock_cudss_analyses"), before + 1);
}

TEST(cudss, goes_without_interchanges_where_they_are_refused) {
  const fault refuses("no-interchanges");
  const solve_report report = solve(cudss::kind::ldlt, indefinite(30, 4, 4));
  EXPECT_EQ(report.status, solve_status::converged) << report.reason;
  EXPECT_EQ(report.signs->negative, 4);
}

template <real F>
void solve_columns_and_renew(bool same_bits) {
  csr<double> A = any_matrix(35, 1);
  gpu_factors<double, F> factors(cpu, cudss::kind::lu, A.all(), {.same_bits = same_bits});
  constexpr std::int64_t columns = 11;
  const std::vector<double> B = testing::random_vector(columns * A.rows, 2);
  for (int step = 0; step < 3; ++step) {
    const int before = counted("mock_cudss_solutions");
    std::vector<double> X(B.size());
    const std::vector<solve_report> reports = factors.solve(
        "sparse-lu", A.all(), columns, {B.data(), columns * A.rows}, {X.data(), columns * A.rows}, {});
    ASSERT_EQ(reports.size(), static_cast<std::size_t>(columns));
    // Eight at a time and three, refined at most twice, and their errors: where all are solved for at once.
    const int solutions = counted("mock_cudss_solutions") - before;
    EXPECT_EQ(solutions <= 8, !same_bits) << solutions;
    const Eigen::MatrixXd wanted =
        densify(A).partialPivLu().solve(Eigen::Map<const Eigen::MatrixXd>(B.data(), A.rows, columns));
    for (std::int64_t j = 0; j < columns; ++j) {
      const solve_report& report = reports[static_cast<std::size_t>(j)];
      EXPECT_EQ(report.status, solve_status::converged) << report.reason;
      EXPECT_EQ(report.reproducible, same_bits);
      EXPECT_EQ(report.repeats, same_bits);
      EXPECT_TRUE(report.error_estimate.has_value());
      for (std::int64_t i = 0; i < A.rows; ++i)
        EXPECT_NEAR(X[static_cast<std::size_t>(j * A.rows + i)], wanted(i, j),
                    1e-7 * (1 + wanted.cwiseAbs().maxCoeff()));
    }
    for (std::int64_t k = 0; k < A.nonzeros(); ++k) A.val[k] *= 1 + 0.1 * static_cast<double>(k % 3);
    factors.factorise(A.all());
  }
}

TEST(cudss, several_columns_and_new_values) {
  solve_columns_and_renew<double>(true);
  solve_columns_and_renew<double>(false);
  solve_columns_and_renew<float>(false);
}

TEST(cudss, single_factors_make_a_double_solution) {
  const csr<double> A = testing::random_spd(60, 3, 3);
  gpu_factors<double, float> factors(cpu, cudss::kind::cholesky, A.all(), {});
  for (const double size : {1.0, 1e-60, 1e60}) {  // beyond what single precision has
    std::vector<double> b = testing::random_vector(60, 2), x(60);
    for (double& value : b) value *= size;
    const solve_report report =
        factors.solve("sparse-cholesky", A.all(), 1, {b.data(), 60}, {x.data(), 60}, {.rtol = 1e-14}).front();
    EXPECT_EQ(report.status, solve_status::converged) << report.reason;
    EXPECT_EQ(report.precision, "mixed");
    EXPECT_GT(report.iterations, 1);
    const Eigen::VectorXd wanted = densify(A).llt().solve(Eigen::Map<const Eigen::VectorXd>(b.data(), 60));
    for (int i = 0; i < 60; ++i)
      EXPECT_NEAR(x[static_cast<std::size_t>(i)], wanted[i], 1e-13 * wanted.cwiseAbs().maxCoeff());
  }
  csr<double> large = testing::random_spd(5, 2, 3);
  large.val[0] = 1e39;
  EXPECT_THROW((gpu_factors<double, float>(cpu, cudss::kind::cholesky, large.all(), {})), value_error);
}

using complex = std::complex<double>;

// Of a band and some entries far away, dominant but for half the signs of the indefinite ones.
Eigen::MatrixXcd complex_matrix(cudss::kind which, int n) {
  std::uint64_t counter = 0;
  const auto number = [&] { return 2 * random_unit(9, counter++) - 1; };
  const bool hermitian = which == cudss::kind::cholesky || which == cudss::kind::ldlh;
  Eigen::MatrixXcd A = Eigen::MatrixXcd::Zero(n, n);
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < i; ++j) {
      if (i - j > 2 && i - j != 7) continue;
      A(i, j) = complex(number(), number());
      A(j, i) = hermitian ? std::conj(A(i, j)) : which == cudss::kind::ldlt ? A(i, j) : complex(number(), 0.5);
    }
  for (int i = 0; i < n; ++i) {
    const double size = A.row(i).cwiseAbs().sum() + 1;
    A(i, i) = hermitian ? complex(which == cudss::kind::ldlh && i % 3 == 0 ? -size : size) : complex(1, size);
  }
  return A;
}

csr<double> real_form_of(const Eigen::MatrixXcd& A) {
  std::vector<testing::triplet> entries;
  for (std::int32_t i = 0; i < A.rows(); ++i)
    for (std::int32_t j = 0; j < A.cols(); ++j) {
      if (A(i, j) == 0.0) continue;
      entries.push_back({2 * i, 2 * j, A(i, j).real()});
      entries.push_back({2 * i, 2 * j + 1, -A(i, j).imag()});
      entries.push_back({2 * i + 1, 2 * j, A(i, j).imag()});
      entries.push_back({2 * i + 1, 2 * j + 1, A(i, j).real()});
    }
  return testing::from_triplets(static_cast<std::int32_t>(2 * A.rows()), entries);
}

template <real F>
void solve_complex(cudss::kind which) {
  constexpr int n = 30;
  const Eigen::MatrixXcd dense = complex_matrix(which, n);
  csr<double> A = real_form_of(dense);
  gpu_factors<double, F> factors(cpu, which, A.all(), {});
  const std::vector<double> b = testing::random_vector(2 * n, 8);
  const auto solved = [&](double times) {
    std::vector<double> x(b.size());
    const solve_report report =
        factors.solve("sparse-lu", A.all(), 1, {b.data(), 2 * n}, {x.data(), 2 * n}, {.rtol = 1e-13}).front();
    EXPECT_EQ(report.status, solve_status::converged) << report.reason;
    const Eigen::VectorXcd wanted =
        (times * dense)
            .partialPivLu()
            .solve(Eigen::Map<const Eigen::VectorXcd>(reinterpret_cast<const complex*>(b.data()), n));
    for (int i = 0; i < n; ++i) {
      const std::size_t at = 2 * static_cast<std::size_t>(i);
      EXPECT_LE(std::abs(complex(x[at], x[at + 1]) - wanted[i]), 1e-11 * wanted.cwiseAbs().maxCoeff());
    }
    return report;
  };
  const solve_report report = solved(1);
  EXPECT_NE(report.engine.find("complex numbers, 900 entries"), std::string::npos) << report.engine;
  EXPECT_EQ(report.signs.has_value(), which == cudss::kind::ldlh);
  if (report.signs) {  // those of the real form
    const Eigen::VectorXd values = Eigen::SelfAdjointEigenSolver<Eigen::MatrixXcd>(dense).eigenvalues();
    EXPECT_EQ(report.signs->negative, 2 * (values.array() < 0).count());
    EXPECT_EQ(report.signs->positive, 2 * (values.array() > 0).count());
  }
  for (double& value : A.val) value *= 3;
  factors.factorise(A.all());
  solved(3);
}

TEST(cudss, complex_numbers_are_factorised_as_such) {
  for (const cudss::kind which :
       {cudss::kind::cholesky, cudss::kind::ldlh, cudss::kind::ldlt, cudss::kind::lu}) {
    solve_complex<double>(which);
    solve_complex<float>(which);
  }
}

TEST(cudss, new_values_need_not_be_complex_numbers) {
  csr<double> A = real_form_of(complex_matrix(cudss::kind::lu, 20));
  gpu_factors<double, double> factors(cpu, cudss::kind::lu, A.all(), {});
  const std::vector<double> b = testing::random_vector(40, 8);
  for (const bool still : {true, false, true}) {
    std::vector<double> x;
    A.val[0] += still ? 0 : 0.5;
    factors.factorise(A.all());
    const solve_report report = solve(factors, A, b, x, {.rtol = 1e-12});
    EXPECT_EQ(report.status, solve_status::converged) << report.reason;
    EXPECT_EQ(report.engine.find("complex numbers") != std::string::npos, still) << report.engine;
    const Eigen::VectorXd wanted =
        densify(A).partialPivLu().solve(Eigen::Map<const Eigen::VectorXd>(b.data(), 40));
    for (int i = 0; i < 40; ++i)
      EXPECT_NEAR(x[static_cast<std::size_t>(i)], wanted[i], 1e-10 * wanted.cwiseAbs().maxCoeff());
    A.val[0] -= still ? 0 : 0.5;
  }
}

TEST(cudss, matrices_without_rows_need_no_library) {
  const csr<double> A = testing::from_triplets(0, {});
  gpu_factors<double, double> factors(cpu, cudss::kind::lu, A.all(), {});
  EXPECT_EQ(factors.solve("sparse-lu", A.all(), 1, {nullptr, 0}, {nullptr, 0}, {}).front().status,
            solve_status::converged);
}

TEST(cudss, says_what_it_cannot_solve) {
  EXPECT_EQ(solve(cudss::kind::cholesky, indefinite(20, 2, 3)).status, solve_status::not_spd);
  csr<double> singular = any_matrix(20, 3);
  for (std::int64_t k = singular.row_ptr[7]; k < singular.row_ptr[8]; ++k) singular.val[k] = 0;
  const solve_report report = solve(cudss::kind::lu, singular);
  EXPECT_NE(report.status, solve_status::converged);
  EXPECT_NE(report.engine.find("1 pivots perturbed"), std::string::npos) << report.engine;
  ASSERT_FALSE(report.warnings.empty());
  csr<double> broken = any_matrix(20, 3);
  broken.val[4] = std::nan("");
  EXPECT_THROW(solve(cudss::kind::lu, broken), value_error);
}

TEST(cudss, is_not_believed) {
  const csr<double> A = testing::random_spd(30, 3, 1);
  for (const char* lie : {"wrong", "nan"}) {
    const fault lies(lie);
    EXPECT_NE(solve(cudss::kind::cholesky, A).status, solve_status::converged) << lie;
    EXPECT_NE(solve(cudss::kind::lu, A).status, solve_status::converged) << lie;
  }
  EXPECT_EQ(solve(cudss::kind::cholesky, A).status, solve_status::converged);
}

TEST(cudss, failures_have_names) {
  const csr<double> A = testing::random_spd(30, 3, 1);
  const auto text_of = [&](const char* which) -> std::string {
    const fault fails(which);
    try {
      solve(cudss::kind::lu, A);
    } catch (const error& e) {
      return e.what();
    }
    return "";
  };
  const auto names = [](const std::string& text, const char* what) {
    EXPECT_NE(text.find(what), std::string::npos) << text;
  };
  names(text_of("no-memory"), "cuDSS 1.2.3");
  names(text_of("no-memory-to-analyse"), "out of memory on cuDSS 1.2.3 on GPU -1: ");
  EXPECT_EQ(text_of("no-memory-to-analyse").find("asked"), std::string::npos)
      << text_of("no-memory-to-analyse");
  names(text_of("large"), "the factors of cuDSS 1.2.3");
  names(text_of("refuses"), "does not take this matrix");
  names(text_of("fails"), "fails in the factorisation, status 6");
  names(text_of("no-solution"), "fails in a solution, status 5");
  {
    const fault fails("no-memory");
    EXPECT_THROW(solve(cudss::kind::lu, A), out_of_memory);
  }
  const fault predicts("large");
  EXPECT_THROW(solve(cudss::kind::lu, A), out_of_memory);
}

TEST(cudss, leaves_no_objects_behind_whatever_fails) {
  const csr<double> A = testing::random_spd(30, 3, 1);
  const int before = counted("mock_cudss_objects");
  for (const char* which : {"no-data", "no-interrupt", "no-matrix", "no-memory-to-analyse", "no-memory",
                            "fails", "refuses", "no-solution", "large"}) {
    const fault fails(which);
    EXPECT_THROW(solve(cudss::kind::ldlt, A), error) << which;
    EXPECT_EQ(counted("mock_cudss_objects"), before) << which;
  }
  EXPECT_EQ(solve(cudss::kind::ldlt, A).status, solve_status::converged);
  EXPECT_EQ(counted("mock_cudss_objects"), before);
}

TEST(cudss, keeps_factors_in_host_memory_where_they_do_not_fit) {
  const fault small("hybrid");
  const solve_report report = solve(cudss::kind::lu, any_matrix(30, 3));
  EXPECT_EQ(report.status, solve_status::converged) << report.reason;
  EXPECT_FALSE(report.reproducible);
  EXPECT_FALSE(report.repeats);
  EXPECT_NE(report.engine.find("in part in host memory"), std::string::npos) << report.engine;
}

TEST(cudss, ends_when_asked_to) {
  const csr<double> A = testing::random_spd(30, 3, 1);
  const fault endless("endless");
  cancellation stop;
  const cancellation_scope listens(stop);
  std::thread later([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    stop.request();
  });
  EXPECT_THROW(solve(cudss::kind::lu, A), cancelled);
  later.join();
}

}  // namespace
}  // namespace vouch
