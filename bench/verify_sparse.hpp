// bench/verify_sparse.hpp -- proofs for general sparse systems: cost and digits.
#pragma once
#include <vector>

#include "suite.hpp"

namespace vouch::bench {

/// Adds rows and a section to the results of the suite verify: published unsymmetric matrices of options.data,
/// factorised on the CPU.
void add_sparse_proofs(const suite_options& options, const std::vector<bench_device>& devices,
                       suite_results& all);

}  // namespace vouch::bench
