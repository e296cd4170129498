#include <gtest/gtest.h>

#include <string>
#include <vector>

#include <vouch/text/csv.hpp>
#include <vouch/text/nearest_name.hpp>

namespace vouch {
namespace {

std::vector<csv_cell> cells_of(std::string_view line) {
  std::vector<csv_cell> all;
  for (bool last = false; !last;) all.push_back(take_cell(line, last));
  EXPECT_TRUE(line.empty());
  return all;
}

void expect_cell(const csv_cell& cell, std::string_view text, std::string_view raw, bool whole = true) {
  EXPECT_EQ(cell.text, text);
  EXPECT_EQ(cell.raw, raw);
  EXPECT_EQ(cell.whole, whole) << raw;
}

TEST(csv, cells_with_and_without_quotes) {
  const auto cells = cells_of("a, b ,\"c\", \" d \" ,\"e, f\",\"g \"\"h\"\", i\",,\"\",5\" pipe\r");
  ASSERT_EQ(cells.size(), 9u);
  expect_cell(cells[0], "a", "a");
  expect_cell(cells[1], "b", " b ");
  expect_cell(cells[2], "c", "\"c\"");
  expect_cell(cells[3], "d", " \" d \" ");
  expect_cell(cells[4], "e, f", "\"e, f\"");
  expect_cell(cells[5], "g \"\"h\"\", i", "\"g \"\"h\"\", i\"");
  expect_cell(cells[6], "", "");
  expect_cell(cells[7], "", "\"\"");
  expect_cell(cells[8], "5\" pipe", "5\" pipe");
}

TEST(csv, the_end_of_a_line) {
  EXPECT_EQ(cells_of("").size(), 1u);
  EXPECT_EQ(cells_of("a,").size(), 2u);
  expect_cell(cells_of("a,\"b\"\r")[1], "b", "\"b\"");
  expect_cell(cells_of("\"b\" \r")[0], "b", "\"b\" ");
}

// What is in front of the next comma is the cell; nothing is lost.
TEST(csv, quotes_that_do_not_end_with_their_cell) {
  const auto open = cells_of("\"a,b,\"c\"x,d");
  ASSERT_EQ(open.size(), 2u);
  EXPECT_FALSE(open[0].whole);
  EXPECT_EQ(cells_of("\"a\"b,c")[0].whole, false);
  EXPECT_EQ(cells_of("\"")[0].whole, false);
  EXPECT_EQ(cells_of("\"\"\"")[0].whole, false);
  EXPECT_EQ(cells_of("\"\"\"\"")[0].whole, true);
  const auto last = cells_of("a,\"b,c");
  ASSERT_EQ(last.size(), 3u);
  expect_cell(last[1], "\"b", "\"b", false);
}

TEST(nearest_name, what_was_meant) {
  constexpr std::string_view names[] = {"dividend", "dividends", "rate", "rates", "volatility"};
  EXPECT_EQ(nearest_name("divdend", names), "dividend");
  EXPECT_EQ(nearest_name("vol", names), "volatility");
  EXPECT_EQ(nearest_name("rtae", names), "rate");
  EXPECT_EQ(nearest_name("ticker", names), "");
  EXPECT_EQ(nearest_name("id", names), "");
}

}  // namespace
}  // namespace vouch
