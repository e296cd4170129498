// vouch/solve/loop/stopping_rule.hpp -- when an inner iteration ends, and how; shared by host and device; private.
#pragma once
#include <cstdint>

namespace vouch {

enum class solver_event : std::int32_t {
  running,
  reached,
  iteration_limit,
  negative_curvature,
  zero_curvature,
  diverged,
  interrupted,
  change_converged,
  indefinite_preconditioner,
  breakdown  // a division that the recurrence cannot do, from two starts
};

/// When to end; squares, so that no iteration takes a root.
struct stopping_rule {
  double target_squared = 0;    // ends when r'r <= this; negative: never
  double diverged_squared = 0;  // ends when r'r is above this or not a number
  std::int64_t limit = 0;       // ends before this iteration (from 0)
  double mean_change = -1;  // of stationary methods: ends (settled) when an iteration changes the solution by
                            // less than this on average; negative: never
};

/// Solvers bring the residual's norm near 1 at the start. Once r'r is below this the recurrence has done all it
/// can in any precision, and products of its vectors soon underflow: a loop that must go on then stands still.
inline constexpr double exhausted_squared = 1e-60;

}  // namespace vouch
