// vouch/dense/require_entries.hpp -- what operations require of a dense matrix; private.
#pragma once
#include <algorithm>
#include <cstdint>
#include <string>

#include <vouch/core/require.hpp>
#include <vouch/dense/matrix.hpp>

namespace vouch::detail {

/// Entries that are somewhere, and columns that do not overlap.
template <class T>
void require_entries(const char* routine, matrix_view<T> A) {
  if (A.rows < 0 || A.cols < 0)
    throw shape_error(std::string(routine) + ": the matrix is " + shape_text(A.rows, A.cols));
  if (A.ld < std::max<std::int64_t>(1, A.rows))
    throw value_error(std::string(routine) + ": the matrix has " + std::to_string(A.rows) +
                      " rows and the leading dimension " + std::to_string(A.ld));
  require_data(routine, "the matrix", A.data, A.rows * A.cols);
}

}  // namespace vouch::detail
