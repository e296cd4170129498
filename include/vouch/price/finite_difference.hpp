// vouch/price/finite_difference.hpp -- options by finite differences, on a grid or to an accuracy.
#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <vouch/band/solve.hpp>
#include <vouch/core/device.hpp>
#include <vouch/core/visibility.hpp>
#include <vouch/interval/interval.hpp>
#include <vouch/price/contract.hpp>
#include <vouch/price/types.hpp>

namespace VOUCH_PUBLIC vouch {

enum class grid_kind : std::uint8_t { logarithmic, uniform, concentrated };
inline constexpr std::array<std::string_view, 3> grid_words{"logarithmic", "uniform", "concentrated"};
/// rannacher is Crank-Nicolson whose first two steps, also after every dividend or exercise date, are four
/// implicit half steps. exponential has no error in time: it needs constant coefficients and no early exercise.
enum class time_scheme : std::uint8_t { rannacher, crank_nicolson, implicit_euler, exponential };
inline constexpr std::array<std::string_view, 4> scheme_words{"rannacher", "crank-nicolson", "implicit-euler",
                                                              "exponential"};
/// Of the tridiagonal solves; values and right-hand sides are double in both.
enum class solve_precision : std::uint8_t { double_, mixed };

struct fd_options {
  time_scheme scheme = time_scheme::rannacher;
  grid_kind grid = grid_kind::logarithmic;
  solve_precision precision = solve_precision::double_;
  // automatic: factored once, by elimination in 16 pieces side by side; another one, solved anew in every step,
  // is there to be compared with: on one core, in double, without American exercise.
  tridiagonal_method solver = tridiagonal_method::automatic;
  // Absolute, of the price; delta to ten times it, gamma to a thousandth of itself or to a fortieth of what
  // would move prices by the tolerance a deviation away.
  double tolerance = 1e-6;
  std::int64_t space_nodes = 0;  // with time_steps: this grid, whatever its error
  std::int64_t time_steps = 0;
  bool greeks = false;          // vega and rho too, by two more solves each
  bool verify = false;          // enclose what the steps would give without rounding
  device dev = device::cpu(1);  // a GPU steps what its kernels take: no local volatility, no escrow
};

/// Proved bounds of the solution of the discrete problem: what exact arithmetic would make of the steps on the
/// grid or grids used. They bound the rounding in a price, not its distance to the differential equation.
struct fd_enclosure {
  bool verified = false;
  std::string reason;  // why not
  interval<double> price = interval<double>::entire(), delta = interval<double>::entire(),
                   gamma = interval<double>::entire(), theta = interval<double>::entire();
  double seconds = 0;
};

struct fd_result {
  valuation value;
  double error_estimate = 0;                     // of the price
  bool tolerance_met = true;                     // true too where a grid was asked for
  std::int64_t space_nodes = 0, time_steps = 0;  // of the finest grid
  bool extrapolated = false;                     // from two grids
  bool on_gpu = false;
  bool by_sine = false;                   // the exponential scheme by sine transform; else by contour
  std::string why_cpu;                    // where options.dev is a GPU and was not used
  std::optional<fd_enclosure> enclosure;  // where options.verify
};

/// The values on the grid at time 0 on one grid, and the boundary of early exercise.
struct fd_surface {
  std::vector<double> spot;
  std::vector<double> value;
  std::vector<double> times, boundary;  // spots from or up to which it is exercised
};

/// Prices c by finite differences.
///
/// Memory  Runs on one core of the CPU; on a GPU where options.dev is one and its kernels take the contract.
/// Result  The estimate compares grids of which each has twice the nodes and, between any two events, however
///         near to each other, twice the steps of the one before; to an accuracy, the two finest are
///         extrapolated. Of random contracts of every kind one in a thousand priced to an accuracy, and of
///         European, digital and barrier options one in seventy on a given grid, err by more than is said. What
///         may be exercised at any time is worth so just before it is knocked out. The same bits on every
///         run.
/// Cost    For a tolerance of 1e-6 and a strike of 100 a few milliseconds (European), some hundred (American).
/// Throws  value_error  what check(contract) refuses; space_nodes without time_steps, but for the exponential
///                      scheme; a product that has no finite differences here: an option with cash dividends
///                      that knocks in at a barrier and may be exercised early, or the exponential scheme with
///                      early exercise or coefficients that change
/// Source  Rannacher 1984; Giles, Carter 2006; Brennan, Schwartz 1977; Reisinger, Witte 2012 (policy
///         iteration).
fd_result finite_difference_price(const contract& c, const fd_options& options);

/// Whether a GPU steps the contract: no local volatility, no escrow, no American exercise in more than one region.
bool fits_gpu_stepping(const contract& c);

/// Price, delta, gamma and theta of one solve by Rannacher's scheme on a logarithmic grid.
valuation value_on_grid(const contract& c, std::int64_t nodes, std::int64_t steps);

/// One solve, for a drawing.
fd_surface finite_difference_surface(const contract& c, const fd_options& options);

}  // namespace vouch
