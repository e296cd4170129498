// vouch/price/more_greeks.hpp -- further derivatives of European options by formula.
#pragma once
#include <cmath>

#include <vouch/core/types.hpp>
#include <vouch/core/visibility.hpp>
#include <vouch/price/closed_form.hpp>
#include <vouch/price/normal.hpp>
#include <vouch/price/types.hpp>

namespace VOUCH_PUBLIC vouch {

/// Units  dividend_rho and volga are dV/dq and d2V/dsigma2 for changes by 1.0, vanna is d2V/dS dsigma, charm
///        d2V/dS dt a year (t runs, the expiry stands).
struct more_greeks {
  double dividend_rho = 0, vanna = 0, volga = 0, charm = 0;
};

namespace detail {

struct normal_arguments {
  double root, deviation, d1, d2;

  VOUCH_HOST_DEVICE explicit normal_arguments(const plain_option& o)
      : root(std::sqrt(o.expiry)), deviation(o.volatility * root) {
    d1 = (log_ratio(o.spot, o.strike) + (o.rate - o.dividend) * o.expiry) / deviation + 0.5 * deviation;
    d2 = d1 - deviation;
  }
};

VOUCH_HOST_DEVICE inline more_greeks vanilla_more_greeks(const plain_option& o) {
  const normal_arguments n(o);
  const double sign = sign_of(o.type), discount = std::exp(-o.dividend * o.expiry),
               density = discount * normal::density(n.d1),
               delta = sign * discount * normal::cumulative(sign * n.d1);
  const double by_time = (o.rate - o.dividend) / n.deviation - 0.5 * n.d2 / o.expiry;  // of d1, by the expiry
  return {-o.expiry * o.spot * delta, -density * n.d2 / o.volatility,
          o.spot * density * n.root * n.d1 * n.d2 / o.volatility, o.dividend * delta - density * by_time};
}

/// Of W N(sign d), where W is the underlying or the cash, discounted: d is d1 or d2.
VOUCH_HOST_DEVICE inline more_greeks digital_more_greeks(const plain_option& o) {
  const normal_arguments n(o);
  const bool asset = o.payoff == payoff_kind::asset_digital;
  const double sign = sign_of(o.type), d = asset ? n.d1 : n.d2, other = asset ? n.d2 : n.d1;
  const double decay = asset ? o.dividend : o.rate, discount = std::exp(-decay * o.expiry),
               paid = discount * (asset ? o.spot : o.cash), paid_by_spot = asset ? discount : 0;
  const double share = normal::cumulative(sign * d), density = sign * normal::density(d);
  const double by_spot = 1 / (o.spot * n.deviation), by_volatility = -other / o.volatility,
               by_time = (o.rate - o.dividend) / n.deviation - 0.5 * other / o.expiry;
  more_greeks v;
  v.dividend_rho = (asset ? -o.expiry * paid * share : 0) - paid * density * n.root / o.volatility;
  v.vanna = density * (paid_by_spot * by_volatility - paid * by_spot * (d * by_volatility + 1 / o.volatility));
  v.volga =
      paid * density * ((n.d1 + n.d2) / (o.volatility * o.volatility) - d * by_volatility * by_volatility);
  v.charm = decay * (paid_by_spot * share + paid * density * by_spot) - paid_by_spot * density * by_time +
            paid * density * by_spot * (d * by_time + 0.5 / o.expiry);
  return v;
}

}  // namespace detail

/// Of a European option without barrier, vanilla or digital.
///
/// Types   As european_price; spot, strike, volatility and expiry positive.
/// Result  A relative error of a few 1e-16 times 1 + d1^2.
/// Source  The formulas of Black, Scholes, Merton and of Rubinstein and Reiner, differentiated.
VOUCH_HOST_DEVICE inline more_greeks european_more_greeks(const plain_option& o) {
  return o.payoff == payoff_kind::vanilla ? detail::vanilla_more_greeks(o) : detail::digital_more_greeks(o);
}

/// Whether european_more_greeks(o) are those of an option that is exercised so.
inline bool has_more_greeks(const plain_option& o, exercise_style exercise) {
  return exercise == exercise_style::european && o.barrier == barrier_kind::none && o.spot > 0 &&
         o.strike > 0 && o.volatility > 0 && o.expiry > 0;
}

}  // namespace vouch
