// tests/price/local_volatility_grid.hpp -- European options with a local volatility on another grid: with nodes
// at the spot, the strike and every kink of the volatility, in time by extrapolated implicit Euler steps that
// grow from each time of the table.
#pragma once
#include <algorithm>
#include <cmath>
#include <vector>

#include <vouch/price/contract.hpp>

namespace vouch::testing {

struct grid_value {
  double price = 0, off = 0;
};

class local_volatility_grid {
 public:
  /// Cells of about the length `cell` in logarithms, each cut into `fineness` equal ones; so many steps, times
  /// the fineness, between two times of the table.
  local_volatility_grid(const contract& c, double cell, int steps, int fineness) : c_(c), o_(c.plain) {
    double most = 0;
    for (const double v : c.local_volatility.values) most = std::max(most, v);
    const double reach = 7.5 * most * std::sqrt(o_.expiry) + std::abs(o_.rate - o_.dividend) * o_.expiry;
    const double spot = std::log(o_.spot);
    std::vector<double> ends{spot - reach, spot, spot + reach};
    const auto add = [&](double s) {
      if (std::log(s) > ends.front() && std::log(s) < ends.front() + 2 * reach) ends.push_back(std::log(s));
    };
    add(o_.strike);
    for (const double s : c.local_volatility.spots) add(s);
    std::sort(ends.begin(), ends.end());
    x_.push_back(ends.front());
    for (std::size_t k = 1; k < ends.size(); ++k) {
      const double length = ends[k] - ends[k - 1];
      if (!(length > 1e-9)) continue;
      const int cells = fineness * static_cast<int>(std::ceil(length / cell));
      for (int j = 1; j <= cells; ++j) x_.push_back(j == cells ? ends[k] : ends[k - 1] + length * j / cells);
    }
    for (const double x : x_) value_.push_back(payoff_at(o_, std::exp(x)));
    const auto kink = static_cast<std::size_t>(std::min_element(x_.begin(), x_.end(),
                                                                [&](double a, double b) {
                                                                  return std::abs(a - std::log(o_.strike)) <
                                                                         std::abs(b - std::log(o_.strike));
                                                                }) -
                                               x_.begin());
    if (kink > 0 && kink + 1 < x_.size()) value_[kink] = mean_payoff(kink);
    step_in_time(steps * fineness);
  }
  double price() const {
    const auto spot = std::lower_bound(x_.begin(), x_.end(), std::log(o_.spot) - 1e-12);
    return value_[static_cast<std::size_t>(spot - x_.begin())];
  }

 private:
  // Over the hat function of a node.
  double mean_payoff(std::size_t i) const {
    constexpr int points = 1000;
    double sum = 0;
    for (const std::size_t end : {i - 1, i + 1})
      for (int j = 0; j < points; ++j) {
        const double away = (j + 0.5) / points, length = std::abs(x_[end] - x_[i]);
        sum += (1 - away) * length / points * payoff_at(o_, std::exp(x_[i] + away * (x_[end] - x_[i])));
      }
    return sum / (0.5 * (x_[i + 1] - x_[i - 1]));
  }
  void step_in_time(int steps) {
    std::vector<double> ends{0, o_.expiry}, half;  // time before expiry
    for (const double t : c_.local_volatility.times)
      if (t > 0 && t < o_.expiry) ends.push_back(o_.expiry - t);
    std::sort(ends.begin(), ends.end());
    for (std::size_t k = 1; k < ends.size(); ++k)
      for (int step = 0; step < steps; ++step) {
        const auto place = [&](int j) {
          const double share = static_cast<double>(j) / steps;
          return ends[k - 1] + (ends[k] - ends[k - 1]) * share * share;
        };
        const double from = place(step), length = place(step + 1) - from;
        half = value_;
        implicit(value_, from, length);
        implicit(half, from, 0.5 * length);
        implicit(half, from + 0.5 * length, 0.5 * length);
        for (std::size_t i = 0; i < value_.size(); ++i) value_[i] = 2 * half[i] - value_[i];
      }
  }
  void implicit(std::vector<double>& u, double from, double length) {
    const std::size_t n = x_.size();
    const double tau = from + length, sign = sign_of(o_.type);
    upper_.resize(n);
    right_.resize(n);
    const auto far = [&](double x) {
      return std::max(sign * (std::exp(x - o_.dividend * tau) - o_.strike * std::exp(-o_.rate * tau)), 0.0);
    };
    upper_[0] = 0;
    right_[0] = far(x_[0]);
    for (std::size_t i = 1; i + 1 < n; ++i) {
      const double s = c_.local_volatility.at(o_.expiry - tau, std::exp(x_[i])),
                   flow = o_.rate - o_.dividend - 0.5 * s * s;
      const double below = x_[i] - x_[i - 1], above = x_[i + 1] - x_[i], both = below + above;
      const double a = -length * (s * s - flow * above) / (below * both),
                   d = -length * (s * s + flow * below) / (above * both);
      const double pivot = 1 + o_.rate * length - a - d - a * upper_[i - 1];
      upper_[i] = d / pivot;
      right_[i] = (u[i] - a * right_[i - 1]) / pivot;
    }
    u.back() = far(x_.back());
    for (std::size_t i = n - 1; i-- > 0;) u[i] = right_[i] - upper_[i] * u[i + 1];
  }

  const contract& c_;
  const plain_option& o_;
  std::vector<double> x_, value_, upper_, right_;
};

/// Extrapolated from two grids, `fineness` times as fine as usual; off by less than three times what changed
/// since the two before, unless those agree by accident.
inline grid_value local_volatility_price(const contract& c, int fineness = 1) {
  const double cell = c.local_volatility.mean_at(c.plain.expiry, c.plain.spot) * std::sqrt(c.plain.expiry) / 7;
  const double coarse = local_volatility_grid(c, cell, 12, fineness).price(),
               middle = local_volatility_grid(c, cell, 12, 2 * fineness).price(),
               fine = local_volatility_grid(c, cell, 12, 4 * fineness).price();
  const double before = middle + (middle - coarse) / 3, now = fine + (fine - middle) / 3;
  return {now, 3 * std::abs(now - before)};
}

}  // namespace vouch::testing
