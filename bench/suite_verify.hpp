// bench/suite_verify.hpp -- what proofs of correctness cost, and how sharp they are.
#pragma once
#include "suite.hpp"

namespace vouch::bench {

/// Poisson problems with the solution (1, ..., 1), which is exact, and the stiffness matrices of options.data;
/// options.matrices in place of both.
suite_results run_verify_suite(const suite_options& options);

}  // namespace vouch::bench
