// vouch/price/boundary.hpp -- the exercise boundary of an American put by fixed-point iteration; a detail of public headers.
#pragma once
#include <cmath>
#include <cstdint>

#include <vouch/core/types.hpp>
#include <vouch/core/visibility.hpp>
#include <vouch/price/normal.hpp>
#include <vouch/price/types.hpp>

namespace VOUCH_PUBLIC vouch {

/// Points for integrals over [0, T] of functions that are smooth in the square roots of t and of T - t: t is
/// T share^2, T - t is T rest^2, and dt is T weight.
template <int Most>
struct square_root_rule {
  int count = 0;
  double share[Most] = {}, rest[Most] = {}, weight[Most] = {};
};

/// How finely the boundary is resolved, and the numbers that this takes. Small enough to be passed to a kernel.
struct boundary_scheme {
  static constexpr int most_nodes = 20;
  int nodes = 0;                       // Chebyshev nodes in the square root of time, less one
  int sweeps = 0;                      // fixed-point iterations
  double settled = 1e-4;               // changes of log B in the last one that prices, of second order, bear
  double cosine[2 * most_nodes] = {};  // cos(pi i / nodes)
  square_root_rule<32> inner;          // integrals over the boundary
  square_root_rule<56> premium;        // the integral for the price
};

/// For errors of about 1e-6 and 1e-8 of the strike.
const boundary_scheme& fast_boundary();
const boundary_scheme& fine_boundary();
/// One step finer still, to judge the other by.
const boundary_scheme& finest_boundary();

namespace detail {

/// The put whose early exercise is that of the option: a call is a put with spot and strike, rate and dividend
/// exchanged.
struct put_problem {
  double spot, strike, rate, dividend, volatility, expiry;
};

VOUCH_HOST_DEVICE inline put_problem as_put(const plain_option& o) {
  if (o.type == option_type::put) return {o.spot, o.strike, o.rate, o.dividend, o.volatility, o.expiry};
  return {o.strike, o.spot, o.dividend, o.rate, o.volatility, o.expiry};
}

/// Nothing is exercised above it, at any time.
VOUCH_HOST_DEVICE inline double log_limit_of(const put_problem& put) {
  return std::log(put.dividend > put.rate ? put.strike * (put.rate / put.dividend) : put.strike);
}

struct d_pair {
  double minus, plus;
};
VOUCH_HOST_DEVICE inline d_pair d_of(const put_problem& put, double time, double deviation, double log_ratio) {
  const double minus = (log_ratio + (put.rate - put.dividend) * time) / deviation - 0.5 * deviation;
  return {minus, minus + deviation};
}

/// About log(limit / B): 1/B moves from its value at expiry to that of the perpetual option as fast as for a
/// short expiry.
VOUCH_HOST_DEVICE inline double seed_of(const put_problem& put, double log_limit, double root_of_time) {
  const double variance = put.volatility * put.volatility, b = put.rate - put.dividend;
  const double half = 0.5 - b / variance;
  const double exponent = std::fmin(half - std::sqrt(half * half + 2 * put.rate / variance), -1e-3);
  // limit / B of the perpetual put, at least 1.
  const double perpetual = std::fmax(std::exp(log_limit) / put.strike * (exponent - 1) / exponent, 1.0);
  const double spread = 2 * put.volatility * root_of_time;
  const double speed = std::fmax(spread - b * root_of_time * root_of_time, 0.1 * spread);
  const double weight = perpetual > 1 ? -std::expm1(-speed / (perpetual - 1)) : 0.0;
  return std::log1p((perpetual - 1) * weight);
}

/// Adds what exercise in a short time pays: root_of_left^2 years from now, below a boundary.
VOUCH_HOST_DEVICE inline void add_premium_point(const put_problem& put, double log_spot, double root_of_left,
                                                double log_boundary, double weight, valuation& v) {
  const double left = root_of_left * root_of_left, deviation = put.volatility * root_of_left;
  const d_pair d = d_of(put, left, deviation, log_spot - log_boundary);
  const double interest = weight * put.rate * put.strike * std::exp(-put.rate * left);
  const double yield = weight * put.dividend * std::exp(-put.dividend * left);
  const double paid = yield * normal::cumulative(-d.plus);
  const double interest_density = interest * normal::density(d.minus) / (put.spot * deviation);
  const double yield_density = yield * normal::density(d.plus) / deviation;
  v.price += interest * normal::cumulative(-d.minus) - put.spot * paid;
  v.delta += yield_density - interest_density - paid;
  v.gamma +=
      (interest_density * (1 + d.minus / deviation) + yield_density * (1 - d.plus / deviation)) / put.spot;
}

/// How the integral of the premium is taken. Prices that are subtracted for a Greek take the same way.
enum class premium_rule : std::uint8_t { undecided, whole, by_pieces };

/// The boundary B(tau) = limit * exp(-sqrt(H)), H a polynomial in sqrt(tau) through its values at Chebyshev
/// nodes. The put is exercised beyond one boundary.
class exercise_boundary {
 public:
  VOUCH_HOST_DEVICE exercise_boundary(const put_problem& put, const boundary_scheme& scheme)
      : put_(put),
        count_(scheme.nodes),
        root_(std::sqrt(put.expiry)),
        log_limit_(log_limit_of(put)),
        settled_(scheme.settled) {
    seed(scheme);
    interpolate(scheme);
    for (int sweep = 0; sweep < scheme.sweeps; ++sweep) {
      improve(scheme, sweep);
      interpolate(scheme);
    }
  }

  /// Whether the last sweep changed log B so little that prices, whose errors are of second order in it, hold.
  VOUCH_HOST_DEVICE bool converged() const { return residual_ < settled_; }

  /// log B, sqrt(tau) years before expiry.
  VOUCH_HOST_DEVICE double log_at(double root_of_time) const {
    const double z = 2 * root_of_time / root_ - 1;
    double b1 = 0, b2 = 0;  // Clenshaw's recurrence
    for (int k = count_; k >= 1; --k) {
      const double b0 = std::fma(2 * z, b1, coefficient_[k] - b2);
      b2 = b1;
      b1 = b0;
    }
    return log_limit_ - std::sqrt(std::fmax(coefficient_[0] + z * b1 - b2, 0.0));
  }

  /// Adds what early exercise is worth to a European put, its delta and its gamma. Near the boundary all of it depends on
  /// how soon the underlying falls there: a piece of the integral for every factor of 4 in time, down to where it is
  /// sure not to. rule: which way is taken, where it is undecided decided here.
  VOUCH_HOST_DEVICE void add_premium(const boundary_scheme& scheme, premium_rule& rule, valuation& v) const {
    constexpr double sure = 9, near = 0.4;
    constexpr int most_pieces = 20;
    const double log_spot = std::log(put_.spot), distance = log_spot - log_at(root_);
    const double deviation = put_.volatility * root_;
    if (rule == premium_rule::undecided)
      rule = distance < near * deviation ? premium_rule::by_pieces : premium_rule::whole;
    if (rule == premium_rule::whole) return add_premium_piece(scheme.premium, log_spot, 0, put_.expiry, v);
    double to = put_.expiry;
    for (int piece = 0; piece < most_pieces && sure * put_.volatility * std::sqrt(to) > distance; ++piece) {
      add_premium_piece(scheme.premium, log_spot, 0.25 * to, to, v);
      to *= 0.25;
    }
    add_premium_piece(scheme.premium, log_spot, 0, to, v);
  }

 private:
  /// Exercise between two times from now.
  VOUCH_HOST_DEVICE void add_premium_piece(const square_root_rule<56>& rule, double log_spot, double from,
                                           double to, valuation& v) const {
    const double length = to - from;
    for (int k = 0; k < rule.count; ++k) {
      const double left = from + length * (rule.rest[k] * rule.rest[k]);
      const double root_of_time = from == 0 && to == put_.expiry
                                      ? root_ * rule.share[k]
                                      : std::sqrt(std::fmax(put_.expiry - left, 0.0));
      add_premium_point(put_, log_spot, std::sqrt(left), log_at(root_of_time), length * rule.weight[k], v);
    }
  }

  VOUCH_HOST_DEVICE void seed(const boundary_scheme& scheme) {
    for (int i = 0; i < count_; ++i) {
      const double h = seed_of(put_, log_limit_, 0.5 * root_ * (1 + scheme.cosine[i]));
      squared_[i] = h * h;
    }
    squared_[count_] = 0;
  }

  VOUCH_HOST_DEVICE void interpolate(const boundary_scheme& scheme) {
    for (int k = 0; k <= count_; ++k) {
      double sum = 0.5 * squared_[0];  // the last value is 0
      for (int i = 1; i < count_; ++i) sum += squared_[i] * scheme.cosine[(i * k) % (2 * count_)];
      coefficient_[k] = sum * (k == 0 || k == count_ ? 1.0 : 2.0) / count_;
    }
  }

  /// One sweep over the nodes. Where drift dominates variance plain iteration would swing ever wider: the step
  /// is divided by 1 - f', with f' the secant's slope of the last two sweeps.
  VOUCH_HOST_DEVICE void improve(const boundary_scheme& scheme, int sweep) {
    const bool steep = std::abs(put_.rate - put_.dividend) > 0.7 * put_.volatility * put_.volatility;
    residual_ = 0;
    for (int i = 0; i < count_; ++i) {
      const double now = log_limit_ - std::sqrt(squared_[i]);
      const double target = fixed_point(0.5 * root_ * (1 + scheme.cosine[i]), now, scheme);
      double slope = steep ? -0.1 : 0.0;
      if (sweep > 0 && now != last_[i]) slope = (target - last_target_[i]) / (now - last_[i]);
      slope = std::fmin(std::fmax(slope, -8.0), steep ? 0.0 : 0.3);
      residual_ = std::fmax(residual_, std::abs(target - now));
      last_[i] = now;
      last_target_[i] = target;
      const double h = log_limit_ - std::fmin(now + (target - now) / (1 - slope), log_limit_);
      squared_[i] = h * h;
    }
  }

  /// log B that follows from log B at this time and the boundary at all later ones, by the condition that the
  /// price joins the payoff smoothly: at the solution it does not depend on the own value to first order.
  VOUCH_HOST_DEVICE double fixed_point(double root_of_time, double log_now,
                                       const boundary_scheme& scheme) const {
    const double tau = root_of_time * root_of_time, whole = put_.volatility * root_of_time;
    const d_pair d = d_of(put_, tau, whole, log_now - std::log(put_.strike));
    double above = normal::density(d.minus) / whole;
    double below = normal::density(d.plus) / whole + normal::cumulative(d.plus);
    for (int k = 0; k < scheme.inner.count; ++k) {
      const double share = scheme.inner.share[k], rest = scheme.inner.rest[k];
      const double left = tau * share * share, deviation = whole * rest;
      const d_pair e = d_of(put_, tau * rest * rest, deviation, log_now - log_at(root_of_time * share));
      const double weight = tau * scheme.inner.weight[k];
      above += weight * put_.rate * std::exp(put_.rate * left) * normal::density(e.minus) / deviation;
      below += weight * put_.dividend * std::exp(put_.dividend * left) *
               (normal::cumulative(e.plus) + normal::density(e.plus) / deviation);
    }
    return std::log(put_.strike) - (put_.rate - put_.dividend) * tau + std::log(above / below);
  }

  put_problem put_;
  int count_;
  double root_, log_limit_, settled_, residual_ = 0;
  double squared_[boundary_scheme::most_nodes + 1];
  double coefficient_[boundary_scheme::most_nodes + 1];
  double last_[boundary_scheme::most_nodes], last_target_[boundary_scheme::most_nodes];
};

}  // namespace detail
}  // namespace vouch
