// bench/verify_tridiagonal.hpp -- proofs for batches of tridiagonal systems: cost and sharpness.
#pragma once
#include <vector>

#include "suite.hpp"

namespace vouch::bench {

/// Adds rows and a section to the results of the suite verify.
void add_tridiagonal_proofs(const suite_options& options, const std::vector<bench_device>& devices,
                            suite_results& all);

}  // namespace vouch::bench
