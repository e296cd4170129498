// Options on an underlying without volatility: by hand, by searching its path, and against a small volatility.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <string>

#include <vouch/core/error.hpp>
#include <vouch/price/price.hpp>

#include "contracts.hpp"

namespace vouch {
namespace {

using testing::call_at_the_money;
using wide = long double;

contract certain(option_type type, exercise_style exercise) {
  contract c = call_at_the_money();
  c.plain.type = type;
  c.plain.volatility = 0;
  c.exercise = exercise;
  return c;
}

double value(const contract& c) {
  const pricing p = price(c, {});
  EXPECT_EQ(p.method, pricing_method::limit);
  return p.value.price;
}

TEST(deterministic_limit, american_with_a_dividend) {
  contract c = certain(option_type::call, exercise_style::american);
  c.dividends = {{0.5, 8}};  // exercised just before it
  EXPECT_NEAR(value(c), 100 - 100 * std::exp(-0.025), 1e-13);
  c.plain.type = option_type::put;  // just after it
  EXPECT_NEAR(value(c), 100 * std::exp(-0.025) - (100 - 8 * std::exp(-0.025)), 1e-13);
  c.dividends = {{0.5, 200}};  // the underlying is worth nothing then
  EXPECT_NEAR(value(c), 100 * std::exp(-0.025), 1e-13);
  EXPECT_EQ(price(c, {}).value.delta, 0);
}

TEST(deterministic_limit, bermudan_dates_at_a_dividend_are_before_it) {
  contract c = certain(option_type::call, exercise_style::bermudan);
  c.exercise_dates = {0.3};
  c.dividends = {{0.1 + 0.2, 50}};
  EXPECT_NEAR(value(c), 100 - 100 * std::exp(-0.015), 1e-13);
}

// 100 exp(-q t) - 90 exp(-r t) with r = 12 %, then 1 %, and q = 10 %: best where q S = r K.
TEST(deterministic_limit, the_best_moment_under_changing_rates) {
  contract c = certain(option_type::call, exercise_style::american);
  c.plain.strike = 90;
  c.plain.dividend = 0.1;
  c.rates = {{0.75, 0.12}, {1, 0.01}};
  const double best = std::log(0.12 * 90 / (0.1 * 100)) / 0.02;
  ASSERT_GT(best, 0.75);  // later than the change: exercised then
  EXPECT_NEAR(value(c), 100 * std::exp(-0.075) - 90 * std::exp(-0.09), 1e-13);
  c.plain.strike = 84;
  const double sooner = std::log(0.12 * 84 / (0.1 * 100)) / 0.02;
  ASSERT_TRUE(sooner > 0 && sooner < 0.75);
  EXPECT_NEAR(value(c), 100 * std::exp(-0.1 * sooner) - 84 * std::exp(-0.12 * sooner), 1e-13);
}

TEST(deterministic_limit, barriers_that_end_an_american_option) {
  contract c = certain(option_type::call, exercise_style::american);
  c.plain.barrier = barrier_kind::up_and_out;
  c.plain.barrier_level = 103;
  const double hit = std::log(1.03) / 0.05;
  EXPECT_NEAR(value(c), 3 * std::exp(-0.05 * hit), 1e-12);  // exercised just before
  c.plain.rebate = 4;
  EXPECT_NEAR(value(c), 4 / 1.03, 1e-12);
  c.exercise = exercise_style::bermudan;
  c.exercise_dates = {0.5, 0.6};
  c.plain.rebate = 1;  // hit at 0.591
  EXPECT_NEAR(value(c), 100 - 100 * std::exp(-0.025), 1e-12);
  c.plain.barrier = barrier_kind::down_and_out;  // by a dividend
  c.plain.barrier_level = 95;
  c.exercise = exercise_style::european;
  c.dividends = {{0.25, 10}};
  EXPECT_NEAR(value(c), std::exp(-0.0125), 1e-13);
}

TEST(deterministic_limit, barriers_that_begin_an_option) {
  contract c = certain(option_type::put, exercise_style::american);
  c.plain.strike = 110;
  c.plain.barrier = barrier_kind::up_and_in;
  c.plain.barrier_level = 103;
  c.plain.rebate = 2;
  EXPECT_NEAR(value(c), 7 / 1.03, 1e-12);  // exercised when it begins
  c.plain.barrier_level = 106;             // never
  EXPECT_NEAR(value(c), 2 * std::exp(-0.05), 1e-13);
  c.plain.barrier = barrier_kind::down_and_in;
  c.plain.barrier_level = 97;
  c.dividends = {{0.5, 9}};  // begins, and is exercised, when it is paid
  EXPECT_NEAR(value(c), (110 - (100 * std::exp(0.025) - 9)) * std::exp(-0.025), 1e-12);
  c.plain.expiry = 0;
  EXPECT_EQ(value(c), 2);
}

// The whole underlying is exercised, and follows the path that it has where it falls by its dividends.
TEST(deterministic_limit, escrowed_dividends) {
  contract c = certain(option_type::call, exercise_style::american);
  c.model = dividend_model::escrowed;
  c.dividends = {{0.5, 5 * std::exp(0.025)}};
  EXPECT_NEAR(value(c), 100 - 100 * std::exp(-0.025), 1e-12);
  c.plain.type = option_type::put;
  c.plain.strike = 104;
  EXPECT_NEAR(value(c), std::max(4.0, 104 * std::exp(-0.025) - 95), 1e-12);
  c.exercise = exercise_style::european;  // with a yield, too
  c.plain.dividend = 0.03;
  const double escrowed = value(c);
  c.model = dividend_model::piecewise;
  EXPECT_NEAR(escrowed, value(c), 1e-12);
}

// A put pays 7 while the underlying is below 100; waiting pays where rates are negative.
TEST(deterministic_limit, digital_options_with_negative_rates) {
  contract c = certain(option_type::put, exercise_style::american);
  c.plain.payoff = payoff_kind::cash_digital;
  c.plain.cash = 7;
  c.plain.spot = 99;
  c.plain.rate = -0.02;
  c.plain.dividend = -0.04;
  const double out_of_money = std::log(100.0 / 99) / 0.02;
  EXPECT_NEAR(value(c), 7 * std::exp(0.02 * out_of_money), 1e-12);
  c.plain.dividend = -0.02;
  EXPECT_NEAR(value(c), 7 * std::exp(0.02), 1e-13);
  c.plain.spot = 100;
  EXPECT_THROW(price(c, {}), value_error);
}

TEST(deterministic_limit, a_local_volatility_that_is_not_zero_everywhere) {
  contract c = certain(option_type::put, exercise_style::european);
  c.local_volatility = {{0}, {90, 100, 110}, {0, 0, 0}};
  EXPECT_EQ(value(c), 0);
  c.local_volatility.values[2] = 0.3;
  EXPECT_THROW(price(c, {}), value_error);
}

class sample {
 public:
  double between(double low, double high) {
    return low + (high - low) * static_cast<double>(random_() >> 11) * 0x1p-53;
  }
  bool one_in(int count) { return random_() % static_cast<unsigned>(count) == 0; }
  contract next() {
    contract c = certain(one_in(2) ? option_type::call : option_type::put,
                         one_in(4) ? exercise_style::bermudan : exercise_style::american);
    plain_option& o = c.plain;
    o.strike = between(90, 110);
    o.rate = between(0, 0.12);
    o.dividend = between(0, 0.1);
    if (c.exercise == exercise_style::bermudan) c.exercise_dates = {between(0, 0.5), between(0.5, 1)};
    if (one_in(2)) c.rates = {{between(0.2, 0.8), between(0, 0.12)}, {1, between(0, 0.12)}};
    const bool pays = one_in(2);
    if (one_in(2)) {
      const bool up = one_in(2);
      if (one_in(2) && !pays)
        o.barrier = up ? barrier_kind::up_and_in : barrier_kind::down_and_in;
      else
        o.barrier = up ? barrier_kind::up_and_out : barrier_kind::down_and_out;
      o.barrier_level = up ? between(101, 108) : between(92, 99);
      o.rebate = one_in(2) ? between(0, 8) : 0;
    } else if (one_in(3)) {
      c.model = dividend_model::escrowed;
    }
    if (pays) c.dividends = {{between(0.1, 0.9), between(1, 8)}};
    return c;
  }

 private:
  std::mt19937_64 random_{5};
};

// The best of many moments of the path, followed in small steps.
double searched(const contract& c) {
  constexpr int count = 20000;
  const plain_option& o = c.plain;
  const bool american = c.exercise == exercise_style::american, barrier = o.barrier != barrier_kind::none;
  wide underlying = o.spot, discount = 1, best = 0;
  bool exists = !barrier || !is_in(o.barrier);
  std::vector<double> times;
  for (int k = 1; k <= count; ++k) times.push_back(static_cast<double>(k) / count);
  for (const cash_dividend& d : c.dividends) times.push_back(d.time);
  for (const double date : c.exercise_dates) times.push_back(date);
  if (!c.rates.empty()) times.push_back(c.rates[0].until);
  std::sort(times.begin(), times.end());
  const auto pay = [&](bool may) {
    if (!exists || !may) return;
    best = std::max(best, discount * sign_of(o.type) * (underlying - o.strike));
  };
  const auto ends = [&] {
    const bool hit = is_up(o.barrier) ? underlying >= o.barrier_level : underlying <= o.barrier_level;
    if (!barrier || !hit) return false;
    if (is_in(o.barrier)) return exists = true, false;
    best = std::max(best, discount * o.rebate);
    return true;
  };
  pay(american);
  double from = 0;
  for (const double to : times) {
    const double rate = c.rates.empty() || from < c.rates[0].until
                            ? (c.rates.empty() ? o.rate : c.rates[0].value)
                            : c.rates[1].value;
    const wide length = to - from;
    underlying *= std::exp((rate - o.dividend) * length);
    discount *= std::exp(-rate * length);
    if (american) pay(true);
    if (ends()) return static_cast<double>(best);
    pay(american || std::find(c.exercise_dates.begin(), c.exercise_dates.end(), to) != c.exercise_dates.end());
    for (const cash_dividend& d : c.dividends)
      if (d.time == to) underlying -= d.amount;
    if (ends()) return static_cast<double>(best);
    pay(american);
    from = to;
  }
  if (!exists) return static_cast<double>(discount * o.rebate);
  pay(true);
  return static_cast<double>(best);
}

TEST(deterministic_limit, no_moment_of_the_path_pays_more) {
  sample all;
  int worth = 0;
  for (int k = 0; k < 100; ++k) {
    const contract c = all.next();
    const double found = value(c), best = searched(c);
    EXPECT_NEAR(found, best, 2e-3) << k;  // by a step of the search at a barrier
    if (c.plain.barrier == barrier_kind::none) {
      EXPECT_GE(found, best - 1e-12) << k;
    }
    worth += best > 0.01;
  }
  EXPECT_GT(worth, 50);
}

TEST(deterministic_limit, delta_and_theta_are_derivatives_of_the_price) {
  sample all;
  for (int k = 0; k < 60; ++k) {
    const contract c = all.next();
    const double h = 1e-5;
    const auto moved = [&](double spot, double time) {
      contract m = c;
      m.plain.spot += spot;
      m.plain.expiry -= time;
      for (cash_dividend& d : m.dividends) d.time -= time;
      for (double& date : m.exercise_dates) date -= time;
      for (curve_step& r : m.rates) r.until -= time;
      return price(m, {}).value.price;
    };
    const valuation v = price(c, {}).value;
    EXPECT_NEAR(v.delta, (moved(h, 0) - moved(-h, 0)) / (2 * h), 1e-4) << k;
    if (v.theta != 0) {
      EXPECT_NEAR(v.theta, (moved(0, h) - moved(0, -h)) / (2 * h), 1e-3) << k;
    }
  }
}

// Where the underlying comes near enough to a barrier to hit it by chance, nothing is compared.
bool is_plain_sailing(const contract& c) {
  if (c.plain.barrier == barrier_kind::none) return true;
  for (const double share : {0.99, 1.01}) {
    contract other = c;
    other.plain.barrier_level *= share;
    try {
      if (std::abs(value(other) - value(c)) > 1.5) return false;
    } catch (const value_error&) {
      return false;
    }
  }
  return true;
}

TEST(deterministic_limit, is_the_limit_of_a_small_volatility) {
  sample all;
  int compared = 0;
  for (int k = 0; k < 40; ++k) {
    contract c = all.next();
    if (!is_plain_sailing(c)) continue;
    ++compared;
    const double limit = value(c);
    c.plain.volatility = 2e-3;
    pricing_options how;
    how.finite_difference.space_nodes = 2000;
    how.finite_difference.time_steps = 1000;
    const pricing p = price(c, how);
    EXPECT_NEAR(p.value.price, limit, 0.15) << k << ' ' << name(p.method);
  }
  EXPECT_GT(compared, 20);
}

// Rates that change carry the underlying beyond where it ends: the grid reaches there.
TEST(deterministic_limit, a_detour_on_a_grid) {
  contract c = certain(option_type::call, exercise_style::american);
  c.plain.strike = 95;
  c.rates = {{0.5, 0.06}, {1, -0.06}};
  const double limit = value(c);
  EXPECT_NEAR(limit, 100 - 95 * std::exp(-0.03), 1e-12);
  c.plain.volatility = 1e-3;
  pricing_options how;
  how.finite_difference.space_nodes = 1000;
  how.finite_difference.time_steps = 500;
  EXPECT_NEAR(price(c, how).value.price, limit, 0.02);
}

}  // namespace
}  // namespace vouch
