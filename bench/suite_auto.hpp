// bench/suite_auto.hpp -- how well `auto` chooses: every method on many systems, and what auto took.
#pragma once
#include "suite.hpp"

namespace vouch::bench {

/// Solves some eighty systems, published and generated, sparse, tridiagonal and dense, by every method that takes
/// them, conjugate gradients with every preconditioner, and by auto; each solve from a new solver, all of the call
/// counted. Systems that nothing solves within half a minute count as unsolved.
///
/// Result  A row a system and device: the time of auto over the least time of any method that converged (bar 10),
///         and the part of all systems where that is at most 2 (bar 0.9). Interrupted, what was measured so far.
suite_results run_auto_suite(const suite_options& options);

}  // namespace vouch::bench
