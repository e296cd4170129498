#include <vouch/price/american.hpp>

#include <algorithm>
#include <cmath>
#include <span>

#include <vouch/core/error.hpp>
#include <vouch/core/ieee_environment.hpp>
#include <vouch/price/batch.hpp>
#include <vouch/price/boundary/boundary_panels.hpp>

namespace vouch {
namespace {

constexpr double pi = 3.14159265358979323846;

template <int Most>
square_root_rule<Most> make_rule(int count) {
  square_root_rule<Most> rule;
  rule.count = count;
  detail::gauss_legendre(count, [&](int k, double y, double weight) {
    const double angle = 0.25 * pi * (1 + y);  // t = T sin^2(angle)
    rule.share[k] = std::sin(angle);
    rule.rest[k] = std::cos(angle);
    rule.weight[k] = weight * 0.5 * pi * rule.share[k] * rule.rest[k];
  });
  return rule;
}

boundary_scheme make_scheme(int nodes, int sweeps, int inner, int premium) {
  boundary_scheme scheme;
  scheme.nodes = nodes;
  scheme.sweeps = sweeps;
  for (int i = 0; i < 2 * nodes; ++i) scheme.cosine[i] = std::cos(pi * i / nodes);
  scheme.inner = make_rule<32>(inner);
  scheme.premium = make_rule<56>(premium);
  return scheme;
}

// f(x) by two values about x, h apart relative to scale.
template <class Function>
double central_difference(double x, double h, Function price) {
  return (8 * (price(x + h) - price(x - h)) - (price(x + 2 * h) - price(x - 2 * h))) / (12 * h);
}

valuation by_panels(const plain_option& o, const detail::panel_scheme& scheme) {
  const detail::put_problem put = detail::as_put(o);
  const detail::panelled_boundary boundary(put, scheme);
  if (!boundary.converged()) return {std::nan(""), 0, 0, 0, 0, 0};
  return detail::value_above(o, put, boundary, [&](valuation& v) { boundary.add_premium(v); });
}

double distance(const plain_option& o, const valuation& fine, const valuation& coarse) {
  return std::abs(fine.price - coarse.price) + 1e-14 * std::max(o.spot, o.strike);
}

template <class Price>
void add_vega_and_rho(const plain_option& o, valuation& v, Price value) {
  if (v.gamma == 0 && v.theta == 0) return;  // exercised now
  plain_option bumped = o;
  v.vega = central_difference(o.volatility, 2e-3 * o.volatility, [&](double volatility) {
    bumped.volatility = volatility;
    return value(bumped).price;
  });
  bumped = o;
  const auto at_rate = [&](double rate) {
    bumped.rate = rate;
    return value(bumped).price;
  };
  // Not to where there would be two boundaries.
  const bool put = o.type == option_type::put;
  const double room = put ? o.rate : o.dividend == 0 ? -o.rate : 1, h = std::min(1e-4, 0.1 * room);
  v.rho = h > 0 ? central_difference(o.rate, h, at_rate)
                : (4 * at_rate(5e-5) - at_rate(1e-4) - 3 * at_rate(0)) / 1e-4;
}

// Where expiry is so far that it is as good as never: the perpetual option, of which later exercise is the
// underlying N(-distance) and less, by the distribution of the time to its boundary under the measure that it
// weighs by. Exercised now where even the perpetual one is.
std::optional<american_valuation> nearly_perpetual(const plain_option& o) {
  const detail::put_problem put = detail::as_put(o);
  const double sigma = put.volatility, variance = sigma * sigma, carry = put.rate - put.dividend;
  const double half = 0.5 - carry / variance, speed = std::sqrt(half * half + 2 * put.rate / variance);
  // The value is (K - B) (S / B)^e above B = K e / (e - 1).
  const double e = half > 0 ? -2 * put.rate / variance / (half + speed) : half - speed;
  if (!(e < 0)) return std::nullopt;
  const double boundary = put.strike * (e / (e - 1)), sign = sign_of(o.type);
  if (put.spot <= boundary) return american_valuation{{sign * (o.spot - o.strike) + 0.0, sign, 0, 0, 0, 0}, 0};
  constexpr double never = 9;
  const double x = std::log(put.spot / boundary), deviation = sigma * std::sqrt(put.expiry);
  if (!(variance * speed * put.expiry - x > never * deviation)) return std::nullopt;
  american_valuation result;
  valuation& v = result.value;
  v.price = put.strike / (1 - e) * std::exp(e * x);
  v.delta = e * v.price / put.spot;
  v.gamma = e * (e - 1) * v.price / (put.spot * put.spot);
  detail::turn_from_put(o, put, v);
  // As B is the best, only e counts.
  const double by_volatility = 2 / (sigma * variance) * (carry - (half * carry - put.rate) / speed);
  const double by_rate = -(1 + (1 - half) / speed) / variance, by_dividend = (1 - half / speed) / variance;
  v.vega = v.price * x * by_volatility;
  v.rho = v.price * x * (o.type == option_type::put ? by_rate : by_dividend);
  constexpr double lost = 1e-15;
  result.error_estimate = lost * (1 - e * x) * (v.price + std::max(o.spot, o.strike));
  return result;
}

}  // namespace

const boundary_scheme& fast_boundary() {
  static const boundary_scheme scheme = [] {
    boundary_scheme fast = make_scheme(10, 7, 12, 24);
    fast.settled = 4e-4;
    return fast;
  }();
  return scheme;
}
const boundary_scheme& fine_boundary() {
  static const boundary_scheme scheme = make_scheme(14, 12, 24, 40);
  return scheme;
}
const boundary_scheme& finest_boundary() {
  static const boundary_scheme scheme = make_scheme(20, 12, 32, 56);
  return scheme;
}

american_valuation american_price(const plain_option& o, double tolerance, bool vega_and_rho) {
  const ieee_environment here;
  const early_exercise kind = early_exercise_of(o);
  if (kind == early_exercise::two_boundaries)
    throw value_error("an American option with these negative rates is exercised between two boundaries",
                      "price it by finite differences");
  if (kind == early_exercise::never) return {european_price(o), 0};
  if (kind == early_exercise::deterministic) return {deterministic_american_price(o), 0};
  if (const auto v = nearly_perpetual(o)) return *v;
  const auto by_polynomial = [](const plain_option& moved) { return american_core(moved, finest_boundary()); };
  american_valuation result{by_polynomial(o), 0};
  // Both polynomials miss what is sharp, so that they may be nearer to each other than to the truth: as measured, by
  // so much of the scale.
  constexpr double alike = 4;
  const double drift = detail::drift_in_deviations(o);
  const double common = detail::is_ordinary(o) ? 5e-9 : drift <= 1 ? 5e-8 : drift <= 1.5 ? 1e-6 : 1e-4;
  result.error_estimate = alike * distance(o, result.value, american_core(o, fine_boundary())) +
                          common * std::max(o.spot, o.strike);
  if (result.error_estimate <= tolerance) {
    if (vega_and_rho) add_vega_and_rho(o, result.value, by_polynomial);
    return result;
  }
  // Next to the boundary prices by panels differ from each other by up to a ninth of what they err by.
  constexpr double unlike = 10;
  valuation coarse = by_panels(o, detail::panel_schemes[0]);
  for (const detail::panel_scheme& scheme : std::span(detail::panel_schemes).subspan(1)) {
    const valuation fine = by_panels(o, scheme);
    const double error = unlike * distance(o, fine, coarse);
    if (!(result.error_estimate <= error)) result = {fine, error};
    if (error <= tolerance) break;
    coarse = fine;
  }
  // What all these prices have in common cancels in differences.
  if (vega_and_rho)
    add_vega_and_rho(o, result.value,
                     [](const plain_option& moved) { return by_panels(moved, detail::panel_schemes[1]); });
  return result;
}

std::optional<double> american_boundary(const plain_option& o, double tau) {
  const ieee_environment here;
  if (early_exercise_of(o) != early_exercise::one_boundary) return std::nullopt;
  const detail::put_problem put = detail::as_put(o);
  const double root = std::sqrt(std::clamp(tau, 0.0, o.expiry));
  const detail::exercise_boundary boundary(put, finest_boundary());
  const double at = boundary.converged()
                        ? boundary.log_at(root)
                        : detail::panelled_boundary(put, detail::panel_schemes[2]).log_at(root);
  const double below = at - std::log(put.strike);
  return o.type == option_type::put ? o.strike * std::exp(below) : o.strike * std::exp(-below);
}

}  // namespace vouch
