#include <vouch/price/finite_difference/enclosure.hpp>

#include <algorithm>
#include <cmath>

#include <vouch/core/cancellation.hpp>
#include <vouch/core/error.hpp>
#include <vouch/core/ieee_environment.hpp>
#include <vouch/interval/functions.hpp>
#include <vouch/interval/relations.hpp>
#include <vouch/price/closed_form_enclosure.hpp>
#include <vouch/price/finite_difference/boundary_condition.hpp>
#include <vouch/price/finite_difference/enclosed_steps.hpp>

namespace vouch {
namespace {

using range = interval<double>;

// The weight of node a in the polynomial through 4 nodes: N / D, products of differences, which are exact
// pairs. Three products of pairs err by at most 24 u^2 of N and of D, and N - q D by at most 60 u^2 of N.
enclosed_weight weight_of(const std::vector<double>& s, const dividend_stencil& from, std::size_t a) {
  fd::pair numerator{1, 0}, denominator{1, 0};
  bool moderate = true;
  for (std::size_t b = from.first; b < from.first + 4; ++b) {
    if (b == a) continue;
    const fd::pair above = two_sum(from.at, -s[b]), below = two_sum(s[a], -s[b]);
    for (const double size : {std::fabs(above.hi), std::fabs(below.hi)})
      moderate = moderate && (size == 0 || (size > 0x1p-200 && size < 0x1p200));
    numerator = fd::product(numerator, above);
    denominator = fd::product(denominator, below);
  }
  if (!moderate || denominator.hi == 0) return {0, range::entire()};
  constexpr double slack = 0x1p-100;
  const double q = numerator.hi / denominator.hi;
  const fd::pair left = fd::difference(numerator, fd::product({q, 0}, denominator));
  const double off = mul_up(4 * slack, std::fabs(numerator.hi)),
               size = mul_up(slack, std::fabs(denominator.hi));
  const range missing = range(left.hi) + range(left.lo) + range::unchecked(-off, off);
  return {q, missing / (range(denominator.hi) + range(denominator.lo) + range::unchecked(-size, size))};
}

mixture mixture_of(const std::vector<double>& s, const dividend_stencil& from) {
  mixture row;
  row.first = from.first;
  row.count = from.count;
  for (std::size_t a = 0; a < static_cast<std::size_t>(from.count); ++a)
    row.weight[a] = weight_of(s, from, from.first + a);
  return row;
}

struct local_range {
  range value, first, second;
};

// Value and derivatives by the spot of the polynomial through the values, by Lagrange's formula.
class local_reader {
 public:
  explicit local_reader(const fd_stencil& s) : s_(s) {
    for (int k = 0; k < s.count; ++k) {
      // The basis polynomial and its derivatives, factor by factor.
      range p(1.0), p1(0.0), p2(0.0);
      for (int j = 0; j < s.count; ++j) {
        if (j == k) continue;
        const range scale = range(1.0) / (range(s.x[k]) - range(s.x[j])),
                    x = (range(s.at) - range(s.x[j])) * scale;
        p2 = p2 * x + range(2.0) * p1 * scale;
        p1 = p1 * x + p * scale;
        p = p * x;
      }
      basis_[k] = {p, p1, p2};
    }
  }
  std::size_t first() const { return static_cast<std::size_t>(s_.first); }
  std::size_t count() const { return static_cast<std::size_t>(s_.count); }

  /// Of values from first() on; the spot is that of the stencil.
  local_range read(const std::vector<range>& values, double spot) const {
    local_range v{range(0.0), range(0.0), range(0.0)};
    for (std::size_t k = 0; k < count(); ++k) {
      v.value = v.value + basis_[k].value * values[k];
      v.first = v.first + basis_[k].first * values[k];
      v.second = v.second + basis_[k].second * values[k];
    }
    if (!s_.logarithms) return v;
    const range at(spot);
    return {v.value, v.first / at, (v.second - v.first) / (at * at)};
  }

 private:
  fd_stencil s_;
  local_range basis_[6];
};

// The same steps as step_in_time() takes, in the same order of what is given at a barrier and noted at the spot.
class enclosed_time_stepper {
 public:
  /// With payment.in_time, in_time_off bounds how far these values may be off.
  enclosed_time_stepper(const contract& c, const fd_grid& grid, const fd_payment& payment, time_scheme scheme,
                        const std::vector<double>* in_time_off = nullptr)
      : c_(c),
        grid_(grid),
        in_time_off_(in_time_off),
        at_spot_(stencil_about(grid, c.plain.spot)),
        scheme_(scheme),
        american_(c.exercise == exercise_style::american),
        low_(c, payment, grid.spot.front(), false),
        high_(c, payment, grid.spot.back(), true),
        floor_(grid.spot.size()),
        steps_(beginning(payment), near_spot(), american_ ? &floor_ : nullptr) {}

  void run(const fd_segment& s, std::vector<range>* trace = nullptr) {
    const double length = (s.to - s.from) / static_cast<double>(s.steps);
    factored_ = 0;
    trace_ = trace;
    begin();
    const cancellation_probe stop;
    for (std::int64_t k = 0; k < s.steps; ++k) {
      stop.check();
      const double from = s.from + length * static_cast<double>(k);
      if (!c_.local_volatility.empty()) {
        L_ = make_operator(c_, grid_, c_.plain.expiry - 0.5 * (from + (from + length)));
        factored_ = 0;
      } else if (k == 0) {
        L_ = make_operator(c_, grid_, c_.plain.expiry - 0.5 * (s.from + s.to));
      }
      take_step(scheme_, s, k, [&](double begin, double by, double implicit) { step(begin, by, implicit); });
    }
    if (c_.is_escrowed())
      set_exercise(c_.plain.expiry - s.to, true);
    else if (s.dividend > 0)
      fall(s.dividend);
    if (!s.exercise && !(american_ && s.dividend > 0)) return;
    low_.exercise();
    high_.exercise();
    steps_.exercise(floor_, low_.value(), high_.value());
  }

  /// At the spot.
  local_range local() const {
    std::vector<range> values(at_spot_.count());
    for (std::size_t k = 0; k < values.size(); ++k) values[k] = steps_.at(at_spot_.first() + k);
    return at_spot_.read(values, c_.plain.spot);
  }

 private:
  void begin() {
    low_.begin();
    high_.begin();
    if (in_time_off_ != nullptr) steps_.set_ends(low_.value(), high_.value(), next_off());
    if (trace_ != nullptr) trace_->push_back(local().value);
  }
  end_offs next_off() {
    if (in_time_off_ == nullptr) return {};
    const double off = (*in_time_off_)[given_++];
    return {low_.is_barrier() ? off : 0, high_.is_barrier() ? off : 0};
  }
  // What exercise pays at a time; constant but for escrowed dividends.
  void set_exercise(double time, bool before_dividend) {
    const double held = escrow(c_, time, before_dividend);
    for (std::size_t i = 0; i < floor_.size(); ++i) floor_[i] = payoff_on_grid(c_, grid_.spot[i] + held);
    low_.set_escrow(held);
    high_.set_escrow(held);
  }
  std::vector<double> beginning(const fd_payment& payment) {
    set_exercise(c_.plain.expiry, false);
    std::vector<double> v = floor_;
    for (double& x : v) x -= payment.less;
    v.front() = low_.value();
    v.back() = high_.value();
    return v;
  }
  std::size_t near_spot() const { return at_spot_.first() + 2; }
  // From a time before expiry on.
  void step(double from, double length, double implicit) {
    if (american_ && c_.is_escrowed()) set_exercise(c_.plain.expiry - from - length, false);
    low_.step(length, L_.rate, c_.plain.dividend);
    high_.step(length, L_.rate, c_.plain.dividend);
    if (factored_ != implicit) steps_.factor(L_, implicit);
    factored_ = implicit;
    steps_.advance(implicit < length, low_.value(), high_.value(), next_off());
    if (trace_ != nullptr) trace_->push_back(local().value);
  }
  // By the polynomials of pay_dividend().
  void fall(double amount) {
    const std::vector<double>& s = grid_.spot;
    std::vector<mixture> rows(s.size());
    for (std::size_t i = 0; i < s.size(); ++i) {
      const dividend_stencil from = dividend_stencil_at(grid_, s[i], amount);
      rows[i] = mixture_of(s, from);
      if (from.count == 0) rows[i].given = low_.beyond(from.at);
    }
    low_.fall(amount);
    high_.fall(amount);
    steps_.mix(rows, low_.value(), high_.value());
  }

  const contract& c_;
  const fd_grid& grid_;
  const std::vector<double>* in_time_off_;
  std::vector<range>* trace_ = nullptr;
  std::size_t given_ = 0;  // of in_time_off_
  local_reader at_spot_;
  time_scheme scheme_;
  bool american_;
  boundary_condition low_, high_;
  std::vector<double> floor_;
  enclosed_steps steps_;
  fd_operator L_;
  double factored_ = 0;
};

// By the differential equation, as fd_result's.
range theta(const contract& c, const fd_enclosure& e) {
  const range spot(c.plain.spot), held(escrow(c, 0)), rate(value_at(c.rates, c.plain.rate, 0)),
      sigma(c.local_volatility.empty() ? value_at(c.volatilities, c.plain.volatility, 0)
                                       : c.local_volatility.at(0, c.plain.spot));
  return rate * e.price - (rate - range(c.plain.dividend)) * (spot + held) * e.delta -
         sigma * sigma * spot * spot * e.gamma / range(2.0);
}

// What is exercised now has the slope of what is paid, no curvature, and no time passes, as in fd_result; where
// the bounds do not tell whether it is, either may hold.
void settle_exercise(const contract& c, fd_enclosure& e) {
  const plain_option& o = c.plain;
  const double paid = payoff_at(o, o.spot + escrow(c, 0)), most = paid * (1 + 1e-10);
  if (c.exercise != exercise_style::american || !(paid > 0) || e.price.lo() > most) return;
  const range slope(o.payoff == payoff_kind::cash_digital    ? 0
                    : o.payoff == payoff_kind::asset_digital ? 1
                                                             : sign_of(o.type));
  const bool surely = e.price.hi() <= most;
  e.delta = surely ? slope : hull(e.delta, slope);
  e.gamma = surely ? range(0.0) : hull(e.gamma, range(0.0));
  e.theta = surely ? range(0.0) : hull(e.theta, range(0.0));
}

fd_enclosure enclosure_of(const contract& c, const local_range& v) {
  fd_enclosure e;
  e.price = v.value;
  e.delta = v.first;
  e.gamma = v.second;
  e.theta = theta(c, e);
  e.verified = sub_up(e.price.hi(), e.price.lo()) <= 1e-3 * std::max(c.plain.spot, c.plain.strike);
  return e;
}

fd_enclosure refused(std::string reason) {
  fd_enclosure e;
  e.reason = std::move(reason);
  return e;
}

constexpr const char* no_norm =
    "no norm was found in which these steps keep errors small; those of implicit-euler do";

fd_enclosure enclose_without_steps(const contract& c, const fd_grid& grid, const fd_payment& payment) {
  exponential_problem p{make_operator(c, grid, 0), c.plain.expiry, {}, {}, {}};
  for (const double spot : grid.spot) p.start.push_back(payoff_at(c.plain, spot) - payment.less);
  p.first = boundary_terms(c, payment, grid.spot.front(), false);
  p.last = boundary_terms(c, payment, grid.spot.back(), true);
  const local_reader at_spot(stencil_about(grid, c.plain.spot));
  try {
    const auto values = enclose_exponential(p, at_spot.first(), at_spot.count());
    const fd_enclosure e = enclosure_of(c, at_spot.read(values, c.plain.spot));
    if (e.verified) return e;
  } catch (const error& wrong) {
    return refused(wrong.what());
  }
  return refused("the drift is too strong for the norm in which the exponential scheme is bounded");
}

}  // namespace

fd_enclosure enclose_time_stepping(const contract& c, const fd_grid& grid, const fd_payment& payment,
                                   const std::vector<fd_segment>& segments, time_scheme scheme) {
  const ieee_environment here;
  if (scheme == time_scheme::exponential) return enclose_without_steps(c, grid, payment);
  enclosed_time_stepper stepper(c, grid, payment, scheme);
  for (const fd_segment& s : segments) stepper.run(s);
  fd_enclosure e = enclosure_of(c, stepper.local());
  if (!e.verified) return refused(no_norm);
  settle_exercise(c, e);
  return e;
}

fd_enclosure enclose_knock_in(const contract& c, const fd_grid& grid, grid_kind kind, std::int64_t steps,
                              time_scheme scheme) {
  const ieee_environment here;
  const contract in = knocked_in(c), out = not_knocked_in(c);
  const fd_grid knocked_in_grid = make_grid(in, kind, grid.size());
  std::vector<fd_segment> segments = make_segments(in, steps);
  enclosed_time_stepper stepper(in, knocked_in_grid, {}, scheme);
  std::vector<range> at_barrier;
  for (const fd_segment& s : segments) stepper.run(s, &at_barrier);
  std::vector<double> near, off;
  for (const range& value : at_barrier) {
    if (!is_common(value)) return refused(no_norm);
    near.push_back(mid(value));
    off.push_back(rad(value));
  }
  enclosed_time_stepper waiting(out, grid, {0, near.front(), &near}, scheme, &off);
  for (fd_segment& s : segments) {
    s.exercise = false;
    waiting.run(s);
  }
  const fd_enclosure e = enclosure_of(c, waiting.local());
  return e.verified ? e : refused(no_norm);
}

fd_enclosure enclose_in_option(const contract& knocked_out, const fd_enclosure& out) {
  const ieee_environment here;
  fd_enclosure e = out;
  if (!out.verified) return e;
  plain_option plain = knocked_out.plain;
  plain.barrier = barrier_kind::none;
  try {
    if (!knocked_out.is_plain()) throw value_error("rates and volatilities that change have no closed form");
    const enclosed_valuation whole = enclose_european_price(plain);
    e.price = whole.price - out.price;
    e.delta = whole.delta - out.delta;
    e.gamma = whole.gamma - out.gamma;
    e.theta = theta(knocked_out, e);
  } catch (const error& wrong) {
    return refused(std::string("the option without barrier, which this one is a part of: ") + wrong.what());
  }
  return e;
}

}  // namespace vouch
