#include <vouch/dense/sparsify.hpp>

#include <algorithm>
#include <limits>
#include <string>

#include <vouch/core/error.hpp>
#include <vouch/core/ieee_environment.hpp>
#include <vouch/sparse/coo.hpp>

namespace vouch {
namespace {

template <class T>
csr<T> without_zeros(const device& cpu, matrix_view<const T> A) {
  if (std::max(A.rows, A.cols) > std::numeric_limits<std::int32_t>::max())
    throw value_error(std::to_string(A.rows) + " by " + std::to_string(A.cols) +
                      " elements exceed 32-bit indices");
  std::int64_t count = 0;
  for (std::int64_t j = 0; j < A.cols; ++j) {
    const T* const first = A.data + j * A.ld;
    count += A.rows - std::count(first, first + A.rows, T{0});
  }
  triplets<T> kept{A.rows,
                   A.cols,
                   symmetry::general,
                   array<std::int32_t>(cpu, count),
                   array<std::int32_t>(cpu, count),
                   array<T>(cpu, count)};
  std::int64_t next = 0;
  for (std::int64_t j = 0; j < A.cols; ++j)
    for (std::int64_t i = 0; i < A.rows; ++i)
      if (A(i, j) != T{0}) {
        kept.row[next] = static_cast<std::int32_t>(i);
        kept.col[next] = static_cast<std::int32_t>(j);
        kept.val[next++] = A(i, j);
      }
  return to_csr(cpu, kept);
}

}  // namespace

csr<double> sparsify(const device& cpu, matrix_view<const double> A) {
  const ieee_environment here;
  return without_zeros(cpu, A);
}

csr<std::complex<double>> sparsify(const device& cpu, matrix_view<const std::complex<double>> A) {
  const ieee_environment here;
  return without_zeros(cpu, A);
}

}  // namespace vouch
