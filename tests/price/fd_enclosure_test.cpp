// Proved bounds of what steps in time compute, against the same steps in quadruple precision.
#include <vouch/price/fd_enclosure.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <random>
#include <string>
#include <vector>

#include <vouch/price/fd_border.hpp>
#include <vouch/price/price.hpp>

#include "contracts.hpp"

namespace vouch {
namespace {

using testing::call_with_yield;

__extension__ using quad = __float128;

struct quad_local {
  quad value, first, second;
};

// The discrete problem, step by step, by elimination in quadruple precision.
class quad_march {
 public:
  quad_march(const contract& c, const fd_grid& grid, const fd_payment& payment)
      : c_(c),
        grid_(grid),
        low_(c, payment, grid.spot.front(), false),
        high_(c, payment, grid.spot.back(), true) {
    for (const double s : grid.spot) {
      const double v = payoff_at(c.plain, s) - payment.less;
      value_.push_back(v);
    }
    ends();
  }

  void run(const std::vector<fd_segment>& segments, time_scheme scheme) {
    for (const fd_segment& s : segments) {
      const double length = (s.to - s.from) / static_cast<double>(s.steps);
      for (std::int64_t k = 0; k < s.steps; ++k) {
        const double from = s.from + length * static_cast<double>(k), to = from + length;
        const bool local = !c_.local_volatility.empty();
        const fd_operator L =
            make_operator(c_, grid_, c_.plain.expiry - 0.5 * (local ? from + to : s.from + s.to));
        const bool damped = scheme == time_scheme::rannacher && s.smooths && k < 2;
        if (damped || scheme == time_scheme::implicit_euler)
          for (int half = 0; half < (damped ? 2 : 1); ++half)
            step(L, damped ? 0.5 * length : length, 0, damped ? 0.5 * length : length);
        else
          step(L, 0.5 * length, 0.5 * length, length);
      }
      if (!s.exercise) continue;
      for (std::size_t i = 1; i + 1 < value_.size(); ++i)
        value_[i] = std::max<quad>(value_[i], payoff_at(c_.plain, grid_.spot[i]));
      low_.exercise(c_.plain);
      high_.exercise(c_.plain);
      ends();
    }
  }

  quad_local local() const {
    const fd_stencil s = stencil_about(grid_, c_.plain.spot);
    quad_local sum{0, 0, 0};
    for (int k = 0; k < s.count; ++k) {
      quad p = 1, p1 = 0, p2 = 0;
      for (int j = 0; j < s.count; ++j) {
        if (j == k) continue;
        const quad width = quad(s.x[k]) - s.x[j], x = quad(s.at) - s.x[j];
        p2 = (p2 * x + 2 * p1) / width;
        p1 = (p1 * x + p) / width;
        p = p * x / width;
      }
      const quad v = value_[static_cast<std::size_t>(s.first + k)];
      sum = {sum.value + p * v, sum.first + p1 * v, sum.second + p2 * v};
    }
    const quad spot = c_.plain.spot;
    return s.logarithms ? quad_local{sum.value, sum.first / spot, (sum.second - sum.first) / (spot * spot)}
                        : sum;
  }

 private:
  void ends() {
    value_.front() = low_.value();
    value_.back() = high_.value();
  }
  void step(const fd_operator& L, double implicit, double explicit_part, double length) {
    const std::size_t n = value_.size();
    const std::vector<quad> old = value_;
    low_.step(length, L.rate, c_.plain.dividend);
    high_.step(length, L.rate, c_.plain.dividend);
    ends();
    std::vector<quad> upper(n, 0), y = value_;
    const quad m = implicit, e = explicit_part;
    for (std::size_t i = 1; i + 1 < n; ++i) {
      const quad a = L.lower[i], c = L.upper[i], r = L.rate;
      const quad right = old[i] + e * (a * (old[i - 1] - old[i]) + c * (old[i + 1] - old[i]) - r * old[i]);
      const quad pivot = 1 + m * (a + c + r) - m * a * upper[i - 1];
      upper[i] = m * c / pivot;
      y[i] = (right + m * a * y[i - 1]) / pivot;
    }
    for (std::size_t i = n - 2; i > 0; --i) value_[i] = y[i] + upper[i] * value_[i + 1];
  }

  const contract& c_;
  const fd_grid& grid_;
  border low_, high_;
  std::vector<quad> value_;
};

std::vector<contract> products() {
  std::vector<contract> all = testing::european_products();
  all.resize(11, call_with_yield());
  all[6].plain.type = option_type::put;
  all[6].exercise = exercise_style::bermudan;
  all[6].exercise_dates = {0, 0.25, 0.5, 0.75};
  all[7].rates = {{0.3, 0.01}, {1, 0.08}};
  all[7].volatilities = {{0.6, 0.3}, {1, 0.15}};
  all[8].local_volatility = {{0, 1}, {50, 100, 200}, {0.4, 0.25, 0.2, 0.35, 0.2, 0.15}};
  all[9].plain.rate = -0.03;
  all[10].plain.volatility = 0.05;  // drift dominates: some rows upwind
  all[10].plain.rate = 0.3;
  return all;
}

bool holds(const interval<double>& x, quad value) { return quad(x.lo()) <= value && value <= quad(x.hi()); }
double width(const interval<double>& x) { return x.hi() - x.lo(); }

constexpr time_scheme stepping[] = {time_scheme::rannacher, time_scheme::crank_nicolson,
                                    time_scheme::implicit_euler};
constexpr grid_kind kinds[] = {grid_kind::logarithmic, grid_kind::uniform, grid_kind::concentrated};

// The bounds hold the exact solution of the discrete problem and are a few roundings wide.
TEST(fd_enclosure, holds_what_steps_in_quadruple_precision_give) {
  int number = 0;
  for (const contract& c : products()) {
    for (const time_scheme scheme : stepping)
      for (const grid_kind kind : kinds) {
        const fd_grid grid = make_grid(c, kind, 90);
        const auto segments = make_segments(c, 40);
        const fd_payment payment{0, c.plain.rebate};
        const fd_enclosure e = enclose_march(c, grid, payment, segments, scheme);
        SCOPED_TRACE("product " + std::to_string(number) + " scheme " +
                     std::to_string(static_cast<int>(scheme)) + " grid " +
                     std::to_string(static_cast<int>(kind)) + " " + e.reason);
        ASSERT_TRUE(e.verified);
        quad_march exact(c, grid, payment);
        exact.run(segments, scheme);
        const quad_local v = exact.local();
        EXPECT_TRUE(holds(e.price, v.value)) << width(e.price);
        EXPECT_TRUE(holds(e.delta, v.first));
        EXPECT_TRUE(holds(e.gamma, v.second));
        EXPECT_LE(width(e.price), 1e-12) << static_cast<double>(v.value);
        EXPECT_LE(width(e.delta), 1e-11);
        EXPECT_LE(width(e.gamma), 1e-10);
      }
    ++number;
  }
}

// Options, grids and steps at random: coarse and fine, drift or diffusion alone, rates of both signs.
TEST(fd_enclosure, campaign_of_random_options) {
  std::mt19937_64 engine(20111);
  const auto between = [&](double low, double high) {
    return std::uniform_real_distribution<double>(low, high)(engine);
  };
  const auto one_of = [&](int count) { return std::uniform_int_distribution<int>(0, count - 1)(engine); };
  int verified = 0;
  const int cases = std::getenv("VOUCH_SOAK") != nullptr ? 100'000 : 1000;
  for (int k = 0; k < cases; ++k) {
    contract c = products()[static_cast<std::size_t>(one_of(10))];
    c.plain.strike = between(60, 140);
    c.plain.volatility = std::exp(between(-4, 0.2));
    c.plain.rate = between(-0.2, 0.6);
    c.plain.dividend = between(-0.1, 0.3);
    c.plain.expiry = std::exp(between(-4, 1.2));
    if (c.plain.barrier == barrier_kind::down_and_out) c.plain.spot = between(91, 130);
    const fd_grid grid = make_grid(c, kinds[one_of(3)], 8 + one_of(50));
    const auto segments = make_segments(c, 1 + one_of(12));
    const time_scheme scheme = stepping[one_of(3)];
    const fd_payment payment{one_of(2) * 1.5, c.plain.rebate};
    const fd_enclosure e = enclose_march(c, grid, payment, segments, scheme);
    if (!e.verified) continue;
    ++verified;
    quad_march exact(c, grid, payment);
    exact.run(segments, scheme);
    const quad_local v = exact.local();
    ASSERT_TRUE(holds(e.price, v.value)) << k << ' ' << width(e.price);
    ASSERT_TRUE(holds(e.delta, v.first) && holds(e.gamma, v.second)) << k;
  }
  EXPECT_GE(verified, cases * 9 / 10);
}

// Whatever computed the price: the bound is about as far from it as the exact solution is.
TEST(fd_enclosure, bounds_the_rounding_of_every_precision_and_solver) {
  const contract c = call_with_yield();
  fd_options o;
  o.verify = true;
  o.space_nodes = 300;
  o.time_steps = 100;
  for (const solve_precision p : {solve_precision::double_, solve_precision::mixed})
    for (const auto solver : {tridiagonal_method::automatic, tridiagonal_method::thomas}) {
      if (p == solve_precision::mixed && solver != tridiagonal_method::automatic) continue;
      o.precision = p;
      o.solver = solver;
      const fd_result r = finite_difference_price(c, o);
      ASSERT_TRUE(r.enclosure && r.enclosure->verified);
      const fd_grid grid = make_grid(c, o.grid, o.space_nodes);
      quad_march exact(c, grid, {});
      exact.run(make_segments(c, o.time_steps), o.scheme);
      EXPECT_TRUE(holds(r.enclosure->price, exact.local().value));
      EXPECT_LE(width(r.enclosure->price), 1e-13);
      const double off = std::abs(r.value.price - r.enclosure->price.lo());
      EXPECT_LE(off, p == solve_precision::mixed ? 1e-5 : 1e-11);
    }
}

// To an accuracy, two grids make the price; theta follows from the equation.
TEST(fd_enclosure, of_an_extrapolated_price) {
  fd_options o;
  o.verify = true;
  o.tolerance = 1e-3;
  const contract c = call_with_yield();
  const fd_result r = finite_difference_price(c, o);
  ASSERT_TRUE(r.extrapolated && r.enclosure->verified);
  quad price[2];
  for (int k = 0; k < 2; ++k) {
    const fd_grid grid = make_grid(c, o.grid, k == 0 ? r.space_nodes : (r.space_nodes + 1) / 2);
    quad_march exact(c, grid, {});
    exact.run(make_segments(c, k == 0 ? r.time_steps : r.time_steps / 2), o.scheme);
    price[k] = exact.local().value;
  }
  EXPECT_TRUE(holds(r.enclosure->price, price[0] + quad(1.0 / 3) * (price[0] - price[1])));
  EXPECT_LE(width(r.enclosure->price), 1e-12);
  EXPECT_NEAR(r.value.price, r.enclosure->price.lo(), 1e-10);
  EXPECT_NEAR(r.value.theta, r.enclosure->theta.lo(), 1e-8);
}

// An option that begins at a barrier is the closed form less the discrete one that ends there.
TEST(fd_enclosure, of_an_option_that_begins_at_a_barrier) {
  contract c = call_with_yield();
  c.plain.barrier = barrier_kind::up_and_in;
  c.plain.barrier_level = 125;
  pricing_options how;
  how.force_finite_difference = true;
  how.finite_difference.verify = true;
  how.finite_difference.space_nodes = 201;
  how.finite_difference.time_steps = 100;
  const pricing p = price(c, how);
  const fd_enclosure& e = *p.grid->enclosure;
  if (!e.verified) GTEST_SKIP() << e.reason;
  EXPECT_NEAR(p.value.price, e.price.lo(), 1e-10);
  EXPECT_NEAR(p.value.theta, e.theta.lo(), 1e-8);
  EXPECT_LE(width(e.price), 1e-12);
}

TEST(fd_enclosure, says_what_is_not_proved) {
  std::vector<contract> all(3, call_with_yield());
  all[0].exercise = exercise_style::american;
  all[1].dividends = {{0.5, 2}};
  all[2].plain.volatility = 0.01;  // no norm: steps far beyond what keeps the largest value from growing
  all[2].plain.rate = 0.8;
  for (const contract& c : all) {
    const fd_grid grid = make_grid(c, grid_kind::uniform, 3000);
    const fd_enclosure e = enclose_march(c, grid, {}, make_segments(c, 200), time_scheme::crank_nicolson);
    EXPECT_FALSE(e.verified);
    EXPECT_FALSE(e.reason.empty());
    EXPECT_FALSE(std::isfinite(e.price.lo()) || std::isfinite(e.price.hi()));
  }
  EXPECT_FALSE(enclose_march(call_with_yield(), make_grid(call_with_yield(), kinds[0], 50), {}, {},
                             time_scheme::exponential)
                   .verified);
}

}  // namespace
}  // namespace vouch
