// Further Greeks against differences of the formula in a hundred digits.
#include <gtest/gtest.h>

#include <cmath>

#include <vouch/price/more_greeks.hpp>
#include <vouch/price/price.hpp>

#include "wide_price.hpp"

namespace vouch {
namespace {

using testing::shift;
using testing::wide;

constexpr mpfr_prec_t bits = 700;
constexpr double step = 0x1p-50;

// f(by) - f(-by), and so on for two directions; over the steps.
double slope(const plain_option& o, const shift& by) {
  wide up(bits), down(bits);
  const shift back{-by.spot, -by.volatility, -by.dividend, -by.expiry};
  testing::black(o, by, up);
  testing::black(o, back, down);
  mpfr_sub(up.get(), up.get(), down.get(), MPFR_RNDN);
  return up.rounded() / (2 * step);
}

double mixed(const plain_option& o, double shift::*first, double shift::*second) {
  wide sum(bits), value(bits);
  for (const double a : {1.0, -1.0})
    for (const double b : {1.0, -1.0}) {
      shift by;
      by.*first += a * step;
      by.*second += b * step;
      testing::black(o, by, value);
      a == b ? mpfr_add(sum.get(), sum.get(), value.get(), MPFR_RNDN)
             : mpfr_sub(sum.get(), sum.get(), value.get(), MPFR_RNDN);
    }
  return sum.rounded() / (4 * step * step);
}

void expect_all(const plain_option& o) {
  const more_greeks v = european_more_greeks(o);
  const double d1 = detail::normal_arguments(o).d1;
  const double accuracy = 1e-14 * (1 + d1 * d1) * (1 + 1 / (o.volatility * std::sqrt(o.expiry)));
  const auto near = [&](double got, double exact, double scale) {
    EXPECT_NEAR(got, exact, accuracy * (std::abs(exact) + scale))
        << static_cast<int>(o.payoff) << ' ' << o.strike << ' ' << o.volatility << ' ' << o.expiry;
  };
  // Where the exact value passes through 0, the parts that cancel set the scale.
  const double density = normal::density(d1), unit = o.payoff == payoff_kind::cash_digital ? o.cash : o.spot,
               s = o.volatility * std::sqrt(o.expiry);
  near(v.dividend_rho, slope(o, {.dividend = step}), 0);
  near(v.vanna, mixed(o, &shift::spot, &shift::volatility), density * unit / (o.spot * o.volatility * s));
  near(v.volga, mixed(o, &shift::volatility, &shift::volatility),
       density * unit / (o.volatility * o.volatility));
  near(v.charm, -mixed(o, &shift::spot, &shift::expiry), density * unit / (o.spot * o.expiry * s));
}

TEST(more_greeks, are_the_derivatives_of_the_formula) {
  for (const payoff_kind payoff : {payoff_kind::vanilla, payoff_kind::cash_digital, payoff_kind::asset_digital})
    for (const option_type type : {option_type::call, option_type::put})
      for (const double strike : {75.0, 100.0, 140.0})
        for (const double volatility : {0.15, 1.2})
          for (const double expiry : {0.05, 2.0}) {
            plain_option o;
            o.type = type;
            o.payoff = payoff;
            o.cash = 3;
            o.spot = 100;
            o.strike = strike;
            o.rate = 0.04;
            o.dividend = 0.015;
            o.volatility = volatility;
            o.expiry = expiry;
            expect_all(o);
          }
}

// What is not known is not said.
TEST(more_greeks, of_contracts) {
  contract c;
  c.plain.spot = c.plain.strike = 100;
  c.plain.rate = 0.05;
  c.plain.volatility = 0.2;
  c.plain.expiry = 1;
  ASSERT_TRUE(price(c, {}).more.has_value());
  EXPECT_NEAR(price(c, {}).more->volga, 9.85, 0.01);  // vega d1 d2 / volatility
  contract american = c;
  american.exercise = exercise_style::american;
  american.plain.type = option_type::put;
  EXPECT_FALSE(price(american, {}).more.has_value());
  contract certain = c;
  certain.plain.volatility = 0;
  EXPECT_FALSE(price(certain, {}).more.has_value());
  contract escrowed = c;
  escrowed.model = dividend_model::escrowed;
  escrowed.dividends = {{0.5, 2}};
  EXPECT_FALSE(price(escrowed, {}).more.has_value());
}

}  // namespace
}  // namespace vouch
