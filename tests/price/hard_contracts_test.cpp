#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <sstream>
#include <vector>

#include <vouch/core/error.hpp>
#include <vouch/price/closed_form.hpp>
#include <vouch/price/finite_difference.hpp>
#include <vouch/price/price.hpp>

#include "contracts.hpp"
#include "oracle.hpp"

namespace vouch {
namespace {

using testing::call_at_the_money;

std::string described(const plain_option& o) {
  std::ostringstream text;
  text << (o.type == option_type::call ? "call" : "put") << " payoff " << static_cast<int>(o.payoff)
       << " strike " << o.strike << " rate " << o.rate << " dividend " << o.dividend << " volatility "
       << o.volatility << " expiry " << o.expiry;
  return text.str();
}

// Days to decades, 1 % to 200 %, far in and out of the money, rates of both signs.
plain_option any_option(std::mt19937_64& random) {
  const auto between = [&](double a, double b) { return std::uniform_real_distribution<>(a, b)(random); };
  const auto spread = [&](double a, double b) { return a * std::pow(b / a, between(0, 1)); };
  plain_option o;
  o.type = between(0, 1) < 0.5 ? option_type::call : option_type::put;
  o.payoff = static_cast<payoff_kind>(static_cast<int>(between(0, 2.99)));
  o.spot = 100;
  o.strike = spread(20, 500);
  o.rate = between(-0.05, 0.2);
  o.dividend = between(-0.05, 0.2);
  o.volatility = spread(0.01, 2);
  o.expiry = spread(1.0 / 365, 30);
  return o;
}

TEST(hard_contracts, estimates_hold_for_any_european_option_on_any_grid) {
  std::mt19937_64 random(11);
  int met = 0, all = 0;
  for (int k = 0; k < 60; ++k) {
    contract c;
    c.plain = any_option(random);
    fd_options o;
    o.tolerance = 1e-4;
    o.grid = static_cast<grid_kind>(k % 3);
    const double exact = closed_form(c.plain).price;
    const fd_result r = finite_difference_price(c, o);
    EXPECT_LE(std::abs(r.value.price - exact), r.error_estimate) << described(c.plain) << " grid " << k % 3;
    if (o.grid != grid_kind::logarithmic) continue;
    ++all;
    met += r.tolerance_met;
  }
  EXPECT_GE(met, all - 1);
}

// 28 deviations above the strike: gamma is 0, and what is left of it is rounding.
TEST(hard_contracts, a_strike_out_of_reach_costs_nothing) {
  contract c = call_at_the_money();
  c.plain.strike = 95;
  c.plain.volatility = 0.01;
  c.plain.expiry = 0.033;
  fd_options o;
  o.tolerance = 1e-8;
  const fd_result r = finite_difference_price(c, o);
  EXPECT_TRUE(r.tolerance_met);
  EXPECT_LE(r.space_nodes, 1601);
  EXPECT_NEAR(r.value.price, european_price(c.plain).price, 1e-8);
  EXPECT_NEAR(r.value.delta, 1, 1e-7);
}

// Up to where the underlying may get in 23 years a uniform grid has one node in thousands.
TEST(hard_contracts, a_grid_that_resolves_nothing_says_so) {
  contract c = call_at_the_money();
  c.plain.volatility = 0.6;
  c.plain.expiry = 23;
  fd_options o;
  o.grid = grid_kind::uniform;
  const fd_result r = finite_difference_price(c, o);
  EXPECT_FALSE(r.tolerance_met);
  EXPECT_LE(std::abs(r.value.price - european_price(c.plain).price), r.error_estimate);
}

TEST(hard_contracts, an_unstable_contour_is_refused) {
  contract c = call_at_the_money();
  c.plain.type = option_type::put;
  c.plain.rate = -0.02;
  c.plain.dividend = 0.16;
  c.plain.volatility = 0.0175;
  c.plain.expiry = 1;
  fd_options o;
  o.scheme = time_scheme::exponential;
  o.grid = grid_kind::uniform;
  EXPECT_THROW(finite_difference_price(c, o), value_error);
}

// The underlying is exercised from the barrier up to a boundary but for spots close to the barrier, where one waits
// for a rebate that pays more. On a trinomial tree that has the barrier on a node.
TEST(hard_contracts, waiting_for_a_rebate_beside_exercise) {
  const auto tree = [](const plain_option& o, int cells) {
    const double h = std::log(o.spot / o.barrier_level) / cells;
    const auto steps = static_cast<int>(std::ceil(3 * o.volatility * o.volatility * o.expiry / (h * h)));
    const double dt = o.expiry / steps, drift = o.rate - o.dividend - 0.5 * o.volatility * o.volatility;
    const double spread = 0.5 * dt * o.volatility * o.volatility / (h * h), lean = 0.5 * dt * drift / h;
    const auto nodes = static_cast<std::size_t>(8 * o.volatility * std::sqrt(o.expiry) / h) + 80;
    std::vector<double> paid(nodes);
    for (std::size_t i = 0; i < nodes; ++i)
      paid[i] = payoff_at(o, o.barrier_level * std::exp(h * static_cast<double>(i)));
    paid[0] = o.rebate;
    std::vector<double> v = paid, next = paid;
    for (int k = 0; k < steps; ++k) {
      for (std::size_t i = 1; i + 1 < nodes; ++i)
        next[i] = std::max(paid[i],
                           (v[i] * (1 - 2 * spread) + v[i + 1] * (spread + lean) + v[i - 1] * (spread - lean)) /
                               (1 + o.rate * dt));
      std::swap(v, next);
    }
    return v[static_cast<std::size_t>(cells)];
  };
  contract c = call_at_the_money();
  c.exercise = exercise_style::american;
  c.plain.type = option_type::put;
  c.plain.barrier = barrier_kind::down_and_out;
  c.plain.barrier_level = 20;
  c.plain.spot = 23;
  c.plain.rebate = 85;
  c.plain.rate = 0.08;
  c.plain.volatility = 0.3;
  fd_options o;
  o.tolerance = 2e-5;
  const fd_result r = finite_difference_price(c, o);
  EXPECT_GT(r.value.price, 77 + 0.5);  // more than exercise pays
  EXPECT_NEAR(r.value.price, tree(c.plain, 80), 3e-5);
}

// Without interest or with a yield below 0 there is still one boundary, or none.
TEST(hard_contracts, rates_below_zero_with_one_boundary) {
  contract c = call_at_the_money();
  c.exercise = exercise_style::american;
  c.plain.rate = -0.03;
  c.plain.volatility = 0.4;
  c.plain.expiry = 0.01;
  const pricing p = price(c, {});
  EXPECT_EQ(p.method, pricing_method::boundary);
  pricing_options forced;
  forced.force_finite_difference = true;
  forced.finite_difference.tolerance = 1e-5;
  EXPECT_NEAR(p.value.price, price(c, forced).value.price, 1e-5);
  c.plain.type = option_type::put;  // never exercised
  EXPECT_EQ(price(c, {}).value.price, european_price(c.plain).price);
}

// By quadrature of the density of the first passage and of what is left at expiry, in long double.
TEST(hard_contracts, barriers_close_to_the_spot) {
  std::mt19937_64 random(3);
  for (int k = 0; k < 40; ++k) {
    contract c;
    c.plain = any_option(random);
    plain_option& o = c.plain;
    o.payoff = payoff_kind::vanilla;
    o.volatility = 0.01 + 0.02 * (k % 4);
    o.expiry = 0.005 * (1 + k % 5);
    const double deviation = o.volatility * std::sqrt(o.expiry);
    o.barrier = k % 2 == 0 ? barrier_kind::up_and_out : barrier_kind::down_and_out;
    o.barrier_level = o.spot * std::exp((k % 2 == 0 ? 0.3 : -0.3) * deviation);
    using testing::wide;
    const testing::wide_option w(o);
    const wide variance = w.volatility * w.volatility * w.expiry, root = std::sqrt(variance);
    const wide drift = (w.rate - w.dividend) * w.expiry - variance / 2;
    const wide b = std::log1p((static_cast<wide>(o.barrier_level) - w.spot) / w.spot);
    // The density of the logarithm at expiry of those that did not hit.
    const auto alive = [&](wide x) {
      const auto density = [&](wide y) { return testing::normal_density((y - drift) / root) / root; };
      return density(x) - std::exp(2 * b * drift / variance) * density(x - 2 * b);
    };
    const wide far = 14 * root * (k % 2 == 0 ? -1 : 1), kink = std::log(w.strike / w.spot);
    std::vector<wide> ends{b, b + far};
    if ((kink - b) * (kink - b - far) < 0) ends.push_back(kink);
    std::sort(ends.begin(), ends.end());
    wide exact = 0;
    for (std::size_t i = 1; i < ends.size(); ++i)
      exact += testing::integral(ends[i - 1], ends[i], 200,
                                 [&](wide x) { return alive(x) * testing::paid(w, w.spot * std::exp(x)); });
    exact *= std::exp(-w.rate * w.expiry);
    const pricing p = price(c, {});
    EXPECT_NEAR(p.value.price, static_cast<double>(exact), p.error_estimate) << described(o) << ' ' << k;
    EXPECT_LT(p.error_estimate, 1e-10);
  }
}

}  // namespace
}  // namespace vouch
