// tests/price/quadrature_price.hpp -- contracts with dates by integrals over the underlying at each of them, to
// 1e-8.
//
// Between two dates the logarithm of the underlying is normal; beside a barrier the density is reflected. At a date
// the value is known by polynomials on panels that are halved until they fit.
#pragma once
#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <vector>

#include <vouch/price/contract.hpp>

namespace vouch::testing {

/// The integral of a curve, or of its square, from a to b.
inline double curve_integral(const std::vector<curve_step>& curve, double constant, double a, double b,
                             bool squared = false) {
  const auto weighed = [&](double v, double length) { return (squared ? v * v : v) * std::max(length, 0.0); };
  if (curve.empty()) return weighed(constant, b - a);
  double sum = 0, from = 0;
  for (std::size_t k = 0; k < curve.size(); ++k) {
    const double to = k + 1 == curve.size() ? std::numeric_limits<double>::infinity() : curve[k].until;
    sum += weighed(curve[k].value, std::min(b, to) - std::max(a, from));
    from = to;
  }
  return sum;
}

struct gauss_rule {
  static constexpr int points = 12;
  double at[points], weight[points], barycentric[points];

  gauss_rule() {
    for (int k = 0; k < points; ++k) {
      double x = std::cos(3.14159265358979323846 * (k + 0.75) / (points + 0.5)), slope = 1;
      for (int newton = 0; newton < 20; ++newton) {
        double p = 1, before = 0;
        for (int n = 1; n <= points; ++n) {
          const double next = ((2 * n - 1) * x * p - (n - 1) * before) / n;
          before = p;
          p = next;
        }
        slope = points * (x * p - before) / (x * x - 1);
        x -= p / slope;
      }
      at[points - 1 - k] = x;
      weight[points - 1 - k] = 2 / ((1 - x * x) * slope * slope);
    }
    for (int k = 0; k < points; ++k)
      barycentric[k] = (k % 2 == 0 ? 1 : -1) * std::sqrt((1 - at[k] * at[k]) * weight[k]);
  }
  static const gauss_rule& get() {
    static const gauss_rule rule;
    return rule;
  }
};

/// A function of x by polynomials through Gauss points on panels.
class panels {
 public:
  using function = std::function<double(double)>;

  /// On panels between the ends, halved until the polynomials meet f, whose values are rounded by so much.
  panels(const function& f, std::vector<double> ends, double accuracy, double rounding = 0)
      : rounding_(rounding) {
    std::sort(ends.begin(), ends.end());
    for (std::size_t k = 1; k < ends.size(); ++k)
      if (ends[k] > ends[k - 1]) add(f, ends[k - 1], ends[k], accuracy, 0);
  }
  double low() const { return all_.front().from; }
  double high() const { return all_.back().to; }
  double operator()(double x) const { return value(all_[find(x)], x); }

  /// The sum over [a, b] of f(y) kernel(y), which varies over `width`.
  template <class Kernel>
  double integral(double a, double b, double width, const Kernel& kernel) const {
    a = std::max(a, low());
    b = std::min(b, high());
    if (!(b > a)) return 0;
    const gauss_rule& rule = gauss_rule::get();
    double sum = 0;
    for (std::size_t k = find(a); k < all_.size() && all_[k].from < b; ++k) {
      const panel& p = all_[k];
      const double from = std::max(a, p.from), to = std::min(b, p.to);
      if (!(to > from)) continue;
      const bool whole = from == p.from && to == p.to && to - from <= width;
      const int pieces = whole ? 1 : std::max(1, static_cast<int>(std::ceil((to - from) / width)));
      const double half = 0.5 * (to - from) / pieces;
      for (int piece = 0; piece < pieces; ++piece)
        for (int j = 0; j < gauss_rule::points; ++j) {
          const double y = from + half * (2 * piece + 1 + rule.at[j]);
          sum += half * rule.weight[j] * kernel(y) * (whole ? p.value[j] : value(p, y));
        }
    }
    return sum;
  }
  std::vector<double> ends() const {
    std::vector<double> e{low()};
    for (const panel& p : all_) e.push_back(p.to);
    return e;
  }

 private:
  struct panel {
    double from, to;
    double value[gauss_rule::points];
  };
  static double value(const panel& p, double x) {
    const gauss_rule& rule = gauss_rule::get();
    const double z = std::clamp((2 * x - p.from - p.to) / (p.to - p.from), -1.0, 1.0);
    double above = 0, below = 0;
    for (int k = 0; k < gauss_rule::points; ++k) {
      if (z == rule.at[k]) return p.value[k];
      const double share = rule.barycentric[k] / (z - rule.at[k]);
      above += share * p.value[k];
      below += share;
    }
    return above / below;
  }
  void add(const function& f, double from, double to, double accuracy, int depth) {
    panel p{from, to, {}};
    double largest = 0;
    for (int k = 0; k < gauss_rule::points; ++k) {
      p.value[k] = f(0.5 * (from + to) + 0.5 * (to - from) * gauss_rule::get().at[k]);
      largest = std::max(largest, std::abs(p.value[k]));
    }
    bool meets = true;
    for (const double z : {0.02, 0.25, 0.61, 0.98}) {
      if (!meets) break;
      const double x = from + z * (to - from);
      meets = std::abs(value(p, x) - f(x)) <= std::max(accuracy * (1 + largest), rounding_);
    }
    constexpr int deepest = 44;
    if (meets || depth > deepest || !(to - from > 1e-14 * (1 + std::abs(from)))) {
      all_.push_back(p);
      return;
    }
    const double middle = 0.5 * (from + to);
    add(f, from, middle, accuracy, depth + 1);
    add(f, middle, to, accuracy, depth + 1);
  }
  std::size_t find(double x) const {
    const auto next =
        std::upper_bound(all_.begin(), all_.end(), x, [](double y, const panel& p) { return y < p.from; });
    return next == all_.begin() ? 0 : static_cast<std::size_t>(next - all_.begin() - 1);
  }
  double rounding_;
  std::vector<panel> all_;
};

/// The value now of a European or Bermudan option without rebate that does not begin at a barrier; positive
/// volatilities, none of them local.
class quadrature_price {
 public:
  explicit quadrature_price(const contract& c) : c_(c), o_(c.plain) {
    escrowed_ = c.model == dividend_model::escrowed;
    start_ = std::log(o_.spot - escrow_at(0, false));
    barrier_ = o_.barrier != barrier_kind::none;
    level_ = barrier_ ? std::log(o_.barrier_level) : 0;
    double paid = 0;
    for (const cash_dividend& d : c.dividends) paid += escrowed_ ? 0 : d.amount;
    const double deviation = std::sqrt(variance(0, o_.expiry)),
                 drift = curve_integral(c.rates, std::abs(o_.rate), 0, o_.expiry) +
                         std::abs(o_.dividend) * o_.expiry;
    const double reach = 8 * deviation + std::abs(drift) + deviation * deviation;
    const double strike = std::log(o_.strike);
    low_ = std::min({start_, strike, std::log(std::max(o_.spot - paid, 0.05 * o_.spot))}) - reach;
    if (paid > 0) low_ -= 10;  // where the underlying falls to, however often
    high_ = std::max(start_, strike) + reach;
    if (barrier_) (is_up(o_.barrier) ? high_ : low_) = level_;
  }

  double price() {
    std::vector<double> times{0, o_.expiry};
    for (const double t : c_.exercise_dates)
      if (c_.exercise == exercise_style::bermudan) times.push_back(t);
    for (const cash_dividend& d : c_.dividends) times.push_back(d.time);
    if (barrier_)  // the reflected density is that of constant coefficients
      for (const auto* curve : {&c_.rates, &c_.volatilities})
        for (const curve_step& s : *curve) times.push_back(s.until);
    std::erase_if(times, [&](double t) { return t < 0 || t > o_.expiry; });
    std::sort(times.begin(), times.end());
    times.erase(std::unique(times.begin(), times.end()), times.end());

    kinks_ = {inside(std::log(o_.strike))};
    panels value([&](double x) { return paid_at(x, 0); }, {low_, kinks_[0], high_}, accuracy());
    nothing_ = payoff_at(o_, 0);
    for (std::size_t k = times.size() - 1; k-- > 0;) {
      const double from = times[k], to = times[k + 1];
      nothing_ *= std::exp(-curve_integral(c_.rates, o_.rate, from, to));
      const auto before = [&](double x) { return expected(value, from, to, x); };
      if (k == 0) {
        const double now = before(start_);
        return may_exercise(0) ? std::max(now, paid_at(start_, escrow_at(0, true))) : now;
      }
      for (double& kink : kinks_) kink = inside(kink - growth(from, to) + 0.5 * variance(from, to));
      std::vector<double> ends{low_, high_};
      std::vector<double> sharp = kinks_;  // and where the value falls to that of a barrier
      if (barrier_) sharp.push_back(level_);
      const double deviation = std::sqrt(variance(from, to));
      // A kink of earlier is wider than this one; on panels that grow with their distance none is overlooked.
      for (const double kink : sharp) {
        ends.push_back(inside(kink));
        for (double away = 5 * deviation; away < high_ - low_; away *= 4)
          for (const double side : {-1, 1}) ends.push_back(inside(kink + side * away));
      }
      // The density is as exact as distances are in deviations, and so are values that fall within one: finer than that
      // no panel fits, however short. Beside a barrier two densities cancel, too.
      const double rounding = std::numeric_limits<double>::epsilon() *
                              std::max(std::abs(low_), std::abs(high_)) / deviation *
                              std::max(o_.strike, o_.spot);
      const panels waiting(before, ends, accuracy(), rounding);
      value = at_date(waiting, from, rounding);
    }
    return 0;
  }

 private:
  double accuracy() const { return 1e-13 * std::max(o_.strike, o_.spot); }
  double inside(double x) const { return std::clamp(x, low_, high_); }
  double variance(double from, double to) const {
    return curve_integral(c_.volatilities, o_.volatility, from, to, true);
  }
  double growth(double from, double to) const {
    return curve_integral(c_.rates, o_.rate, from, to) - o_.dividend * (to - from);
  }
  double escrow_at(double time, bool inclusive) const {
    double worth = 0;
    if (!escrowed_) return 0;
    for (const cash_dividend& d : c_.dividends)
      if (d.time < o_.expiry && d.time > 0 && (inclusive ? d.time >= time : d.time > time))
        worth += d.amount * std::exp(-growth(time, d.time));
    return worth;
  }
  bool may_exercise(double time) const {
    return c_.exercise == exercise_style::bermudan &&
           std::find(c_.exercise_dates.begin(), c_.exercise_dates.end(), time) != c_.exercise_dates.end();
  }
  double paid_at(double x, double escrow) const { return payoff_at(o_, std::exp(x) + escrow); }

  double expected(const panels& value, double from, double to, double x) const {
    const double s2 = variance(from, to), s = std::sqrt(s2), m = growth(from, to) - 0.5 * s2;
    const double discount = std::exp(-curve_integral(c_.rates, o_.rate, from, to));
    constexpr double reach = 7.5, norm = 0.39894228040143267794;
    const double a = x + m - reach * s, b = x + m + (reach + s) * s;  // the underlying counts with its size
    const double sum = value.integral(a, b, 2 * s, [&](double y) {
      const double z = (y - x - m) / s;
      double density = std::exp(-0.5 * z * z);
      if (barrier_) {  // e^{2 m (level - x) / s2} times the density from the mirrored point
        const double w = (y - 2 * level_ + x - m) / s;
        density -= std::exp(2 * m * (level_ - x) / s2 - 0.5 * w * w);
      }
      return norm / s * density;
    });
    // Beyond the panels, where the underlying seldom gets: the value at their ends, or none behind a barrier.
    const double below = 0.5 * std::erfc((x + m - low_) / s / std::sqrt(2.0)),
                 above = 0.5 * std::erfc((high_ - x - m) / s / std::sqrt(2.0));
    const bool ends_below = barrier_ && !is_up(o_.barrier), ends_above = barrier_ && is_up(o_.barrier);
    return discount * (sum + (ends_below ? 0 : below * value(low_)) + (ends_above ? 0 : above * value(high_)));
  }

  // The underlying falls, then, which is earlier, it may be exercised.
  panels at_date(const panels& waiting, double time, double rounding) {
    double fall = 0;
    for (const cash_dividend& d : c_.dividends)
      if (d.time == time && !escrowed_) fall += d.amount;
    const bool exercised = may_exercise(time);
    const double escrow = escrow_at(time, true), low_underlying = std::exp(low_);
    const double none = nothing_, bottom = waiting(low_);
    const auto fallen = [&, fall](double x) {
      if (fall == 0) return waiting(x);
      const double underlying = std::exp(x) - fall;
      if (barrier_ && !is_up(o_.barrier) && underlying <= o_.barrier_level) return 0.0;
      if (underlying <= 0) return none;
      if (underlying < low_underlying) return none + underlying / low_underlying * (bottom - none);
      return waiting(std::log(underlying));
    };
    std::vector<double> ends{low_, high_};
    if (fall > 0) {
      for (double& kink : kinks_) kink = inside(std::log(std::exp(kink) + fall));
      kinks_.push_back(inside(std::log(fall)));
      if (barrier_ && !is_up(o_.barrier)) kinks_.push_back(inside(std::log(fall + o_.barrier_level)));
    }
    for (const double x : waiting.ends()) ends.push_back(inside(std::log(std::exp(x) + fall)));
    if (exercised && o_.strike > escrow) kinks_.push_back(inside(std::log(o_.strike - escrow)));
    ends.insert(ends.end(), kinks_.begin(), kinks_.end());
    if (!exercised) return panels(fallen, ends, accuracy(), rounding);
    nothing_ = std::max(nothing_, payoff_at(o_, escrow));
    std::sort(ends.begin(), ends.end());
    const auto more = [&](double x) { return fallen(x) - paid_at(x, escrow); };
    std::vector<double> crossings;
    for (std::size_t k = 1; k < ends.size(); ++k) {
      constexpr int parts = 8;
      for (int j = 0; j < parts; ++j) {
        const double length = (ends[k] - ends[k - 1]) / parts;
        double a = ends[k - 1] + length * (j + 1e-9), b = ends[k - 1] + length * (j + 1 - 1e-9);
        const bool positive = more(a) > 0;
        if (!(b > a) || positive == (more(b) > 0)) continue;
        for (int halving = 0; halving < 60; ++halving) {
          const double middle = 0.5 * (a + b);
          ((more(middle) > 0) == positive ? a : b) = middle;
        }
        crossings.push_back(0.5 * (a + b));
      }
    }
    ends.insert(ends.end(), crossings.begin(), crossings.end());
    kinks_.insert(kinks_.end(), crossings.begin(), crossings.end());
    return panels([&](double x) { return std::max(fallen(x), paid_at(x, escrow)); }, ends, accuracy(),
                  rounding);
  }

  contract c_;
  plain_option o_;
  bool escrowed_ = false, barrier_ = false;
  double start_ = 0, level_ = 0, low_ = 0, high_ = 0;
  double nothing_ = 0;         // the value at an underlying of 0
  std::vector<double> kinks_;  // of the value at a date
};

}  // namespace vouch::testing
