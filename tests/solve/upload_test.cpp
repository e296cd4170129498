// A matrix that comes to a device in pieces, and the start that it leaves on its way.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include <vouch/core/error.hpp>
#include <vouch/solve/stationary/upload_with_start.hpp>

#include "solve/stationary_systems.hpp"

namespace vouch {
namespace {

using namespace testing;

template <class T>
class upload : public ::testing::Test {};
using precisions = ::testing::Types<float, double>;
TYPED_TEST_SUITE(upload, precisions);

template <real T>
struct outcome {
  std::vector<T> entries, x;
};

// The matrix stands in host memory with `gap` more elements between rows, NaN so that they show.
template <real T>
outcome<T> send(const device& dev, const square& A, const std::vector<double>& b, const std::vector<double>& x,
                transpose op = transpose::yes, std::int64_t gap = 0) {
  const std::int64_t ld = A.n + gap;
  std::vector<T> host(static_cast<std::size_t>(A.n * ld), std::numeric_limits<T>::quiet_NaN());
  for (std::int64_t i = 0; i < A.n; ++i)
    for (std::int64_t j = 0; j < A.n; ++j) host[static_cast<std::size_t>(i * ld + j)] = static_cast<T>(A(i, j));
  const array<T> rhs = array<T>::from(dev, std::vector<T>(b.begin(), b.end()));
  array<T> start = array<T>::from(dev, std::vector<T>(x.begin(), x.end()));
  const matrix<T> there = upload_with_start<T>(dev, op, {host.data(), A.n, A.n, ld}, rhs.all(), start.all());
  return {there.to_vector(), start.to_vector()};
}

double error(const std::vector<double>& exact, const auto& x) {
  double largest = 0;
  for (std::size_t i = 0; i < exact.size(); ++i)
    largest = std::max(largest, std::fabs(exact[i] - static_cast<double>(x[i])));
  return largest;
}

TYPED_TEST(upload, copies_every_entry) {
  using T = TypeParam;
  // One piece, and several; whole 16 bytes a row and not.
  for (const std::int64_t n : {0, 1, 37, 1500, 1501}) {
    const square A = random_square(n, 1.5, 3);
    const std::vector<double> b = product(A, integers(n, 4)), zeros(b.size());
    const std::vector<T> entries(A.a.begin(), A.a.end());
    for (const device& dev : testing::devices())
      for (const transpose op : {transpose::no, transpose::yes})
        for (const std::int64_t gap : {0, 3}) EXPECT_EQ(send<T>(dev, A, b, zeros, op, gap).entries, entries);
  }
}

TYPED_TEST(upload, leaves_a_better_start_and_the_same_bits_twice) {
  VOUCH_NEEDS_GPU();
  using T = TypeParam;
  const device gpu = testing::gpus()[0];
  for (const std::int64_t n : {2200, 2201}) {
    const square A = random_square(n, 1.5, 5);
    const std::vector<double> exact = integers(n, 6), b = product(A, exact), zeros(b.size());
    std::vector<double> near = exact;
    for (std::size_t i = 0; i < near.size(); ++i) near[i] += i % 2 == 0 ? 1 : -1;
    const outcome<T> first = send<T>(gpu, A, b, zeros), again = send<T>(gpu, A, b, zeros);
    EXPECT_EQ(first.x, again.x);
    EXPECT_LE(error(exact, first.x), 0.5 * error(exact, zeros)) << n;
    // Rows in no order of their own are taken as they come: a start of the user's is swept from, not replaced.
    EXPECT_LE(error(exact, send<T>(gpu, A, b, near).x), 0.75) << n;
  }
}

TYPED_TEST(upload, leaves_the_start_where_it_cannot_help) {
  using T = TypeParam;
  const std::int64_t n = 1500;
  const std::vector<double> start = integers(n, 7);
  const std::vector<T> as_it_was(start.begin(), start.end());
  square A = random_square(n, 1.5, 8);
  const std::vector<double> b = product(A, integers(n, 9));
  for (const device& dev : testing::devices())
    EXPECT_EQ(send<T>(dev, A, b, start, transpose::no).x, as_it_was) << "columns arrive";
  for (const double bad : {1.0, 0.0, std::numeric_limits<double>::quiet_NaN()}) {
    A(n - 1, n - 1) = bad;  // seen with the last piece only
    for (const device& dev : testing::devices()) EXPECT_EQ(send<T>(dev, A, b, start).x, as_it_was) << bad;
  }
}

TYPED_TEST(upload, start_and_matrix_lead_to_the_solution) {
  VOUCH_NEEDS_GPU();
  using T = TypeParam;
  const device gpu = testing::gpus()[0];
  const std::int64_t n = 2300;
  const square A = random_square(n, 1.2, 10);
  const std::vector<double> exact = integers(n, 11), b = product(A, exact);
  const std::vector<T> host(A.a.begin(), A.a.end());
  const array<T> rhs = array<T>::from(gpu, std::vector<T>(b.begin(), b.end()));
  array<T> x = array<T>::zeros(gpu, n), plain = array<T>::zeros(gpu, n);
  const matrix<T> there = upload_with_start<T>(gpu, transpose::yes, {host.data(), n, n, n}, rhs.all(), x.all());
  const solve_report r = jacobi<T>(gpu, transpose::yes, there.all(), rhs.all(), x);
  const solve_report from_zero = jacobi<T>(gpu, transpose::yes, there.all(), rhs.all(), plain);
  EXPECT_EQ(r.status, solve_status::converged) << r.reason;
  EXPECT_LT(r.iterations, from_zero.iterations);
  ASSERT_TRUE(r.error_bound.has_value());
  EXPECT_GE(*r.error_bound, error(exact, x.to_vector()));
}

TEST(upload_refusal, names_what_does_not_fit) {
  const std::vector<double> values(6, 1);
  std::vector<double> x(2);
  const device cpu = device::cpu(1);
  EXPECT_THROW(upload_with_start<double>(cpu, transpose::yes, {values.data(), 2, 3, 2}, {values.data(), 2},
                                         {x.data(), 2}),
               shape_error);
  EXPECT_THROW(upload_with_start<double>(cpu, transpose::yes, {values.data(), 2, 2, 2}, {values.data(), 3},
                                         {x.data(), 2}),
               shape_error);
}

}  // namespace
}  // namespace vouch
