// Exercise before expiry: on dates, at any time, between two boundaries.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include <vouch/price/american.hpp>
#include <vouch/price/closed_form.hpp>
#include <vouch/price/finite_difference.hpp>

#include "contracts.hpp"
#include "oracle.hpp"

namespace vouch {
namespace {

using testing::call_at_the_money;

// By the differential equation's symmetry, a put under (r, q) is a call under (q, r); with q < r < 0 it is
// exercised between two boundaries and policy iteration does the work.
TEST(finite_difference, two_exercise_boundaries) {
  contract put = call_at_the_money(), call;
  put.exercise = exercise_style::american;
  put.plain.type = option_type::put;
  put.plain.spot = 95;
  put.plain.rate = -0.01;
  put.plain.dividend = -0.04;
  put.plain.expiry = 5;
  call = put;
  call.plain.type = option_type::call;
  std::swap(call.plain.spot, call.plain.strike);
  std::swap(call.plain.rate, call.plain.dividend);
  fd_options o;
  o.tolerance = 1e-4;
  const double price = finite_difference_price(put, o).value.price;
  EXPECT_GT(price, european_price(put.plain).price + 1e-3);
  EXPECT_NEAR(price, finite_difference_price(call, o).value.price, 2e-4);
}

// One exercise date: the better of exercising then and the European option that is left, by quadrature.
TEST(finite_difference, bermudan_with_one_date) {
  contract c = call_at_the_money();
  c.exercise = exercise_style::bermudan;
  c.exercise_dates = {0.4};
  c.plain.type = option_type::put;
  fd_options o;
  o.tolerance = 1e-5;
  const double t = 0.4, deviation = 0.2 * std::sqrt(t), mean = (0.05 - 0.02) * t;
  const auto exact = testing::integral(-40 * deviation, 40 * deviation, 4000, [&](testing::wide x) {
    plain_option left = c.plain;
    left.spot = 100 * std::exp(static_cast<double>(x));
    left.expiry = 0.6;
    const double best = std::max(100 - left.spot, european_price(left).price);
    return testing::normal_density((x - mean) / deviation) / deviation * best;
  });
  EXPECT_NEAR(finite_difference_price(c, o).value.price, static_cast<double>(exact) * std::exp(-0.05 * t),
              1e-5);
  c.exercise_dates.clear();
  EXPECT_NEAR(finite_difference_price(c, o).value.price, european_price(c.plain).price, 1e-5);
}

// A binomial tree that may exercise at steps that are multiples of `every`.
double bermudan_tree(const plain_option& o, int steps, int every) {
  const double dt = o.expiry / steps, up = std::exp(o.volatility * std::sqrt(dt)),
               growth = std::exp(o.rate * dt);
  const double chance = (growth - 1 / up) / (up - 1 / up);
  const auto pays = [&](int step, int ups) {
    return std::max(sign_of(o.type) * (o.spot * std::pow(up, 2 * ups - step) - o.strike), 0.0);
  };
  std::vector<double> v;
  for (int k = 0; k <= steps; ++k) v.push_back(pays(steps, k));
  for (int step = steps - 1; step >= 0; --step)
    for (int k = 0; k <= step; ++k) {
      const auto at = static_cast<std::size_t>(k);
      v[at] = (chance * v[at + 1] + (1 - chance) * v[at]) / growth;
      if (step > 0 && step % every == 0) v[at] = std::max(v[at], pays(step, k));
    }
  return v[0];
}

TEST(finite_difference, bermudan_with_many_dates) {
  contract c = call_at_the_money();
  c.exercise = exercise_style::bermudan;
  c.plain.type = option_type::put;
  c.plain.spot = 96;
  for (int k = 1; k < 12; ++k) c.exercise_dates.push_back(k / 12.0);
  fd_options o;
  o.tolerance = 1e-5;
  const double tree = 0.5 * (bermudan_tree(c.plain, 1992, 166) + bermudan_tree(c.plain, 2004, 167));
  EXPECT_NEAR(finite_difference_price(c, o).value.price, tree, 4e-3);
}

TEST(finite_difference, an_american_call_without_dividends_is_european) {
  contract c = call_at_the_money();
  c.exercise = exercise_style::american;
  fd_options o;
  o.tolerance = 1e-5;
  EXPECT_NEAR(finite_difference_price(c, o).value.price, european_price(c.plain).price, 1e-5);
}

TEST(finite_difference, the_boundary_of_exercise) {
  contract c = call_at_the_money();
  c.exercise = exercise_style::american;
  c.plain.type = option_type::put;
  fd_options o;
  o.space_nodes = 4001;
  o.time_steps = 2000;
  const fd_surface s = finite_difference_surface(c, o);
  ASSERT_FALSE(s.boundary.empty());
  EXPECT_NEAR(s.boundary.back(), american_boundary(c.plain, 1).value(), 0.05);
}

}  // namespace
}  // namespace vouch
