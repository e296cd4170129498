// bench/plain_scheme.hpp -- Crank-Nicolson as it was published in 2011: everything in one precision, one sweep.
#pragma once
#include <cstdint>
#include <vector>

#include <vouch/price/contract.hpp>
#include <vouch/price/finite_difference/grid.hpp>

namespace vouch::bench {

/// What the published tables split a run into.
struct phase_seconds {
  double right_hand_side = 0, forward = 0, backward = 0;
  double total() const { return right_hand_side + forward + backward; }
};

template <real T>
struct plain_run {
  std::vector<T> values;  // on the grid, now
  phase_seconds seconds;
};

/// A European option in `steps` steps of Crank-Nicolson, values, matrix and right-hand side in T, without a
/// smooth start; Thomas's algorithm with the factors made once. First and last node as far out in the market.
template <real T>
plain_run<T> plain_crank_nicolson(const contract& c, const fd_grid& grid, std::int64_t steps);

}  // namespace vouch::bench
