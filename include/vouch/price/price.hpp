// vouch/price/price.hpp -- the price of an option by the best method there is for it.
#pragma once
#include <optional>
#include <string>

#include <vouch/core/device.hpp>
#include <vouch/price/contract.hpp>
#include <vouch/price/finite_difference.hpp>
#include <vouch/price/more_greeks.hpp>

namespace vouch {

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
///                      is 0 at the spot and not elsewhere; what certain_path_price refuses
pricing price(contract c, const pricing_options& options);

}  // namespace vouch
