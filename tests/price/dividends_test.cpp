// Cash dividends: in escrow, where the underlying less what they are worth is what is random, and those by which it
// falls.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include <vouch/core/error.hpp>
#include <vouch/price/closed_form.hpp>
#include <vouch/price/finite_difference.hpp>
#include <vouch/price/price.hpp>

#include "contracts.hpp"
#include "oracle.hpp"

namespace vouch {
namespace {

contract reference(option_type type, exercise_style exercise) {
  contract c;
  c.plain.type = type;
  c.exercise = exercise;
  c.plain.spot = c.plain.strike = 100;
  c.plain.rate = 0.05;
  c.plain.volatility = 0.25;
  c.plain.expiry = 1;
  c.model = dividend_model::escrowed;
  return c;
}

pricing_options to(double tolerance) {
  pricing_options how;
  how.finite_difference.tolerance = tolerance;
  how.finite_difference.greeks = true;
  return how;
}

TEST(escrowed_dividends, european_options_and_their_greeks) {
  for (const option_type type : {option_type::call, option_type::put}) {
    contract c = reference(type, exercise_style::european);
    c.dividends = {{0.25, 2}, {0.75, 3}, {1.5, 50}, {-0.1, 50}};  // the last two have no effect
    const double worth = 2 * std::exp(-0.05 * 0.25) + 3 * std::exp(-0.05 * 0.75);
    plain_option rest = c.plain;
    rest.spot -= worth;
    const pricing p = price(c, {});
    EXPECT_EQ(p.method, pricing_method::closed_form);
    EXPECT_NEAR(p.value.price, european_price(rest).price, 1e-12);
    const double h = 1e-5;
    const auto cost = [](const contract& at) { return price(at, {}).value.price; };
    contract up = c, down = c;
    up.plain.spot += h;
    down.plain.spot -= h;
    EXPECT_NEAR(p.value.delta, (cost(up) - cost(down)) / (2 * h), 1e-8);
    up = down = c;
    up.plain.rate += h;
    down.plain.rate -= h;
    EXPECT_NEAR(p.value.rho, (cost(up) - cost(down)) / (2 * h), 1e-6);
    const auto earlier = [&](double by) {  // everything is nearer
      contract moved = c;
      moved.plain.expiry -= by;
      for (cash_dividend& d : moved.dividends) d.time -= by;
      return cost(moved);
    };
    EXPECT_NEAR(p.value.theta, (earlier(h) - earlier(-h)) / (2 * h), 1e-6);
    // By a grid as well, its rate bumped with the dividends' worth.
    pricing_options forced = to(1e-5);
    forced.force_finite_difference = true;
    const valuation grid = price(c, forced).value;
    EXPECT_NEAR(grid.price, p.value.price, 1e-5);
    EXPECT_NEAR(grid.rho, p.value.rho, 1e-2);
    EXPECT_NEAR(grid.theta, p.value.theta, 1e-3);
  }
}

// A call is exercised just before a dividend or never: the better of both then, by quadrature.
TEST(escrowed_dividends, american_call_with_one_dividend) {
  contract c = reference(option_type::call, exercise_style::american);
  const double t = 0.6, amount = 7, worth = amount * std::exp(-0.05 * t);
  c.dividends = {{t, amount}};
  const double deviation = 0.25 * std::sqrt(t), mean = (0.05 - 0.5 * 0.25 * 0.25) * t;
  const auto then = testing::integral(-12 * deviation, 12 * deviation, 2000, [&](testing::wide x) {
    plain_option left = c.plain;
    left.spot = (100 - worth) * std::exp(static_cast<double>(x));
    left.expiry = 1 - t;
    const double best = std::max(left.spot + amount - 100, european_price(left).price);
    return testing::normal_density((x - mean) / deviation) / deviation * best;
  });
  const pricing p = price(c, to(1e-4));
  EXPECT_NEAR(p.value.price, static_cast<double>(then) * std::exp(-0.05 * t), 2e-4);
  contract european = c;
  european.exercise = exercise_style::european;
  EXPECT_GT(p.value.price, price(european, {}).value.price + 0.05);
}

// A binomial tree of the random part.
double tree(const contract& c, int steps) {
  const plain_option& o = c.plain;
  const double dt = o.expiry / steps, up = std::exp(o.volatility * std::sqrt(dt)), carry = o.rate - o.dividend,
               growth = std::exp(carry * dt), discount = std::exp(-o.rate * dt);
  const double chance = (growth - 1 / up) / (up - 1 / up);
  const auto worth = [&](double time) {
    double sum = 0;
    for (const cash_dividend& d : c.dividends)
      if (d.time > time) sum += d.amount * std::exp(-carry * (d.time - time));
    return sum;
  };
  const double random = o.spot - worth(0);
  const auto pays = [&](int step, int ups) {
    const double underlying = random * std::pow(up, 2 * ups - step) + worth(step * dt);
    return std::max(sign_of(o.type) * (underlying - o.strike), 0.0);
  };
  std::vector<double> v;
  for (int k = 0; k <= steps; ++k) v.push_back(pays(steps, k));
  for (int step = steps - 1; step >= 0; --step)
    for (int k = 0; k <= step; ++k) {
      const auto at = static_cast<std::size_t>(k);
      v[at] = std::max((chance * v[at + 1] + (1 - chance) * v[at]) * discount, pays(step, k));
    }
  return v[0];
}

TEST(escrowed_dividends, american_options_agree_with_a_tree) {
  for (const option_type type : {option_type::call, option_type::put})
    for (const auto& [spot, dividend] : {std::pair{92.0, 0.0}, {108.0, 0.0}, {97.0, 0.06}}) {
      contract c = reference(type, exercise_style::american);
      c.plain.spot = spot;
      c.plain.dividend = dividend;
      c.dividends = {{0.3001, 3}, {0.8001, 3}};
      const double even = tree(c, 2000), odd = tree(c, 2001);
      EXPECT_NEAR(price(c, to(1e-4)).value.price, 0.5 * (even + odd), 5e-3) << spot;
    }
}

// The exercise boundary hardly moves for years, so that the error in space hangs on where between two nodes it lies:
// many nodes, and no more steps than their own error asks for.
TEST(escrowed_dividends, american_put_with_a_dividend_just_before_expiry) {
  contract c;
  c.plain.type = option_type::put;
  c.exercise = exercise_style::american;
  c.plain.spot = 93.98926;
  c.plain.strike = 100;
  c.plain.rate = 0.14284;
  c.plain.volatility = 0.17028;
  c.plain.expiry = 6.07945;
  c.dividends = {{6.052, 26.03}};
  c.model = dividend_model::escrowed;
  const pricing p = price(c, to(1e-4));
  EXPECT_TRUE(p.tolerance_met);
  EXPECT_LE(p.grid->time_steps, 3000);
  EXPECT_NEAR(p.value.price, 6.1411109, p.error_estimate);
}

// Without a yield a call is exercised just before dividends only, wherever between two nodes that begins to
// pay. Value by nested quadrature.
TEST(falling_underlying, calls_exercised_before_dividends) {
  contract c;
  c.exercise = exercise_style::american;
  c.plain.spot = 80.81;
  c.plain.strike = 100;
  c.plain.rate = 0.0244;
  c.plain.volatility = 0.532;
  c.plain.expiry = 0.25;
  c.dividends = {{0.102, 4.06}, {0.139, 4.38}};
  for (const double tolerance : {1e-3, 1e-4, 1e-5, 1e-6}) {
    const pricing p = price(c, to(tolerance));
    EXPECT_TRUE(p.tolerance_met);
    EXPECT_LE(p.error_estimate, tolerance);
    EXPECT_NEAR(p.value.price, 1.63075726, p.error_estimate + 3e-8) << tolerance;
  }
}

// An underlying that is worth less than a dividend falls to 0 and stays there: the put is worth its discounted
// strike. Values by nested quadrature over the underlying at the dividends, American ones at 96 dates and
// extrapolated.
TEST(fallen_underlying, puts_on_volatile_underlyings) {
  contract c;
  c.plain.type = option_type::put;
  c.plain.strike = 100;
  c.plain.spot = 92.58;
  c.plain.rate = 0.0049;
  c.plain.volatility = 1.484;
  c.plain.expiry = 3;
  c.dividends = {{1.176, 2.29}, {2.7319, 30}};
  pricing_options how = to(1e-4);
  how.finite_difference.greeks = false;
  for (const grid_kind grid : {grid_kind::logarithmic, grid_kind::concentrated}) {
    how.finite_difference.grid = grid;
    EXPECT_NEAR(price(c, how).value.price, 87.2763108, 1e-4);
  }
  how.finite_difference.grid = grid_kind::logarithmic;
  contract soon = c;  // one dividend: a single integral, in 25 digits
  soon.plain.spot = 88.4;
  soon.plain.rate = 0.085;
  soon.plain.volatility = 1.473;
  soon.plain.expiry = 0.25;
  soon.dividends = {{0.1492, 30}};
  pricing_options closer = how;
  closer.finite_difference.tolerance = 1e-6;
  EXPECT_NEAR(price(soon, closer).value.price, 51.465012517901, 5e-8);
  c.plain.spot = 30;
  c.plain.rate = 0.05;
  c.plain.volatility = 0.8;
  c.plain.expiry = 2;
  c.dividends = {{200.0 / 360, 10}, {400.0 / 360, 15}};
  EXPECT_NEAR(price(c, how).value.price, 81.5690492, 1e-4);
  c.plain.rate = 0;  // waiting costs nothing and dividends help
  const double european = price(c, how).value.price;
  EXPECT_NEAR(european, 91.3368699, 1e-4);
  c.exercise = exercise_style::american;
  EXPECT_NEAR(price(c, how).value.price, european, 1e-4);
}

// Shares that reinvest their yield pay a dividend with what they have become: forwards, and so calls less puts,
// are those of the underlying that falls.
TEST(escrowed_dividends, beside_a_yield_leave_the_forward_alone) {
  contract call = reference(option_type::call, exercise_style::european);
  call.plain.dividend = 0.08;
  call.dividends = {{0.25, 4}, {0.75, 6}};
  contract put = call;
  put.plain.type = option_type::put;
  const double forward = 100 * std::exp(-0.03) - 4 * std::exp(-0.03 * 0.75) - 6 * std::exp(-0.03 * 0.25);
  EXPECT_NEAR(price(call, {}).value.price - price(put, {}).value.price, (forward - 100) * std::exp(-0.05),
              1e-12);
  const auto earlier = [&](double by) {
    contract moved = call;
    moved.plain.expiry -= by;
    for (cash_dividend& d : moved.dividends) d.time -= by;
    return price(moved, {}).value.price;
  };
  EXPECT_NEAR(price(call, {}).value.theta, (earlier(1e-5) - earlier(-1e-5)) / 2e-5, 1e-6);
  pricing_options forced = to(1e-5);
  forced.force_finite_difference = true;
  EXPECT_NEAR(price(call, forced).value.theta, price(call, {}).value.theta, 1e-3);
}

TEST(escrowed_dividends, where_they_have_no_meaning) {
  contract c = reference(option_type::call, exercise_style::european);
  c.dividends = {{0.5, 101 * std::exp(0.025)}};
  EXPECT_THROW(price(c, {}), value_error);
  c.dividends = {{0.5, 1}};
  c.plain.barrier = barrier_kind::up_and_out;
  c.plain.barrier_level = 130;
  EXPECT_THROW(price(c, {}), value_error);
}

// One dividend: the underlying at its date is lognormal, and the option that is left has a formula.
TEST(falling_underlying, one_dividend_of_a_european_option) {
  for (const option_type type : {option_type::call, option_type::put}) {
    contract c = testing::call_at_the_money();
    c.plain.type = type;
    c.dividends = {{0.3, 4.0}};
    fd_options o;
    o.tolerance = 1e-5;
    const double t = 0.3, deviation = 0.2 * std::sqrt(t), mean = (0.05 - 0.02) * t;
    const auto exact = testing::integral(-25 * deviation, 25 * deviation, 2000, [&](testing::wide x) {
      plain_option left = c.plain;
      left.spot = std::max(100 * std::exp(static_cast<double>(x)) - 4, 0.0);
      left.expiry = 0.7;
      return testing::normal_density((x - mean) / deviation) / deviation * european_price(left).price;
    });
    EXPECT_NEAR(finite_difference_price(c, o).value.price, static_cast<double>(exact) * std::exp(-0.05 * t),
                1e-5);
    c.exercise = exercise_style::american;
    EXPECT_GE(finite_difference_price(c, o).value.price,
              static_cast<double>(exact) * std::exp(-0.05 * t) - 1e-5);
  }
}

}  // namespace
}  // namespace vouch
