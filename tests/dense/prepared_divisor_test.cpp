// Quotients of prepared divisors must have the bits of divisions, above all where those are hardest to round.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <vector>

#include <vouch/core/random.hpp>
#include <vouch/dense/factor/prepared_divisor.hpp>

namespace vouch {
namespace {

template <class T>
class prepared_divisors : public ::testing::Test {};
using numbers = ::testing::Types<float, double>;
TYPED_TEST_SUITE(prepared_divisors, numbers);

template <class T>
int wrong_quotients(T r, T d) {
  const detail::prepared_divisor<T> by(d);
  if (!by.is_moderate() || !by.is_moderate(r)) return 0;
  return (by.to_nearest(r) != r / d) + (by.down(r) != div_down(r, d)) + (by.up(r) != div_up(r, d));
}

// A number of [1, 2) whose last bits are drawn near the ends or anywhere.
template <class T>
T mantissa(std::uint64_t bits) {
  constexpr int digits = std::numeric_limits<T>::digits - 1;
  const std::uint64_t all = (std::uint64_t{1} << digits) - 1, little = bits >> 8 & 0xff;
  const std::uint64_t choice = bits % 4;
  const std::uint64_t fraction = choice == 0 ? little : choice == 1 ? all - little : bits >> 8 & all;
  return 1 + static_cast<T>(fraction) / static_cast<T>(all + 1);
}

TYPED_TEST(prepared_divisors, quotients_are_those_of_a_division) {
  using T = TypeParam;
  int wrong = 0;
  for (std::uint64_t k = 0; k < 400000; ++k) {
    const T d = mantissa<T>(random_bits(1, 3 * k)), f = mantissa<T>(random_bits(1, 3 * k + 1));
    const auto sign = static_cast<T>(k % 2 == 0 ? 1 : -1);
    // Any dividend; and the neighbours of d f, whose quotients lie next to a number.
    const T near = d * f;
    for (const T r :
         {mantissa<T>(random_bits(1, 3 * k + 2)), near, std::nextafter(near, T{0}), std::nextafter(near, T{8})})
      wrong += wrong_quotients<T>(sign * r, d) +
               wrong_quotients<T>(std::ldexp(r, static_cast<int>(k % 60) - 30), -d);
  }
  EXPECT_EQ(wrong, 0);
}

// Quotients next to a middle of two numbers: r d' = (2 f + 1) 2^k +- 1 for odd d, found by the inverse of d.
TYPED_TEST(prepared_divisors, quotients_next_to_a_middle) {
  using T = TypeParam;
  constexpr int digits = std::numeric_limits<T>::digits;
  int wrong = 0, tried = 0;
  for (std::uint64_t k = 0; k < 100000; ++k) {
    const std::uint64_t d = std::uint64_t{1} << (digits - 1) | (random_bits(2, k) >> (65 - digits)) | 1;
    std::uint64_t inverse = d;  // modulo 2^64
    for (int step = 0; step < 6; ++step) inverse *= 2 - d * inverse;
    // Middles m of digits + 1 bits with m d = +-1 modulo 2^digits: (m d -+ 1) / 2^digits is a dividend.
    for (const std::uint64_t rest : {std::uint64_t{1}, ~std::uint64_t{0}}) {
      const std::uint64_t low = rest * inverse & ((std::uint64_t{1} << digits) - 1);
      const std::uint64_t m = std::uint64_t{1} << digits | low | 1;
      __extension__ using wide = unsigned __int128;
      const wide product = wide{m} * d;
      const auto r = static_cast<std::uint64_t>((product + (std::uint64_t{1} << (digits - 1))) >> digits);
      if (r >> digits != 0) continue;
      ++tried;
      wrong += wrong_quotients<T>(static_cast<T>(r), static_cast<T>(d));
    }
  }
  EXPECT_EQ(wrong, 0);
  EXPECT_GT(tried, 1000);
}

TYPED_TEST(prepared_divisors, what_may_leave_the_range_is_told) {
  using T = TypeParam;
  using limits = std::numeric_limits<T>;
  const detail::prepared_divisor<T> three(3);
  EXPECT_TRUE(three.is_moderate() && three.is_moderate(T{0}) && three.is_moderate(T{-7}));
  for (const T x : {limits::infinity(), -limits::infinity(), limits::quiet_NaN(), limits::max(), limits::min(),
                    limits::denorm_min()}) {
    EXPECT_FALSE(three.is_moderate(x));
    EXPECT_FALSE(detail::prepared_divisor<T>(x).is_moderate());
  }
  EXPECT_FALSE(detail::prepared_divisor<T>(0).is_moderate());
  EXPECT_FALSE(detail::prepared_divisor<T>(2 - limits::epsilon()).is_moderate());
  EXPECT_EQ(three.to_nearest(0), 0);
  EXPECT_EQ(three.up(T{6}), 2);
  EXPECT_EQ(three.down(T{-6}), -2);
}

}  // namespace
}  // namespace vouch
