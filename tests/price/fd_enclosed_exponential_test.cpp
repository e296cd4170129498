// Proved bounds of the exponential scheme, against positive series in quadruple precision.
#include <vouch/price/finite_difference/enclosure.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <random>
#include <vector>

#include <vouch/core/config.hpp>

#include "contracts.hpp"
#include "quad_time_stepping.hpp"

namespace vouch {
namespace {

using testing::call_with_yield, testing::holds, testing::quad, testing::quad_at, testing::quad_local,
    testing::width;

quad size_of(quad x) { return x < 0 ? -x : x; }

// exp(x) for x <= 0: one over the series of -x / 2^20, squared.
quad quad_exp(quad x) {
  quad part = -x;
  for (int k = 0; k < 20; ++k) part /= 2;
  quad sum = 0, term = 1;
  for (int k = 1; k < 40; ++k) {
    term *= part / k;
    sum += term;  // exp - 1
  }
  for (int k = 0; k < 20; ++k) sum = sum * (2 + sum);
  return 1 / (1 + sum);
}

// exp(T L) V with two unknowns more at each end, which decay alone: exp(-c) exp(T L + c), where T L + c has no
// negative entry and the series no cancellation.
class positive_series {
 public:
  explicit positive_series(const exponential_problem& p) : p_(p), n_(p.start.size()) {
    for (std::size_t i = 1; i + 1 < n_; ++i)
      shift_ = std::max<quad>(shift_, quad(p.time) * (quad(p.L.lower[i]) + p.L.upper[i] + p.L.rate));
    for (const auto* terms : {&p.first, &p.last})
      for (const exponential_term& t : *terms) shift_ = std::max<quad>(shift_, t.decay);
    shift_ += 1;
  }
  std::vector<quad> values() const {
    std::vector<quad> term(n_ + 2, 0);  // an end's second part is behind the nodes
    for (std::size_t i = 1; i + 1 < n_; ++i) term[i] = p_.start[i];
    term[0] = p_.first[0].amount;
    term[n_ - 1] = p_.last[0].amount;
    term[n_] = p_.first[1].amount;
    term[n_ + 1] = p_.last[1].amount;
    constexpr int parts = 16;  // of the time: exp(-c) may be too small for a number
    for (int part = 0; part < parts; ++part) term = after(term, parts);
    std::vector<quad>& sum = term;
    sum[0] += sum[n_];
    sum[n_ - 1] += sum[n_ + 1];
    sum.resize(n_);
    return sum;
  }

 private:
  // One of so many equal parts of the time.
  std::vector<quad> after(std::vector<quad> term, int parts) const {
    const quad factor = quad_exp(-shift_ / parts);
    for (quad& x : term) x *= factor;
    std::vector<quad> sum = term;
    const double shift = static_cast<double>(shift_) / parts, last = shift + 30 * std::sqrt(shift) + 60;
    for (int k = 1; k < last; ++k) {
      term = shifted(term);
      for (std::size_t i = 0; i < n_ + 2; ++i) sum[i] += term[i] /= quad(k) * parts;
    }
    return sum;
  }
  std::vector<quad> shifted(const std::vector<quad>& v) const {
    std::vector<quad> w(n_ + 2);
    for (std::size_t i = 1; i + 1 < n_; ++i) {
      const quad a = quad(p_.time) * p_.L.lower[i], c = quad(p_.time) * p_.L.upper[i];
      const quad below = i == 1 ? v[0] + v[n_] : v[i - 1],
                 above = i + 2 == n_ ? v[n_ - 1] + v[n_ + 1] : v[i + 1];
      w[i] = a * below + c * above + (shift_ - a - c - quad(p_.time) * p_.L.rate) * v[i];
    }
    w[0] = (shift_ - p_.first[0].decay) * v[0];
    w[n_] = (shift_ - p_.first[1].decay) * v[n_];
    w[n_ - 1] = (shift_ - p_.last[0].decay) * v[n_ - 1];
    w[n_ + 1] = (shift_ - p_.last[1].decay) * v[n_ + 1];
    return w;
  }
  const exponential_problem& p_;
  std::size_t n_;
  quad shift_ = 0;
};

exponential_problem problem(const contract& c, const fd_grid& grid, const fd_payment& payment) {
  exponential_problem p{make_operator(c, grid, 0), c.plain.expiry, {}, {}, {}};
  for (const double spot : grid.spot) p.start.push_back(payoff_at(c.plain, spot) - payment.less);
  p.first = boundary_terms(c, payment, grid.spot.front(), false);
  p.last = boundary_terms(c, payment, grid.spot.back(), true);
  return p;
}

constexpr grid_kind kinds[] = {grid_kind::logarithmic, grid_kind::uniform, grid_kind::concentrated};

TEST(fd_enclosed_exponential, holds_what_a_positive_series_gives) {
  if (!built_with_mpfr) GTEST_SKIP() << "no exponential of an interval: this build has no MPFR";
  std::mt19937_64 engine(71);
  const auto between = [&](double low, double high) {
    return std::uniform_real_distribution<double>(low, high)(engine);
  };
  const auto one_of = [&](int count) { return std::uniform_int_distribution<int>(0, count - 1)(engine); };
  const int cases = std::getenv("VOUCH_SOAK") != nullptr ? 20'000 : 60;
  int verified = 0;
  for (int k = 0; k < cases; ++k) {
    contract c = testing::european_products()[static_cast<std::size_t>(one_of(6))];
    const bool wild = k % 3 == 0;
    c.plain.strike = between(60, 140);
    c.plain.volatility = wild ? std::exp(between(-3, 0.2)) : between(0.2, 0.5);
    c.plain.rate = wild ? between(-0.2, 0.4) : between(-0.05, 0.1);
    c.plain.dividend = wild ? between(-0.1, 0.3) : between(-0.05, 0.1);
    c.plain.expiry = std::exp(between(-3, 1));
    if (c.plain.barrier == barrier_kind::down_and_out) c.plain.spot = between(91, 130);
    const fd_grid grid = make_grid(c, kinds[one_of(3)], 8 + one_of(90));
    const fd_payment payment{one_of(2) * 1.5, c.plain.rebate};
    const fd_enclosure e = enclose_time_stepping(c, grid, payment, {}, time_scheme::exponential);
    SCOPED_TRACE(k);
    EXPECT_TRUE(wild || e.verified) << e.reason;
    if (!e.verified) continue;
    ++verified;
    const exponential_problem p = problem(c, grid, payment);
    const quad_local v = quad_at(grid, positive_series(p).values(), c.plain.spot);
    ASSERT_TRUE(holds(e.price, v.value)) << width(e.price);
    ASSERT_TRUE(holds(e.delta, v.first) && holds(e.gamma, v.second));
    EXPECT_TRUE(wild || width(e.price) <= 1e-11) << width(e.price);
  }
  EXPECT_GE(verified, cases * 8 / 10);
}

// Every node, those at the ends among them, and ends that decay faster than any mode or grow.
TEST(fd_enclosed_exponential, holds_all_nodes_whatever_the_ends_do) {
  if (!built_with_mpfr) GTEST_SKIP() << "no exponential of an interval: this build has no MPFR";
  const std::size_t n = 12;
  for (const double decay : {0.0, 0.03, -0.4, 300.0}) {
    exponential_problem p;
    p.L = {std::vector<double>(n, 3.0), std::vector<double>(n, 2.5), -0.1};
    for (std::size_t i = 0; i < n; ++i) p.L.lower[i] += 0.1 * static_cast<double>(i);
    p.time = 1.7;
    for (std::size_t i = 0; i < n; ++i) p.start.push_back(i == 6 ? -1 : 0);
    p.first = {{{5, decay}, {-3, 0.2}}};
    p.last = {{{0, 0}, {7, decay}}};
    const std::vector<quad> exact = positive_series(p).values();
    const auto bounds = enclose_exponential(p, 0, n);
    ASSERT_EQ(bounds.size(), n);
    for (std::size_t i = 0; i < n; ++i) {
      EXPECT_TRUE(holds(bounds[i], exact[i], 1e-30)) << decay << ' ' << i;
      EXPECT_LE(width(bounds[i]), 1e-14 * (1 + std::abs(bounds[i].hi()))) << decay << ' ' << i;
    }
  }
}

// The price errs by no more than is said, by sines and by contour.
TEST(fd_enclosed_exponential, of_both_ways_to_the_price) {
  for (const grid_kind kind : kinds)
    for (const std::int64_t nodes : {300, 0}) {
      fd_options o;
      o.scheme = time_scheme::exponential;
      o.grid = kind;
      o.verify = true;
      o.space_nodes = nodes;
      o.tolerance = 1e-3;
      const contract c = call_with_yield();
      const fd_result r = finite_difference_price(c, o);
      ASSERT_TRUE(r.enclosure && r.enclosure->verified);
      EXPECT_EQ(r.by_sine, kind == grid_kind::logarithmic);
      EXPECT_LE(width(r.enclosure->price), 1e-12);
      EXPECT_NEAR(r.value.price, r.enclosure->price.lo(), r.by_sine ? 1e-12 : 1e-9);
      EXPECT_NEAR(r.value.theta, r.enclosure->theta.lo(), 1e-6);
    }
}

TEST(fd_enclosed_exponential, what_is_beyond_doubles_is_not_proved) {
  const std::size_t n = 12;
  exponential_problem p;
  p.L = {std::vector<double>(n, 1.0), std::vector<double>(n, 1.0), 0.0};
  p.time = 1;
  p.start.assign(n, 1.0);
  const auto proved = [&] { return std::isfinite(enclose_exponential(p, 3, 1)[0].hi()); };
  EXPECT_TRUE(proved());
  p.L.lower[5] = 0;  // no weights
  EXPECT_FALSE(proved());
  p.L.lower[5] = -0.1;
  EXPECT_FALSE(proved());
  p.L.lower[5] = 1e300;
  EXPECT_FALSE(proved());
  p.L.lower[5] = std::numeric_limits<double>::quiet_NaN();
  EXPECT_FALSE(proved());
  p.L.lower[5] = 1;
  p.start[4] = std::numeric_limits<double>::infinity();
  EXPECT_FALSE(proved());
  p.start[4] = 1;
  p.L.rate = -1000;  // exp(1000)
  EXPECT_FALSE(proved());
}

// The polynomial is as near to the exponential function as is said, its slope too.
TEST(fd_chebyshev, is_near_the_exponential_function) {
  for (const double speed : {1e-12, 1e-3, 0.7, 3.0, 40.0, 2500.0}) {
    const double scale = 0.3, time = 0.5 * speed * scale;
    const enclosed_chebyshev p = enclose_chebyshev(time, scale);
    EXPECT_LE(p.off, 1e-24) << speed;
    EXPECT_GE(p.slope_off, 0);
    quad magnitudes = 0;
    for (const auto& b : p.coefficient) magnitudes += size_of(quad(b.hi) + b.lo);
    EXPECT_TRUE(magnitudes <= p.magnitudes);
    for (int k = 0; k <= 200; ++k) {
      const quad y = quad(k - 100) / 100;
      quad sum = 0, t = 1, t_next = y, slope = 0, u = 1, u_next = 2 * y;
      for (std::size_t j = 0; j < p.coefficient.size(); ++j) {
        const quad b = quad(p.coefficient[j].hi) + p.coefficient[j].lo;
        sum += b * t;
        const quad t_after = 2 * y * t_next - t;
        t = t_next;
        t_next = t_after;
        if (j == 0) continue;
        slope += b * quad(j) * u;
        const quad u_after = 2 * y * u_next - u;
        u = u_next;
        u_next = u_after;
      }
      const quad rho = 2 * quad(time) / scale, exact = quad_exp(rho * (y - 1));
      EXPECT_TRUE(size_of(sum - exact) <= quad(p.off) + 1e-27) << speed << ' ' << k;
      EXPECT_TRUE(size_of(slope - rho * exact) <= quad(p.slope_off) * rho + rho * quad(1e-27))
          << speed << ' ' << k;
    }
  }
}

}  // namespace
}  // namespace vouch
