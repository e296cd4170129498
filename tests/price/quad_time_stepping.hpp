// tests/price/quad_time_stepping.hpp -- the discrete problem of steps in time, solved in quadruple precision.
#pragma once
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include <vouch/interval/interval.hpp>
#include <vouch/price/finite_difference/boundary_condition.hpp>
#include <vouch/price/finite_difference/grid.hpp>
#include <vouch/price/finite_difference/time_stepping.hpp>

namespace vouch::testing {

__extension__ using quad = __float128;

inline constexpr double tiny = 1e-28, small = 1e-22;  // beside values of 10 to 1000

struct quad_local {
  quad value, first, second;
};

// The polynomial through the six nodes about a spot, of which only `first` to `first + 5` are looked at.
inline quad_local quad_at(const fd_grid& grid, const std::vector<quad>& value, double at_spot) {
  const fd_stencil s = stencil_about(grid, at_spot);
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
    const quad v = value[static_cast<std::size_t>(s.first + k)];
    sum = {sum.value + p * v, sum.first + p1 * v, sum.second + p2 * v};
  }
  const quad spot = at_spot;
  return s.logarithms ? quad_local{sum.value, sum.first / spot, (sum.second - sum.first) / (spot * spot)} : sum;
}

// The discrete problem, step by step, by elimination in quadruple precision; American steps by policies, until
// the complementarity problem holds to some 30 digits.
class quad_time_stepper {
 public:
  quad_time_stepper(const contract& c, const fd_grid& grid, const fd_payment& payment)
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
      time_passed();
      note();
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

  quad_local local() const { return quad_at(grid_, value_, c_.plain.spot); }

  /// The values at the spot as every segment begins and behind every step, where they are to be noted.
  std::vector<quad>* trace = nullptr;
  /// Those at the barrier, in the same order, in place of what is paid there.
  const std::vector<quad>* at_barrier = nullptr;

 private:
  void ends() {
    value_.front() = low_.value();
    value_.back() = high_.value();
    if (at_barrier != nullptr && given_ > 0)
      (low_.is_barrier() ? value_.front() : value_.back()) = (*at_barrier)[given_ - 1];
  }
  void time_passed() {
    ++given_;
    ends();
  }
  void note() {
    if (trace != nullptr) trace->push_back(local().value);
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
    time_passed();
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
    note();
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
  boundary_condition low_, high_;
  std::size_t given_ = 0;
  std::vector<double> floor_;
  std::vector<char> exercised_;
  std::vector<quad> value_;
};

// `off`: what quadruple precision itself may be off by.
inline bool holds(const interval<double>& x, quad value, double off = 0) {
  return quad(x.lo()) - off <= value && value <= quad(x.hi()) + off;
}
inline double width(const interval<double>& x) { return x.hi() - x.lo(); }

}  // namespace vouch::testing
