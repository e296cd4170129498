#include <gtest/gtest.h>

#include <cli/report/units.hpp>

namespace vouch::report {
namespace {

TEST(units, seconds_keep_three_digits) {
  EXPECT_EQ(seconds_text(0), "0 s");
  EXPECT_EQ(seconds_text(3.2e-10), "0.32 ns");
  EXPECT_EQ(seconds_text(9.876e-6), "9.88 us");
  EXPECT_EQ(seconds_text(9.996e-4), "1.00 ms");
  EXPECT_EQ(seconds_text(0.12345), "123 ms");
  EXPECT_EQ(seconds_text(17.4), "17.40 s");
  EXPECT_EQ(seconds_text(175.1), "175 s");
}

TEST(units, bytes_keep_three_digits) { EXPECT_EQ(bytes_text(1408000000.0), "1.41 GB"); }

}  // namespace
}  // namespace vouch::report
