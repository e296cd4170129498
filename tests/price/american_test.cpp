#include <gtest/gtest.h>

#include <cmath>
#include <tuple>
#include <vector>

#include <vouch/core/error.hpp>
#include <vouch/price/american.hpp>

namespace vouch {
namespace {

plain_option option(option_type type, double spot, double strike, double rate, double dividend,
                    double volatility, double expiry) {
  plain_option o;
  o.type = type;
  o.spot = spot;
  o.strike = strike;
  o.rate = rate;
  o.dividend = dividend;
  o.volatility = volatility;
  o.expiry = expiry;
  return o;
}

struct known {
  plain_option o;
  double price;
};

// By a fixed-point method of high order and by a tree, both of another library.
std::vector<known> references() {
  constexpr auto call = option_type::call, put = option_type::put;
  return {{option(put, 100, 100, .05, 0, .2, 1), 6.0903706},
          {option(put, 36, 40, .06, 0, .2, 1), 4.4866744},
          {option(put, 36, 40, .06, 0, .4, 2), 8.5141849},
          {option(call, 100, 100, .03, .07, .2, 3), 9.0660317},
          {option(call, 120, 100, .03, .07, .4, 3), 32.7809873},
          {option(call, 110, 100, .1, .1, .25, 182. / 365), 12.9941807},
          {option(call, 100, 100, 0, .025, .25, 1), 8.8653652}};
}

TEST(american, known_prices) {
  for (const known& k : references()) {
    const american_valuation v = american_price(k.o);
    EXPECT_NEAR(v.value.price, k.price, 4e-7);
    EXPECT_LT(v.error_estimate, 1e-6);
    EXPECT_NEAR(american_core(k.o, fast_boundary()).price, k.price, 2e-5);
  }
}

TEST(american, greeks_are_the_derivatives_of_the_price) {
  for (const known& k : references()) {
    const valuation v = american_price(k.o).value;
    const auto moved = [&](double plain_option::*member, double step) {
      plain_option o = k.o;
      o.*member += step;
      return american_core(o, finest_boundary()).price;
    };
    const double h = 0.01 * k.o.spot;
    const double up = moved(&plain_option::spot, h), down = moved(&plain_option::spot, -h);
    EXPECT_NEAR(v.delta, (up - down) / (2 * h), 2e-3);
    EXPECT_NEAR(v.gamma, (up - 2 * v.price + down) / (h * h), 0.02 * v.gamma);
    EXPECT_NEAR(v.theta, -(moved(&plain_option::expiry, 1e-3) - moved(&plain_option::expiry, -1e-3)) / 2e-3,
                1e-3 * k.o.spot);
    EXPECT_NEAR(v.vega,
                (moved(&plain_option::volatility, 1e-3) - moved(&plain_option::volatility, -1e-3)) / 2e-3,
                1e-2);
    EXPECT_NEAR(v.rho, (moved(&plain_option::rate, 1e-4) - moved(&plain_option::rate, -1e-4)) / 2e-4, 2e-2);
  }
}

TEST(american, calls_without_dividends_are_european) {
  for (const double rate : {0.0, 0.04}) {
    const plain_option o = option(option_type::call, 100, 90, rate, 0, .3, 2);
    const american_valuation v = american_price(o);
    EXPECT_EQ(v.value.price, european_price(o).price);
    EXPECT_EQ(v.value.vega, european_price(o).vega);
  }
  const plain_option put = option(option_type::put, 100, 110, -0.01, 0.02, .3, 2);
  EXPECT_EQ(american_price(put).value.price, european_price(put).price);
}

TEST(american, worth_no_less_than_european_and_exercise) {
  for (const option_type type : {option_type::call, option_type::put})
    for (const double spot : {40.0, 80.0, 95.0, 100.0, 120.0, 250.0})
      for (const auto& [rate, dividend] : {std::pair{.05, .02}, {.02, .08}, {.1, .0}, {.001, .05}, {.03, -.01}})
        for (const double expiry : {0.01, 0.5, 5.0}) {
          const plain_option o = option(type, spot, 100, rate, dividend, .25, expiry);
          const double price = american_core(o, finest_boundary()).price;
          if (early_exercise_of(o) == early_exercise::two_boundaries) continue;
          EXPECT_GE(price, european_price(o).price - 2e-7);
          EXPECT_GE(price, sign_of(type) * (spot - 100) - 2e-7);
          // Put-call symmetry.
          const plain_option mirror = option(type == option_type::call ? option_type::put : option_type::call,
                                             100, spot, dividend, rate, .25, expiry);
          EXPECT_NEAR(american_core(mirror, finest_boundary()).price, price, 1e-10);
        }
}

// A put without expiry: (K - B) (S / B)^e with B = K e / (e - 1).
double perpetual_put(const plain_option& o) {
  const long double variance = static_cast<long double>(o.volatility) * o.volatility;
  const long double half = 0.5L - (static_cast<long double>(o.rate) - o.dividend) / variance;
  const long double e = half - std::sqrt(half * half + 2 * o.rate / variance);
  const long double boundary = o.strike * e / (e - 1);
  if (o.spot <= boundary) return o.strike - o.spot;
  return static_cast<double>((o.strike - boundary) * std::pow(o.spot / boundary, e));
}

// Drift of many deviations, in either direction, which one polynomial for the boundary does not resolve. Seven
// deviations of the time to the perpetual boundary later the rest is worth 1e-12 of the price.
TEST(american, long_options_are_nearly_perpetual) {
  for (const auto& [rate, dividend, volatility] : {std::tuple{.084, .0, .08},
                                                   {.2, .0, .1},
                                                   {.06, .05, .2},
                                                   {.03, .13, .15},
                                                   {.1, -.03, .4},
                                                   {.0841, .01, .02}})
    for (const double spot : {98.0, 103.0, 140.0}) {
      plain_option o = option(option_type::put, spot, 100, rate, dividend, volatility, 1);
      const double drift = rate - dividend - volatility * volatility / 2;
      const double speed = std::sqrt(drift * drift + 2 * rate * volatility * volatility);
      const double root =
          (7 * volatility + std::sqrt(49 * volatility * volatility + 4 * speed * 0.6)) / (2 * speed);
      o.expiry = root * root;
      const american_valuation v = american_price(o, 1e-7);
      EXPECT_NEAR(v.value.price, perpetual_put(o), 3e-7) << rate << ' ' << dividend << ' ' << spot;
      EXPECT_LE(std::abs(v.value.price - perpetual_put(o)), v.error_estimate + 1e-9);
      // Beyond nine deviations the formula is used, put and call.
      o.expiry *= 4;
      const valuation far = american_price(o).value;
      EXPECT_NEAR(far.price, perpetual_put(o), 1e-12 * spot);
      const auto moved = [&](double plain_option::*member, double step) {
        plain_option up = o, down = o;
        up.*member += step;
        down.*member -= step;
        return (perpetual_put(up) - perpetual_put(down)) / (2 * step);
      };
      const double near = 1e-5;
      EXPECT_NEAR(far.delta, moved(&plain_option::spot, near), 1e-6);
      EXPECT_NEAR(far.vega, moved(&plain_option::volatility, near * volatility),
                  1e-5 * std::abs(far.vega) + 1e-5);
      EXPECT_NEAR(far.rho, moved(&plain_option::rate, near * rate), 1e-5 * std::abs(far.rho) + 1e-5);
      const double h = 1e-4 * spot;
      plain_option up = o, down = o;
      up.spot += h;
      down.spot -= h;
      if (far.gamma > 0) {
        EXPECT_NEAR(far.gamma, (perpetual_put(up) - 2 * perpetual_put(o) + perpetual_put(down)) / (h * h),
                    2e-3 * far.gamma + 1e-7);
      }
      const plain_option call = option(option_type::call, 100, spot, dividend, rate, volatility, o.expiry);
      const valuation mirror = american_price(call).value;
      EXPECT_NEAR(mirror.price, far.price, 1e-12 * spot);
      EXPECT_NEAR(mirror.rho, moved(&plain_option::dividend, 1e-7), 1e-4 * std::abs(mirror.rho) + 1e-4);
    }
}

TEST(american, next_to_no_volatility) {
  for (const double volatility : {1e-3, 1e-4, 1e-6, 1e-9}) {
    const plain_option o = option(option_type::put, 100, 100, .05, 0, volatility, 1);
    const american_valuation v = american_price(o);
    EXPECT_NEAR(v.value.price, perpetual_put(o), 1e-12) << volatility;
    EXPECT_FALSE(std::signbit(v.value.price));
    EXPECT_LT(v.error_estimate, 1e-9);
  }
}

// Without interest a put is exercised early where the yield is negative. By two trees, extrapolated.
TEST(american, no_interest_and_a_negative_yield) {
  const auto tree = [](const plain_option& o, int steps) {
    const double dt = o.expiry / steps, up = std::exp(o.volatility * std::sqrt(dt));
    const double discount = std::exp(-o.rate * dt);
    const double p = (std::exp((o.rate - o.dividend) * dt) - 1 / up) / (up - 1 / up);
    std::vector<double> v(static_cast<std::size_t>(steps));
    const auto paid = [&](int level, int k) {
      return std::max(sign_of(o.type) * (o.spot * std::pow(up, 2 * k - level) - o.strike), 0.0);
    };
    plain_option last = o;  // the formula for the last step smooths the payoff
    last.expiry = dt;
    for (int level = steps - 1; level >= 0; --level)
      for (int k = 0; k <= level; ++k) {
        const auto at = static_cast<std::size_t>(k);
        last.spot = o.spot * std::pow(up, 2 * k - level);
        const double held =
            level == steps - 1 ? european_price(last).price : discount * (p * v[at + 1] + (1 - p) * v[at]);
        v[at] = std::max(held, paid(level, k));
      }
    return v[0];
  };
  for (const auto& [type, rate, dividend] :
       {std::tuple{option_type::put, 0.0, -0.06}, {option_type::call, -0.04, 0.0}}) {
    const plain_option o = option(type, 100, 104, rate, dividend, .3, 1.5);
    ASSERT_EQ(early_exercise_of(o), early_exercise::one_boundary);
    const american_valuation v = american_price(o);
    EXPECT_NEAR(v.value.price, 2 * tree(o, 1600) - tree(o, 800), 3e-4);
    EXPECT_GT(v.value.price, european_price(o).price + 0.1);
    EXPECT_LT(v.error_estimate, 1e-6);
    EXPECT_TRUE(std::isfinite(v.value.rho));
  }
}

TEST(american, exercised_now_and_the_boundary) {
  const plain_option deep = option(option_type::put, 50, 100, .05, 0, .2, 1);
  const valuation v = american_price(deep).value;
  EXPECT_EQ(v.price, 50);
  EXPECT_EQ(v.delta, -1);
  EXPECT_EQ(v.gamma, 0);
  const double boundary = american_boundary(deep, 1).value();
  EXPECT_GT(boundary, 75);
  EXPECT_LT(boundary, 85);
  EXPECT_NEAR(american_boundary(deep, 0).value(), 100, 1e-6);
  EXPECT_FALSE(american_boundary(option(option_type::call, 100, 100, .05, 0, .2, 1), 1));
  EXPECT_NEAR(american_boundary(option(option_type::call, 100, 100, .05, .1, .2, 1), 0).value(), 100, 1e-6);
  EXPECT_NEAR(american_boundary(option(option_type::call, 100, 100, .1, .05, .2, 1), 0).value(), 200, 1e-6);
}

TEST(american, without_randomness) {
  EXPECT_EQ(american_price(option(option_type::put, 90, 100, .05, 0, .2, 0)).value.price, 10);
  EXPECT_EQ(american_price(option(option_type::put, 90, 100, .05, 0, 0, 1)).value.price, 10);
  EXPECT_EQ(american_price(option(option_type::put, 0, 100, .05, 0, .2, 1)).value.price, 100);
  // A call that grows: 100 - 100 exp(-0.05) at the end.
  EXPECT_NEAR(american_price(option(option_type::call, 100, 100, .05, 0, 0, 1)).value.price, 4.877057549928599,
              1e-12);
  // Best exercised when exp(0.08 t) = 100 * 0.1 / (95 * 0.02).
  const plain_option between = option(option_type::call, 100, 95, .1, .02, 0, 40);
  const double t = std::log(9.5 / 2) / .08;
  EXPECT_NEAR(american_price(between).value.price, 100 * std::exp(-.02 * t) - 95 * std::exp(-.1 * t), 1e-11);
}

TEST(american, two_boundaries_are_left_to_others) {
  EXPECT_THROW(american_price(option(option_type::put, 100, 100, -.01, -.04, .2, 1)), value_error);
}

}  // namespace
}  // namespace vouch
