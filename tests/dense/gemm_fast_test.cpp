#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>

#include <vouch/core/config.hpp>
#include <vouch/dense/gemm/gemm.hpp>
#include <vouch/interval/functions.hpp>

#include "dense/exact_product.hpp"
#include "devices.hpp"

namespace vouch {
namespace {

using namespace testing;

constexpr double infinite = std::numeric_limits<double>::infinity();

const auto fast = [](const auto&... arguments) { detail::gemm_fast_cuda(arguments...); };

// Twice the radius by the formula, exactly but for the rounding of this test: |mA| rB + rA (|mB| + rB).
template <class P>
long double formula_width(P& p, std::int64_t i, std::int64_t j) {
  using TA = std::remove_reference_t<decltype(p.left(0, 0))>;
  using TB = std::remove_reference_t<decltype(p.right(0, 0))>;
  long double radius = 0;
  for (std::int64_t k = 0; k < p.size.k; ++k) {
    const long double al = entry<TA>::lo(p.left(i, k)), ah = entry<TA>::hi(p.left(i, k)),
                      bl = entry<TB>::lo(p.right(k, j)), bh = entry<TB>::hi(p.right(k, j));
    const long double ra = (ah - al) / 2, rb = (bh - bl) / 2;
    radius += std::abs(al + ah) / 2 * rb + ra * (std::abs(bl + bh) / 2 + rb);
  }
  return 2 * radius;
}

template <class TA, class TB, class T>
void bounds_hold_and_are_near(const device& gpu) {
  for (const shape s : {shape{1, 1, 1}, shape{3, 2, 0}, shape{128, 128, 128}, shape{129, 257, 65},
                        shape{5, 200, 33}, shape{300, 70, 150}})
    for (const transpose ta : {transpose::no, transpose::yes})
      for (const double straddling : {0.0, 0.5}) {
        product<TA, TB, T> p(s, ta, ta == transpose::no ? transpose::yes : transpose::no,
                             {std::int64_t{1} << (sizeof(T) == 8 ? 51 : 22), straddling});
        const auto c = p.on(gpu, fast);
        const auto again = p.on(gpu, fast);
        EXPECT_EQ(std::memcmp(c.data(), again.data(), c.size() * sizeof c[0]), 0);
        const long double u = sizeof(T) == 8 ? 0x1p-53L : 0x1p-24L;
        for (std::int64_t j = 0; j < s.n; ++j)
          for (std::int64_t i = 0; i < s.m; ++i) {
            const bounds e = p.exact(i, j);
            const interval<T> got = c[static_cast<std::size_t>(i + j * (s.m + 2))];
            const auto lo = static_cast<wide>(got.lo()), hi = static_cast<wide>(got.hi());
            ASSERT_LE(lo, e.lo) << i << ' ' << j;
            ASSERT_GE(hi, e.hi) << i << ' ' << j;
            // Bytes add up to 1/85 of a row's or column's largest number to each, of which k are multiplied;
            // the integers are spread evenly, so that the largest is less than 10 times the mean.
            const long double most =
                1.25L * formula_width(p, i, j) + 8 * static_cast<long double>(s.k + 2) * u * e.magnitude;
            ASSERT_LE(static_cast<long double>(hi - lo), most + 4 * u * e.magnitude) << i << ' ' << j;
          }
      }
}

TEST(gemm_fast, bounds_hold_are_near_and_repeat) {
  VOUCH_NEEDS_GPU();
  for (const device& gpu : gpus()) {
    bounds_hold_and_are_near<double, double, double>(gpu);
    bounds_hold_and_are_near<double, interval<double>, double>(gpu);
    bounds_hold_and_are_near<interval<double>, double, double>(gpu);
    bounds_hold_and_are_near<interval<double>, interval<double>, double>(gpu);
    bounds_hold_and_are_near<interval<float>, interval<float>, float>(gpu);
  }
}

// More steps of k than 32-bit sums of bytes can hold.
TEST(gemm_fast, long_products) {
  VOUCH_NEEDS_GPU();
  for (const device& gpu : gpus()) {
    product<interval<double>, interval<double>, double> p({2, 3, 70000}, transpose::no, transpose::no,
                                                          {std::int64_t{1} << 40, 0.1});
    const auto c = p.on(gpu, fast);
    for (std::int64_t j = 0; j < 3; ++j)
      for (std::int64_t i = 0; i < 2; ++i) {
        const bounds e = p.exact(i, j);
        const interval<double> got = c[static_cast<std::size_t>(i + j * 4)];
        ASSERT_LE(static_cast<wide>(got.lo()), e.lo);
        ASSERT_GE(static_cast<wide>(got.hi()), e.hi);
        ASSERT_LE(static_cast<long double>(got.hi()) - got.lo(), 1.25L * formula_width(p, i, j));
      }
  }
}

// Zeros, tiny and huge numbers side by side: rows keep their own units.
TEST(gemm_fast, rows_of_very_different_size) {
  VOUCH_NEEDS_GPU();
  for (const device& gpu : gpus()) {
    product<interval<double>, interval<double>, double> p({6, 5, 40}, transpose::no, transpose::no,
                                                          {1000, 0.1});
    for (std::int64_t k = 0; k < 40; ++k) {
      p.left(0, k) = interval<double>(0);
      const interval<double> x = p.left(1, k), y = p.left(2, k);
      p.left(1, k) = interval<double>::unchecked(x.lo() * 0x1p-1060, x.hi() * 0x1p-1060);
      p.left(2, k) = interval<double>::unchecked(y.lo() * 0x1p900, y.hi() * 0x1p900);
    }
    const auto c = p.on(gpu, fast);
    for (std::int64_t j = 0; j < 5; ++j)
      for (std::int64_t i = 0; i < 6; ++i) {
        interval<double> sum;
        for (std::int64_t k = 0; k < 40; ++k) sum = sum + p.left(i, k) * p.right(k, j);
        const interval<double> got = c[static_cast<std::size_t>(i + j * 8)];
        ASSERT_LE(got.lo(), sum.lo()) << i << ' ' << j;
        ASSERT_GE(got.hi(), sum.hi()) << i << ' ' << j;
        if (i == 1) continue;  // near underflow
        ASSERT_LE(got.hi() / 4 - got.lo() / 4, 1.7 * (sum.hi() / 4 - sum.lo() / 4) + 1e-300) << i << ' ' << j;
      }
  }
}

TEST(gemm_fast, unbounded_and_empty_entries) {
  VOUCH_NEEDS_GPU();
  for (const device& gpu : gpus()) {
    product<interval<double>, interval<double>, double> p({9, 7, 20}, transpose::yes, transpose::no, {50, 0.3});
    p.left(3, 7) = interval<double>::unchecked(0, infinite);
    p.left(5, 2) = interval<double>::empty();
    p.right(9, 4) = interval<double>::entire();
    const auto c = p.on(gpu, fast);
    for (std::int64_t j = 0; j < 7; ++j)
      for (std::int64_t i = 0; i < 9; ++i) {
        interval<double> sum;
        for (std::int64_t k = 0; k < 20; ++k) sum = sum + p.left(i, k) * p.right(k, j);
        const interval<double> got = c[static_cast<std::size_t>(i + j * 11)];
        if (is_empty(sum)) {
          ASSERT_TRUE(is_empty(got)) << i << ' ' << j;
        } else {
          ASSERT_LE(got.lo(), sum.lo()) << i << ' ' << j;
          ASSERT_GE(got.hi(), sum.hi()) << i << ' ' << j;
        }
      }
  }
}

}  // namespace
}  // namespace vouch
