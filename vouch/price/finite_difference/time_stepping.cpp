#include <vouch/price/finite_difference/time_stepping.hpp>

#include <algorithm>
#include <cmath>

#include <vouch/core/cancellation.hpp>
#include <vouch/price/finite_difference/boundary_condition.hpp>
#include <vouch/price/finite_difference/steps.hpp>

namespace vouch {
namespace {

// The steps of one option, in the direction in which early exercise needs them: from the side where nothing is
// exercised to the side where it is.
template <class Steps>
class time_stepper {
 public:
  template <class MakeSteps>
  time_stepper(const contract& c, const fd_grid& grid, const fd_payment& payment, const stepping_method& how,
               fd_trace* trace, MakeSteps make_steps)
      : c_(c),
        grid_(grid),
        scheme_(how.scheme),
        trace_(trace),
        timed_(payment.in_time != nullptr),
        american_(c.exercise == exercise_style::american),
        policy_(american_ && needs_policy(c)),
        smoothed_(how.smooths_kinks && c.plain.payoff == payoff_kind::vanilla),
        reversed_(american_ && c.plain.type == option_type::put),
        low_(c, payment, grid.spot.front(), false),
        high_(c, payment, grid.spot.back(), true),
        steps_(make_steps()) {
    exercise_.resize(grid.spot.size());
    set_exercise(c.plain.expiry, false);
    values_ = exercise_;
    for (double& v : values_) v -= payment.less;
    values_.front() = low_.value();
    values_.back() = high_.value();
  }

  void run(const fd_segment& s) {
    const double length = (s.to - s.from) / static_cast<double>(s.steps);
    const bool constant = c_.local_volatility.times.size() < 2;
    if (constant) operator_at(s.from, s.to);
    begin();
    load();
    const cancellation_probe stop;
    for (std::int64_t k = 0; k < s.steps; ++k) {
      stop.check();
      const double from = s.from + length * static_cast<double>(k);
      if (!constant) {
        operator_at(from, from + length);
        factored_ = 0;
      }
      take_step(scheme_, s, k, [&](double begin, double by, double implicit) { step(begin, by, implicit); });
    }
    unload();
    factored_ = 0;
    if (c_.is_escrowed())
      set_exercise(c_.plain.expiry - s.to, true);
    else if (s.dividend > 0)
      pay_dividend(grid_, s.dividend, smoothed_, low_, high_, values_);
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
      at = grid_.spot[i] + escrow_;
      break;
    }
    return at;
  }

 private:
  void begin() {
    low_.begin();
    high_.begin();
    if (timed_) {
      values_.front() = low_.value();
      values_.back() = high_.value();
    }
    if (trace_ != nullptr) trace_->values.push_back(evaluate(grid_, values_, trace_->spot).value);
  }
  // Of the values under way only those about the spot are looked at.
  void note() {
    if (trace_ == nullptr) return;
    if (!policy_) {
      const fd_stencil near = stencil_about(grid_, trace_->spot);
      const std::int64_t n = grid_.size();
      for (std::int64_t i = near.first; i < near.first + near.count; ++i)
        values_[static_cast<std::size_t>(i)] = steps_.value(reversed_ ? n - 1 - i : i);
    }
    trace_->values.push_back(evaluate(grid_, values_, trace_->spot).value);
  }
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
    steps_.set_obstacle(american_ ? reversed_exercise_.data() : nullptr);
  }
  void unload() {
    if (policy_) return;
    steps_.store(values_.data());
    if (reversed_) std::reverse(values_.begin(), values_.end());
  }
  // What exercise pays at a time; constant but for escrowed dividends.
  void set_exercise(double time, bool before_dividend) {
    set_escrow(escrow(c_, time, before_dividend));
    fill(exercise_, false);
    reversed_exercise_ = exercise_;
    if (reversed_) std::reverse(reversed_exercise_.begin(), reversed_exercise_.end());
  }
  // The part of it that steps see.
  void set_obstacle(double time) {
    const double worth = escrow(c_, time);
    if (worth == escrow_) return;
    set_escrow(worth);
    fill(reversed_exercise_, reversed_);
    if (!policy_) steps_.set_obstacle(reversed_exercise_.data());
  }
  void set_escrow(double worth) {
    escrow_ = worth;
    low_.set_escrow(worth);
    high_.set_escrow(worth);
  }
  void fill(std::vector<double>& paid, bool descending) const {
    const std::size_t n = paid.size();
    if (c_.plain.payoff != payoff_kind::vanilla) {
      for (std::size_t i = 0; i < n; ++i)
        paid[i] = payoff_on_grid(c_, grid_.spot[descending ? n - 1 - i : i] + escrow_);
      return;
    }
    // The same, many at a time.
    const double sign = sign_of(c_.plain.type), strike = c_.plain.strike, worth = escrow_;
    const auto pays = [&](double spot) {
      const double inside = sign * (spot + worth - strike);
      return inside > 0 ? inside : 0;
    };
    const double* spot = grid_.spot.data();
    if (descending)
      for (std::size_t i = 0; i < n; ++i) paid[i] = pays(spot[n - 1 - i]);
    else
      for (std::size_t i = 0; i < n; ++i) paid[i] = pays(spot[i]);
  }
  void exercise() {
    const bool bends_anywhere = smoothed_ && c_.is_escrowed();
    const std::vector<double> waiting = bends_anywhere ? values_ : std::vector<double>{};
    exercise_now(exercise_, smoothed_ && !bends_anywhere, low_, high_, values_);
    if (bends_anywhere) smooth_exercise(gains(), waiting, values_);
  }
  // What exercise pays, before it is cut off at 0.
  std::vector<double> gains() const {
    std::vector<double> gain;
    for (const double spot : grid_.spot)
      gain.push_back(sign_of(c_.plain.type) * (spot + escrow_ - c_.plain.strike));
    return gain;
  }
  // From a time before expiry on.
  void step(double from, double length, double implicit) {
    if (american_ && c_.is_escrowed()) set_obstacle(c_.plain.expiry - from - length);
    const double low = low_.step(length, L_.rate, c_.plain.dividend),
                 high = high_.step(length, L_.rate, c_.plain.dividend);
    if (policy_) {
      if (reversed_) std::reverse(values_.begin(), values_.end());
      policy_step(L_, length, implicit, reversed_exercise_, reversed_ ? high : low, reversed_ ? low : high,
                  values_);
      if (reversed_) std::reverse(values_.begin(), values_.end());
    } else {
      if (factored_ != implicit) steps_.factor(L_, implicit);
      factored_ = implicit;
      steps_.advance(length, reversed_ ? high : low, reversed_ ? low : high);
    }
    note();
  }
  const contract& c_;
  const fd_grid& grid_;
  time_scheme scheme_;
  fd_trace* trace_;
  bool timed_;
  bool american_, policy_, smoothed_, reversed_;
  boundary_condition low_, high_;
  Steps steps_;
  fd_operator L_;
  double factored_ = 0, escrow_ = 0;
  std::vector<double> values_, exercise_, reversed_exercise_;
};

template <class Steps, class MakeSteps>
std::vector<double> step_by(const contract& c, const fd_grid& grid, const fd_payment& payment,
                            const std::vector<fd_segment>& segments, const stepping_method& how,
                            fd_surface* boundary, fd_trace* trace, MakeSteps make_steps) {
  time_stepper<Steps> stepper(c, grid, payment, how, trace, make_steps);
  for (const fd_segment& s : segments) {
    stepper.run(s);
    if (boundary == nullptr || (c.exercise != exercise_style::american && !s.exercise)) continue;
    boundary->times.push_back(c.plain.expiry - s.to);
    boundary->boundary.push_back(stepper.boundary());
  }
  return stepper.values();
}

}  // namespace

dividend_stencil dividend_stencil_at(const fd_grid& grid, double spot, double amount) {
  const auto& s = grid.spot;
  const double at = std::max(spot - amount, 0.0);
  if (at <= s.front()) return {at, 0, 0};
  const auto k = static_cast<std::size_t>(std::lower_bound(s.begin(), s.end(), at) - s.begin());
  return {at, std::min(k < 2 ? 0 : k - 2, s.size() - 4), 4};  // s[k-1] < at <= s[k]
}

void pay_dividend(const fd_grid& grid, double amount, bool smoothed, boundary_condition& low,
                  boundary_condition& high, std::vector<double>& values) {
  std::vector<double> after(values.size());
  const auto& s = grid.spot;
  const double kink = amount + (low.is_barrier() ? s.front() : 0.0),
               bend = low.is_barrier() ? (values[1] - values[0]) / (s[1] - s[0]) : low.slope();
  for (std::size_t i = 0; i < s.size(); ++i) {
    const dividend_stencil from = dividend_stencil_at(grid, s[i], amount);
    if (from.count == 0) {
      after[i] = low.beyond(from.at);
      continue;
    }
    const std::size_t first = from.first;
    double sum = 0;
    for (std::size_t a = first; a < first + 4; ++a) {
      double weight = values[a];
      for (std::size_t b = first; b < first + 4; ++b)
        if (b != a) weight *= (from.at - s[b]) / (s[a] - s[b]);
      sum += weight;
    }
    after[i] = sum;
  }
  const auto above = static_cast<std::size_t>(std::lower_bound(s.begin(), s.end(), kink) - s.begin());
  if (smoothed && above > 0 && above + 1 < s.size())
    after[above] -= 0.5 * bend * (kink - s[above - 1]) * (s[above] - kink) / (s[above] - s[above - 1]);
  low.fall(amount);
  high.fall(amount);
  values = after;
  values.front() = low.value();
  values.back() = high.value();
}

void exercise_now(const std::vector<double>& exercise, bool smoothed, boundary_condition& low,
                  boundary_condition& high, std::vector<double>& values) {
  const std::size_t n = values.size();
  double before = values[1] - exercise[1];
  values[1] = std::max(values[1], exercise[1]);
  for (std::size_t i = 2; i + 1 < n; ++i) {
    const double here = values[i] - exercise[i];
    values[i] = std::max(values[i], exercise[i]);
    if (smoothed && before * here < 0) {
      // Off the node that is not exercised, which it leaves above what exercise pays.
      const double a = std::abs(before), b = std::abs(here);
      values[before > 0 ? i - 1 : i] -= 0.5 * a * b / (a + b);
    }
    before = here;
  }
  low.exercise();
  high.exercise();
  values.front() = low.value();
  values.back() = high.value();
}

void smooth_exercise(const std::vector<double>& gain, const std::vector<double>& waiting,
                     std::vector<double>& values) {
  const auto over = [&](std::size_t i) { return waiting[i] - gain[i]; };
  const auto bend_at = [&](std::size_t i) { return over(i - 1) - 2 * over(i) + over(i + 1); };
  for (std::size_t i = 2; i + 1 < values.size(); ++i) {
    if ((over(i - 1) > 0) == (over(i) > 0)) continue;
    const std::size_t waits = over(i) > 0 ? i : i - 1, exercised = over(i) > 0 ? i - 1 : i;
    const double rise = over(waits) - over(exercised);
    // The bend of what waiting is worth, without a kink of it that may be near.
    const double one = bend_at(i - 1), other = bend_at(i);
    const double bend = one > 0 && other > 0 ? std::min({one, other, rise}) : 0;
    // In cells: how far from the node that waits exercise begins, how steep the values over it are there, and what
    // sums over the nodes lack of those for a kink half way, by the polynomials of Euler and Maclaurin.
    const double line = over(waits) / rise, away = line - 0.5 * bend * line * (1 - line) / rise;
    const double slope = rise - bend * (away - 0.5), aside = away * (1 - away);
    const double lacks = std::max(slope * (0.125 - 0.5 * aside) + bend * aside * (0.5 - away) / 6, 0.0);
    values[waits] += (1 - away) * lacks;
    values[exercised] += away * lacks;
  }
}

std::vector<double> step_in_time(const contract& c, const fd_grid& grid, const fd_payment& payment,
                                 const std::vector<fd_segment>& segments, const stepping_method& how,
                                 fd_surface* boundary, fd_trace* trace) {
  const std::int64_t n = grid.size();
  const auto by = [&]<class Steps>(auto make_steps) {
    return step_by<Steps>(c, grid, payment, segments, how, boundary, trace, make_steps);
  };
  if (how.solver != tridiagonal_method::automatic)
    return by.template operator()<fd_solver_steps>([&] { return fd_solver_steps(n, how.solver); });
  if (how.precision == solve_precision::mixed)
    return by.template operator()<fd_steps<float>>([&] { return fd_steps<float>(n); });
  return by.template operator()<fd_steps<double>>([&] { return fd_steps<double>(n); });
}

contract knocked_in(const contract& c) {
  contract in = c;
  in.plain.barrier = barrier_kind::none;
  in.plain.spot = c.plain.barrier_level;
  return in;
}

contract not_knocked_in(contract c) {
  plain_option& o = c.plain;
  o.payoff = payoff_kind::cash_digital;
  o.cash = o.rebate;
  o.strike = o.barrier_level;
  o.type = is_up(o.barrier) ? option_type::put : option_type::call;
  c.exercise = exercise_style::european;
  return c;
}

std::vector<double> step_to_knock_in(const contract& c, const fd_grid& grid, grid_kind kind, std::int64_t steps,
                                     const stepping_method& how) {
  const contract in = knocked_in(c);
  std::vector<fd_segment> segments = make_segments(in, steps);
  fd_trace trace{c.plain.barrier_level, {}};
  step_in_time(in, make_grid(in, kind, grid.size()), {}, segments, how, nullptr, &trace);
  for (fd_segment& s : segments) s.exercise = false;  // smooth starts stay: the barrier's value jumps
  return step_in_time(not_knocked_in(c), grid, {0, trace.values.front(), &trace.values}, segments, how);
}

bool needs_policy(const contract& c) {
  const plain_option& o = c.plain;
  if (o.payoff != payoff_kind::vanilla) return true;
  // Near a barrier one waits for a rebate that pays more than exercise.
  const bool waits = !is_in(o.barrier) && o.barrier != barrier_kind::none && o.rebate > 0 &&
                     is_up(o.barrier) == (o.type == option_type::call);
  if (waits && o.rebate > payoff_at(o, o.barrier_level)) return true;
  const auto negative = [](const curve_step& s) { return s.value < 0; };
  const bool some = c.rates.empty() ? o.rate < 0 : std::any_of(c.rates.begin(), c.rates.end(), negative),
             all = c.rates.empty() ? some : std::all_of(c.rates.begin(), c.rates.end(), negative);
  // A value convex in the spot meets the payoff in an interval. It ends at spot 0, or never for a call, where
  // waiting for ever costs; with a gain both from waiting there and from exercise it does not.
  if (o.type == option_type::call) return some && o.dividend < 0;
  return some && !(all && o.dividend >= 0);
}

}  // namespace vouch
