// vouch/price/implied.hpp -- the volatility at which an option has a given price.
#pragma once
#include <span>

#include <vouch/core/device.hpp>
#include <vouch/core/visibility.hpp>
#include <vouch/price/contract.hpp>
#include <vouch/price/types.hpp>

namespace VOUCH_PUBLIC vouch {

/// The volatility at which european_price(o), of a call or put without barrier, is the given price;
/// o.volatility is not read.
///
/// Result  The exact one of an option whose numbers, the price among them, differ from those given by a few
///         units in the last place: where log(spot / strike) and (rate - dividend) expiry do not cancel, a
///         relative error of a few 1e-16 times 1 + |rate| expiry + |dividend| expiry, times
///         1 + price / (volatility vega). Out of the money that last factor is at most 2, also for prices that
///         are next to nothing. 0 at the least price that there can be.
/// Cost    Some 0.3 us on one core: two or three evaluations of the price.
/// Throws  value_error  a price outside the bounds that no arbitrage allows, an option without expiry, or with
///                      a spot or strike of 0, a digital option or one with a barrier
/// Source  See implied_deviation.hpp.
double implied_volatility(const plain_option& o, double price);

/// The same of a call or put without barrier that may be exercised early, whose rate may change and that may
/// have cash dividends; volatilities in c are not read.
///
/// Result  European ones as above, also with changing rates and escrowed dividends. Else a volatility at which
///         price(c) comes to within half the tolerance (absolute) of the given price; the least one where the
///         price is that of exercise now. Searched for up to five deviations until expiry.
/// Throws  value_error  what check(contract) refuses, other products, a local volatility, and as above
double implied_volatility(contract c, double price, double tolerance = 1e-6);

/// volatilities[i] := implied_volatility(options[i], prices[i]), or NaN where that would throw.
///
/// Shapes  As many prices and volatilities as options.
/// Memory  All on the host. A call may run at the same time as others that have another device handle.
/// Throws  shape_error; device_error
void implied_volatilities(const device& dev, std::span<const plain_option> options,
                          std::span<const double> prices, std::span<double> volatilities);

namespace detail {
void implied_volatilities_cuda(const device& dev, std::span<const plain_option> options,
                               std::span<const double> prices, std::span<double> volatilities);
}  // namespace detail

}  // namespace vouch
