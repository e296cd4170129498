#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <limits>
#include <sstream>
#include <string>
#include <vector>

#include <vouch/price/closed_form.hpp>

#include "campaign.hpp"
#include "data.hpp"
#include "oracle.hpp"

namespace vouch {
namespace {

using testing::quadrature_with_greeks;

plain_option reference() {
  plain_option o;
  o.spot = o.strike = 100;
  o.rate = 0.05;
  o.volatility = 0.2;
  o.expiry = 1;
  return o;
}

void expect_close(const valuation& got, const valuation& exact, double scale, const std::string& what) {
  EXPECT_NEAR(got.price, exact.price, 1e-12 * scale) << what;
  EXPECT_NEAR(got.delta, exact.delta, 1e-10 * scale) << what;
  EXPECT_NEAR(got.gamma, exact.gamma, 1e-8 * scale) << what;
  EXPECT_NEAR(got.theta, exact.theta, 2e-9 * scale) << what;
  EXPECT_NEAR(got.vega, exact.vega, 2e-8 * scale) << what;
  EXPECT_NEAR(got.rho, exact.rho, 1e-9 * scale) << what;
}

// Contracts in and out of the money, with positive, zero and negative rates.
std::vector<plain_option> contracts() {
  std::vector<plain_option> all;
  for (const option_type type : {option_type::call, option_type::put})
    for (const double strike : {80.0, 100.0, 117.0})
      for (const auto& [rate, dividend] : {std::pair{0.05, 0.02}, {0.0, 0.0}, {-0.03, 0.01}, {0.1, 0.12}}) {
        plain_option o = reference();
        o.type = type;
        o.strike = strike;
        o.rate = rate;
        o.dividend = dividend;
        o.volatility = strike == 80 ? 0.35 : 0.2;
        o.expiry = strike == 117 ? 2.5 : 0.75;
        all.push_back(o);
      }
  return all;
}

TEST(closed_form, known_values) {
  const valuation v = european_price(reference());
  EXPECT_NEAR(v.price, 10.4505835722, 5e-11);
  EXPECT_NEAR(v.delta, 0.6368306512, 5e-11);
  EXPECT_NEAR(v.gamma, 0.0187620173, 5e-11);
  EXPECT_NEAR(v.vega, 37.52403469, 5e-9);
}

TEST(closed_form, european_and_digital_agree_with_quadrature) {
  for (plain_option o : contracts())
    for (const payoff_kind payoff :
         {payoff_kind::vanilla, payoff_kind::cash_digital, payoff_kind::asset_digital}) {
      o.payoff = payoff;
      o.cash = 3;
      expect_close(closed_form(o), quadrature_with_greeks(o), 100, "strike " + std::to_string(o.strike));
    }
}

// Quadratures are dear: one contract in 13, which meets every kind with every other, or all in a campaign.
TEST(closed_form, barriers_agree_with_quadrature) {
  const int every = testing::campaign(100) == 100 ? 1 : 13;
  int count = 0;
  for (plain_option o : contracts())
    for (const double level : {78.0, 95.0, 108.0, 130.0})
      for (const bool in : {false, true})
        for (const double rebate : {0.0, 4.0})
          for (const payoff_kind payoff :
               {payoff_kind::vanilla, payoff_kind::cash_digital, payoff_kind::asset_digital}) {
            const bool up = level > o.spot;
            if (payoff != payoff_kind::vanilla && (rebate > 0 || (o.strike == 100) == (level < 96))) continue;
            if (count++ % every != 0) continue;
            o.payoff = payoff;
            o.cash = 7;
            o.barrier = up ? (in ? barrier_kind::up_and_in : barrier_kind::up_and_out)
                           : (in ? barrier_kind::down_and_in : barrier_kind::down_and_out);
            o.barrier_level = level;
            o.rebate = rebate;
            std::ostringstream what;
            what << static_cast<int>(o.type) << " K " << o.strike << " H " << level << " in " << in
                 << " rebate " << rebate << " r " << o.rate << " payoff " << static_cast<int>(payoff);
            expect_close(closed_form(o), quadrature_with_greeks(o), 1000, what.str());
          }
}

TEST(closed_form, in_and_out_make_the_plain_option) {
  for (plain_option o : contracts())
    for (const payoff_kind payoff :
         {payoff_kind::vanilla, payoff_kind::cash_digital, payoff_kind::asset_digital}) {
      o.payoff = payoff;
      o.barrier = barrier_kind::none;
      const valuation plain = closed_form(o);
      o.barrier_level = 90;
      o.barrier = barrier_kind::down_and_in;
      const valuation in = closed_form(o);
      o.barrier = barrier_kind::down_and_out;
      const valuation out = closed_form(o);
      EXPECT_NEAR(in.price + out.price, plain.price, 1e-12);
      EXPECT_NEAR(in.gamma + out.gamma, plain.gamma, 1e-12);
    }
}

TEST(closed_form, published_european_prices) {
  const std::string path = testing::data_file("finance/european_haug.csv");
  VOUCH_NEEDS_DATA(path);
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  int count = 0;
  while (std::getline(file, line)) {
    std::istringstream cells(line);
    std::string type, cell;
    std::getline(cells, type, ',');
    double number[8];
    for (double& n : number) {
      std::getline(cells, cell, ',');
      n = std::stod(cell);
    }
    plain_option o;
    o.type = type == "call" ? option_type::call : option_type::put;
    o.strike = number[0];
    o.spot = number[1];
    o.dividend = number[2];
    o.rate = number[3];
    o.expiry = number[4];
    o.volatility = number[5];
    EXPECT_NEAR(european_price(o).price, number[6], number[7]) << line;
    ++count;
  }
  EXPECT_GT(count, 40);
}

TEST(closed_form, limits_are_exact) {
  plain_option o = reference();
  o.expiry = 0;
  o.spot = 120;
  valuation v = european_price(o);
  EXPECT_EQ(v.price, 20);
  EXPECT_EQ(v.delta, 1);
  EXPECT_EQ(v.gamma, 0);
  EXPECT_EQ(v.vega, 0);
  o.type = option_type::put;
  EXPECT_EQ(european_price(o).price, 0);

  o = reference();
  o.volatility = 0;  // the forward is 100 exp(0.05)
  v = european_price(o);
  EXPECT_NEAR(v.price, 100 - 100 * std::exp(-0.05), 1e-13);
  EXPECT_EQ(v.delta, 1);
  EXPECT_NEAR(v.rho, 100 * std::exp(-0.05), 1e-12);
  o.rate = 0;  // on the edge
  v = european_price(o);
  EXPECT_EQ(v.price, 0);
  EXPECT_EQ(v.delta, 0.5);
  EXPECT_EQ(v.gamma, std::numeric_limits<double>::infinity());
  EXPECT_NEAR(v.vega, 100 * 0.3989422804014327, 1e-12);

  o = reference();
  o.spot = 0;
  EXPECT_EQ(european_price(o).price, 0);
  o.type = option_type::put;
  EXPECT_NEAR(european_price(o).price, 100 * std::exp(-0.05), 1e-13);
  EXPECT_EQ(european_price(o).delta, -1);
  o = reference();
  o.strike = 0;
  EXPECT_EQ(european_price(o).price, 100);
  EXPECT_EQ(european_price(o).delta, 1);

  o = reference();
  o.payoff = payoff_kind::cash_digital;
  o.volatility = 0;
  EXPECT_NEAR(closed_form(o).price, std::exp(-0.05), 1e-15);
  o.expiry = 0;
  o.spot = 99;
  EXPECT_EQ(closed_form(o).price, 0);
}

// exp(800) is no double, but nothing of it is ever exchanged.
TEST(closed_form, what_is_never_exercised_is_worth_nothing_at_any_rate) {
  plain_option o;
  o.spot = o.strike = 100;
  o.volatility = 0.2;
  o.expiry = 1;
  const auto expect_nothing = [&] {
    const valuation v = european_price(o);
    for (const double number : {v.price, v.delta, v.gamma, v.theta, v.vega, v.rho}) EXPECT_EQ(number, 0);
  };
  o.type = option_type::call;
  o.rate = -800;
  expect_nothing();
  o.type = option_type::put;
  o.rate = 0;
  o.dividend = -800;
  expect_nothing();
}

TEST(closed_form, barriers_that_are_hit_or_certain) {
  plain_option o = reference();
  o.barrier = barrier_kind::up_and_out;
  o.barrier_level = 100;
  o.rebate = 2;
  EXPECT_EQ(closed_form(o).price, 2);
  o.barrier = barrier_kind::up_and_in;
  EXPECT_EQ(closed_form(o).price, european_price(o).price);

  plain_option digital = o;  // it has begun
  digital.payoff = payoff_kind::cash_digital;
  digital.cash = 5;
  EXPECT_EQ(closed_form(digital).price, digital_price(digital).price);

  o.volatility = 0;  // the underlying grows to 105.13 and passes 104 when log(1.04) / 0.05 years have gone
  o.barrier_level = 104;
  EXPECT_NEAR(closed_form(o).price, 100 - 100 * std::exp(-0.05), 1e-13);
  o.barrier = barrier_kind::up_and_out;
  EXPECT_NEAR(closed_form(o).price, 2 / 1.04, 1e-14);
  o.barrier_level = 106;
  EXPECT_NEAR(closed_form(o).price, 100 - 100 * std::exp(-0.05), 1e-13);
  o.payoff = payoff_kind::asset_digital;
  EXPECT_NEAR(closed_form(o).price, 100, 1e-13);
}

// At rates so negative a rebate has no formula without complex numbers: by those, in 60 digits.
TEST(closed_form, a_rebate_near_the_spot_at_negative_rates) {
  plain_option o = reference();
  o.rate = -0.3;
  o.dividend = -0.8;
  o.volatility = 1.3;
  o.expiry = 0.003;
  o.barrier = barrier_kind::down_and_out;
  o.barrier_level = 99.8;
  o.rebate = 3;
  expect_close(closed_form(o),
               {3.1365820732385623, 0.68259966863615784, -0.0025836909292707925, -13.238769701441266,
                0.052866384133807317, 0.0094217223738784651},
               1, "");
}

// So small that powers of (H/S) alone leave the range of numbers.
TEST(closed_form, barriers_at_small_volatility) {
  plain_option o = reference();
  o.rate = 0.1;
  o.barrier = barrier_kind::up_and_out;
  o.barrier_level = 120;
  o.rebate = 2;
  for (const double volatility : {1e-2, 1e-3, 1e-4, 1e-6}) {
    o.volatility = volatility;
    EXPECT_NEAR(closed_form(o).price, 100 - 100 * std::exp(-0.1), 1e-10) << volatility;
    EXPECT_NEAR(closed_form(o).delta, 1, 1e-9) << volatility;
  }
}

}  // namespace
}  // namespace vouch
