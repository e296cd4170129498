// vouch/price/formula/implied_formula.hpp -- the implied volatility of a European option, for CPU and GPU; private.
//
// Everything is in units of sqrt(discounted spot * discounted strike), of an option out of the money:
// x = |log(forward / strike)|, s = volatility * sqrt(expiry), a = x / s, t = s / 2. With Mills' ratio R and the
// weight w = exp(-(a^2 + t^2) / 2) / sqrt(2 pi) the price b has
//   b' = w,   b = w (R(a - t) - R(a + t)),   exp(-x/2) - b = w (R(t - a) + R(t + a)),
// and its point of inflection at a = t. So the error of s that an error of b / w makes is that error: nothing
// is lost where b underflows.
#pragma once
#include <cmath>
#include <limits>

#include <vouch/core/types.hpp>
#include <vouch/price/closed_form.hpp>
#include <vouch/price/normal.hpp>
#include <vouch/price/types.hpp>

namespace vouch::detail {

/// (R(a - t) - R(a + t)) / (2 t) by Taylor's series, for 2 a t < 1 and t <= 1/2: the n-th derivative of R(a) is
/// (-1)^n m_n with m_{n+1} = n m_{n-1} - a m_n.
VOUCH_HOST_DEVICE inline double mills_difference_nearby(double a, double t) {
  double before = normal::mills_ratio(a), now = 1 - a * before;
  double sum = now, power = 1;
  for (int n = 1; n < 40; n += 2) {
    before = n * before - a * now;
    now = (n + 1) * now - a * before;
    power *= t * t / ((n + 1) * (n + 2));
    const double term = power * now;
    sum += term;
    if (!(term > 1e-17 * sum)) break;
  }
  return sum;
}

/// a of x / b sqrt(2 pi) where t is small: b is then Bachelier's price. To 5e-4 of itself, for a up to 55.
VOUCH_HOST_DEVICE inline double bachelier_argument(double ratio, double log_ratio) {
  if (ratio < 4.788)
    return ratio * (0.99971255 + ratio * (0.85469765 + ratio * 0.01771876)) /
           (1 + ratio * (2.09546491 + ratio * 0.66675867));
  const double y = std::sqrt(2 * log_ratio);
  return (0.39648969 + y * (0.27426504 + y * (-0.13465526 + y * 0.15935309))) /
         (1 + y * (-0.08661579 + y * 0.15879676));
}

/// y with erf(y / sqrt(2)) = z, to 2e-3 of itself. Source: Winitzki 2008.
VOUCH_HOST_DEVICE inline double about_normal_quantile(double z, double rest) {
  constexpr double root_half_pi = 1.2533141373155003, fit = 0.147, lead = 2 / (3.14159265358979324 * fit);
  if (z < 1e-4) return root_half_pi * z;
  const double l = std::log(rest * (1 + z)), half = lead + 0.5 * l;  // log(1 - z^2), rest = 1 - z
  return std::sqrt(2 * (-l / fit) / (std::sqrt(half * half - l / fit) + half));
}

/// An amount in the units of the formula, value = amount / unit, which may underflow where its logarithm does
/// not.
struct scaled_amount {
  double amount, unit;
  VOUCH_HOST_DEVICE double value() const { return amount / unit; }
  VOUCH_HOST_DEVICE double log() const { return std::log(amount) - std::log(unit); }
};

/// Of an equation f(s) = 0: -f/(s f'), s f''/f' and s^2 f'''/f'. The step is relative to s.
struct householder_terms {
  double newton, second, third;

  VOUCH_HOST_DEVICE double step() const {
    return newton * (1 + 0.5 * newton * second) / (1 + newton * (second + newton * third / 6));
  }
};

/// s with b = price, where price + missing = exp(-x/2), both positive.
///
/// Result  A relative error of a few 1e-16 and what one of 1e-16 in the smaller of price and missing makes.
/// Source  The split by the point of inflection and Householder's third-order iteration on the logarithm:
///         Jaeckel, Let's be rational, 2015. The evaluation and the starting values are our own.
VOUCH_HOST_DEVICE inline double implied_deviation(double x, scaled_amount price, scaled_amount missing) {
  constexpr double root_two_pi = 2.5066282746310005, two_over_root_pi = 1.1283791670955126;
  const double beta = price.value(), rest = missing.value(), most = std::exp(-0.5 * x), root = std::sqrt(x);
  // At the inflection b is most/2 (1 - erfcx(sqrt(x))), and what is missing most/2 (1 + erfcx(sqrt(x))).
  const double gap = root < 1e-3 ? root * (two_over_root_pi - root) : 1 - normal::scaled_erfc(root);
  const double inflection = std::sqrt(2 * x), price_there = 0.5 * most * gap,
               missing_there = most - price_there;
  const bool below = beta < price_there, by_missing = rest < 0.5 * most;
  double s;
  if (below) {
    const double ratio = x / beta / root_two_pi;
    const bool finite = ratio < 1e290;
    s = x / bachelier_argument(ratio, finite ? std::log(ratio) : std::log(x / root_two_pi) - price.log());
    s = std::fmin(s, inflection);
  } else {
    s = inflection +
        (2 - gap) * about_normal_quantile((beta - price_there) / missing_there, rest / missing_there);
  }
  // The logarithm of w q s over the amount aimed at.
  const auto log_ratio = [&](double q, double exponent, const scaled_amount& aim) {
    if (exponent < 600 && aim.value() > 1e-290)
      return std::log(s / aim.value() * q * std::exp(-exponent) / root_two_pi);
    return std::log(s) + std::log(q / root_two_pi) - exponent - aim.log();
  };
  for (int k = 0; k < 40; ++k) {
    const double a = x / s, t = 0.5 * s, exponent = 0.5 * (a * a + t * t);
    const double second = a * a - t * t, third = second * second - 3 * a * a - t * t;
    const auto of_logarithm = [&](double error, double q) {  // q = value / (s slope)
      return householder_terms{-error * q, second - 1 / q, third - (3 * second - 2 / q) / q};
    };
    const auto mills_sum = [&] {
      return (normal::mills_ratio(std::fmax(t - a, 0.0)) + normal::mills_ratio(t + a)) / s;
    };
    const bool near = t < 0.5 && a * t < 0.5;
    householder_terms f;
    if (below) {
      const double q = near ? mills_difference_nearby(a, t)
                            : (normal::mills_ratio(std::fmax(a - t, 0.0)) - normal::mills_ratio(a + t)) / s;
      f = of_logarithm(log_ratio(q, exponent, price), q);
    } else if (by_missing) {
      const double q = mills_sum();
      f = of_logarithm(log_ratio(q, exponent, missing), -q);
    } else {
      const double inverse = root_two_pi * std::exp(exponent) / s;
      f = {beta * inverse - (near ? mills_difference_nearby(a, t) : most * inverse - mills_sum()), second,
           third};
    }
    double next = s + s * f.step();
    if (below ? !(next > 0 && next <= inflection) : !(next >= inflection)) next = inflection;
    const double moved = std::abs(next - s);
    s = next;
    if (moved <= 1e-4 * s) break;  // what is left is of the order of its fourth power
  }
  return s;
}

/// Between which prices a European option lies, whatever its volatility.
struct price_range {
  double x;                 // log(forward / strike)
  double underlying, bond;  // discounted spot and strike
  double least, most;

  VOUCH_HOST_DEVICE explicit price_range(const plain_option& o)
      : x(log_ratio(o.spot, o.strike) + (o.rate - o.dividend) * o.expiry),
        underlying(o.spot * std::exp(-o.dividend * o.expiry)),
        bond(o.strike * std::exp(-o.rate * o.expiry)),
        most(o.type == option_type::call ? underlying : bond) {
    const double sign = sign_of(o.type);
    // Of underlying and bond that are alike the difference would have lost its digits.
    least = sign * x <= 0 ? 0.0 : std::abs(x) < 0.7 ? sign * bond * std::expm1(x) : sign * (underlying - bond);
  }

  /// Whether a price is the least one, or was rounded to somewhat less.
  VOUCH_HOST_DEVICE bool is_least(double price) const {
    constexpr double rounding = 4 * std::numeric_limits<double>::epsilon();
    return least > 0 ? price <= std::fmax(least, std::abs(underlying - bond)) &&
                           price >= least - rounding * std::fmax(underlying, bond)
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
  const double unit = std::sqrt(range.underlying) * std::sqrt(range.bond);
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
