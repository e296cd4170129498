#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>

#include <vouch/core/random.hpp>

namespace vouch {
namespace {

// The published outputs of SplitMix64 started at 0 and at 1234567.
TEST(random_bits, are_those_of_splitmix64) {
  const std::uint64_t from_0[] = {0xe220a8397b1dcdaf, 0x6e789e6aa1b965f4, 0x06c45d188009454f,
                                  0xf88bb8a8724c81ec};
  const std::uint64_t from_1234567[] = {6457827717110365317u, 3203168211198807973u, 9817491932198370423u,
                                        4593380528125082431u, 16408922859458223821u};
  for (std::uint64_t k = 0; k < 4; ++k) EXPECT_EQ(random_bits(0, k), from_0[k]);
  for (std::uint64_t k = 0; k < 5; ++k) EXPECT_EQ(random_bits(1234567, k), from_1234567[k]);
  static_assert(random_bits(0, 0) == 0xe220a8397b1dcdaf);
}

TEST(random_unit, is_the_upper_53_bits_below_1) {
  for (std::uint64_t k = 0; k < 1000; ++k) {
    const double u = random_unit(3, k);
    EXPECT_EQ(std::ldexp(u, 53), static_cast<double>(random_bits(3, k) >> 11));
    EXPECT_TRUE(u >= 0 && u < 1);
  }
}

// Counts in 16 cells: chi-squared of 15 degrees of freedom stays below 37.7 with probability 0.999.
TEST(random_unit, is_uniform_along_the_counter_and_along_the_seed) {
  for (const bool along_seed : {false, true}) {
    constexpr int numbers = 160000;
    double count[16] = {};
    for (std::uint64_t k = 0; k < numbers; ++k)
      ++count[static_cast<int>(16 * (along_seed ? random_unit(k, 5) : random_unit(5, k)))];
    double chi_squared = 0;
    for (const double c : count) chi_squared += (c - numbers / 16) * (c - numbers / 16) / (numbers / 16);
    EXPECT_LT(chi_squared, 37.7) << along_seed;
  }
}

}  // namespace
}  // namespace vouch
