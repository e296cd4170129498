// vouch/text/number.hpp -- numbers from and to text: exact or to one side, and independent of the locale.
#pragma once
#include <charconv>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include <vouch/core/ieee_environment.hpp>
#include <vouch/core/visibility.hpp>

namespace VOUCH_PUBLIC vouch {

enum class number_error { none, malformed, overflow };

/// What stood at the front of a text. end is one past the number; the text's first byte where it is malformed.
template <class T>
struct parsed_number {
  T value{};
  const char* end = nullptr;
  number_error error = number_error::none;
};

/// The integer at the front of [first, last): an optional sign, then decimal digits, as many as there are.
///
/// Result  malformed without a digit; overflow beyond int64, with end past all digits.
parsed_number<std::int64_t> parse_integer(const char* first, const char* last);

/// The decimal number at the front of [first, last): an optional sign, digits with at most one point among or
/// beside them, optionally e or E, a sign and digits. No hexadecimal form, no inf, no nan.
///
/// Result  The double nearest to the number, ties to even, for any number of digits. What is too small becomes
///         a subnormal or a zero of its sign; overflow from the middle between the largest double and 2^1024.
parsed_number<double> parse_real(const char* first, const char* last);

/// No printed number is longer.
inline constexpr std::size_t number_width = 32;

/// Writes the shortest text that reads back as value; returns its end. to has room for number_width bytes.
template <class T>
requires std::floating_point<T> || std::integral<T>
char* print_number(char* to, T value) {
  VOUCH_IN_IEEE(print_number(to, value));
  return std::to_chars(to, to + number_width, value).ptr;
}

/// The same as a string.
template <class T>
requires std::floating_point<T> || std::integral<T> std::string number_text(T value) {
  char text[number_width];
  return {text, print_number(text, value)};
}

enum class text_side { nearest, below, above };

/// Writes a decimal number that reads back as value and, as it stands there, is at most (below) or at least
/// (above) the value; nearest is print_number(). Returns its end. to has room for number_width bytes.
///
/// Result  The shortest text that reads back, where that is on the side; else 17 digits or a few more.
/// Cost    About a microsecond.
char* print_number(char* to, double value, text_side side);

/// A bound of |d - x| for the number d that text says and the double x that parse_real() gives for it: 0 where
/// text is seen to be a double, else half a unit of the last place, at most twice that.
///
/// Result  0 for whole numbers below 2^53 however they are written, and for all sums of powers of two with
///         up to 19 significant digits.
double decimal_radius(std::string_view text);

}  // namespace vouch
