// vouch/price/finite_difference/grid.hpp -- the spots at which finite differences know the value; private.
#pragma once
#include <cmath>
#include <cstdint>
#include <vector>

#include <vouch/core/types.hpp>
#include <vouch/price/contract.hpp>
#include <vouch/price/finite_difference.hpp>
#include <vouch/price/finite_difference/steps.hpp>

namespace vouch {

/// Logarithms of the underlying.
struct underlying_range {
  double low, high;
};

/// As far as a grid reaches: 1e-10 of the probability lies beyond.
inline constexpr double reached_deviations = 6.5;

/// From where to where an underlying may get that drifts down and up by so much at most and varies by `deviation`.
/// The strike as well, unless, not kept, the underlying gets there so rarely that no price would show it.
VOUCH_HOST_DEVICE inline underlying_range range_of_underlying(double spot, double strike, double deviation,
                                                              double down, double up, bool keeps_strike) {
  constexpr double reach = reached_deviations, never = 9;
  const double margin = std::fmax(reach * deviation, 1e-4), beyond = (never / reach - 1) * margin;
  underlying_range r{spot + down - margin, spot + up + margin};
  const bool above_never = keeps_strike || strike > r.low - beyond,
             below_never = keeps_strike || strike < r.high + beyond;
  if (above_never) r.low = std::fmin(r.low, strike - 0.2 * margin);
  if (below_never) r.high = std::fmax(r.high, strike + 0.2 * margin);
  return r;
}

struct fd_grid {
  std::vector<double> spot;   // rising
  double spacing = 0;         // of logarithms, on a logarithmic grid; else 0
  std::vector<double> kinks;  // spots at which the volatility changes its slope, rising

  std::int64_t size() const { return static_cast<std::int64_t>(spot.size()); }
};

/// n nodes about the spot as far as the underlying may get, the strike, if it is there, in the middle between two of
/// them (on one beside a barrier, or where an American digital option ends), a barrier on the first or the
/// last.
///
/// Throws  value_error  no room between the barrier and the spot; nodes beyond the range of numbers
fd_grid make_grid(const contract& c, grid_kind kind, std::int64_t n);

/// How many cells a deviation has at the spot and at the strike, where the underlying may get to it.
struct grid_resolution {
  double least, most;

  /// Else two grids that agree say nothing of their error.
  bool is_fine() const { return least >= 4; }
  /// Then even a grid of twice as many nodes says nothing.
  bool is_blind() const { return least < 1; }
};
grid_resolution resolution_of(const contract& c, const fd_grid& grid);

/// The Black-Scholes operator at a time: central differences, upwind where these would lose monotonicity.
fd_operator make_operator(const contract& c, const fd_grid& grid, double time);

/// The six nodes about a spot, fewer on a smaller grid, as abscissae of a polynomial that is read at `at`. On
/// one side of a kink near the spot, as the third derivative of the value jumps there; the second one does not.
struct fd_stencil {
  std::int64_t first = 0;
  int count = 0;
  bool logarithms = false;  // abscissae are logarithms of node / spot
  double at = 0;
  double x[6] = {};
};
fd_stencil stencil_about(const fd_grid& grid, double spot);

/// Value, first and second derivative by spot, of the polynomial through the nodes of stencil_about().
struct fd_local {
  double value = 0, first = 0, second = 0;
};
fd_local evaluate(const fd_grid& grid, const std::vector<double>& values, double spot);

}  // namespace vouch
