// bench/suite_interval.hpp -- interval BLAS beside Boost.Interval and the plain BLAS of OpenBLAS and cuBLAS.
#pragma once
#include "suite.hpp"

namespace vouch::bench {

/// Times axpy, dot, gemv and gemm on intervals, the sizes of IntLAG's tables and large ones, on every device;
/// measures how wide the modes of gemm enclose, and whether bits repeat.
///
/// Result  A row for every figure. Interrupted, what was measured so far.
suite_results run_interval_suite(const suite_options& options);

}  // namespace vouch::bench
