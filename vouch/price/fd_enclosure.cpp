#include <vouch/price/fd_enclosure.hpp>

#include <algorithm>
#include <cmath>

#include <vouch/core/error.hpp>
#include <vouch/interval/functions.hpp>
#include <vouch/price/closed_form_enclosure.hpp>
#include <vouch/price/fd_border.hpp>
#include <vouch/price/fd_enclosed_steps.hpp>
#include <vouch/price/fd_pairs.hpp>

namespace vouch {
namespace {

using range = interval<double>;

// The weight of node a in the polynomial through 4 nodes: N / D, products of differences, which are exact
// pairs. Three products of pairs err by at most 24 u^2 of N and of D, and N - q D by at most 60 u^2 of N.
enclosed_weight weight_of(const std::vector<double>& s, const fall_stencil& from, std::size_t a) {
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

mixture mixture_of(const std::vector<double>& s, const fall_stencil& from) {
  mixture row;
  row.first = from.first;
  row.count = from.count;
  for (std::size_t a = 0; a < static_cast<std::size_t>(from.count); ++a)
    row.weight[a] = weight_of(s, from, from.first + a);
  return row;
}

// The same steps as march() takes.
class enclosed_march {
 public:
  enclosed_march(const contract& c, const fd_grid& grid, const fd_payment& payment, time_scheme scheme)
      : c_(c),
        grid_(grid),
        scheme_(scheme),
        american_(c.exercise == exercise_style::american),
        low_(c, payment, grid.spot.front(), false),
        high_(c, payment, grid.spot.back(), true),
        floor_(grid.spot.size()),
        steps_(beginning(payment), near_spot(), american_ ? &floor_ : nullptr) {}

  void run(const fd_segment& s) {
    const double length = (s.to - s.from) / static_cast<double>(s.steps);
    factored_ = 0;
    for (std::int64_t k = 0; k < s.steps; ++k) {
      const double from = s.from + length * static_cast<double>(k);
      if (!c_.local_volatility.empty()) {
        L_ = make_operator(c_, grid_, c_.plain.expiry - 0.5 * (from + (from + length)));
        factored_ = 0;
      } else if (k == 0) {
        L_ = make_operator(c_, grid_, c_.plain.expiry - 0.5 * (s.from + s.to));
      }
      if (scheme_ == time_scheme::implicit_euler) {
        step(from, length, length);
      } else if (scheme_ == time_scheme::rannacher && s.smooths && k < 2) {
        step(from, 0.5 * length, 0.5 * length);
        step(from + 0.5 * length, 0.5 * length, 0.5 * length);
      } else {
        step(from, length, 0.5 * length);
      }
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

  range at(std::size_t node) const { return steps_.at(node); }

 private:
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
  std::size_t near_spot() const {
    return static_cast<std::size_t>(stencil_about(grid_, c_.plain.spot).first) + 2;
  }
  // From a time before expiry on.
  void step(double from, double length, double implicit) {
    if (american_ && c_.is_escrowed()) set_exercise(c_.plain.expiry - from - length, false);
    low_.step(length, L_.rate, c_.plain.dividend);
    high_.step(length, L_.rate, c_.plain.dividend);
    if (factored_ != implicit) steps_.factor(L_, implicit);
    factored_ = implicit;
    steps_.advance(implicit < length, low_.value(), high_.value());
  }
  // By the polynomials of let_fall().
  void fall(double amount) {
    const std::vector<double>& s = grid_.spot;
    std::vector<mixture> rows(s.size());
    for (std::size_t i = 0; i < s.size(); ++i) {
      const fall_stencil from = where_it_fell(grid_, s[i], amount);
      rows[i] = mixture_of(s, from);
      if (from.count == 0) rows[i].given = low_.beyond(from.at);
    }
    low_.fall(amount);
    high_.fall(amount);
    steps_.mix(rows, low_.value(), high_.value());
  }

  const contract& c_;
  const fd_grid& grid_;
  time_scheme scheme_;
  bool american_;
  border low_, high_;
  std::vector<double> floor_;
  enclosed_steps steps_;
  fd_operator L_;
  double factored_ = 0;
};

// Value and derivatives of the polynomial through the values by Lagrange's formula.
struct local_range {
  range value, first, second;
};

local_range read(const fd_stencil& s, const range* values) {
  local_range sum{range(0.0), range(0.0), range(0.0)};
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
    sum.value = sum.value + p * values[k];
    sum.first = sum.first + p1 * values[k];
    sum.second = sum.second + p2 * values[k];
  }
  return sum;
}

// By the differential equation, as fd_result's.
range theta(const contract& c, const fd_enclosure& e) {
  const range spot(c.plain.spot), held(escrow(c, 0)), rate(value_at(c.rates, c.plain.rate, 0)),
      sigma(c.local_volatility.empty() ? value_at(c.volatilities, c.plain.volatility, 0)
                                       : c.local_volatility.at(0, c.plain.spot));
  return rate * e.price - (rate - range(c.plain.dividend)) * spot * e.delta - rate * held * e.delta -
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

}  // namespace

fd_enclosure enclose_march(const contract& c, const fd_grid& grid, const fd_payment& payment,
                           const std::vector<fd_segment>& segments, time_scheme scheme) {
  fd_enclosure e;
  if (scheme == time_scheme::exponential) {
    e.reason = "the exponential scheme takes no steps that could be verified";
    return e;
  }
  enclosed_march march(c, grid, payment, scheme);
  for (const fd_segment& s : segments) march.run(s);
  const fd_stencil stencil = stencil_about(grid, c.plain.spot);
  range values[6];
  for (int k = 0; k < stencil.count; ++k) values[k] = march.at(static_cast<std::size_t>(stencil.first + k));
  local_range v = read(stencil, values);
  const range spot(c.plain.spot);
  if (stencil.logarithms) v = {v.value, v.first / spot, (v.second - v.first) / (spot * spot)};
  e.price = v.value;
  e.delta = v.first;
  e.gamma = v.second;
  e.theta = theta(c, e);
  settle_exercise(c, e);
  e.verified = sub_up(e.price.hi(), e.price.lo()) <= 1e-3 * std::max(c.plain.spot, c.plain.strike);
  if (e.verified) return e;
  e = {};
  e.reason = "no norm was found in which these steps keep errors small; those of implicit-euler do";
  return e;
}

fd_enclosure enclose_in_option(const contract& knocked_out, const fd_enclosure& out) {
  fd_enclosure e = out;
  if (!out.verified) return e;
  plain_option plain = knocked_out.plain;
  plain.barrier = barrier_kind::none;
  try {
    if (!knocked_out.is_plain()) throw value_error("without barrier it has no closed form");
    const enclosed_valuation whole = enclose_european_price(plain);
    e.price = whole.price - out.price;
    e.delta = whole.delta - out.delta;
    e.gamma = whole.gamma - out.gamma;
    e.theta = theta(knocked_out, e);
  } catch (const error& wrong) {
    e = {};
    e.reason = wrong.what();
  }
  return e;
}

}  // namespace vouch
