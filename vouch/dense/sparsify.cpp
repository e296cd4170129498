#include <vouch/dense/sparsify.hpp>

#include <algorithm>
#include <limits>
#include <string>

#include <vouch/core/error.hpp>
#include <vouch/core/ieee_environment.hpp>
#include <vouch/sparse/transpose.hpp>

namespace vouch {

csr<double> sparsify(const device& cpu, matrix_view<const double> A) {
  const ieee_environment here;
  if (std::max(A.rows, A.cols) > std::numeric_limits<std::int32_t>::max())
    throw value_error(std::to_string(A.rows) + " by " + std::to_string(A.cols) +
                      " elements exceed 32-bit indices");
  csr<double> columns{A.cols, A.rows, array<std::int64_t>(cpu, A.cols + 1), {}, {}};  // the transpose
  columns.row_ptr[0] = 0;
  for (std::int64_t j = 0; j < A.cols; ++j) {
    const double* first = A.data + j * A.ld;
    columns.row_ptr[j + 1] = columns.row_ptr[j] + A.rows - std::count(first, first + A.rows, 0.0);
  }
  columns.col = array<std::int32_t>(cpu, columns.row_ptr[A.cols]);
  columns.val = array<double>(cpu, columns.row_ptr[A.cols]);
  std::int64_t next = 0;
  for (std::int64_t j = 0; j < A.cols; ++j)
    for (std::int64_t i = 0; i < A.rows; ++i)
      if (A(i, j) != 0) {
        columns.col[next] = static_cast<std::int32_t>(i);
        columns.val[next++] = A(i, j);
      }
  return transpose<double>(cpu, columns);
}

}  // namespace vouch
