#include <vouch/price/implied.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

#include <vouch/core/error.hpp>
#include <vouch/price/closed_form.hpp>
#include <vouch/price/normal.hpp>
#include <vouch/text/number.hpp>

namespace vouch {
namespace {

// R(a - t) - R(a + t) for Mills' ratio R(y) = N(-y) / density(y), by its integral representation
// R(y) = integral of exp(-y u - u^2/2) over u > 0: nothing cancels.
double mills_difference_by_quadrature(double a, double t) {
  // u = exp(z - exp(-z)): the trapezoidal rule converges doubly exponentially.
  constexpr double step = 0.0625;
  double sum = 0;
  for (int k = -64; k <= 96; ++k) {
    const double z = step * k, u = std::exp(z - std::exp(-z)) / (a + 1);
    if (u > 60) break;
    sum += 2 * std::sinh(t * u) * std::exp(-a * u - 0.5 * u * u) * u * (1 + std::exp(-z));
  }
  return step * sum;
}

double mills(double y) {
  if (y >= 0) return 0.5 * normal::scaled_erfc(y * normal::root_half) / normal::root_two_pi_inverse;
  return normal::cumulative(-y) / normal::density(y);
}

double mills_difference(double a, double t) {
  if (2 * t < 0.2 * (a + 1)) return mills_difference_by_quadrature(a, t);
  return mills(a - t) - mills(a + t);
}

// The price of an option out of the money, over sqrt(forward * strike): x = -|log(forward / strike)| and
// s = sigma sqrt(T). Logarithms reach where the price itself underflows.
struct normalised {
  double log_price = 0;   // of b
  double log_spread = 0;  // of its derivative by s
};

normalised normalised_price(double x, double s) {
  const double a = -x / s, t = 0.5 * s;
  const double log_spread = -0.5 * (a * a + t * t) + std::log(normal::root_two_pi_inverse);
  return {log_spread + std::log(mills_difference(a, t)), log_spread};
}

// exp(x/2) - b: what is missing to the greatest price.
double missing(double x, double s) {
  const double a = -x / s, t = 0.5 * s;
  return normal::weighted_cumulative(0.5 * x, a - t) + normal::weighted_cumulative(-0.5 * x, -a - t);
}

// The root of an increasing f by Newton's iteration, kept inside a bracket; function(s) returns f and f'.
template <class Function>
double root(double low, double high, double s, Function function) {
  for (int k = 0; k < 100; ++k) {
    const auto [f, slope] = function(s);
    (f > 0 ? high : low) = s;
    double next = s - f / slope;
    if (!(next > low && next < high)) next = high < 1e300 ? std::sqrt(low) * std::sqrt(high) : 2 * s;
    if (std::abs(next - s) <= 2e-16 * s || next == low || next == high) return next;
    s = next;
  }
  return s;
}

struct value_and_slope {
  double value, slope;
};

// s with b(x, s) = beta, for 0 < beta < exp(x/2).
double normalised_deviation(double x, double beta, double beta_missing) {
  // At its point of inflection b is well scaled; below it the logarithm of b is nearly a parabola in 1/s, above
  // it b is concave. Where most of the greatest price is there, what is missing has the digits.
  const double inflection = std::fmax(std::sqrt(-2 * x), 1e-8);
  const normalised there = normalised_price(x, inflection);
  const double log_beta = std::log(beta);
  constexpr double tiny = 1e-300, huge = std::numeric_limits<double>::max();
  const auto by_price = [&](double s) {
    const normalised now = normalised_price(x, s);
    return value_and_slope{now.log_price - log_beta, std::exp(now.log_spread - now.log_price)};
  };
  if (log_beta <= there.log_price) {
    const double start =
        x < 0 ? -x / std::sqrt(x * x / (inflection * inflection) + 2 * (there.log_price - log_beta))
              : inflection;
    return root(tiny, inflection, start, by_price);
  }
  if (beta < beta_missing) return root(inflection, huge, inflection, by_price);
  const double log_missing = std::log(beta_missing);
  return root(inflection, huge, inflection, [&](double s) {
    const double rest = missing(x, s);
    if (!(rest > 0)) return value_and_slope{1.0, 0.0};
    return value_and_slope{log_missing - std::log(rest), std::exp(normalised_price(x, s).log_spread) / rest};
  });
}

[[noreturn]] void refuse(double price, double least, double most) {
  throw value_error("the price " + number_text(price) + " is not between " + number_text(least) + " and " +
                        number_text(most) + ", so no volatility gives it",
                    "check the price, the rates and the expiry");
}

}  // namespace

double implied_volatility(const plain_option& o, double price) {
  if (!(o.spot > 0 && o.strike > 0 && o.expiry > 0))
    throw value_error("an implied volatility needs a positive spot, strike and expiry");
  const double share = o.spot * std::exp(-o.dividend * o.expiry),
               bond = o.strike * std::exp(-o.rate * o.expiry);
  const double sign = sign_of(o.type);
  const double least = std::fmax(sign * (share - bond), 0.0), most = o.type == option_type::call ? share : bond;
  // Prices that were rounded may lie that much below what exercise pays.
  const double rounding = 4 * std::numeric_limits<double>::epsilon() * std::fmax(share, bond);
  if (price <= least && price >= least - (least > 0 ? rounding : 0)) return 0;
  if (!(price > least && price < most)) refuse(price, least, most);
  const double scale = std::sqrt(share) * std::sqrt(bond);
  const double x = -std::abs(detail::log_ratio(o.spot, o.strike) + (o.rate - o.dividend) * o.expiry);
  const double s = normalised_deviation(x, (price - least) / scale, (most - price) / scale);
  return s / std::sqrt(o.expiry);
}

double implied_volatility(contract c, double price) {
  check(c);
  const auto counts = [&](const cash_dividend& d) { return d.time > 0 && d.time < c.plain.expiry; };
  const bool falls = !c.is_escrowed() && std::any_of(c.dividends.begin(), c.dividends.end(), counts);
  if (c.exercise != exercise_style::european || c.plain.payoff != payoff_kind::vanilla ||
      c.plain.barrier != barrier_kind::none || falls)
    throw value_error(
        "only European calls and puts without barrier have an implied volatility here",
        falls ? "a share that falls by cash dividends has none; escrowed ones are taken" : std::string());
  plain_option o = c.plain;
  o.spot -= escrow(c, 0);
  if (o.expiry > 0) o.rate = integral_to(c.rates, o.rate, o.expiry) / o.expiry;
  return implied_volatility(o, price);
}

}  // namespace vouch
