#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include <vouch/core/error.hpp>
#include <vouch/dense/small_systems.hpp>
#include <vouch/interval/functions.hpp>

#include "dense/exact_systems.hpp"

namespace vouch {
namespace {

using namespace testing;

const device cpu = device::cpu(1);

template <class T>
class small_systems : public ::testing::Test {};
using types = ::testing::Types<float, double>;
TYPED_TEST_SUITE(small_systems, types);

// X against the exact solutions of A X = B.
template <class T>
void expect_solutions(const matrix<interval<T>>& X, const integer_rows& A, const integer_rows& B) {
  const long_integer det = determinant(A);
  for (std::size_t j = 0; j < B[0].size(); ++j)
    for (std::size_t i = 0; i < A.size(); ++i)
      ASSERT_TRUE(holds_quotient(X(static_cast<std::int64_t>(i), static_cast<std::int64_t>(j)),
                                 numerator(A, B, i, j), det))
          << i << ", " << j << " of order " << A.size();
}

template <class T>
double widest(const matrix<interval<T>>& X) {
  double most = 0, largest = 0;
  for (const interval<T>& x : X.to_vector()) {
    most = std::max(most, double{wid(x)});
    largest = std::max(largest, double{mag(x)});
  }
  return largest == 0 ? most : most / largest;
}

// Nearly all random matrices of integers are well enough conditioned to be verified, also in single precision.
TYPED_TEST(small_systems, solutions_are_enclosed) {
  using T = TypeParam;
  int regular = 0, verified = 0;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    const auto n = static_cast<std::int64_t>(1 + seed % 8);
    const integer_rows A = random_integers(n, n, 9, seed), B = random_integers(n, 2, 99, seed + 1000);
    const auto answer = enclose_solution<T, T>(cpu, matrix_of<T>(A), matrix_of<T>(B));
    if (determinant(A) == 0) {
      EXPECT_NE(answer.result, proof::verified);
      continue;
    }
    ++regular;
    if (answer.result != proof::verified) continue;
    ++verified;
    expect_solutions(answer.enclosure, A, B);
    EXPECT_LT(widest(answer.enclosure), 64 * std::numeric_limits<T>::epsilon());
  }
  EXPECT_GE(verified, regular - 4);
}

// Boxes of integer matrices: corners drawn at random are solved exactly.
TYPED_TEST(small_systems, solutions_for_all_points_of_intervals) {
  using T = TypeParam;
  using set = interval<T>;
  int verified = 0;
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    const auto n = static_cast<std::int64_t>(2 + seed % 4);
    integer_rows A = random_integers(n, n, 500, seed), B = random_integers(n, 1, 500, seed + 1000);
    for (std::size_t i = 0; i < A.size(); ++i) A[i][i] += A[i][i] < 0 ? -1500 : 1500;
    const auto answer = enclose_solution<set, set>(cpu, matrix_of<set>(A, 1), matrix_of<set>(B, 1));
    if (answer.result != proof::verified) continue;
    ++verified;
    const integer_rows da = random_integers(n, n, 1, seed + 2000), db = random_integers(n, 1, 1, seed + 3000);
    for (std::size_t i = 0; i < A.size(); ++i) {
      B[i][0] += db[i][0];
      for (std::size_t j = 0; j < A.size(); ++j) A[i][j] += da[i][j];
    }
    expect_solutions(answer.enclosure, A, B);
  }
  EXPECT_GT(verified, 55);
}

TYPED_TEST(small_systems, singular_matrices_are_never_verified) {
  using T = TypeParam;
  using set = interval<T>;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    const auto n = static_cast<std::int64_t>(2 + seed % 12);
    integer_rows A = random_integers(n, n, 20, seed);
    const auto target = static_cast<std::size_t>(random_bits(seed, 500)) % A.size();
    // One row becomes a combination of two others, and of itself for the smallest.
    for (std::size_t j = 0; j < A.size(); ++j)
      A[target][j] = 3 * A[(target + 1) % A.size()][j] - 2 * A[(target + (A.size() > 2 ? 2 : 1)) % A.size()][j];
    ASSERT_TRUE(determinant(A) == 0);
    const auto P = matrix_of<T>(A);
    EXPECT_NE(enclose_inverse<T>(cpu, P).result, proof::verified);
    const auto det = enclose_determinant<T>(cpu, P);
    EXPECT_NE(det.result, proof::verified);
    EXPECT_TRUE(det.enclosure.lo() <= 0 && det.enclosure.hi() >= 0);
    EXPECT_FALSE(lu<T>(cpu, matrix_of<set>(A)).complete && n == 2);
    // Intervals that hold the singular matrix, about a regular one.
    for (std::size_t i = 0; i < A.size(); ++i) A[i][i] += 2;
    EXPECT_NE(enclose_inverse<set>(cpu, matrix_of<set>(A, 2)).result, proof::verified);
    EXPECT_NE(enclose_determinant<set>(cpu, matrix_of<set>(A, 2)).result, proof::verified);
  }
}

TYPED_TEST(small_systems, determinants_are_enclosed) {
  using T = TypeParam;
  using set = interval<T>;
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    const auto n = static_cast<std::int64_t>(seed % 10);
    const integer_rows A = random_integers(n, n, 9, seed);
    const long_integer exact = determinant(A);
    const auto det = enclose_determinant<T>(cpu, matrix_of<T>(A));
    EXPECT_TRUE(holds_quotient(det.enclosure, exact, 1)) << n;
    EXPECT_TRUE(holds_quotient(enclose_determinant<set>(cpu, matrix_of<set>(A, 1)).enclosure, exact, 1));
    EXPECT_FALSE(exact == 0 && det.result == proof::verified);
    EXPECT_TRUE(det.result != proof::verified || (det.enclosure.lo() > 0) == (exact > 0));
  }
}

TYPED_TEST(small_systems, determinants_beyond_the_range) {
  using T = TypeParam;
  constexpr T limit = std::numeric_limits<T>::max();
  auto A = matrix<T>::zeros(cpu, 40, 40);
  for (std::int64_t i = 0; i < 40; ++i) A(i, i) = std::sqrt(limit);
  const auto large = enclose_determinant<T>(cpu, A);
  EXPECT_EQ(large.result, proof::verified);
  EXPECT_EQ(large.enclosure.lo(), limit);
  for (std::int64_t i = 0; i < 40; ++i) A(i, i) = i % 2 == 0 ? T(0x1p100) : T(-0x1p-100);
  const auto one = enclose_determinant<T>(cpu, A);
  EXPECT_EQ(one.result, proof::verified);
  EXPECT_LE(one.enclosure.lo(), 1);
  EXPECT_GE(one.enclosure.hi(), 1);
  EXPECT_GT(one.enclosure.lo(), T(0.99));
}

// The inverse of the Hilbert matrix: (-1)^(i+j) (i+j-1) C(n+i-1, n-j) C(n+j-1, n-i) C(i+j-2, i-1)^2.
TEST(small_inverse, of_hilbert_matrices) {
  const auto binomial = [](std::int64_t n, std::int64_t k) {
    std::int64_t c = 1;
    for (std::int64_t i = 1; i <= k; ++i) c = c * (n - k + i) / i;
    return c;
  };
  for (const std::int64_t n : {1, 2, 5, 9}) {
    std::int64_t scale = 1;  // makes the entries integers
    for (std::int64_t k = 1; k < 2 * n; ++k) scale = std::lcm(scale, k);
    matrix<double> H(cpu, n, n);
    for (std::int64_t j = 0; j < n; ++j)
      for (std::int64_t i = 0; i < n; ++i) H(i, j) = static_cast<double>(scale / (i + j + 1));
    const auto answer = enclose_inverse<double>(cpu, H);
    ASSERT_EQ(answer.result, proof::verified) << n;
    for (std::int64_t j = 1; j <= n; ++j)
      for (std::int64_t i = 1; i <= n; ++i) {
        const std::int64_t c = binomial(i + j - 2, i - 1);
        const std::int64_t entry = ((i + j) % 2 == 0 ? 1 : -1) * (i + j - 1) * binomial(n + i - 1, n - j) *
                                   binomial(n + j - 1, n - i) * c * c;
        EXPECT_TRUE(holds_quotient(answer.enclosure(i - 1, j - 1), entry, scale))
            << n << ": " << i << ", " << j;
      }
  }
}

// Larger than a panel; A X = B holds for X of integers.
TEST(small_inverse, of_order_130) {
  const std::int64_t n = 130;
  const integer_rows A = random_integers(n, n, 100, 7), X = random_integers(n, 3, 100, 8);
  matrix<double> B(cpu, n, 3);
  for (std::int64_t j = 0; j < 3; ++j)
    for (std::int64_t i = 0; i < n; ++i) {
      std::int64_t sum = 0;
      for (std::size_t k = 0; k < A.size(); ++k)
        sum += A[static_cast<std::size_t>(i)][k] * X[k][static_cast<std::size_t>(j)];
      B(i, j) = static_cast<double>(sum);
    }
  const auto answer = enclose_solution<double, double>(cpu, matrix_of<double>(A), B);
  ASSERT_EQ(answer.result, proof::verified);
  for (std::int64_t j = 0; j < 3; ++j)
    for (std::int64_t i = 0; i < n; ++i) {
      const auto exact = static_cast<double>(X[static_cast<std::size_t>(i)][static_cast<std::size_t>(j)]);
      EXPECT_TRUE(answer.enclosure(i, j).lo() <= exact && exact <= answer.enclosure(i, j).hi());
    }
  EXPECT_LT(widest(answer.enclosure), 1e-14);
  const auto again = enclose_solution<double, double>(device::cpu(3), matrix_of<double>(A), B);
  EXPECT_TRUE(again.enclosure.to_vector() == answer.enclosure.to_vector());
}

TYPED_TEST(small_systems, factors_enclose) {
  using T = TypeParam;
  using set = interval<T>;
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    const auto n = static_cast<std::int64_t>(1 + seed % 5);
    const integer_rows A = random_integers(n, n, 9, seed), B = random_integers(n, 2, 9, seed + 100);
    if (determinant(A) == 0) continue;
    const auto factors = lu<T>(cpu, matrix_of<set>(A));
    if (factors.complete) expect_solutions(substitute<T>(cpu, factors, matrix_of<set>(B)), A, B);
    // A^T A + I is positive definite.
    integer_rows S = random_integers(n, n, 0, 1);
    for (std::size_t i = 0; i < S.size(); ++i)
      for (std::size_t j = 0; j < S.size(); ++j) {
        S[i][j] = i == j;
        for (std::size_t k = 0; k < S.size(); ++k) S[i][j] += A[k][i] * A[k][j];
      }
    const auto root = cholesky<T>(cpu, matrix_of<set>(S));
    ASSERT_TRUE(root.complete);
    expect_solutions(substitute<T>(cpu, root, matrix_of<set>(B)), S, B);
    S[S.size() - 1][S.size() - 1] = -1;
    EXPECT_FALSE(cholesky<T>(cpu, matrix_of<set>(S)).complete);
  }
}

TYPED_TEST(small_systems, arguments_are_checked) {
  using T = TypeParam;
  using set = interval<T>;
  const auto A = matrix<T>::zeros(cpu, 2, 3), S = matrix<T>::zeros(cpu, 2, 2);
  EXPECT_THROW((enclose_inverse<T>(cpu, A)), shape_error);
  EXPECT_THROW((enclose_solution<T, T>(cpu, S, matrix<T>::zeros(cpu, 3, 1))), shape_error);
  auto bad = matrix<set>::zeros(cpu, 2, 2);
  bad(1, 0) = set::empty();
  EXPECT_THROW((enclose_determinant<set>(cpu, bad)), value_error);
  EXPECT_THROW((substitute<T>(cpu, lu<T>(cpu, matrix<set>::zeros(cpu, 2, 2)), bad)), value_error);
  EXPECT_EQ((enclose_inverse<T>(cpu, matrix<T>(cpu, 0, 0))).result, proof::verified);
  EXPECT_EQ((enclose_inverse<T>(cpu, S)).result, proof::singular);
  EXPECT_EQ((enclose_solution<T, T>(cpu, S, matrix<T>(cpu, 2, 0))).result, proof::singular);
}

}  // namespace
}  // namespace vouch
