#include <algorithm>

#include <vouch/core/array.hpp>
#include <vouch/core/launch.cuh>
#include <vouch/sparse/residual_merge.cuh>

namespace vouch::detail {
namespace {

constexpr int block = merge_threads;
constexpr int lanes = 8;  // threads that share a row
constexpr int rows_at_once = block / lanes;

__device__ void merge_lanes(row_residual<double>& row) {
  for (int d = lanes / 2; d > 0; d /= 2) {
    row_residual<double> other(0);
    other.sum.hi = __shfl_down_sync(~0u, row.sum.hi, d, lanes);
    other.sum.lo = __shfl_down_sync(~0u, row.sum.lo, d, lanes);
    other.magnitude = __shfl_down_sync(~0u, row.magnitude, d, lanes);
    other.product = __shfl_down_sync(~0u, row.product, d, lanes);
    row.merge(other);
  }
}

__device__ void merge_lanes(row_residual<float>& row) {
  for (int d = lanes / 2; d > 0; d /= 2) {
    row_residual<float> other(0);
    other.sum = __shfl_down_sync(~0u, row.sum, d, lanes);
    other.magnitude = __shfl_down_sync(~0u, row.magnitude, d, lanes);
    other.product = __shfl_down_sync(~0u, row.product, d, lanes);
    row.merge(other);
  }
}

// A block forms the rows and the piece of x of one chunk: 8 lanes a row, each every 8th entry, merged by a
// fixed shuffle tree; the chunk's norms by a fixed tree over the block. Bound by memory; bits never change.
template <class T>
__global__ void __launch_bounds__(block)
    residual_chunks(csr_view<const T> A, const T* b, const T* __restrict__ x_hi, const T* __restrict__ x_lo,
                    T* r, residual_norms* partial) {
  const int lane = static_cast<int>(threadIdx.x) % lanes;
  const std::int64_t first = std::int64_t{blockIdx.x} * residual_chunk;
  residual_norms norms;
  // Every warp makes every turn of the loop, so that all its lanes meet in the shuffles.
  for (std::int64_t i = first + threadIdx.x / lanes; i - threadIdx.x / lanes < first + residual_chunk;
       i += rows_at_once) {
    const bool present = i < A.rows;
    const T b_i = present ? b[i] : T{};
    row_residual<T> row(lane == 0 ? b_i : T{});
    const std::int64_t end = present ? A.row_ptr[i + 1] : 0;
    for (std::int64_t k = present ? A.row_ptr[i] + lane : 0; k < end; k += lanes) {
      const std::int32_t j = A.col[k];
      row.subtract(A.val[k], x_hi[j], x_lo != nullptr ? x_lo[j] : T{});
    }
    merge_lanes(row);
    if (!present || lane != 0) continue;
    const T rounded = row.rounded();
    r[i] = rounded;
    norms.add_row(rounded, b_i, row.magnitude, row.product);
  }
  for (std::int64_t j = first + threadIdx.x; j < min(first + residual_chunk, A.cols); j += block)
    norms.add_x(x_lo != nullptr ? x_hi[j] + x_lo[j] : x_hi[j]);
  const residual_norms whole = merge_block(norms);
  if (threadIdx.x == 0) partial[blockIdx.x] = whole;
}

}  // namespace

template <real T>
residual_norms residual_cuda(const device& dev, csr_view<const T> A, const T* b, const T* x_hi, const T* x_lo,
                             T* r) {
  const std::int64_t chunks = ceil_div(std::max(A.rows, A.cols), residual_chunk);
  if (chunks == 0) return {};
  array<residual_norms> partial(dev, chunks + 1);
  launch(dev, "residual_chunks", {chunks, block}, residual_chunks<T>, A, b, x_hi, x_lo, r, partial.data());
  return merge_on_gpu(dev, partial, chunks);
}

template residual_norms residual_cuda(const device&, csr_view<const float>, const float*, const float*,
                                      const float*, float*);
template residual_norms residual_cuda(const device&, csr_view<const double>, const double*, const double*,
                                      const double*, double*);

}  // namespace vouch::detail
