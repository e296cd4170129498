#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include <cli/report/statistics.hpp>
#include <vouch/core/error.hpp>

namespace vouch::report {
namespace {

TEST(statistics, of_four_numbers_by_hand) {
  const std::vector<double> samples{4, 1, 3, 2};
  const statistics s = summarize(samples);
  EXPECT_EQ(s.count, 4);
  EXPECT_DOUBLE_EQ(s.mean, 2.5);
  EXPECT_DOUBLE_EQ(s.deviation.value(), std::sqrt(5.0 / 3));
  EXPECT_DOUBLE_EQ(s.median, 2.5);
  EXPECT_DOUBLE_EQ(s.least, 1);
}

TEST(statistics, median_of_an_odd_count_is_the_middle_one) {
  const std::vector<double> samples{9, 1, 2};
  EXPECT_DOUBLE_EQ(summarize(samples).median, 2);
}

TEST(statistics, one_sample_has_no_deviation) {
  const std::vector<double> samples{7};
  const statistics s = summarize(samples);
  EXPECT_FALSE(s.deviation.has_value());
  EXPECT_DOUBLE_EQ(s.mean, 7);
}

TEST(statistics, no_samples_are_refused) { EXPECT_THROW(summarize({}), value_error); }

}  // namespace
}  // namespace vouch::report
