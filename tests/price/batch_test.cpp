#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <span>
#include <vector>

#include <vouch/core/error.hpp>
#include <vouch/core/random.hpp>
#include <vouch/price/batch.hpp>
#include <vouch/price/finite_difference.hpp>

#include "groups.hpp"

namespace vouch {
namespace {

std::vector<batch_option> random_options(std::int64_t count) {
  std::vector<batch_option> all;
  for (std::int64_t i = 0; i < count; ++i) {
    const auto u = [&](std::uint64_t stream) { return random_unit(stream, static_cast<std::uint64_t>(i)); };
    batch_option b;
    b.option.type = u(0) < 0.5 ? option_type::call : option_type::put;
    b.option.spot = 60 + 80 * u(1);
    b.option.strike = 80 + 40 * u(2);
    b.option.rate = 0.1 * u(3);
    b.option.dividend = 0.1 * u(4);
    b.option.volatility = 0.05 + 0.7 * u(5);
    b.option.expiry = 0.01 + 5 * u(6) * u(6);
    if (u(7) < 0.5) b.exercise = exercise_style::american;
    if (u(7) > 0.9) b.option.payoff = payoff_kind::cash_digital;
    if (u(7) > 0.8 && u(7) < 0.9) {
      b.option.barrier = barrier_kind::up_and_out;
      b.option.barrier_level = b.option.spot * 1.3;
      b.option.rebate = 2;
    }
    all.push_back(b);
  }
  return all;
}

TEST(batch, every_option_as_alone) {
  const std::vector<batch_option> options = random_options(600);
  std::vector<double> first;
  for (const device& dev : testing::devices()) {
    std::vector<valuation> values(options.size());
    price_batch(dev, options, true, values);
    int lost = 0;
    for (std::size_t i = 0; i < options.size(); ++i) {
      ASSERT_TRUE(fits_batch(options[i]));
      const bool american = options[i].exercise == exercise_style::american;
      const valuation exact =
          american ? american_core(options[i].option, finest_boundary()) : closed_form(options[i].option);
      if (std::isnan(values[i].price) || std::isnan(exact.price)) {
        ++lost;
        continue;
      }
      EXPECT_NEAR(values[i].price, exact.price, american ? 1e-4 : 1e-10) << i;
      EXPECT_NEAR(values[i].delta, exact.delta, american ? 1e-4 : 1e-10) << i;
      if (dev == device::cpu(1)) first.push_back(values[i].price);
    }
    EXPECT_LE(lost, 3);
  }
}

void expect_bits_of(const device& one, const device_group& devices, std::span<const batch_option> options) {
  for (const bool greeks : {false, true}) {
    std::vector<valuation> alone(options.size()), together(options.size());
    price_batch(one, options, greeks, alone, 1e-5);
    price_batch(devices, options, greeks, together, 1e-5);
    EXPECT_EQ(std::memcmp(alone.data(), together.data(), alone.size() * sizeof(valuation)), 0)
        << devices.size() << " of " << one.kind() << ", " << options.size();
  }
}

TEST(batch, a_group_has_the_bits_of_one_device) {
  std::vector<batch_option> options = random_options(2100);  // three blocks
  for (std::size_t i = 0; i < options.size(); ++i)           // but few that take long
    if (i % 256 != 0) options[i].exercise = exercise_style::european;
  for (const device& one : testing::single_devices())
    for (const device_group& devices : testing::groups_of(one))
      for (const std::size_t count : {0, 1, 1024, 1025, 2100})
        expect_bits_of(one, devices, std::span(options).first(count));
}

TEST(batch, two_gpus_have_the_bits_of_one) {
  VOUCH_NEEDS_TWO_GPUS();
  const std::vector<batch_option> options = random_options(300'000);
  expect_bits_of(device::cuda(1), device_group::cuda({0, 1}), options);
}

TEST(batch, a_group_refuses_values_that_do_not_fit) {
  const std::vector<batch_option> options = random_options(3);
  std::vector<valuation> values(2);
  EXPECT_THROW(price_batch(device_group(device::cpu(1)), options, false, values), shape_error);
}

// The formula in long double.
valuation in_long_double(const plain_option& o) {
  const long double S = o.spot, K = o.strike, r = o.rate, q = o.dividend, v = o.volatility, T = o.expiry;
  const long double sign = o.type == option_type::call ? 1 : -1, deviation = v * sqrtl(T);
  const long double d1 = (logl(S / K) + (r - q) * T) / deviation + deviation / 2, d2 = d1 - deviation;
  const auto N = [](long double x) { return erfcl(-x / sqrtl(2)) / 2; };
  const long double underlying = S * expl(-q * T), bond = K * expl(-r * T),
                    density = underlying * expl(-d1 * d1 / 2) / sqrtl(2 * acosl(-1));
  const long double first = underlying * N(sign * d1), second = bond * N(sign * d2);
  return {static_cast<double>(sign * (first - second)),
          static_cast<double>(sign * first / S),
          static_cast<double>(density / (S * S * deviation)),
          static_cast<double>(sign * (q * first - r * second) - density * v / (2 * sqrtl(T))),
          static_cast<double>(density * sqrtl(T)),
          static_cast<double>(sign * T * second)};
}

TEST(batch, european_options_are_as_exact_in_lanes) {
  std::vector<batch_option> options;
  for (std::uint64_t i = 0; i < 20001; ++i) {
    const auto u = [&](std::uint64_t stream) { return random_unit(stream + 50, i); };
    batch_option b;
    b.option.type = u(0) < 0.5 ? option_type::call : option_type::put;
    const double scale = std::pow(10.0, 40 * u(1) - 20);
    b.option.strike = scale * (0.5 + u(2));
    b.option.volatility = 0.01 + u(3);
    b.option.expiry = 0.001 + 10 * u(4) * u(4);
    b.option.spot =
        b.option.strike * std::exp(8 * (u(5) - 0.5) * b.option.volatility * std::sqrt(b.option.expiry));
    b.option.rate = 0.3 * u(6) - 0.1;
    b.option.dividend = 0.3 * u(7) - 0.1;
    options.push_back(b);
  }
  std::vector<valuation> values(options.size());
  price_batch(device::cpu(2), options, true, values);
  double worst[6] = {};
  for (std::size_t i = 0; i < options.size(); ++i) {
    const plain_option& o = options[i].option;
    const valuation exact = in_long_double(o), &found = values[i];
    const double whole = std::max(o.spot * std::exp(-o.dividend * o.expiry),
                                  o.strike * std::exp(-o.rate * o.expiry)),
                 peak = exact.vega;
    // Where rate and logarithm are added, d1 is off by so many units of rounding.
    const double d1_off =
        1 + (1 + std::abs(std::log(o.spot / o.strike)) + std::abs(o.rate - o.dividend) * o.expiry) /
                (o.volatility * std::sqrt(o.expiry));
    const double u = 0x1p-53;
    const auto met = [&](int which, double a, double b, double unit) {
      worst[which] = std::max(worst[which], std::abs(a - b) / (u * unit));
    };
    met(0, found.price, exact.price, whole);
    met(1, found.delta, exact.delta, whole / o.spot * d1_off);
    met(2, found.gamma, exact.gamma, exact.gamma * 20 * d1_off + 1e-300);
    met(3, found.theta, exact.theta,
        (std::abs(o.rate) + std::abs(o.dividend)) * whole * d1_off +
            exact.vega * o.volatility / (2 * o.expiry) * 20 * d1_off);
    met(4, found.vega, exact.vega, peak * 20 * d1_off + 1e-300);
    met(5, found.rho, exact.rho, o.expiry * whole * d1_off);
  }
  for (int which = 0; which < 6; ++which) EXPECT_LT(worst[which], 16) << which;
}

TEST(batch, lanes_do_not_depend_on_their_neighbours) {
  std::vector<batch_option> options(13);
  const double zero = 0, huge = 1e300, tiny = 1e-300;
  for (std::size_t i = 0; i < options.size(); ++i) {
    plain_option& o = options[i].option;
    o = {.type = i % 2 ? option_type::put : option_type::call,
         .spot = 100,
         .strike = 90.0 + static_cast<double>(i),
         .rate = 0.03,
         .dividend = 0.01,
         .volatility = 0.2,
         .expiry = 1};
    double* const fields[] = {&o.spot, &o.strike, &o.volatility, &o.expiry};
    if (i < 4) *fields[i] = zero;
    if (i == 4) o.spot = huge;
    if (i == 5) o.strike = tiny;
    if (i == 6) o.spot = 1e-4;  // far out of the money
  }
  std::vector<valuation> values(options.size());
  price_batch(device::cpu(1), options, true, values);
  for (std::size_t i = 0; i < options.size(); ++i) {
    valuation alone;
    price_batch(device::cpu(1), {&options[i], 1}, true, {&alone, 1});
    EXPECT_EQ(values[i].price, alone.price) << i;
    EXPECT_EQ(values[i].vega, alone.vega) << i;
    if (i < 7) {
      EXPECT_EQ(values[i].price, european_price(options[i].option).price) << i;
    }
  }
}

// Finite differences know nothing of the boundary method.
TEST(batch, american_options_agree_with_finite_differences) {
  int count = 0;
  for (const batch_option& b : random_options(120)) {
    if (b.exercise != exercise_style::american) continue;
    contract c;
    c.plain = b.option;
    c.exercise = b.exercise;
    fd_options o;
    o.tolerance = 3e-5;
    const double price = american_core(b.option, fast_boundary()).price;
    if (std::isnan(price)) continue;
    EXPECT_NEAR(price, finite_difference_price(c, o).value.price, 1.2e-4) << count;
    ++count;
  }
  EXPECT_GT(count, 40);
}

// Where drift, rate or time are great: what is priced at all is right, against finite differences.
batch_option american(option_type type, double spot, double strike, double rate, double dividend,
                      double volatility, double expiry) {
  return {{.type = type,
           .spot = spot,
           .strike = strike,
           .rate = rate,
           .dividend = dividend,
           .volatility = volatility,
           .expiry = expiry},
          exercise_style::american};
}

valuation by_finite_differences(const batch_option& b, double tolerance) {
  contract c;
  c.plain = b.option;
  c.exercise = exercise_style::american;
  fd_options o;
  o.tolerance = tolerance;
  return finite_difference_price(c, o).value;
}

// Where the underlying drifts by more than 1.5 deviations the batch leaves them to american_price.
TEST(batch, hard_american_options) {
  constexpr auto put = option_type::put;
  const std::vector<batch_option> left{american(put, 98.4764, 100, 0.0500228, 0.0275944, 0.00546961, 8.10169),
                                       american(put, 88.6, 100, 0.147, 0.0407, 0.196, 14.4),
                                       american(put, 106, 100, 0.179, 0.128, 0.0993, 18.8),
                                       american(put, 101, 100, 0.168, 0, 0.171, 2.98)},
      taken{american(put, 93.7, 100, 0.197, 0.162, 1.01, 15), american(put, 101, 100, 0.168, 0, 0.271, 2.98)};
  for (const batch_option& b : left)
    EXPECT_NEAR(american_price(b.option, 1e-5, false).value.price, by_finite_differences(b, 5e-5).price, 1e-4);
  for (const device& dev : testing::devices()) {
    std::vector<valuation> values(left.size()), prices(taken.size());
    price_batch(dev, left, false, values);
    for (const valuation& v : values) EXPECT_TRUE(std::isnan(v.price));
    price_batch(dev, taken, false, prices);
    for (std::size_t i = 0; i < taken.size(); ++i)
      EXPECT_NEAR(prices[i].price, by_finite_differences(taken[i], 5e-5).price, 1e-4) << i;
  }
}

// Where exercise is near, all of what it is worth depends on the time until the underlying first falls there.
TEST(batch, american_options_near_their_boundary) {
  constexpr auto put = option_type::put, call = option_type::call;
  const std::vector<batch_option> options{american(put, 100, 101.59183, 0.16806, 0.00573, 0.0758865, 0.694387),
                                          american(call, 105.52125, 100, 0, 0.13748, 0.14111, 3.43763),
                                          american(put, 100, 104.32794, 0.15334, 0, 0.118195, 1.70389),
                                          american(put, 100, 161.99674, 0.13875004, 0, 0.46024588, 2.0026318),
                                          american(put, 100, 102.23591, 0.14369, 0, 0.0961571, 0.06957)};
  constexpr double tolerance = 1e-4;
  std::vector<valuation> exact;
  const auto expect_near = [&](const valuation& v, std::size_t i) {
    EXPECT_NEAR(v.price, exact[i].price, 2 * tolerance) << i;
    EXPECT_NEAR(v.gamma, exact[i].gamma, 1e-2 * exact[i].gamma) << i;
  };
  for (std::size_t i = 0; i < options.size(); ++i) {
    exact.push_back(by_finite_differences(options[i], tolerance));
    expect_near(american_price(options[i].option, tolerance, false).value, i);
  }
  for (const device& dev : testing::devices()) {
    std::vector<valuation> values(options.size());
    price_batch(dev, options, false, values, tolerance);
    int priced = 0;
    for (std::size_t i = 0; i < options.size(); ++i)
      if (!std::isnan(values[i].price)) {
        ++priced;
        expect_near(values[i], i);
      }
    EXPECT_EQ(priced, 2);
  }
}

// Greeks by differences where one of the prices would take the premium's integral in pieces and the other whole.
TEST(batch, greeks_where_the_rule_of_the_premium_changes) {
  batch_option b = american(option_type::put, 100, 100, 0.08, 0, 0.1, 1);
  const auto by_pieces = [&](double spot) {
    plain_option o = b.option;
    o.spot = spot;
    detail::premium_rule rule{};
    american_core(o, fast_boundary(), rule);
    return rule == detail::premium_rule::by_pieces;
  };
  double near = 95, far = 110;
  ASSERT_TRUE(by_pieces(near) && !by_pieces(far));
  while (far - near > 1e-12) {
    const double middle = 0.5 * (near + far);
    (by_pieces(middle) ? near : far) = middle;
  }
  b.option.spot = near;
  const valuation exact = american_price(b.option, 1e-9).value;
  for (const device& dev : testing::devices())
    for (const double aside : {-1e-6, -1e-7, -1e-8, 0.0, 1e-8, 1e-7, 1e-6}) {
      b.option.spot = near * (1 + aside);
      valuation v;
      price_batch(dev, {&b, 1}, true, {&v, 1});
      EXPECT_NEAR(v.rho, exact.rho, 1e-2 * std::abs(exact.rho)) << aside;
      EXPECT_NEAR(v.vega, exact.vega, 1e-2 * std::abs(exact.vega)) << aside;
    }
}

// The reference solves for the boundary panel by panel, by Newton's iteration.
TEST(batch, holds_its_tolerance) {
  std::vector<batch_option> options;
  for (const batch_option& b : random_options(400))
    if (b.exercise == exercise_style::american && options.size() < 60) options.push_back(b);
  std::vector<double> exact;
  for (const batch_option& b : options) exact.push_back(american_price(b.option, 1e-8, false).value.price);
  for (const device& dev : testing::devices())
    for (const double tolerance : {1e-4, 2e-5, 1e-5}) {
      std::vector<valuation> values(options.size());
      price_batch(dev, options, false, values, tolerance);
      int lost = 0;
      for (std::size_t i = 0; i < options.size(); ++i)
        if (std::isnan(values[i].price))
          ++lost;
        else
          EXPECT_NEAR(values[i].price, exact[i], tolerance) << i << " on " << dev.name();
      EXPECT_LE(lost, tolerance < 2e-5 ? 10 : 3) << tolerance;
      price_batch(dev, options, false, values, 1e-9);  // beyond all schemes, but for what is never exercised
      for (std::size_t i = 0; i < options.size(); ++i)
        EXPECT_EQ(std::isnan(values[i].price),
                  early_exercise_of(options[i].option) == early_exercise::one_boundary);
    }
}

// Rates and yields that are near to each other take more sweeps than others.
TEST(batch, gives_up_no_ordinary_option) {
  std::vector<batch_option> options;
  for (std::int64_t i = 0; i < 300; ++i) {
    const auto u = [&](std::uint64_t stream) { return random_unit(stream, static_cast<std::uint64_t>(i)); };
    batch_option b{{}, exercise_style::american};
    b.option.type = u(0) < 0.5 ? option_type::call : option_type::put;
    b.option.spot = 80 + 40 * u(1);
    b.option.strike = 100;
    b.option.dividend = 0.01 + 0.06 * u(2);
    b.option.rate = b.option.dividend + 0.004 * (u(3) - 0.5);
    b.option.volatility = 0.2 + 0.4 * u(4);
    b.option.expiry = 0.1 + 2 * u(5);
    options.push_back(b);
  }
  for (const device& dev : testing::devices()) {
    std::vector<valuation> values(options.size());
    price_batch(dev, options, true, values, 1e-4);
    for (const valuation& v : values) EXPECT_TRUE(std::isfinite(v.price + v.vega + v.rho));
  }
}

TEST(batch, lengths_are_checked) {
  std::vector<valuation> values(2);
  EXPECT_THROW(price_batch(device::cpu(1), random_options(3), false, values), shape_error);
  price_batch(device::cpu(1), {}, false, {});
}

}  // namespace
}  // namespace vouch
