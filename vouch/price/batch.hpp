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

/// One option; vega and rho of American ones by differences, where they are wanted.
VOUCH_HOST_DEVICE inline valuation price_in_batch(const batch_option& b, const boundary_scheme& scheme,
                                                  bool greeks) {
  if (b.exercise == exercise_style::european) return closed_form(b.option);
  valuation v = american_core(b.option, scheme);
  if (!greeks || (v.gamma == 0 && v.theta == 0)) return v;
  constexpr double share = 1e-4;
  plain_option moved = b.option;
  const double up = share * b.option.volatility, rise = share * 0.01;
  moved.volatility += up;
  v.vega = (american_core(moved, scheme).price - v.price) / up;
  moved.volatility = b.option.volatility;
  moved.rate += rise;
  v.rho = (american_core(moved, scheme).price - v.price) / rise;
  return v;
}

/// values[i] := price and Greeks of options[i].
///
/// Shapes  As many values as options.
/// Memory  Both on the host. A call may run at the same time as others that have another device handle.
/// Types   Numbers as european_price takes them; fits_batch(options[i]).
/// Result  European options as closed_form; American ones to about 1e-6 of the strike (vega and rho to 1e-2 of
///         themselves), or NaN, see american_core. Without greeks the vega and rho of American options are 0.
/// Throws  shape_error; device_error
void price_batch(const device& dev, std::span<const batch_option> options, bool greeks,
                 std::span<valuation> values);

namespace detail {
void price_batch_cuda(const device& dev, std::span<const batch_option> options, const boundary_scheme& scheme,
                      bool greeks, std::span<valuation> values);
}  // namespace detail

}  // namespace vouch
