#include <gtest/gtest.h>

#include <bit>
#include <clocale>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <string>

#include <vouch/core/random.hpp>
#include <vouch/text/number.hpp>

#include "campaign.hpp"
#include "hostile.hpp"

namespace vouch {
namespace {

parsed_number<double> real_of(std::string_view text) {
  return parse_real(text.data(), text.data() + text.size());
}
parsed_number<std::int64_t> integer_of(std::string_view text) {
  return parse_integer(text.data(), text.data() + text.size());
}
std::uint64_t bits(double value) { return std::bit_cast<std::uint64_t>(value); }

// The C library rounds correctly; the text must be a number alone.
void expect_as_strtod(const std::string& text) {
  const double expected = std::strtod(text.c_str(), nullptr);
  const auto found = real_of(text);
  ASSERT_EQ(found.end, text.data() + text.size()) << text;
  if (std::isinf(expected)) {
    ASSERT_EQ(found.error, number_error::overflow) << text;
  } else {
    ASSERT_EQ(found.error, number_error::none) << text;
    ASSERT_EQ(bits(found.value), bits(expected)) << text;
  }
}

std::string format(const char* how, auto... values) {
  char text[2048];
  std::snprintf(text, sizeof text, how, values...);
  return text;
}

// GCC 12 warns wrongly of "text" + std::string.
std::string joined(std::initializer_list<std::string_view> parts) {
  std::string text;
  for (const std::string_view part : parts) text += part;
  return text;
}

std::string random_digits(std::uint64_t seed, std::uint64_t count) {
  std::string digits;
  for (std::uint64_t k = 0; k < count; ++k) digits += static_cast<char>('0' + random_bits(seed, k) % 10);
  return digits;
}

TEST(ParseInteger, ReadsSignsAndLimits) {
  EXPECT_EQ(integer_of("0").value, 0);
  EXPECT_EQ(integer_of("+17 ").value, 17);
  EXPECT_EQ(integer_of("-1234567890123").value, -1234567890123);
  EXPECT_EQ(integer_of("00000000000000000000000042").value, 42);
  EXPECT_EQ(integer_of("9223372036854775807").value, std::numeric_limits<std::int64_t>::max());
  EXPECT_EQ(integer_of("-9223372036854775808").value, std::numeric_limits<std::int64_t>::min());
}

TEST(ParseInteger, StopsAtTheFirstOtherByte) {
  const std::string text = "123456789x";
  EXPECT_EQ(integer_of(text).end, text.data() + 9);
  EXPECT_EQ(integer_of("12.5").value, 12);
}

TEST(ParseInteger, RefusesWhatIsNoInteger) {
  for (const char* text : {"", "-", "+", "x", " 1", "--1", "+-1", "/", ":"}) {
    EXPECT_EQ(integer_of(text).error, number_error::malformed) << text;
    EXPECT_EQ(integer_of(text).value, 0);
  }
}

TEST(ParseInteger, OverflowsBeyondInt64) {
  for (const std::string text : {"9223372036854775808", "-9223372036854775809", "18446744073709551616",
                                 "18446744073709551617", "99999999999999999999999999999999"}) {
    const auto found = integer_of(text);
    EXPECT_EQ(found.error, number_error::overflow) << text;
    EXPECT_EQ(found.end, text.data() + text.size()) << text;
  }
}

TEST(ParseReal, ReadsEveryForm) {
  const std::pair<const char*, double> forms[] = {{"1", 1},
                                                  {"-1", -1},
                                                  {"+1.5", 1.5},
                                                  {"1.", 1},
                                                  {".5", 0.5},
                                                  {"-.25e1", -2.5},
                                                  {"1e3", 1000},
                                                  {"1E+3", 1000},
                                                  {"1e-3", 0.001},
                                                  {"12.e2", 1200},
                                                  {"0", 0},
                                                  {"0.0e99", 0},
                                                  {"007", 7},
                                                  {"1e0000000001", 10},
                                                  {"0e999999999999", 0},
                                                  {"1e-999999999999999999999", 0}};
  for (const auto& [text, value] : forms) {
    const auto found = real_of(text);
    EXPECT_EQ(found.error, number_error::none) << text;
    EXPECT_EQ(found.value, value) << text;
    EXPECT_EQ(found.end, text + std::strlen(text)) << text;
  }
  EXPECT_TRUE(std::signbit(real_of("-0").value));
  EXPECT_TRUE(std::signbit(real_of("-1e-999").value));
  EXPECT_FALSE(std::signbit(real_of("0").value));
}

TEST(ParseReal, EndsBehindTheLongestNumber) {
  const std::pair<const char*, int> forms[] = {
      {"1 2", 1}, {"1e", 1},    {"1e+", 1}, {"1.5.2", 3}, {"1e5.5", 3},     {"2d3", 1}, {"0x10", 1},
      {"1,5", 1}, {"1_000", 1}, {"3\n", 1}, {"1e--5", 1}, {"12345678 ", 8}, {"1-2", 1}};
  for (const auto& [text, length] : forms) {
    EXPECT_EQ(real_of(text).end, text + length) << text;
    EXPECT_EQ(real_of(text).error, number_error::none) << text;
  }
}

TEST(ParseReal, RefusesWhatIsNoNumber) {
  for (const char* text :
       {"", "-", ".", "-.", "e5", ".e5", "nan", "inf", "-inf", "Infinity", "x", " 1", "+-1", "--1"})
    EXPECT_EQ(real_of(text).error, number_error::malformed) << text;
}

TEST(ParseReal, KnowsTheLimits) {
  EXPECT_EQ(real_of("1.7976931348623157e308").value, std::numeric_limits<double>::max());
  // Just below the middle between the largest double and 2^1024, and the middle itself.
  EXPECT_EQ(real_of("1.79769313486231580793728971405303e308").value, std::numeric_limits<double>::max());
  EXPECT_EQ(real_of("1.7976931348623158079372897140530342e308").error, number_error::overflow);
  EXPECT_EQ(real_of("-1e309").error, number_error::overflow);
  EXPECT_EQ(real_of("1e99999999999999999999").error, number_error::overflow);
  EXPECT_EQ(real_of("0.00000000000000000000000001e400").error, number_error::overflow);
  const std::string zeros(400, '0');
  EXPECT_EQ(real_of(joined({"1", zeros})).error, number_error::overflow);
  EXPECT_EQ(real_of(joined({"1", zeros, "e-400"})).value, 1);
  EXPECT_EQ(real_of(joined({"0.", zeros, "1e401"})).value, 1);
  EXPECT_EQ(real_of("5e-324").value, std::numeric_limits<double>::denorm_min());
  // The middle between 0 and the smallest double goes to the even 0.
  EXPECT_EQ(real_of("2.4703282292062327208e-324").value, 0);
  EXPECT_EQ(real_of("2.4703282292062328e-324").value, std::numeric_limits<double>::denorm_min());
}

TEST(ParseReal, AgreesWithStrtodOnPrintedDoubles) {
  for (std::uint64_t k = 0; k < testing::campaign<std::uint64_t>(15'000'000); ++k) {
    const double value = std::bit_cast<double>(random_bits(1, k));
    if (!std::isfinite(value)) continue;
    expect_as_strtod(format("%.*g", static_cast<int>(random_bits(2, k) % 22) + 1, value));
    if (HasFatalFailure()) return;
  }
}

TEST(ParseReal, AgreesWithStrtodNearOne) {
  for (std::uint64_t k = 0; k < testing::campaign<std::uint64_t>(30'000'000); ++k) {
    const int digits = static_cast<int>(random_bits(3, k) % 20);
    const double scale = std::pow(10.0, static_cast<double>(random_bits(4, k) % 25) - 12);
    expect_as_strtod(format(k % 2 ? "%.*f" : "%.*e", digits, (random_unit(5, k) - 0.5) * scale));
    if (HasFatalFailure()) return;
  }
}

TEST(ParseReal, AgreesWithStrtodOnRandomDigits) {
  for (std::uint64_t k = 0; k < testing::campaign<std::uint64_t>(15'000'000); ++k) {
    std::string text = random_digits(random_bits(6, k), random_bits(7, k) % 25);
    if (random_bits(8, k) % 2) text += '.';
    text += random_digits(random_bits(9, k), random_bits(10, k) % 25 + 1);
    const auto reach = static_cast<std::int64_t>(random_bits(11, k) % 3 == 0 ? 700 : 60);
    if (random_bits(12, k) % 2)
      text += joined({"e", std::to_string(static_cast<std::int64_t>(random_bits(13, k)) % (reach / 2 + 1))});
    expect_as_strtod(text);
    if (HasFatalFailure()) return;
  }
}

TEST(ParseReal, AgreesWithStrtodAtEveryPower) {
  for (int power = -345; power <= 310; ++power)
    for (std::uint64_t count = 1; count <= 20; ++count) {
      const std::string exponent = format("e%d", power);
      const auto seed = static_cast<std::uint64_t>(power + 345) * 32 + count;
      expect_as_strtod(joined({random_digits(seed, count), exponent}));
      expect_as_strtod(joined({std::string(count, '9'), exponent}));
      expect_as_strtod(joined({"-1", std::string(count - 1, '0'), exponent}));
    }
}

// A long double holds the middle of two neighbouring doubles exactly, and printf writes all its digits.
TEST(ParseReal, RoundsMiddlesToEven) {
  static_assert(std::numeric_limits<long double>::digits >= 54);
  for (std::uint64_t k = 0; k < testing::campaign<std::uint64_t>(2'000'000); ++k) {
    std::uint64_t pattern = random_bits(14, k) & 0x7fffffffffffffffu;
    if (k % 2) pattern = (pattern & 0x000fffffffffffffu) | ((1023 - 40 + random_bits(15, k) % 100) << 52);
    if (k % 10 == 0) pattern &= 0x000fffffffffffffu;  // subnormal
    const double below = std::bit_cast<double>(pattern);
    const double above = std::bit_cast<double>(pattern + 1);
    if (!std::isfinite(above)) continue;
    const std::string middle = format("%.800Le", (static_cast<long double>(below) + above) / 2);
    const std::size_t e = middle.find('e');
    const double even = pattern % 2 == 0 ? below : above;
    ASSERT_EQ(bits(real_of(middle).value), bits(even)) << middle;
    const std::string more = middle.substr(0, e) + "00001" + middle.substr(e);
    ASSERT_EQ(bits(real_of(more).value), bits(above)) << more;
    // One less in the last digit that is not zero, and nines behind it.
    const std::size_t last = middle.find_last_not_of('0', e - 1);
    std::string less = middle.substr(0, last + 1);
    --less[last];
    less += joined({"99999", middle.substr(e)});
    ASSERT_EQ(bits(real_of(less).value), bits(below)) << less;
  }
}

// Middles that have at most 19 digits take the short way.
TEST(ParseReal, RoundsShortMiddlesToEven) {
  for (std::uint64_t k = 0; k < testing::campaign<std::uint64_t>(10'000'000); ++k) {
    const std::uint64_t odd =
        (std::uint64_t{1} << 53) + 1 + 2 * (random_bits(16, k) % (std::uint64_t{1} << 52));
    for (const int power : {0, 1, 2, 3, 4}) {  // odd * 2^-power = odd * 5^power / 10^power
      std::uint64_t scaled = odd;
      for (int p = 0; p < power; ++p) scaled *= 5;
      if (scaled > 9999999999999999999u) continue;
      expect_as_strtod(std::to_string(scaled) + "e-" + std::to_string(power));
      expect_as_strtod(std::to_string(scaled + 1) + "e-" + std::to_string(power));
      expect_as_strtod(std::to_string(scaled - 1) + "e-" + std::to_string(power));
      if (HasFatalFailure()) return;
    }
  }
}

TEST(ParseReal, KnowsNoLocale) {
  const std::string before = std::setlocale(LC_ALL, nullptr);
  const char* found = nullptr;
  for (const char* name : {"de_DE.UTF-8", "de_DE.utf8", "fr_FR.UTF-8", "de_DE"})
    if (found == nullptr) found = std::setlocale(LC_ALL, name);
  if (found == nullptr) GTEST_SKIP() << "no locale with a decimal comma on this machine";
  EXPECT_EQ(real_of("1.5").value, 1.5);
  EXPECT_EQ(real_of("1.00000000000000000000000001").value, 1);
  EXPECT_EQ(number_text(2.5), "2.5");
  std::setlocale(LC_ALL, before.c_str());
}

TEST(PrintNumber, WritesTheShortestText) {
  EXPECT_EQ(number_text(0.1), "0.1");
  EXPECT_EQ(number_text(-0.0), "-0");
  EXPECT_EQ(number_text(1.0), "1");
  EXPECT_EQ(number_text(0.1f), "0.1");
  EXPECT_EQ(number_text(5e-324), "5e-324");
  EXPECT_EQ(number_text(1e300), "1e+300");
  EXPECT_EQ(number_text(-2.2250738585072014e-308), "-2.2250738585072014e-308");
  EXPECT_EQ(number_text(std::numeric_limits<std::int64_t>::min()), "-9223372036854775808");
}

TEST(PrintNumber, ReadsBackExactly) {
  for (std::uint64_t k = 0; k < testing::campaign<std::uint64_t>(10'000'000); ++k) {
    const double value = std::bit_cast<double>(random_bits(17, k));
    const float single = std::bit_cast<float>(static_cast<std::uint32_t>(random_bits(18, k)));
    if (std::isfinite(value)) {
      ASSERT_EQ(bits(real_of(number_text(value)).value), bits(value));
    }
    if (std::isfinite(single)) {
      ASSERT_EQ(static_cast<float>(real_of(number_text(single)).value), single);
    }
  }
}

TEST(NumberText, KeepsSubnormalNumbersInEveryEnvironment) {
  for (const testing::hostile_environment& how : testing::hostile_environments())
    EXPECT_EQ(testing::in(how, [] { return number_text(1e-310); }), "1e-310") << how.name;
}

}  // namespace
}  // namespace vouch
