#include <gtest/gtest.h>

#include <cmath>

#include <vouch/core/error.hpp>
#include <vouch/price/closed_form.hpp>
#include <vouch/price/implied.hpp>

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
  EXPECT_EQ(implied_volatility(o, 100 - 90 * std::exp(-0.05)), 0);
  o.expiry = 0;
  EXPECT_THROW(implied_volatility(o, 10), value_error);
}

// The mean of the rate, and the share without its dividend in escrow, are what counts.
TEST(implied_volatility, of_contracts_that_change) {
  contract c;
  c.plain.spot = c.plain.strike = 100;
  c.plain.expiry = 1;
  c.rates = {{0.25, 0.02}, {1, 0.06}};
  c.dividends = {{0.25, 3}, {2, 5}};
  EXPECT_THROW(implied_volatility(c, 10), value_error);
  c.model = dividend_model::escrowed;
  plain_option o = c.plain;
  o.rate = 0.05;
  o.spot -= 3 * std::exp(-0.25 * 0.02);
  o.volatility = 0.3;
  EXPECT_NEAR(implied_volatility(c, european_price(o).price), 0.3, 1e-14);
  c.exercise = exercise_style::american;
  EXPECT_THROW(implied_volatility(c, 10), value_error);
}

}  // namespace
}  // namespace vouch
