// vouch/price/closed_form_enclosure.hpp -- the European price and its Greeks between proved bounds.
#pragma once
#include <vouch/core/visibility.hpp>
#include <vouch/interval/interval.hpp>
#include <vouch/price/contract.hpp>
#include <vouch/price/types.hpp>

namespace VOUCH_PUBLIC vouch {

/// Units  as those of valuation.
struct enclosed_valuation {
  interval<double> price, delta, gamma, theta, vega, rho;
};

/// The formula of Black, Scholes and Merton for a European call or put without barrier, in intervals.
///
/// Types   All numbers of o finite; spot, strike, volatility and expiry positive.
/// Result  Proved: the numbers of o as doubles have their exact price and Greeks inside. Some units of the last
///         place of the discounted spot and strike wide; the price lies between the bounds that hold without
///         arbitrage.
/// Throws  value_error  another option or numbers; error  this build has no MPFR (built_with_mpfr is false)
/// Source  Black, Scholes 1973; Merton 1973; elementary functions: GNU MPFR.
enclosed_valuation enclose_european_price(const plain_option& o);

/// Whether it takes the plain option of a contract, and that is all there is to the contract.
bool has_exact_enclosure(const contract& c);

}  // namespace vouch
