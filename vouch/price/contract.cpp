#include <vouch/price/contract.hpp>

#include <algorithm>
#include <cmath>

#include <vouch/core/error.hpp>
#include <vouch/core/ieee_environment.hpp>
#include <vouch/price/slips.hpp>
#include <vouch/text/number.hpp>

namespace vouch {
namespace {

void need(bool fine, const char* name, double value, const char* what) {
  if (!fine) throw value_error(std::string(name) + " " + number_text(value) + " " + what);
}

void check_not_negative(const char* name, double value) {
  need(std::isfinite(value), name, value, "is not a finite number");
  need(value >= 0, name, value, "is negative");
}

void check_finite(const char* name, double value) {
  need(std::isfinite(value), name, value, "is not a finite number");
}

void check_curve(const char* name, const std::vector<curve_step>& curve, bool may_be_negative) {
  double before = 0;
  for (std::size_t k = 0; k < curve.size(); ++k) {
    const bool alone = curve.size() == 1;  // the time of the last one does not count
    may_be_negative ? check_finite(name, curve[k].value) : check_not_negative(name, curve[k].value);
    need(alone || curve[k].until > before, name, curve[k].until, "is a time that does not rise");
    before = curve[k].until;
  }
}

void check_rising(const char* name, const std::vector<double>& points) {
  for (std::size_t k = 0; k < points.size(); ++k) {
    check_not_negative(name, points[k]);
    need(k == 0 || points[k] > points[k - 1], name, points[k], "does not rise");
  }
}

void check_plain(const plain_option& o) {
  check_not_negative("spot", o.spot);
  check_not_negative("strike", o.strike);
  check_not_negative("volatility", o.volatility);
  check_not_negative("expiry", o.expiry);
  check_finite("rate", o.rate);
  check_finite("dividend", o.dividend);
  check_not_negative("cash", o.cash);
  check_not_negative("rebate", o.rebate);
  if (o.barrier == barrier_kind::none) return;
  check_not_negative("barrier", o.barrier_level);
  need(o.barrier_level > 0, "barrier", o.barrier_level, "is not positive");
}

void check_escrow(const contract& c) {
  if (!c.is_escrowed()) return;
  if (c.plain.barrier != barrier_kind::none || !c.local_volatility.empty())
    throw value_error("escrowed dividends go with neither a barrier nor a local volatility",
                      "take the piecewise model");
  const double worth = escrow(c, 0);
  need(worth < c.plain.spot, "spot", c.plain.spot, "is worth less than its escrowed dividends");
}

// The place of x among rising points: index and share of the next one.
std::pair<std::size_t, double> place(const std::vector<double>& points, double x) {
  if (points.size() < 2 || x <= points.front()) return {0, 0.0};
  if (x >= points.back()) return {points.size() - 2, 1.0};
  const auto next = std::upper_bound(points.begin(), points.end(), x);
  const auto k = static_cast<std::size_t>(next - points.begin() - 1);
  return {k, (x - points[k]) / (points[k + 1] - points[k])};
}

}  // namespace

double volatility_table::at(double time, double spot) const {
  const ieee_environment here;
  const auto row = place(times, time), column = place(spots, spot);
  const std::size_t width = spots.size();
  const auto along = [&](std::size_t r) {
    const double* v = values.data() + r * width + column.first;
    return width < 2 ? v[0] : v[0] + column.second * (v[1] - v[0]);
  };
  const double earlier = along(row.first);
  return times.size() < 2 ? earlier : earlier + row.second * (along(row.first + 1) - earlier);
}

void check(contract& c) {
  const ieee_environment here;
  check_plain(c.plain);
  check_curve("rate", c.rates, true);
  check_curve("volatility", c.volatilities, false);
  for (const cash_dividend& d : c.dividends) {
    check_finite("dividend time", d.time);
    check_not_negative("dividend amount", d.amount);
  }
  for (const double date : c.exercise_dates) check_finite("exercise date", date);
  std::sort(c.exercise_dates.begin(), c.exercise_dates.end());
  std::stable_sort(c.dividends.begin(), c.dividends.end(),
                   [](const cash_dividend& a, const cash_dividend& b) { return a.time < b.time; });
  check_escrow(c);
  if (c.local_volatility.empty()) return;
  check_rising("time of the volatility table", c.local_volatility.times);
  check_rising("spot of the volatility table", c.local_volatility.spots);
  for (const double v : c.local_volatility.values) check_not_negative("local volatility", v);
  if (c.local_volatility.values.size() != c.local_volatility.times.size() * c.local_volatility.spots.size())
    throw shape_error("the volatility table needs a value for each time and spot");
}

double value_at(const std::vector<curve_step>& curve, double constant, double time) {
  if (curve.empty()) return constant;
  for (const curve_step& step : curve)
    if (time < step.until) return step.value;
  return curve.back().value;
}

double integral_to(const std::vector<curve_step>& curve, double constant, double time) {
  const ieee_environment here;
  if (curve.empty()) return constant * time;
  double sum = 0, from = 0;
  for (std::size_t k = 0; k < curve.size() && from < time; ++k) {
    const double to = k + 1 == curve.size() ? time : std::min(time, curve[k].until);
    sum += curve[k].value * std::max(to - from, 0.0);
    from = std::max(from, to);
  }
  return sum;
}

double volatility_table::mean_at(double expiry, double spot) const {
  const ieee_environment here;
  if (!(expiry > 0)) return at(0, spot);
  double sum = 0, from = 0, before = at(0, spot);  // linear between the times: its square has this integral
  const auto go = [&](double to) {
    const double after = at(to, spot);
    sum += (to - from) * (before * before + before * after + after * after) / 3;
    from = to;
    before = after;
  };
  for (const double time : times)
    if (time > 0 && time < expiry) go(time);
  go(expiry);
  return std::sqrt(sum / expiry);
}

double typical_volatility(const contract& c) {
  const ieee_environment here;
  if (!c.local_volatility.empty()) return c.local_volatility.mean_at(c.plain.expiry, c.plain.spot);
  if (c.volatilities.empty() || !(c.plain.expiry > 0)) return value_at(c.volatilities, c.plain.volatility, 0);
  std::vector<curve_step> squares = c.volatilities;
  for (curve_step& step : squares) step.value *= step.value;
  return std::sqrt(integral_to(squares, 0, c.plain.expiry) / c.plain.expiry);
}

double escrow(const contract& c, double time, bool inclusive) {
  const ieee_environment here;
  if (!c.is_escrowed()) return 0;
  const auto growth = [&](double to) { return integral_to(c.rates, c.plain.rate, to) - c.plain.dividend * to; };
  const double least = 1e-12 * c.plain.expiry, now = growth(time);
  double worth = 0;
  for (const cash_dividend& d : c.dividends) {
    const bool counts = d.time > least && d.time < c.plain.expiry - least;
    if (counts && d.time > time + (inclusive ? -least : least))
      worth += d.amount * std::exp(now - growth(d.time));
  }
  return worth;
}

double payoff_at(const plain_option& o, double spot) {
  const ieee_environment here;
  const double inside = sign_of(o.type) * (spot - o.strike);
  switch (o.payoff) {
    case payoff_kind::cash_digital:
      return inside > 0 ? o.cash : 0;
    case payoff_kind::asset_digital:
      return inside > 0 ? spot : 0;
    default:
      return std::max(inside, 0.0);
  }
}

double payoff_on_grid(const contract& c, double spot) {
  const plain_option& o = c.plain;
  const bool passes = c.exercise == exercise_style::american && o.payoff != payoff_kind::vanilla;
  constexpr double alike = 1e-9;
  const bool there = passes && std::abs(spot - o.strike) <= alike * o.strike;
  return payoff_at(o, there ? o.strike * (1 + sign_of(o.type) * alike) : spot);
}

namespace {

// What stands in a contract and has no effect on it.
void add_idle_dates(const contract& c, std::vector<std::string>& slips) {
  const double expiry = c.plain.expiry;
  const auto idle = [&](const char* what, double date) {
    slips.push_back(std::string(what) + number_text(date) + " does not lie between today (0) and expiry (" +
                    number_text(expiry) + "): it has no effect");
  };
  bool has_date = false;
  for (const double date : c.exercise_dates) {
    has_date |= date >= 0 && date < expiry;
    if (!(date >= 0 && date <= expiry)) idle("the exercise date ", date);
  }
  if (c.exercise == exercise_style::bermudan && !has_date)
    slips.emplace_back("a bermudan option without dates before its expiry is a european one");
  for (const cash_dividend& d : c.dividends)
    if (!(d.time > 0 && d.time < expiry)) idle("the dividend at ", d.time);
}

}  // namespace

std::vector<std::string> slips_of(const contract& c) {
  std::vector<std::string> slips;
  add_idle_dates(c, slips);
  const plain_option& o = c.plain;
  double highest = c.volatilities.empty() && c.local_volatility.empty() ? o.volatility : 0;
  for (const curve_step& step : c.volatilities) highest = std::max(highest, step.value);
  for (const double v : c.local_volatility.values) highest = std::max(highest, v);
  if (highest > unlikely_volatility)
    slips.push_back("the volatility " + number_text(highest) + " is " + number_text(100 * highest) +
                    " % a year: 0.2 is 20 %");
  if (o.barrier != barrier_kind::none && barrier_is_hit(o))
    slips.push_back("the barrier " + number_text(o.barrier_level) + " is touched already: the spot is " +
                    number_text(o.spot));
  return slips;
}

}  // namespace vouch
