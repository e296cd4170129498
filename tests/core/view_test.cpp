#include <gtest/gtest.h>

#include <type_traits>
#include <vector>

#include <vouch/core/types.hpp>
#include <vouch/core/view.hpp>

namespace vouch {
namespace {

static_assert(std::is_convertible_v<view<double>, view<const double>>);
static_assert(!std::is_convertible_v<view<const double>, view<double>>);
static_assert(!std::is_convertible_v<view<float>, view<const double>>);
static_assert(std::is_trivially_copyable_v<view<double>>);  // kernels take it by value

TEST(view, of_nothing_is_empty) {
  const view<double> v;
  EXPECT_EQ(v.size(), 0);
  EXPECT_EQ(v.data(), nullptr);
  EXPECT_EQ(v.stride(), 1);
}

TEST(view, steps_by_its_stride_in_either_direction) {
  std::vector<int> row_major{11, 12, 13, 21, 22, 23};
  const view<int> second_column(&row_major[1], 2, 3);
  EXPECT_EQ(second_column[0], 12);
  EXPECT_EQ(second_column[1], 22);
  second_column[1] = 0;
  EXPECT_EQ(row_major[4], 0);

  const view<const int> backwards(&row_major[5], 6, -1);
  EXPECT_EQ(backwards[0], 23);
  EXPECT_EQ(backwards[5], 11);
}

TEST(view, keeps_place_size_and_stride_when_it_becomes_constant) {
  double x[6] = {};
  const view<const double> v = view<double>(x + 1, 2, 3);
  EXPECT_EQ(v.data(), x + 1);
  EXPECT_EQ(v.size(), 2);
  EXPECT_EQ(v.stride(), 3);
}

TEST(ceil_div, rounds_up) {
  static_assert(ceil_div(0, 3) == 0 && ceil_div(1, 3) == 1 && ceil_div(3, 3) == 1 && ceil_div(4, 3) == 2);
  static_assert(ceil_div(std::int64_t{1} << 40, std::int64_t{3}) == 366503875926);
}

}  // namespace
}  // namespace vouch
