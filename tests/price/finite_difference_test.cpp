#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <utility>

#include <vouch/core/error.hpp>
#include <vouch/price/american.hpp>
#include <vouch/price/closed_form.hpp>
#include <vouch/price/finite_difference.hpp>

#include "contracts.hpp"

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
  constexpr double deviation = 20;  // of an underlying at 100
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

TEST(finite_difference, nodes_without_steps_are_refused) {
  fd_options o;
  o.space_nodes = 400;
  EXPECT_THROW(finite_difference_price(call_at_the_money(), o), value_error);
  o.scheme = time_scheme::exponential;
  EXPECT_NO_THROW(finite_difference_price(call_at_the_money(), o));
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
