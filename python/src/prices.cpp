// Options: arrays of numbers in, arrays of prices and Greeks out.
#include <cmath>
#include <exception>
#include <limits>
#include <span>

#include <vouch/price/closed_form.hpp>
#include <vouch/price/implied.hpp>
#include <vouch/price/price.hpp>

#include "bindings.hpp"

namespace vouchnum {
namespace {

using numbers = vector_in<double>;
using codes = vector_in<std::uint8_t>;

// Columns of equal length, one option a row.
struct columns {
  codes type, exercise, payoff, barrier;
  numbers spot, strike, rate, dividend, volatility, expiry, cash, level, rebate;
  std::int64_t size() const { return static_cast<std::int64_t>(type.size()); }
  vouch::plain_option option(std::int64_t i) const {
    vouch::plain_option o;
    o.type = static_cast<vouch::option_type>(type.data()[i]);
    o.payoff = static_cast<vouch::payoff_kind>(payoff.data()[i]);
    o.barrier = static_cast<vouch::barrier_kind>(barrier.data()[i]);
    o.spot = spot.data()[i];
    o.strike = strike.data()[i];
    o.rate = rate.data()[i];
    o.dividend = dividend.data()[i];
    o.volatility = volatility.data()[i];
    o.expiry = expiry.data()[i];
    o.cash = cash.data()[i];
    o.barrier_level = level.data()[i];
    o.rebate = rebate.data()[i];
    return o;
  }
};

columns columns_of(const nb::dict& given) {
  const auto of_codes = [&](const char* name) { return nb::cast<codes>(given[name]); };
  const auto of_numbers = [&](const char* name) { return nb::cast<numbers>(given[name]); };
  columns c{of_codes("type"),         of_codes("exercise"), of_codes("payoff"), of_codes("barrier"),
            of_numbers("spot"),       of_numbers("strike"), of_numbers("rate"), of_numbers("dividend"),
            of_numbers("volatility"), of_numbers("expiry"), of_numbers("cash"), of_numbers("barrier_level"),
            of_numbers("rebate")};
  for (const numbers* column :
       {&c.spot, &c.strike, &c.rate, &c.dividend, &c.volatility, &c.expiry, &c.cash, &c.level, &c.rebate})
    if (column->size() != c.type.size()) throw vouch::shape_error("price: columns of different lengths");
  return c;
}

// What all options of a call have in common.
vouch::contract common_of(const nb::dict& given) {
  vouch::contract c;
  const auto steps = [&](const char* name, std::vector<vouch::curve_step>& to) {
    if (!given.contains(name)) return;
    for (const auto& [until, value] : nb::cast<std::vector<std::pair<double, double>>>(given[name]))
      to.push_back({until, value});
  };
  steps("rates", c.rates);
  steps("volatilities", c.volatilities);
  if (given.contains("dividends"))
    for (const auto& [time, amount] : nb::cast<std::vector<std::pair<double, double>>>(given["dividends"]))
      c.dividends.push_back({time, amount});
  if (given.contains("dates")) c.exercise_dates = nb::cast<std::vector<double>>(given["dates"]);
  if (given.contains("escrowed") && nb::cast<bool>(given["escrowed"]))
    c.model = vouch::dividend_model::escrowed;
  return c;
}

// work(i) for all options by threads; the first one that is refused is named.
template <class Work>
void for_options(std::int64_t n, int threads, const Work& work) {
  std::int64_t first = n;
  std::exception_ptr refused;
  const vouch::cancellation_probe probe;
#pragma omp parallel for schedule(dynamic, 64) num_threads(threads) if (n > 256)
  for (std::int64_t i = 0; i < n; ++i) {
    if (probe.requested()) continue;
    try {
      const vouch::cancellation_scope listens(probe);
      work(i);
    } catch (...) {
#pragma omp critical(vouchnum_price)
      if (i < first) {
        first = i;
        refused = std::current_exception();
      }
    }
  }
  probe.check();
  if (!refused) return;
  try {
    std::rethrow_exception(refused);
  } catch (const vouch::value_error& e) {
    throw vouch::value_error("option " + std::to_string(first) + ": " + e.what(), e.hint());
  }
}

nb::dict price(const nb::dict& given, const nb::dict& shared, double tolerance, bool greeks, bool more,
               int threads) {
  const columns c = columns_of(given);
  const vouch::contract common = common_of(shared);
  const std::int64_t n = c.size();
  const vouch::device cpu = cpu_of(threads);
  const auto made = [&] { return vouch::array<double>(cpu, n); };
  vouch::array<double> value = made(), delta = made(), gamma = made(), theta = made(), vega = made(),
                       rho = made(), error = made();
  vouch::array<std::uint8_t> method(cpu, n), met(cpu, n);
  vouch::array<double> further(cpu, more ? 4 * n : 0);
  without_lock([&] {
    vouch::pricing_options options;
    options.vega_and_rho = greeks;
    options.finite_difference.tolerance = tolerance;
    for_options(n, cpu.threads(), [&](std::int64_t i) {
      vouch::contract one = common;
      one.plain = c.option(i);
      one.exercise = static_cast<vouch::exercise_style>(c.exercise.data()[i]);
      const vouch::pricing p = vouch::price(std::move(one), options);
      const double none = std::numeric_limits<double>::quiet_NaN();
      value[i] = p.value.price;
      delta[i] = p.value.delta;
      gamma[i] = p.value.gamma;
      theta[i] = p.value.theta;
      vega[i] = p.has_vega_and_rho ? p.value.vega : none;
      rho[i] = p.has_vega_and_rho ? p.value.rho : none;
      error[i] = p.error_estimate;
      method[i] = static_cast<std::uint8_t>(p.method);
      met[i] = p.tolerance_met;
      if (!more) return;
      const vouch::more_greeks m = p.more.value_or(vouch::more_greeks{none, none, none, none});
      further[i] = m.dividend_rho;
      further[n + i] = m.vanna;
      further[2 * n + i] = m.volga;
      further[3 * n + i] = m.charm;
    });
    return true;
  });
  nb::dict d;
  d["price"] = to_numpy(std::move(value));
  d["delta"] = to_numpy(std::move(delta));
  d["gamma"] = to_numpy(std::move(gamma));
  d["theta"] = to_numpy(std::move(theta));
  d["vega"] = to_numpy(std::move(vega));
  d["rho"] = to_numpy(std::move(rho));
  d["error"] = to_numpy(std::move(error));
  d["method"] = to_numpy(std::move(method));
  d["met"] = to_numpy(std::move(met));
  d["further"] = to_numpy(std::move(further));
  return d;
}

nb::object implied(const nb::dict& given, const nb::dict& shared, numbers prices, double tolerance,
                   int threads) {
  const columns c = columns_of(given);
  const vouch::contract common = common_of(shared);
  const std::int64_t n = c.size();
  if (static_cast<std::int64_t>(prices.size()) != n)
    throw vouch::shape_error("implied_volatility: as many prices as options");
  const vouch::device cpu = cpu_of(threads);
  vouch::array<double> found(cpu, n);
  without_lock([&] {
    for_options(n, cpu.threads(), [&](std::int64_t i) {
      vouch::contract one = common;
      one.plain = c.option(i);
      one.exercise = static_cast<vouch::exercise_style>(c.exercise.data()[i]);
      try {
        found[i] = vouch::implied_volatility(std::move(one), prices.data()[i], tolerance);
      } catch (const vouch::value_error&) {
        found[i] = std::numeric_limits<double>::quiet_NaN();
      }
    });
    return true;
  });
  return to_numpy(std::move(found));
}

}  // namespace

void bind_prices(nb::module_& m) {
  m.def("price", price);
  m.def("implied", implied);
}

}  // namespace vouchnum
