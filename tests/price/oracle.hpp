// tests/price/oracle.hpp -- option prices by quadrature in long double, and differences of them as Greeks.
#pragma once
#include <cmath>
#include <vector>

#include <vouch/price/types.hpp>

namespace vouch::testing {

using wide = long double;

inline wide normal_density(wide x) {
  return std::exp(-x * x / 2) / std::sqrt(2 * 3.14159265358979323846264338L);
}
inline wide normal_cumulative(wide x) { return std::erfc(-x / std::sqrt(2.0L)) / 2; }

// The integral of f over [a, b] by Gauss-Legendre, 10 points a panel.
template <class Function>
wide integral(wide a, wide b, int panels, Function f) {
  static constexpr wide at[] = {
      0.148874338981631210884826001129719985L, 0.433395394129247190799265943165784162L,
      0.679409568299024406234327365114873576L, 0.865063366688984510732096688423493049L,
      0.973906528517171720077964012084452053L};
  static constexpr wide weight[] = {
      0.295524224714752870173815619188769152L, 0.269266719309996355091226921569469353L,
      0.219086362515982043995534934228163192L, 0.149451349150580593145863396957699327L,
      0.066671344308688137593568809893331793L};
  if (!(b > a)) return 0;
  const wide half = (b - a) / panels / 2;
  wide sum = 0;
  for (int p = 0; p < panels; ++p)
    for (int k = 0; k < 5; ++k)
      sum += weight[k] * (f(a + half * (2 * p + 1 + at[k])) + f(a + half * (2 * p + 1 - at[k])));
  return half * sum;
}

// An option whose numbers are wide.
struct wide_option {
  plain_option kind;
  wide spot, strike, rate, dividend, volatility, expiry;

  explicit wide_option(const plain_option& o)
      : kind(o),
        spot(o.spot),
        strike(o.strike),
        rate(o.rate),
        dividend(o.dividend),
        volatility(o.volatility),
        expiry(o.expiry) {}
};

inline wide paid(const wide_option& o, wide underlying) {
  const bool in_the_money = o.kind.type == option_type::call ? underlying > o.strike : underlying < o.strike;
  if (!in_the_money) return 0;
  switch (o.kind.payoff) {
    case payoff_kind::cash_digital:
      return o.kind.cash;
    case payoff_kind::asset_digital:
      return underlying;
    default:
      return o.kind.type == option_type::call ? underlying - o.strike : o.strike - underlying;
  }
}

// By the density of log(S_T / S), of all paths or, by the reflection principle, of those that never hit;
// rebates by the density of the first passage.
inline wide price_by_quadrature(const wide_option& o) {
  const wide drift = o.rate - o.dividend - o.volatility * o.volatility / 2;
  const wide deviation = o.volatility * std::sqrt(o.expiry), mean = drift * o.expiry;
  const bool barrier = o.kind.barrier != barrier_kind::none;
  const wide h = barrier ? std::log(o.kind.barrier_level / o.spot) : 0, k = std::log(o.strike / o.spot);
  const wide discount = std::exp(-o.rate * o.expiry);
  const auto alive = [&](wide x) {
    return (normal_density((x - mean) / deviation) - std::exp(2 * drift * h / (o.volatility * o.volatility)) *
                                                         normal_density((x - 2 * h - mean) / deviation)) /
           deviation;
  };
  const auto expected = [&](wide from, wide to, auto density) {
    const wide middle = std::min(std::max(k, from), to);
    const auto value = [&](wide x) { return density(x) * paid(o, o.spot * std::exp(x)); };
    return integral(from, middle, 60, value) + integral(middle, to, 60, value);
  };
  const wide reach = 40 * deviation, low = mean - reach, high = mean + reach + deviation * deviation;
  const wide all = discount * expected(low, high, [&](wide x) {
                     return normal_density((x - mean) / deviation) / deviation;
                   });
  if (!barrier) return all;
  const bool up = is_up(o.kind.barrier);
  const wide never = discount * (up ? expected(low, h, alive) : expected(h, high, alive));
  const wide survival = up ? integral(low, h, 120, alive) : integral(h, high, 120, alive);
  if (is_in(o.kind.barrier)) return all - never + o.kind.rebate * discount * survival;
  // log t as the variable: the density vanishes quickly at both ends.
  const wide hit = integral(-14, 0, 200, [&](wide z) {
    const wide t = o.expiry * std::exp(z), root = o.volatility * std::sqrt(t);
    return std::exp(-o.rate * t) * std::abs(h) / root * normal_density((h - drift * t) / root);
  });
  return never + o.kind.rebate * hit;
}

// All Greeks by central differences of the quadrature.
inline valuation quadrature_with_greeks(const plain_option& plain) {
  const wide_option o(plain);
  const wide now = price_by_quadrature(o);
  const auto derivative = [&](wide wide_option::*member, wide step) {
    const auto moved = [&](int steps) {
      wide_option m = o;
      m.*member += steps * step;
      return price_by_quadrature(m);
    };
    return (8 * (moved(1) - moved(-1)) - (moved(2) - moved(-2))) / (12 * step);
  };
  const wide h = 1e-4L * o.spot;
  wide_option up = o, down = o, up2 = o, down2 = o;
  up.spot += h;
  down.spot -= h;
  up2.spot += 2 * h;
  down2.spot -= 2 * h;
  const wide gamma = (16 * (price_by_quadrature(up) + price_by_quadrature(down)) - price_by_quadrature(up2) -
                      price_by_quadrature(down2) - 30 * now) /
                     (12 * h * h);
  return {static_cast<double>(now),
          static_cast<double>(derivative(&wide_option::spot, h)),
          static_cast<double>(gamma),
          -static_cast<double>(derivative(&wide_option::expiry, 1e-4L * o.expiry)),
          static_cast<double>(derivative(&wide_option::volatility, 1e-4L * o.volatility)),
          static_cast<double>(derivative(&wide_option::rate, 1e-4L))};
}

}  // namespace vouch::testing
