#include <vouch/price/finite_difference/time_stepping.hpp>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

namespace vouch {
namespace {

// Behind a dividend (before it, as time runs) nobody exercises a put: the underlying is soon worth less. Exercise
// begins again, at once wherever the put is deep in the money, when the interest on the strike has made up for
// it: at these times before expiry.
std::vector<double> returns_of_exercise(const contract& c) {
  std::vector<double> all;
  const double expiry = c.plain.expiry, strike = c.plain.strike;
  if (c.exercise != exercise_style::american || c.plain.type != option_type::put ||
      c.plain.payoff != payoff_kind::vanilla || !(strike > 0))
    return all;
  const auto interest = [&](double later, double earlier) {
    return integral_to(c.rates, c.plain.rate, later) - integral_to(c.rates, c.plain.rate, earlier);
  };
  double waits_for = strike, time = expiry;  // what waiting pays an underlying of 0, then
  for (std::size_t k = c.dividends.size(); k-- > 0;) {
    const cash_dividend& d = c.dividends[k];
    if (!(d.time > 0 && d.time < expiry && d.amount > 0)) continue;
    waits_for = std::max(waits_for * std::exp(-interest(time, d.time)), strike) + d.amount;
    time = d.time;
    const double needed = std::log(waits_for / strike),
                 next = k > 0 ? std::max(c.dividends[k - 1].time, 0.0) : 0.0;
    if (!(interest(time, next) > needed)) continue;
    double late = time, early = next;
    for (int halving = 0; halving < 60; ++halving) {
      const double middle = 0.5 * (late + early);
      (interest(time, middle) > needed ? early : late) = middle;
    }
    all.push_back(expiry - early);
  }
  return all;
}

// Times before expiry at which something happens, and where it ends.
std::vector<fd_segment> events(const contract& c) {
  const double expiry = c.plain.expiry;
  std::vector<fd_segment> all;
  const auto at = [&](double time) -> fd_segment& {
    const double tau = expiry - time;
    for (fd_segment& s : all)
      if (std::abs(s.to - tau) <= 1e-12 * expiry) return s;
    all.push_back({0, tau, 0, false, 0, false});
    return all.back();
  };
  const auto inside = [&](double time) { return time > 1e-12 * expiry && time < expiry * (1 - 1e-12); };
  for (const cash_dividend& d : c.dividends)
    if (inside(d.time) && d.amount > 0) at(d.time).dividend += d.amount;
  if (c.exercise == exercise_style::bermudan)
    for (const double date : c.exercise_dates) {
      if (inside(date)) at(date).exercise = true;
      if (std::abs(date) <= 1e-12 * expiry) at(0).exercise = true;
    }
  for (const auto* curve : {&c.rates, &c.volatilities})
    for (std::size_t k = 0; k + 1 < curve->size(); ++k)
      if (inside((*curve)[k].until)) at((*curve)[k].until);
  for (const double time : c.local_volatility.times)
    if (inside(time)) at(time);
  for (const double tau : returns_of_exercise(c))
    if (inside(expiry - tau)) at(expiry - tau);
  at(0);
  std::sort(all.begin(), all.end(), [](const fd_segment& a, const fd_segment& b) { return a.to < b.to; });
  double from = 0;
  bool smooths = true;  // the exercise boundary moves fast behind whatever happens
  for (fd_segment& s : all) {
    s.from = from;
    s.smooths = smooths;
    from = s.to;
    smooths = s.dividend > 0 || s.exercise || c.exercise == exercise_style::american;
  }
  return all;
}

// What happens in each segment of all that happens until expiry: the largest of its shares of the time, of the
// variance, and of the drift, where that is more than a deviation in all.
std::vector<double> activity(const contract& c, const std::vector<fd_segment>& segments) {
  std::vector<double> most(segments.size(), 0.0);
  const auto count = [&](const auto& pace, double least) {
    std::vector<double> amount;
    double total = 0;
    for (const fd_segment& s : segments) {
      amount.push_back(pace(c.plain.expiry - 0.5 * (s.from + s.to)) * (s.to - s.from));
      total += amount.back();
    }
    total = std::max(total, least);
    for (std::size_t k = 0; k < most.size(); ++k)
      if (total > 0) most[k] = std::max(most[k], amount[k] / total);
  };
  count([](double) { return 1.0; }, 0);
  for (const double spot : c.local_volatility.spots)
    count([&](double time) { return std::pow(c.local_volatility.at(time, spot), 2); }, 0);
  if (c.local_volatility.empty())
    count([&](double time) { return std::pow(value_at(c.volatilities, c.plain.volatility, time), 2); }, 0);
  count([&](double time) { return std::abs(value_at(c.rates, c.plain.rate, time) - c.plain.dividend); },
        typical_volatility(c) * std::sqrt(c.plain.expiry));
  return most;
}

// The share of steps that each segment gets, in eighths, the common part of 24 and 128. The kink of the payoff
// is smoothed the more slowly the longer ago it was: for the same error everywhere steps grow with the square
// root of what has happened since. Later kinks, of exercise, are weaker.
constexpr int parts = 8;
std::vector<int> share_steps(const std::vector<double>& activity) {
  double total = 0;
  for (const double a : activity) total += a;
  std::vector<double> weight;
  double all = 0, until = 0, root = 0;
  for (const double a : activity) {
    until += a / total;
    weight.push_back(std::max(std::sqrt(until) - root, a / total));
    root = std::sqrt(until);
    all += weight.back();
  }
  std::vector<int> share;
  for (const double w : weight) share.push_back(std::max(1, static_cast<int>(std::lround(w / all * parts))));
  return share;
}

// Behind a kink each piece of an American option's segment is four times as long as all before it, with twice
// the steps of the one before: as many pieces, and steps in proportion, for `times` as many steps.
void grade(const fd_segment& s, std::int64_t times, std::vector<fd_segment>& all) {
  const std::int64_t base = s.steps / times;
  constexpr int most_levels = 6;
  int levels = 0;
  while (levels < most_levels && (4 << levels) <= base) ++levels;
  std::int64_t left = s.steps;
  double from = s.from;
  for (int level = levels; level >= 0; --level) {
    fd_segment piece = s;
    piece.from = from;
    piece.to = level == 0 ? s.to : s.from + (s.to - s.from) * std::pow(0.25, level);
    piece.smooths = level == levels;
    piece.steps = level == 0 ? left : times * std::max<std::int64_t>(2, base >> (level + 1));
    left -= piece.steps;
    if (level > 0) {
      piece.dividend = 0;
      piece.exercise = false;
    }
    from = piece.to;
    all.push_back(piece);
  }
}

}  // namespace

std::vector<fd_segment> make_segments(const contract& c, std::int64_t steps) {
  std::vector<fd_segment> coarse = events(c), all;
  const std::vector<double> active = activity(c, coarse);
  const std::vector<int> share = share_steps(active);
  constexpr std::int64_t few = 24, american = 128;
  const std::int64_t times =
      std::bit_floor(static_cast<std::uint64_t>(std::max<std::int64_t>(steps / american, 1)));
  double age = 0;  // what has happened since the last kink
  for (std::size_t k = 0; k < coarse.size(); ++k) {
    fd_segment s = coarse[k];
    s.steps = coarse.size() == 1 ? steps : std::max<std::int64_t>(2, (steps * share[k] + parts / 2) / parts);
    if (s.smooths) age = 0;
    s.smooths |= active[k] * parts > 2 * age * few * share[k];
    age += active[k];
    c.exercise == exercise_style::american&& s.smooths ? grade(s, times, all) : all.push_back(s);
  }
  return all;
}

double sharpest_kink(const contract& c) {
  double least = std::numeric_limits<double>::infinity(), variance = 0;
  const plain_option& o = c.plain;
  if (o.barrier != barrier_kind::none && o.strike > 0 && o.strike != o.barrier_level)
    least = std::abs(std::log(o.strike / o.barrier_level));
  for (const fd_segment& s : events(c)) {
    const double middle = c.plain.expiry - 0.5 * (s.from + s.to);
    const double sigma = c.local_volatility.empty() ? value_at(c.volatilities, c.plain.volatility, middle)
                                                    : c.local_volatility.at(middle, c.plain.spot);
    variance += sigma * sigma * (s.to - s.from);
    if (!(s.dividend > 0 || s.exercise)) continue;
    if (variance > 0) least = std::min(least, std::sqrt(variance));
    variance = 0;
  }
  return least;
}

std::vector<fd_segment> in_pieces(const std::vector<fd_segment>& segments) {
  constexpr std::int64_t pieces = 12, fewest = 2;
  std::vector<fd_segment> all;
  for (const fd_segment& s : segments) {
    const double length = (s.to - s.from) / static_cast<double>(s.steps);
    const std::int64_t each = std::max(s.steps / pieces, fewest);
    for (std::int64_t done = 0; done < s.steps;) {
      const std::int64_t steps = s.steps - done < 2 * each ? s.steps - done : each;
      fd_segment piece = s;
      piece.from = s.from + length * static_cast<double>(done);
      piece.steps = steps;
      piece.smooths = s.smooths && done == 0;
      done += steps;
      if (done < s.steps) {
        piece.to = s.from + length * static_cast<double>(done);
        piece.dividend = 0;
        piece.exercise = false;
      }
      all.push_back(piece);
    }
  }
  return all;
}

}  // namespace vouch
