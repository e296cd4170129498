// vouch/interval/text.hpp -- intervals from and to text, outward.
#pragma once
#include <string>
#include <string_view>

#include <vouch/core/visibility.hpp>
#include <vouch/interval/decorated.hpp>

namespace VOUCH_PUBLIC vouch {

/// The smallest interval around what the text says exactly.
///
/// Forms   [1.5, 2/3]   numbers: decimal, hexadecimal (0x1.8p-3), quotients of whole numbers, inf, infinity
///         [1.5]        a point
///         [1, ] [, ]   a bound left out is infinite
///         [], [empty], [entire]
///         1.56?2e3     (1.56 plus or minus 2 units of its last digit) * 10^3; ? alone means half a unit, ?? no
///                      bound at all; u or d behind it: only upwards, only downwards
///         Letters of either case; spaces inside the brackets, not inside a number.
/// Result  Bounds are compared as exact numbers: [1.0000000000000002, 1.0000000000000001] is an error.
/// Throws  parse_error  another form (its column counts from 1), more than 5000 digits, an exponent beyond
/// 20000
///         value_error  lower bound above the upper, or an infinite one that is no bound
/// Source  IEEE Std 1788-2015, 9.7 and 12.11.
template <real T>
interval<T> parse_interval(std::string_view text);

/// The same with [nai], and a decoration behind: [1, 2]_def. Without one, the best that the interval can have.
///
/// Throws  value_error  besides: a decoration that the interval cannot have
template <real T>
decorated_interval<T> parse_decorated_interval(std::string_view text);

/// "[lower, upper]" with this many significant digits, lower rounded down and upper rounded up; zeros at the
/// end of a fraction are left out. digits is 1 to 100.
///
/// Throws  value_error  digits out of range
template <real T>
std::string interval_text(interval<T> x, int digits = std::numeric_limits<T>::max_digits10);

/// The same interval in hexadecimal digits: parse_interval gives it back exactly.
template <real T>
std::string exact_interval_text(interval<T> x);

/// As above with the decoration behind, or "[nai]".
template <real T>
std::string interval_text(decorated_interval<T> x, int digits = std::numeric_limits<T>::max_digits10);
template <real T>
std::string exact_interval_text(decorated_interval<T> x);

}  // namespace vouch
