// Barriers and early exercise together, and what is said of the error of a grid.
#include <gtest/gtest.h>

#include <cmath>

#include <vouch/core/error.hpp>
#include <vouch/price/american.hpp>
#include <vouch/price/closed_form.hpp>
#include <vouch/price/finite_difference.hpp>
#include <vouch/price/price.hpp>

#include "contracts.hpp"
#include "oracle.hpp"

namespace vouch {
namespace {

using testing::call_at_the_money;
using testing::wide;

contract put_with_barrier(barrier_kind kind, double level, exercise_style exercise) {
  contract c = call_at_the_money();
  c.plain.type = option_type::put;
  c.plain.barrier = kind;
  c.plain.barrier_level = level;
  c.exercise = exercise;
  return c;
}

// What the American option is worth when the underlying hits the barrier, by the density of that time, and the
// rebate where it never does.
double begun_by_first_passage(const contract& c) {
  const plain_option& o = c.plain;
  const wide h = std::log(wide{o.barrier_level} / o.spot), sigma = o.volatility;
  const wide drift = o.rate - o.dividend - sigma * sigma / 2;
  const auto at = [&](wide root) {
    const wide t = root * root;
    plain_option then = o;
    then.barrier = barrier_kind::none;
    then.spot = o.barrier_level;
    then.expiry = static_cast<double>(o.expiry - t);
    const wide deviation = sigma * std::sqrt(t);
    const wide density = std::abs(h) / (deviation * t) * testing::normal_density((h - drift * t) / deviation);
    return 2 * root * density * std::exp(-o.rate * t) * american_core(then, fast_boundary()).price;
  };
  plain_option never = o;
  never.strike = is_up(o.barrier) ? 1e-9 : 1e9;  // worth nothing but the rebate
  never.type = is_up(o.barrier) ? option_type::put : option_type::call;
  return static_cast<double>(testing::integral(0, std::sqrt(o.expiry), 12, at)) + barrier_price(never).price;
}

TEST(barrier_exercise, american_options_that_begin) {
  for (const auto& [kind, level] : {std::pair{barrier_kind::up_and_in, 120.0},
                                    {barrier_kind::up_and_in, 104.0},
                                    {barrier_kind::down_and_in, 92.0},
                                    {barrier_kind::down_and_in, 75.0}})
    for (const double rebate : {0.0, 4.0}) {
      contract c = put_with_barrier(kind, level, exercise_style::american);
      c.plain.rebate = rebate;
      fd_options o;
      o.tolerance = 1e-4;
      const fd_result r = finite_difference_price(c, o);
      EXPECT_TRUE(r.tolerance_met);
      EXPECT_NEAR(r.value.price, begun_by_first_passage(c), 1e-4) << level << ' ' << rebate;
    }
}

// With all dates at which its boundary is reached Bermudan options lie between the European and the American.
TEST(barrier_exercise, bermudan_options_that_begin) {
  contract c = put_with_barrier(barrier_kind::down_and_in, 90, exercise_style::bermudan);
  c.exercise_dates = {0.25, 0.5, 0.75};
  const double value = price(c, {}).value.price;
  EXPECT_GT(value, barrier_price(c.plain).price + 0.1);
  EXPECT_LT(value, begun_by_first_passage(c) - 0.01);
  c.exercise_dates = {2};
  EXPECT_EQ(price(c, {}).method, pricing_method::closed_form);
  EXPECT_EQ(price(c, {}).value.price, barrier_price(c.plain).price);
}

TEST(barrier_exercise, what_never_pays_early_begins_as_the_european) {
  contract c = put_with_barrier(barrier_kind::up_and_in, 110, exercise_style::american);
  c.plain.type = option_type::call;
  EXPECT_EQ(price(c, {}).value.price, barrier_price(c.plain).price);
  fd_options o;
  o.tolerance = 1e-5;
  EXPECT_NEAR(finite_difference_price(c, o).value.price, barrier_price(c.plain).price, 1e-5);
}

// Without interest it is exercised nowhere before the barrier, and there just before it ends: as if the rebate
// were what exercise pays.
TEST(barrier_exercise, is_exercised_just_before_it_ends) {
  contract c = put_with_barrier(barrier_kind::down_and_out, 90, exercise_style::american);
  c.plain.rate = 0;
  c.plain.rebate = 3;
  plain_option paid = c.plain;
  paid.rebate = 10;
  fd_options o;
  o.tolerance = 1e-5;
  const fd_result r = finite_difference_price(c, o);
  EXPECT_TRUE(r.tolerance_met);
  EXPECT_NEAR(r.value.price, barrier_price(paid).price, 1e-5);
  c.plain.rebate = 12;  // better than exercise
  paid.rebate = 12;
  EXPECT_NEAR(finite_difference_price(c, o).value.price, barrier_price(paid).price, 1e-5);
}

TEST(barrier_exercise, dividends_are_refused) {
  contract c = put_with_barrier(barrier_kind::up_and_in, 120, exercise_style::american);
  c.dividends = {{0.5, 2}};
  EXPECT_THROW(price(c, {}), value_error);
}

// A strike next to the barrier, or in the first cells from it, changes nothing of where the grid ends.
TEST(barrier_exercise, a_strike_beside_the_barrier) {
  for (const double above : {1.0002, 1.002, 1.01, 1.03}) {
    contract c = put_with_barrier(barrier_kind::up_and_in, 88, exercise_style::european);
    c.plain.strike = 88 / above;
    c.plain.spot = 64;
    const double exact = barrier_price(c.plain).price;
    for (const grid_kind kind : {grid_kind::logarithmic, grid_kind::uniform, grid_kind::concentrated}) {
      fd_options o;
      o.grid = kind;
      o.space_nodes = 756;
      o.time_steps = 116;
      const fd_result r = finite_difference_price(c, o);
      EXPECT_NEAR(r.value.price, exact, 1e-3) << above;
      EXPECT_LE(std::abs(r.value.price - exact), 2 * r.error_estimate + 1e-6) << above;
    }
    fd_options o;
    o.tolerance = 1e-5;
    EXPECT_NEAR(finite_difference_price(c, o).value.price, exact, 1e-5) << above;
  }
}

TEST(grid_error, few_nodes_or_steps_err_no_more_than_is_said) {
  const contract c = call_at_the_money();
  const double exact = european_price(c.plain).price;
  for (const auto& [nodes, steps] : {std::pair{8, 1}, {8, 100}, {40, 1}, {1000, 1}, {1000, 2}, {1000, 5}}) {
    fd_options o;
    o.space_nodes = nodes;
    o.time_steps = steps;
    const fd_result r = finite_difference_price(c, o);
    EXPECT_EQ(r.time_steps, steps);
    EXPECT_LE(std::abs(r.value.price - exact), r.error_estimate) << nodes << ' ' << steps;
  }
}

// Grids with less than a cell a deviation, and some with a few: the error is what is said, or less.
TEST(grid_error, grids_that_resolve_little) {
  contract put = call_at_the_money();
  put.plain.type = option_type::put;
  put.plain.strike = 42.439;
  put.plain.volatility = 0.6571;
  put.plain.expiry = 5.3867;
  contract digital = call_at_the_money();
  digital.plain.payoff = payoff_kind::asset_digital;
  digital.plain.strike = 815;
  digital.plain.volatility = 1.1149;
  digital.plain.expiry = 5.7624;
  contract soon = call_at_the_money();
  soon.plain.strike = 96.975;
  soon.plain.volatility = 0.0658;
  soon.plain.expiry = 0.0735;
  fd_options o;
  for (const contract& c : {put, digital, soon})
    for (const grid_kind grid : {grid_kind::logarithmic, grid_kind::uniform, grid_kind::concentrated})
      for (const auto& [nodes, steps] : {std::pair{15, 140}, {38, 96}, {43, 3}}) {
        o.grid = grid;
        o.space_nodes = nodes;
        o.time_steps = steps;
        const fd_result r = finite_difference_price(c, o);
        EXPECT_LE(std::abs(r.value.price - closed_form(c.plain).price), r.error_estimate)
            << c.plain.strike << ' ' << nodes << ' ' << static_cast<int>(grid);
      }
}

// Far inside the region of exercise nothing is left to rounding.
TEST(grid_error, greeks_of_what_is_exercised) {
  contract c = call_at_the_money();
  c.plain.type = option_type::put;
  c.exercise = exercise_style::american;
  for (const double spot : {1e-6, 1.0, 40.0}) {
    c.plain.spot = spot;
    const fd_result r = finite_difference_price(c, {});
    EXPECT_TRUE(r.tolerance_met);
    EXPECT_EQ(r.value.delta, -1);
    EXPECT_EQ(r.value.gamma, 0);
    EXPECT_NEAR(r.value.price, 100 - spot, 1e-9);
  }
}

// Beside a barrier, or where waiting in the money pays, the touch of the strike is found on a grid. Where the
// barrier is out of reach and the rate is not negative it is a formula.
TEST(american_digital, is_a_touch_of_the_strike) {
  contract c;
  c.exercise = exercise_style::american;
  c.plain.payoff = payoff_kind::asset_digital;
  c.plain.spot = 96;
  c.plain.strike = 100;
  c.plain.rate = 0.05;
  c.plain.volatility = 0.3;
  c.plain.expiry = 1;
  pricing_options how;
  how.finite_difference.tolerance = 1e-5;
  const double touch = price(c, how).value.price;
  c.plain.barrier = barrier_kind::down_and_out;
  c.plain.barrier_level = 20;
  pricing_options on_grid = how;
  on_grid.force_finite_difference = true;
  const pricing far = price(c, on_grid);
  EXPECT_NEAR(far.value.price, touch, 1e-5);
  // Two barriers, one of which pays 100 and the other 1: by a series of sines, in 30 digits.
  c.plain.barrier_level = 90;
  c.plain.rebate = 1;
  const pricing near = price(c, how);
  EXPECT_TRUE(near.tolerance_met);
  EXPECT_NEAR(near.value.price, 61.7004296615, 1e-5);
}

}  // namespace
}  // namespace vouch
