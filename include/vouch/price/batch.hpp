// vouch/price/batch.hpp -- many options with constant coefficients at once, one after another or in columns.
#pragma once
#include <cstdint>
#include <limits>
#include <span>

#include <vouch/core/device.hpp>
#include <vouch/core/device_group.hpp>
#include <vouch/core/view.hpp>
#include <vouch/core/visibility.hpp>
#include <vouch/price/american.hpp>
#include <vouch/price/boundary.hpp>
#include <vouch/price/closed_form.hpp>
#include <vouch/price/types.hpp>

namespace VOUCH_PUBLIC vouch {

struct batch_option {
  plain_option option;
  exercise_style exercise = exercise_style::european;
};

/// Whether price_batch takes it: a European option, or an American call or put without a barrier
/// that is exercised beyond one boundary or never.
bool fits_batch(const batch_option& b);

/// What boundaries are found with, ever finer.
struct batch_schemes {
  static constexpr int count = 3;
  boundary_scheme tier[count];
};

namespace detail {

VOUCH_HOST_DEVICE inline bool is_ordinary(const plain_option& o) {
  return drift_in_deviations(o) <= 1 && std::fmax(o.rate, o.dividend) * o.expiry <= 0.3 &&
         o.volatility * o.volatility * o.expiry <= 1;
}

/// What the prices by a scheme err by at most, as measured where the drift is at most 1.5 deviations, rounded up.
VOUCH_HOST_DEVICE inline double error_of_tier(const plain_option& o, int tier) {
  constexpr double errors[batch_schemes::count] = {5e-7, 5e-8, 1e-8};  // of ordinary options, by their scale
  const bool lasts = o.volatility * o.volatility * o.expiry > 6 || std::fmax(o.rate, o.dividend) * o.expiry > 1;
  const double more = is_ordinary(o) ? 1 : lasts ? 20 : drift_in_deviations(o) > 1 ? 10 : 4;
  return errors[tier] * more * std::fmax(o.spot, o.strike);
}

/// The scheme that an option is priced by first; batch_schemes::count where none reaches the tolerance. Beyond a
/// drift of one deviation the finest is no better than the one before it, beyond 1.5 none is to be relied on.
VOUCH_HOST_DEVICE inline int first_tier(const plain_option& o, double tolerance) {
  const double drift = drift_in_deviations(o);
  const int last = drift > 1.5 ? 0 : drift > 1 ? 2 : batch_schemes::count;
  int tier = is_ordinary(o) ? 0 : 1;
  while (tier < last && !(error_of_tier(o, tier) <= tolerance)) ++tier;
  return tier < last ? tier : batch_schemes::count;
}

/// All by one scheme and rule, or their errors would be in the differences for vega and rho.
VOUCH_HOST_DEVICE inline valuation american_in_batch(const plain_option& o, const boundary_scheme& scheme,
                                                     bool greeks) {
  premium_rule rule{};
  valuation v = american_core(o, scheme, rule);
  if (!greeks || std::isnan(v.price) || (v.gamma == 0 && v.theta == 0)) return v;
  constexpr double share = 1e-4;
  plain_option moved = o;
  const double up = share * o.volatility, rise = share * 0.01;
  moved.volatility += up;
  v.vega = (american_core(moved, scheme, rule).price - v.price) / up;
  moved.volatility = o.volatility;
  moved.rate += rise;
  v.rho = (american_core(moved, scheme, rule).price - v.price) / rise;
  if (std::isnan(v.vega + v.rho)) v.price = std::nan("");
  return v;
}

}  // namespace detail

/// One option; vega and rho of American ones by differences, where they are wanted. NaN where the tolerance is
/// below what the schemes reach, or the boundary's integrals are too sharp for their points.
VOUCH_HOST_DEVICE inline valuation price_in_batch(const batch_option& b, const batch_schemes& schemes,
                                                  bool greeks, double tolerance) {
  const plain_option& o = b.option;
  if (b.exercise == exercise_style::european) return closed_form(o);
  const early_exercise kind = early_exercise_of(o);
  if (kind == early_exercise::never) return european_price(o);
  if (kind == early_exercise::deterministic) return deterministic_american_price(o);
  valuation v{std::nan(""), 0, 0, 0, 0, 0};
  int tier = detail::first_tier(o, tolerance);
  if (tier == batch_schemes::count) return v;
  v = detail::american_in_batch(o, schemes.tier[tier], greeks);
  // Of ordinary options some take more sweeps.
  while (std::isnan(v.price) && detail::is_ordinary(o) && ++tier < batch_schemes::count)
    v = detail::american_in_batch(o, schemes.tier[tier], greeks);
  return v;
}

/// values[i] := price and Greeks of options[i].
///
/// Shapes  As many values as options.
/// Memory  Both on the host. A call may run at the same time as others that have another device handle.
/// Types   Numbers as european_price takes them; fits_batch(options[i]).
/// Result  European options as closed_form, on the CPU but for a few roundings of spot and strike; American ones to the tolerance or, where it is infinite, to about
///         1e-6 of the strike (vega and rho to 1e-2 of themselves), or NaN, see price_in_batch. Without greeks
///         the vega and rho of what is exercised beyond a boundary are 0.
/// Throws  shape_error; device_error
void price_batch(const device& dev, std::span<const batch_option> options, bool greeks,
                 std::span<valuation> values, double tolerance = std::numeric_limits<double>::infinity());

/// The same by a group, whose GPUs take blocks of up to 32,768 options: the bits of one GPU.
///
/// Throws  as above; cancelled
void price_batch(const device_group& devices, std::span<const batch_option> options, bool greeks,
                 std::span<valuation> values, double tolerance = std::numeric_limits<double>::infinity());

/// What a price of price_batch, with its tolerance, errs by at most: rounding for formulas, for American options as measured.
///
/// Types  As price_batch; European options without digital payoff or barrier, volatility, expiry, spot and strike
///        positive.
double batch_error(const batch_option& b, double tolerance);

/// One element an option; with stride 0 one for all of them.
struct european_columns {
  view<const option_type> type;
  view<const double> spot, strike, rate, dividend, volatility, expiry;
};

struct valuation_columns {
  std::span<double> price, delta, gamma, theta, vega, rho;
  std::span<double> error;  // of the price, at most
};

/// Price and Greeks of each option.
///
/// Shapes  All columns of as many elements.
/// Memory  On the host.
/// Result  As price_batch, with the error as batch_error but for its rounding: the same bits for any number of options and
///         threads. NaN in all columns of an option with a number that is not finite, or whose spot, strike, volatility
///         or expiry is not positive.
/// Throws  shape_error; cancelled
void price_european(const device& cpu, const european_columns& options, const valuation_columns& to);

namespace detail {
void price_batch_cuda(const device& dev, std::span<const batch_option> options, const batch_schemes& schemes,
                      bool greeks, double tolerance, std::span<valuation> values);
}  // namespace detail

}  // namespace vouch
