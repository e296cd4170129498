#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include <vouch/core/error.hpp>
#include <vouch/price/american.hpp>
#include <vouch/price/closed_form.hpp>
#include <vouch/price/price.hpp>

namespace vouch {
namespace {

contract reference() {
  contract c;
  c.plain.spot = c.plain.strike = 100;
  c.plain.rate = 0.05;
  c.plain.volatility = 0.2;
  c.plain.expiry = 1;
  return c;
}

TEST(price, the_best_method_is_taken) {
  contract c = reference();
  EXPECT_EQ(price(c, {}).method, pricing_method::closed_form);
  EXPECT_EQ(price(c, {}).closed_form.value(), european_price(c.plain).price);
  c.exercise = exercise_style::american;
  EXPECT_EQ(price(c, {}).method, pricing_method::closed_form);  // a call without dividends
  c.plain.type = option_type::put;
  EXPECT_EQ(price(c, {}).method, pricing_method::boundary);
  EXPECT_FALSE(price(c, {}).closed_form);
  c.dividends = {{0.5, 2}};
  EXPECT_EQ(price(c, {}).method, pricing_method::finite_difference);
  c = reference();
  pricing_options forced;
  forced.force_finite_difference = true;
  const pricing p = price(c, forced);
  EXPECT_EQ(p.method, pricing_method::finite_difference);
  EXPECT_NEAR(p.value.price, p.closed_form.value(), 1e-6);
  EXPECT_TRUE(p.grid);
}

// Small volatility, great drift and a long time: there the boundary method may give up, and grids take over.
TEST(price, hard_american_options) {
  contract c = reference();
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

TEST(price, limits) {
  contract c = reference();
  c.plain.volatility = 0;
  EXPECT_EQ(price(c, {}).method, pricing_method::limit);
  EXPECT_NEAR(price(c, {}).value.price, 100 - 100 * std::exp(-0.05), 1e-13);
  c.dividends = {{0.5, 3}};  // (100 exp(0.025) - 3) exp(0.025) - 100, discounted
  EXPECT_NEAR(price(c, {}).value.price, 100 - 3 * std::exp(-0.025) - 100 * std::exp(-0.05), 1e-12);
  c = reference();
  c.plain.expiry = 0;
  c.plain.spot = 103;
  EXPECT_EQ(price(c, {}).value.price, 3);
  c.exercise = exercise_style::bermudan;
  EXPECT_EQ(price(c, {}).value.price, 3);
  c = reference();
  c.plain.barrier = barrier_kind::down_and_out;
  c.plain.barrier_level = 101;
  c.plain.rebate = 1.5;
  EXPECT_EQ(price(c, {}).value.price, 1.5);
  c.plain.barrier = barrier_kind::down_and_in;
  EXPECT_EQ(price(c, {}).value.price, european_price(c.plain).price);
}

TEST(price, bad_numbers_are_named) {
  const auto message = [](double plain_option::*member, double value) {
    contract c = reference();
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
