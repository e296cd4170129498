#include <vouch/price/implied.hpp>

#include <algorithm>
#include <cmath>

#include <vouch/core/config.hpp>
#include <vouch/core/error.hpp>
#include <vouch/core/ieee_environment.hpp>
#include <vouch/price/batch.hpp>
#include <vouch/price/formula/implied_formula.hpp>
#include <vouch/price/price.hpp>
#include <vouch/text/number.hpp>

namespace vouch {
namespace {

[[noreturn]] void refuse(double price, double least, double most) {
  const std::string limit =
      !(price < most) ? " is not below " + number_text(most) + ", which prices stay below"
                      : " is below " + number_text(least) + ", what the option is worth without volatility";
  throw value_error("the price " + number_text(price) + limit + ": no volatility gives it",
                    "check the price, the rates and the expiry");
}

[[noreturn]] void refuse_product() {
  throw value_error("only calls and puts without barrier and local volatility have an implied volatility",
                    "of the others several volatilities may have the same price");
}

void need_randomness(const plain_option& o) {
  if (!(o.spot > 0 && o.strike > 0 && o.expiry > 0))
    throw value_error("an implied volatility needs a positive spot, strike and expiry");
}

// The option on what is random, with the mean of the rate, where that is all that counts.
bool has_formula(const contract& c) {
  const auto counts = [&](const cash_dividend& d) {
    return d.time > 0 && d.time < c.plain.expiry && d.amount > 0;
  };
  return c.exercise == exercise_style::european &&
         (c.is_escrowed() || std::none_of(c.dividends.begin(), c.dividends.end(), counts));
}

plain_option with_means(const contract& c) {
  plain_option o = c.plain;
  o.spot -= escrow(c, 0);
  if (o.expiry > 0) o.rate = integral_to(c.rates, o.rate, o.expiry) / o.expiry;
  return o;
}

// The price by the engine that there is, less the one wanted, as a function of the volatility.
class price_gap {
 public:
  price_gap(const contract& c, double wanted, double tolerance) : contract_(c), wanted_(wanted) {
    how_.vega_and_rho = false;
    how_.finite_difference.tolerance = 0.5 * tolerance;
  }
  double operator()(double volatility) {
    contract_.plain.volatility = volatility;
    const batch_option one{contract_.plain, contract_.exercise};
    valuation batched;
    batched.price = std::nan("");
    if (contract_.is_plain() && fits_batch(one))
      price_batch(device::cpu(1), {&one, 1}, false, {&batched, 1}, how_.finite_difference.tolerance);
    return (std::isnan(batched.price) ? price(contract_, how_).value.price : batched.price) - wanted_;
  }

 private:
  contract contract_;
  double wanted_;
  pricing_options how_;
};

// The root of an increasing function in (low, high), where it has the values f_low < 0 < f_high: by inverse
// quadratic interpolation where three points promise that, else by bisection. Source: Chandrupatla 1997.
template <class Function>
double bracketed_root(double low, double f_low, double high, double f_high, double close, Function function) {
  double a = high, fa = f_high, b = low, fb = f_low, c = low, fc = f_low;
  double share = std::clamp(fa / (fa - fb), 1e-3, 0.5);
  for (int k = 0; k < 100; ++k) {
    const double x = a + share * (b - a), f = function(x);
    if (std::abs(f) <= close || std::abs(b - a) <= 4e-16 * (a + b)) return x;
    c = a, fc = fa;
    if ((f > 0) != (fa > 0)) c = b, fc = fb, b = a, fb = fa;
    a = x, fa = f;
    const double xi = (a - b) / (c - b), phi = (fa - fb) / (fc - fb);
    const bool smooth = phi * phi < xi && (1 - phi) * (1 - phi) < 1 - xi;
    share =
        smooth ? fa / (fb - fa) * fc / (fb - fc) + (c - a) / (b - a) * fa / (fc - fa) * fb / (fc - fb) : 0.5;
    share = std::clamp(share, 1e-3, 1 - 1e-3);
  }
  return a;
}

// What a call or put is worth at most, whenever it may be exercised: the underlying, or the strike paid at the best
// time.
double most_of(const contract& c) {
  const plain_option& o = c.plain;
  if (o.type == option_type::call) return o.spot * std::exp(std::max(-o.dividend, 0.0) * o.expiry);
  double growth = std::max(-integral_to(c.rates, o.rate, o.expiry), 0.0);
  for (const curve_step& step : c.rates)
    growth = std::max(growth, -integral_to(c.rates, o.rate, std::clamp(step.until, 0.0, o.expiry)));
  return o.strike * std::exp(growth);
}

double search(const contract& c, double price, double tolerance) {
  const double most = most_of(c);
  price_gap gap(c, price, tolerance);
  const double f_least = gap(0);
  if (f_least >= 0 && f_least <= tolerance) return 0;
  if (f_least > 0 || price >= most) refuse(price, price + f_least, most);
  // Grids for great deviations are large: they are not looked at closely before the root is known to be there.
  const double furthest = 5 / std::sqrt(c.plain.expiry), loose = std::max(5e-3 * most, tolerance);
  price_gap rough(c, price, loose);
  double low = 0, f_low = f_least;
  // What may be exercised early is worth more: without dividends the European volatility is no less.
  double high = detail::implied_volatility_or_nan(with_means(c), price);
  if (!(high > 0)) high = 0.5;
  high = std::min(high, furthest);
  const double close = 0.5 * tolerance;
  const bool near = high < 0.4 * furthest;
  double f_high = near ? gap(high) : rough(high) - loose;
  if (near && std::abs(f_high) <= 1e-3 * close) return high;
  if (near && f_high < 0) low = high, f_low = f_high;
  while (!(f_high > 0)) {
    if (high >= furthest)
      throw value_error("the price " + number_text(price) + " needs a volatility of " + number_text(furthest) +
                            " or more, five deviations until expiry",
                        "check the price and the expiry");
    high = std::min(2 * high, furthest);
    const double about = rough(high);
    if (about < -loose) low = high, f_low = about;
    f_high = about - loose;
  }
  return bracketed_root(low, f_low, high, f_high, close, gap);
}

}  // namespace

double implied_volatility(const plain_option& o, double price) {
  const ieee_environment here;
  if (!detail::has_one_volatility(o)) refuse_product();
  need_randomness(o);
  const double volatility = detail::implied_volatility_or_nan(o, price);
  if (!std::isnan(volatility)) return volatility;
  const detail::price_range range(o);
  refuse(price, range.least, range.most);
}

double implied_volatility(contract c, double price, double tolerance) {
  const ieee_environment here;
  check(c);
  if (!detail::has_one_volatility(c.plain) || !c.local_volatility.empty()) refuse_product();
  if (!(tolerance > 0)) throw value_error("tolerance " + number_text(tolerance) + " is not positive");
  if (has_formula(c)) return implied_volatility(with_means(c), price);
  need_randomness(c.plain);
  if (!std::isfinite(price)) throw value_error("the price " + number_text(price) + " is not a finite number");
  c.volatilities.clear();
  return search(c, price, tolerance);
}

void implied_volatilities(const device& dev, std::span<const plain_option> options,
                          std::span<const double> prices, std::span<double> volatilities) {
  const ieee_environment here;
  if (options.size() != prices.size() || options.size() != volatilities.size())
    throw shape_error("implied_volatilities: as many prices and volatilities as options are needed");
  if constexpr (built_with_cuda)
    if (dev.is_cuda()) return detail::implied_volatilities_cuda(dev, options, prices, volatilities);
  const auto count = static_cast<std::int64_t>(options.size());
#pragma omp parallel for firstprivate(ieee) num_threads(dev.threads()) schedule(static)
  for (std::int64_t i = 0; i < count; ++i) {
    const auto at = static_cast<std::size_t>(i);
    volatilities[at] = detail::implied_volatility_or_nan(options[at], prices[at]);
  }
}

}  // namespace vouch
