#include <vouch/price/closed_form_enclosure.hpp>

#include <algorithm>
#include <cmath>

#include <vouch/core/error.hpp>
#include <vouch/core/ieee_environment.hpp>
#include <vouch/interval/elementary.hpp>
#include <vouch/interval/functions.hpp>

namespace vouch {
namespace {

using range = interval<double>;

void check_option(const plain_option& o) {
  if (o.payoff != payoff_kind::vanilla || o.barrier != barrier_kind::none)
    throw value_error("only European calls and puts without a barrier are enclosed");
  for (const double value : {o.spot, o.strike, o.volatility, o.expiry})
    if (!(value > 0) || !std::isfinite(value))
      throw value_error("an enclosure needs spot, strike, volatility and expiry above 0");
  if (!std::isfinite(o.rate) || !std::isfinite(o.dividend))
    throw value_error("an enclosure needs finite rates");
}

range cumulative(const range& x) { return erfc(-x / sqrt(range(2.0))) / range(2.0); }

range density(const range& x) {
  const range pi = range(4.0) * atan(range(1.0));
  return exp(-sqr(x) / range(2.0)) / sqrt(range(2.0) * pi);
}

// Without arbitrage a price is at least what exercise at expiry is worth, at least 0, and at most what is got.
range without_arbitrage(const range& price, const range& exercised, const range& got) {
  return range::unchecked(std::max({price.lo(), exercised.lo(), 0.0}), std::min(price.hi(), got.hi()));
}

}  // namespace

enclosed_valuation enclose_european_price(const plain_option& o) {
  const ieee_environment here;
  check_option(o);
  const range sign(sign_of(o.type)), spot(o.spot), strike(o.strike), rate(o.rate), dividend(o.dividend),
      volatility(o.volatility), expiry(o.expiry), two(2.0);
  const range root = sqrt(expiry), deviation = volatility * root;
  const range growth = exp(-(dividend * expiry));
  const range underlying = spot * growth, bond = strike * exp(-(rate * expiry));
  const range d1 = (log(spot / strike) + (rate - dividend) * expiry) / deviation + deviation / two;
  const range d2 = d1 - deviation;
  const range underlying_part = underlying * cumulative(sign * d1), bond_part = bond * cumulative(sign * d2);
  const range bell = density(d1);
  enclosed_valuation v;
  v.price = without_arbitrage(sign * (underlying_part - bond_part), sign * (underlying - bond),
                              o.type == option_type::call ? underlying : bond);
  v.delta = sign * growth * cumulative(sign * d1);
  v.gamma = growth * bell / (spot * deviation);
  v.vega = underlying * bell * root;
  v.rho = sign * expiry * bond_part;
  v.theta =
      sign * (dividend * underlying_part - rate * bond_part) - underlying * bell * volatility / (two * root);
  return v;
}

bool has_exact_enclosure(const contract& c) {
  const plain_option& o = c.plain;
  return c.exercise == exercise_style::european && c.is_plain() && o.payoff == payoff_kind::vanilla &&
         o.barrier == barrier_kind::none && o.spot > 0 && o.strike > 0 && o.volatility > 0 && o.expiry > 0;
}

}  // namespace vouch
