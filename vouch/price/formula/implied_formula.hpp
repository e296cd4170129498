// vouch/price/formula/implied_formula.hpp -- the implied volatility of a European option, for CPU and GPU; private.
#pragma once
#include <cmath>
#include <limits>

#include <vouch/core/types.hpp>
#include <vouch/price/closed_form.hpp>
#include <vouch/price/formula/implied_deviation.hpp>
#include <vouch/price/types.hpp>

namespace vouch::detail {

/// Between which prices a European option lies, whatever its volatility.
struct price_range {
  double x;            // log(forward / strike)
  double share, bond;  // discounted spot and strike
  double least, most;

  VOUCH_HOST_DEVICE explicit price_range(const plain_option& o)
      : x(log_ratio(o.spot, o.strike) + (o.rate - o.dividend) * o.expiry),
        share(o.spot * std::exp(-o.dividend * o.expiry)),
        bond(o.strike * std::exp(-o.rate * o.expiry)),
        most(o.type == option_type::call ? share : bond) {
    const double sign = sign_of(o.type);
    // Of share and bond that are alike the difference would have lost its digits.
    least = sign * x <= 0 ? 0.0 : std::abs(x) < 0.7 ? sign * bond * std::expm1(x) : sign * (share - bond);
  }

  /// Whether a price is the least one, or was rounded to somewhat less.
  VOUCH_HOST_DEVICE bool is_least(double price) const {
    constexpr double rounding = 4 * std::numeric_limits<double>::epsilon();
    return least > 0 ? price <= std::fmax(least, std::abs(share - bond)) &&
                           price >= least - rounding * std::fmax(share, bond)
                     : price == 0;
  }
};

/// Prices near nothing at the money: there the deviation is in proportion to price and x, so that both may be
/// taken that many times, a power of two, to where nothing underflows.
VOUCH_HOST_DEVICE inline int lift_exponent(double x, double time_value, double unit) {
  constexpr double proportional = 1e-60;
  if (!(x < proportional && time_value < 1e-250 * unit)) return 0;
  constexpr int most = 600;
  const int room = x > 0 ? -100 - std::ilogb(x) : most;
  return room < most ? room : most;
}

/// Of other products several volatilities may have the same price.
VOUCH_HOST_DEVICE constexpr bool has_one_volatility(const plain_option& o) {
  return o.payoff == payoff_kind::vanilla && o.barrier == barrier_kind::none;
}

/// NaN where there is none, or may be several.
VOUCH_HOST_DEVICE inline double implied_volatility_or_nan(const plain_option& o, double price) {
  const price_range range(o);
  const bool positive = has_one_volatility(o) && o.spot > 0 && o.strike > 0 && o.expiry > 0;
  if (positive && range.is_least(price)) return 0;
  const double unit = std::sqrt(range.share) * std::sqrt(range.bond);
  if (!(positive && price > range.least && price < range.most && unit > 0 &&
        unit < std::numeric_limits<double>::infinity()))
    return std::nan("");
  const double x = std::abs(range.x), time_value = price - range.least;
  const int lift = lift_exponent(x, time_value, unit);
  const double s =
      implied_deviation(std::ldexp(x, lift), {std::ldexp(time_value, lift), unit}, {range.most - price, unit});
  return std::ldexp(s / std::sqrt(o.expiry), -lift);
}

}  // namespace vouch::detail
