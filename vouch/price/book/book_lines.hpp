// vouch/price/book/book_lines.hpp -- lines of a book of options as numbers, and prices as lines; private.
#pragma once
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include <vouch/price/batch.hpp>
#include <vouch/price/book.hpp>
#include <vouch/price/contract.hpp>
#include <vouch/price/more_greeks.hpp>

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
  rebate,
  price,
  tolerance,
  dividends,
  dividend_model,
  dates,
  rates,
  volatilities,
  passed  // goes to the output as it is
};

struct book_header {
  std::vector<book_column> columns;
  std::vector<std::string> passed;  // the names of those, as they stand in the file
  bool has_prices = false;          // volatilities are wanted
};

/// What a line says. plain where nothing changes in time: then `changes` is empty.
struct book_line {
  batch_option option;
  double price = std::numeric_limits<double>::quiet_NaN();  // where its volatility is wanted
  double tolerance = 0;                                     // 0: the book's
  bool is_plain = true;
  contract changes;  // dates, dividends and curves alone

  contract whole() const;
};

/// What is printed of an option. NaN where it is not known.
struct book_values {
  valuation value;
  more_greeks more;
  double implied_volatility;
};

/// Whether a line, or the rest of one, has nothing but blanks and commas, as spreadsheets write emptied cells.
bool is_empty_book_line(std::string_view line);

/// The columns that the header, a file's line of that number, names.
///
/// Throws  parse_error  see price_book
book_header parse_book_header(const std::string& file, std::string_view line, std::int64_t number,
                              const book_options& options);

/// One line. Returns false, with what is wrong, for a line that describes no option.
bool parse_book_line(const book_header& header, std::string_view text, book_line& line, book_failure& failure);

/// The first line of the output, and its lines: of a price, with a remark in the last column if there is one,
/// and of a failure. `input` is the line that it is about.
std::string book_output_header(const book_header& header, const book_options& options);
void print_book_line(std::string& text, const book_header& header, const book_options& options,
                     std::int64_t number, std::string_view input, const book_values& values,
                     std::string_view remark);
void print_book_failure(std::string& text, const book_header& header, const book_options& options,
                        std::string_view input, const book_failure& failure);

}  // namespace vouch
