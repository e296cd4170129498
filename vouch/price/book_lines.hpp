// vouch/price/book_lines.hpp -- lines of a book of options as numbers, and prices as lines; private.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <vouch/price/batch.hpp>
#include <vouch/price/book.hpp>

namespace vouch {

enum class book_column : std::uint8_t {
  type,
  exercise,
  spot,
  strike,
  rate,
  dividend,
  volatility,
  expiry,
  payoff,
  cash,
  barrier,
  barrier_level,
  rebate
};

/// Whether a line, or the rest of one, has nothing but blanks and commas, as spreadsheets write emptied cells.
bool is_empty_book_line(std::string_view line);

/// The columns that the header, a file's line of that number, names.
///
/// Throws  parse_error  see price_book
std::vector<book_column> parse_book_header(const std::string& file, std::string_view line, std::int64_t number);

/// One line. Returns false, with what is wrong, for a line that describes no option.
bool parse_book_line(const std::vector<book_column>& columns, std::string_view line, batch_option& option,
                     book_failure& failure);

std::string book_output_header(bool greeks);
/// A price; Greeks that are not finite leave their cells empty; remark, if there is one, stands in the last
/// column.
void print_book_line(std::string& text, std::int64_t line, const valuation& v, bool greeks,
                     std::string_view remark = {});
void print_book_failure(std::string& text, const book_failure& failure, bool greeks);

}  // namespace vouch
