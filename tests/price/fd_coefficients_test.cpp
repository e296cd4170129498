// Rates and volatilities that change in time, volatilities that depend on the underlying.
#include <gtest/gtest.h>

#include <cmath>

#include <vouch/price/closed_form.hpp>
#include <vouch/price/finite_difference.hpp>

#include "contracts.hpp"

namespace vouch {
namespace {

using testing::call_at_the_money;

TEST(finite_difference, rates_and_volatilities_that_change) {
  contract c = call_at_the_money();
  c.rates = {{0.25, 0.02}, {0.6, 0.08}, {1, 0.03}};
  c.volatilities = {{0.5, 0.15}, {1, 0.3}};
  plain_option average = c.plain;
  average.rate = 0.25 * 0.02 + 0.35 * 0.08 + 0.4 * 0.03;
  average.volatility = std::sqrt(0.5 * 0.15 * 0.15 + 0.5 * 0.3 * 0.3);
  fd_options o;
  o.tolerance = 1e-5;
  EXPECT_NEAR(finite_difference_price(c, o).value.price, european_price(average).price, 1e-5);
}

// Whatever shares of the steps lie between the changes, twice as many are twice as many in each. By spectral
// elements and exponentials of their matrix.
TEST(finite_difference, changes_at_odd_times_extrapolate) {
  contract c = call_at_the_money();
  c.plain.type = option_type::put;
  c.plain.strike = 135.15809;
  c.plain.rate = -0.04395;
  c.plain.dividend = -0.04678;
  c.plain.expiry = 0.235496;
  c.plain.barrier = barrier_kind::up_and_out;
  c.plain.barrier_level = 232.565617;
  c.volatilities = {{0.129115, 1.23464}, {0.187626, 0.56836}, {0.214125, 1.38905}, {0.235496, 0.78823}};
  fd_options o;
  o.tolerance = 1e-4;
  const fd_result r = finite_difference_price(c, o);
  EXPECT_LE(r.error_estimate, 1e-5);
  EXPECT_NEAR(r.value.price, 46.21821, 5e-6);
}

TEST(finite_difference, local_volatility) {
  contract c = call_at_the_money();
  c.local_volatility = {{0, 1}, {50, 200}, {0.1, 0.1, 0.3, 0.3}};  // rises in time, the same everywhere
  plain_option average = c.plain;
  average.volatility = std::sqrt(0.01 + 0.02 + 0.04 / 3);  // the mean of (0.1 + 0.2 t)^2
  fd_options o;
  o.tolerance = 1e-4;
  EXPECT_NEAR(finite_difference_price(c, o).value.price, european_price(average).price, 1e-4);
  // A skew that leaves parity alone.
  c.local_volatility = {{0}, {60, 160}, {0.35, 0.15}};
  const double call = finite_difference_price(c, o).value.price;
  c.plain.type = option_type::put;
  EXPECT_NEAR(call - finite_difference_price(c, o).value.price, 100 - 100 * std::exp(-0.05), 2e-4);
}

// As far as the underlying gets counts, not how it moves at one time or at one spot.
TEST(finite_difference, local_volatility_that_is_low_half_way) {
  contract c = call_at_the_money();
  c.plain.strike = 110;
  c.local_volatility = {{0, 0.5, 1}, {50, 200}, {0.5, 0.5, 0.05, 0.05, 0.5, 0.5}};
  plain_option average = c.plain;
  average.volatility = std::sqrt((0.25 + 0.5 * 0.05 + 0.05 * 0.05) / 3);
  fd_options o;
  o.tolerance = 1e-5;
  const fd_result r = finite_difference_price(c, o);
  EXPECT_TRUE(r.tolerance_met);
  EXPECT_NEAR(r.value.price, european_price(average).price, 1e-5);
}

// The underlying is where the volatility bends, as it is in tables about the money: gamma converges there, too. By
// spectral elements in the logarithm and exponentials of their matrix.
TEST(finite_difference, local_volatility_with_its_kink_at_the_spot) {
  contract c = call_at_the_money();
  c.plain.type = option_type::put;
  c.plain.strike = 95;
  c.plain.rate = 0.03;
  c.plain.expiry = 0.25;
  c.local_volatility = {{0}, {80, 100, 120}, {0.6, 0.08, 0.6}};
  fd_options o;
  o.tolerance = 1e-4;
  const fd_result r = finite_difference_price(c, o);
  EXPECT_TRUE(r.tolerance_met);
  EXPECT_LE(r.space_nodes, 20000);
  EXPECT_NEAR(r.value.price, 0.845926, 1e-4);
  EXPECT_NEAR(r.value.gamma, 0.15821, 1e-3 * 0.15821);
}

// dS = v (S + a) dW: S + a is lognormal, and there is a formula.
TEST(finite_difference, local_volatility_of_a_displaced_underlying) {
  constexpr double displacement = 50, volatility = 0.15;
  contract c = call_at_the_money();
  c.plain.rate = 0;
  c.local_volatility.times = {0};
  for (double s = 10; s <= 400; s *= 1.005) {
    c.local_volatility.spots.push_back(s);
    c.local_volatility.values.push_back(volatility * (s + displacement) / s);
  }
  fd_options o;
  o.tolerance = 1e-4;
  for (const double strike : {85.0, 100.0, 120.0}) {
    c.plain.strike = strike;
    plain_option moved = c.plain;
    moved.spot += displacement;
    moved.strike += displacement;
    moved.volatility = volatility;
    const valuation exact = european_price(moved), v = finite_difference_price(c, o).value;
    EXPECT_NEAR(v.price, exact.price, 5e-4) << strike;
    EXPECT_NEAR(v.delta, exact.delta, 1e-4) << strike;
  }
}

}  // namespace
}  // namespace vouch
