// Proved bounds of what steps in time compute, against the same steps in quadruple precision.
#include <vouch/price/finite_difference/enclosure.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <random>
#include <string>
#include <vector>

#include <vouch/core/config.hpp>
#include <vouch/price/price.hpp>

#include "contracts.hpp"
#include "quad_time_stepping.hpp"

namespace vouch {
namespace {

using testing::call_with_yield;

using testing::holds, testing::quad, testing::quad_local, testing::quad_time_stepper, testing::small,
    testing::width;

std::vector<contract> products() {
  std::vector<contract> all = testing::european_products();
  all.resize(20, call_with_yield());
  all[6].plain.type = option_type::put;
  all[6].exercise = exercise_style::bermudan;
  all[6].exercise_dates = {0, 0.25, 0.5, 0.75};
  all[7].rates = {{0.3, 0.01}, {1, 0.08}};
  all[7].volatilities = {{0.6, 0.3}, {1, 0.15}};
  all[8].local_volatility = {{0, 1}, {50, 100, 200}, {0.4, 0.25, 0.2, 0.35, 0.2, 0.15}};
  all[9].plain.rate = -0.03;
  all[10].plain.volatility = 0.05;  // drift dominates: some rows upwind
  all[10].plain.rate = 0.3;
  for (std::size_t k = 11; k < 16; ++k) all[k].exercise = exercise_style::american;
  all[11].plain.dividend = 0.07;
  for (const std::size_t put : {12, 13, 15, 16}) all[put].plain.type = option_type::put;
  all[13].plain.rate = -0.02;  // exercised between two spots
  all[13].plain.dividend = -0.06;
  all[14].plain.payoff = payoff_kind::cash_digital;
  all[15].dividends = {{0.3, 2}, {0.8, 3}};
  all[16].dividends = {{0.2, 1}, {0.45, 1.5}, {0.7, 1}};
  all[17].exercise = exercise_style::american;
  all[17].dividends = {{0.3, 2}, {0.8, 3}};
  all[17].model = dividend_model::escrowed;
  for (const std::size_t surface : {18, 19}) {
    all[surface].exercise = exercise_style::american;
    all[surface].local_volatility = {
        {0, 0.5, 1}, {50, 100, 200}, {0.4, 0.25, 0.2, 0.5, 0.3, 0.1, 0.35, 0.2, 0.15}};
  }
  all[19].plain.type = option_type::put;
  return all;
}

// Of what is exercised now the slope of the payoff is reported, and no curvature.
quad_local reported(const contract& c, quad_local v) {
  const double paid = payoff_at(c.plain, c.plain.spot + escrow(c, 0));
  if (c.exercise != exercise_style::american || !(paid > 0) || v.value > quad(paid) * (1 + 1e-10)) return v;
  v.first = c.plain.payoff == payoff_kind::cash_digital    ? 0
            : c.plain.payoff == payoff_kind::asset_digital ? 1
                                                           : sign_of(c.plain.type);
  v.second = 0;
  return v;
}

constexpr time_scheme stepping[] = {time_scheme::rannacher, time_scheme::crank_nicolson,
                                    time_scheme::implicit_euler};
constexpr grid_kind kinds[] = {grid_kind::logarithmic, grid_kind::uniform, grid_kind::concentrated};

// The bounds hold the exact solution of the discrete problem and are a few roundings wide.
TEST(fd_enclosure, holds_what_steps_in_quadruple_precision_give) {
  int number = 0;
  for (const contract& c : products()) {
    for (const time_scheme scheme : stepping)
      for (const grid_kind kind : kinds) {
        const fd_grid grid = make_grid(c, kind, 90);
        const auto segments = make_segments(c, 40);
        const fd_payment payment{0, c.plain.rebate};
        const fd_enclosure e = enclose_time_stepping(c, grid, payment, segments, scheme);
        SCOPED_TRACE("product " + std::to_string(number) + " scheme " +
                     std::to_string(static_cast<int>(scheme)) + " grid " +
                     std::to_string(static_cast<int>(kind)) + " " + e.reason);
        ASSERT_TRUE(e.verified);
        quad_time_stepper exact(c, grid, payment);
        exact.run(segments, scheme);
        const quad_local v = reported(c, exact.local());
        EXPECT_TRUE(holds(e.price, v.value)) << width(e.price);
        EXPECT_TRUE(holds(e.delta, v.first));
        EXPECT_TRUE(holds(e.gamma, v.second));
        EXPECT_LE(width(e.price), 1e-12) << static_cast<double>(v.value);
        EXPECT_LE(width(e.delta), 1e-11);
        EXPECT_LE(width(e.gamma), 1e-10);
      }
    ++number;
  }
}

// Options, grids and steps at random: coarse and fine, drift or diffusion alone, rates of both signs.
TEST(fd_enclosure, campaign_of_random_options) {
  std::mt19937_64 engine(20111);
  const auto between = [&](double low, double high) {
    return std::uniform_real_distribution<double>(low, high)(engine);
  };
  const auto one_of = [&](int count) { return std::uniform_int_distribution<int>(0, count - 1)(engine); };
  int verified = 0;
  const int cases = std::getenv("VOUCH_SOAK") != nullptr ? 100'000 : 1000;
  for (int k = 0; k < cases; ++k) {
    contract c = products()[static_cast<std::size_t>(one_of(20))];
    c.plain.strike = between(60, 140);
    c.plain.volatility = std::exp(between(-4, 0.2));
    c.plain.rate = between(-0.2, 0.6);
    c.plain.dividend = between(-0.1, 0.3);
    c.plain.expiry = std::exp(between(-4, 1.2));
    if (c.plain.barrier == barrier_kind::down_and_out) c.plain.spot = between(91, 130);
    const fd_grid grid = make_grid(c, kinds[one_of(3)], 8 + one_of(50));
    const auto segments = make_segments(c, 1 + one_of(12));
    const time_scheme scheme = stepping[one_of(3)];
    const fd_payment payment{one_of(2) * 1.5, c.plain.rebate};
    const fd_enclosure e = enclose_time_stepping(c, grid, payment, segments, scheme);
    if (!e.verified) continue;
    ++verified;
    quad_time_stepper exact(c, grid, payment);
    exact.run(segments, scheme);
    const quad_local v = reported(c, exact.local());
    const double off = c.exercise == exercise_style::american ? small : 0;
    ASSERT_TRUE(holds(e.price, v.value, off)) << k << ' ' << width(e.price);
    ASSERT_TRUE(holds(e.delta, v.first, off) && holds(e.gamma, v.second, off)) << k;
  }
  EXPECT_GE(verified, cases * 9 / 10);
}

// Whatever computed the price: the bound is about as far from it as the exact solution is.
TEST(fd_enclosure, bounds_the_rounding_of_every_precision_and_solver) {
  const contract c = call_with_yield();
  fd_options o;
  o.verify = true;
  o.space_nodes = 300;
  o.time_steps = 100;
  for (const solve_precision p : {solve_precision::double_, solve_precision::mixed})
    for (const auto solver : {tridiagonal_method::automatic, tridiagonal_method::thomas}) {
      if (p == solve_precision::mixed && solver != tridiagonal_method::automatic) continue;
      o.precision = p;
      o.solver = solver;
      const fd_result r = finite_difference_price(c, o);
      ASSERT_TRUE(r.enclosure && r.enclosure->verified);
      const fd_grid grid = make_grid(c, o.grid, o.space_nodes);
      quad_time_stepper exact(c, grid, {});
      exact.run(make_segments(c, o.time_steps), o.scheme);
      EXPECT_TRUE(holds(r.enclosure->price, exact.local().value));
      EXPECT_LE(width(r.enclosure->price), 1e-13);
      const double off = std::abs(r.value.price - r.enclosure->price.lo());
      EXPECT_LE(off, p == solve_precision::mixed ? 1e-5 : 1e-11);
    }
}

// To an accuracy, two grids make the price; theta follows from the equation.
TEST(fd_enclosure, of_an_extrapolated_price) {
  fd_options o;
  o.verify = true;
  o.tolerance = 1e-3;
  const contract c = call_with_yield();
  const fd_result r = finite_difference_price(c, o);
  ASSERT_TRUE(r.extrapolated && r.enclosure->verified);
  quad price[2];
  for (int k = 0; k < 2; ++k) {
    const fd_grid grid = make_grid(c, o.grid, k == 0 ? r.space_nodes : (r.space_nodes + 1) / 2);
    quad_time_stepper exact(c, grid, {});
    exact.run(make_segments(c, k == 0 ? r.time_steps : r.time_steps / 2), o.scheme);
    price[k] = exact.local().value;
  }
  EXPECT_TRUE(holds(r.enclosure->price, price[0] + quad(1.0 / 3) * (price[0] - price[1])));
  EXPECT_LE(width(r.enclosure->price), 1e-12);
  EXPECT_NEAR(r.value.price, r.enclosure->price.lo(), 1e-10);
  EXPECT_NEAR(r.value.theta, r.enclosure->theta.lo(), 1e-8);
}

// An option that begins at a barrier is the closed form less the discrete one that ends there.
TEST(fd_enclosure, of_an_option_that_begins_at_a_barrier) {
  contract c = call_with_yield();
  c.plain.barrier = barrier_kind::up_and_in;
  c.plain.barrier_level = 125;
  pricing_options how;
  how.force_finite_difference = true;
  how.finite_difference.verify = true;
  how.finite_difference.space_nodes = 201;
  how.finite_difference.time_steps = 100;
  const pricing p = price(c, how);
  const fd_enclosure& e = *p.grid->enclosure;
  if (!built_with_mpfr) GTEST_SKIP() << "no closed form is enclosed: this build has no MPFR";
  ASSERT_TRUE(e.verified) << e.reason;
  EXPECT_NEAR(p.value.price, e.price.lo(), 1e-10);
  EXPECT_NEAR(p.value.theta, e.theta.lo(), 1e-8);
  EXPECT_LE(width(e.price), 1e-12);
}

// What begins at a barrier and may be exercised early: the values of one problem are an end of another.
TEST(fd_enclosure, holds_what_begins_at_a_barrier_and_may_be_exercised_early) {
  for (int k = 0; k < 48; ++k) {
    contract c = call_with_yield();
    c.plain.type = k % 2 == 0 ? option_type::put : option_type::call;
    c.plain.barrier = k % 4 < 2 ? barrier_kind::up_and_in : barrier_kind::down_and_in;
    c.plain.barrier_level = k % 4 < 2 ? 104 : 93;
    c.plain.rebate = k % 3;
    c.exercise = k % 8 < 4 ? exercise_style::american : exercise_style::bermudan;
    if (c.exercise == exercise_style::bermudan) c.exercise_dates = {0, 0.25, 0.5};
    const grid_kind kind = kinds[k % 3];
    const time_scheme scheme = stepping[k / 16];
    const std::int64_t nodes = 60 + k, steps = 20;
    const fd_grid grid = make_grid(c, kind, nodes);
    const fd_enclosure e = enclose_knock_in(c, grid, kind, steps, scheme);
    SCOPED_TRACE(k);
    ASSERT_TRUE(e.verified) << e.reason;

    const contract in = knocked_in(c), out = not_knocked_in(c);
    const fd_grid knocked_in_grid = make_grid(in, kind, nodes);
    std::vector<fd_segment> segments = make_segments(in, steps);
    std::vector<quad> at_barrier;
    quad_time_stepper first(in, knocked_in_grid, {});
    first.trace = &at_barrier;
    first.run(segments, scheme);
    for (fd_segment& s : segments) s.exercise = false;
    const std::vector<double> any(at_barrier.size(), 0.0);
    quad_time_stepper second(out, grid, {0, 0, &any});
    second.at_barrier = &at_barrier;
    second.run(segments, scheme);
    const quad_local v = second.local();
    EXPECT_TRUE(holds(e.price, v.value, small)) << width(e.price);
    EXPECT_TRUE(holds(e.delta, v.first, small) && holds(e.gamma, v.second, small));
    EXPECT_LE(width(e.price), 1e-10);

    fd_options o;
    o.scheme = scheme;
    o.grid = kind;
    o.space_nodes = nodes;
    o.time_steps = steps;
    o.verify = true;
    const fd_result r = finite_difference_price(c, o);
    EXPECT_EQ(r.enclosure->price, e.price);
    EXPECT_NEAR(r.value.price, e.price.lo(), 1e-9);
  }
}

// Policies take long to find the exercise boundary there.
TEST(fd_enclosure, of_american_options_in_long_steps) {
  for (const time_scheme scheme : stepping) {
    contract c = products()[19];
    for (const bool ends : {false, true}) {
      if (ends) c.plain.barrier = barrier_kind::up_and_out;
      c.plain.barrier_level = 120;
      const fd_enclosure e = enclose_time_stepping(c, make_grid(c, grid_kind::logarithmic, 1000), {},
                                                   make_segments(c, 50), scheme);
      EXPECT_TRUE(e.verified);
      EXPECT_LE(width(e.price), 1e-10) << static_cast<int>(scheme) << ends;
    }
  }
}

TEST(fd_enclosure, says_what_is_not_proved) {
  contract c = call_with_yield();
  c.plain.volatility = 0.01;  // no norm: steps far beyond what keeps the largest value from growing
  c.plain.rate = 0.8;
  const fd_grid grid = make_grid(c, grid_kind::uniform, 3000);
  const fd_enclosure e = enclose_time_stepping(c, grid, {}, make_segments(c, 200), time_scheme::crank_nicolson);
  EXPECT_FALSE(e.verified);
  EXPECT_FALSE(e.reason.empty());
  EXPECT_FALSE(std::isfinite(e.price.lo()) || std::isfinite(e.price.hi()));
}

}  // namespace
}  // namespace vouch
