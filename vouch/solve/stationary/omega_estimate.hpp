// vouch/solve/stationary/omega_estimate.hpp -- a relaxation parameter for SOR and SSOR, estimated and tried; private.
#pragma once
#include <string>

#include <vouch/core/device.hpp>
#include <vouch/solve/stationary/stationary_iteration.hpp>

namespace vouch {

struct omega_estimate {
  double omega = 1;
  std::string warning;  // why it is 1 after all; "" where the estimate held
};

/// The best omega for sweeps of A in the rule's order, were A consistently ordered and its Jacobi iteration's
/// spectrum real: 2 / (1 + sqrt(1 - rho^2)), symmetric sweeps 2 / (1 + sqrt(2 (1 - rho))). rho comes from
/// accelerated Jacobi sweeps for a random right-hand side, and the sweeps with that omega have to reduce the
/// residual, in the end at least as fast as sweeps with 1; else omega stays 1. So far as the matrix is not
/// consistently ordered, another omega may be better.
///
/// Result  The same on every run; on the CPU for any number of threads.
/// Cost    About four times the sweeps that accelerated Jacobi needs for ten digits (float: four), at most
///         4000 of each.
/// Source  Young 1971; Axelsson, Iterative Solution Methods, 1994.
template <real T>
omega_estimate estimate_omega(const device& dev, const iteration_matrix<T>& A, sweep_rule rule,
                              double lowest_jacobi_eigenvalue);

}  // namespace vouch
