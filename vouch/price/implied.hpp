// vouch/price/implied.hpp -- the volatility at which a European option has a given price.
#pragma once
#include <vouch/price/contract.hpp>
#include <vouch/price/types.hpp>

namespace vouch {

/// The volatility at which european_price(o) is the given price; o.volatility is not read.
///
/// Result  As accurate as the price's digits beyond its least value allow: the equation is solved to a relative
///         error of a few 1e-16 in the time value. 0 at the least price that there can be.
/// Cost    Two dozen evaluations or fewer.
/// Throws  value_error  a price outside the bounds that no arbitrage allows, an option without expiry, or with
/// a
///                      spot or strike of 0
/// Source  The safeguarded iteration is our own; the split of the price's range after Jaeckel 2015.
double implied_volatility(const plain_option& o, double price);

/// The same of a contract whose rate may change and whose cash dividends may be escrowed.
///
/// Throws  value_error  what check(contract) refuses, any other product, and as above
double implied_volatility(contract c, double price);

}  // namespace vouch
