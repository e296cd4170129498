#include <gtest/gtest.h>

#include <limits>
#include <numbers>

#include <vouch/core/error.hpp>
#include <vouch/solve/precond/chebyshev.hpp>
#include <vouch/solve/precond/eigenvalue_bound.hpp>

#include "data.hpp"
#include "devices.hpp"
#include "solve/precond/problems.hpp"

namespace vouch::testing {
namespace {

template <class T>
class chebyshev_preconditioner : public ::testing::Test {};
using types = ::testing::Types<float, double>;
TYPED_TEST_SUITE(chebyshev_preconditioner, types);

template <real T>
double bound_of(const device& dev, const csr<T>& A) {
  std::vector<T> inverse;
  const csr<T> host = A.to(device::cpu(1));
  for (std::int64_t i = 0; i < host.rows; ++i)
    for (std::int64_t k = host.row_ptr[i]; k < host.row_ptr[i + 1]; ++k)
      if (host.col[k] == i) inverse.push_back(T(1) / host.val[k]);
  const array<T> there = array<T>::from(dev, inverse);
  return largest_eigenvalue_bound("chebyshev", dev, A.all(), spmv_plan<T>::make(dev, A.all()), there.data());
}

// D^-1 A
dense scaled(const dense& A) {
  dense B = A;
  for (std::int64_t i = 0; i < A.n; ++i)
    for (std::int64_t j = 0; j < A.n; ++j) B(i, j) /= A(i, i);
  return B;
}

// From the definition: R = T_m((middle - C)/half) / T_m(middle/half) by the three-term recurrence of Chebyshev
// polynomials, C = D^-1 A; then M = (I - R) A^-1.
dense chebyshev_oracle(const dense& A, long double b, std::int64_t degree) {
  const auto m = static_cast<long double>(degree + 1);
  const long double low = b / (m * m), middle = (b + low) / 2, half = (b - low) / 2;
  dense X = scaled(A), before(A.n), now(A.n);
  for (std::int64_t i = 0; i < A.n; ++i) {
    for (std::int64_t j = 0; j < A.n; ++j) X(i, j) = ((i == j ? middle : 0) - X(i, j)) / half;
    before(i, i) = 1;
  }
  now = X;
  long double t_before = 1, t_now = middle / half;
  for (std::int64_t k = 2; k <= degree + 1; ++k) {
    dense next = X * now;
    for (std::size_t e = 0; e < next.a.size(); ++e) next.a[e] = 2 * next.a[e] - before.a[e];
    before = std::move(now);
    now = std::move(next);
    const long double t_next = 2 * (middle / half) * t_now - t_before;
    t_before = t_now;
    t_now = t_next;
  }
  dense difference(A.n);
  for (std::int64_t i = 0; i < A.n; ++i)
    for (std::int64_t j = 0; j < A.n; ++j) difference(i, j) = (i == j) - now(i, j) / t_now;
  return difference * inverse(A);
}

TYPED_TEST(chebyshev_preconditioner, is_the_polynomial) {
  using T = TypeParam;
  for (const device& dev : devices())
    for (const problem& p : small_problems())
      for (const std::int64_t degree : {1, 2, 5, 8}) {
        const csr<T> A = to_sparse<T>(dev, p);
        const auto M = make_chebyshev(dev, A.all(), degree);
        const dense expected = chebyshev_oracle(to_dense<T>(p), bound_of(dev, A), degree);
        expect_near(matrix_of(dev, *M, p.n), expected,
                    200 * static_cast<double>(degree) * std::numeric_limits<T>::epsilon(),
                    p.name + " " + M->name());
      }
}

// The largest eigenvalue of D^-1 A, by many power steps on its square root's similar matrix.
long double largest_by_powers(const dense& A) {
  std::vector<long double> x(static_cast<std::size_t>(A.n)), y(x.size());
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = 1 + static_cast<long double>(random_unit(4, i));
  long double quotient = 0;
  for (int step = 0; step < 4000; ++step) {
    long double energy = 0, mass = 0, size = 0;
    for (std::int64_t i = 0; i < A.n; ++i) {
      long double sum = 0;
      for (std::int64_t j = 0; j < A.n; ++j) sum += A(i, j) * x[static_cast<std::size_t>(j)];
      energy += sum * x[static_cast<std::size_t>(i)];
      mass += x[static_cast<std::size_t>(i)] * A(i, i) * x[static_cast<std::size_t>(i)];
      y[static_cast<std::size_t>(i)] = sum / A(i, i);
      size += y[static_cast<std::size_t>(i)] * sum;
    }
    quotient = energy / mass;
    for (std::size_t i = 0; i < x.size(); ++i) x[i] = y[i] / std::sqrt(size);
  }
  return quotient;
}

TYPED_TEST(chebyshev_preconditioner, bound_holds_and_is_near) {
  using T = TypeParam;
  std::vector<problem> all = small_problems();
  if (const std::string path = data_file("matrices/bcsstk01.mtx"); !path.empty())
    all.push_back(read_symmetric(path));
  for (const device& dev : devices())
    for (const problem& p : all) {
      if (p.n == 0) continue;
      const double bound = bound_of(dev, to_sparse<T>(dev, p));
      const auto largest = static_cast<double>(largest_by_powers(to_dense<T>(p)));
      EXPECT_GE(bound, largest * (1 - 8 * std::numeric_limits<T>::epsilon())) << p.name;
      EXPECT_LE(bound, 1.11 * largest) << p.name;
    }
}

// The eigenvalues of Poisson's matrix are known: D^-1 A reaches to 1 + cos(pi/(n+1)) in any dimension.
TEST(eigenvalue_bound, of_a_large_grid) {
  for (const device& dev : devices()) {
    const double bound = bound_of(dev, to_sparse<double>(dev, poisson(26, 26, 26)));
    EXPECT_GE(bound, 1 + std::cos(std::numbers::pi / 27));
    EXPECT_LE(bound, 2);
  }
}

TEST(eigenvalue_bound, of_tridiagonal_matrices) {
  EXPECT_EQ(largest_eigenvalue({}, {}), 0);
  EXPECT_EQ(largest_eigenvalue({3}, {}), 3);
  EXPECT_NEAR(largest_eigenvalue({1, 1}, {2}), 3, 1e-14);
  EXPECT_NEAR(largest_eigenvalue({-5, -7}, {0}), -5, 1e-14);
  const std::vector<double> diagonal(30, 2), beside(29, -1);
  EXPECT_NEAR(largest_eigenvalue(diagonal, beside), 2 + 2 * std::cos(std::numbers::pi / 31), 1e-14);
}

TEST(chebyshev, bad_degrees_and_entries_are_refused) {
  for (const device& dev : devices()) {
    problem p = poisson(1, 5, 5);
    const csr<double> A = to_sparse<double>(dev, p);
    EXPECT_THROW(make_chebyshev(dev, A.all(), 0), value_error);
    EXPECT_THROW(make_chebyshev(dev, A.all(), 65), value_error);
    p.a[{3, 4}] = p.a[{4, 3}] = std::nan("");
    EXPECT_THROW(make_chebyshev(dev, to_sparse<double>(dev, p).all()), value_error);
    p.a[{3, 4}] = p.a[{4, 3}] = std::numeric_limits<double>::infinity();
    EXPECT_THROW(make_chebyshev(dev, to_sparse<double>(dev, p).all()), value_error);
  }
}

}  // namespace
}  // namespace vouch::testing
