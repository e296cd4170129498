// The modes of gemm on integers, against exact sums: inclusion, and how wide.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include <vouch/core/error.hpp>
#include <vouch/dense/blas3.hpp>
#include <vouch/interval/relations.hpp>

#include "dense/exact_product.hpp"
#include "devices.hpp"

namespace vouch {
namespace {

using namespace testing;

template <class A, class B, class T>
struct product_types {
  using a = A;
  using b = B;
  using t = T;
};
using interval_results = ::testing::Types<
    product_types<double, double, double>, product_types<double, interval<double>, double>,
    product_types<interval<double>, double, double>, product_types<interval<double>, interval<double>, double>,
    product_types<float, float, float>, product_types<float, interval<float>, float>,
    product_types<interval<float>, float, float>, product_types<interval<float>, interval<float>, float>>;

template <class Types>
class gemm_modes : public ::testing::Test {
 public:
  using TA = typename Types::a;
  using TB = typename Types::b;
  using bound = typename Types::t;
  using product_type = product<TA, TB, bound>;
  static constexpr bool two_intervals = !entry<TA>::point && !entry<TB>::point;

  // Integers with all bits of T, and such whose products have room in T.
  static constexpr std::int64_t full = sizeof(bound) == 8 ? std::int64_t{1} << 51 : std::int64_t{1} << 22;

  static auto by(gemm_mode mode) {
    return [mode](const device& dev, transpose ta, transpose tb, bound alpha, matrix_view<const TA> A,
                  matrix_view<const TB> B, bound beta, matrix_view<interval<bound>> C) {
      gemm(dev, ta, tb, interval<bound>(alpha), A, B, interval<bound>(beta), C, mode);
    };
  }
};
TYPED_TEST_SUITE(gemm_modes, interval_results);

// The CPU with two threads, and the GPU where there is one.
std::vector<device> tested() {
  std::vector<device> all{device::cpu(2)};
  for (const device& gpu : gpus()) all.push_back(gpu);
  return all;
}

constexpr shape shapes[] = {{1, 1, 1}, {5, 7, 3}, {17, 30, 65}, {70, 9, 70}};

// The directed roundings of an integer.
template <class T>
T rounded_down(wide x) {
  const auto near = static_cast<T>(x);
  return static_cast<wide>(near) > x ? std::nextafter(near, -std::numeric_limits<T>::infinity()) : near;
}
template <class T>
T rounded_up(wide x) {
  return -rounded_down<T>(-x);
}

// x 2^e for every bound.
template <class E>
E scaled(E x, int e) {
  if constexpr (entry<E>::point)
    return static_cast<E>(std::ldexp(x, e));
  else
    return E::unchecked(std::ldexp(x.lo(), e), std::ldexp(x.hi(), e));
}

template <class Product, class T>
void expect_tightest(Product& p, const std::vector<interval<T>>& got) {
  for (std::int64_t j = 0; j < p.size.n; ++j)
    for (std::int64_t i = 0; i < p.size.m; ++i) {
      const bounds exact = p.exact(i, j);
      const interval<T> c = got[static_cast<std::size_t>(i + j * (p.size.m + 2))];
      ASSERT_EQ(c.lo(), rounded_down<T>(exact.lo)) << i << ' ' << j;
      ASSERT_EQ(c.hi(), rounded_up<T>(exact.hi)) << i << ' ' << j;
    }
}

TYPED_TEST(gemm_modes, exact_is_rounded_once) {
  using f = TestFixture;
  for (const double straddling : {0.0, 0.3})
    for (const shape& s : shapes)
      for (const transpose ta : {transpose::no, transpose::yes})
        for (const transpose tb : {transpose::no, transpose::yes}) {
          typename f::product_type p(s, ta, tb, {f::full, straddling});
          for (const device& dev : tested()) {
            const auto got = p.on(dev, f::by(gemm_mode::exact));
            // On a GPU tight where both factors hold 0.
            if (dev.is_cuda() && f::two_intervals && straddling > 0) continue;
            expect_tightest(p, got);
          }
        }
}

// Entries of a row of A and of a column of B spread over the range of T, their products do not: what needs too
// many slices.
TYPED_TEST(gemm_modes, exact_is_rounded_once_for_any_exponents) {
  using f = TestFixture;
  constexpr int most = sizeof(typename f::bound) == 8 ? 400 : 40;
  for (const int step : {3, most}) {
    typename f::product_type p({6, 8, 21}, transpose::no, transpose::no, {f::full, 0.0}), spread = p;
    for (std::int64_t k = 0; k < p.size.k; ++k) {
      const int e = static_cast<int>(random_bits(7, static_cast<std::uint64_t>(k)) % (2 * step + 1)) - step;
      for (std::int64_t i = 0; i < p.size.m; ++i) spread.left(i, k) = scaled(p.left(i, k), e);
      for (std::int64_t j = 0; j < p.size.n; ++j) spread.right(k, j) = scaled(p.right(k, j), -e);
    }
    for (const device& dev : tested())
      if (!dev.is_cuda() || step < 100) expect_tightest(p, spread.on(dev, f::by(gemm_mode::exact)));
  }
}

// Sums that nearly cancel: the first half of the terms against the second, but for the last.
TYPED_TEST(gemm_modes, exact_keeps_what_cancellation_leaves) {
  using f = TestFixture;
  typename f::product_type p({4, 4, 101}, transpose::no, transpose::no, {f::full, 0.0});
  for (std::int64_t k = 0; k < 50; ++k) {
    for (std::int64_t i = 0; i < 4; ++i) p.left(i, 50 + k) = p.left(i, k);
    for (std::int64_t j = 0; j < 4; ++j) p.right(50 + k, j) = -p.right(k, j);
  }
  for (const device& dev : tested()) expect_tightest(p, p.on(dev, f::by(gemm_mode::exact)));
}

// Tiles, digits and levels beyond one block, and exponents up to the ends of the range: the bits of the CPU.
TYPED_TEST(gemm_modes, exact_has_the_same_bits_on_every_device) {
  using f = TestFixture;
  constexpr int most = sizeof(typename f::bound) == 8 ? 500 : 60;
  for (const device& gpu : gpus())
    for (const int e : {0, -most, most})
      for (const shape& s : {shape{150, 300, 200}, {129, 1, 700}, {3, 40, 40000}}) {
        typename f::product_type p(s, transpose::yes, transpose::no, {f::full, 0.0});
        for (auto& x : p.a) x = scaled(x, e);
        for (auto& x : p.b) x = scaled(x, e);
        if (e != 0 && s.k > 1000) continue;
        const auto got = p.on(gpu, f::by(gemm_mode::exact)),
                   on_cpu = p.on(device::cpu(2), f::by(gemm_mode::exact));
        EXPECT_TRUE(got == on_cpu) << s.m << ' ' << s.n << ' ' << s.k << ' ' << e;
      }
}

// What does not fit into digits, or holds 0 on both sides, is tight on a GPU.
TYPED_TEST(gemm_modes, exact_encloses_what_it_does_not_round_once) {
  using f = TestFixture;
  for (const device& gpu : gpus()) {
    typename f::product_type p({20, 30, 40}, transpose::no, transpose::no, {f::full, 0.5});
    p.left(0, 0) = scaled(p.left(0, 0), sizeof(typename f::bound) == 8 ? -300 : -120);
    p.right(0, 0) = typename f::TB(typename f::bound{0});
    const auto got = p.on(gpu, f::by(gemm_mode::exact)), tight = p.on(gpu, f::by(gemm_mode::tight));
    EXPECT_TRUE(got == tight);
  }
}

TYPED_TEST(gemm_modes, fast_encloses_with_a_radius_as_documented) {
  using f = TestFixture;
  using T = typename f::bound;
  for (const device& dev : devices())
    for (const double straddling : {0.0, 0.3})
      for (const shape& s : shapes)
        for (const transpose ta : {transpose::no, transpose::yes})
          for (const transpose tb : {transpose::no, transpose::yes}) {
            typename f::product_type p(s, ta, tb, {f::full, straddling});
            const auto got = p.on(dev, f::by(gemm_mode::fast));
            for (std::int64_t j = 0; j < s.n; ++j)
              for (std::int64_t i = 0; i < s.m; ++i) {
                const bounds exact = p.exact(i, j);
                const interval<T> c = got[static_cast<std::size_t>(i + j * (s.m + 2))];
                const auto lo = static_cast<long double>(c.lo()), hi = static_cast<long double>(c.hi());
                ASSERT_LE(static_cast<wide>(c.lo()), exact.lo);
                ASSERT_GE(static_cast<wide>(c.hi()), exact.hi);
                const long double tight = static_cast<long double>(exact.hi - exact.lo) / 2;
                const auto k = static_cast<long double>(s.k);
                const long double ulp = std::numeric_limits<T>::epsilon();
                const long double most =
                    (1.5L * tight + (k + 2) * 0x1p-53L * exact.magnitude) * (1 + 0x1p-16L) +
                    ulp * std::max(std::abs(lo), std::abs(hi));
                // The GPU's radii have 8 bits; gemm_fast_test.cpp looks at them.
                if (!dev.is_cuda()) {
                  ASSERT_LE((hi - lo) / 2, most) << s.m << ' ' << s.n << ' ' << s.k;
                }
              }
          }
}

// Rows, columns and inner indices of very different sizes.
TYPED_TEST(gemm_modes, fast_encloses_badly_scaled_matrices) {
  using f = TestFixture;
  using T = typename f::bound;
  constexpr int most = sizeof(T) == 8 ? 300 : 30;
  for (const int step : {5, most}) {
    typename f::product_type p({9, 11, 40}, transpose::no, transpose::yes, {f::full, 0.1}), spread = p;
    const auto exponent = [&](std::uint64_t seed, std::int64_t at) {
      return static_cast<int>(random_bits(seed, static_cast<std::uint64_t>(at)) % (2 * step + 1)) - step;
    };
    for (std::int64_t k = 0; k < p.size.k; ++k) {
      const int e = exponent(1, k);
      for (std::int64_t i = 0; i < p.size.m; ++i) spread.left(i, k) = scaled(p.left(i, k), e + exponent(2, i));
      for (std::int64_t j = 0; j < p.size.n; ++j)
        spread.right(k, j) = scaled(p.right(k, j), exponent(3, j) - e);
    }
    const auto got = spread.on(device::cpu(2), f::by(gemm_mode::fast));
    for (std::int64_t j = 0; j < p.size.n; ++j)
      for (std::int64_t i = 0; i < p.size.m; ++i) {
        const bounds exact = p.exact(i, j);
        const interval<T> c = got[static_cast<std::size_t>(i + j * (p.size.m + 2))];
        const int e = exponent(2, i) + exponent(3, j);
        ASSERT_LE(double{c.lo()}, std::ldexp(rounded_up<double>(exact.lo), e));
        ASSERT_GE(double{c.hi()}, std::ldexp(rounded_down<double>(exact.hi), e));
        if (step == 5) {  // and a bound, not everything
          ASSERT_LT(double{c.hi()} - double{c.lo()}, std::ldexp(static_cast<double>(exact.magnitude), e + 24));
        }
      }
  }
}

TYPED_TEST(gemm_modes, alpha_and_beta_and_empty_products) {
  using f = TestFixture;
  using T = typename f::bound;
  for (const device& dev : devices())
    for (const gemm_mode mode : {gemm_mode::tight, gemm_mode::fast, gemm_mode::exact}) {
      typename f::product_type p({3, 4, 5}, transpose::no, transpose::no, {7, 0.3});
      const auto old = interval<T>::unchecked(-3, 2);
      const auto got = p.on(dev, f::by(mode), T{-2}, T{3}, old);
      const auto none = p.on(dev, f::by(mode), T{0}, T{1}, old);
      for (std::int64_t j = 0; j < 4; ++j)
        for (std::int64_t i = 0; i < 3; ++i) {
          const bounds exact = p.exact(i, j);
          const interval<T> c = got[static_cast<std::size_t>(i + 5 * j)];
          const auto lo = static_cast<T>(-2 * exact.hi - 9), hi = static_cast<T>(-2 * exact.lo + 6);
          if (mode == gemm_mode::exact && !(dev.is_cuda() && f::two_intervals)) {
            EXPECT_EQ(c, interval<T>::unchecked(lo, hi));
          }
          EXPECT_TRUE(c.lo() <= lo && c.lo() >= lo - 200 && c.hi() >= hi && c.hi() <= hi + 200);
          EXPECT_EQ(none[static_cast<std::size_t>(i + 5 * j)], old);
        }
      typename f::product_type empty({2, 2, 0}, transpose::no, transpose::no, {7, 0.0});
      EXPECT_EQ(empty.on(dev, f::by(mode), T{1}, T{0}, old)[0], interval<T>());
    }
}

// Intervals for alpha and beta, where each entry is a product of two numbers.
TYPED_TEST(gemm_modes, alpha_and_beta_may_be_intervals) {
  using f = TestFixture;
  using T = typename f::bound;
  using I = interval<T>;
  for (const device& dev : devices())
    for (const gemm_mode mode : {gemm_mode::tight, gemm_mode::fast, gemm_mode::exact}) {
      const std::vector<typename f::TA> a{typename f::TA(T{3})};
      const std::vector<typename f::TB> b{typename f::TB(T{-2})};
      const std::vector<I> old{I::unchecked(-1, 4)};
      const auto A = matrix<typename f::TA>::from(dev, 1, 1, a);
      const auto B = matrix<typename f::TB>::from(dev, 1, 1, b);
      auto C = matrix<I>::from(dev, 1, 1, old);
      gemm(dev, transpose::no, transpose::no, I::unchecked(-1, 2), A.all(), B.all(), I::unchecked(-2, 3),
           C.all(), mode);
      const I c = C.to_vector()[0];  // -6 [-1, 2] + [-2, 3] [-1, 4] = [-20, 18]
      EXPECT_TRUE(c.lo() <= -20 && c.hi() >= 18);
      EXPECT_TRUE(c.lo() > -22 && c.hi() < 20);
    }
}

TEST(gemm_modes_sets, empty_and_unbounded_entries_and_overflow) {
  using I = interval<double>;
  constexpr double inf = std::numeric_limits<double>::infinity(), largest = std::numeric_limits<double>::max();
  for (const device& dev : tested())
    for (const gemm_mode mode : {gemm_mode::fast, gemm_mode::exact}) {
      const std::vector<I> a{I::empty(), I::unchecked(1, inf), I(largest), I(2.0)}, b{I::unchecked(-2, 3)};
      const auto A = matrix<I>::from(dev, 4, 1, a), B = matrix<I>::from(dev, 1, 1, b);
      matrix<I> there(dev, 4, 1);
      gemm(dev, transpose::no, transpose::no, I(1.0), A.read(), B.read(), I(0.0), there.all(), mode);
      const auto C = there.to(device::cpu(1));
      EXPECT_TRUE(is_empty(C(0, 0)));
      EXPECT_EQ(C(1, 0), I::entire());
      EXPECT_EQ(C(2, 0), I::entire());
      // On a GPU the radii of fast have 8 bits.
      EXPECT_TRUE(subset(I::unchecked(-4, 6), C(3, 0)) && subset(C(3, 0), I::unchecked(-4.5, 6.5)));
      if (mode == gemm_mode::exact) {
        EXPECT_EQ(C(3, 0), I::unchecked(-4, 6));
      }
    }
}

TEST(gemm_modes_sets, tiny_products_do_not_vanish) {
  using I = interval<double>;
  const std::vector<double> a{0x1p-1074, 0x1p-600}, b{0x1p-1074, 0x1p-600};
  for (const device& dev : tested()) {
    const auto A = matrix<double>::from(dev, 1, 2, a), B = matrix<double>::from(dev, 2, 1, b);
    for (const gemm_mode mode : {gemm_mode::tight, gemm_mode::fast, gemm_mode::exact}) {
      matrix<I> C(dev, 1, 1);
      gemm(dev, transpose::no, transpose::no, I(1.0), A.all(), B.all(), I(0.0), C.all(), mode);
      const I c = C.to_vector()[0];
      EXPECT_LE(c.lo(), 0);
      EXPECT_GE(c.hi(), 0x1p-1074);
      EXPECT_LE(c.hi(), 0x1p-1050);
    }
  }
}

}  // namespace
}  // namespace vouch
