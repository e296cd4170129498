// bench/suite_stationary.hpp -- dense Jacobi and Gauss-Seidel: sweeps, time to an error, peers, and the bars.
#pragma once
#include "suite.hpp"

namespace vouch::bench {

/// Sweeps of growing systems on the devices asked for, the time to a true error of 10^-6, the published case
/// from host memory, transposes; the published tables over the size and over families of systems
/// (stationary_published.hpp). On the GPU about two minutes.
///
/// Result  Rows with the bars. Floors are one read of the matrix at the speed that a kernel which only
///         reads, or all threads, reach in this run; of matrices that stay on the chip the way of a number
///         between blocks. Interrupted, what was measured so far.
suite_results run_stationary_suite(const suite_options& options);

}  // namespace vouch::bench
