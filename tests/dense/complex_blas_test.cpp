// Rectangles of small integers: every part is the real routine's on the parts, and nothing is rounded.
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include <vouch/core/error.hpp>
#include <vouch/dense/complex_blas.hpp>

#include "dense/complex_cases.hpp"

namespace vouch {
namespace {

using namespace testing;

template <class T>
class complex_blas : public ::testing::Test {};
using numbers = ::testing::Types<float, double>;
TYPED_TEST_SUITE(complex_blas, numbers);

TYPED_TEST(complex_blas, gemm) {
  using T = TypeParam;
  for (const device& dev : tested_devices())
    for (const auto& [m, n, k] : {std::tuple{0, 2, 3}, {3, 4, 0}, {1, 1, 1}, {5, 3, 4}, {70, 5, 40}})
      for (const transpose ta : all_transposes)
        for (const transpose tb : all_transposes) {
          const exact_complex a(m, k, 1), b(k, n, 2), c(m, n, 3), at = a.transposed(ta), bt = b.transposed(tb);
          auto A = with_ld<T>(dev, at), B = with_ld<T>(dev, bt), C = with_ld<T>(dev, c);
          gemm<T>(dev, ta, tb, number<T>({1, 2}, {-1, 1}), matrix_of(A, at), matrix_of(B, bt),
                  number<T>({2, 2}, {1, 1}), matrix_of(C, c));
          const auto wanted = sum(scaled({1, 2}, {-1, 1}, times(a, b)), scaled({2, 2}, {1, 1}, c));
          C.expect(with_ld<T>(dev, wanted), "gemm");
        }
}

TYPED_TEST(complex_blas, hemm_reads_one_triangle) {
  using T = TypeParam;
  for (const device& dev : tested_devices())
    for (const triangle stored : both_triangles)
      for (const side where : both_sides) {
        const std::int64_t m = 4, n = 70, order = where == side::left ? m : n;
        const exact_complex a(order, order, 1), b(m, n, 2), c(m, n, 3), full = hermitian_of(a, stored);
        auto A = triangle_with_ld<T>(dev, a, stored), B = with_ld<T>(dev, b), C = with_ld<T>(dev, c);
        hemm<T>(dev, where, stored, number<T>({1, 1}, {0, 0}), matrix_of(A, a), matrix_of(B, b),
                number<T>({1, 1}, {0, 0}), matrix_of(C, c));
        C.expect(with_ld<T>(dev, sum(where == side::left ? times(full, b) : times(b, full), c)), "hemm");
      }
}

TYPED_TEST(complex_blas, symm_reads_one_triangle) {
  using T = TypeParam;
  for (const device& dev : tested_devices())
    for (const triangle stored : both_triangles)
      for (const side where : both_sides) {
        const std::int64_t m = 70, n = 4, order = where == side::left ? m : n;
        const exact_complex a(order, order, 1), b(m, n, 2), c(m, n, 3), full = symmetric_of(a, stored);
        auto A = triangle_with_ld<T>(dev, a, stored), B = with_ld<T>(dev, b), C = with_ld<T>(dev, c);
        symm<T>(dev, where, stored, number<T>({1, 2}, {0, 1}), matrix_of(A, a), matrix_of(B, b),
                number<T>({1, 1}, {2, 2}), matrix_of(C, c));
        const auto product = scaled({1, 2}, {0, 1}, where == side::left ? times(full, b) : times(b, full));
        C.expect(with_ld<T>(dev, sum(product, scaled({1, 1}, {2, 2}, c))), "symm");
      }
}

TYPED_TEST(complex_blas, syrk_and_syr2k_write_one_triangle) {
  using T = TypeParam;
  for (const device& dev : tested_devices())
    for (const triangle stored : both_triangles)
      for (const transpose trans : {transpose::no, transpose::yes})
        for (const std::int64_t n : {1, 5, 70}) {
          const exact_complex a(n, 7, 1), b(n, 7, 4), c(n, n, 2);
          const exact_complex at = a.transposed(trans), bt = b.transposed(trans);
          auto A = with_ld<T>(dev, at), B = with_ld<T>(dev, bt), C = triangle_with_ld<T>(dev, c, stored);
          syrk<T>(dev, stored, trans, number<T>({1, 2}, {-1, 0}), matrix_of(A, at), number<T>({2, 2}, {1, 1}),
                  matrix_of(C, c));
          auto all = times(a, a.transposed(transpose::yes));
          for (std::int64_t i = 0; i < n; ++i) {
            all.real(i, i) = {};
            for (std::int64_t l = 0; l < 7; ++l)
              all.real(i, i) = all.real(i, i) + square(a.real(i, l)) + -square(a.imag(i, l));
          }
          const auto old = scaled({2, 2}, {1, 1}, c);
          C.expect(triangle_with_ld<T>(dev, sum(scaled({1, 2}, {-1, 0}, all), old), stored), "syrk");

          auto D = triangle_with_ld<T>(dev, c, stored);
          syr2k<T>(dev, stored, trans, number<T>({1, 1}, {2, 2}), matrix_of(A, at), matrix_of(B, bt),
                   number<T>({2, 2}, {1, 1}), matrix_of(D, c));
          const auto ab = scaled({1, 1}, {2, 2}, times(a, b.transposed(transpose::yes)));
          D.expect(triangle_with_ld<T>(dev, sum(sum(ab, ab.transposed(transpose::yes)), old), stored), "syr2k");
        }
  const device cpu = device::cpu(1);
  const exact_complex two(2, 2);
  auto A = with_ld<T>(cpu, two), C = with_ld<T>(cpu, two);
  EXPECT_THROW(
      syrk<T>(cpu, triangle::lower, transpose::conjugate, {}, matrix_of(A, two), {}, matrix_of(C, two)),
      value_error);
}

TYPED_TEST(complex_blas, herk_and_her2k_write_one_triangle_with_a_real_diagonal) {
  using T = TypeParam;
  for (const device& dev : tested_devices())
    for (const triangle stored : both_triangles)
      for (const transpose trans : {transpose::no, transpose::conjugate})
        for (const std::int64_t n : {1, 5, 70}) {
          const exact_complex a(n, 7, 1), b(n, 7, 4), c(n, n, 2);
          const exact_complex at = a.transposed(trans), bt = b.transposed(trans);
          auto A = with_ld<T>(dev, at), B = with_ld<T>(dev, bt), C = triangle_with_ld<T>(dev, c, stored);
          exact_complex old = c;
          for (std::int64_t i = 0; i < n; ++i) old.imag(i, i) = {};
          herk<T>(dev, stored, trans, element<interval<T>>({1, 2}), matrix_of(A, at),
                  element<interval<T>>({3, 3}), matrix_of(C, c));
          auto all = times(a, a.transposed(transpose::conjugate));
          for (std::int64_t i = 0; i < n; ++i) {
            all.real(i, i) = all.imag(i, i) = {};
            for (std::int64_t l = 0; l < 7; ++l)
              all.real(i, i) = all.real(i, i) + square(a.real(i, l)) + square(a.imag(i, l));
          }
          const auto wanted = sum(scaled({1, 2}, {0, 0}, all), scaled({3, 3}, {0, 0}, old));
          C.expect(triangle_with_ld<T>(dev, wanted, stored), "herk");

          auto D = triangle_with_ld<T>(dev, c, stored);
          her2k<T>(dev, stored, trans, number<T>({1, 1}, {2, 2}), matrix_of(A, at), matrix_of(B, bt),
                   element<interval<T>>({3, 3}), matrix_of(D, c));
          const auto ab = scaled({1, 1}, {2, 2}, times(a, b.transposed(transpose::conjugate)));
          auto both = sum(ab, ab.transposed(transpose::conjugate));
          for (std::int64_t i = 0; i < n; ++i) both.imag(i, i) = {};
          D.expect(triangle_with_ld<T>(dev, sum(both, scaled({3, 3}, {0, 0}, old)), stored), "her2k");
        }
  const device cpu = device::cpu(1);
  const exact_complex two(2, 2);
  auto A = with_ld<T>(cpu, two), C = with_ld<T>(cpu, two);
  EXPECT_THROW(herk<T>(cpu, triangle::lower, transpose::yes, interval<T>(T{1}), matrix_of(A, two), {},
                       matrix_of(C, two)),
               value_error);
}

TYPED_TEST(complex_blas, trmm) {
  using T = TypeParam;
  for (const device& dev : tested_devices())
    for (const triangle stored : both_triangles)
      for (const side where : both_sides)
        for (const transpose trans : all_transposes)
          for (const diagonal unit : both_diagonals) {
            const std::int64_t m = 4, n = 150, order = where == side::left ? m : n;
            const exact_complex a(order, order, 1), b(m, n, 2);
            const exact_complex t = triangular_of(a, stored, unit).transposed(trans);
            auto A = triangle_with_ld<T>(dev, a, stored, unit), B = with_ld<T>(dev, b);
            trmm<T>(dev, where, stored, trans, unit, number<T>({1, 2}, {0, 3}), matrix_of(A, a),
                    matrix_of(B, b));
            const auto wanted = scaled({1, 2}, {0, 3}, where == side::left ? times(t, b) : times(b, t));
            B.expect(with_ld<T>(dev, wanted), "trmm");
          }
}

// Right-hand sides of known points: every step is exact.
TYPED_TEST(complex_blas, trsm) {
  using T = TypeParam;
  for (const device& dev : tested_devices())
    for (const auto& [m, n] : {std::pair{0, 3}, {3, 0}, {1, 1}, {5, 70}, {70, 5}, {133, 2}})
      for (const triangle stored : both_triangles)
        for (const side where : both_sides)
          for (const transpose trans : all_transposes)
            for (const diagonal unit : both_diagonals) {
              const std::int64_t order = where == side::left ? m : n;
              const exact_complex a = solvable_complex(order);
              exact_complex x(m, n);
              x.real = random_matrix<double>(m, n, 2);
              x.imag = random_matrix<double>(m, n, 3);
              const exact_complex t = triangular_of(a, stored, unit).transposed(trans);
              const exact_complex b = where == side::left ? times(t, x) : times(x, t);
              auto A = triangle_with_ld<T>(dev, a, stored, unit), B = with_ld<T>(dev, b);
              trsm<T>(dev, where, stored, trans, unit, number<T>({0, 0}, {-1, -1}), matrix_of(A, a),
                      matrix_of(B, b));
              B.expect(with_ld<T>(dev, scaled({0, 0}, {-1, -1}, x)), "trsm");
            }
  const device cpu = device::cpu(1);
  exact_complex zero = solvable_complex(2);
  zero.real(1, 1) = zero.imag(1, 1) = {-1, 0};
  auto A = with_ld<T>(cpu, zero), B = with_ld<T>(cpu, zero);
  try {
    trsm<T>(cpu, side::left, triangle::lower, transpose::no, diagonal::general, interval<T>(T{1}),
            matrix_of(A, zero), matrix_of(B, zero));
    FAIL();
  } catch (const value_error& e) {
    EXPECT_STREQ(e.what(), "trsm: the diagonal element (1, 1) holds 0");
  }
}

TYPED_TEST(complex_blas, largest_smallest_and_turned) {
  using T = TypeParam;
  using Z = complex_interval<T>;
  const std::vector<Z> values{number<T>({-1, 2}, {3, 3}), number<T>({0, 0}, {-1, 5}), poisoned<T>(),
                              number<T>({-4, 1}, {0, 2}), number<T>({1, 1}, {2, 2})};
  const exact_complex x(9, 1, 1), y(9, 1, 2);
  for (const device& dev : tested_devices()) {
    const auto V = array<Z>::from(dev, values);
    EXPECT_EQ(iamax<T>(dev, V.all()), 3);  // 5, 5, -, 6, 3
    EXPECT_EQ(iamin<T>(dev, V.all()), 1);  // 3, 0, -, 0, 3
    EXPECT_EQ(iamax<T>(dev, view<const Z>(V.data() + 2, 1)), -1);
    auto X = with_stride<T>(dev, x, 2), Y = with_stride<T>(dev, y, -1);
    rot<T>(dev, vector_of(X, 9, 2), vector_of(Y, 9, -1), element<interval<T>>({3, 3}),
           element<interval<T>>({2, 2}));
    X.expect(with_stride<T>(dev, sum(scaled({3, 3}, {0, 0}, x), scaled({2, 2}, {0, 0}, y)), 2), "rot");
    Y.expect(with_stride<T>(dev, sum(scaled({3, 3}, {0, 0}, y), scaled({-2, -2}, {0, 0}, x)), -1), "rot");
  }
}

TYPED_TEST(complex_blas, rotations_bring_to_zero) {
  using T = TypeParam;
  using Z = complex_interval<T>;
  const auto around = [](Z z, T re, T im) {  // a narrow rectangle at the point
    constexpr T little = T{0x1p-15};
    const auto near = [](interval<T> x, T value) {
      return x.lo() - little <= value && value <= x.hi() + little && x.hi() - x.lo() < little;
    };
    return near(z.real(), re) && near(z.imag(), im);
  };
  const T half_root = std::sqrt(T{0.5});
  // a = 3 + 4i, b = 4 - 3i = -i a: |a| = |b|, so c = 1/2^(1/2), s = i c, r = 2^(1/2) a.
  const auto both = rotg<T>(number<T>({3, 3}, {4, 4}), number<T>({4, 4}, {-3, -3}));
  EXPECT_TRUE(around(both.c, half_root, 0));
  EXPECT_TRUE(around(both.s, 0, half_root));
  EXPECT_TRUE(around(both.r, 3 * std::sqrt(T{2}), 4 * std::sqrt(T{2})));
  const auto none = rotg<T>(number<T>({0, 0}, {2, 2}), Z{});
  EXPECT_TRUE(around(none.c, 1, 0) && around(none.s, 0, 0) && around(none.r, 0, 2));
  const auto only = rotg<T>(Z{}, number<T>({0, 0}, {2, 2}));
  EXPECT_TRUE(around(only.c, 0, 0) && around(only.s, 0, -1) && around(only.r, 2, 0));
  const auto wide = rotg<T>(number<T>({-1, 1}, {-1, 1}), number<T>({1, 1}, {0, 0}));
  EXPECT_TRUE(subset(number<T>({0, 0}, {1, 1}) * sqrt(interval<T>(T{0.5})), wide.s));  // a = i
  EXPECT_TRUE(is_empty(rotg<T>(poisoned<T>(), Z{}).s));
}

TYPED_TEST(complex_blas, vectors) {
  using T = TypeParam;
  using Z = complex_interval<T>;
  const std::int64_t n = 9;
  const exact_complex x(n, 1, 1), y(n, 1, 2);
  for (const device& dev : tested_devices()) {
    const auto X = array<Z>::from(dev, entries<T>(x));
    auto Y = array<Z>::from(dev, entries<T>(y));
    const view<const Z> from = X.all(), other = Y.all();
    EXPECT_EQ(dotu<T>(dev, from, other), entries<T>(times(x.transposed(transpose::yes), y))[0]);
    EXPECT_EQ(dotc<T>(dev, from, other), entries<T>(times(x.transposed(transpose::conjugate), y))[0]);
    whole magnitudes;
    for (const auto* part : {&x.real, &x.imag})
      for (const whole w : part->entries) {
        const std::int64_t least = w.lo > 0 ? w.lo : w.hi < 0 ? -w.hi : 0;
        magnitudes = magnitudes + whole{least, std::max(-w.lo, w.hi)};
      }
    EXPECT_EQ(asum<T>(dev, from), element<interval<T>>(magnitudes));
    axpy<T>(dev, number<T>({-1, 2}, {3, 4}), from, Y.all());
    const auto moved = sum(scaled({-1, 2}, {3, 4}, x), y);
    EXPECT_EQ(Y.to_vector(), entries<T>(moved));
    scal<T>(dev, element<interval<T>>({-2, 1}), Y.all());
    EXPECT_EQ(Y.to_vector(), entries<T>(scaled({-2, 1}, {0, 0}, moved)));
    scal<T>(dev, number<T>({1, 2}, {-3, 1}), Y.all());
    auto other_place = array<Z>::from(dev, entries<T>(x));
    const auto turned = scaled({1, 2}, {-3, 1}, scaled({-2, 1}, {0, 0}, moved));
    copy<T>(dev, view<const Z>(Y.all()), other_place.all());
    EXPECT_EQ(other_place.to_vector(), entries<T>(turned));
    auto third = array<Z>::from(dev, entries<T>(x));
    swap<T>(dev, third.all(), other_place.all());
    EXPECT_EQ(other_place.to_vector(), entries<T>(x));
    EXPECT_EQ(third.to_vector(), entries<T>(turned));
    const std::vector<Z> right_angled{Z(interval<T>(T{3}), interval<T>(T{0})),
                                      Z(interval<T>(T{0}), interval<T>(T{4}))};
    const auto R = array<Z>::from(dev, right_angled);
    const interval<T> five = nrm2<T>(dev, view<const Z>(R.all()));
    EXPECT_TRUE(five.lo() <= 5 && five.hi() >= 5 && five.hi() - five.lo() < T{0x1p-16});
  }
}

}  // namespace
}  // namespace vouch
