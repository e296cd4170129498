// vouch/price/european_columns.hpp -- European calls and puts whose numbers stand in columns.
#pragma once
#include <span>

#include <vouch/core/device.hpp>
#include <vouch/core/view.hpp>
#include <vouch/core/visibility.hpp>
#include <vouch/price/types.hpp>

namespace VOUCH_PUBLIC vouch {

/// One element an option; with stride 0 one for all of them.
struct european_columns {
  view<const option_type> type;
  view<const double> spot, strike, rate, dividend, volatility, expiry;
};

struct valuation_columns {
  std::span<double> price, delta, gamma, theta, vega, rho;
  std::span<double> error;  // of the price, at most
};

/// Price and Greeks of each option.
///
/// Shapes  All columns of as many elements.
/// Memory  On the host.
/// Result  As price_batch, with the error as batch_error but for its rounding: the same bits for any number of options and
///         threads. NaN in all columns of an option with a number that is not finite, or whose spot, strike, volatility
///         or expiry is not positive.
/// Throws  shape_error; cancelled
void price_european(const device& cpu, const european_columns& options, const valuation_columns& to);

}  // namespace vouch
