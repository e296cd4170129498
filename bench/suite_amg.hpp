// bench/suite_amg.hpp -- algebraic multigrid: iterations, complexities, set-up and solve, beside floors.
#pragma once
#include "suite.hpp"

namespace vouch::bench {

suite_results run_amg_suite(const suite_options& options);

}  // namespace vouch::bench
