#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include <vouch/core/error.hpp>
#include <vouch/price/american.hpp>
#include <vouch/price/closed_form.hpp>
#include <vouch/price/finite_difference.hpp>

#include "contracts.hpp"
#include "oracle.hpp"

namespace vouch {
namespace {

using testing::call_at_the_money;

constexpr grid_kind grids[] = {grid_kind::logarithmic, grid_kind::uniform, grid_kind::concentrated};

fd_options on_grid(time_scheme scheme, grid_kind kind, std::int64_t nodes, std::int64_t steps) {
  fd_options o;
  o.scheme = scheme;
  o.grid = kind;
  o.space_nodes = nodes;
  o.time_steps = steps;
  return o;
}

double order(double coarse, double fine) { return std::log2(std::abs(coarse / fine)); }

TEST(finite_difference, order_two_with_rannacher_and_exponential) {
  contract c = call_at_the_money();
  c.plain.spot = 103;
  const valuation exact = european_price(c.plain);
  for (const grid_kind kind : grids)
    for (const time_scheme scheme : {time_scheme::rannacher, time_scheme::exponential}) {
      valuation before{};
      for (const std::int64_t n : {400, 800, 1600}) {
        const valuation v = finite_difference_price(c, on_grid(scheme, kind, n, n / 8)).value;
        const valuation error{v.price - exact.price, v.delta - exact.delta, v.gamma - exact.gamma, 0, 0, 0};
        if (n > 400) {
          EXPECT_GT(order(before.price, error.price), 1.9);
          EXPECT_GT(order(before.delta, error.delta), 1.9);
          EXPECT_GT(order(before.gamma, error.gamma), 1.9);
        }
        before = error;
      }
    }
}

// Without the implicit start the kink of the payoff stays in the second derivative for ever.
TEST(finite_difference, gamma_falls_under_refinement_only_with_a_smooth_start) {
  const contract c = call_at_the_money();
  const double exact = european_price(c.plain).gamma;
  const auto error = [&](time_scheme scheme, std::int64_t n) {
    return std::abs(finite_difference_price(c, on_grid(scheme, grid_kind::logarithmic, n, n / 32)).value.gamma -
                    exact);
  };
  EXPECT_LT(error(time_scheme::rannacher, 2048), 0.3 * error(time_scheme::rannacher, 1024));
  EXPECT_GT(error(time_scheme::crank_nicolson, 2048), error(time_scheme::crank_nicolson, 1024));
}

TEST(finite_difference, implicit_euler_is_of_first_order) {
  const contract c = call_at_the_money();
  const double exact = european_price(c.plain).price;
  const auto error = [&](std::int64_t steps) {
    return finite_difference_price(c, on_grid(time_scheme::implicit_euler, grid_kind::logarithmic, 4001, steps))
               .value.price -
           exact;
  };
  EXPECT_NEAR(order(error(50), error(100)), 1, 0.05);
}

// Values and right-hand sides in double: the solve in single precision costs no accuracy.
TEST(finite_difference, mixed_precision_is_as_good) {
  const contract c = call_at_the_money();
  const double exact = european_price(c.plain).price;
  for (const grid_kind kind : grids) {
    fd_options o = on_grid(time_scheme::rannacher, kind, 4096, 2048);
    const double full = finite_difference_price(c, o).value.price - exact;
    o.precision = solve_precision::mixed;
    const double mixed = finite_difference_price(c, o).value.price - exact;
    EXPECT_LT(std::abs(mixed), 2 * std::abs(full) + 1e-6);
  }
}

void expect_within(const fd_result& r, const valuation& exact, double tolerance, const std::string& what) {
  EXPECT_TRUE(r.tolerance_met) << what;
  EXPECT_LE(r.error_estimate, tolerance) << what;
  EXPECT_NEAR(r.value.price, exact.price, tolerance) << what;
  EXPECT_NEAR(r.value.delta, exact.delta, 10 * tolerance) << what;
  constexpr double deviation = 20;  // of a share at 100
  EXPECT_NEAR(r.value.gamma, exact.gamma,
              1e-3 * std::abs(exact.gamma) + 1e-9 + 0.1 * tolerance / (deviation * deviation))
      << what;
}

TEST(finite_difference, european_options_to_a_tolerance) {
  for (const option_type type : {option_type::call, option_type::put})
    for (const double strike : {75.0, 100.0, 130.0})
      for (const payoff_kind payoff :
           {payoff_kind::vanilla, payoff_kind::cash_digital, payoff_kind::asset_digital})
        for (const double tolerance : {1e-4, 1e-6}) {
          contract c = call_at_the_money();
          c.plain.type = type;
          c.plain.strike = strike;
          c.plain.payoff = payoff;
          c.plain.dividend = 0.03;
          fd_options o;
          o.tolerance = tolerance;
          o.greeks = true;
          const fd_result r = finite_difference_price(c, o);
          const valuation exact = closed_form(c.plain);
          const std::string what =
              std::to_string(strike) + " payoff " + std::to_string(static_cast<int>(payoff));
          expect_within(r, exact, tolerance, what);
          EXPECT_NEAR(r.value.theta, exact.theta, 0.02) << what;
          EXPECT_NEAR(r.value.vega, exact.vega, 1e-2) << what;
          EXPECT_NEAR(r.value.rho, exact.rho, 1e-2) << what;
        }
}

TEST(finite_difference, barriers_to_a_tolerance) {
  for (const option_type type : {option_type::call, option_type::put})
    for (const auto& [kind, level] : {std::pair{barrier_kind::up_and_out, 125.0},
                                      {barrier_kind::up_and_in, 125.0},
                                      {barrier_kind::down_and_out, 90.0},
                                      {barrier_kind::down_and_in, 90.0},
                                      {barrier_kind::down_and_out, 70.0}})
      for (const double rebate : {0.0, 3.0}) {
        contract c = call_at_the_money();
        c.plain.type = type;
        c.plain.barrier = kind;
        c.plain.barrier_level = level;
        c.plain.rebate = rebate;
        fd_options o;
        o.tolerance = 1e-5;
        expect_within(finite_difference_price(c, o), closed_form(c.plain), 1e-5,
                      std::to_string(level) + " kind " + std::to_string(static_cast<int>(kind)));
      }
}

TEST(finite_difference, american_options_agree_with_the_boundary_method) {
  for (const option_type type : {option_type::call, option_type::put})
    for (const auto& [rate, dividend] : {std::pair{.05, .0}, {.03, .07}, {.1, .1}})
      for (const double spot : {90.0, 100.0, 115.0}) {
        contract c = call_at_the_money();
        c.exercise = exercise_style::american;
        c.plain.type = type;
        c.plain.spot = spot;
        c.plain.rate = rate;
        c.plain.dividend = dividend;
        fd_options o;
        o.tolerance = 2e-5;
        expect_within(finite_difference_price(c, o), american_core(c.plain, finest_boundary()), 2e-5,
                      std::to_string(spot));
      }
}

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

// One dividend: the share at its date is lognormal, and the option that is left has a formula.
TEST(finite_difference, one_cash_dividend) {
  for (const option_type type : {option_type::call, option_type::put}) {
    contract c = call_at_the_money();
    c.plain.type = type;
    c.dividends = {{0.3, 4.0}};
    fd_options o;
    o.tolerance = 1e-5;
    const double t = 0.3, deviation = 0.2 * std::sqrt(t), mean = (0.05 - 0.02) * t;
    const auto exact = testing::integral(-25 * deviation, 25 * deviation, 2000, [&](testing::wide x) {
      plain_option left = c.plain;
      left.spot = std::max(100 * std::exp(static_cast<double>(x)) - 4, 0.0);
      left.expiry = 0.7;
      return testing::normal_density((x - mean) / deviation) / deviation * european_price(left).price;
    });
    EXPECT_NEAR(finite_difference_price(c, o).value.price, static_cast<double>(exact) * std::exp(-0.05 * t),
                1e-5);
    c.exercise = exercise_style::american;
    EXPECT_GE(finite_difference_price(c, o).value.price,
              static_cast<double>(exact) * std::exp(-0.05 * t) - 1e-5);
  }
}

TEST(finite_difference, rates_and_volatilities_that_change) {
  contract c = call_at_the_money();
  c.rates = {{0.25, 0.02}, {0.6, 0.08}, {1, 0.03}};
  c.volatilities = {{0.5, 0.15}, {1, 0.3}};
  plain_option average = c.plain;
  average.rate = 0.25 * 0.02 + 0.35 * 0.08 + 0.4 * 0.03;
  average.volatility = std::sqrt(0.5 * 0.15 * 0.15 + 0.5 * 0.3 * 0.3);
  fd_options o;
  o.tolerance = 1e-5;
  EXPECT_NEAR(finite_difference_price(c, o).value.price, european_price(average).price, 1e-5);
}

// Whatever shares of the steps lie between the changes, twice as many are twice as many in each. By spectral
// elements and exponentials of their matrix.
TEST(finite_difference, changes_at_odd_times_extrapolate) {
  contract c = call_at_the_money();
  c.plain.type = option_type::put;
  c.plain.strike = 135.15809;
  c.plain.rate = -0.04395;
  c.plain.dividend = -0.04678;
  c.plain.expiry = 0.235496;
  c.plain.barrier = barrier_kind::up_and_out;
  c.plain.barrier_level = 232.565617;
  c.volatilities = {{0.129115, 1.23464}, {0.187626, 0.56836}, {0.214125, 1.38905}, {0.235496, 0.78823}};
  fd_options o;
  o.tolerance = 1e-4;
  const fd_result r = finite_difference_price(c, o);
  EXPECT_LE(r.error_estimate, 1e-5);
  EXPECT_NEAR(r.value.price, 46.21821, 5e-6);
}

TEST(finite_difference, local_volatility) {
  contract c = call_at_the_money();
  c.local_volatility = {{0, 1}, {50, 200}, {0.1, 0.1, 0.3, 0.3}};  // rises in time, the same everywhere
  plain_option average = c.plain;
  average.volatility = std::sqrt(0.01 + 0.02 + 0.04 / 3);  // the mean of (0.1 + 0.2 t)^2
  fd_options o;
  o.tolerance = 1e-4;
  EXPECT_NEAR(finite_difference_price(c, o).value.price, european_price(average).price, 1e-4);
  // A skew that leaves parity alone.
  c.local_volatility = {{0}, {60, 160}, {0.35, 0.15}};
  const double call = finite_difference_price(c, o).value.price;
  c.plain.type = option_type::put;
  EXPECT_NEAR(call - finite_difference_price(c, o).value.price, 100 - 100 * std::exp(-0.05), 2e-4);
}

// As far as the share gets counts, not how it moves at one time or at one spot.
TEST(finite_difference, local_volatility_that_is_low_half_way) {
  contract c = call_at_the_money();
  c.plain.strike = 110;
  c.local_volatility = {{0, 0.5, 1}, {50, 200}, {0.5, 0.5, 0.05, 0.05, 0.5, 0.5}};
  plain_option average = c.plain;
  average.volatility = std::sqrt((0.25 + 0.5 * 0.05 + 0.05 * 0.05) / 3);
  fd_options o;
  o.tolerance = 1e-5;
  const fd_result r = finite_difference_price(c, o);
  EXPECT_TRUE(r.tolerance_met);
  EXPECT_NEAR(r.value.price, european_price(average).price, 1e-5);
}

// The share is where the volatility bends, as it is in tables about the money: gamma converges there, too. By
// spectral elements in the logarithm and exponentials of their matrix.
TEST(finite_difference, local_volatility_with_its_kink_at_the_spot) {
  contract c = call_at_the_money();
  c.plain.type = option_type::put;
  c.plain.strike = 95;
  c.plain.rate = 0.03;
  c.plain.expiry = 0.25;
  c.local_volatility = {{0}, {80, 100, 120}, {0.6, 0.08, 0.6}};
  fd_options o;
  o.tolerance = 1e-4;
  const fd_result r = finite_difference_price(c, o);
  EXPECT_TRUE(r.tolerance_met);
  EXPECT_LE(r.space_nodes, 20000);
  EXPECT_NEAR(r.value.price, 0.845926, 1e-4);
  EXPECT_NEAR(r.value.gamma, 0.15821, 1e-3 * 0.15821);
}

// dS = v (S + a) dW: S + a is lognormal, and there is a formula.
TEST(finite_difference, local_volatility_of_a_displaced_share) {
  constexpr double displacement = 50, volatility = 0.15;
  contract c = call_at_the_money();
  c.plain.rate = 0;
  c.local_volatility.times = {0};
  for (double s = 10; s <= 400; s *= 1.005) {
    c.local_volatility.spots.push_back(s);
    c.local_volatility.values.push_back(volatility * (s + displacement) / s);
  }
  fd_options o;
  o.tolerance = 1e-4;
  for (const double strike : {85.0, 100.0, 120.0}) {
    c.plain.strike = strike;
    plain_option moved = c.plain;
    moved.spot += displacement;
    moved.strike += displacement;
    moved.volatility = volatility;
    const valuation exact = european_price(moved), v = finite_difference_price(c, o).value;
    EXPECT_NEAR(v.price, exact.price, 5e-4) << strike;
    EXPECT_NEAR(v.delta, exact.delta, 1e-4) << strike;
  }
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
  const fd_surface s =
      finite_difference_surface(c, on_grid(time_scheme::rannacher, grid_kind::logarithmic, 4001, 2000));
  ASSERT_FALSE(s.boundary.empty());
  EXPECT_NEAR(s.boundary.back(), american_boundary(c.plain, 1).value(), 0.05);
}

// One matrix, five ways to solve with it.
TEST(finite_difference, every_solver_takes_the_same_steps) {
  contract c = call_at_the_money();
  c.exercise = exercise_style::bermudan;
  c.exercise_dates = {0.5};
  c.plain.type = option_type::put;
  for (const grid_kind kind : grids) {
    fd_options o = on_grid(time_scheme::rannacher, kind, 501, 60);
    const double expected = finite_difference_price(c, o).value.price;
    for (const auto solver : {tridiagonal_method::thomas, tridiagonal_method::cyclic_reduction,
                              tridiagonal_method::pcr, tridiagonal_method::partition}) {
      o.solver = solver;
      EXPECT_NEAR(finite_difference_price(c, o).value.price, expected, 1e-9) << name(solver);
    }
  }
  fd_options o;
  o.solver = tridiagonal_method::pcr;
  c.exercise = exercise_style::american;
  EXPECT_THROW(finite_difference_price(c, o), value_error);
}

TEST(finite_difference, products_without_a_method_are_refused) {
  contract c = call_at_the_money();
  c.exercise = exercise_style::american;
  fd_options o;
  o.scheme = time_scheme::exponential;
  EXPECT_THROW(finite_difference_price(c, o), value_error);
}

}  // namespace
}  // namespace vouch
