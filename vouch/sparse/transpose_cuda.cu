#include <bit>
#include <cstdint>
#include <limits>

#include <vouch/core/array.hpp>
#include <vouch/core/parallel_for.cuh>
#include <vouch/core/scan_and_sort.hpp>
#include <vouch/core/scratch.cuh>
#include <vouch/sparse/trusted.hpp>

namespace vouch::detail {
namespace {

// Sorts entries by column; equal ones stay in the order of their rows. Bound by memory: 4 passes over columns of up to
// 32 bits, then a gather.
template <class Index, class T>
csr<T> transpose_with(const device& dev, csr_view<const T> A) {
  csr<T> B{A.cols, A.rows, array<std::int64_t>(dev, A.cols + 1), array<std::int32_t>(dev, A.nonzeros),
           array<T>(dev, A.nonzeros)};
  const std::int64_t count = A.nonzeros;
  const scratch<std::int32_t> row_of(dev, count), column(dev, count);
  const scratch<Index> entry(dev, count), sorted(dev, count);
  std::int32_t* const rows = row_of.data();
  Index* const entries = entry.data();
  parallel_for(dev, "number_entries", A.rows, [=] __device__(std::int64_t i) {
    for (std::int64_t k = A.row_ptr[i]; k < A.row_ptr[i + 1]; ++k) {
      rows[k] = static_cast<std::int32_t>(i);
      entries[k] = static_cast<Index>(k);
    }
  });
  if (count > 0) {
    const int bits = std::max(1, static_cast<int>(std::bit_width(static_cast<std::uint64_t>(A.cols - 1))));
    sort_pairs(dev, A.col, column.data(), static_cast<const Index*>(entries), sorted.data(), count, bits);
  }
  const std::int32_t* const columns = column.data();
  const Index* const from = sorted.data();
  std::int64_t* const row_ptr = B.row_ptr.data();
  std::int32_t* const col = B.col.data();
  T* const val = B.val.data();
  parallel_for(dev, "find_rows", A.cols + 1, [=] __device__(std::int64_t j) {
    std::int64_t first = 0, last = count;
    while (first < last) {
      const std::int64_t middle = first + (last - first) / 2;
      if (columns[middle] < j)
        first = middle + 1;
      else
        last = middle;
    }
    row_ptr[j] = first;
  });
  parallel_for(dev, "gather_entries", count, [=] __device__(std::int64_t k) {
    col[k] = rows[from[k]];
    val[k] = A.val[from[k]];
  });
  dev.synchronize();
  return B;
}

}  // namespace

template <real T>
csr<T> transpose_cuda(const device& dev, csr_view<const T> A) {
  if (A.nonzeros <= std::numeric_limits<std::int32_t>::max()) return transpose_with<std::int32_t>(dev, A);
  return transpose_with<std::int64_t>(dev, A);
}

template csr<float> transpose_cuda(const device&, csr_view<const float>);
template csr<double> transpose_cuda(const device&, csr_view<const double>);

}  // namespace vouch::detail
