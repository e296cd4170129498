// vouch/price/price.hpp -- the price of an option by the best method there is for it.
#pragma once
#include <optional>
#include <string>

#include <vouch/core/device.hpp>
#include <vouch/core/visibility.hpp>
#include <vouch/price/contract.hpp>
#include <vouch/price/finite_difference.hpp>
#include <vouch/price/more_greeks.hpp>

namespace VOUCH_PUBLIC vouch {

enum class pricing_method : std::uint8_t {
  limit,  // nothing is random, or it is decided already
  closed_form,
  boundary,  // the exercise boundary of an American option
  finite_difference
};
/// "limit", "closed-form", "andersen-lake", "finite-difference".
const char* name(pricing_method method);

struct pricing_options {
  bool force_finite_difference = false;
  bool vega_and_rho = true;  // also where they take further boundaries of exercise
  fd_options finite_difference;
};

struct pricing {
  valuation value;
  double error_estimate = 0;
  pricing_method method = pricing_method::closed_form;
  bool tolerance_met = true;
  bool has_vega_and_rho = true;
  std::optional<double> closed_form;  // where there is a formula
  std::optional<more_greeks> more;    // of European options without barrier and with constant coefficients
  std::optional<fd_result> grid;      // where there was one
};

/// Prices c: by its formula, by its exercise boundary, or by finite differences, the first that there is.
///
/// Result  error_estimate is of the price: rounding for formulas, the distance to a coarser boundary or
///         grid for the others. Where nothing is random the exact limit.
/// Throws  value_error  what check(contract) and finite_difference_price refuse; a local volatility that
///                      is 0 at the spot and not elsewhere; what deterministic_limit_price refuses
pricing price(contract c, const pricing_options& options);

/// The limit without volatility: the largest discounted payment on the underlying's path over the times at which it
/// may be exercised, while a barrier lets it be; the rebate where that is paid.
///
/// Types   As check(c) leaves it; volatility, spot or expiry is 0, and its barrier is not hit already.
/// Result  Rounding: best moments and hits of a barrier are solved for, not searched on a grid. What ends at a
///         barrier pays the larger of its rebate and, if American, exercise then; an underlying that falls by a
///         dividend may be exercised just before. Vega and rho are 0.
/// Throws  value_error  a digital option whose underlying is at the strike at a date, or stays there
valuation deterministic_limit_price(const contract& c);

}  // namespace vouch
