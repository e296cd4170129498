// bench/peers/quantlib.hpp -- what the tool and its module for QuantLib say to each other.
#pragma once

/// An American option that ends after so many days of a year of 365.
struct vouch_peer_option {
  double spot, strike, rate, dividend, volatility;
  long days;
  int call;
};

/// prices[i] by FdBlackScholesVanillaEngine on one core, with two damped steps; not 0 where it throws.
using vouch_quantlib_american_function = int(const vouch_peer_option* options, long count, long nodes,
                                             long steps, double* prices, double* seconds);
