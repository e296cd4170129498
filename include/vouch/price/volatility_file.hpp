// vouch/price/volatility_file.hpp -- a table of local volatilities from a file.
#pragma once
#include <string>

#include <vouch/core/visibility.hpp>
#include <vouch/price/contract.hpp>

namespace VOUCH_PUBLIC vouch {

/// Reads CSV, also .gz: the first line that is not blank has spots behind its first cell, which may say
/// anything, each later one a time and a volatility for every spot.
///
/// Throws  parse_error  what is no number, a line of another length, no volatility; file_error. What the
///                      numbers may be is for check(contract) to say
volatility_table read_volatility_table(const std::string& path);

}  // namespace vouch
