// Prices and their enclosures have the same bits in every floating-point environment.
#include <gtest/gtest.h>

#include <array>
#include <cstring>

#include <vouch/core/config.hpp>
#include <vouch/price/american.hpp>
#include <vouch/price/closed_form.hpp>
#include <vouch/price/closed_form_enclosure.hpp>
#include <vouch/price/price.hpp>

#include "hostile.hpp"

namespace vouch {
namespace {

template <class Work>
void expect_same_everywhere(Work work) {
  const auto usual = work();
  for (const testing::hostile_environment& how : testing::hostile_environments()) {
    const auto there = testing::in(how, work);
    EXPECT_EQ(std::memcmp(&there, &usual, sizeof usual), 0) << how.name;
  }
}

TEST(environment, enclosed_formula) {
  if (!built_with_mpfr) GTEST_SKIP() << "no MPFR";
  for (const double strike : {100.0, 500.0, 3000.0}) {
    plain_option o;
    o.spot = 100;
    o.strike = strike;
    o.rate = 0.03;
    o.volatility = 0.2;
    o.expiry = strike < 1000 ? 1 : 0.1;  // a price far below the normal numbers
    expect_same_everywhere([&] { return enclose_european_price(o).price; });
  }
}

TEST(environment, formulas_that_headers_define) {
  plain_option o;
  o.spot = 100;
  o.strike = 95;
  o.rate = 0.03;
  o.volatility = 0.2;
  o.expiry = 0.7;
  expect_same_everywhere([o] { return closed_form(o); });
  expect_same_everywhere([o]() mutable {
    o.payoff = payoff_kind::cash_digital;
    return closed_form(o);
  });
  expect_same_everywhere([o]() mutable {
    o.barrier = barrier_kind::up_and_out;
    o.barrier_level = 130;
    return closed_form(o);
  });
  expect_same_everywhere([o]() mutable {
    o.volatility = 0;
    return deterministic_american_price(o);
  });
}

// At the barrier the formula is a difference of equal terms.
TEST(barrier_price, is_never_negative) {
  plain_option o;
  o.type = option_type::put;
  o.spot = o.strike = 100;
  o.expiry = 0.0027397260273972603;
  o.volatility = 0.2;
  o.rate = 0.05;
  o.dividend = -0.02134506234924384;
  o.barrier = barrier_kind::down_and_out;
  o.barrier_level = 99.99989999995;
  const double price = closed_form(o).price;
  EXPECT_GE(price, 0);
  EXPECT_LT(price, 1e-12);
}

TEST(environment, prices) {
  for (const exercise_style style : {exercise_style::european, exercise_style::american})
    for (const bool grid : {false, true}) {
      contract c;
      c.plain.type = option_type::put;
      c.plain.spot = 100;
      c.plain.strike = 110;
      c.plain.rate = 0.05;
      c.plain.volatility = 0.3;
      c.plain.expiry = 0.5;
      c.exercise = style;
      expect_same_everywhere([&] {
        pricing_options options;
        options.force_finite_difference = grid;
        options.finite_difference.tolerance = 1e-2;
        const pricing p = price(c, options);
        return std::array{p.value.price, p.value.delta, p.error_estimate};
      });
    }
}

}  // namespace
}  // namespace vouch
