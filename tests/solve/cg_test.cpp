#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>

#include <vouch/core/config.hpp>
#include <vouch/core/error.hpp>
#include <vouch/io/matrix_market.hpp>
#include <vouch/solve/cg.hpp>
#include <vouch/solve/cg_mixed.hpp>
#include <vouch/solve/precond/make.hpp>

#include "data.hpp"
#include "devices.hpp"
#include "solve/systems.hpp"

namespace vouch {
namespace {

using testing::devices;
using testing::random_spd;
using testing::relative_residual;

struct answer {
  solve_report report;
  std::vector<double> x;
};

template <class T = double>
answer solve(const device& dev, const csr<double>& A, const std::vector<double>& b,
             const cg_options& options = {}, const std::string& precondition = "none",
             std::vector<double> start = {}) {
  const csr<T> matrix = convert_values<T, double>(device::cpu(1), A.all()).to(dev);
  start.resize(b.size(), 0.0);
  const std::vector<T> rhs(b.begin(), b.end()), from(start.begin(), start.end());
  const array<T> right = array<T>::from(dev, rhs);
  array<T> x = array<T>::from(dev, from);
  const auto M = make_preconditioner<T>(dev, matrix.all(), precondition);
  answer a;
  a.report = cg<T>(dev, matrix.all(), right, x, options, M.get());
  const std::vector<T> got = x.to_vector();
  a.x.assign(got.begin(), got.end());
  return a;
}

TEST(cg, agrees_with_dense_cholesky) {
  for (const std::int32_t n : {1, 2, 3, 7, 33, 150})
    for (const device& dev : devices()) {
      const csr<double> A = random_spd(n, 6, static_cast<std::uint64_t>(n));
      const std::vector<double> b = testing::random_vector(n, 5), exact = testing::cholesky_solve(A, b);
      cg_options options;
      options.rtol = 1e-14;
      const answer a = solve(dev, A, b, options);
      EXPECT_EQ(a.report.status, solve_status::converged) << a.report.reason;
      for (std::size_t i = 0; i < exact.size(); ++i) EXPECT_NEAR(a.x[i], exact[i], 1e-12) << dev.kind();
    }
}

TEST(cg, converged_is_true_of_the_x_returned) {
  const csr<double> A = testing::laplacian(70);
  const std::vector<double> b = testing::random_vector(A.rows, 1);
  for (const device& dev : devices())
    for (const char* precondition : {"none", "jacobi", "ssor", "ic0"})
      for (const double rtol : {1e-3, 1e-8, 1e-12}) {
        cg_options options;
        options.rtol = rtol;
        const answer a = solve(dev, A, b, options, precondition);
        ASSERT_EQ(a.report.status, solve_status::converged) << precondition << ' ' << a.report.reason;
        const double really = relative_residual(A, b, a.x);
        EXPECT_LE(really, rtol) << dev.kind() << ' ' << precondition;
        EXPECT_NEAR(a.report.relative_true(), really, 1e-6 * rtol);
      }
}

TEST(cg, single_precision_is_judged_in_double) {
  const csr<double> A = testing::laplacian(40);
  const std::vector<double> b(static_cast<std::size_t>(A.rows), 1.0);
  for (const device& dev : devices()) {
    const answer a = solve<float>(dev, A, b);
    ASSERT_EQ(a.report.status, solve_status::converged) << a.report.reason;
    EXPECT_LE(relative_residual(A, b, a.x), 1e-5);
  }
}

TEST(cg, an_impossible_tolerance_ends_stagnated_with_the_attainable_level) {
  const csr<double> A = testing::laplacian(60);
  const std::vector<double> b = testing::random_vector(A.rows, 2);
  for (const device& dev : devices()) {
    cg_options options;
    options.rtol = 1e-18;
    const answer a = solve(dev, A, b, options);
    EXPECT_EQ(a.report.status, solve_status::stagnated) << a.report.reason;
    EXPECT_LT(a.report.relative_true(), 1e-13);
    EXPECT_LT(a.report.backward_error, 4e-16);
    EXPECT_GT(a.report.attainable_relative, 1e-17);
  }
}

TEST(cg, same_bits_on_every_run_and_for_any_threads) {
  const csr<double> A = testing::laplacian(120);
  const std::vector<double> b = testing::random_vector(A.rows, 3);
  for (const char* precondition : {"none", "jacobi", "ic0"}) {
    const answer one = solve(device::cpu(1), A, b, {}, precondition);
    for (const int threads : {1, 2, 3, 7}) {
      const answer again = solve(device::cpu(threads), A, b, {}, precondition);
      EXPECT_EQ(std::memcmp(one.x.data(), again.x.data(), one.x.size() * 8), 0)
          << precondition << ' ' << threads;
    }
    for (const device& gpu : testing::gpus()) {
      const answer first = solve(gpu, A, b, {}, precondition), second = solve(gpu, A, b, {}, precondition);
      EXPECT_EQ(std::memcmp(first.x.data(), second.x.data(), first.x.size() * 8), 0) << precondition;
      EXPECT_EQ(first.report.iterations, second.report.iterations);
    }
  }
}

TEST(cg, indefinite_and_unsymmetric_matrices_are_named) {
  const csr<double> indefinite =
      testing::from_triplets(2, {{0, 0, 1}, {0, 1, 2}, {1, 0, 2}, {1, 1, 1}});  // eigenvalues 3 and -1
  const csr<double> unsymmetric = testing::from_triplets(2, {{0, 0, 1}, {0, 1, 2}, {1, 1, 1}});
  const csr<double> negative = testing::from_triplets(2, {{0, 0, 1}, {1, 1, -1}});
  for (const device& dev : devices()) {
    EXPECT_EQ(solve(dev, indefinite, {1, -1}).report.status, solve_status::not_spd);
    EXPECT_THROW(solve(dev, unsymmetric, {1, 1}), value_error);
    EXPECT_THROW(solve(dev, negative, {1, 1}), value_error);
  }
}

TEST(cg, bad_operands) {
  const csr<double> A = testing::laplacian(3);
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (const device& dev : devices()) {
    std::vector<double> b(9, 1.0);
    b[4] = nan;
    EXPECT_THROW(solve(dev, A, b), value_error);
    b[4] = std::numeric_limits<double>::infinity();
    EXPECT_THROW(solve(dev, A, b), value_error);
    EXPECT_THROW(solve(dev, A, std::vector<double>(9, 1.0), {}, "none", std::vector<double>(9, nan)),
                 value_error);
    EXPECT_THROW(solve(dev, A, std::vector<double>(8, 1.0)), shape_error);
  }
}

TEST(cg, trivial_systems) {
  for (const device& dev : devices()) {
    const csr<double> empty = testing::from_triplets(0, {});
    EXPECT_EQ(solve(dev, empty, {}).report.status, solve_status::converged);
    const csr<double> A = testing::laplacian(4);
    const answer zero = solve(dev, A, std::vector<double>(16, 0.0), {}, "none", std::vector<double>(16, 3.0));
    EXPECT_EQ(zero.report.status, solve_status::converged);
    for (const double v : zero.x) EXPECT_EQ(v, 0.0);
    const answer there = solve(dev, A, testing::row_sums(A), {}, "none", std::vector<double>(16, 1.0));
    EXPECT_EQ(there.report.status, solve_status::converged);
    EXPECT_EQ(there.report.iterations, 0);
  }
}

TEST(cg, a_diagonal_matrix_with_its_inverse_takes_one_step) {
  std::vector<testing::triplet> entries;
  for (std::int32_t i = 0; i < 500; ++i) entries.push_back({i, i, std::pow(10.0, i % 13 - 6)});
  const csr<double> A = testing::from_triplets(500, entries);
  for (const device& dev : devices()) {
    const answer a = solve(dev, A, testing::random_vector(500, 9), {}, "jacobi");
    EXPECT_EQ(a.report.status, solve_status::converged);
    EXPECT_LE(a.report.iterations, 2);
  }
}

TEST(cg, fixed_limited_and_stopped) {
  const csr<double> A = testing::laplacian(50);
  const std::vector<double> b = testing::random_vector(A.rows, 4);
  for (const device& dev : devices())
    for (const char* precondition : {"none", "jacobi", "ssor"}) {
      cg_options options;
      options.fixed_iterations = 17;
      const answer fixed = solve(dev, A, b, options, precondition);
      EXPECT_EQ(fixed.report.status, solve_status::fixed);
      EXPECT_EQ(fixed.report.iterations, 17);
      EXPECT_NEAR(fixed.report.relative_true(), relative_residual(A, b, fixed.x), 1e-12);
      options = {};
      options.max_iterations = 9;
      const answer limited = solve(dev, A, b, options, precondition);
      EXPECT_EQ(limited.report.status, solve_status::max_iterations);
      EXPECT_EQ(limited.report.iterations, 9);
      options = {};
      options.stop_recurrence = 0.5;
      const answer stopped = solve(dev, A, b, options, precondition);
      EXPECT_EQ(stopped.report.status, solve_status::stopped);
      EXPECT_LE(stopped.report.recurrence_residual, 0.5);
    }
}

// The method as textbooks print it, in long double.
std::vector<long double> textbook_iterate(const csr<double>& A, const std::vector<double>& b, bool jacobi,
                                          int iterations) {
  const auto n = b.size();
  std::vector<long double> x(n, 0.0L), r(b.begin(), b.end()), z(n), p(n), q(n);
  const auto dot = [&](const auto& u, const auto& v) {
    return std::inner_product(u.begin(), u.end(), v.begin(), 0.0L);
  };
  std::vector<long double> diagonal(n, 1.0L);
  if (jacobi)
    for (std::size_t i = 0; i < n; ++i)
      for (auto k = A.row_ptr[i]; k < A.row_ptr[i + 1]; ++k)
        if (A.col[k] == static_cast<std::int32_t>(i)) diagonal[i] = A.val[k];
  const auto precondition = [&] {
    for (std::size_t i = 0; i < n; ++i) z[i] = r[i] / diagonal[i];
  };
  precondition();
  p = z;
  for (int done = 0; done < iterations; ++done) {
    for (std::size_t i = 0; i < n; ++i) {
      q[i] = 0;
      for (auto k = A.row_ptr[i]; k < A.row_ptr[i + 1]; ++k)
        q[i] += static_cast<long double>(A.val[k]) * p[static_cast<std::size_t>(A.col[k])];
    }
    const long double rz = dot(r, z), alpha = rz / dot(p, q);
    for (std::size_t i = 0; i < n; ++i) {
      x[i] += alpha * p[i];
      r[i] -= alpha * q[i];
    }
    precondition();
    const long double beta = dot(r, z) / rz;
    for (std::size_t i = 0; i < n; ++i) p[i] = z[i] + beta * p[i];
  }
  return x;
}

// Every engine after every small number of iterations: whatever it puts off must be there at the end. Few
// enough for compute-sanitizer.
TEST(cg, first_iterates_are_those_of_the_textbook) {
  for (const int side : {7, 200})
    for (const bool jacobi : {false, true})
      for (const int iterations : {1, 2, 3, 6}) {
        csr<double> A = testing::laplacian(side);
        for (std::int64_t i = 0; i < A.rows; ++i)  // so that Jacobi differs from none
          for (auto k = A.row_ptr[i]; k < A.row_ptr[i + 1]; ++k)
            if (A.col[k] == i) A.val[k] += 0.5 * static_cast<double>(i % 5);
        const std::vector<double> b = testing::random_vector(A.rows, 8);
        const std::vector<long double> exact = textbook_iterate(A, b, jacobi, iterations);
        for (const device& dev : devices())
          for (const layout kept_as : {layout::automatic, layout::csr}) {
            cg_options options;
            options.fixed_iterations = iterations;
            options.matrix_layout = kept_as;
            const answer a = solve(dev, A, b, options, jacobi ? "jacobi" : "none");
            ASSERT_EQ(a.report.iterations, iterations);
            long double worst = 0;
            for (std::size_t i = 0; i < exact.size(); ++i)
              worst = std::max(worst, std::abs(exact[i] - static_cast<long double>(a.x[i])));
            EXPECT_LE(worst, 1e-13L) << dev.kind() << ' ' << a.report.engine << " after " << iterations;
          }
      }
}

TEST(cg, more_fixed_iterations_than_an_exact_answer_needs_are_harmless) {
  const csr<double> A = testing::from_triplets(3, {{0, 0, 2}, {1, 1, 2}, {2, 2, 2}});
  for (const device& dev : devices()) {
    cg_options options;
    options.fixed_iterations = 10;
    const answer a = solve(dev, A, {2, 4, 6}, options);
    EXPECT_EQ(a.report.status, solve_status::fixed);
    EXPECT_EQ(a.report.iterations, 10);
    EXPECT_EQ(a.x, (std::vector<double>{1, 2, 3}));
  }
}

TEST(cg, units_of_the_right_hand_side_do_not_matter) {
  const csr<double> A = testing::laplacian(20);
  const std::vector<double> b = testing::random_vector(A.rows, 6);
  for (const device& dev : devices()) {
    const answer plain = solve(dev, A, b);
    for (const int exponent : {-330, 400}) {
      std::vector<double> scaled = b;
      for (double& v : scaled) v = std::ldexp(v, exponent);
      const answer a = solve(dev, A, scaled);
      ASSERT_EQ(a.report.status, solve_status::converged) << exponent << ' ' << a.report.reason;
      EXPECT_LE(relative_residual(A, scaled, a.x), 1e-8);
    }
    ASSERT_EQ(plain.report.status, solve_status::converged);
  }
}

TEST(cg, a_pure_neumann_problem_is_recognised) {
  const csr<double> A = testing::laplacian(30, true);
  std::vector<double> b = testing::random_vector(A.rows, 7);
  const double mean = std::accumulate(b.begin(), b.end(), 0.0) / static_cast<double>(b.size());
  std::vector<double> consistent = b;
  for (double& v : consistent) v -= mean;
  for (const device& dev : devices()) {
    const answer a = solve(dev, A, consistent);
    EXPECT_EQ(a.report.status, solve_status::converged) << a.report.reason;
    EXPECT_FALSE(a.report.warnings.empty());
    EXPECT_LE(relative_residual(A, consistent, a.x), 1e-8);
    EXPECT_NEAR(std::accumulate(a.x.begin(), a.x.end(), 0.0), 0.0, 1e-9);
    EXPECT_EQ(solve(dev, A, b).report.status, solve_status::breakdown);
  }
}

TEST(cg, the_monitor_sees_the_history_and_can_stop) {
  const csr<double> A = testing::laplacian(200);
  const std::vector<double> b = testing::random_vector(A.rows, 8);
  for (const device& dev : devices()) {
    cg_options options;
    std::int64_t seen = 0;
    options.on_iteration = [&](const iteration_record&) { return ++seen, true; };
    const answer a = solve(dev, A, b, options);
    EXPECT_EQ(seen, static_cast<std::int64_t>(a.report.history.size()));
    EXPECT_GE(seen, a.report.iterations);
    for (std::size_t k = 0; k < a.report.history.size(); ++k) {
      EXPECT_EQ(a.report.history[k].iteration, static_cast<std::int64_t>(k));
      EXPECT_GT(a.report.history[k].residual, 0);
    }
    options.fixed_iterations = 100000000;
    options.on_iteration = [](const iteration_record& r) { return r.iteration < 50; };
    const answer stopped = solve(dev, A, b, options);
    EXPECT_EQ(stopped.report.status, solve_status::interrupted);
    EXPECT_LT(stopped.report.iterations, 100000000);
  }
}

// Applies the 5-point Laplacian without a matrix, on the CPU.
class stencil final : public linear_operator<double> {
 public:
  explicit stencil(std::int64_t m) : m_(m) {}
  std::int64_t rows() const override { return m_ * m_; }
  void apply(const device&, view<const double> x, view<double> y) const override {
    for (std::int64_t i = 0; i < m_; ++i)
      for (std::int64_t j = 0; j < m_; ++j) {
        const std::int64_t k = i * m_ + j;
        y[k] = 4 * x[k] - (i > 0 ? x[k - m_] : 0) - (j > 0 ? x[k - 1] : 0) - (j + 1 < m_ ? x[k + 1] : 0) -
               (i + 1 < m_ ? x[k + m_] : 0);
      }
  }

 private:
  std::int64_t m_;
};

// A user's own preconditioner: a tenth of the identity.
class tenth final : public preconditioner<double> {
 public:
  void apply(const device&, view<const double> r, view<double> z) const override {
    for (std::int64_t i = 0; i < r.size(); ++i) z[i] = r[i] / 10;
  }
  std::string name() const override { return "tenth"; }
};

TEST(cg, takes_operators_and_preconditioners_of_the_user) {
  const device dev = device::cpu(2);
  const stencil A(60);
  const tenth M;
  const csr<double> stored = testing::laplacian(60);
  const std::vector<double> b = testing::random_vector(A.rows(), 10);
  const array<double> right = array<double>::from(dev, b);
  for (const preconditioner<double>* user :
       {static_cast<const preconditioner<double>*>(nullptr), static_cast<const preconditioner<double>*>(&M)}) {
    array<double> x = array<double>::zeros(dev, A.rows());
    const solve_report report = cg<double>(dev, A, right, x, {}, user);
    EXPECT_EQ(report.status, solve_status::converged);
    EXPECT_EQ(report.preconditioner, user ? "tenth" : "none");
    EXPECT_LE(relative_residual(stored, b, x.to_vector()), 1.0001e-8);
    EXPECT_TRUE(std::isnan(report.backward_error));
  }
}

TEST(cg_mixed, reaches_a_double_tolerance) {
  const csr<double> A = testing::laplacian(700);  // past the size at which single precision pays
  const std::vector<double> b = testing::random_vector(A.rows, 11);
  for (const device& dev : devices()) {
    if (dev.threads() > 1) continue;
    const csr<double> matrix = A.to(dev);
    const array<double> right = array<double>::from(dev, b);
    cg_options options;
    options.rtol = 1e-10;
    array<double> x = array<double>::zeros(dev, A.rows);
    const solve_report report = cg_mixed(dev, matrix.all(), right, x, options);
    EXPECT_EQ(report.status, solve_status::converged) << report.reason;
    EXPECT_EQ(report.precision, "mixed");
    EXPECT_GE(report.restarts, 1);  // single precision alone cannot get there
    EXPECT_LE(relative_residual(A, b, x.to_vector()), 1e-10);
  }
}

TEST(cg_mixed, falls_back_and_says_so) {
  const csr<double> small = testing::laplacian(10);
  for (const device& dev : devices()) {
    const csr<double> matrix = small.to(dev);
    const array<double> right = array<double>::from(dev, testing::random_vector(100, 1));
    array<double> x = array<double>::zeros(dev, 100);
    const solve_report report = cg_mixed(dev, matrix.all(), right, x);
    EXPECT_EQ(report.status, solve_status::converged);
    EXPECT_FALSE(report.warnings.empty());
  }
  // A chain of springs from 1 to 1e-9: far beyond single precision.
  std::vector<testing::triplet> entries;
  const std::int32_t n = 500000;
  const auto spring = [](std::int32_t i) { return std::pow(10.0, -9.0 * (i % 1000) / 1000.0); };
  for (std::int32_t i = 0; i < n; ++i) {
    entries.push_back({i, i, spring(i) + spring(i + 1)});
    if (i + 1 < n) {
      entries.push_back({i, i + 1, -spring(i + 1)});
      entries.push_back({i + 1, i, -spring(i + 1)});
    }
  }
  const csr<double> A = testing::from_triplets(n, entries);
  const device dev = device::cpu(2);
  const std::vector<double> b = testing::row_sums(A);
  const array<double> right = array<double>::from(dev, b);
  array<double> x = array<double>::zeros(dev, n);
  cg_options options;
  options.rtol = 1e-6;
  options.max_iterations = 60;
  const solve_report report = cg_mixed(dev, A.all(), right, x, options);
  EXPECT_TRUE(report.status == solve_status::converged || report.status == solve_status::max_iterations);
  EXPECT_NEAR(report.relative_true(), relative_residual(A, b, x.to_vector()), 1e-9);
}

struct known {
  const char* file;
  std::int64_t iterations;  // of textbook CG, b = A * ones, to the true 1e-8
};

TEST(cg, the_matrices_of_2010) {
  for (const known& k :
       {known{"bcsstk11", 8900}, known{"bcsstk13", 63000}, known{"bcsstk14", 5700}, known{"bcsstk15", 8800},
        known{"bcsstm25", 12000}, known{"nos2_reconstructed", 30000}}) {
    const std::string path = testing::data_file("matrices/" + std::string(k.file) + ".mtx");
    VOUCH_NEEDS_DATA(path);
    const csr<double> A = read_csr(device::cpu(1), path);
    const std::vector<double> b = testing::row_sums(A);
    for (const device& dev : devices()) {
      if (dev.threads() > 1) continue;
      const answer a = solve(dev, A, b);
      EXPECT_EQ(a.report.status, solve_status::converged) << k.file << ' ' << a.report.reason;
      EXPECT_LE(relative_residual(A, b, a.x), 1e-8) << k.file;
      EXPECT_NEAR(static_cast<double>(a.report.iterations), static_cast<double>(k.iterations),
                  0.15 * static_cast<double>(k.iterations))
          << k.file;
    }
  }
}

}  // namespace
}  // namespace vouch
