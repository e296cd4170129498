#include <vouch/price/american.hpp>

#include <algorithm>
#include <cmath>

#include <vouch/core/error.hpp>

namespace vouch {
namespace {

constexpr double pi = 3.14159265358979323846;

// Gauss-Legendre points on [-1, 1] by Newton's iteration on the Legendre polynomial.
template <int Most>
square_root_rule<Most> make_rule(int count) {
  square_root_rule<Most> rule;
  rule.count = count;
  for (int k = 0; k < count; ++k) {
    double y = std::cos(pi * (k + 0.75) / (count + 0.5)), slope = 1;
    for (int iteration = 0; iteration < 20; ++iteration) {
      double before = 1, now = y;
      for (int n = 2; n <= count; ++n) {
        const double next = ((2 * n - 1) * y * now - (n - 1) * before) / n;
        before = now;
        now = next;
      }
      slope = count * (y * now - before) / (y * y - 1);
      y -= now / slope;
    }
    const double angle = 0.25 * pi * (1 + y);  // t = T sin^2(angle)
    rule.share[k] = std::sin(angle);
    rule.rest[k] = std::cos(angle);
    rule.weight[k] = 2 / ((1 - y * y) * slope * slope) * 0.5 * pi * rule.share[k] * rule.rest[k];
  }
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

}  // namespace

const boundary_scheme& fast_boundary() {
  static const boundary_scheme scheme = make_scheme(10, 7, 12, 24);
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

american_valuation american_price(const plain_option& o) {
  if (early_exercise_of(o) == early_exercise::two_boundaries)
    throw value_error("an American option with these negative rates is exercised between two boundaries",
                      "price it by finite differences");
  american_valuation result{american_core(o, finest_boundary()), 0};
  if (early_exercise_of(o) != early_exercise::one_boundary) {
    if (early_exercise_of(o) == early_exercise::never) result.value = european_price(o);
    return result;
  }
  const double coarser = american_core(o, fine_boundary()).price;
  result.error_estimate = std::abs(result.value.price - coarser) + 1e-14 * std::max(o.spot, o.strike);
  if (result.value.gamma == 0 && result.value.theta == 0) return result;  // exercised now
  plain_option bumped = o;
  result.value.vega = central_difference(o.volatility, 2e-3 * o.volatility, [&](double volatility) {
    bumped.volatility = volatility;
    return american_core(bumped, finest_boundary()).price;
  });
  bumped = o;
  const double rate_step = std::min(1e-4, 0.1 * std::abs(detail::as_put(o).rate));
  result.value.rho = central_difference(o.rate, rate_step, [&](double rate) {
    bumped.rate = rate;
    return american_core(bumped, finest_boundary()).price;
  });
  return result;
}

std::optional<double> american_boundary(const plain_option& o, double tau) {
  if (early_exercise_of(o) != early_exercise::one_boundary) return std::nullopt;
  detail::put_problem put = detail::as_put(o);
  const double limit = std::log(put.strike);
  const detail::exercise_boundary boundary(put, finest_boundary());
  const double below = boundary.log_at(std::sqrt(std::clamp(tau, 0.0, o.expiry))) - limit;
  return o.type == option_type::put ? o.strike * std::exp(below) : o.strike * std::exp(-below);
}

}  // namespace vouch
