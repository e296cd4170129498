#include <gtest/gtest.h>

#include <bench/text_table.hpp>
#include <vouch/core/error.hpp>

namespace vouch::bench {
namespace {

TEST(text_table, golden) {
  text_table table("Times", {{"matrix", true}, {"device", true}, {"mean"}, {"n"}});
  table.add({"bcsstk11", "cpu", seconds_text(0.0125), count_text(1473)});
  table.add({"bcsstk11", "gpu", seconds_text(2.5e-6), count_text(1473)});
  table.add({"nos2", "cpu", seconds_text({}), count_text({})});
  table.note("A dash: not measured.");
  EXPECT_EQ(table.text(),
            "Times\n"
            "matrix    device     mean      n\n"
            "--------  ------  -------  -----\n"
            "bcsstk11  cpu     12.5 ms  1,473\n"
            "          gpu     2.50 us  1,473\n"
            "nos2      cpu           -      -\n"
            "A dash: not measured.\n");
}

TEST(text_table, a_row_of_the_wrong_length_is_refused) {
  text_table table("", {{"a"}, {"b"}});
  EXPECT_THROW(table.add({"1"}), shape_error);
}

TEST(text_table, other_wordings) {
  EXPECT_EQ(rate_text(4.29e12), "4.29 TB/s");
  EXPECT_EQ(count_text(1234567), "1,234,567");
  EXPECT_EQ(count_text(-100), "-100");
  EXPECT_EQ(count_text(-1000), "-1,000");
  EXPECT_EQ(small_text(9.14e-9), "9.1e-09");
  EXPECT_EQ(ratio_text(1.9), "1.90x");
  EXPECT_EQ(ratio_text(153.2), "153x");
  EXPECT_EQ(percent_text(0.8134), "81.3 %");
  EXPECT_EQ(change_text(-0.3768), "-37.7 %");
}

}  // namespace
}  // namespace vouch::bench
