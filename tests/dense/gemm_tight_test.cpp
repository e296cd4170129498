#include <gtest/gtest.h>

#include <algorithm>
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

const auto tight = [](const auto&... arguments) { detail::gemm_tight_cuda(arguments...); };

const shape shapes[] = {{1, 1, 1},    {3, 2, 0},      {128, 64, 16}, {129, 65, 17},
                        {5, 200, 33}, {300, 70, 150}, {64, 129, 8}};

template <class TA, class TB, class T>
void small_integers_come_out_exactly(const device& gpu) {
  for (const shape& s : shapes)
    for (const transpose ta : {transpose::no, transpose::yes})
      for (const transpose tb : {transpose::no, transpose::yes})
        for (const double straddling : {0.0, 0.02, 1.0}) {
          product<TA, TB, T> p(s, ta, tb, {sizeof(T) == 8 ? 1000000 : 60, straddling});
          const auto c = p.on(gpu, tight, 2, -3, interval<T>::unchecked(-1, 5));
          for (std::int64_t j = 0; j < s.n; ++j)
            for (std::int64_t i = 0; i < s.m; ++i) {
              const bounds e = p.exact(i, j);
              const interval<T> got = c[static_cast<std::size_t>(i + j * (s.m + 2))];
              ASSERT_EQ(static_cast<double>(got.lo()), static_cast<double>(2 * e.lo - 15)) << i << ' ' << j;
              ASSERT_EQ(static_cast<double>(got.hi()), static_cast<double>(2 * e.hi + 3)) << i << ' ' << j;
            }
        }
}

TEST(gemm_tight, small_integers_come_out_exactly) {
  VOUCH_NEEDS_GPU();
  for (const device& gpu : testing::gpus()) {
    small_integers_come_out_exactly<double, double, double>(gpu);
    small_integers_come_out_exactly<double, interval<double>, double>(gpu);
    small_integers_come_out_exactly<interval<double>, double, double>(gpu);
    small_integers_come_out_exactly<interval<double>, interval<double>, double>(gpu);
    small_integers_come_out_exactly<float, float, float>(gpu);
    small_integers_come_out_exactly<interval<float>, float, float>(gpu);
    small_integers_come_out_exactly<float, interval<float>, float>(gpu);
    small_integers_come_out_exactly<interval<float>, interval<float>, float>(gpu);
  }
}

template <class TA, class TB, class T>
void bounds_hold_and_are_near(const device& gpu) {
  for (const shape& s : shapes)
    for (const double straddling : {0.0, 1.0}) {
      product<TA, TB, T> p(s, transpose::no, transpose::yes,
                           {std::int64_t{1} << (sizeof(T) == 8 ? 51 : 22), straddling});
      const auto c = p.on(gpu, tight);
      const auto again = p.on(gpu, tight);
      EXPECT_EQ(std::memcmp(c.data(), again.data(), c.size() * sizeof c[0]), 0);
      // Each of at most 2 k steps a bound errs by less than 2 u times what has been added so far.
      const long double u = sizeof(T) == 8 ? 0x1p-53L : 0x1p-24L;
      for (std::int64_t j = 0; j < s.n; ++j)
        for (std::int64_t i = 0; i < s.m; ++i) {
          const bounds e = p.exact(i, j);
          const interval<T> got = c[static_cast<std::size_t>(i + j * (s.m + 2))];
          const auto lo = static_cast<wide>(got.lo()), hi = static_cast<wide>(got.hi());
          ASSERT_LE(lo, e.lo) << i << ' ' << j;
          ASSERT_GE(hi, e.hi) << i << ' ' << j;
          const long double most = 4 * static_cast<long double>(s.k) * u * e.magnitude;
          ASSERT_LE(static_cast<long double>(e.lo - lo), most);
          ASSERT_LE(static_cast<long double>(hi - e.hi), most);
        }
    }
}

TEST(gemm_tight, bounds_hold_are_near_and_repeat) {
  VOUCH_NEEDS_GPU();
  for (const device& gpu : testing::gpus()) {
    bounds_hold_and_are_near<double, double, double>(gpu);
    bounds_hold_and_are_near<double, interval<double>, double>(gpu);
    bounds_hold_and_are_near<interval<double>, double, double>(gpu);
    bounds_hold_and_are_near<interval<double>, interval<double>, double>(gpu);
    bounds_hold_and_are_near<interval<float>, interval<float>, float>(gpu);
    bounds_hold_and_are_near<float, float, float>(gpu);
  }
}

// Unbounded and empty entries: as the scalar operators of the host say.
template <class TA, class TB>
void anything_may_stand_in_a_matrix(const device& gpu) {
  const shape s{140, 70, 40};
  product<TA, TB, double> p(s, transpose::yes, transpose::no, {50, 0.3});
  const auto put = [](auto& at, double lo, double hi) {
    if constexpr (entry<std::remove_reference_t<decltype(at)>>::point)
      at = lo;
    else
      at = interval<double>::unchecked(lo, hi);
  };
  put(p.left(3, 7), 0, infinite);
  put(p.right(9, 5), -infinite, infinite);
  put(p.left(20, 9), 0, 0);
  put(p.left(77, 39), std::nan(""), std::nan(""));
  put(p.right(39, 60), std::nan(""), std::nan(""));
  put(p.left(130, 1), -infinite, -3);
  const auto c = p.on(gpu, tight);
  for (std::int64_t j = 0; j < s.n; ++j)
    for (std::int64_t i = 0; i < s.m; ++i) {
      interval<double> sum;
      for (std::int64_t k = 0; k < s.k; ++k)
        sum = sum + interval<double>(p.left(i, k)) * interval<double>(p.right(k, j));
      const interval<double> got = c[static_cast<std::size_t>(i + j * (s.m + 2))];
      if (is_empty(sum)) {
        ASSERT_TRUE(is_empty(got)) << i << ' ' << j;
      } else {
        ASSERT_EQ(got.lo(), sum.lo()) << i << ' ' << j;
        ASSERT_EQ(got.hi(), sum.hi()) << i << ' ' << j;
      }
    }
}

TEST(gemm_tight, anything_may_stand_in_a_matrix) {
  VOUCH_NEEDS_GPU();
  for (const device& gpu : testing::gpus()) {
    anything_may_stand_in_a_matrix<interval<double>, interval<double>>(gpu);
    anything_may_stand_in_a_matrix<interval<double>, double>(gpu);
    anything_may_stand_in_a_matrix<double, interval<double>>(gpu);
    anything_may_stand_in_a_matrix<double, double>(gpu);
  }
}

// Overflow of finite operands: the bound that overflows is infinite, the other the largest number.
TEST(gemm_tight, overflow_is_enclosed) {
  VOUCH_NEEDS_GPU();
  constexpr double largest = std::numeric_limits<double>::max();
  for (const device& gpu : testing::gpus()) {
    product<double, double, double> p({1, 1, 2}, transpose::no, transpose::no, {5, 0});
    for (std::int64_t k = 0; k < 2; ++k) {
      p.left(0, k) = 1e200;
      p.right(k, 0) = 1e200;
    }
    const interval<double> up = p.on(gpu, tight)[0];
    EXPECT_EQ(up.lo(), largest);
    EXPECT_EQ(up.hi(), infinite);
    p.right(1, 0) = -1e200;
    const interval<double> both = p.on(gpu, tight)[0];
    EXPECT_LE(both.lo(), 0);
    EXPECT_EQ(both.hi(), infinite);
  }
}

}  // namespace
}  // namespace vouch
