// Decimal numbers on the side of a double that was asked for.

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <random>
#include <string>

#include <vouch/text/number.hpp>

namespace vouch {
namespace {

std::string text_of(double value, text_side side) {
  char text[number_width];
  return {text, print_number(text, value, side)};
}

// All digits of a double, by the C library: 767 at most.
std::string exact_digits(double value) {
  char text[1500];
  std::snprintf(text, sizeof text, "%.1100f", value);
  return text;
}

// -1, 0 or 1 for text < value, ..., by digits with the point in one place; value >= 0.
int compare(const std::string& text, double value) {
  std::string digits = text.substr(0, text.find('e'));
  int exponent = 0;
  if (const auto e = text.find('e'); e != std::string::npos) exponent = std::stoi(text.substr(e + 1));
  const auto point = digits.find('.');
  if (point != std::string::npos) {
    exponent -= static_cast<int>(digits.size() - point - 1);
    digits.erase(point, 1);
  }
  // digits * 10^exponent as 400 places before the point and 1100 behind it
  std::string mine = digits + std::string(static_cast<std::size_t>(1100 + exponent), '0');
  std::string others = exact_digits(value);
  others.erase(others.find('.'), 1);
  mine.insert(0, 1600 - mine.size(), '0');
  others.insert(0, 1600 - others.size(), '0');
  return mine.compare(others);
}

TEST(outward, is_on_its_side_and_reads_back) {
  std::mt19937_64 engine(5);
  int changed = 0;
  for (int k = 0; k < 20000; ++k) {
    double value = std::bit_cast<double>(engine() >> 1);
    if (k % 4 == 1) value = static_cast<double>(engine() % 100000) / 1000;
    if (k % 4 == 2) value = std::ldexp(1.0, static_cast<int>(engine() % 2000) - 1050);
    if (k % 4 == 3)
      value = std::nextafter(std::pow(10.0, static_cast<int>(engine() % 500) - 250), engine() % 2 ? 0 : 1e300);
    if (!std::isfinite(value)) continue;
    for (const bool negative : {false, true})
      for (const bool above : {false, true}) {
        const std::string text =
            text_of(negative ? -value : value, above ? text_side::above : text_side::below);
        ASSERT_EQ(std::strtod(text.c_str(), nullptr), negative ? -value : value) << text;
        ASSERT_LE(text.size(), number_width);
        const int order = compare(negative && value != 0 ? text.substr(1) : text, value);
        ASSERT_TRUE(above != negative ? order >= 0 : order <= 0) << text << ' ' << exact_digits(value);
        changed += text != number_text(negative ? -value : value) ? 1 : 0;
      }
  }
  EXPECT_GE(changed, 10000);
}

TEST(outward, what_can_be_said_shortly_is) {
  EXPECT_EQ(text_of(0, text_side::below), "0");
  EXPECT_EQ(text_of(1.5, text_side::below), "1.5");
  EXPECT_EQ(text_of(-3, text_side::above), "-3");
  EXPECT_EQ(text_of(0.1, text_side::below), "0.1");  // the double is above a tenth
  EXPECT_EQ(text_of(0.1, text_side::above), "0.10000000000000001");
  EXPECT_EQ(text_of(-0.1, text_side::below), "-0.10000000000000001");
  EXPECT_EQ(text_of(1e23, text_side::nearest), "1e+23");
  EXPECT_EQ(text_of(1e23, text_side::below), "9.9999999999999991e22");
  EXPECT_EQ(text_of(std::numeric_limits<double>::denorm_min(), text_side::below), "4.9406564584124654e-324");
  EXPECT_EQ(text_of(std::numeric_limits<double>::max(), text_side::above), "1.7976931348623158e308");
}

}  // namespace
}  // namespace vouch
