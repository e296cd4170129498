// The exponential scheme by sine transform against the contour integral and the closed form.
#include <vouch/price/finite_difference/exponential.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include <vouch/core/config.hpp>
#include <vouch/price/closed_form.hpp>
#include <vouch/price/finite_difference.hpp>

#include "contracts.hpp"
#include "devices.hpp"

namespace vouch {
namespace {

using testing::call_with_yield;

std::vector<contract> products() {
  std::vector<contract> all = testing::european_products();
  all.resize(9, call_with_yield());
  all[5].plain.dividend = 0.08;  // more than the rate: boundary values that pass faster
  all[6].plain.rate = -0.03;
  all[7].plain.rate = 0.02;  // no drift of the logarithm
  all[7].plain.dividend = 0;
  all[8].plain.volatility = 0.6;
  all[8].plain.expiry = 0.02;
  return all;
}

// The two methods share nothing but the operator: their roundings are about 1e-11 and 1e-9.
TEST(fd_sine, is_the_exponential_that_the_contour_finds) {
  int number = 0;
  for (const contract& c : products()) {
    for (const std::int64_t n : {8, 50, 501, 4096}) {
      SCOPED_TRACE("product " + std::to_string(number) + ", nodes " + std::to_string(n));
      const fd_grid grid = make_grid(c, grid_kind::logarithmic, n);
      const fd_payment payment{0, c.plain.rebate};
      const auto plan = plan_sine(c, grid, payment);
      ASSERT_TRUE(plan);
      const auto got = exponential_by_sine(*plan, 0, n), want = exponential_by_contour(c, grid, payment);
      double worst = 0, largest = 0;
      for (std::size_t i = 0; i < want.size(); ++i) {
        worst = std::max(worst, std::abs(got[i] - want[i]));
        largest = std::max(largest, std::abs(want[i]));
      }
      EXPECT_LE(worst, 1e-10 * largest);
      const auto part = exponential_by_sine(*plan, n / 2, n / 2 + 1);
      EXPECT_EQ(part[static_cast<std::size_t>(n / 2)], got[static_cast<std::size_t>(n / 2)]);
      if constexpr (built_with_cuda)
        for (const device& gpu : testing::gpus()) {
          const auto there = exponential_by_sine_cuda(gpu, *plan);
          EXPECT_EQ(exponential_by_sine_cuda(gpu, *plan), there);
          for (std::size_t i = 0; i < want.size(); ++i) ASSERT_NEAR(there[i], got[i], 1e-10 * largest) << i;
        }
    }
    ++number;
  }
}

// The scheme takes it by itself, to an accuracy.
TEST(fd_sine, prices_to_an_accuracy) {
  fd_options o;
  o.scheme = time_scheme::exponential;
  o.tolerance = 1e-7;
  const contract c = call_with_yield();
  const fd_result r = finite_difference_price(c, o);
  EXPECT_TRUE(r.by_sine && r.tolerance_met);
  const valuation exact = european_price(c.plain);
  EXPECT_NEAR(r.value.price, exact.price, 1e-7);
  EXPECT_NEAR(r.value.delta, exact.delta, 1e-6);
  EXPECT_NEAR(r.value.gamma, exact.gamma, 5e-4 * exact.gamma);
}

TEST(fd_sine, leaves_to_the_contour_what_it_cannot_take) {
  const fd_payment none;
  contract c = call_with_yield();
  EXPECT_FALSE(plan_sine(c, make_grid(c, grid_kind::uniform, 100), none));
  EXPECT_FALSE(plan_sine(c, make_grid(c, grid_kind::concentrated, 100), none));
  c.exercise = exercise_style::bermudan;
  EXPECT_FALSE(plan_sine(c, make_grid(c, grid_kind::logarithmic, 100), none));
  c = call_with_yield();
  c.plain.rate = 0.25;  // drift: weights over many orders of magnitude
  const fd_grid steep = make_grid(c, grid_kind::logarithmic, 400);
  EXPECT_FALSE(plan_sine(c, steep, none));
  fd_options o;
  o.scheme = time_scheme::exponential;
  const fd_result r = finite_difference_price(c, o);
  EXPECT_FALSE(r.by_sine);
  EXPECT_NEAR(r.value.price, european_price(c.plain).price, 1e-6);
  c.plain.volatility = 0.02;  // more than the contour takes, which no finer grid would show
  EXPECT_FALSE(finite_difference_price(c, o).tolerance_met);
}

}  // namespace
}  // namespace vouch
