// Level 2 on rectangles of small integers, where nothing is rounded: every storage, stride and transposition,
// and nothing read or written beside the operands.
#include <gtest/gtest.h>

#include <string>

#include <vouch/core/error.hpp>
#include <vouch/dense/complex_blas.hpp>

#include "dense/complex_cases.hpp"

namespace vouch {
namespace {

using namespace testing;

constexpr std::int64_t sizes[] = {0, 1, 3, 65, 261};
template <class T>
class complex_blas2 : public ::testing::Test {
 protected:
  using number_type = complex_interval<T>;
  const exact_complex nothing{0, 0};
  whole alpha_re{1, 2}, alpha_im{-1, 1}, beta_re{2, 2}, beta_im{1, 1};
  number_type alpha = number<T>(alpha_re, alpha_im), beta = number<T>(beta_re, beta_im);

  exact_complex wanted(const exact_complex& A, const exact_complex& x, const exact_complex& y) const {
    return sum(scaled(alpha_re, alpha_im, times(A, x)), scaled(beta_re, beta_im, y));
  }
};
using numbers = ::testing::Types<float, double>;
TYPED_TEST_SUITE(complex_blas2, numbers);

TYPED_TEST(complex_blas2, gemv_and_gbmv) {
  using T = TypeParam;
  using Z = complex_interval<T>;
  for (const device& dev : tested_devices())
    for (const std::int64_t m : sizes)
      for (const std::int64_t n : {0, 2, 70})
        for (const transpose trans : all_transposes) {
          const bool plain = trans == transpose::no;
          const exact_complex a(m, n, 1), x(plain ? n : m, 1, 2), y(plain ? m : n, 1, 3);
          auto A = with_ld<T>(dev, a);
          auto X = with_stride<T>(dev, x, -2), Y = with_stride<T>(dev, y, 3);
          const view<const Z> from = vector_of(X, x.real.rows, -2);
          gemv<T>(dev, trans, this->alpha, matrix_of(A, a), from, this->beta, vector_of(Y, y.real.rows, 3));
          Y.expect(with_stride<T>(dev, this->wanted(a.transposed(trans), x, y), 3), "gemv");
          for (const auto& [kl, ku] : {std::pair{0, 0}, {2, 1}, {80, 3}}) {
            const exact_complex b = banded(a, kl, ku);
            auto B = band<T>(dev, b, kl, ku);
            auto W = with_stride<T>(dev, y, -1);
            gbmv<T>(dev, trans, m, kl, ku, this->alpha,
                    matrix_view<const Z>{B.data(), kl + ku + 1, n, kl + ku + 1}, from, this->beta,
                    vector_of(W, y.real.rows, -1));
            W.expect(with_stride<T>(dev, this->wanted(b.transposed(trans), x, y), -1), "gbmv");
          }
        }
}

TYPED_TEST(complex_blas2, hemv_hbmv_and_hpmv) {
  using T = TypeParam;
  using Z = complex_interval<T>;
  for (const device& dev : tested_devices())
    for (const std::int64_t n : sizes)
      for (const triangle stored : both_triangles) {
        const exact_complex a(n, n, 1), x(n, 1, 2), y(n, 1, 3);
        auto A = triangle_with_ld<T>(dev, a, stored), P = packed<T>(dev, a, stored);
        auto X = with_stride<T>(dev, x, 2), Y = with_stride<T>(dev, y, -1), W = with_stride<T>(dev, y, 1);
        const view<const Z> from = vector_of(X, n, 2);
        const exact_complex wanted = this->wanted(hermitian_of(a, stored), x, y);
        hemv<T>(dev, stored, this->alpha, matrix_of(A, a), from, this->beta, vector_of(Y, n, -1));
        Y.expect(with_stride<T>(dev, wanted, -1), "hemv");
        hpmv<T>(dev, stored, this->alpha, view<const Z>(P.data(), P.size()), from, this->beta,
                vector_of(W, n, 1));
        W.expect(with_stride<T>(dev, wanted, 1), "hpmv");
        for (const std::int64_t k : {0, 3, 100}) {
          const std::int64_t kl = stored == triangle::lower ? k : 0;
          auto B = band<T>(dev, a, kl, k - kl);
          auto V = with_stride<T>(dev, y, 3);
          hbmv<T>(dev, stored, k, this->alpha, matrix_view<const Z>{B.data(), k + 1, n, k + 1}, from,
                  this->beta, vector_of(V, n, 3));
          V.expect(with_stride<T>(dev, this->wanted(banded(hermitian_of(a, stored), k, k), x, y), 3), "hbmv");
        }
      }
}

TYPED_TEST(complex_blas2, trmv_tbmv_and_tpmv) {
  using T = TypeParam;
  using Z = complex_interval<T>;
  for (const device& dev : tested_devices())
    for (const std::int64_t n : {0, 1, 3, 65})
      for (const triangle stored : both_triangles)
        for (const transpose trans : all_transposes)
          for (const diagonal unit : both_diagonals) {
            const exact_complex a(n, n, 1), x(n, 1, 2);
            auto A = triangle_with_ld<T>(dev, a, stored, unit), P = packed<T>(dev, a, stored, unit);
            auto X = with_stride<T>(dev, x, -2), Y = with_stride<T>(dev, x, 1);
            const exact_complex wanted = times(triangular_of(a, stored, unit).transposed(trans), x);
            trmv<T>(dev, stored, trans, unit, matrix_of(A, a), vector_of(X, n, -2));
            X.expect(with_stride<T>(dev, wanted, -2), "trmv");
            tpmv<T>(dev, stored, trans, unit, view<const Z>(P.data(), P.size()), vector_of(Y, n, 1));
            Y.expect(with_stride<T>(dev, wanted, 1), "tpmv");
            const std::int64_t k = 4, kl = stored == triangle::lower ? k : 0;
            const exact_complex b = banded(a, kl, k - kl);
            auto B = band<T>(dev, b, kl, k - kl, unit);
            auto V = with_stride<T>(dev, x, 3);
            tbmv<T>(dev, stored, trans, unit, k, matrix_view<const Z>{B.data(), k + 1, n, k + 1},
                    vector_of(V, n, 3));
            V.expect(with_stride<T>(dev, times(triangular_of(b, stored, unit).transposed(trans), x), 3),
                     "tbmv");
          }
}

// Right-hand sides of known points: every step is exact.
TYPED_TEST(complex_blas2, trsv_tbsv_and_tpsv) {
  using T = TypeParam;
  using Z = complex_interval<T>;
  for (const device& dev : tested_devices())
    for (const std::int64_t n : sizes)
      for (const triangle stored : both_triangles)
        for (const transpose trans : all_transposes)
          for (const diagonal unit : both_diagonals) {
            const exact_complex a = solvable_complex(n), x = point_column(n, 2);
            const exact_complex b = times(triangular_of(a, stored, unit).transposed(trans), x);
            auto A = triangle_with_ld<T>(dev, a, stored, unit), P = packed<T>(dev, a, stored, unit);
            auto X = with_stride<T>(dev, b, -2), Y = with_stride<T>(dev, b, 1);
            trsv<T>(dev, stored, trans, unit, matrix_of(A, a), vector_of(X, n, -2));
            X.expect(with_stride<T>(dev, x, -2), "trsv");
            tpsv<T>(dev, stored, trans, unit, view<const Z>(P.data(), P.size()), vector_of(Y, n, 1));
            Y.expect(with_stride<T>(dev, x, 1), "tpsv");
            for (const std::int64_t k : {0, 3, 140}) {
              const std::int64_t kl = stored == triangle::lower ? k : 0;
              const exact_complex c = banded(a, kl, k - kl);
              auto B = band<T>(dev, c, kl, k - kl, unit);
              auto V = with_stride<T>(dev, times(triangular_of(c, stored, unit).transposed(trans), x), 3);
              tbsv<T>(dev, stored, trans, unit, k, matrix_view<const Z>{B.data(), k + 1, n, k + 1},
                      vector_of(V, n, 3));
              V.expect(with_stride<T>(dev, x, 3), "tbsv");
            }
          }
}

// A system of points within the sets has a known solution: it lies in what is found.
TYPED_TEST(complex_blas2, triangular_systems_of_rectangles_enclose) {
  using T = TypeParam;
  using Z = complex_interval<T>;
  const auto widened = [](exact_complex c) {
    for (exact_matrix* part : {&c.real, &c.imag})
      for (std::size_t k = 0; k < part->entries.size(); ++k)
        (k % 3 == 0 ? part->entries[k].lo : part->entries[k].hi) += k % 3 == 0 ? -1 : k % 3 == 1 ? 1 : 0;
    return c;
  };
  for (const device& dev : tested_devices())
    for (const std::int64_t n : {2, 7, 12})
      for (const triangle stored : both_triangles)
        for (const transpose trans : all_transposes) {
          exact_complex a = solvable_complex(n);
          const exact_complex x = point_column(n, 2);
          const exact_complex b = times(triangular_of(a, stored, diagonal::general).transposed(trans), x);
          exact_complex sets = widened(a);
          for (std::int64_t i = 0; i < n; ++i) {  // no 0 on the diagonal
            sets.real(i, i) = a.real(i, i);
            sets.imag(i, i) = a.imag(i, i);
            if (a.real(i, i).lo > 0) sets.real(i, i).hi += 1;
          }
          auto A = triangle_with_ld<T>(dev, sets, stored);
          auto X = with_stride<T>(dev, widened(b), 1);
          trsv<T>(dev, stored, trans, diagonal::general, matrix_of(A, sets), vector_of(X, n, 1));
          const std::vector<Z> found = X.back();
          for (std::int64_t i = 0; i < n; ++i)
            EXPECT_TRUE(subset(number<T>(x.real(i, 0), x.imag(i, 0)), found[static_cast<std::size_t>(i)]));
        }
}

TYPED_TEST(complex_blas2, a_diagonal_element_that_holds_zero_is_named) {
  using T = TypeParam;
  for (const device& dev : tested_devices()) {
    exact_complex a = solvable_complex(3);
    a.real(1, 1) = {-1, 0};
    a.imag(1, 1) = {0, 2};
    auto A = with_ld<T>(dev, a);
    auto X = with_stride<T>(dev, point_column(3, 2), 1);
    try {
      trsv<T>(dev, triangle::lower, transpose::no, diagonal::general, matrix_of(A, a), vector_of(X, 3, 1));
      FAIL();
    } catch (const value_error& e) {
      EXPECT_STREQ(e.what(), "trsv: the diagonal element (1, 1) holds 0");
    }
    trsv<T>(dev, triangle::lower, transpose::no, diagonal::unit, matrix_of(A, a), vector_of(X, 3, 1));
  }
}

TYPED_TEST(complex_blas2, geru_and_gerc) {
  using T = TypeParam;
  for (const device& dev : tested_devices())
    for (const std::int64_t m : sizes)
      for (const std::int64_t n : {0, 1, 70}) {
        const exact_complex x(m, 1, 1), y(n, 1, 2), a(m, n, 3);
        auto X = with_stride<T>(dev, x, -1), Y = with_stride<T>(dev, y, 2), A = with_ld<T>(dev, a);
        auto B = with_ld<T>(dev, a);
        // alpha multiplies y before x does: another rectangle than alpha (x y) in general.
        const exact_complex turned = scaled(this->alpha_re, this->alpha_im, y.transposed(transpose::yes));
        geru<T>(dev, this->alpha, vector_of(X, m, -1), vector_of(Y, n, 2), matrix_of(A, a));
        A.expect(with_ld<T>(dev, sum(times(x, turned), a)), "geru");
        const exact_complex adjoint =
            scaled(this->alpha_re, this->alpha_im, y.transposed(transpose::conjugate));
        gerc<T>(dev, this->alpha, vector_of(X, m, -1), vector_of(Y, n, 2), matrix_of(B, a));
        B.expect(with_ld<T>(dev, sum(times(x, adjoint), a)), "gerc");
      }
}

// The factors of integers alone, so that the order of the products does not matter.
TYPED_TEST(complex_blas2, her_hpr_her2_and_hpr2) {
  using T = TypeParam;
  using Z = complex_interval<T>;
  for (const device& dev : tested_devices())
    for (const std::int64_t n : sizes)
      for (const triangle stored : both_triangles) {
        const exact_complex x(n, 1, 1), y(n, 1, 2), a(n, n, 3);
        auto X = with_stride<T>(dev, x, -2), Y = with_stride<T>(dev, y, 1);
        exact_complex real_diagonal = a;
        for (std::int64_t i = 0; i < n; ++i) real_diagonal.imag(i, i) = {};
        const auto expect = [&](const exact_complex& wanted, placed<T>& A, placed<T>& P, const char* what) {
          A.expect(triangle_with_ld<T>(dev, wanted, stored), what);
          P.expect(packed<T>(dev, wanted, stored), what);
        };
        auto A = triangle_with_ld<T>(dev, a, stored), P = packed<T>(dev, a, stored);
        auto one = scaled({3, 3}, {0, 0}, times(x, x.transposed(transpose::conjugate)));
        for (std::int64_t i = 0; i < n; ++i) {
          one.real(i, i) = whole{3, 3} * (square(x.real(i, 0)) + square(x.imag(i, 0)));
          one.imag(i, i) = {};
        }
        her<T>(dev, stored, interval<T>(T{3}), vector_of(X, n, -2), matrix_of(A, a));
        hpr<T>(dev, stored, interval<T>(T{3}), vector_of(X, n, -2), view<Z>(P.data(), P.size()));
        expect(sum(one, real_diagonal), A, P, "her");

        auto B = triangle_with_ld<T>(dev, a, stored), Q = packed<T>(dev, a, stored);
        const auto xy = times(x, scaled({2, 2}, {0, 0}, y.transposed(transpose::conjugate)));
        auto two = sum(xy, xy.transposed(transpose::conjugate));
        for (std::int64_t i = 0; i < n; ++i) two.imag(i, i) = {};
        her2<T>(dev, stored, number<T>({2, 2}, {0, 0}), vector_of(X, n, -2), vector_of(Y, n, 1),
                matrix_of(B, a));
        hpr2<T>(dev, stored, number<T>({2, 2}, {0, 0}), vector_of(X, n, -2), vector_of(Y, n, 1),
                view<Z>(Q.data(), Q.size()));
        expect(sum(two, real_diagonal), B, Q, "her2");

        // i (x y^H - y x^H): alpha is conjugated once.
        auto C = triangle_with_ld<T>(dev, a, stored);
        const auto i_xy = scaled({0, 0}, {1, 1}, times(x, y.transposed(transpose::conjugate)));
        auto turned = sum(i_xy, i_xy.transposed(transpose::conjugate));
        for (std::int64_t i = 0; i < n; ++i) turned.imag(i, i) = {};
        her2<T>(dev, stored, number<T>({0, 0}, {1, 1}), vector_of(X, n, -2), vector_of(Y, n, 1),
                matrix_of(C, a));
        C.expect(triangle_with_ld<T>(dev, sum(turned, real_diagonal), stored), "her2");
      }
}

TYPED_TEST(complex_blas2, beta_of_zero_overwrites_and_errors_name_the_sizes) {
  using T = TypeParam;
  using Z = complex_interval<T>;
  for (const device& dev : tested_devices()) {
    const exact_complex zero(2, 2), vector(2, 1);
    auto A = with_ld<T>(dev, zero);
    auto X = with_stride<T>(dev, vector, 1);
    const std::vector<Z> empties(2, poisoned<T>());
    auto y = array<Z>::from(dev, empties);
    hemv<T>(dev, triangle::lower, this->alpha, matrix_of(A, zero), vector_of(X, 2, 1), {}, y.all());
    EXPECT_EQ(y.to_vector(), std::vector<Z>(2));
    try {
      hemv<T>(dev, triangle::lower, this->alpha, matrix_of(A, zero), vector_of(X, 1, 1), {}, y.all());
      FAIL();
    } catch (const shape_error& e) {
      EXPECT_STREQ(e.what(), "hemv: x has 1 elements, not 2");
    }
    EXPECT_THROW(gemv<T>(dev, transpose::no, this->alpha, matrix_of(A, zero), y.all(), {}, y.all()),
                 value_error);
    EXPECT_THROW(
        her<T>(dev, triangle::lower, interval<T>(T{1}), view<const Z>(A.data(), 2), matrix_of(A, zero)),
        value_error);
  }
}

}  // namespace
}  // namespace vouch
