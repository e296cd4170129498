// vouch/price/book.hpp -- a file of options priced line by line.
#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include <vouch/core/device_group.hpp>
#include <vouch/core/visibility.hpp>

namespace VOUCH_PUBLIC vouch {

struct book_options {
  device_group dev =
      device::cpu();           // prices; every thread of `threads` has a stream of its own on one of its GPUs
  int threads = 0;             // that parse, price and print; 0: those of device::cpu()
  bool greeks = false;         // vega and rho too
  bool more_greeks = false;    // those, dividend rho, vanna, volga and charm too
  bool strict = false;         // a column that is not known is an error
  double tolerance = 1e-4;     // absolute, of each price
  std::function<bool()> stop;  // asked between lines that take long; true ends the work; may be empty
};

/// What is wrong, or likely to be, with a line. column counts from 1; 0 where the whole line is meant.
struct book_failure {
  std::int64_t line = 0, column = 0;
  std::string message;
};

struct book_report {
  std::int64_t options = 0;  // lines but for the header and empty ones
  std::int64_t priced = 0;
  std::int64_t european = 0, american = 0, by_finite_differences = 0;
  std::vector<book_failure> failures;  // the first most_failures of them, in the order of the file
  std::int64_t failed = 0;
  std::int64_t inaccurate = 0;         // priced, but not to the tolerance
  std::vector<book_failure> warnings;  // the first most_failures likely slips in lines that were priced
  std::int64_t warned = 0;
  std::vector<std::string> passed;  // the names of the columns that are not known, as they stand in the file
  bool stopped = false;
  static constexpr std::size_t most_failures = 1000;
};

/// Reads options from a CSV file (also .gz) and writes a line of prices for each.
///
/// The first line that is not empty names the columns, in any order and in letters of either size: type, spot,
/// strike and expiry are needed, and one of volatility, volatilities and price; exercise [european], rate,
/// dividend, rebate [0], payoff [vanilla], cash [1], barrier [none], barrier_level, dividends, dividend_model
/// [piecewise], dates, rates and tolerance [that of the options] may be there. An empty cell is as no column; a
/// rebate or a level without barrier, other than 0, is an error of its line. dividends, rates and volatilities
/// are lists as "0.25:1.5,0.5:1.5" of times and values, dates is one of times; semicolons serve as commas that
/// need no quotes. Where a line has a price, its volatility is found and priced with. Any other column goes to
/// the output as it stands, unless its name is close to one of these. Empty cells behind the last column, and
/// lines of such cells, are passed over. Cells may stand in quotes (RFC 4180), but have no line breaks.
///
/// The output has the columns line, those passed, implied_volatility (where there is a column price), price,
/// delta, gamma, theta, vega and rho (with greeks), and error, which is empty for a line that was priced to its
/// tolerance; behind a price it says how far off that may be. A Greek that is unknown or without bound is an
/// empty cell.
///
/// Memory  About a megabyte a thread, for files of any length.
/// Result  As price_batch to the tolerance; options that it does not take, or gives up, as price();
///         volatilities as implied_volatility(). The same output for any number of threads. Nothing is written
///         where the header is wrong, or where it was stopped.
/// Throws  parse_error  the header: a column that is not known, where its name is close to a known one or that
///                      of one of the output, or where strict; one twice, one missing; file_error; device_error
book_report price_book(const std::string& input, const std::string& output, const book_options& options);

}  // namespace vouch
