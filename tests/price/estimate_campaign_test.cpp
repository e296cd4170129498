// What finite differences say of their error, for random contracts of each class, half of them with events
// close to expiry, to now or to each other. All 5,000 of a class, with a line for each, by
//   VOUCH_SOAK=1 build/release/tests/price/test_price --gtest_filter='estimates.*'
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdio>
#include <functional>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include <vouch/price/american.hpp>
#include <vouch/price/closed_form.hpp>
#include <vouch/price/price.hpp>

#include "campaign.hpp"
#include "local_volatility_grid.hpp"
#include "quadrature_price.hpp"

namespace vouch {
namespace {

struct dice {
  std::mt19937_64 random;

  double between(double a, double b) { return std::uniform_real_distribution<>(a, b)(random); }
  double spread(double a, double b) { return a * std::pow(b / a, between(0, 1)); }
  int one_of(int count) { return std::uniform_int_distribution<>(0, count - 1)(random); }
  bool chance(double share) { return between(0, 1) < share; }
};

// Times before expiry; half of them close to it, to now or to one that is there already.
std::vector<double> event_times(dice& d, double expiry, int count) {
  std::vector<double> times;
  while (static_cast<int>(times.size()) < count) {
    const double near = expiry * d.spread(1e-5, 0.05);
    double t = d.between(0.01, 0.99) * expiry;
    if (d.chance(0.5)) {
      const int where = d.one_of(times.empty() ? 2 : 3);
      t = where == 0 ? expiry - near : where == 1 ? near : times[0] + (d.chance(0.5) ? near : -near);
    }
    const bool apart = std::all_of(times.begin(), times.end(),
                                   [&](double other) { return std::abs(t - other) > 2e-6 * expiry; });
    if (apart && t > 1e-6 * expiry && t < expiry * (1 - 1e-6)) times.push_back(t);
  }
  std::sort(times.begin(), times.end());
  return times;
}

contract any_contract(dice& d) {
  contract c;
  plain_option& o = c.plain;
  o.type = d.chance(0.5) ? option_type::call : option_type::put;
  o.spot = 100;
  o.volatility = d.spread(0.05, 1);
  o.expiry = d.spread(0.02, 5);
  const double deviation = o.volatility * std::sqrt(o.expiry);
  o.strike = 100 * std::exp(std::clamp(d.between(-1.5, 1.5) * deviation, -1.5, 1.5));
  o.rate = d.between(-0.02, 0.12);
  o.dividend = d.chance(0.5) ? 0 : d.between(-0.02, 0.1);
  return c;
}

void add_dates(dice& d, contract& c) {
  c.exercise = exercise_style::bermudan;
  c.exercise_dates = event_times(d, c.plain.expiry, 1 + d.one_of(3));
}

std::vector<curve_step> any_curve(dice& d, double expiry, const std::function<double()>& value) {
  std::vector<curve_step> curve;
  for (const double t : event_times(d, expiry, 1 + d.one_of(3))) curve.push_back({t, value()});
  curve.push_back({expiry, value()});
  return curve;
}

void add_curves(dice& d, contract& c) {
  const double volatility = c.plain.volatility;
  if (d.chance(0.8))
    c.volatilities = any_curve(
        d, c.plain.expiry, [&] { return std::min(volatility * d.spread(0.3, d.chance(0.3) ? 10 : 2), 2.0); });
  if (c.volatilities.empty() || d.chance(0.4))
    c.rates = any_curve(d, c.plain.expiry, [&] { return d.between(-0.03, d.chance(0.2) ? 0.5 : 0.12); });
}

void add_dividends(dice& d, contract& c) {
  for (const double t : event_times(d, c.plain.expiry, 1 + d.one_of(3)))
    c.dividends.push_back({t, d.spread(0.2, d.chance(0.2) ? 25 : 6)});
}

void add_barrier(dice& d, contract& c) {
  const double away = d.between(0.15, 3) * c.plain.volatility * std::sqrt(c.plain.expiry);
  c.plain.barrier = static_cast<barrier_kind>(1 + d.one_of(4));
  c.plain.barrier_level = 100 * std::exp(is_up(c.plain.barrier) ? away : -away);
}

bool knocks_out(const contract& c) { return c.plain.barrier != barrier_kind::none && !is_in(c.plain.barrier); }

// What the price is compared with.
struct question {
  contract asked;
  double answer = 0, off = 0;  // the answer's own error
  bool on_grid = false;        // which is an estimate, too
};

question vanilla(dice& d) {
  contract c = any_contract(d);
  if (d.chance(0.5)) return {c, closed_form(c.plain).price};
  c.exercise = exercise_style::american;
  c.plain.rate = std::max(c.plain.rate, 0.001);
  c.plain.dividend = std::max(c.plain.dividend, 0.0);
  const valuation fine = american_core(c.plain, finest_boundary()),
                  coarse = american_core(c.plain, fast_boundary());
  return {c, fine.price, 0.01 * std::abs(fine.price - coarse.price) + 1e-9};
}

question digital(dice& d) {
  contract c = any_contract(d);
  c.plain.payoff = d.chance(0.5) ? payoff_kind::cash_digital : payoff_kind::asset_digital;
  c.plain.cash = d.spread(1, 100);
  return {c, closed_form(c.plain).price};
}

question barrier(dice& d) {
  contract c = any_contract(d);
  add_barrier(d, c);
  if (d.chance(0.4) && knocks_out(c)) {
    if (d.chance(0.5)) add_dates(d, c);
    if (d.chance(0.5)) add_curves(d, c);
    return {c, testing::quadrature_price(c).price(), 1e-7};
  }
  if (d.chance(0.3)) c.plain.rebate = d.spread(0.5, 10);
  return {c, closed_form(c.plain).price};
}

question bermudan(dice& d) {
  contract c = any_contract(d);
  if (d.chance(0.15)) c.plain.payoff = payoff_kind::cash_digital;
  add_dates(d, c);
  return {c, testing::quadrature_price(c).price(), 1e-7};
}

question with_dividends(dice& d, dividend_model model) {
  contract c = any_contract(d);
  c.model = model;
  add_dividends(d, c);
  if (model == dividend_model::piecewise && d.chance(0.15)) add_barrier(d, c);
  if (is_in(c.plain.barrier)) c.plain.barrier = barrier_kind::none;
  if (d.chance(model == dividend_model::escrowed ? 0.9 : 0.3)) add_dates(d, c);
  if (d.chance(0.2)) add_curves(d, c);
  contract as_dates = c;
  // Without a yield a call is exercised just before a dividend or never.
  if (d.chance(0.3) && c.plain.type == option_type::call && c.rates.empty() && c.plain.rate > 0 &&
      c.plain.barrier == barrier_kind::none) {
    c.plain.dividend = 0;
    c.exercise = exercise_style::american;
    as_dates = c;
    as_dates.exercise = exercise_style::bermudan;
    as_dates.exercise_dates.clear();
    for (const cash_dividend& paid : c.dividends) as_dates.exercise_dates.push_back(paid.time);
  }
  return {c, testing::quadrature_price(as_dates).price(), 1e-7};
}

question falling(dice& d) { return with_dividends(d, dividend_model::piecewise); }
question escrowed(dice& d) { return with_dividends(d, dividend_model::escrowed); }

question curves(dice& d) {
  contract c = any_contract(d);
  add_curves(d, c);
  const int kind = d.one_of(4);
  if (kind == 0) c.plain.payoff = payoff_kind::cash_digital;
  if (kind == 1) add_dates(d, c);
  if (kind == 2) add_barrier(d, c);
  if (is_in(c.plain.barrier)) c.plain.barrier = barrier_kind::none;
  return {c, testing::quadrature_price(c).price(), 1e-7};
}

// Volatilities of time alone have a formula, by the mean of their squares; others go to another grid.
question local_volatility(dice& d) {
  contract c = any_contract(d);
  const double volatility = c.plain.volatility = std::min(c.plain.volatility, 0.6);
  volatility_table& table = c.local_volatility;
  table.times = event_times(d, c.plain.expiry, 1 + d.one_of(4));
  const bool smiles = d.chance(0.5);
  table.spots = smiles ? std::vector<double>{70, 90, 100, 115, 140} : std::vector<double>{100};
  for (std::size_t k = 0; k < table.times.size() * table.spots.size(); ++k)
    table.values.push_back(volatility * d.spread(0.6, smiles ? 1.7 : 4));
  if (!smiles) {
    plain_option mean = c.plain;
    mean.volatility = table.mean_at(mean.expiry, mean.spot);
    return {c, closed_form(mean).price};
  }
  const testing::grid_value other = testing::local_volatility_price(c);
  return {c, other.price, other.off, true};
}

std::string described(const contract& c) {
  std::ostringstream text;
  text.precision(17);
  const plain_option& o = c.plain;
  text << (o.type == option_type::call ? "call" : "put") << " payoff " << static_cast<int>(o.payoff)
       << " barrier " << static_cast<int>(o.barrier) << ' ' << o.barrier_level << " exercise "
       << static_cast<int>(c.exercise) << " strike " << o.strike << " rate " << o.rate << " dividend "
       << o.dividend << " volatility " << o.volatility << " expiry " << o.expiry << " dates";
  for (const double t : c.exercise_dates) text << ' ' << t;
  text << " dividends";
  for (const cash_dividend& paid : c.dividends) text << ' ' << paid.time << ':' << paid.amount;
  text << " model " << static_cast<int>(c.model) << " rates";
  for (const curve_step& s : c.rates) text << ' ' << s.until << ':' << s.value;
  text << " volatilities";
  for (const curve_step& s : c.volatilities) text << ' ' << s.until << ':' << s.value;
  text << " table times";
  for (const double t : c.local_volatility.times) text << ' ' << t;
  text << " values";
  for (const double v : c.local_volatility.values) text << ' ' << v;
  return text.str();
}

// In 999 of 1,000 contracts the error is what is said or less, in all twice that or less.
void expect_covered(const char* name, question (*any)(dice&)) {
  const int cases = testing::campaign(5000);
  std::atomic<int> met = 0, over = 0, far_over = 0;
  std::string worst;
  double most = 0;
#pragma omp parallel for schedule(dynamic)
  for (int k = 0; k < cases; ++k) {
    dice d{std::mt19937_64(std::hash<std::string>{}(name) + static_cast<std::uint64_t>(k))};
    question q = any(d);
    pricing_options how;
    how.force_finite_difference = true;
    how.finite_difference.tolerance = d.spread(1e-4, 1e-2);
    const pricing p = price(q.asked, how);
    const auto in_estimates = [&] {
      return std::max(std::abs(p.value.price - q.answer) - q.off, 0.0) / p.error_estimate;
    };
    double share = in_estimates();
    if (share > 1 && q.on_grid) {  // whose error is it?
      const testing::grid_value finer = testing::local_volatility_price(q.asked, 4);
      q.answer = finer.price;
      q.off = finer.off;
      share = in_estimates();
    }
    met += p.tolerance_met;
    over += share > 1;
    far_over += share > 2;
#pragma omp critical
    {
      if (share > 1) {
        std::ostringstream text;
        text << name << " case " << k << ": " << p.value.price << " for " << q.answer << ", error " << share
             << " times the estimate " << p.error_estimate << (p.tolerance_met ? "" : " (not met)") << " at "
             << how.finite_difference.tolerance << "; " << described(q.asked) << '\n';
        worst += text.str();
      }
      most = std::max(most, share);
    }
  }
  // Class, contracts, tolerances met, errors above the estimate and above twice of it, the largest in estimates.
  std::printf("| %s | %d | %d | %d | %d | %.2f |\n", name, cases, met.load(), over.load(), far_over.load(),
              most);
  EXPECT_LE(over, cases / 1000) << worst;
  EXPECT_EQ(far_over, 0) << worst;
}

TEST(estimates, of_vanilla_options) { expect_covered("vanilla, European and American", vanilla); }
TEST(estimates, of_digital_options) { expect_covered("digital", digital); }
TEST(estimates, of_barrier_options) { expect_covered("barrier", barrier); }
TEST(estimates, of_bermudan_options) { expect_covered("Bermudan", bermudan); }
TEST(estimates, of_falling_shares) { expect_covered("dividends, falling share", falling); }
TEST(estimates, of_escrowed_dividends) { expect_covered("dividends in escrow", escrowed); }
TEST(estimates, of_curves) { expect_covered("curves", curves); }
TEST(estimates, of_local_volatility) { expect_covered("local volatility", local_volatility); }

}  // namespace
}  // namespace vouch
