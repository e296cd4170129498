#include <vouch/sparse/spmv_cpu.hpp>

#include <algorithm>

namespace vouch::detail {
namespace {

// Rows of one call that stay in the first-level cache while the diagonals pass over them.
constexpr std::int64_t dia_tile = 512;

// Rows begin to begin + count - 1, which all meet diagonals first to last - 1.
template <class T>
void dia_tile_rows(const dia_layout<T>& A, int first, int last, const T* x, T* y, std::int64_t begin,
                   std::int64_t count) {
  std::fill(y, y + count, T{});
  for (int k = first; k < last; ++k) {
    const T* value = A.val + (A.start[k] + begin);
    const T* other = x + (A.offset[k] + begin);
#pragma omp simd
    for (std::int64_t i = 0; i < count; ++i) y[i] += value[i] * other[i];
  }
}

}  // namespace

template <real T>
void csr_rows(const csr_view<const T>& A, const T* x, T* y, std::int64_t row_begin, std::int64_t row_end) {
  for (std::int64_t i = row_begin; i < row_end; ++i) {
    T sum{};
    for (std::int64_t k = A.row_ptr[i]; k < A.row_ptr[i + 1]; ++k) sum += A.val[k] * x[A.col[k]];
    y[i - row_begin] = sum;
  }
}

// Which diagonals a row meets changes at few rows only: offsets ascend, so they are always a range of them.
template <real T>
void dia_rows(const dia_layout<T>& A, const T* x, T* y, std::int64_t row_begin, std::int64_t row_end) {
  int first = A.count, last = A.count;
  for (std::int64_t i = row_begin; i < row_end;) {
    while (first > 0 && A.offset[first - 1] + i >= 0) --first;
    while (last > first && A.offset[last - 1] + i >= A.cols) --last;
    std::int64_t end = std::min(row_end, i + dia_tile);
    if (first > 0) end = std::min(end, -A.offset[first - 1]);
    if (last > first) end = std::min(end, A.cols - A.offset[last - 1]);
    dia_tile_rows(A, first, last, x, y + (i - row_begin), i, end - i);
    i = end;
  }
}

template void csr_rows(const csr_view<const float>&, const float*, float*, std::int64_t, std::int64_t);
template void csr_rows(const csr_view<const double>&, const double*, double*, std::int64_t, std::int64_t);
template void dia_rows(const dia_layout<float>&, const float*, float*, std::int64_t, std::int64_t);
template void dia_rows(const dia_layout<double>&, const double*, double*, std::int64_t, std::int64_t);

}  // namespace vouch::detail
