// bench/suite_sweeps.hpp -- sweeps over sparse matrices: their speed, and what accelerations save.
#pragma once
#include "suite.hpp"

namespace vouch::bench {

/// Sweeps of Poisson problems in natural order and by colours on the devices asked for, and solves of one
/// problem by every iteration; on the GPU within half a minute.
///
/// Result  Rows without bars. Floors are the bytes of the CSR matrix and four vectors at the copy speed of the
///         device, measured in this run. Interrupted, what was measured so far.
suite_results run_sweeps_suite(const suite_options& options);

}  // namespace vouch::bench
