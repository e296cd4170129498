// vouch/price/fd_grid.hpp -- the spots at which finite differences know the value; private.
#pragma once
#include <cstdint>
#include <vector>

#include <vouch/price/contract.hpp>
#include <vouch/price/fd_steps.hpp>
#include <vouch/price/finite_difference.hpp>

namespace vouch {

struct fd_grid {
  std::vector<double> spot;  // rising
  double spacing = 0;        // of logarithms, on a logarithmic grid; else 0

  std::int64_t size() const { return static_cast<std::int64_t>(spot.size()); }
};

/// n nodes about spot and strike, the strike in the middle between two of them, a barrier on the first or the
/// last.
///
/// Throws  value_error  no room between the barrier and the spot
fd_grid make_grid(const contract& c, grid_kind kind, std::int64_t n);

/// The Black-Scholes operator at a time: central differences, upwind where these would lose monotonicity.
fd_operator make_operator(const contract& c, const fd_grid& grid, double time);

/// Value, first and second derivative by spot, of a polynomial through six nodes about it.
struct fd_local {
  double value = 0, first = 0, second = 0;
};
fd_local evaluate(const fd_grid& grid, const std::vector<double>& values, double spot);

}  // namespace vouch
