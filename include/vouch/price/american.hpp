// vouch/price/american.hpp -- American calls and puts with constant coefficients by their exercise boundary.
#pragma once
#include <cmath>
#include <optional>

#include <vouch/core/ieee_environment.hpp>
#include <vouch/core/types.hpp>
#include <vouch/core/visibility.hpp>
#include <vouch/price/boundary.hpp>
#include <vouch/price/closed_form.hpp>
#include <vouch/price/types.hpp>

namespace VOUCH_PUBLIC vouch {

/// How early exercise enters the value of an American option.
enum class early_exercise : std::uint8_t {
  never,          // it is worth the European option
  deterministic,  // nothing is random: the best moment is known
  one_boundary,   // exercised beyond one boundary
  two_boundaries  // exercised between two boundaries: rates are negative
};

/// Which of them an option with constant coefficients is.
VOUCH_HOST_DEVICE inline early_exercise early_exercise_of(const plain_option& o) {
  if (!(o.volatility > 0 && o.expiry > 0 && o.spot > 0 && o.strike > 0)) return early_exercise::deterministic;
  const detail::put_problem put = detail::as_put(o);
  if (put.rate > 0 || (put.rate == 0 && put.dividend < 0)) return early_exercise::one_boundary;
  return put.dividend >= put.rate ? early_exercise::never : early_exercise::two_boundaries;
}

/// An American option where nothing is random: exercised at the best moment.
VOUCH_HOST_DEVICE inline valuation deterministic_american_price(const plain_option& o) {
  VOUCH_IN_IEEE(deterministic_american_price(o));
  const double sign = sign_of(o.type);
  double best = 0, moment = 0;
  const auto consider = [&](double t) {
    const double value = sign * (o.spot * std::exp(-o.dividend * t) - o.strike * std::exp(-o.rate * t));
    if (t >= 0 && t <= o.expiry && value > best) {
      best = value;
      moment = t;
    }
  };
  consider(0);
  consider(o.expiry);
  const double ratio = (o.rate * o.strike) / (o.dividend * o.spot);
  if (ratio > 0 && o.rate != o.dividend) consider(std::log(ratio) / (o.rate - o.dividend));
  if (!(best > 0)) return {};
  const double share = std::exp(-o.dividend * moment), bond = o.strike * std::exp(-o.rate * moment);
  valuation v{best, sign * share, 0, 0, 0, sign * moment * bond};
  if (moment == o.expiry && moment > 0) v.theta = sign * (o.dividend * o.spot * share - o.rate * bond);
  return v;
}

namespace detail {

/// By how many deviations the underlying drifts until expiry.
VOUCH_HOST_DEVICE inline double drift_in_deviations(const plain_option& o) {
  return std::abs(o.rate - o.dividend) * std::sqrt(o.expiry) / o.volatility;
}

/// Delta and gamma of o from those of as_put(o).
VOUCH_HOST_DEVICE inline void turn_from_put(const plain_option& o, const put_problem& put, valuation& v) {
  if (o.type == option_type::put) return;  // of a call: homogeneous of degree one in spot and strike
  v.delta = (v.price - put.spot * v.delta) / put.strike;
  v.gamma *= put.spot * put.spot / (put.strike * put.strike);
}

/// Price, delta, gamma and theta from the boundary of as_put(o); add_premium(v) adds what it is worth.
template <class Boundary, class AddPremium>
VOUCH_HOST_DEVICE inline valuation value_above(const plain_option& o, const put_problem& put,
                                               const Boundary& boundary, AddPremium add_premium) {
  const double sign = sign_of(o.type);
  if (std::log(put.spot) <= boundary.log_at(std::sqrt(put.expiry)))
    return {sign * (o.spot - o.strike) + 0.0, sign, 0, 0, 0, 0};  // no -0
  plain_option european = o;
  european.type = option_type::put;
  european.spot = put.spot;
  european.strike = put.strike;
  european.rate = put.rate;
  european.dividend = put.dividend;
  valuation v = european_price(european);
  add_premium(v);
  turn_from_put(o, put, v);
  v.theta = o.rate * v.price - (o.rate - o.dividend) * o.spot * v.delta -
            0.5 * o.volatility * o.volatility * o.spot * o.spot * v.gamma;
  v.vega = v.rho = 0;
  return v;
}

}  // namespace detail

/// Price, delta, gamma and theta of an American option; vega and rho stay 0.
///
/// Types   As european_price, no payoff but vanilla, no barrier; early_exercise_of(o) is not two_boundaries. rule: the
///         way that the premium's integral is taken, or, where undecided, where that is put.
/// Result  With fine_boundary() an absolute error of about 1e-8 of the strike for volatilities, rates and
///         expiries of ordinary contracts; with fast_boundary() about 1e-6 of it. The price is NaN where the
///         iteration does not converge: where the drift is many times the variance, over a long time.
/// Cost    nodes * quadrature * sweeps + premium evaluations of the normal distribution.
/// Source  Andersen, Lake, Offengenden, Journal of Computational Finance 20 (2016); calls by the symmetry of
///         McDonald and Schroder.
VOUCH_HOST_DEVICE inline valuation american_core(const plain_option& o, const boundary_scheme& scheme,
                                                 detail::premium_rule& rule) {
  const early_exercise kind = early_exercise_of(o);
  if (kind == early_exercise::deterministic) return deterministic_american_price(o);
  if (kind == early_exercise::never) return european_price(o);
  const detail::put_problem put = detail::as_put(o);
  const detail::exercise_boundary boundary(put, scheme);
  if (!boundary.converged()) return {std::nan(""), 0, 0, 0, 0, 0};
  return detail::value_above(o, put, boundary, [&](valuation& v) { boundary.add_premium(scheme, rule, v); });
}
VOUCH_HOST_DEVICE inline valuation american_core(const plain_option& o, const boundary_scheme& scheme) {
  detail::premium_rule rule{};
  return american_core(o, scheme, rule);
}

/// An American option with all Greeks, and how far the price is from one with a coarser boundary.
struct american_valuation {
  valuation value;
  double error_estimate = 0;
};

/// The same to a tolerance of the price, or to about 1e-13 of the strike, with vega and rho, where wanted, as
/// central differences of prices: by one polynomial for the boundary where that is near enough, else panel by
/// panel.
///
/// Types   As american_core.
/// Result  The price is NaN where no iteration converges.
/// Cost    A millisecond, some 50, or 200 to the last digits.
/// Throws  value_error  early_exercise_of(o) is two_boundaries
/// Source  As american_core; perpetual options: McKean 1965.
american_valuation american_price(const plain_option& o, double tolerance = 1e-6, bool vega_and_rho = true);

/// S at which an American option is exercised, tau years before its expiry; nothing where it never is, or
/// where there is not one boundary.
std::optional<double> american_boundary(const plain_option& o, double tau);

}  // namespace vouch
