// vouch/generate/matrix_set.hpp -- random sets of small matrices, as text.
#pragma once
#include <cstdint>
#include <string>

#include <vouch/core/device.hpp>
#include <vouch/core/visibility.hpp>

namespace VOUCH_PUBLIC vouch {

struct matrix_set_problem {
  std::int64_t count = 1;
  std::int64_t rows = 3;
  std::int64_t cols = 3;
  std::int64_t least = 0;  // of the values, which are uniform between the two
  std::int64_t most = 9;
  std::uint64_t seed = 1;
};

/// Writes a set that reduce_matrix_sets reads: count, then each matrix behind a line of three asterisks.
///
/// Memory  A few megabytes a thread.
/// Result  The same file for any number of threads. Value e of matrix m depends on the seed and on
///         m * rows * cols + e alone.
/// Throws  value_error  a size that is not positive, least > most
///         file_error   what atomic_file throws
void write_matrix_set(const device& cpu, const std::string& path, const matrix_set_problem& problem);

}  // namespace vouch
