// cli/price_request.hpp -- what vouch price is asked to do.
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include <vouch/price/price.hpp>

#include "common.hpp"

namespace vouch::cli {

struct price_request {
  common_options common;
  contract option;
  pricing_options method;
  std::optional<double> implied;  // the price whose volatility is wanted
  bool more_greeks = false;       // shown, or in the book's output
  bool strict = false;            // a book's columns are all known
  bool verify = false;            // enclose the exact price and Greeks, and the discrete ones
  std::string plot;
  std::string book;
};

/// Whether a book's prices go to stdout.
bool writes_to_stdout(const price_request& request);

/// Reads and checks the command line.
///
/// Result  False when -h was asked for and has been printed.
/// Throws  usage_error; what the volatility table's file and the outputs throw
bool parse_price_request(std::span<const char* const> arguments, price_request& request);

/// vouch price --book: prices the book and reports; returns the exit code: 1 where a line could not be priced.
int run_book(const price_request& request);

/// Writes the value now over the spot, the payoff, and for an American option the boundary of exercise over time, as SVG to
/// request.plot.
void write_surface_plot(const price_request& request, const pricing& p);

}  // namespace vouch::cli
