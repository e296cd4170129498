// bench/suite_tridiagonal.hpp -- tridiagonal systems against cuSPARSE, LAPACK and the memory's speed.
#pragma once
#include "suite.hpp"

namespace vouch::bench {

suite_results run_tridiagonal_suite(const suite_options& options);

}  // namespace vouch::bench
