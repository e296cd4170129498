#include <vouch/price/fd_enclosure.hpp>

#include <algorithm>
#include <cmath>

#include <vouch/core/error.hpp>
#include <vouch/price/closed_form_enclosure.hpp>
#include <vouch/price/fd_border.hpp>
#include <vouch/price/fd_enclosed_steps.hpp>

namespace vouch {
namespace {

using range = interval<double>;

// The same steps as march() takes, of products whose steps are linear but for exercise at dates.
class enclosed_march {
 public:
  enclosed_march(const contract& c, const fd_grid& grid, const fd_payment& payment, time_scheme scheme)
      : c_(c),
        grid_(grid),
        scheme_(scheme),
        low_(c, payment, grid.spot.front(), false),
        high_(c, payment, grid.spot.back(), true),
        floor_(payoffs(c, grid)),
        steps_(beginning(payment), near_spot()) {}

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
        step(length, length);
      } else if (scheme_ == time_scheme::rannacher && s.smooths && k < 2) {
        step(0.5 * length, 0.5 * length);
        step(0.5 * length, 0.5 * length);
      } else {
        step(length, 0.5 * length);
      }
    }
    if (!s.exercise) return;
    low_.exercise(c_.plain);
    high_.exercise(c_.plain);
    steps_.exercise(floor_, low_.value(), high_.value());
  }

  range at(std::size_t node) const { return steps_.at(node); }

 private:
  static std::vector<double> payoffs(const contract& c, const fd_grid& grid) {
    std::vector<double> v;
    for (const double spot : grid.spot) v.push_back(payoff_at(c.plain, spot));
    return v;
  }
  std::vector<double> beginning(const fd_payment& payment) const {
    std::vector<double> v = floor_;
    for (double& x : v) x -= payment.less;
    v.front() = low_.value();
    v.back() = high_.value();
    return v;
  }
  std::size_t near_spot() const {
    return static_cast<std::size_t>(stencil_about(grid_, c_.plain.spot).first) + 2;
  }
  void step(double length, double implicit) {
    low_.step(length, L_.rate, c_.plain.dividend);
    high_.step(length, L_.rate, c_.plain.dividend);
    if (factored_ != implicit) steps_.factor(L_, implicit);
    factored_ = implicit;
    steps_.advance(implicit < length, low_.value(), high_.value());
  }

  const contract& c_;
  const fd_grid& grid_;
  time_scheme scheme_;
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
  const range spot(c.plain.spot), rate(value_at(c.rates, c.plain.rate, 0)),
      sigma(c.local_volatility.empty() ? value_at(c.volatilities, c.plain.volatility, 0)
                                       : c.local_volatility.at(0, c.plain.spot));
  return rate * e.price - (rate - range(c.plain.dividend)) * spot * e.delta -
         sigma * sigma * spot * spot * e.gamma / range(2.0);
}

std::string refusal(const contract& c, time_scheme scheme) {
  if (scheme == time_scheme::exponential) return "the exponential scheme takes no steps that could be verified";
  if (c.exercise == exercise_style::american) return "steps under American exercise are not verified";
  if (!c.dividends.empty()) return "the falls of cash dividends between nodes are not verified";
  return {};
}

}  // namespace

fd_enclosure enclose_march(const contract& c, const fd_grid& grid, const fd_payment& payment,
                           const std::vector<fd_segment>& segments, time_scheme scheme) {
  fd_enclosure e;
  e.reason = refusal(c, scheme);
  if (!e.reason.empty()) return e;
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
