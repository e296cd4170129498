// vouch/text/decimal.hpp -- how far a decimal number is from the double that is read for it.
#pragma once
#include <string_view>

#include <vouch/core/visibility.hpp>

namespace VOUCH_PUBLIC vouch {

/// A bound of |d - x| for the number d that text says and the double x that parse_real() gives for it: 0 where
/// text is seen to be a double, else half a unit of the last place, at most twice that.
///
/// Result  0 for whole numbers below 2^53 however they are written, and for all sums of powers of two with
///         up to 19 significant digits.
double decimal_radius(std::string_view text);

}  // namespace vouch
