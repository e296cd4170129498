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

constexpr double tiny = 1e-28, small = 1e-22;  // beside values of 10 to 1000

struct quad_local {
  quad value, first, second;
};

// The discrete problem, step by step, by elimination in quadruple precision; American steps by policies, until
// the complementarity problem holds to some 30 digits.
class quad_march {
 public:
  quad_march(const contract& c, const fd_grid& grid, const fd_payment& payment)
      : c_(c),
        grid_(grid),
        american_(c.exercise == exercise_style::american),
        low_(c, payment, grid.spot.front(), false),
        high_(c, payment, grid.spot.back(), true),
        floor_(grid.spot.size()),
        exercised_(grid.spot.size(), 0) {
    set_floor(c.plain.expiry, false);
    for (const double v : floor_) value_.push_back(v - payment.less);
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
            step(L, from + half * 0.5 * length, damped ? 0.5 * length : length, 0,
                 damped ? 0.5 * length : length);
        else
          step(L, from, 0.5 * length, 0.5 * length, length);
      }
      if (c_.is_escrowed())
        set_floor(c_.plain.expiry - s.to, true);
      else if (s.dividend > 0)
        fall(s.dividend);
      if (!s.exercise && !(american_ && s.dividend > 0)) continue;
      for (std::size_t i = 1; i + 1 < value_.size(); ++i) value_[i] = std::max<quad>(value_[i], floor_[i]);
      low_.exercise();
      high_.exercise();
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
  void set_floor(double time, bool before_dividend) {
    const double held = escrow(c_, time, before_dividend);
    for (std::size_t i = 0; i < floor_.size(); ++i) floor_[i] = payoff_on_grid(c_, grid_.spot[i] + held);
    low_.set_escrow(held);
    high_.set_escrow(held);
  }
  // By the cubic polynomial through the nodes around, of the four at an end where there are no others.
  void fall(double amount) {
    const std::vector<quad> old = value_;
    const std::vector<double>& s = grid_.spot;
    for (std::size_t i = 0; i < s.size(); ++i) {
      const double at = std::max(s[i] - amount, 0.0);
      if (at <= s.front()) {
        value_[i] = low_.beyond(at);
        continue;
      }
      std::size_t first = 0;
      while (first + 4 < s.size() && s[first + 2] < at) ++first;
      value_[i] = 0;
      for (std::size_t a = first; a < first + 4; ++a) {
        quad weight = 1;
        for (std::size_t b = first; b < first + 4; ++b)
          if (b != a) weight *= (quad(at) - s[b]) / (quad(s[a]) - s[b]);
        value_[i] += weight * old[a];
      }
    }
    low_.fall(amount);
    high_.fall(amount);
    ends();
  }
  void step(const fd_operator& L, double from, double implicit, double explicit_part, double length) {
    if (american_ && c_.is_escrowed()) set_floor(c_.plain.expiry - from - length, false);
    const std::size_t n = value_.size();
    const std::vector<quad> old = value_;
    low_.step(length, L.rate, c_.plain.dividend);
    high_.step(length, L.rate, c_.plain.dividend);
    ends();
    std::vector<quad> right(n, 0);
    const quad e = explicit_part, r = L.rate;
    for (std::size_t i = 1; i + 1 < n; ++i) {
      const quad a = L.lower[i], c = L.upper[i];
      right[i] = old[i] + e * (a * (old[i - 1] - old[i]) + c * (old[i + 1] - old[i]) - r * old[i]);
    }
    int policies = 0;
    do eliminate(L, implicit, right);
    while (american_ && revise(L, implicit, right) && ++policies < 1000);
    if (american_) check_complementarity(L, implicit, right);
  }
  // A V = right where nothing is exercised, V = floor elsewhere.
  void eliminate(const fd_operator& L, quad m, const std::vector<quad>& right) {
    const std::size_t n = value_.size();
    std::vector<quad> upper(n, 0), y = value_;
    for (std::size_t i = 1; i + 1 < n; ++i) {
      const quad a = L.lower[i], c = L.upper[i], r = L.rate;
      const quad pivot = 1 + m * (a + c + r) - m * a * upper[i - 1];
      upper[i] = exercised_[i] != 0 ? 0 : m * c / pivot;
      y[i] = exercised_[i] != 0 ? quad(floor_[i]) : (right[i] + m * a * y[i - 1]) / pivot;
    }
    for (std::size_t i = n - 2; i > 0; --i) value_[i] = y[i] + upper[i] * value_[i + 1];
  }
  // A V - right in a row.
  quad gap(const fd_operator& L, quad m, const std::vector<quad>& right, std::size_t i) const {
    const quad a = L.lower[i], c = L.upper[i], r = L.rate;
    return (1 + m * r) * value_[i] + m * a * (value_[i] - value_[i - 1]) + m * c * (value_[i] - value_[i + 1]) -
           right[i];
  }
  bool revise(const fd_operator& L, quad m, const std::vector<quad>& right) {
    bool changed = false;
    for (std::size_t i = 1; i + 1 < value_.size(); ++i) {
      const bool wrong = exercised_[i] != 0 ? gap(L, m, right, i) < -tiny : value_[i] < floor_[i] - tiny;
      if (wrong) exercised_[i] = exercised_[i] == 0 ? 1 : 0;
      changed |= wrong;
    }
    return changed;
  }
  void check_complementarity(const fd_operator& L, quad m, const std::vector<quad>& right) const {
    for (std::size_t i = 1; i + 1 < value_.size(); ++i) {
      const quad miss = std::min<quad>(gap(L, m, right, i), value_[i] - floor_[i]);
      ASSERT_TRUE(miss < small && miss > -small) << i << ' ' << static_cast<double>(miss);
    }
  }

  const contract& c_;
  const fd_grid& grid_;
  bool american_;
  border low_, high_;
  std::vector<double> floor_;
  std::vector<char> exercised_;
  std::vector<quad> value_;
};

std::vector<contract> products() {
  std::vector<contract> all = testing::european_products();
  all.resize(18, call_with_yield());
  all[6].plain.type = option_type::put;
  all[6].exercise = exercise_style::bermudan;
  all[6].exercise_dates = {0, 0.25, 0.5, 0.75};
  all[7].rates = {{0.3, 0.01}, {1, 0.08}};
  all[7].volatilities = {{0.6, 0.3}, {1, 0.15}};
  all[8].local_volatility = {{0, 1}, {50, 100, 200}, {0.4, 0.25, 0.2, 0.35, 0.2, 0.15}};
  all[9].plain.rate = -0.03;
  all[10].plain.volatility = 0.05;  // drift dominates: some rows upwind
  all[10].plain.rate = 0.3;
  for (std::size_t k = 11; k < 16; ++k) all[k].exercise = exercise_style::american;
  all[11].plain.dividend = 0.07;
  for (const std::size_t put : {12, 13, 15, 16}) all[put].plain.type = option_type::put;
  all[13].plain.rate = -0.02;  // exercised between two spots
  all[13].plain.dividend = -0.06;
  all[14].plain.payoff = payoff_kind::cash_digital;
  all[15].dividends = {{0.3, 2}, {0.8, 3}};
  all[16].dividends = {{0.2, 1}, {0.45, 1.5}, {0.7, 1}};
  all[17].exercise = exercise_style::american;
  all[17].dividends = {{0.3, 2}, {0.8, 3}};
  all[17].model = dividend_model::escrowed;
  return all;
}

// Of what is exercised now the slope of the payoff is reported, and no curvature.
quad_local reported(const contract& c, quad_local v) {
  const double paid = payoff_at(c.plain, c.plain.spot + escrow(c, 0));
  if (c.exercise != exercise_style::american || !(paid > 0) || v.value > quad(paid) * (1 + 1e-10)) return v;
  v.first = c.plain.payoff == payoff_kind::cash_digital    ? 0
            : c.plain.payoff == payoff_kind::asset_digital ? 1
                                                           : sign_of(c.plain.type);
  v.second = 0;
  return v;
}

// `off`: what quadruple precision itself may be off by.
bool holds(const interval<double>& x, quad value, double off = 0) {
  return quad(x.lo()) - off <= value && value <= quad(x.hi()) + off;
}
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
        const quad_local v = reported(c, exact.local());
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
    contract c = products()[static_cast<std::size_t>(one_of(18))];
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
    const quad_local v = reported(c, exact.local());
    const double off = c.exercise == exercise_style::american ? small : 0;
    ASSERT_TRUE(holds(e.price, v.value, off)) << k << ' ' << width(e.price);
    ASSERT_TRUE(holds(e.delta, v.first, off) && holds(e.gamma, v.second, off)) << k;
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
  contract c = call_with_yield();
  c.plain.volatility = 0.01;  // no norm: steps far beyond what keeps the largest value from growing
  c.plain.rate = 0.8;
  const fd_grid grid = make_grid(c, grid_kind::uniform, 3000);
  const fd_enclosure e = enclose_march(c, grid, {}, make_segments(c, 200), time_scheme::crank_nicolson);
  EXPECT_FALSE(e.verified);
  EXPECT_FALSE(e.reason.empty());
  EXPECT_FALSE(std::isfinite(e.price.lo()) || std::isfinite(e.price.hi()));
  EXPECT_FALSE(enclose_march(call_with_yield(), make_grid(call_with_yield(), kinds[0], 50), {}, {},
                             time_scheme::exponential)
                   .verified);
}

}  // namespace
}  // namespace vouch
