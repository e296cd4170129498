#include <vouch/text/number.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>

#include <vouch/core/random.hpp>

namespace vouch {
namespace {

TEST(decimal_radius, is_zero_for_doubles) {
  for (const char* text : {"0",
                           "-0",
                           "0.000",
                           "0e7",
                           "1",
                           "-1",
                           "+1.000000000000000000000000",
                           "0.5",
                           "-0.375",
                           "12e3",
                           "1e22",
                           "1.5e10",
                           "9007199254740991",
                           "9007199254740992",
                           "1250e-1",
                           "0.00000095367431640625",
                           "1024",
                           "1e15",
                           "2251799813685248.5",
                           "3.0e0"})
    EXPECT_EQ(decimal_radius(text), 0) << text;
}

TEST(decimal_radius, is_half_a_unit_for_others) {
  EXPECT_EQ(decimal_radius("1.1"), 1.1 * 0x1p-53);
  EXPECT_EQ(decimal_radius("-0.1"), 0.1 * 0x1p-53);
  EXPECT_EQ(decimal_radius("9007199254740993"), 0x1p53 * 0x1p-53);
  EXPECT_EQ(decimal_radius("1.00000000000000000000000000000000000001"), 0x1p-53);
  for (const char* text : {"1e-400", "4e-324", "1e-310", "1e-300"}) {
    EXPECT_GE(decimal_radius(text), 0x1p-1074) << text;
    EXPECT_LE(decimal_radius(text), 1e-306) << text;
  }
}

// Decimals of up to 17 digits; with 64 bits what is read is nearer to them by 11 bits.
TEST(decimal_radius, bounds_the_distance) {
  std::uint64_t powers[18] = {1};
  for (int k = 1; k < 18; ++k) powers[k] = 10 * powers[k - 1];
  int inexact = 0;
  for (std::uint64_t k = 0; k < 100000; ++k) {
    const std::uint64_t bits = random_bits(7, k);
    const int digits = 1 + static_cast<int>(bits % 17);
    const int exponent = static_cast<int>(bits / 32 % 60) - 40;
    char text[64];
    std::snprintf(text, sizeof text, bits % 3 == 0 ? "%llu.5e%d" : "%llue%d",
                  static_cast<unsigned long long>((bits >> 8) % powers[digits]), exponent);
    const double x = std::strtod(text, nullptr);
    const long double wide = std::strtold(text, nullptr);
    const double radius = decimal_radius(text);
    if (radius == 0) {
      ASSERT_EQ(wide, static_cast<long double>(x)) << text;
    } else {
      ++inexact;
      ASSERT_LE(std::fabs(wide - x), radius + std::fabs(wide) * 0x1p-63L) << text;
      ASSERT_LE(radius, std::fabs(x) * 0x1p-53) << text;
    }
  }
  EXPECT_GT(inexact, 50000);
}

}  // namespace
}  // namespace vouch
