// vouch/core/solve_status.hpp -- how a solve ended, by name; every solver of every room says it with these.
#pragma once
#include <vouch/core/visibility.hpp>

namespace VOUCH_PUBLIC vouch {

/// How a solve ended. Only converged means that the tolerance holds, and it is said on the recomputed
/// residual of the returned x alone.
enum class solve_status {
  converged,       // ||b - Ax|| <= max(rtol ||b||, atol), recomputed in higher precision
  fixed,           // the number of iterations asked for was done
  stopped,         // a stopping rule other than the residual was asked for and met
  max_iterations,  // the limit came first
  stagnated,       // restarts no longer reduce the recomputed residual
  diverged,        // NaN, or the residual grew 10^4 times
  breakdown,       // a division the method cannot do
  not_spd,         // a direction of non-positive curvature was met
  interrupted      // the monitor asked to stop
};

/// The status as printed: "converged", "max_iterations", ...
const char* name(solve_status status);
/// True where the x of that status is of use to somebody and is written out.
bool has_solution(solve_status status);
/// True for converged, fixed and stopped.
bool goal_reached(solve_status status);

}  // namespace vouch
