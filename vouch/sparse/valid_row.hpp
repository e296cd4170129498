// vouch/sparse/valid_row.hpp -- what makes a row of a matrix in CSR a row, of numbers; private, CPU and GPU.
#pragma once
#include <vouch/core/types.hpp>
#include <vouch/sparse/valid_csr.hpp>

namespace vouch::detail {

/// Whether row i, whose columns may be read then, lies within the entries.
VOUCH_HOST_DEVICE inline bool has_valid_offsets(const csr_pattern& A, std::int64_t i) {
  const std::int64_t begin = A.row_ptr[i], end = A.row_ptr[i + 1];
  return (i > 0 ? begin >= 0 : begin == 0) && begin <= end &&
         (i + 1 < A.rows ? end <= A.nonzeros : end == A.nonzeros);
}

/// Whether entry k, in a row that begins with entry `begin`, has a column, and one behind that before.
VOUCH_HOST_DEVICE inline bool has_valid_column(const csr_pattern& A, std::int64_t begin, std::int64_t k) {
  const std::int32_t before = k > begin ? A.col[k - 1] : -1;
  return A.col[k] > before && A.col[k] < A.cols;
}

/// The first row that is none, A.rows where there is none of that kind. Waits for the device.
std::int64_t first_invalid_row_cuda(const device& dev, const csr_pattern& A);

/// The first value that is NaN or infinite, count where there is none. Waits for the device.
template <real T>
std::int64_t first_not_finite_cuda(const device& dev, const T* values, std::int64_t count);

}  // namespace vouch::detail
