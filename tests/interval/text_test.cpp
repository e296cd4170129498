#include <vouch/interval/text.hpp>

#include <gtest/gtest.h>

#include <vouch/core/error.hpp>
#include <vouch/interval/relations.hpp>

#include "interval/numbers.hpp"
#include "interval/oracle.hpp"

namespace vouch {
namespace {

using testing::directed;

template <class T>
class interval_text_test : public ::testing::Test {};
using types = ::testing::Types<float, double>;
TYPED_TEST_SUITE(interval_text_test, types);

template <real T>
void check_decimal(const std::string& number) {
  const auto read = [&](mpfr_ptr r, mpfr_rnd_t mode) {
    return mpfr_strtofr(r, number.c_str(), nullptr, 10, mode);
  };
  const interval<T> ours = parse_interval<T>('[' + number + ']');
  EXPECT_EQ(ours.lo(), directed<T>(MPFR_RNDD, read)) << number;
  EXPECT_EQ(ours.hi(), directed<T>(MPFR_RNDU, read)) << number;
}

std::string random_decimal(std::uint64_t k, int lowest, int highest) {
  std::string text = random_bits(1, k) % 2 == 0 ? "-" : "";
  const int digits = 1 + static_cast<int>(random_bits(2, k) % 25);
  for (int d = 0; d < digits; ++d) {
    text += static_cast<char>('0' + random_bits(3 + static_cast<std::uint64_t>(d), k) % 10);
    if (d == 0) text += '.';
  }
  const auto span = static_cast<std::uint64_t>(highest - lowest);
  return text + 'e' + std::to_string(lowest + static_cast<int>(random_bits(99, k) % span));
}

TYPED_TEST(interval_text_test, decimals_are_rounded_outward_correctly) {
  for (std::uint64_t k = 0; k < 3000; ++k) check_decimal<TypeParam>(random_decimal(k, -60, 60));
  for (std::uint64_t k = 0; k < 1000; ++k) check_decimal<TypeParam>(random_decimal(k, -330, 312));
  for (const char* number :
       {"0", "1", "0.1", "1e-400", "-1e400", "4.9406564584124654e-324", "2.4703282292062327e-324",
        "1.7976931348623157e308", "1.7976931348623159e308", "3.4028235e38", "3.4028236e38", "9007199254740993",
        "16777217", "1.00000000000000000000000000000000000000000000001"})
    check_decimal<TypeParam>(number);
}

TYPED_TEST(interval_text_test, printed_decimals_enclose_and_are_tight) {
  using T = TypeParam;
  for (std::uint64_t k = 0; k < 2000; ++k) {
    const T x = testing::adversarial_number<T>(20, k);
    if (std::fabs(x) > std::numeric_limits<T>::max()) continue;
    for (const int digits : {1, 3, 9, 17, 40}) {
      const std::string text = interval_text(interval<T>(x), digits);
      const interval<T> back = parse_interval<T>(text);
      EXPECT_TRUE(is_member(x, back)) << text;
      if (digits > std::numeric_limits<T>::max_digits10) {
        EXPECT_LE(back.hi(), next_up(x)) << text;
        EXPECT_GE(back.lo(), next_down(x)) << text;
      }
    }
  }
}

TEST(interval_text_test_double, known_texts) {
  const auto box = [](double lo, double hi) { return interval<double>::from_bounds(lo, hi); };
  EXPECT_EQ(interval_text(box(1, 2)), "[1, 2]");
  EXPECT_EQ(interval_text(box(0.1, 0.1), 3), "[0.1, 0.101]");
  EXPECT_EQ(interval_text(box(-0.1, 1000000), 3), "[-0.101, 1e6]");
  EXPECT_EQ(interval_text(box(9.99, 9.999), 2), "[9.9, 10]");
  EXPECT_EQ(interval_text(box(-9.999, -1e-300), 2), "[-10, -1e-300]");
  EXPECT_EQ(interval_text(interval<double>::empty()), "[empty]");
  EXPECT_EQ(interval_text(interval<double>::entire()), "[-inf, inf]");
  EXPECT_EQ(exact_interval_text(box(-1.5, 2)), "[-0x1.8p+0, 0x1p+1]");
  EXPECT_EQ(interval_text(decorated_interval<double>(box(1, 2), decoration::def)), "[1, 2]_def");
  EXPECT_EQ(interval_text(decorated_interval<double>::nai()), "[nai]");
  EXPECT_THROW(interval_text(box(1, 2), 0), value_error);
}

TYPED_TEST(interval_text_test, hexadecimal_text_reads_back) {
  using T = TypeParam;
  for (std::uint64_t k = 0; k < 3000; ++k) {
    const T a = testing::adversarial_number<T>(30, k);
    const T b = testing::adversarial_number<T>(31, k);
    if (!(std::fabs(a) <= std::numeric_limits<T>::max() && std::fabs(b) <= std::numeric_limits<T>::max()))
      continue;
    const interval<T> x = interval<T>::unchecked(std::min(a, b), std::max(a, b));
    EXPECT_TRUE(parse_interval<T>(exact_interval_text(x)) == x) << exact_interval_text(x);
    const decorated_interval<T> marked(x, decoration::def);
    EXPECT_EQ(parse_decorated_interval<T>(exact_interval_text(marked)).decoration_part(), decoration::def);
  }
}

TEST(interval_text_test_double, bad_texts_are_errors_with_a_column) {
  for (const char* text :
       {"",        "[", "[1", "[1,2", "1,2]", "[1 2]",  "[a]",       "[1e]",  "[0x]",      "[1/]",
        "[1.5/2]", "?", "1",  "1?x",  "[1]x", "[1,2]_", "[1,2]_foo", "[--1]", "[1e99999]", "[.]"})
    EXPECT_THROW(parse_interval<double>(text), parse_error) << text;
  for (const char* text : {"[2,1]", "[inf,inf]", "[-inf,-inf]", "[inf]", "[1/0]", "[nai]", "[1,2]_com",
                           "[1.0000000000000002,1.0000000000000001]"})
    EXPECT_THROW(parse_interval<double>(text), value_error) << text;
  try {
    parse_interval<double>("[1, x]");
    FAIL();
  } catch (const parse_error& e) {
    EXPECT_EQ(e.column(), 5);
  }
  EXPECT_THROW(parse_interval<double>('[' + std::string(5001, '1') + ']'), parse_error);
  EXPECT_EQ(parse_interval<double>('[' + std::string(4000, '1') + ']').lo(),
            std::numeric_limits<double>::max());
}

}  // namespace
}  // namespace vouch
