
#include <cmath>
#include <limits>
#include <vector>

#include <gtest/gtest.h>
#include <vouch/core/error.hpp>
#include <vouch/core/random.hpp>
#include <vouch/price/batch.hpp>
#include <vouch/price/closed_form.hpp>

namespace vouch {
namespace {

struct table {
  explicit table(std::int64_t options) : count(options) {
    for (std::int64_t i = 0; i < count; ++i) {
      const auto u = [&](std::uint64_t stream) { return random_unit(stream, static_cast<std::uint64_t>(i)); };
      type.push_back(u(1) < 0.5 ? option_type::call : option_type::put);
      spot.push_back(100 * std::exp(u(2) - 0.5));
      strike.push_back(100);
      rate.push_back(0.2 * u(3) - 0.05);
      dividend.push_back(0.2 * u(4) - 0.05);
      volatility.push_back(0.05 + u(5));
      expiry.push_back(0.01 + 3 * u(6));
    }
    for (std::vector<double>& column : results) column.resize(spot.size());
  }
  view<const double> whole(const std::vector<double>& column) const { return {column.data(), count}; }
  european_columns options() const {
    return {{type.data(), count}, whole(spot),  {strike.data(), count, 0}, whole(rate), whole(dividend),
            whole(volatility),    whole(expiry)};
  }
  valuation_columns outputs() {
    return {results[0], results[1], results[2], results[3], results[4], results[5], results[6]};
  }
  plain_option option(std::size_t i) const {
    plain_option o;
    o.type = type[i];
    o.spot = spot[i];
    o.strike = strike[0];
    o.rate = rate[i];
    o.dividend = dividend[i];
    o.volatility = volatility[i];
    o.expiry = expiry[i];
    return o;
  }

  std::int64_t count;
  std::vector<option_type> type;
  std::vector<double> spot, strike, rate, dividend, volatility, expiry, results[7];
};

TEST(european_columns, are_those_of_the_formula) {
  table t(10003);  // the last lanes are not full
  price_european(device::cpu(2), t.options(), t.outputs());
  for (std::size_t i = 0; i < t.spot.size(); ++i) {
    const plain_option o = t.option(i);
    const valuation v = european_price(o);
    const double unit = 1e-13 * (o.spot + o.strike) / (o.volatility * std::sqrt(o.expiry));
    EXPECT_NEAR(t.results[0][i], v.price, t.results[6][i]) << i;
    EXPECT_NEAR(t.results[1][i], v.delta, unit) << i;
    EXPECT_NEAR(t.results[2][i], v.gamma, unit) << i;
    EXPECT_NEAR(t.results[3][i], v.theta, 10 * unit) << i;
    EXPECT_NEAR(t.results[4][i], v.vega, unit) << i;
    EXPECT_NEAR(t.results[5][i], v.rho, unit) << i;
    const double error = batch_error({o, exercise_style::european}, 1);
    EXPECT_NEAR(t.results[6][i], error, 1e-12 * error) << i;
  }
}

TEST(european_columns, odd_options_are_priced_alone_or_refused) {
  table t(16);
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  constexpr double infinite = std::numeric_limits<double>::infinity();
  t.volatility[1] = 1e-9;
  t.spot[2] = 1e-3;  // far out of the money
  t.expiry[3] = 1e7;
  t.rate[4] = nan;
  t.spot[5] = 0;
  t.volatility[6] = -0.1;
  t.expiry[7] = infinite;
  t.dividend[8] = -infinite;
  t.spot[9] = nan;
  price_european(device::cpu(1), t.options(), t.outputs());
  for (std::size_t i = 0; i < 16; ++i) {
    const valuation v = european_price(t.option(i));
    if (i >= 4 && i <= 9) {
      for (const std::vector<double>& column : t.results) EXPECT_TRUE(std::isnan(column[i])) << i;
    } else if (i >= 1 && i <= 3) {
      EXPECT_EQ(t.results[0][i], v.price) << i;
      EXPECT_EQ(t.results[4][i], v.vega) << i;
    } else {
      EXPECT_NEAR(t.results[0][i], v.price, 1e-12) << i;
    }
  }
}

TEST(european_columns, have_the_same_bits_for_any_threads_and_neighbours) {
  table one(9001), other(9001);
  price_european(device::cpu(1), one.options(), one.outputs());
  price_european(device::cpu(2), other.options(), other.outputs());
  for (int k = 0; k < 7; ++k) EXPECT_EQ(one.results[k], other.results[k]);
  table few(5);
  price_european(device::cpu(1), few.options(), few.outputs());
  for (std::size_t i = 0; i < 5; ++i) EXPECT_EQ(few.results[0][i], one.results[0][i]);
  table none(0);
  price_european(device::cpu(1), none.options(), none.outputs());
}

TEST(european_columns, of_different_lengths_are_refused) {
  table t(10);
  t.results[3].resize(9);
  EXPECT_THROW(price_european(device::cpu(1), t.options(), t.outputs()), shape_error);
  table u(10);
  european_columns options = u.options();
  options.rate = {u.rate.data(), 9};
  EXPECT_THROW(price_european(device::cpu(1), options, u.outputs()), shape_error);
}

}  // namespace
}  // namespace vouch
