// vouch/price/batch.hpp -- many options with constant coefficients at once.
#pragma once
#include <cstdint>
#include <span>

#include <vouch/core/device.hpp>
#include <vouch/price/american.hpp>
#include <vouch/price/boundary.hpp>
#include <vouch/price/closed_form.hpp>
#include <vouch/price/types.hpp>

namespace vouch {

struct batch_option {
  plain_option option;
  exercise_style exercise = exercise_style::european;
};

/// Whether price_batch takes it: a European option with a formula, or an American call or put without a barrier
/// that is exercised beyond one boundary or never.
bool fits_batch(const batch_option& b);

/// What boundaries are found with: the fast one for ordinary contracts, where it errs by less than 5e-7 of the
/// strike; the fine one for long expiries and high rates or volatilities.
struct batch_schemes {
  boundary_scheme fast, fine;
};

namespace detail {

/// By how many deviations the share drifts until expiry.
VOUCH_HOST_DEVICE inline double drift_in_deviations(const plain_option& o) {
  return std::abs(o.rate - o.dividend) * std::sqrt(o.expiry) / o.volatility;
}

VOUCH_HOST_DEVICE inline bool is_ordinary(const plain_option& o) {
  return drift_in_deviations(o) <= 1.5 && std::fmax(o.rate, o.dividend) * o.expiry <= 0.3 &&
         o.volatility * o.volatility * o.expiry <= 1;
}

}  // namespace detail

/// One option; vega and rho of American ones by differences, where they are wanted. NaN where the boundary's
/// integrals are too sharp for its points.
VOUCH_HOST_DEVICE inline valuation price_in_batch(const batch_option& b, const batch_schemes& schemes,
                                                  bool greeks) {
  if (b.exercise == exercise_style::european) return closed_form(b.option);
  constexpr double sharp = 8;
  valuation v{std::nan(""), 0, 0, 0, 0, 0};
  if (early_exercise_of(b.option) == early_exercise::one_boundary &&
      detail::drift_in_deviations(b.option) > sharp)
    return v;
  // The same scheme for all, or its error would be in the differences.
  const bool ordinary = detail::is_ordinary(b.option);
  const auto core = [&](const plain_option& o) {
    return ordinary ? american_core(o, schemes.fast) : american_core(o, schemes.fine);
  };
  v = core(b.option);
  if (!greeks || (v.gamma == 0 && v.theta == 0)) return v;
  constexpr double share = 1e-4;
  plain_option moved = b.option;
  const double up = share * b.option.volatility, rise = share * 0.01;
  moved.volatility += up;
  v.vega = (core(moved).price - v.price) / up;
  moved.volatility = b.option.volatility;
  moved.rate += rise;
  v.rho = (core(moved).price - v.price) / rise;
  return v;
}

/// values[i] := price and Greeks of options[i].
///
/// Shapes  As many values as options.
/// Memory  Both on the host. A call may run at the same time as others that have another device handle.
/// Types   Numbers as european_price takes them; fits_batch(options[i]).
/// Result  European options as closed_form; American ones to about 1e-6 of the strike (vega and rho to 1e-2 of
///         themselves), or NaN, see price_in_batch. Without greeks the vega and rho of American options are 0.
/// Throws  shape_error; device_error
void price_batch(const device& dev, std::span<const batch_option> options, bool greeks,
                 std::span<valuation> values);

namespace detail {
void price_batch_cuda(const device& dev, std::span<const batch_option> options, const batch_schemes& schemes,
                      bool greeks, std::span<valuation> values);
}  // namespace detail

}  // namespace vouch
