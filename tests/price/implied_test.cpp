#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <vector>

#include <vouch/core/error.hpp>
#include <vouch/core/random.hpp>
#include <vouch/price/closed_form.hpp>
#include <vouch/price/implied.hpp>
#include <vouch/price/price.hpp>

#include "campaign.hpp"
#include "devices.hpp"
#include "oracle.hpp"

namespace vouch {
namespace {

// Prices by quadrature: volatilities come back as far as the price's last digit decides them.
TEST(implied_volatility, comes_back_from_the_price) {
  int count = 0;
  for (const option_type type : {option_type::call, option_type::put})
    for (const double strike : {20.0, 60.0, 95.0, 100.0, 105.0, 160.0, 500.0})
      for (const double volatility : {0.02, 0.1, 0.3, 1.0, 2.5})
        for (const double expiry : {0.02, 1.0, 10.0})
          for (const double rate : {-0.02, 0.0, 0.07}) {
            plain_option o;
            o.type = type;
            o.spot = 100;
            o.strike = strike;
            o.rate = rate;
            o.dividend = 0.01;
            o.volatility = volatility;
            o.expiry = expiry;
            const auto price = static_cast<double>(testing::price_by_quadrature(testing::wide_option(o)));
            const valuation v = european_price(o);
            const double least = std::fmax(
                sign_of(type) * (o.spot * std::exp(-o.dividend * expiry) - strike * std::exp(-rate * expiry)),
                0.0);
            // The last digits of price and bounds, seen through vega.
            const double attainable = 4e-16 * (least > 0 ? 100 + strike : price) / v.vega;
            if (price < 1e-280 || price >= (type == option_type::call ? 99.9 : 0.999 * strike) ||
                attainable > 1e-6 * volatility)
              continue;
            EXPECT_NEAR(implied_volatility(o, price), volatility, 4 * attainable + 1e-13 * volatility)
                << strike << ' ' << volatility << ' ' << expiry << ' ' << rate;
            ++count;
          }
  EXPECT_GT(count, 200);
}

// For strikes at the forward and little time all digits of the price count. Its value in 60 digits.
TEST(implied_volatility, of_the_last_moments) {
  plain_option o;
  o.spot = o.strike = 100;
  o.expiry = 1.0869793713004447e-05;
  EXPECT_NEAR(implied_volatility(o, 0.0092070129909016557), 0.07, 3e-16);
}

TEST(implied_volatility, of_a_price_that_was_rounded_below_the_least) {
  plain_option o;
  o.spot = 100;
  o.strike = 98.95;
  o.rate = -0.08;
  o.expiry = 1e-4;
  const double least = 100 - 98.95 * std::exp(0.08e-4);
  EXPECT_EQ(implied_volatility(o, least * (1 - 1e-14)), 0);
  EXPECT_THROW(implied_volatility(o, least * (1 - 1e-12)), value_error);
  o.strike = 1e-60;
  EXPECT_EQ(implied_volatility(o, 100), 0);
}

TEST(implied_volatility, prices_without_a_volatility_are_refused) {
  plain_option o;
  o.spot = 100;
  o.strike = 90;
  o.rate = 0.05;
  o.expiry = 1;
  EXPECT_THROW(implied_volatility(o, 100.5), value_error);
  EXPECT_THROW(implied_volatility(o, 10), value_error);
  EXPECT_THROW(implied_volatility(o, std::nan("")), value_error);
  for (const auto& [price, why] : {std::pair(100.0, "is not below 100, which"), std::pair(10.0, "is below ")})
    try {
      implied_volatility(o, price);
      ADD_FAILURE() << price;
    } catch (const value_error& e) {
      EXPECT_NE(std::string(e.what()).find(why), std::string::npos) << e.what();
    }
  EXPECT_EQ(implied_volatility(o, 100 - 90 * std::exp(-0.05)), 0);
  o.expiry = 0;
  EXPECT_THROW(implied_volatility(o, 10), value_error);
}

// The mean of the rate, and the underlying without its dividend in escrow, are what counts.
TEST(implied_volatility, of_contracts_that_change) {
  contract c;
  c.plain.spot = c.plain.strike = 100;
  c.plain.expiry = 1;
  c.rates = {{0.25, 0.02}, {1, 0.06}};
  c.dividends = {{0.25, 3}, {2, 5}};
  c.model = dividend_model::escrowed;
  plain_option o = c.plain;
  o.rate = 0.05;
  o.spot -= 3 * std::exp(-0.25 * 0.02);
  o.volatility = 0.3;
  EXPECT_NEAR(implied_volatility(c, european_price(o).price), 0.3, 1e-14);
}

// Prices by the integral equation of another library, tanh-sinh quadrature.
TEST(implied_volatility, of_american_options) {
  struct sample {
    option_type type;
    double spot, strike, rate, dividend, volatility, expiry, price, vega;
  };
  const sample samples[] = {
      {option_type::put, 100, 100, 0.05, 0, 0.2, 1, 6.0903706, 37},
      {option_type::call, 114.04, 90.35, 0.0409, 0.0783, 0.1912, 1.75, 23.699516856111, 5},
  };
  for (const sample& s : samples) {
    contract c;
    c.exercise = exercise_style::american;
    c.plain.type = s.type;
    c.plain.spot = s.spot;
    c.plain.strike = s.strike;
    c.plain.rate = s.rate;
    c.plain.dividend = s.dividend;
    c.plain.expiry = s.expiry;
    EXPECT_NEAR(implied_volatility(c, s.price, 1e-6), s.volatility, 1.1e-6 / s.vega);
    const double now = sign_of(s.type) * (s.spot - s.strike);
    EXPECT_THROW(implied_volatility(c, now - 0.01), value_error);
    EXPECT_THROW(implied_volatility(c, s.type == option_type::put ? s.strike : s.spot), value_error);
    if (now > 0) {
      EXPECT_EQ(implied_volatility(c, now), 0);  // what exercise now pays
    }
  }
}

// Prices next to the greatest one, for which grids would be enormous, are refused at once.
TEST(implied_volatility, of_an_underlying_that_falls_has_an_end) {
  contract c;
  c.plain.spot = c.plain.strike = 100;
  c.plain.rate = 0.05;
  c.plain.expiry = 1;
  c.dividends = {{0.5, 3}};
  c.exercise = exercise_style::american;
  EXPECT_THROW(implied_volatility(c, 100.5, 1e-3), value_error);
  EXPECT_THROW(implied_volatility(c, 1, 1e-3), value_error);
  EXPECT_THROW(implied_volatility(c, 99.99, 1e-3), value_error);
}

// What falls by cash dividends has no formula: the price at what is found is that given, to half the tolerance.
TEST(implied_volatility, of_an_underlying_that_falls) {
  contract c;
  c.plain.spot = c.plain.strike = 100;
  c.plain.rate = 0.04;
  c.plain.expiry = 1;
  c.dividends = {{0.4, 2.5}};
  for (const exercise_style exercise : {exercise_style::european, exercise_style::american}) {
    c.exercise = exercise;
    contract at = c;
    at.plain.volatility = implied_volatility(c, 9, 2e-4);
    pricing_options how;
    how.finite_difference.tolerance = 1e-5;
    EXPECT_NEAR(price(at, how).value.price, 9, 1e-4 + 1e-5) << at.plain.volatility;
  }
}

TEST(implied_volatility, of_products_that_have_several_is_refused) {
  contract c;
  c.plain.spot = c.plain.strike = 100;
  c.plain.expiry = 1;
  c.plain.barrier = barrier_kind::up_and_out;
  c.plain.barrier_level = 120;
  EXPECT_THROW(implied_volatility(c, 3), value_error);
  EXPECT_THROW(implied_volatility(c.plain, 3), value_error);
  c.plain.barrier = barrier_kind::none;
  c.plain.payoff = payoff_kind::cash_digital;
  EXPECT_THROW(implied_volatility(c, 0.3), value_error);
  EXPECT_THROW(implied_volatility(c.plain, 0.3), value_error);
}

// Whatever bits the numbers have: a volatility or a complaint, and soon.
TEST(implied_volatility, of_any_numbers) {
  std::uint64_t next = 0;
  const auto any = [&] {
    const std::uint64_t bits = random_bits(11, next++);
    return random_unit(12, next) < 0.3 ? std::bit_cast<double>(bits) : 200 * random_unit(13, next);
  };
  int found = 0;
  for (int k = 0; k < testing::campaign(1000000); ++k) {
    plain_option o;
    o.type = k % 2 ? option_type::call : option_type::put;
    for (double* x : {&o.spot, &o.strike, &o.expiry}) *x = std::abs(any());
    if (k % 3 == 0) o.rate = any() / 1000;
    try {
      const double volatility = implied_volatility(o, k % 5 == 0 ? any() : 0.5 * o.spot);
      EXPECT_GE(volatility, 0);
      found += volatility > 0;
    } catch (const value_error&) {
    }
  }
  EXPECT_GT(found, testing::campaign(1000000) / 20);
}

TEST(implied_volatility, of_many_at_once) {
  std::vector<plain_option> options;
  std::vector<double> prices;
  for (int k = 0; k < 1000; ++k) {
    plain_option o;
    o.type = k % 2 ? option_type::call : option_type::put;
    o.spot = 100;
    o.strike = 70 + 0.06 * k;
    o.rate = 0.03;
    o.dividend = 0.01;
    o.expiry = 0.1 + 0.002 * k;
    o.volatility = 0.1 + 0.0005 * k;
    options.push_back(o);
    prices.push_back(k == 7 ? 200 : european_price(o).price);
    if (k == 8) options.back().barrier = barrier_kind::up_and_in;
  }
  for (const device& dev : testing::devices()) {
    std::vector<double> found(options.size());
    implied_volatilities(dev, options, prices, found);
    for (std::size_t k = 0; k < options.size(); ++k) {
      if (k == 7 || k == 8) {
        EXPECT_TRUE(std::isnan(found[k]));
        continue;
      }
      const double rounding = 1e-13 * (1 + 100 / european_price(options[k]).vega);
      EXPECT_NEAR(found[k], implied_volatility(options[k], prices[k]), rounding);
    }
    found.pop_back();
    EXPECT_THROW(implied_volatilities(dev, options, prices, found), shape_error);
  }
}

}  // namespace
}  // namespace vouch
