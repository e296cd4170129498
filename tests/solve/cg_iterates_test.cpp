// The iterates of conjugate gradients against the textbook's, and operators of the user's own.
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include <vouch/core/error.hpp>

#include "devices.hpp"
#include "solve/cg_answer.hpp"

namespace vouch {
namespace {

using testing::answer;
using testing::devices;
using testing::relative_residual;
using testing::solve;

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

}  // namespace
}  // namespace vouch
