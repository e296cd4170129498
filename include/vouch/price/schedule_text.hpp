// vouch/price/schedule_text.hpp -- times, and values at times, as they are typed.
#pragma once
#include <string_view>
#include <vector>

#include <vouch/core/visibility.hpp>
#include <vouch/price/contract.hpp>

namespace VOUCH_PUBLIC vouch {

/// "0.25, 0.5": numbers between commas or semicolons.
///
/// Throws  value_error  what is no number
std::vector<double> parse_times(std::string_view text);

/// "0.25:1.5, 0.5:1.5": a time and what belongs to it.
///
/// Throws  value_error  what is no pair of numbers
std::vector<cash_dividend> parse_dividends(std::string_view text);
std::vector<curve_step> parse_curve(std::string_view text);

}  // namespace vouch
