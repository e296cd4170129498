// vouch/price/jet.hpp -- a number with its derivatives by spot (twice), volatility, rate and expiry; a detail of public headers.
//
// A formula written once on jets gives the price and all Greeks, exact to rounding.
#pragma once
#include <cmath>

#include <vouch/core/types.hpp>
#include <vouch/core/visibility.hpp>
#include <vouch/price/normal.hpp>
#include <vouch/price/types.hpp>

namespace VOUCH_PUBLIC vouch {

struct jet {
  double value = 0;
  double spot = 0, spot_twice = 0;
  double volatility = 0, rate = 0, expiry = 0;

  jet() = default;
  VOUCH_HOST_DEVICE jet(double constant) : value(constant) {}
  VOUCH_HOST_DEVICE jet(double v, double s, double ss, double vol, double r, double t)
      : value(v), spot(s), spot_twice(ss), volatility(vol), rate(r), expiry(t) {}

  VOUCH_HOST_DEVICE static jet of_spot(double v) { return {v, 1, 0, 0, 0, 0}; }
  VOUCH_HOST_DEVICE static jet of_volatility(double v) { return {v, 0, 0, 1, 0, 0}; }
  VOUCH_HOST_DEVICE static jet of_rate(double v) { return {v, 0, 0, 0, 1, 0}; }
  VOUCH_HOST_DEVICE static jet of_expiry(double v) { return {v, 0, 0, 0, 0, 1}; }
};

/// f(x) by the chain rule, from f, f' and f'' at x.
VOUCH_HOST_DEVICE inline jet chain(const jet& x, double f, double f1, double f2) {
  return {f,           f1 * x.spot,  f1 * x.spot_twice + f2 * x.spot * x.spot, f1 * x.volatility,
          f1 * x.rate, f1 * x.expiry};
}

VOUCH_HOST_DEVICE inline jet operator+(const jet& a, const jet& b) {
  return {a.value + b.value,           a.spot + b.spot, a.spot_twice + b.spot_twice,
          a.volatility + b.volatility, a.rate + b.rate, a.expiry + b.expiry};
}
VOUCH_HOST_DEVICE inline jet operator-(const jet& a) {
  return {-a.value, -a.spot, -a.spot_twice, -a.volatility, -a.rate, -a.expiry};
}
VOUCH_HOST_DEVICE inline jet operator-(const jet& a, const jet& b) { return a + -b; }
VOUCH_HOST_DEVICE inline jet operator*(const jet& a, const jet& b) {
  return {a.value * b.value,
          a.value * b.spot + a.spot * b.value,
          a.value * b.spot_twice + 2 * a.spot * b.spot + a.spot_twice * b.value,
          a.value * b.volatility + a.volatility * b.value,
          a.value * b.rate + a.rate * b.value,
          a.value * b.expiry + a.expiry * b.value};
}
VOUCH_HOST_DEVICE inline jet inverse(const jet& a) {
  const double f = 1 / a.value;
  return chain(a, f, -f * f, 2 * f * f * f);
}
VOUCH_HOST_DEVICE inline jet operator/(const jet& a, const jet& b) { return a * inverse(b); }
VOUCH_HOST_DEVICE inline jet exp(const jet& a) {
  const double f = std::exp(a.value);
  return chain(a, f, f, f);
}
VOUCH_HOST_DEVICE inline jet log(const jet& a) {
  return chain(a, std::log(a.value), 1 / a.value, -1 / (a.value * a.value));
}
VOUCH_HOST_DEVICE inline jet sqrt(const jet& a) {
  const double f = std::sqrt(a.value);
  return chain(a, f, 0.5 / f, -0.25 / (f * a.value));
}

/// exp(a) N(x), where either factor alone may leave the range of numbers.
VOUCH_HOST_DEVICE inline jet weighted_cumulative(const jet& a, const jet& x) {
  const double f = normal::weighted_cumulative(a.value, x.value);
  const double g = normal::root_two_pi_inverse * std::exp(a.value - 0.5 * x.value * x.value);
  return {f,
          f * a.spot + g * x.spot,
          f * (a.spot_twice + a.spot * a.spot) + g * (2 * a.spot * x.spot + x.spot_twice) -
              g * x.value * x.spot * x.spot,
          f * a.volatility + g * x.volatility,
          f * a.rate + g * x.rate,
          f * a.expiry + g * x.expiry};
}

VOUCH_HOST_DEVICE inline valuation to_valuation(const jet& v) {
  return {v.value, v.spot, v.spot_twice, -v.expiry, v.volatility, v.rate};
}

}  // namespace vouch
