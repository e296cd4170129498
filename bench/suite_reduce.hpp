// bench/suite_reduce.hpp -- sets of small matrices: the published table, and the bars.
#pragma once
#include "suite.hpp"

namespace vouch::bench {

/// Writes sets of 1, 10 and 50 million 3 by 3 matrices, of digits and of signed numbers to 99999, to the folder
/// for temporary files, and reduces each by the minimum; also decimals, and batches in a GPU's memory.
///
/// Result  Rows with times and bytes a second against a bare touch of the mapped file by the same threads,
///         peers on the smallest files. Interrupted, what was measured so far.
/// Throws  file_error   no room for the files: 3.5 GB
///         value_error  a peer's result differs from ours
suite_results run_reduce_suite(const suite_options& options);

}  // namespace vouch::bench
