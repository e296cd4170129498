// vouch/price/closed_form.hpp -- prices and Greeks by formula: European, digital and barrier options.
#pragma once
#include <cmath>
#include <limits>

#include <vouch/core/ieee_environment.hpp>
#include <vouch/core/types.hpp>
#include <vouch/core/visibility.hpp>
#include <vouch/price/jet.hpp>
#include <vouch/price/normal.hpp>
#include <vouch/price/types.hpp>

namespace VOUCH_PUBLIC vouch {

namespace detail {

/// log(a / b), to the last bits also where a is near b.
VOUCH_HOST_DEVICE inline double log_ratio(double a, double b) {
  const double more = a - b;
  return std::abs(more) < 0.5 * b ? std::log1p(more / b) : std::log(a / b);
}

}  // namespace detail

/// The European option of Black, Scholes and Merton.
///
/// Types   All numbers finite; spot, strike, volatility and expiry not negative; rates of any sign.
/// Result  An absolute error of a few 1e-16 times spot and discounted strike. Where spot, strike, volatility or
///         expiry is 0, the limit as it falls to 0; a Greek that grows without bound there is infinite.
/// Source  Black, Scholes 1973; Merton 1973.
VOUCH_HOST_DEVICE inline valuation european_price(const plain_option& o) {
  VOUCH_IN_IEEE(european_price(o));
  const double sign = sign_of(o.type), root = std::sqrt(o.expiry), deviation = o.volatility * root;
  const double underlying = o.spot * std::exp(-o.dividend * o.expiry),
               bond = o.strike * std::exp(-o.rate * o.expiry);
  if (o.spot == 0 && o.strike == 0) return {};
  const double forward = detail::log_ratio(o.spot, o.strike) + (o.rate - o.dividend) * o.expiry;
  constexpr double infinite = std::numeric_limits<double>::infinity();
  double d1 = forward > 0 ? infinite : forward < 0 ? -infinite : 0, d2 = d1;
  if (deviation > 0) {
    d1 = forward / deviation + 0.5 * deviation;
    d2 = d1 - deviation;
  }
  const double density = normal::density(d1);
  // Either may be infinite where rates are far below 0.
  const auto part = [](double whole, double weight) { return weight > 0 ? whole * weight : 0; };
  const double underlying_part = part(underlying, normal::cumulative(sign * d1)),
               bond_part = part(bond, normal::cumulative(sign * d2));
  valuation v;
  v.price = std::fmax(sign * (underlying_part - bond_part), 0.0);
  v.delta = o.spot > 0 ? sign * underlying_part / o.spot
                       : (o.type == option_type::call ? 0.0 : -std::exp(-o.dividend * o.expiry));
  v.rho = sign * o.expiry * bond_part;
  v.theta = sign * (o.dividend * underlying_part - o.rate * bond_part);
  if (density > 0) {
    v.gamma = underlying * density / (o.spot * o.spot * deviation);
    v.vega = underlying * density * root;
    if (o.volatility > 0) v.theta -= underlying * density * o.volatility / (2 * root);
  }
  return v;
}

namespace detail {

/// The parts of a formula for constant coefficients, as jets.
struct variables {
  jet spot, volatility, rate, expiry;
  double dividend;

  VOUCH_HOST_DEVICE explicit variables(const plain_option& o)
      : spot(jet::of_spot(o.spot)),
        volatility(jet::of_volatility(o.volatility)),
        rate(jet::of_rate(o.rate)),
        expiry(jet::of_expiry(o.expiry)),
        dividend(o.dividend) {}
};

/// log(level / spot).
VOUCH_HOST_DEVICE inline jet log_from(const jet& spot, double level) {
  jet x = -log(spot);
  x.value = log_ratio(level, spot.value);
  return x;
}

/// The probability of an end in the money where nothing is random: 0, 1, or 1/2 on the edge.
VOUCH_HOST_DEVICE inline double deterministic_probability(const plain_option& o) {
  const double margin = sign_of(o.type) * (o.spot * std::exp((o.rate - o.dividend) * o.expiry) - o.strike);
  return margin > 0 ? 1.0 : margin < 0 ? 0.0 : 0.5;
}

VOUCH_HOST_DEVICE inline jet digital_jet(const plain_option& o) {
  const variables v(o);
  const bool asset = o.payoff == payoff_kind::asset_digital;
  const jet growth = asset ? -o.dividend * v.expiry : -v.rate * v.expiry;
  const jet deviation = v.volatility * sqrt(v.expiry);
  const jet d1 = ((v.rate - o.dividend) * v.expiry - log_from(v.spot, o.strike)) / deviation + 0.5 * deviation;
  const jet paid = weighted_cumulative(growth, sign_of(o.type) * (asset ? d1 : d1 - deviation));
  return asset ? v.spot * paid : o.cash * paid;
}

/// The factors of Reiner and Rubinstein's formulas; in the money it pays so many units of the underlying and bonds.
struct barrier_terms {
  double phi, eta, strike;
  double units, bonds;
  jet spot;
  jet underlying, bond;            // -q T and -r T
  jet reflected, deviation;        // 2 mu log(H / S), sigma sqrt(T)
  jet to_barrier, x1, x2, y1, y2;  // to_barrier is log(H / S)

  VOUCH_HOST_DEVICE jet paid(const jet& x) const {
    return sum(underlying, bond, phi * x, phi * (x - deviation));
  }
  VOUCH_HOST_DEVICE jet mirrored(const jet& y) const {
    return sum(underlying + reflected + 2 * to_barrier, bond + reflected, eta * y, eta * (y - deviation));
  }
  VOUCH_HOST_DEVICE jet sum(const jet& underlying_growth, const jet& bond_growth, const jet& underlying_limit,
                            const jet& bond_limit) const {
    jet all = 0;
    if (units != 0) all = units * (spot * weighted_cumulative(underlying_growth, underlying_limit));
    if (bonds != 0) all = all + bonds * weighted_cumulative(bond_growth, bond_limit);
    return all;
  }
};

VOUCH_HOST_DEVICE inline barrier_terms terms_of(const plain_option& o, const variables& v) {
  barrier_terms t;
  t.phi = sign_of(o.type);
  t.eta = is_up(o.barrier) ? -1 : 1;
  t.strike = std::fmax(o.strike, o.spot * 1e-290);
  t.units = o.payoff == payoff_kind::vanilla ? t.phi : o.payoff == payoff_kind::asset_digital ? 1 : 0;
  t.bonds = o.payoff == payoff_kind::vanilla        ? -t.phi * t.strike
            : o.payoff == payoff_kind::cash_digital ? o.cash
                                                    : 0;
  t.spot = v.spot;
  t.deviation = v.volatility * sqrt(v.expiry);
  t.to_barrier = log_from(v.spot, o.barrier_level);
  const jet drift = v.rate - v.dividend;
  t.reflected = (2 * drift / (v.volatility * v.volatility) - 1) * t.to_barrier;
  const jet shift = drift * v.expiry / t.deviation + 0.5 * t.deviation;
  t.underlying = -v.dividend * v.expiry;
  t.bond = -v.rate * v.expiry;
  t.x1 = -log_from(v.spot, t.strike) / t.deviation + shift;
  t.x2 = -t.to_barrier / t.deviation + shift;
  t.y1 = (t.to_barrier + log_ratio(o.barrier_level, t.strike)) / t.deviation + shift;
  t.y2 = t.to_barrier / t.deviation + shift;
  return t;
}

/// 1 paid at expiry if the barrier is never hit.
VOUCH_HOST_DEVICE inline jet paid_if_never_hit(const variables& v, const barrier_terms& t) {
  const jet discount = -v.rate * v.expiry;
  return weighted_cumulative(discount, t.eta * (t.x2 - t.deviation)) -
         weighted_cumulative(discount + t.reflected, t.eta * (t.y2 - t.deviation));
}

/// 1 paid when the barrier is hit, by the density of the first passage, for rates so negative that the formula
/// would need complex numbers. In y = |log(H/S)| / (sigma sqrt(t)) the density is that of a normal variable;
/// where y is small, what it is multiplied by changes with its logarithm.
VOUCH_HOST_DEVICE inline jet paid_when_hit_by_quadrature(const variables& v, const barrier_terms& t) {
  const jet distance = t.eta * (-t.to_barrier) / v.volatility;
  const jet drift = -t.eta * ((v.rate - v.dividend) / v.volatility - 0.5 * v.volatility);
  const jet nearest = distance / sqrt(v.expiry);
  // Gauss-Legendre, 8 points a panel.
  constexpr double at[4] = {0.1834346424956498, 0.5255324099163290, 0.7966664774136267, 0.9602898564975363};
  constexpr double weight[4] = {0.3626837833783620, 0.3137066458778873, 0.2223810344533745, 0.1012285362903763};
  constexpr int panels = 40;
  const double furthest = std::fmax(1.0, std::sqrt(std::fmax(0.0, 2 * distance.value * std::abs(drift.value))));
  const double longest = (12 + furthest) / panels, end = 12 + furthest;
  jet sum = 0;
  double length;
  for (double from = 0; from < end; from += length) {
    length = std::fmin(longest, 0.5 * (nearest.value + from));
    for (int k = 0; k < 8; ++k) {
      const jet y = nearest + (from + length * (0.5 + 0.5 * (k < 4 ? -at[k] : at[k - 4])));
      const jet arrival = distance / y;
      const jet miss = y - drift * arrival;
      sum = sum + 0.5 * length * weight[k % 4] * exp(-0.5 * miss * miss - v.rate * arrival * arrival);
    }
  }
  return 2 * normal::root_two_pi_inverse * sum;
}

VOUCH_HOST_DEVICE inline jet paid_when_hit(const variables& v, const barrier_terms& t) {
  const jet variance = v.volatility * v.volatility;
  const jet mu = (v.rate - v.dividend) / variance - 0.5;
  const jet square = mu * mu + 2 * v.rate / variance;
  if (square.value < 1e-8 * (1 + mu.value * mu.value)) return paid_when_hit_by_quadrature(v, t);
  const jet lambda = sqrt(square);
  const jet z = t.to_barrier / t.deviation + lambda * t.deviation;
  return weighted_cumulative((mu + lambda) * t.to_barrier, t.eta * z) +
         weighted_cumulative((mu - lambda) * t.to_barrier, t.eta * (z - 2 * lambda * t.deviation));
}

/// A barrier option whose barrier is not yet hit, without its rebate.
VOUCH_HOST_DEVICE inline jet barrier_payoff(const plain_option& o, const barrier_terms& t) {
  const bool above = o.strike > o.barrier_level;
  // The payoff lies on the barrier's far side only (never paid before a hit), or on both sides.
  const bool beyond = (o.type == option_type::call) == is_up(o.barrier);
  const bool outside = is_up(o.barrier) ? above : !above;
  const jet whole = t.paid(t.x1);
  jet in;
  if (beyond)
    in = outside ? whole : t.paid(t.x2) - t.mirrored(t.y1) + t.mirrored(t.y2);
  else
    in = outside ? whole - t.paid(t.x2) + t.mirrored(t.y2) : t.mirrored(t.y1);
  return is_in(o.barrier) ? in : whole - in;
}

}  // namespace detail

/// A European option that pays cash, or the underlying, where it ends in the money.
///
/// Types   As european_price.
/// Result  As european_price; on the edge of the money, where nothing is random any more, half of the payment.
/// Source  Rubinstein, Reiner 1991.
VOUCH_HOST_DEVICE inline valuation digital_price(const plain_option& o) {
  VOUCH_IN_IEEE(digital_price(o));
  const bool random = o.volatility > 0 && o.expiry > 0 && o.spot > 0 && o.strike > 0;
  if (random) return to_valuation(detail::digital_jet(o));
  const double probability = detail::deterministic_probability(o);
  if (o.payoff == payoff_kind::asset_digital) {
    const double discount = std::exp(-o.dividend * o.expiry) * probability;
    return {o.spot * discount, discount, 0, o.dividend * o.spot * discount, 0, 0};
  }
  const double paid = o.cash * std::exp(-o.rate * o.expiry) * probability;
  return {paid, 0, 0, o.rate * paid, 0, -o.expiry * paid};
}

namespace detail {

/// Of a call or put, or a digital option, by its formula.
VOUCH_HOST_DEVICE inline valuation price_without_barrier(const plain_option& o) {
  return o.payoff == payoff_kind::vanilla ? european_price(o) : digital_price(o);
}

/// When an underlying without randomness reaches the barrier; negative for never.
VOUCH_HOST_DEVICE inline double deterministic_hit(const plain_option& o) {
  const double drift = o.rate - o.dividend;
  if (drift == 0) return -1;
  const double when = std::log(o.barrier_level / o.spot) / drift;
  return when >= 0 && when <= o.expiry ? when : -1;
}

VOUCH_HOST_DEVICE inline valuation deterministic_barrier(const plain_option& o) {
  const variables v(o);
  const bool hit = deterministic_hit(o) >= 0;
  jet rebate = 0;
  if (is_in(o.barrier) && !hit) rebate = o.rebate * exp(-v.rate * v.expiry);
  if (!is_in(o.barrier) && hit)
    rebate = o.rebate * exp(-v.rate * (std::log(o.barrier_level) - log(v.spot)) / (v.rate - v.dividend));
  valuation sum = to_valuation(rebate);
  if (hit != is_in(o.barrier)) return sum;
  const valuation plain = price_without_barrier(o);
  return {sum.price + plain.price, sum.delta + plain.delta, sum.gamma + plain.gamma,
          sum.theta + plain.theta, sum.vega + plain.vega,   sum.rho + plain.rho};
}

}  // namespace detail

/// Whether the barrier is hit already.
VOUCH_HOST_DEVICE inline bool barrier_is_hit(const plain_option& o) {
  return is_up(o.barrier) ? o.spot >= o.barrier_level : o.spot <= o.barrier_level;
}

/// A European call or put, or a digital option, that knocks in or out when the underlying hits a barrier, watched at
/// every moment, with a rebate.
///
/// Types   As european_price, the barrier positive.
/// Result  As european_price. A barrier that is hit already leaves the plain option, or the rebate, paid now.
/// Source  Reiner, Rubinstein 1991; Rubinstein, Reiner 1991 (digital options).
VOUCH_HOST_DEVICE inline valuation barrier_price(const plain_option& o) {
  VOUCH_IN_IEEE(barrier_price(o));
  if (barrier_is_hit(o)) {
    if (is_in(o.barrier)) return detail::price_without_barrier(o);
    return {o.rebate, 0, 0, 0, 0, 0};
  }
  if (!(o.volatility > 0 && o.expiry > 0 && o.spot > 0)) return detail::deterministic_barrier(o);
  const detail::variables v(o);
  const detail::barrier_terms t = detail::terms_of(o, v);
  jet value = detail::barrier_payoff(o, t);
  if (o.rebate != 0)
    value =
        value + o.rebate * (is_in(o.barrier) ? detail::paid_if_never_hit(v, t) : detail::paid_when_hit(v, t));
  valuation found = to_valuation(value);
  if (found.price < 0) found.price = 0;  // a difference that rounding took below
  return found;
}

/// The European option by its formula, whichever it is.
VOUCH_HOST_DEVICE inline valuation closed_form(const plain_option& o) {
  return o.barrier != barrier_kind::none ? barrier_price(o) : detail::price_without_barrier(o);
}

}  // namespace vouch
