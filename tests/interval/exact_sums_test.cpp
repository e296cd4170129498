#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include <vouch/interval/exact_sums.hpp>

namespace vouch {
namespace {

constexpr double largest = std::numeric_limits<double>::max();
constexpr double least = std::numeric_limits<double>::denorm_min();

double sum_of(std::initializer_list<double> terms) {
  exact_sums sums(2, 1088);
  for (const double x : terms) sums.add(1, x);
  EXPECT_EQ(nearest<double>(sums.value(0)), 0);
  return nearest<double>(sums.value(1));
}

TEST(exact_sums, cancellation_over_the_whole_range) {
  EXPECT_EQ(sum_of({1e300, 1, -1e300}), 1);
  EXPECT_EQ(sum_of({least, largest, -largest, least}), 2 * least);
  EXPECT_EQ(sum_of({-largest, -1e-300, largest}), -1e-300);
  EXPECT_EQ(sum_of({largest, largest, -largest}), largest);
  EXPECT_EQ(sum_of({largest, largest}), std::numeric_limits<double>::infinity());
}

TEST(exact_sums, rounds_once_and_to_even) {
  EXPECT_EQ(sum_of({1, 0x1p-53}), 1);
  EXPECT_EQ(sum_of({1, 0x1p-53, least}), 1 + 0x1p-52);
  EXPECT_EQ(sum_of({1 + 0x1p-52, 0x1p-53}), 1 + 0x1p-51);
  EXPECT_EQ(sum_of({-1, -0x1p-53, -least}), -1 - 0x1p-52);
}

TEST(exact_sums, merged_as_in_one) {
  exact_sums a(1, 1088), b(1, 1088), none(1, 1088);
  a.add(0, 1e200);
  b.add(0, -1e200);
  b.add_integer(0, -(int128{1} << 100));
  b.add(0, 0.5);
  a.merge(b);
  a.merge(none);
  EXPECT_EQ(nearest<double>(a.value(0) + exact(int128{1} << 100)), 0.5);
}

TEST(exact_sums, integers_of_128_bits) {
  exact_sums sums(1, 1088);
  const int128 big = (int128{1} << 126) - 12345;
  sums.add_integer(0, big);
  sums.add(0, -12345678901.0);
  EXPECT_TRUE(sums.integer(0) == big - int128{12345678901});
  sums.add_integer(0, -big);
  EXPECT_TRUE(sums.integer(0) == -int128{12345678901});
}

TEST(exact_sums, squares) {
  exact_sums sums(1, 2176);
  sums.add_square(0, 1e200);
  sums.add_square(0, 3);
  sums.add_integer_square(0, std::numeric_limits<std::int64_t>::min());
  const auto rest = sums.value(0) - exact(1e200) * exact(1e200) - exact(9.0);
  EXPECT_EQ(nearest<double>(rest), 0x1p126);
  EXPECT_EQ(root(sums.value(0)), 1e200);
  EXPECT_EQ(root(exact(2.0)), std::sqrt(2.0));
}

TEST(exact_sums, quotients_round_once) {
  EXPECT_EQ(nearest<double>(divided(exact(1.0), 3)), 1.0 / 3.0);
  EXPECT_EQ(nearest<double>(divided(exact(-1.0), 3, 7)), -1.0 / 21.0);
}

TEST(exact_sums, holds_what_doubles_do_not) {
  exact_sums sum(1, product_origin);
  using I = interval<double>;
  EXPECT_EQ(sum.take(0), I(0.0));
  for (int i = 0; i < 1000; ++i) sum.add_product(0, largest, largest);
  sum.add_product(0, 0x1p-1074, -0x1p-1074);
  for (int i = 0; i < 1000; ++i) sum.add_product(0, -largest, largest);
  EXPECT_EQ(sum.take(0), I::unchecked(-0x1p-1074, 0));
  sum.add_product(0, largest, largest);
  EXPECT_EQ(sum.take(0), I::unchecked(largest, std::numeric_limits<double>::infinity()));
  sum.add(0, 1);
  sum.add(0, -0x1p-1074);
  EXPECT_EQ(sum.take(0), I::unchecked(1 - 0x1p-53, 1));
  sum.add(0, 3, -1075);
  EXPECT_EQ(sum.take(0), I::unchecked(0x1p-1074, 0x1p-1073));
  sum.add(0, -5, 100);
  EXPECT_EQ(sum.take(0), I(-0x5p100));
}

TEST(exact_sums, products_are_compared_exactly) {
  const double x = 1 + 0x1p-52, y = 1 - 0x1p-52;  // x y < 1 by 2^-104
  EXPECT_TRUE(smaller_product(x, y, 1, -1));
  EXPECT_FALSE(smaller_product(1, 1, x, y));
  EXPECT_FALSE(smaller_product(-3, 5, 15, 1));
  EXPECT_TRUE(smaller_product(0, 5, 0x1p-1074, 0x1p-1074));
  EXPECT_FALSE(smaller_product(0, 5, 0, 1));
  EXPECT_TRUE(smaller_product(0x3p-1074, 0x1p-1074, 0x1p-1072, 0x1p-1074));
}

}  // namespace
}  // namespace vouch
