// vouch/text/number.hpp -- numbers from and to text: exact, and independent of the locale.
#pragma once
#include <charconv>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string>

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

}  // namespace vouch
