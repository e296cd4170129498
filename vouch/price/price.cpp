#include <vouch/price/price.hpp>

#include <algorithm>
#include <cmath>

#include <vouch/core/error.hpp>
#include <vouch/core/ieee_environment.hpp>
#include <vouch/price/american.hpp>
#include <vouch/price/closed_form.hpp>

namespace vouch {
namespace {

constexpr double unit = 1.1102230246251565e-16;

bool has_barrier(const contract& c) { return c.plain.barrier != barrier_kind::none; }

// Digits that a barrier's formula loses in exponents of both signs.
double lost_in_exponents(const plain_option& o) {
  if (o.barrier == barrier_kind::none || !(o.volatility > 0 && o.expiry > 0 && o.spot > 0)) return 0;
  const double deviation = o.volatility * std::sqrt(o.expiry), drift = (o.rate - o.dividend) / o.volatility;
  const double distance = std::abs(std::log(o.barrier_level / o.spot)) / deviation;
  const double furthest = distance + std::abs(drift) * std::sqrt(o.expiry) + deviation;
  constexpr double underflow = 745;
  return std::min(0.5 * furthest * furthest, underflow) +
         std::abs(2 * drift / o.volatility - 1) * distance * deviation;
}

// Of formulas: in units of the larger of the terms whose difference the value is.
double rounding(const contract& c) {
  const plain_option& o = c.plain;
  const double bond = std::exp(std::max(-integral_to(c.rates, o.rate, o.expiry), 0.0)),
               underlying = o.spot * std::exp(std::max(-o.dividend, 0.0) * o.expiry);
  if (has_barrier(c)) {
    const double paid = o.payoff == payoff_kind::cash_digital ? o.cash : o.strike;
    return 16 * unit * std::max({underlying, bond * paid, bond * o.rebate}) * (1 + lost_in_exponents(o));
  }
  switch (o.payoff) {
    case payoff_kind::cash_digital:
      return 16 * unit * bond * o.cash;
    case payoff_kind::asset_digital:
      return 16 * unit * underlying;
    default:
      return 16 * unit * (o.type == option_type::call ? underlying : bond * o.strike);
  }
}

// A Bermudan option without dates before its expiry is European.
exercise_style effective_exercise(const contract& c) {
  if (c.exercise != exercise_style::bermudan) return c.exercise;
  const auto counts = [&](double date) { return date >= 0 && date < c.plain.expiry; };
  return std::any_of(c.exercise_dates.begin(), c.exercise_dates.end(), counts) ? exercise_style::bermudan
                                                                               : exercise_style::european;
}

// Whether of rate and volatility only their means until expiry count.
bool is_levelled(const contract& c) {
  return effective_exercise(c) == exercise_style::european && !has_barrier(c) && c.dividends.empty() &&
         c.local_volatility.empty();
}

// With these means in place of what changes.
plain_option with_means(const contract& c) {
  plain_option o = c.plain;
  if (o.expiry > 0) {
    if (!c.rates.empty()) o.rate = integral_to(c.rates, o.rate, o.expiry) / o.expiry;
    if (!c.volatilities.empty()) o.volatility = typical_volatility(c);
  } else {
    o.rate = value_at(c.rates, o.rate, 0);
    o.volatility = value_at(c.volatilities, o.volatility, 0);
  }
  return o;
}

// The formula with these means; theta is the equation's with what holds now, vega for all volatilities moved
// alike.
valuation levelled_price(const contract& c) {
  const plain_option mean = with_means(c);
  valuation v = closed_form(mean);
  const bool random = mean.volatility > 0 && mean.expiry > 0;
  if (!c.volatilities.empty() && random)
    v.vega *= integral_to(c.volatilities, 0, mean.expiry) / mean.expiry / mean.volatility;
  if (c.is_plain() || !std::isfinite(v.gamma)) return v;
  const double rate = value_at(c.rates, mean.rate, 0), underlying = mean.spot,
               moved = value_at(c.volatilities, mean.volatility, 0) * underlying;
  v.theta = rate * v.price - (rate - mean.dividend) * underlying * v.delta - 0.5 * moved * moved * v.gamma;
  return v;
}

bool is_random(const contract& c) {
  return typical_volatility(c) > 0 && c.plain.expiry > 0 && c.plain.spot > 0;
}

pricing exact(const contract& c, const valuation& value, pricing_method method) {
  pricing p;
  p.value = value;
  p.method = method;
  p.error_estimate = rounding(c);
  return p;
}

// A barrier that is hit already.
std::optional<pricing> decided(contract& c) {
  if (!has_barrier(c) || !barrier_is_hit(c.plain)) return std::nullopt;
  if (!is_in(c.plain.barrier)) {
    pricing p = exact(c, {c.plain.rebate, 0, 0, 0, 0, 0}, pricing_method::limit);
    p.closed_form = c.plain.rebate;
    return p;
  }
  c.plain.barrier = barrier_kind::none;  // it has begun: the plain option
  return std::nullopt;
}

// Whether the underlying gets to a barrier that would end the option as good as never: ten deviations.
bool is_out_of_reach(const contract& c) {
  const plain_option& o = c.plain;
  if (!has_barrier(c) || is_in(o.barrier) || !c.dividends.empty() || !c.local_volatility.empty()) return false;
  const double side = is_up(o.barrier) ? 1 : -1, deviation = typical_volatility(c) * std::sqrt(o.expiry);
  double drift = 0;  // towards it
  const auto pass = [&](double time) {
    drift = std::max(drift, side * (integral_to(c.rates, o.rate, time) - o.dividend * time));
  };
  for (const curve_step& r : c.rates) pass(std::clamp(r.until, 0.0, o.expiry));
  pass(o.expiry);
  return side * std::log(o.barrier_level / o.spot) > drift + 0.5 * deviation * deviation + 10 * deviation;
}

// What pays at once when the strike is touched is an option that ends there with a rebate; waiting is never
// better where rates are not negative.
bool is_touch(const contract& c) {
  if (c.exercise != exercise_style::american || c.plain.payoff == payoff_kind::vanilla || has_barrier(c) ||
      c.is_escrowed() || !(c.plain.strike > 0) || !(c.plain.expiry > 0))
    return false;
  if (c.plain.payoff == payoff_kind::asset_digital)  // a put's underlying may fall beyond the strike
    return c.plain.dividend >= 0 && (c.plain.type == option_type::call || c.dividends.empty());
  return c.rates.empty()
             ? c.plain.rate >= 0
             : std::all_of(c.rates.begin(), c.rates.end(), [](const curve_step& r) { return r.value >= 0; });
}

contract as_touch(contract c) {
  plain_option& o = c.plain;
  o.rebate = o.payoff == payoff_kind::cash_digital ? o.cash : o.strike;
  o.payoff = payoff_kind::vanilla;  // worth nothing on this side of the strike
  o.barrier = o.type == option_type::call ? barrier_kind::up_and_out : barrier_kind::down_and_out;
  o.barrier_level = o.strike;
  c.exercise = exercise_style::european;
  return c;
}

// In the money it is exercised now.
std::optional<pricing> touched(const contract& c) {
  if (!(sign_of(c.plain.type) * (c.plain.spot - c.plain.strike) >= 0)) return std::nullopt;
  const bool cash = c.plain.payoff == payoff_kind::cash_digital;
  pricing p =
      exact(c, {cash ? c.plain.cash : c.plain.spot, cash ? 0.0 : 1.0, 0, 0, 0, 0}, pricing_method::limit);
  p.closed_form = p.value.price;
  return p;
}

pricing without_randomness(const contract& c) {
  if (is_levelled(c) || (effective_exercise(c) == exercise_style::european && c.is_plain())) {
    pricing p = exact(c, is_levelled(c) ? levelled_price(c) : closed_form(c.plain), pricing_method::limit);
    p.closed_form = p.value.price;
    return p;
  }
  if (effective_exercise(c) == exercise_style::american && c.is_plain() && !has_barrier(c) &&
      c.plain.payoff == payoff_kind::vanilla)
    return exact(c, deterministic_american_price(c.plain), pricing_method::limit);
  const auto& local = c.local_volatility.values;
  const bool elsewhere = std::any_of(local.begin(), local.end(), [](double v) { return v > 0; });
  if (elsewhere && c.plain.spot > 0 && c.plain.expiry > 0)
    throw value_error("a local volatility that is 0 at the spot and not elsewhere has no method",
                      "a positive one is needed there");
  pricing p = exact(c, deterministic_limit_price(c), pricing_method::limit);
  p.error_estimate = std::max(p.error_estimate, 16 * unit * p.value.price);
  p.has_vega_and_rho = c.plain.expiry == 0;
  return p;
}

std::optional<pricing> by_formula(const contract& c, const pricing_options& options, double tolerance) {
  const exercise_style exercise = effective_exercise(c);
  if (is_levelled(c)) {
    pricing p = exact(c, levelled_price(c), pricing_method::closed_form);
    p.closed_form = p.value.price;
    if (c.is_plain() && has_more_greeks(c.plain, exercise)) p.more = european_more_greeks(c.plain);
    return p;
  }
  if (!c.is_plain()) return std::nullopt;
  const bool vanilla = !has_barrier(c) && c.plain.payoff == payoff_kind::vanilla;
  // Before it begins nothing is exercised.
  const bool may_begin = has_barrier(c) && is_in(c.plain.barrier) && c.plain.payoff == payoff_kind::vanilla;
  if (exercise == exercise_style::european || (exercise == exercise_style::american && (vanilla || may_begin) &&
                                               early_exercise_of(c.plain) == early_exercise::never)) {
    pricing p = exact(c, closed_form(c.plain), pricing_method::closed_form);
    p.closed_form = p.value.price;
    return p;
  }
  if (options.force_finite_difference || exercise != exercise_style::american || !vanilla ||
      early_exercise_of(c.plain) != early_exercise::one_boundary)
    return std::nullopt;
  const american_valuation v = american_price(c.plain, tolerance, options.vega_and_rho);
  if (!std::isfinite(v.value.price)) return std::nullopt;
  pricing p = exact(c, v.value, pricing_method::boundary);
  p.error_estimate = v.error_estimate;
  p.has_vega_and_rho = options.vega_and_rho;
  return p;
}

// A European option on the underlying less its dividends, whose worth changes with time and rate.
pricing of_escrowed(const contract& c, const pricing_options& options) {
  contract rest = c;
  rest.plain.spot -= escrow(c, 0);
  rest.dividends.clear();
  pricing p = price(rest, options);
  p.more.reset();  // what is in escrow changes with rates and time
  const double rate = value_at(c.rates, c.plain.rate, 0), held = escrow(c, 0);
  p.value.theta -= (rate - c.plain.dividend) * held * p.value.delta;
  if (p.grid && p.grid->enclosure && p.grid->enclosure->verified) {
    using range = interval<double>;
    fd_enclosure& e = *p.grid->enclosure;
    e.theta = e.theta - (range(rate) - range(c.plain.dividend)) * range(held) * e.delta;
  }
  contract one = c;
  for (const cash_dividend& d : c.dividends) {  // each loses its time's share of itself
    one.dividends = {d};
    p.value.rho += d.time * escrow(one, 0) * p.value.delta;
  }
  return p;
}

}  // namespace

const char* name(pricing_method method) {
  switch (method) {
    case pricing_method::limit:
      return "limit";
    case pricing_method::closed_form:
      return "closed-form";
    case pricing_method::boundary:
      return "andersen-lake";
    default:
      return "finite-difference";
  }
}

namespace {

pricing price_checked(contract c, const pricing_options& options) {
  if (c.is_escrowed() && effective_exercise(c) == exercise_style::european) return of_escrowed(c, options);
  if (is_touch(c)) {
    if (const auto p = touched(c)) return *p;
    c = as_touch(c);
  }
  if (const auto p = decided(c)) return *p;
  if (!is_random(c)) return without_randomness(c);
  if (effective_exercise(c) != exercise_style::european && is_out_of_reach(c))
    c.plain.barrier = barrier_kind::none;
  const double tolerance = std::max(options.finite_difference.tolerance, 1e-12);
  const std::optional<pricing> formula = by_formula(c, options, tolerance);
  const bool wanted = options.force_finite_difference || options.finite_difference.space_nodes > 0;
  constexpr double beyond_grids = 1e-9;
  if (formula && !wanted &&
      (formula->method == pricing_method::closed_form ||
       formula->error_estimate <= std::max(tolerance, beyond_grids * std::max(c.plain.spot, c.plain.strike)))) {
    pricing p = *formula;
    p.tolerance_met = p.error_estimate <= options.finite_difference.tolerance;
    return p;
  }
  c.exercise = effective_exercise(c);
  pricing p;
  p.method = pricing_method::finite_difference;
  p.grid = finite_difference_price(c, options.finite_difference);
  p.value = p.grid->value;
  p.error_estimate = p.grid->error_estimate;
  p.tolerance_met = p.grid->tolerance_met;
  p.has_vega_and_rho = options.finite_difference.greeks;
  if (formula) p.closed_form = formula->closed_form;
  contract at_expiry = c;
  at_expiry.exercise = exercise_style::european;
  if (!wanted && c.exercise != exercise_style::european && is_levelled(at_expiry))
    p.value.price = std::max(p.value.price, levelled_price(at_expiry).price);
  return p;
}

}  // namespace

pricing price(contract c, const pricing_options& options) {
  const ieee_environment here;
  check(c);
  std::erase_if(c.dividends, [&](const cash_dividend& d) {  // what has no effect shall not cost a formula
    return !(d.amount > 0 && d.time > 0 && d.time < c.plain.expiry);
  });
  pricing p = price_checked(c, options);
  valuation& v = p.value;
  for (double* x : {&v.price, &v.delta, &v.gamma, &v.theta, &v.vega, &v.rho}) *x += 0.0;  // no -0
  if (!std::isfinite(p.value.price))
    throw value_error("its value is beyond the range of numbers", "check rate, dividend and expiry");
  return p;
}

}  // namespace vouch
