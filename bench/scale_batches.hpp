// bench/scale_batches.hpp -- batches in host memory and files, shared by two GPUs, beside one.
#pragma once
#include "suite.hpp"

namespace vouch::bench {

/// Options, reductions and tridiagonal systems by a group of one GPU and of two. Needs two.
void measure_shared_batches(const suite_options& options, suite_results& results);

}  // namespace vouch::bench
