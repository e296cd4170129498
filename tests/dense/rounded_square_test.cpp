// Square matrices with entries of 16 bits, against their entries in long double.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include <vouch/core/random.hpp>
#include <vouch/dense/rounded_square.hpp>

namespace vouch::detail {
namespace {

double uniform(std::uint64_t seed, std::int64_t place) {
  return static_cast<double>(random_bits(seed, static_cast<std::uint64_t>(place)) >> 11) * 0x1p-52 - 1;
}

TEST(bfloat16, is_the_nearest_of_16_bits) {
  const auto rounded = [](float value) { return static_cast<float>(bfloat16::nearest(value)); };
  EXPECT_EQ(rounded(1 + 0x1p-8F), 1);  // halfway: to even
  EXPECT_EQ(rounded(1 + 0x3p-8F), 1 + 0x1p-6F);
  EXPECT_EQ(rounded(1 + 0x1.1p-8F), 1 + 0x1p-7F);
  EXPECT_EQ(rounded(-3.40e38F), -std::numeric_limits<float>::infinity());
  EXPECT_EQ(rounded(0x1p-133F), 0x1p-133F);  // the smallest there is
  EXPECT_TRUE(std::isnan(rounded(std::numeric_limits<float>::quiet_NaN())));
  for (std::int64_t k = 0; k < 1000; ++k) {
    const auto value = static_cast<float>(uniform(1, k));
    EXPECT_LE(std::fabs(rounded(value) - value), 0x1p-8F * std::fabs(value));
  }
}

TEST(rounded_square, products_are_those_of_its_entries) {
  const device cpu = device::cpu(2);
  for (const std::int64_t n : {1, 37, 300}) {
    const std::int64_t ld = n + 3;
    std::vector<double> a(static_cast<std::size_t>(n * ld));
    for (std::size_t k = 0; k < a.size(); ++k) a[k] = uniform(2, static_cast<std::int64_t>(k));
    std::vector<float> d(static_cast<std::size_t>(n)), r(d.size());
    for (std::size_t k = 0; k < d.size(); ++k) {
      d[k] = static_cast<float>(uniform(3, static_cast<std::int64_t>(k)));
      r[k] = static_cast<float>(uniform(4, static_cast<std::int64_t>(k)));
    }
    for (const bool by_rows : {false, true}) {
      const square_matrix<double> exact{a.data(), n, ld, by_rows};
      const rounded_square A = round_square(cpu, exact);
      const auto entry = [&](std::int64_t i, std::int64_t j) {
        const double whole = *exact.at(i, j);
        return static_cast<long double>(i == j
                                            ? static_cast<float>(whole)
                                            : static_cast<float>(bfloat16::nearest(static_cast<float>(whole))));
      };
      const std::int64_t first = n / 5, last = n - n / 7;
      std::vector<float> s(d.size(), 7);
      residual_rows(A, d.data(), r.data(), s.data(), first, last);
      for (std::int64_t i = 0; i < n; ++i) {
        const auto at = static_cast<std::size_t>(i);
        const bool inside = i >= first && i < last;
        long double all = r[at];
        for (std::int64_t j = 0; j < n && inside; ++j)
          all -= entry(i, j) * static_cast<long double>(d[static_cast<std::size_t>(j)]);
        EXPECT_NEAR(s[at], inside ? static_cast<double>(all) : 7.0, 1e-5) << n << ' ' << i;
      }
    }
  }
}

}  // namespace
}  // namespace vouch::detail
