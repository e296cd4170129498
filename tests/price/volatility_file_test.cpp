#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include <vouch/core/error.hpp>
#include <vouch/price/words.hpp>

#include "temporary.hpp"

namespace vouch {
namespace {

class volatility_file : public ::testing::Test, public testing::temporary_folder {
 protected:
  volatility_table read(const std::string& text) { return read_volatility_table(file("table.csv", text)); }
  std::string message(const std::string& text) {
    try {
      read(text);
    } catch (const parse_error& e) {
      return std::string(e.what()).substr(path("table.csv").size());
    }
    return "no error";
  }
};

TEST_F(volatility_file, as_a_spreadsheet_writes_it) {
  const volatility_table plain = read("time,80,120\n0,0.2,0.3\n0.5,0.25,0.35");
  EXPECT_EQ(plain.spots, (std::vector<double>{80, 120}));
  EXPECT_EQ(plain.times, (std::vector<double>{0, 0.5}));
  EXPECT_EQ(plain.values, (std::vector<double>{0.2, 0.3, 0.25, 0.35}));
  const volatility_table other =
      read("\xef\xbb\xbf\"time \\ spot\", \"80\",120\r\n\r\n0 ,\"0.2\",0.3\r\n0.5,0.25,0.35\r\n");
  EXPECT_EQ(other.spots, plain.spots);
  EXPECT_EQ(other.times, plain.times);
  EXPECT_EQ(other.values, plain.values);
  EXPECT_EQ(read(",80,120\n0,0.2,0.3\n").values.size(), 2u);
}

TEST_F(volatility_file, errors_say_where) {
  EXPECT_EQ(message("time,80,120\n0,0.2,x.3\n"), ":2:7: expected a number, found 'x.3'");
  EXPECT_EQ(message("time,80,120\n0,0.2,1e999\n"), ":2:7: '1e999' overflows double precision");
  EXPECT_EQ(message("time,80,a\n"), ":1:9: expected a number, found 'a'");
  EXPECT_EQ(message("time,80,120\n\n0,0.2\n"), ":3: 2 numbers where a time and 2 volatilities are needed");
  EXPECT_EQ(message("time,80,120\n"), ":1: there is no volatility in it");
  EXPECT_EQ(message("time,80,120\n0,0.2,\n"), ":2:7: expected a number, found ''");
  std::string wide;
  for (int spot = 1; spot <= 60'000; ++spot) wide.append(",").append(std::to_string(spot));
  EXPECT_TRUE(message(wide + "\n").starts_with(":1: a line of 262144 bytes or more")) << message(wide + "\n");
}

// The mean of (0.1 + 0.2 t)^2 until 1, and of what stays 0.3 until 2.
TEST(volatility_table, means_of_squares) {
  const volatility_table t{{0, 1}, {50, 200}, {0.1, 0.1, 0.3, 0.3}};
  EXPECT_NEAR(t.mean_at(1, 100), std::sqrt(0.01 + 0.02 + 0.04 / 3), 1e-15);
  EXPECT_NEAR(t.mean_at(2, 100), std::sqrt((0.01 + 0.02 + 0.04 / 3 + 0.09) / 2), 1e-15);
  EXPECT_EQ(t.mean_at(0, 100), 0.1);
}

}  // namespace
}  // namespace vouch
