#include <vouch/price/fd_march.hpp>

#include <algorithm>
#include <cmath>

#include <vouch/price/policy.hpp>

namespace vouch {
namespace {

// Far from the strike the value is slope * S + constant, and stays so.
struct linear {
  double slope = 0, constant = 0;
  double at(double s) const { return slope * s + constant; }
};

linear far_payoff(const plain_option& o, bool high) {
  const bool pays = (o.type == option_type::call) == high;
  if (!pays) return {};
  switch (o.payoff) {
    case payoff_kind::cash_digital:
      return {0, o.cash};
    case payoff_kind::asset_digital:
      return {1, 0};
    default:
      return {sign_of(o.type), -sign_of(o.type) * o.strike};
  }
}

// One boundary node: a far-field value or the payment of a barrier.
class border {
 public:
  border(const contract& c, const fd_payment& payment, double spot, bool high)
      : spot_(spot),
        barrier_(c.plain.barrier != barrier_kind::none && is_up(c.plain.barrier) == high),
        may_exercise_(c.exercise == exercise_style::american),
        exercise_(payoff_at(c.plain, spot)),
        far_(far_payoff(c.plain, high)) {
    far_.constant -= payment.less;
    value_ = barrier_ ? payment.at_barrier : far_.at(spot);
  }

  double value() const { return value_; }
  /// Time passes; returns the change of the value.
  double step(double length, double rate, double dividend) {
    const double before = value_;
    far_.slope *= std::exp(-dividend * length);
    far_.constant *= std::exp(-rate * length);
    settle();
    return value_ - before;
  }
  void fall(double amount) {
    far_.constant -= far_.slope * amount;
    settle();
  }
  void exercise(const plain_option& o, bool high) {
    if (barrier_ || exercise_ <= value_) return;
    far_ = far_payoff(o, high);
    settle();
  }
  /// The value below the grid, at spots down to 0.
  double beyond(double spot) const { return barrier_ ? value_ : far_.at(spot); }

 private:
  void settle() {
    if (barrier_) return;
    value_ = far_.at(spot_);
    if (may_exercise_) value_ = std::max(value_, exercise_);
  }
  double spot_;
  bool barrier_, may_exercise_;
  double exercise_;
  linear far_;
  double value_ = 0;
};

// The steps of one march, in the direction in which early exercise needs them: from the side where nothing is
// exercised to the side where it is.
template <real Solve>
class marcher {
 public:
  marcher(const contract& c, const fd_grid& grid, const fd_payment& payment, time_scheme scheme)
      : c_(c),
        grid_(grid),
        scheme_(scheme),
        american_(c.exercise == exercise_style::american),
        policy_(american_ && needs_policy(c)),
        reversed_(american_ && c.plain.type == option_type::put),
        low_(c, payment, grid.spot.front(), false),
        high_(c, payment, grid.spot.back(), true),
        steps_(grid.size()) {
    for (const double s : grid.spot) exercise_.push_back(payoff_at(c.plain, s));
    values_ = exercise_;
    for (double& v : values_) v -= payment.less;
    values_.front() = low_.value();
    values_.back() = high_.value();
    turned_ = exercise_;
    if (reversed_) std::reverse(turned_.begin(), turned_.end());
  }

  void run(const fd_segment& s) {
    const double length = (s.to - s.from) / static_cast<double>(s.steps);
    const bool constant = c_.local_volatility.empty();
    const bool fresh_vol = constant;
    if (fresh_vol) operator_at(s.from, s.to);
    load();
    for (std::int64_t k = 0; k < s.steps; ++k) {
      const double from = s.from + length * static_cast<double>(k);
      if (!constant) {
        operator_at(from, from + length);
        factored_ = 0;
      }
      if (scheme_ == time_scheme::implicit_euler) {
        step(length, length);
      } else if (scheme_ == time_scheme::rannacher && s.smooths && k < 2) {
        step(0.5 * length, 0.5 * length);
        step(0.5 * length, 0.5 * length);
      } else {
        step(length, 0.5 * length);
      }
    }
    unload();
    factored_ = 0;
    if (s.dividend > 0) fall(s.dividend);
    if (s.exercise || (american_ && s.dividend > 0)) exercise();
  }

  const std::vector<double>& values() const { return values_; }

  /// The last spot at which a put, the first at which a call is exercised; NaN for none.
  double boundary() const {
    const auto exercised = [&](std::size_t i) {
      return exercise_[i] > 0 && values_[i] <= exercise_[i] * (1 + 1e-12) + 1e-12;
    };
    const std::size_t n = values_.size();
    double at = std::nan("");
    for (std::size_t k = 1; k + 1 < n; ++k) {
      const std::size_t i = c_.plain.type == option_type::put ? n - 1 - k : k;
      if (!exercised(i)) continue;
      at = grid_.spot[i];
      break;
    }
    return at;
  }

 private:
  void operator_at(double from, double to) {
    L_ = make_operator(c_, grid_, c_.plain.expiry - 0.5 * (from + to));
    if (!reversed_) return;
    std::reverse(L_.lower.begin(), L_.lower.end());
    std::reverse(L_.upper.begin(), L_.upper.end());
    std::swap(L_.lower, L_.upper);
  }
  void load() {
    if (policy_) return;
    if (reversed_) std::reverse(values_.begin(), values_.end());
    steps_.load(values_.data());
    steps_.set_obstacle(american_ ? turned_.data() : nullptr);
  }
  void unload() {
    if (policy_) return;
    steps_.store(values_.data());
    if (reversed_) std::reverse(values_.begin(), values_.end());
  }
  void step(double length, double implicit) {
    const double low = low_.step(length, L_.rate, c_.plain.dividend),
                 high = high_.step(length, L_.rate, c_.plain.dividend);
    if (policy_) {
      if (reversed_) std::reverse(values_.begin(), values_.end());
      policy_step(L_, length, implicit, turned_, reversed_ ? high : low, reversed_ ? low : high, values_);
      if (reversed_) std::reverse(values_.begin(), values_.end());
      return;
    }
    if (factored_ != implicit) steps_.factor(L_, implicit);
    factored_ = implicit;
    steps_.advance(length, reversed_ ? high : low, reversed_ ? low : high);
  }
  // V(S) := V(S - amount), by cubic interpolation.
  void fall(double amount) {
    std::vector<double> after(values_.size());
    const auto& s = grid_.spot;
    std::size_t k = 1;
    for (std::size_t i = 0; i < s.size(); ++i) {
      const double at = std::max(s[i] - amount, 0.0);
      if (at <= s.front()) {
        after[i] = low_.beyond(at);
        continue;
      }
      while (k + 1 < s.size() && s[k] < at) ++k;  // s[k-1] < at <= s[k]
      const std::size_t first = std::min(k < 2 ? 0 : k - 2, s.size() - 4);
      double sum = 0;
      for (std::size_t a = first; a < first + 4; ++a) {
        double weight = values_[a];
        for (std::size_t b = first; b < first + 4; ++b)
          if (b != a) weight *= (at - s[b]) / (s[a] - s[b]);
        sum += weight;
      }
      after[i] = sum;
    }
    low_.fall(amount);
    high_.fall(amount);
    values_ = after;
    values_.front() = low_.value();
    values_.back() = high_.value();
  }
  void exercise() {
    for (std::size_t i = 1; i + 1 < values_.size(); ++i) values_[i] = std::max(values_[i], exercise_[i]);
    low_.exercise(c_.plain, false);
    high_.exercise(c_.plain, true);
    values_.front() = low_.value();
    values_.back() = high_.value();
  }

  const contract& c_;
  const fd_grid& grid_;
  time_scheme scheme_;
  bool american_, policy_, reversed_;
  border low_, high_;
  fd_steps<Solve> steps_;
  fd_operator L_;
  double factored_ = 0;
  std::vector<double> values_, exercise_, turned_;
};

template <real Solve>
std::vector<double> march_in(const contract& c, const fd_grid& grid, const fd_payment& payment,
                             const std::vector<fd_segment>& segments, time_scheme scheme,
                             fd_surface* boundary) {
  marcher<Solve> marching(c, grid, payment, scheme);
  for (const fd_segment& s : segments) {
    marching.run(s);
    if (boundary == nullptr || c.exercise != exercise_style::american) continue;
    boundary->times.push_back(c.plain.expiry - s.to);
    boundary->boundary.push_back(marching.boundary());
  }
  return marching.values();
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
  at(0);
  std::sort(all.begin(), all.end(), [](const fd_segment& a, const fd_segment& b) { return a.to < b.to; });
  double from = 0;
  bool smooths = true;
  for (fd_segment& s : all) {
    s.from = from;
    s.smooths = smooths;
    from = s.to;
    smooths = s.dividend > 0 || s.exercise;
  }
  return all;
}

}  // namespace

std::vector<fd_segment> make_segments(const contract& c, std::int64_t steps) {
  const double expiry = c.plain.expiry;
  std::vector<fd_segment> coarse = events(c), all;
  const auto share = [&](const fd_segment& s) {
    return std::max<std::int64_t>(2, std::llround(static_cast<double>(steps) * (s.to - s.from) / expiry));
  };
  for (std::size_t k = 0; k < coarse.size(); ++k) {
    fd_segment s = coarse[k];
    s.steps = share(s);
    constexpr int levels = 6;
    if (c.exercise != exercise_style::american || k > 0 || s.steps < (2 << levels)) {
      all.push_back(s);
      continue;
    }
    // Each level four times as long as all before it, with twice the steps of the one before.
    const double length = s.to;
    std::int64_t left = s.steps;
    double from = 0;
    for (int level = levels; level >= 0; --level) {
      fd_segment piece = s;
      piece.from = from;
      piece.to = level == 0 ? length : length * std::pow(0.25, level);
      piece.smooths = level == levels;
      piece.steps = level == 0 ? left : std::max<std::int64_t>(2, s.steps >> (level + 1));
      left -= piece.steps;
      if (level > 0) {
        piece.dividend = 0;
        piece.exercise = false;
      }
      from = piece.to;
      all.push_back(piece);
    }
  }
  return all;
}

std::vector<double> march(const contract& c, const fd_grid& grid, const fd_payment& payment,
                          const std::vector<fd_segment>& segments, time_scheme scheme,
                          solve_precision precision, fd_surface* boundary) {
  if (precision == solve_precision::mixed) return march_in<float>(c, grid, payment, segments, scheme, boundary);
  return march_in<double>(c, grid, payment, segments, scheme, boundary);
}

}  // namespace vouch
