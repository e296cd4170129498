// Rectangles of small integers: every part is the real routine's on the parts, and nothing is rounded.
#include <gtest/gtest.h>

#include <vector>

#include <vouch/core/error.hpp>
#include <vouch/dense/complex_blas.hpp>

#include "dense/integer_cases.hpp"

namespace vouch {
namespace {

using namespace testing;

whole operator-(whole a) { return {-a.hi, -a.lo}; }

// A matrix of rectangles with integer corners.
struct exact_complex {
  exact_matrix real, imag;

  exact_complex(std::int64_t m, std::int64_t n) : real(m, n), imag(m, n) {}
  exact_complex(std::int64_t m, std::int64_t n, std::uint64_t seed)
      : real(random_matrix<interval<double>>(m, n, seed)),
        imag(random_matrix<interval<double>>(m, n, seed + 50)) {}
  exact_complex transposed(transpose trans) const {
    exact_complex t = *this;
    if (trans == transpose::no) return t;
    t.real = real.transposed();
    t.imag = imag.transposed();
    if (trans == transpose::conjugate)
      for (whole& w : t.imag.entries) w = -w;
    return t;
  }
};

exact_matrix plus(const exact_matrix& a, const exact_matrix& b, bool minus = false) {
  exact_matrix c = a;
  for (std::size_t k = 0; k < c.entries.size(); ++k)
    c.entries[k] = a.entries[k] + (minus ? -b.entries[k] : b.entries[k]);
  return c;
}
exact_complex times(const exact_complex& a, const exact_complex& b) {
  exact_complex c(a.real.rows, b.real.cols);
  c.real = plus(product(a.real, b.real), product(a.imag, b.imag), true);
  c.imag = plus(product(a.real, b.imag), product(a.imag, b.real));
  return c;
}
exact_complex sum(const exact_complex& a, const exact_complex& b) {
  exact_complex c = a;
  c.real = plus(a.real, b.real);
  c.imag = plus(a.imag, b.imag);
  return c;
}
// Every entry times z.
exact_complex scaled(whole re, whole im, const exact_complex& a) {
  exact_complex c = a;
  for (std::size_t k = 0; k < c.real.entries.size(); ++k) {
    c.real.entries[k] = re * a.real.entries[k] + -(im * a.imag.entries[k]);
    c.imag.entries[k] = re * a.imag.entries[k] + im * a.real.entries[k];
  }
  return c;
}

template <class T>
complex_interval<T> number(whole re, whole im) {
  return {element<interval<T>>(re), element<interval<T>>(im)};
}
template <class T>
std::vector<complex_interval<T>> entries(const exact_complex& a) {
  std::vector<complex_interval<T>> all;
  for (std::size_t k = 0; k < a.real.entries.size(); ++k)
    all.push_back(number<T>(a.real.entries[k], a.imag.entries[k]));
  return all;
}
template <class T>
matrix<complex_interval<T>> laid(const exact_complex& a) {
  return matrix<complex_interval<T>>::from(device::cpu(1), a.real.rows, a.real.cols, entries<T>(a));
}

template <class T>
class complex_blas : public ::testing::Test {
 public:
  const device two_threads = device::cpu(2);
  static constexpr transpose all_transposes[] = {transpose::no, transpose::yes, transpose::conjugate};
};
using numbers = ::testing::Types<float, double>;
TYPED_TEST_SUITE(complex_blas, numbers);

TYPED_TEST(complex_blas, gemm_and_gemv) {
  using T = TypeParam;
  for (const auto& [m, n, k] : {std::tuple{0, 2, 3}, {3, 4, 0}, {1, 1, 1}, {5, 3, 4}, {17, 1, 20}})
    for (const transpose ta : this->all_transposes)
      for (const transpose tb : this->all_transposes) {
        const exact_complex a(m, k, 1), b(k, n, 2), c(m, n, 3);
        const auto A = laid<T>(a.transposed(ta)), B = laid<T>(b.transposed(tb));
        auto C = laid<T>(c);
        gemm<T>(this->two_threads, ta, tb, number<T>({1, 2}, {-1, 1}), A.all(), B.all(),
                number<T>({2, 2}, {1, 1}), C.all());
        const auto wanted = sum(scaled({1, 2}, {-1, 1}, times(a, b)), scaled({2, 2}, {1, 1}, c));
        EXPECT_EQ(C.to_vector(), entries<T>(wanted));
        if (n != 1 || tb != transpose::no) continue;
        auto y = laid<T>(c);
        gemv<T>(this->two_threads, ta, number<T>({1, 1}, {0, 0}), A.all(),
                view<const complex_interval<T>>(B.data(), k), number<T>({0, 0}, {0, 0}),
                view<complex_interval<T>>(y.data() + m - 1, m, -1));
        auto turned = y.to_vector();
        std::reverse(turned.begin(), turned.end());
        EXPECT_EQ(turned, entries<T>(times(a, b)));
      }
}

TYPED_TEST(complex_blas, hemm_reads_one_triangle) {
  using T = TypeParam;
  for (const triangle stored : both_triangles)
    for (const side where : both_sides) {
      const std::int64_t m = 4, n = 6, order = where == side::left ? m : n;
      exact_complex a(order, order, 1);
      const exact_complex b(m, n, 2), c(m, n, 3);
      const auto A = laid<T>(a);  // the other triangle and the diagonal's imaginary part are something else
      for (std::int64_t j = 0; j < order; ++j)
        for (std::int64_t i = 0; i < order; ++i) {
          if (i == j) a.imag(i, i) = {};
          if (stored == triangle::lower ? i < j : i > j) {
            a.real(i, j) = a.real(j, i);
            a.imag(i, j) = -a.imag(j, i);
          }
        }
      auto C = laid<T>(c);
      hemm<T>(this->two_threads, where, stored, number<T>({1, 1}, {0, 0}), A.all(), laid<T>(b).all(),
              number<T>({1, 1}, {0, 0}), C.all());
      EXPECT_EQ(C.to_vector(), entries<T>(sum(where == side::left ? times(a, b) : times(b, a), c)));
    }
}

TYPED_TEST(complex_blas, herk_writes_one_triangle_with_a_real_diagonal) {
  using T = TypeParam;
  for (const triangle stored : both_triangles)
    for (const transpose trans : {transpose::no, transpose::conjugate}) {
      const std::int64_t n = 5, k = 7;
      const exact_complex a(n, k, 1), c(n, n, 2);
      const auto A = laid<T>(a.transposed(trans));
      auto C = laid<T>(c);
      herk<T>(this->two_threads, stored, trans, element<interval<T>>({1, 2}), A.all(),
              element<interval<T>>({3, 3}), C.all());
      auto all = times(a, a.transposed(transpose::conjugate));
      for (std::int64_t i = 0; i < n; ++i) {
        all.real(i, i) = {};
        for (std::int64_t l = 0; l < k; ++l)
          all.real(i, i) = all.real(i, i) + square(a.real(i, l)) + square(a.imag(i, l));
        all.imag(i, i) = {};
      }
      exact_complex old = c;
      for (std::int64_t i = 0; i < n; ++i) old.imag(i, i) = {};
      exact_complex wanted = sum(scaled({1, 2}, {0, 0}, all), scaled({3, 3}, {0, 0}, old));
      for (std::int64_t j = 0; j < n; ++j)
        for (std::int64_t i = 0; i < n; ++i)
          if (stored == triangle::lower ? i < j : i > j) {
            wanted.real(i, j) = c.real(i, j);
            wanted.imag(i, j) = c.imag(i, j);
          }
      EXPECT_EQ(C.to_vector(), entries<T>(wanted));
    }
  auto C = laid<T>(exact_complex(2, 2));
  EXPECT_THROW(herk<T>(this->two_threads, triangle::lower, transpose::yes, interval<T>(T{1}),
                       laid<T>(exact_complex(2, 2)).all(), interval<T>{}, C.all()),
               value_error);
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
    const std::vector<Z> right_angled{Z(interval<T>(T{3}), interval<T>(T{0})),
                                      Z(interval<T>(T{0}), interval<T>(T{4}))};
    const auto R = array<Z>::from(dev, right_angled);
    const interval<T> five = nrm2<T>(dev, view<const Z>(R.all()));
    EXPECT_TRUE(five.lo() <= 5 && five.hi() >= 5 && five.hi() - five.lo() < T{0x1p-16});
  }
}

}  // namespace
}  // namespace vouch
