// Every routine with every combination of its parameters on small integers: the results must be exact.
#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include <vouch/core/error.hpp>
#include <vouch/dense/blas/avx512.hpp>
#include <vouch/dense/blas3.hpp>

#include "dense/integer_cases.hpp"

namespace vouch {
namespace {

using namespace testing;

struct sizes {
  std::int64_t m, n, k;
};
// Empty, single, odd, and around the edges of tiles (16, 4, 6) and blocks (64, 72, 128).
constexpr sizes shapes[] = {{0, 3, 2},  {3, 0, 2},     {3, 2, 0},   {1, 1, 1},     {5, 3, 7},     {16, 4, 1},
                            {17, 7, 3}, {33, 13, 129}, {64, 72, 5}, {65, 73, 128}, {130, 135, 20}};

template <class Types>
class blas3 : public ::testing::Test {
 protected:
  // All factors where that is cheap.
  std::vector<whole> factors(const sizes& s) const {
    if (s.m * s.n * s.k < 20000) return factors();
    return {factors().back()};
  }

  using TA = typename Types::a;
  using TB = typename Types::b;
  using TC = typename Types::c;
  static constexpr bool same = std::same_as<TB, TC>;  // what routines with two operands are instantiated for

  // Points of C's type and, for intervals, sets around 0.
  std::vector<whole> factors() const {
    if constexpr (is_interval<TC>) return {{0, 0}, {1, 1}, {-2, 3}};
    return {{0, 0}, {1, 1}, {-2, -2}};
  }
};
TYPED_TEST_SUITE(blas3, all_types);

TYPED_TEST(blas3, gemm) {
  for (const device& dev : tested_devices()) {
    using f = TestFixture;
    for (const auto& [m, n, k] : shapes)
      for (const transpose ta : both_transposes)
        for (const transpose tb : both_transposes)
          for (const whole alpha : this->factors({m, n, k}))
            for (const whole beta : this->factors({m, n, k})) {
              const auto a = random_matrix<typename f::TA>(m, k, 1);
              const auto b = random_matrix<typename f::TB>(k, n, 2);
              const auto c = random_matrix<typename f::TC>(m, n, 3);
              laid_out<typename f::TA> A(dev, a.transposed(ta == transpose::yes));
              laid_out<typename f::TB> B(dev, b.transposed(tb == transpose::yes));
              laid_out<typename f::TC> C(dev, c);
              gemm(dev, ta, tb, element<typename f::TC>(alpha), A.read(), B.read(),
                   element<typename f::TC>(beta), C.all());
              C.expect(combination(alpha, product(a, b), beta, c), "gemm");
            }
  }
}

TYPED_TEST(blas3, beta_of_zero_overwrites_anything) {
  for (const device& dev : tested_devices()) {
    using f = TestFixture;
    const exact_matrix zero(3, 3);
    laid_out<typename f::TA> A(dev, zero);
    laid_out<typename f::TB> B(dev, zero);
    laid_out<typename f::TC> C(dev, zero);
    for (const whole alpha : this->factors()) {
      for (std::int64_t j = 0; j < 3; ++j) C.host()(j, j) = poison<typename f::TC>();
      gemm(dev, transpose::no, transpose::no, element<typename f::TC>(alpha), A.read(), B.read(),
           element<typename f::TC>({0, 0}), C.all());
      C.expect(zero, "gemm");
    }
  }
}

TYPED_TEST(blas3, symm) {
  for (const device& dev : tested_devices()) {
    using f = TestFixture;
    for (const auto& [m, n, k] : shapes)
      for (const side where : both_sides)
        for (const triangle stored : both_triangles)
          for (const whole alpha : this->factors({m, n, k})) {
            const whole beta{2, 2};
            const std::int64_t order = where == side::left ? m : n;
            const auto a = random_matrix<typename f::TA>(order, order, 1);
            const auto b = random_matrix<typename f::TB>(m, n, 2);
            const auto c = random_matrix<typename f::TC>(m, n, 3);
            laid_out<typename f::TA> A(dev, a);
            laid_out<typename f::TB> B(dev, b);
            laid_out<typename f::TC> C(dev, c);
            poison_unread(A.host(), stored);
            symm(dev, where, stored, element<typename f::TC>(alpha), A.read(), B.read(),
                 element<typename f::TC>(beta), C.all());
            const auto s = symmetric_of(a, stored);
            C.expect(combination(alpha, where == side::left ? product(s, b) : product(b, s), beta, c), "symm");
          }
  }
}

// Only one triangle may change.
exact_matrix merged(const exact_matrix& result, const exact_matrix& old, triangle written) {
  exact_matrix all = old;
  for (std::int64_t j = 0; j < old.cols; ++j)
    for (std::int64_t i = 0; i < old.rows; ++i)
      if (written == triangle::lower ? i >= j : i <= j) all(i, j) = result(i, j);
  return all;
}

TYPED_TEST(blas3, syrk_and_syr2k) {
  for (const device& dev : tested_devices()) {
    using f = TestFixture;
    using E = typename f::TA;
    if constexpr (std::same_as<E, typename f::TB>)
      for (const auto& [m, n, k] : shapes)
        for (const triangle written : both_triangles)
          for (const transpose trans : both_transposes)
            for (const whole alpha : this->factors({m, n, k})) {
              const whole beta{-1, -1};
              const auto a = random_matrix<E>(n, k, 1), b = random_matrix<E>(n, k, 2);
              const auto c = random_matrix<typename f::TC>(n, n, 3);
              laid_out<E> A(dev, a.transposed(trans == transpose::yes)),
                  B(dev, b.transposed(trans == transpose::yes));
              laid_out<typename f::TC> C(dev, c), D(dev, c);
              syrk(dev, written, trans, element<typename f::TC>(alpha), A.read(), element<typename f::TC>(beta),
                   C.all());
              auto squares = product(a, a.transposed());
              for (std::int64_t i = 0; i < n; ++i) {
                squares(i, i) = {};
                for (std::int64_t l = 0; l < k; ++l) squares(i, i) = squares(i, i) + square(a(i, l));
              }
              C.expect(merged(combination(alpha, squares, beta, c), c, written), "syrk");
              syr2k(dev, written, trans, element<typename f::TC>(alpha), A.read(), B.read(),
                    element<typename f::TC>(beta), D.all());
              const auto both =
                  combination({1, 1}, product(a, b.transposed()), {1, 1}, product(b, a.transposed()));
              D.expect(merged(combination(alpha, both, beta, c), c, written), "syr2k");
            }
  }
}

TYPED_TEST(blas3, trmm) {
  for (const device& dev : tested_devices()) {
    using f = TestFixture;
    using E = typename f::TC;
    if constexpr (f::same)
      for (const auto& [m, n, k] : shapes)
        for (const side where : both_sides)
          for (const triangle stored : both_triangles)
            for (const transpose trans : both_transposes)
              for (const diagonal unit : both_diagonals) {
                const whole alpha = this->factors().back();
                const std::int64_t order = where == side::left ? m : n;
                const auto a = random_matrix<typename f::TA>(order, order, 1);
                const auto b = random_matrix<E>(m, n, 2);
                laid_out<typename f::TA> A(dev, a);
                laid_out<E> B(dev, b);
                poison_unread(A.host(), stored, unit);
                trmm(dev, where, stored, trans, unit, element<E>(alpha), A.read(), B.all());
                const auto t = triangular_of(a, stored, unit).transposed(trans == transpose::yes);
                const exact_matrix zero(m, n);
                B.expect(combination(alpha, where == side::left ? product(t, b) : product(b, t), {}, zero),
                         "trmm");
              }
  }
}

// A triangular matrix of points with unit-like diagonal and few entries, so that solutions stay small integers.
template <class E>
exact_matrix solvable(std::int64_t n, diagonal unit) {
  exact_matrix A(n, n);
  for (std::int64_t j = 0; j < n; ++j)
    for (std::int64_t i = 0; i < n; ++i) {
      const auto r = random_bits(9, static_cast<std::uint64_t>(i + j * n)) % 64;
      const std::int64_t x = i == j ? (r % 2 == 0 ? 1 : -1) : (r == 0 ? 1 : r == 1 ? -1 : 0);
      A(i, j) = {x, x};
      if (i == j && unit == diagonal::unit) A(i, j) = {7, 7};
    }
  return A;
}

// A system of points with an integer solution: B = op(A) X is formed exactly, and every step of the
// substitution is exact.
TYPED_TEST(blas3, trsm) {
  for (const device& dev : tested_devices()) {
    using f = TestFixture;
    using E = typename f::TC;
    if constexpr (f::same)
      for (const auto& [m, n, k] : shapes)
        for (const side where : both_sides)
          for (const triangle stored : both_triangles)
            for (const transpose trans : both_transposes)
              for (const diagonal unit : both_diagonals) {
                const std::int64_t order = where == side::left ? m : n;
                const auto a = solvable<typename f::TA>(order, unit);
                const auto t = triangular_of(a, stored, unit).transposed(trans == transpose::yes);
                const auto x = random_matrix<double>(m, n, 2);
                const auto b = where == side::left ? product(t, x) : product(x, t);
                laid_out<typename f::TA> A(dev, a);
                laid_out<E> B(dev, b);
                poison_unread(A.host(), stored, unit);
                trsm(dev, where, stored, trans, unit, element<E>({-1, -1}), A.read(), B.all());
                const exact_matrix zero(m, n);
                B.expect(combination({-1, -1}, x, {}, zero), "trsm");
              }
  }
}

TYPED_TEST(blas3, same_bits_for_any_number_of_threads_and_without_registers) {
  using f = TestFixture;
  using T = bound_of<typename f::TC>;
  const std::int64_t m = 150, n = 141, k = 140;
  const auto some = [](auto type, std::uint64_t seed) {
    using E = decltype(type);
    return [seed](std::uint64_t at) {
      const auto x = static_cast<T>(random_unit(seed, 2 * at) - 0.5);
      if constexpr (is_interval<E>)
        return E::unchecked(x, x + static_cast<T>(random_unit(seed, 2 * at + 1)));
      else
        return x;
    };
  };
  const auto fill = [](auto make, auto& M) {
    for (std::int64_t i = 0; i < M.rows() * M.cols(); ++i) M.data()[i] = make(static_cast<std::uint64_t>(i));
  };
  matrix<typename f::TA> A(device::cpu(1), m, k);
  matrix<typename f::TB> B(device::cpu(1), k, n);
  matrix<typename f::TC> C(device::cpu(1), m, n), D(device::cpu(1), m, n);
  fill(some(typename f::TA{}, 1), A);
  fill(some(typename f::TB{}, 2), B);
  const auto one = element<typename f::TC>({1, 1}), none = element<typename f::TC>({0, 0});
  gemm(device::cpu(1), transpose::no, transpose::no, one, A.read(), B.read(), none, C.all());
  gemm(device::cpu(3), transpose::no, transpose::no, one, A.read(), B.read(), none, D.all());
  EXPECT_EQ(std::memcmp(C.data(), D.data(), sizeof(typename f::TC) * static_cast<std::size_t>(m * n)), 0);
#if VOUCH_HAS_AVX512
  avx512::switched_off = true;
  gemm(device::cpu(2), transpose::no, transpose::no, one, A.read(), B.read(), none, D.all());
  avx512::switched_off = false;
  for (std::int64_t j = 0; j < n; ++j)
    for (std::int64_t i = 0; i < m; ++i) ASSERT_EQ(C(i, j), D(i, j)) << i << ' ' << j;
#endif
}

TEST(blas3_sets, empty_and_unbounded_intervals_follow_the_standard) {
  using I = interval<double>;
  const double inf = std::numeric_limits<double>::infinity();
  const device dev = device::cpu(1);
  auto A = matrix<I>::zeros(dev, 3, 2);
  auto B = matrix<I>::zeros(dev, 2, 2);
  A(0, 0) = I::empty();
  A(1, 0) = I::unchecked(1, inf);
  A(2, 0) = I::entire();
  B(0, 0) = I::unchecked(-2, 3);
  B(0, 1) = I(0.0);
  auto C = matrix<I>::zeros(dev, 3, 2);
  gemm(dev, transpose::no, transpose::no, I(1.0), A.read(), B.read(), I(0.0), C.all());
  EXPECT_TRUE(is_empty(C(0, 0)));
  EXPECT_TRUE(is_empty(C(0, 1)));
  EXPECT_EQ(C(1, 0), I::entire());
  EXPECT_EQ(C(1, 1), I(0.0));  // 0 times anything is 0
  EXPECT_EQ(C(2, 0), I::entire());
  EXPECT_EQ(C(2, 1), I(0.0));
}

TEST(blas3_sets, a_point_that_is_no_number_makes_the_result_empty) {
  using I = interval<double>;
  const device dev = device::cpu(1);
  const std::vector<double> a{1, std::numeric_limits<double>::infinity()};
  const std::vector<double> b{0};
  const auto A = matrix<double>::from(dev, 2, 1, a);
  const auto B = matrix<double>::from(dev, 1, 1, b);
  matrix<I> C(dev, 2, 1);
  gemm(dev, transpose::no, transpose::no, I(1.0), A.all(), B.all(), I(0.0), C.all());
  EXPECT_EQ(C(0, 0), I(0.0));
  EXPECT_TRUE(is_empty(C(1, 0)));
}

TEST(blas3_sets, sums_that_overflow_still_enclose) {
  using I = interval<double>;
  const device dev = device::cpu(1);
  const std::vector<double> a{1e200, -1e200, 1e200}, b{1e200, 1e200, 1e200};
  const auto A = matrix<double>::from(dev, 1, 3, a);
  const auto B = matrix<double>::from(dev, 3, 1, b);
  matrix<I> C(dev, 1, 1);
  gemm(dev, transpose::no, transpose::no, I(1.0), A.all(), B.all(), I(0.0), C.all());  // exactly 1e400
  EXPECT_EQ(C(0, 0).hi(), std::numeric_limits<double>::infinity());
  EXPECT_LE(C(0, 0).lo(), std::numeric_limits<double>::max());
}

TEST(blas3_errors, name_both_shapes_and_the_element) {
  const device dev = device::cpu(1);
  auto A = matrix<double>::zeros(dev, 3, 2), B = matrix<double>::zeros(dev, 3, 2);
  auto C = matrix<double>::zeros(dev, 3, 3);
  const auto message = [](auto call) -> std::string {
    try {
      call();
    } catch (const error& e) {
      return e.what();
    }
    return "nothing thrown";
  };
  const auto no = transpose::no;
  EXPECT_EQ(message([&] { gemm(dev, no, no, 1.0, A.read(), B.read(), 0.0, C.all()); }),
            "gemm: op(A) is 3-by-2 and op(B) is 3-by-2");
  EXPECT_EQ(message([&] { gemm(dev, transpose::yes, no, 1.0, A.read(), B.read(), 0.0, C.all()); }),
            "gemm: C is 3-by-3, not 2-by-2");
  EXPECT_EQ(message([&] { gemm(dev, no, no, 1.0, C.read(), A.read(), 0.0, A.all()); }), "gemm: C overlaps B");
  EXPECT_EQ(
      message([&] { trsm(dev, side::left, triangle::lower, no, diagonal::general, 1.0, C.read(), A.all()); }),
      "trsm: the diagonal element (0, 0) is 0");
  auto bad = C.all();
  bad.ld = 2;
  EXPECT_THROW(gemm(dev, no, transpose::yes, 1.0, A.read(), B.read(), 0.0, bad), value_error);
  auto D = matrix<interval<double>>::zeros(dev, 2, 2);
  auto X = matrix<interval<double>>::zeros(dev, 2, 1);
  D(0, 0) = interval<double>(1.0);
  D(1, 1) = interval<double>::unchecked(-1, 2);
  EXPECT_EQ(message([&] {
              trsm(dev, side::left, triangle::upper, no, diagonal::general, interval<double>(1.0), D.read(),
                   X.all());
            }),
            "trsm: the diagonal element (1, 1) holds 0");
}

TEST(blas3_errors, blocks_of_one_matrix_that_do_not_meet_are_no_overlap) {
  const device dev = device::cpu(1);
  auto M = matrix<double>::zeros(dev, 8, 8);
  const auto all = M.all();
  all(0, 0) = all(0, 4) = 3;
  const matrix_view<const double> A = all.block(0, 0, 4, 4), B = all.block(0, 4, 4, 4);
  gemm(dev, transpose::no, transpose::no, 1.0, A, B, 0.0, all.block(4, 0, 4, 4));
  EXPECT_EQ(all(4, 0), 9);
  EXPECT_THROW(gemm(dev, transpose::no, transpose::no, 1.0, A, B, 0.0, all.block(3, 1, 4, 4)), value_error);
}

}  // namespace
}  // namespace vouch
