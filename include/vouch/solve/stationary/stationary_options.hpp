// vouch/solve/stationary/stationary_options.hpp -- what all stationary iterations have in common.
#pragma once
#include <vouch/core/visibility.hpp>
#include <vouch/solve/loop/stopping_criterion.hpp>

namespace VOUCH_PUBLIC vouch {

/// In which order a sweep takes the rows; symmetric is forward, then backward, and counts as one iteration.
enum class sweep_order { forward, backward, symmetric };

/// Which row comes after which. multicolor takes rows in groups that share no entry, each group side by side:
/// the iterates, and often the number of sweeps, differ from those of the natural order.
enum class sweep_ordering { natural, multicolor };

/// Combines the last iterates into a better one; the iteration is then no longer the plain one.
struct acceleration {
  /// Anderson's method over so many earlier iterates, at most 16, for Jacobi sweeps of dense matrices on a GPU
  /// at most 8; 0: none. A combination that does not reduce the residual is dropped for the plain iterate.
  int anderson = 0;
  /// Chebyshev's method, for iterations whose eigenvalues are real and below 1: Jacobi and symmetric sweeps of
  /// symmetric positive definite matrices above all. How far the spectrum reaches is estimated on the way and
  /// checked by the residual; where that grows instead, or falls fast by itself, sweeps go on plain.
  bool chebyshev = false;
};

}  // namespace vouch
