#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include <vouch/core/error.hpp>
#include <vouch/price/american.hpp>
#include <vouch/price/closed_form.hpp>
#include <vouch/price/price.hpp>

#include "contracts.hpp"

namespace vouch {
namespace {

using testing::call_at_the_money;

TEST(price, the_best_method_is_taken) {
  contract c = call_at_the_money();
  EXPECT_EQ(price(c, {}).method, pricing_method::closed_form);
  EXPECT_EQ(price(c, {}).closed_form.value(), european_price(c.plain).price);
  c.exercise = exercise_style::american;
  EXPECT_EQ(price(c, {}).method, pricing_method::closed_form);  // a call without dividends
  c.plain.type = option_type::put;
  EXPECT_EQ(price(c, {}).method, pricing_method::boundary);
  EXPECT_FALSE(price(c, {}).closed_form);
  c.dividends = {{0.5, 2}};
  EXPECT_EQ(price(c, {}).method, pricing_method::finite_difference);
  c = call_at_the_money();
  pricing_options forced;
  forced.force_finite_difference = true;
  const pricing p = price(c, forced);
  EXPECT_EQ(p.method, pricing_method::finite_difference);
  EXPECT_NEAR(p.value.price, p.closed_form.value(), 1e-6);
  EXPECT_TRUE(p.grid);
}

// Small volatility, great drift and a long time: there the boundary method may give up, and grids take over.
TEST(price, hard_american_options) {
  contract c = call_at_the_money();
  c.exercise = exercise_style::american;
  c.plain.type = option_type::put;
  c.plain.spot = 110;
  c.plain.rate = 0.084;
  c.plain.volatility = 0.08;
  c.plain.expiry = 4;
  const double by_price = price(c, {}).value.price;
  pricing_options forced;
  forced.force_finite_difference = true;
  EXPECT_NEAR(by_price, price(c, forced).value.price, 2e-6);
}

// What rounding may do is counted in what is paid, not in the underlying.
TEST(price, rounding_in_a_digital_option) {
  contract c = call_at_the_money();
  c.plain.payoff = payoff_kind::cash_digital;
  c.plain.spot = c.plain.strike = 1e-4;
  c.plain.cash = 50;
  EXPECT_GE(price(c, {}).error_estimate, 1e-15);
  EXPECT_LE(price(c, {}).error_estimate, 1e-12);
}

TEST(price, dividends_that_have_no_effect_leave_the_formula) {
  contract c = call_at_the_money();
  c.dividends = {{0, 3}, {0.5, 0}, {1, 3}, {2, 3}, {-1, 3}};
  EXPECT_EQ(price(c, {}).method, pricing_method::closed_form);
  EXPECT_EQ(price(c, {}).value.price, european_price(c.plain).price);
  c.exercise = exercise_style::american;
  EXPECT_EQ(price(c, {}).value.price, european_price(c.plain).price);
}

TEST(price, limits) {
  contract c = call_at_the_money();
  c.plain.volatility = 0;
  EXPECT_EQ(price(c, {}).method, pricing_method::limit);
  EXPECT_NEAR(price(c, {}).value.price, 100 - 100 * std::exp(-0.05), 1e-13);
  c.dividends = {{0.5, 3}};  // (100 exp(0.025) - 3) exp(0.025) - 100, discounted
  EXPECT_NEAR(price(c, {}).value.price, 100 - 3 * std::exp(-0.025) - 100 * std::exp(-0.05), 1e-12);
  c = call_at_the_money();
  c.plain.expiry = 0;
  c.plain.spot = 103;
  EXPECT_EQ(price(c, {}).value.price, 3);
  c.exercise = exercise_style::bermudan;
  EXPECT_EQ(price(c, {}).value.price, 3);
  c = call_at_the_money();
  c.plain.barrier = barrier_kind::down_and_out;
  c.plain.barrier_level = 101;
  c.plain.rebate = 1.5;
  EXPECT_EQ(price(c, {}).value.price, 1.5);
  c.plain.barrier = barrier_kind::down_and_in;
  EXPECT_EQ(price(c, {}).value.price, european_price(c.plain).price);
}

// Exercised when the strike is touched: the cash is then a rebate. By the reflection principle, in long double.
TEST(price, american_digital_options) {
  using wide = long double;
  const auto cumulative = [](wide x) { return std::erfc(-x / std::sqrt(2.0L)) / 2; };
  for (const option_type type : {option_type::call, option_type::put})
    for (const double dividend : {0.0, 0.03}) {
      contract c = call_at_the_money();
      c.exercise = exercise_style::american;
      c.plain.type = type;
      c.plain.payoff = payoff_kind::cash_digital;
      c.plain.cash = 7;
      c.plain.dividend = dividend;
      c.plain.strike = type == option_type::call ? 112 : 91;
      const wide sigma = 0.2L, rate = 0.05L, mu = (rate - dividend - sigma * sigma / 2) / (sigma * sigma);
      const wide lambda = std::sqrt(mu * mu + 2 * rate / (sigma * sigma)), ratio = c.plain.strike / 100.0L;
      const wide sign = type == option_type::call ? -1 : 1;
      const wide z = std::log(ratio) / sigma + lambda * sigma;
      const wide exact = 7 * (std::pow(ratio, mu + lambda) * cumulative(sign * z) +
                              std::pow(ratio, mu - lambda) * cumulative(sign * (z - 2 * lambda * sigma)));
      const pricing p = price(c, {});
      EXPECT_EQ(p.method, pricing_method::closed_form);
      EXPECT_NEAR(p.value.price, static_cast<double>(exact), 1e-12);
      pricing_options forced;
      forced.force_finite_difference = true;
      forced.finite_difference.tolerance = 1e-5;
      EXPECT_NEAR(price(c, forced).value.price, static_cast<double>(exact), 1e-5);
      c.plain.payoff = payoff_kind::asset_digital;  // worth the strike when it is touched
      EXPECT_NEAR(price(c, {}).value.price, static_cast<double>(exact) / 7 * c.plain.strike, 1e-11);
      c.plain.spot = type == option_type::call ? 120 : 80;
      EXPECT_EQ(price(c, {}).value.price, c.plain.spot);
      EXPECT_EQ(price(c, {}).value.delta, 1);
    }
}

// An underlying that falls beyond the strike is worth less than it. By quadrature over the underlying at its dividend,
// of paths that did not touch the strike before, with the formula for touching it later.
TEST(price, american_asset_put_of_an_underlying_that_falls) {
  contract c = call_at_the_money();
  c.exercise = exercise_style::american;
  c.plain.type = option_type::put;
  c.plain.payoff = payoff_kind::asset_digital;
  c.plain.dividend = 0.02;
  c.plain.spot = 103;
  pricing_options how;
  how.finite_difference.tolerance = 0.1;
  for (const auto& [amount, exact] : {std::pair{2.0, 87.96774909}, {10.0, 91.70023479}}) {
    c.dividends = {{0.5, amount}};
    EXPECT_NEAR(price(c, how).value.price, exact, 0.1);
  }
}

TEST(price, without_randomness_a_bermudan_option_takes_its_best_date) {
  contract c = call_at_the_money();
  c.exercise = exercise_style::bermudan;
  c.exercise_dates = {0, 0.25, 0.5};
  c.plain.type = option_type::put;
  c.plain.spot = 0;
  EXPECT_EQ(price(c, {}).value.price, 100);
  c.exercise_dates = {0.25, 0.5};
  EXPECT_NEAR(price(c, {}).value.price, 100 * std::exp(-0.0125), 1e-12);
  c.plain.type = option_type::call;
  c.plain.spot = 100;
  c.plain.volatility = 0;
  c.plain.dividend = 0.2;  // 100 exp(-0.15 t) - 100 is negative
  EXPECT_EQ(price(c, {}).value.price, 0);
  c.plain.spot = 130;  // 130 exp(-0.2 t) - 100 exp(-0.05 t) falls in t
  EXPECT_NEAR(price(c, {}).value.price, 130 * std::exp(-0.05) - 100 * std::exp(-0.0125), 1e-12);
}

// Rates and volatilities that change are their means to what is paid at expiry alone; theta against a price a
// little later, vega against one with all volatilities moved.
TEST(price, means_of_rates_and_volatilities) {
  for (const payoff_kind payoff :
       {payoff_kind::vanilla, payoff_kind::cash_digital, payoff_kind::asset_digital}) {
    const auto at = [&](double time, double more) {
      contract c = call_at_the_money();
      c.plain.payoff = payoff;
      c.plain.dividend = 0.02;
      c.plain.expiry = 1 - time;
      c.rates = {{0.3 - time, 0.02}, {0.6 - time, 0.08}, {1, 0.03}};
      c.volatilities = {{0.5 - time, 0.15 + more}, {1, 0.3 + more}};
      return price(c, {});
    };
    const pricing p = at(0, 0);
    EXPECT_EQ(p.method, pricing_method::closed_form);
    plain_option mean = call_at_the_money().plain;
    mean.payoff = payoff;
    mean.dividend = 0.02;
    mean.rate = 0.3 * 0.02 + 0.3 * 0.08 + 0.4 * 0.03;
    mean.volatility = std::sqrt(0.5 * 0.15 * 0.15 + 0.5 * 0.3 * 0.3);
    const valuation exact = closed_form(mean);
    EXPECT_NEAR(p.value.price, exact.price, 1e-12);
    EXPECT_NEAR(p.value.delta, exact.delta, 1e-12);
    EXPECT_NEAR(p.value.rho, exact.rho, 1e-11);
    const double step = 1e-5;
    EXPECT_NEAR(p.value.theta, (at(step, 0).value.price - p.value.price) / step, 2e-3);
    EXPECT_NEAR(p.value.vega, (at(0, step).value.price - at(0, -step).value.price) / (2 * step), 1e-4);
  }
}

TEST(price, beyond_the_range_of_numbers) {
  contract c = call_at_the_money();
  c.plain.type = option_type::put;
  c.plain.rate = -500;
  c.plain.expiry = 10;
  EXPECT_THROW(price(c, {}), value_error);
}

TEST(price, bad_numbers_are_named) {
  const auto message = [](double plain_option::*member, double value) {
    contract c = call_at_the_money();
    c.plain.*member = value;
    try {
      price(c, {});
    } catch (const value_error& e) {
      return std::string(e.what());
    }
    return std::string("no error");
  };
  EXPECT_EQ(message(&plain_option::spot, -1), "spot -1 is negative");
  EXPECT_EQ(message(&plain_option::expiry, -0.5), "expiry -0.5 is negative");
  EXPECT_EQ(message(&plain_option::volatility, std::numeric_limits<double>::quiet_NaN()),
            "volatility nan is not a finite number");
  EXPECT_EQ(message(&plain_option::rate, std::numeric_limits<double>::infinity()),
            "rate inf is not a finite number");
}

}  // namespace
}  // namespace vouch
