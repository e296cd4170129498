#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string>

#include <vouch/core/random.hpp>
#include <vouch/text/masked_line.hpp>

#include "campaign.hpp"

namespace vouch {
namespace {

struct entry {
  std::uint64_t row = 0, col = 0;
  double val = 0;
  std::ptrdiff_t taken = -1;  // bytes of the line; -1: left to others
};

// Behind the line feed stands what would be read on where it is not the end.
entry entry_of(const std::string& line, char behind) {
  const std::string text = line + std::string(64, behind);
  entry e;
  masked_line numbers(text.data());
  if (numbers.whole(e.row) && numbers.blanks() && numbers.whole(e.col) && numbers.blanks() &&
      numbers.real(e.val))
    if (const char* const next = numbers.next()) e.taken = next - text.data();
  return e;
}

std::string printed(const char* form, int digits, double value) {
  char text[128];
  std::snprintf(text, sizeof text, form, digits, value);
  return text;
}

TEST(masked_line, reads_entries_as_the_c_library_does) {
  std::uint64_t drawn = 0;
  const auto random = [&] { return random_bits(11, drawn++); };
  const auto below = [&](std::uint64_t bound) { return random() % bound; };
  std::int64_t taken = 0, short_ones = 0;
  const int lines = static_cast<int>(testing::campaign(2000000));
  for (int k = 0; k < lines; ++k) {
    const std::string row = std::to_string(1 + below(std::uint64_t{1} << below(40)));
    const std::string col = std::to_string(1 + below(std::uint64_t{1} << below(40)));
    const double value =
        (below(2) == 0 ? 1 : -1) * std::ldexp(static_cast<double>(random()), -64 + static_cast<int>(below(60)));
    const int digits = 1 + static_cast<int>(below(18));
    const std::string number = below(3) == 0   ? printed("%.*f", digits, value)
                               : below(2) == 0 ? printed("%.*e", digits, value)
                                               : printed("%.*f", 0, value);
    const auto blanks = [&] { return std::string(1 + below(k % 4 == 0 ? 20 : 1), ' '); };
    const std::string line =
        (k % 5 == 0 ? blanks() : "") + row + blanks() + col + blanks() + number + (k % 7 == 0 ? "\r\n" : "\n");
    const entry e = entry_of(line, "0 \n.e-"[below(6)]);
    const auto significant = std::count_if(
        number.begin(), number.begin() + static_cast<std::ptrdiff_t>(std::min(number.find('e'), number.size())),
        [](char c) { return c >= '0' && c <= '9'; });
    short_ones += line.size() <= 64 && significant <= 19;
    if (e.taken < 0) continue;
    ++taken;
    ASSERT_EQ(e.taken, static_cast<std::ptrdiff_t>(line.size())) << line;
    ASSERT_EQ(e.row, std::strtoull(row.c_str(), nullptr, 10)) << line;
    ASSERT_EQ(e.col, std::strtoull(col.c_str(), nullptr, 10)) << line;
    ASSERT_EQ(std::bit_cast<std::uint64_t>(e.val),
              std::bit_cast<std::uint64_t>(std::strtod(number.c_str(), nullptr)))
        << line;
  }
  EXPECT_GE(taken, short_ones * 99 / 100);  // the rest are middles that 128 bits do not tell
  EXPECT_GT(short_ones, lines / 2);
}

TEST(masked_line, leaves_everything_else_to_others) {
  for (const char* const line : {"1 2\n",
                                 "1 2 \n",
                                 "1\n",
                                 "\n",
                                 "1 2 3x\n",
                                 "1 2 +3\n",
                                 "+1 2 3\n",
                                 "-1 2 3\n",
                                 "1 2 3 4\n",
                                 "1 2 3 \n",
                                 "1 2 3e\n",
                                 "1 2 3e+\n",
                                 "1 2 .5\n",
                                 "1 2 5.\n",
                                 "1 2 .\n",
                                 "1 2 -\n",
                                 "1 2 --3\n",
                                 "1 2 nan\n",
                                 "1 2 inf\n",
                                 "1\t2 3\n",
                                 "1 2 3\r\r\n",
                                 "1 2 3\r4\n",
                                 "1 2 1.2.3\n",
                                 "1 2 0x10\n",
                                 "12345678901234567 2 3\n",
                                 "1 2 12345678901234567890\n",
                                 "1 2 1.2345678901234567890\n",
                                 "1 2 3e99999\n",
                                 "1 2 3e400\n",
                                 "% 1 2 3\n"})
    for (const char behind : {'0', ' ', '\n', '-', 'e'})
      EXPECT_EQ(entry_of(line, behind).taken, -1) << line << behind;
  const std::string blanks(70, ' ');
  EXPECT_EQ(entry_of(blanks + "1 2 3\n", '0').taken, -1);
  EXPECT_EQ(entry_of("1" + blanks + "2 3\n", '0').taken, -1);
  EXPECT_EQ(entry_of("1 2 " + std::string(70, '0') + "1\n", '0').taken, -1);
}

TEST(masked_line, whole_numbers_have_a_sign_or_none) {
  const auto integer_of = [](std::string text) {
    text += "\n" + std::string(64, '7');
    masked_line line(text.data());
    double value = 0.5;
    return line.integer(value) && line.next() != nullptr ? value : 0.5;
  };
  EXPECT_EQ(integer_of("0"), 0);
  EXPECT_EQ(integer_of("-9876543210"), -9876543210.0);
  EXPECT_EQ(integer_of("9007199254740993"), 9007199254740992.0);  // ties to even
  EXPECT_EQ(integer_of("1.0"), 0.5);
  EXPECT_EQ(integer_of("-"), 0.5);
}

}  // namespace
}  // namespace vouch
