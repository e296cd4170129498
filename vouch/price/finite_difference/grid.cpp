#include <vouch/price/finite_difference/grid.hpp>

#include <algorithm>
#include <cmath>

#include <vouch/core/error.hpp>
#include <vouch/text/number.hpp>

namespace vouch {
namespace {

// Spots and their squares shall be numbers.
constexpr double most_log = 300;

struct range {
  double low, high;
  bool low_fixed = false, high_fixed = false;  // a barrier
};

// By how much the logarithm of the underlying moves down (side -1) or up for a deviation. With a local volatility a
// way is as long as the volatility is where it leads, and so are those deviations on it that a grid reaches.
double deviation_to(double side, const contract& c) {
  const double root = std::sqrt(c.plain.expiry);
  if (c.local_volatility.empty()) return typical_volatility(c) * root;
  constexpr double step = 1.0 / 16;
  double x = 0;
  for (double way = 0; way < reached_deviations && std::abs(x) < most_log; way += step)
    x += side * step * root * c.local_volatility.mean_at(c.plain.expiry, c.plain.spot * std::exp(x));
  return std::abs(x) / reached_deviations;
}

// Of logarithms of the underlying, as far as it may get.
underlying_range reach_of(const contract& c) {
  const plain_option& o = c.plain;
  const double spot = std::log(o.spot), strike = std::log(std::max(o.strike, 1e-8 * o.spot));
  const auto one_way = [&](double side) {
    const double deviation = deviation_to(side, c);
    // How far the underlying drifts down and, counted in units of it, up on the way.
    double down = 0, up = 0;
    const auto pass = [&](double time) {
      const double half = 0.5 * deviation * deviation * (time / o.expiry);
      const double drift = integral_to(c.rates, o.rate, time) - o.dividend * time;
      down = std::min(down, drift - half);
      up = std::max(up, drift + half);
    };
    for (const curve_step& r : c.rates)
      if (r.until > 0 && r.until < o.expiry) pass(r.until);
    pass(o.expiry);
    return range_of_underlying(spot, strike, deviation, down, up, false);
  };
  return {one_way(-1).low, one_way(1).high};
}

// Between two dividends a put is exercised, if at all, where the underlying is worth less than the interest on the
// strike until the second: where paths that the first leaves so low count, a grid reaches as far below that boundary
// as an underlying gets.
double below_exercise(const contract& c, double low) {
  const bool american = c.exercise == exercise_style::american;
  double least = low;
  if (c.exercise == exercise_style::european || c.plain.type != option_type::put || c.is_escrowed())
    return least;
  const auto exercised = [&](const cash_dividend& first, const cash_dividend& second, double time) {
    const double interest =
        integral_to(c.rates, c.plain.rate, second.time) - integral_to(c.rates, c.plain.rate, time);
    const double boundary = c.plain.strike * -std::expm1(-interest);
    if (!(boundary > 0) || std::log(first.amount + boundary) < low) return;
    constexpr double deviations = 5;
    least = std::min(least, std::log(boundary) - deviations * typical_volatility(c) *
                                                     std::sqrt(std::max(time - first.time, 0.0)));
  };
  for (std::size_t k = 0; k + 1 < c.dividends.size(); ++k) {
    const cash_dividend &first = c.dividends[k], &second = c.dividends[k + 1];
    if (!(first.time > 0 && second.time < c.plain.expiry)) continue;
    if (american) exercised(first, second, first.time);
    for (const double date : c.exercise_dates)
      if (date > first.time && date < second.time) exercised(first, second, date);
  }
  constexpr double most = 3;  // what is lower still is worth too little
  return std::max(least, low - most);
}

// Of logarithms of the underlying.
range log_range(const contract& c) {
  const plain_option& o = c.plain;
  const underlying_range reach = reach_of(c);
  range r{reach.low, reach.high};
  const double spot = std::log(o.spot);
  double cash = 0;
  for (const cash_dividend& d : c.dividends) cash += d.time > 0 && d.time < o.expiry ? d.amount : 0;
  if (cash > 0 && !c.is_escrowed())
    r.low =
        below_exercise(c, std::min(r.low, std::log(std::max(o.spot - cash, 0.05 * o.spot)) - (spot - r.low)));
  if (!(r.low > -most_log && r.high < most_log))
    throw value_error("a grid for this volatility and expiry would reach beyond the range of numbers");
  if (o.barrier == barrier_kind::none) return r;
  (is_up(o.barrier) ? r.high : r.low) = std::log(o.barrier_level);
  (is_up(o.barrier) ? r.high_fixed : r.low_fixed) = true;
  if (!(spot > r.low && spot < r.high)) throw value_error("the barrier is hit already");
  return r;
}

// Moves the free end of [low, high] so that middle lies half way between two of n equidistant nodes; where a
// barrier is near it, on a node of this grid and of all that halve its spacing, so that they stay alike. Not
// where that would change the grid by more than half.
void align(range& r, double middle, std::int64_t n, bool on_node) {
  if (!(middle > r.low && middle < r.high)) return;
  std::int64_t cells = n - 1;
  constexpr std::int64_t coarse = 200;
  while (on_node && cells % 2 == 0 && cells > coarse) cells /= 2;
  const double all = static_cast<double>(cells), shift = on_node ? 0 : 0.5;
  const double distance = r.high_fixed ? r.high - middle : middle - r.low;
  const double wanted = distance / (r.high - r.low) * all, taken = std::floor(wanted) + shift;
  if (wanted < (on_node ? 2 : 1)) return;
  const double length = distance / taken * all;
  (r.high_fixed ? r.low : r.high) = r.high_fixed ? r.high - length : r.low + length;
}

fd_grid logarithmic(range r, double strike, std::int64_t n, bool on_node) {
  fd_grid grid;
  align(r, std::log(strike), n, on_node);
  grid.spacing = (r.high - r.low) / static_cast<double>(n - 1);
  for (std::int64_t i = 0; i < n; ++i) {
    const double x = r.high_fixed ? r.high - grid.spacing * static_cast<double>(n - 1 - i)
                                  : r.low + grid.spacing * static_cast<double>(i);
    grid.spot.push_back(std::exp(x));
  }
  return grid;
}

fd_grid uniform(range r, double strike, std::int64_t n, bool on_node) {
  r.low = r.low_fixed ? std::exp(r.low) : 0;
  r.high = std::exp(r.high);
  const double bottom = r.low;
  align(r, strike, n, on_node);
  if (r.low < bottom) r.low = bottom;  // only below a barrier: the strike then lies where it falls
  fd_grid grid;
  for (std::int64_t i = 0; i < n; ++i)
    grid.spot.push_back(r.low + (r.high - r.low) * static_cast<double>(i) / static_cast<double>(n - 1));
  return grid;
}

// S = K + alpha sinh(x), x equidistant; about the spot where the strike is not on the grid.
fd_grid concentrated(range r, const contract& c, std::int64_t n, bool on_node) {
  const double log_strike = std::log(std::max(c.plain.strike, 1e-8 * c.plain.spot));
  const double strike =
      std::exp(log_strike > r.low && log_strike < r.high ? log_strike : std::log(c.plain.spot));
  const double alpha = strike * std::max(0.5 * typical_volatility(c) * std::sqrt(c.plain.expiry), 1e-3);
  r.low = std::asinh(((r.low_fixed ? std::exp(r.low) : 0) - strike) / alpha);
  r.high = std::asinh((std::exp(r.high) - strike) / alpha);
  const double bottom = r.low;
  align(r, 0, n, on_node);
  r.low = std::max(r.low, bottom);
  fd_grid grid;
  for (std::int64_t i = 0; i < n; ++i) {
    const double x = r.low + (r.high - r.low) * static_cast<double>(i) / static_cast<double>(n - 1);
    grid.spot.push_back(std::max(strike + alpha * std::sinh(x), 0.0));
  }
  return grid;
}

}  // namespace

fd_grid make_grid(const contract& c, grid_kind kind, std::int64_t n) {
  const range r = log_range(c);
  const bool vanilla = c.plain.payoff == payoff_kind::vanilla;
  const bool on_node = vanilla ? c.plain.barrier != barrier_kind::none : c.exercise == exercise_style::american;
  fd_grid grid = kind == grid_kind::uniform ? uniform(r, c.plain.strike, n, on_node)
                 : kind == grid_kind::concentrated
                     ? concentrated(r, c, n, on_node)
                     : logarithmic(r, std::max(c.plain.strike, 1e-8 * c.plain.spot), n, on_node);
  grid.kinks = c.local_volatility.spots;
  if (r.low_fixed) grid.spot.front() = c.plain.barrier_level;
  if (r.high_fixed) grid.spot.back() = c.plain.barrier_level;
  return grid;
}

grid_resolution resolution_of(const contract& c, const fd_grid& grid) {
  const double deviation = typical_volatility(c) * std::sqrt(c.plain.expiry);
  const range r = log_range(c);
  grid_resolution found{1e300, 0};
  for (const double spot : {c.plain.spot, c.plain.strike}) {
    const auto next = std::upper_bound(grid.spot.begin(), grid.spot.end(), spot);
    const bool reached = std::log(spot) > r.low && std::log(spot) < r.high;
    if (!reached || next == grid.spot.begin() || next == grid.spot.end()) continue;
    const double cells = deviation * spot / (*next - *(next - 1));
    found = {std::min(found.least, cells), std::max(found.most, cells)};
  }
  return found;
}

namespace {

// Squares of the volatility at the inner nodes. A second difference is the mean, weighted by a hat, of the
// second derivative, which is as 1 / variance where a local volatility has a kink: to that mean the kink adds
// the more the nearer it is to a node.
std::vector<double> local_variances(const volatility_table& table, const fd_grid& grid, double time) {
  const std::size_t n = grid.spot.size(), spots = table.spots.size();
  std::vector<double> squares(n), added(n, 0.0);
  for (std::size_t i = 1; i + 1 < n; ++i) {
    const double sigma = table.at(time, grid.spot[i]);
    squares[i] = sigma * sigma;
  }
  const auto slope = [&](std::size_t k) {  // behind spot k - 1
    return k == 0 || k == spots ? 0.0
                                : (table.at(time, table.spots[k]) - table.at(time, table.spots[k - 1])) /
                                      (table.spots[k] - table.spots[k - 1]);
  };
  const auto place = [&](double spot) { return grid.spacing > 0 ? std::log(spot) : spot; };
  for (std::size_t k = 0; k < spots; ++k) {
    const double kink = table.spots[k], sigma = table.at(time, kink);
    const auto next = std::upper_bound(grid.spot.begin(), grid.spot.end(), kink) - grid.spot.begin();
    if (next < 2 || next + 2 > grid.size() || !(sigma > 0)) continue;
    const auto above = static_cast<std::size_t>(next), below = above - 1;
    const double bend =
        -2 * (slope(k + 1) - slope(k)) * (grid.spacing > 0 ? kink : 1) / (sigma * sigma * sigma);
    const double gap = place(grid.spot[above]) - place(grid.spot[below]),
                 share = (place(kink) - place(grid.spot[below])) / gap;
    const auto add = [&](std::size_t node, double weight) {
      const double width = place(grid.spot[node + 1]) - place(grid.spot[node - 1]);
      if (node > 0 && node + 1 < n) added[node] += bend * gap * gap * weight * weight * weight / (3 * width);
    };
    add(below, 1 - share);
    add(above, share);
  }
  for (std::size_t i = 1; i + 1 < n; ++i) squares[i] /= std::clamp(1 + squares[i] * added[i], 0.5, 2.0);
  return squares;
}

}  // namespace

fd_operator make_operator(const contract& c, const fd_grid& grid, double time) {
  const auto n = grid.spot.size();
  fd_operator L{std::vector<double>(n), std::vector<double>(n), value_at(c.rates, c.plain.rate, time)};
  const double drift = L.rate - c.plain.dividend, constant = value_at(c.volatilities, c.plain.volatility, time);
  const bool local = !c.local_volatility.empty(), alike = grid.spacing > 0 && !local;
  const std::vector<double> squares =
      local ? local_variances(c.local_volatility, grid, time) : std::vector<double>{};
  for (std::size_t i = 1; i + 1 < n; ++i) {
    if (alike && i > 1) {
      L.lower[i] = L.lower[1];
      L.upper[i] = L.upper[1];
      continue;
    }
    const double s = grid.spot[i];
    const double square = local ? squares[i] : constant * constant;
    double diffusion_below, diffusion_above, below, above, flow;
    if (grid.spacing > 0) {  // in the logarithm of the underlying
      below = above = grid.spacing;
      diffusion_below = diffusion_above = 0.5 * square / (below * below);
      flow = drift - 0.5 * square;
    } else {
      below = s - grid.spot[i - 1];
      above = grid.spot[i + 1] - s;
      const double variance = square * s * s;
      diffusion_below = variance / (below * (below + above));
      diffusion_above = variance / (above * (below + above));
      flow = drift * s;
    }
    L.lower[i] = diffusion_below - flow * above / (below * (below + above));
    L.upper[i] = diffusion_above + flow * below / (above * (below + above));
    if (L.lower[i] >= 0 && L.upper[i] >= 0) continue;
    L.lower[i] = diffusion_below + std::max(-flow, 0.0) / below;
    L.upper[i] = diffusion_above + std::max(flow, 0.0) / above;
  }
  return L;
}

fd_stencil stencil_about(const fd_grid& grid, double spot) {
  constexpr std::int64_t points = 6;
  const std::int64_t n = grid.size(), count = std::min(points, n);
  const auto begin = grid.spot.begin(), end = grid.spot.end();
  const auto next = std::upper_bound(begin, end, spot) - begin;
  fd_stencil s;
  s.first = std::clamp<std::int64_t>(next - count / 2, 0, n - count);
  const auto kink = std::upper_bound(grid.kinks.begin(), grid.kinks.end(), spot);
  const auto least = kink == grid.kinks.begin() ? 0 : std::lower_bound(begin, end, *(kink - 1)) - begin,
             most = kink == grid.kinks.end() ? n : std::upper_bound(begin, end, *kink) - begin;
  if (most - least >= count) s.first = std::clamp<std::int64_t>(s.first, least, most - count);
  s.count = static_cast<int>(count);
  s.logarithms = grid.spacing > 0;
  s.at = s.logarithms ? 0 : spot;
  for (int k = 0; k < s.count; ++k) {
    const double node = grid.spot[static_cast<std::size_t>(s.first + k)];
    s.x[k] = s.logarithms ? std::log(node / spot) : node;
  }
  return s;
}

fd_local evaluate(const fd_grid& grid, const std::vector<double>& values, double spot) {
  const fd_stencil s = stencil_about(grid, spot);
  // Newton's divided differences, the polynomial and its derivatives by Horner's scheme.
  double d[6] = {};
  for (int k = 0; k < s.count; ++k) d[k] = values[static_cast<std::size_t>(s.first + k)];
  for (int order = 1; order < s.count; ++order)
    for (int k = s.count - 1; k >= order; --k) d[k] = (d[k] - d[k - 1]) / (s.x[k] - s.x[k - order]);
  double p = d[s.count - 1], p1 = 0, p2 = 0;
  for (int k = s.count - 2; k >= 0; --k) {
    const double x = s.at - s.x[k];
    p2 = p2 * x + 2 * p1;
    p1 = p1 * x + p;
    p = p * x + d[k];
  }
  if (s.logarithms) return {p, p1 / spot, (p2 - p1) / (spot * spot)};
  return {p, p1, p2};
}

}  // namespace vouch
