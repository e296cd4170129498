// vouch/price/words.hpp -- the words, times, amounts and tables by which options are described in text.
#pragma once
#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <vouch/core/visibility.hpp>
#include <vouch/price/contract.hpp>
#include <vouch/price/types.hpp>
#include <vouch/text/tokens.hpp>

namespace VOUCH_PUBLIC vouch {

inline constexpr std::array<std::string_view, 2> type_words{"call", "put"};
inline constexpr std::array<std::string_view, 3> exercise_words{"european", "american", "bermudan"};
inline constexpr std::array<std::string_view, 3> payoff_words{"vanilla", "cash-digital", "asset-digital"};
inline constexpr std::array<std::string_view, 5> barrier_words{"none", "up-in", "up-out", "down-in",
                                                               "down-out"};
inline constexpr std::array<std::string_view, 2> dividend_model_words{"piecewise", "escrowed"};

/// What a word means, in letters of either size; nothing where it is none of them. A type may be one letter.
inline std::optional<option_type> type_of(std::string_view word) {
  if (same_word(word, "c")) return option_type::call;
  if (same_word(word, "p")) return option_type::put;
  return find_word<option_type>(type_words, word);
}
inline std::optional<exercise_style> exercise_of(std::string_view word) {
  return find_word<exercise_style>(exercise_words, word);
}
inline std::optional<payoff_kind> payoff_of(std::string_view word) {
  return find_word<payoff_kind>(payoff_words, word);
}
inline std::optional<barrier_kind> barrier_of(std::string_view word) {
  return find_word<barrier_kind>(barrier_words, word);
}

inline std::optional<dividend_model> dividend_model_of(std::string_view word) {
  return find_word<dividend_model>(dividend_model_words, word);
}

/// "0.25, 0.5": numbers between commas or semicolons.
///
/// Throws  value_error  what is no number
std::vector<double> parse_times(std::string_view text);

/// "0.25:1.5, 0.5:1.5": a time and what belongs to it.
///
/// Throws  value_error  what is no pair of numbers
std::vector<cash_dividend> parse_dividends(std::string_view text);
std::vector<curve_step> parse_curve(std::string_view text);

/// Reads CSV, also .gz: the first line that is not blank has spots behind its first cell, which may say
/// anything, each later one a time and a volatility for every spot.
///
/// Throws  parse_error  what is no number, a line of another length, no volatility; file_error. What the
///                      numbers may be is for check(contract) to say
volatility_table read_volatility_table(const std::string& path);

}  // namespace vouch
