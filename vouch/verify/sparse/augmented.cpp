#include <vouch/verify/sparse/augmented.hpp>

#include <vouch/sparse/transpose.hpp>

namespace vouch::detail {

csr<double> augmented(const device& cpu, csr_view<const double> B, double d) {
  const csr<double> transposed = transpose<double>(cpu, B);
  const std::int64_t m = B.rows, n = B.cols, entries = 2 * B.nonzeros + (d != 0 ? m : 0);
  csr<double> K{m + n, m + n, array<std::int64_t>(cpu, m + n + 1), array<std::int32_t>(cpu, entries),
                array<double>(cpu, entries)};
  std::int64_t at = 0;
  const auto put = [&](std::int64_t column, double value) {
    K.col[at] = static_cast<std::int32_t>(column);
    K.val[at++] = value;
  };
  for (std::int64_t i = 0; i < m; ++i) {
    K.row_ptr[i] = at;
    if (d != 0) put(i, d);
    for (std::int64_t k = B.row_ptr[i]; k < B.row_ptr[i + 1]; ++k) put(m + B.col[k], B.val[k]);
  }
  for (std::int64_t j = 0; j < n; ++j) {
    K.row_ptr[m + j] = at;
    for (std::int64_t k = transposed.row_ptr[j]; k < transposed.row_ptr[j + 1]; ++k)
      put(transposed.col[k], transposed.val[k]);
  }
  K.row_ptr[m + n] = at;
  return K;
}

}  // namespace vouch::detail
