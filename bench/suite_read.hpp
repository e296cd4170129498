// bench/suite_read.hpp -- reading matrices: bytes a second from page cache, and the bars.
#pragma once
#include "suite.hpp"

namespace vouch::bench {

/// Writes files of short and of 17-digit values and dense ones in either order to the folder for temporary
/// files, and reads them with one thread, with all, and on the GPU. Files named in the options take their
/// place.
///
/// Result  Rows with the bytes a second of read_coo (bars on one core), read_csr and read_vectors, the floor
///         being a plain read() of the same file by one thread; of a matrix on the GPU, the floor being the
///         text over the bus, beside the same matrix read by all threads and copied. Interrupted, what was
///         measured so far.
/// Throws  file_error  no room for the files
suite_results run_read_suite(const suite_options& options);

}  // namespace vouch::bench
