// vouch/sparse/spmv_kernels.cuh -- products with a plan, fused with what the caller does with each row;
// private.
#pragma once
#include <cstdint>

#include <vouch/core/launch.cuh>
#include <vouch/sparse/spmv_layouts.hpp>
#include <vouch/sparse/spmv_plan.hpp>

namespace vouch {

/// What the caller does with the product, row by row:
///
///   struct state;
///       a thread's accumulators; state{} is their start
///   __device__ void row(state&, std::int64_t i, T sum) const;
///       once for each row, by one thread, in an order that the plan fixes
///   __device__ void finish(state&) const;
///       once at the end by all threads of every block
///
/// finish may use __syncthreads() and static shared memory. Kernels have spmv_threads threads and
/// spmv_blocks(plan) blocks, also where there are no rows.
constexpr unsigned spmv_threads = 256;

/// The grid of launch_spmv: fixed for a plan, from 1 to 4096.
template <real T>
unsigned spmv_blocks(const spmv_plan<T>& plan) {
  return plan.blocks();
}

namespace detail {

constexpr unsigned warps = spmv_threads / 32;

// Room for csr_piece products; one place in 17 stays empty, so that rows of 8, 16, ... entries do not meet in
// one bank when neighbouring lanes add up neighbouring rows.
constexpr int padded_piece = csr_piece + csr_piece / 16;
__device__ inline int padded(int k) { return k + (k >> 4); }

// The warp's products of entries first to first + count - 1 into its shared buffer: coalesced, all loads of the
// matrix in flight before the first is used.
template <class T>
__device__ void stage_products(csr_view<const T> A, const T* __restrict__ x, std::int64_t first, int count,
                               int lane, T* products) {
  constexpr int turns = csr_piece / 32;
  T value[turns];
  std::int32_t column[turns];
#pragma unroll
  for (int u = 0; u < turns; ++u) {
    const int k = u * 32 + lane;
    column[u] = k < count ? __ldcs(A.col + first + k) : 0;
    value[u] = k < count ? __ldcs(A.val + first + k) : T{};
  }
#pragma unroll
  for (int u = 0; u < turns; ++u) {
    const int k = u * 32 + lane;
    if (k < count) products[padded(k)] = value[u] * __ldg(x + column[u]);
  }
}

// One row by the whole warp, result in all lanes: entry k goes to lane k % 32, then a fixed tree.
template <class T>
__device__ T long_row(csr_view<const T> A, const T* __restrict__ x, std::int64_t begin, std::int64_t end,
                      int lane) {
  T sum{};
#pragma unroll 4
  for (std::int64_t k = begin + lane; k < end; k += 32) sum += __ldcs(A.val + k) * __ldg(x + __ldcs(A.col + k));
  for (int d = 16; d > 0; d /= 2) sum += __shfl_xor_sync(~0u, sum, d);
  return sum;
}

// A warp takes tiles of 32 / lanes rows. Their entries stream through shared memory in pieces of 256 products,
// coalesced whatever the row lengths are; then `lanes` threads add each row, every lanes-th entry each, and a
// fixed shuffle tree joins them. A tile with very many entries goes row by row, 32 lanes a row. Bound by
// memory; bits depend on the matrix alone.
template <class T, class Epilogue>
__global__ void __launch_bounds__(spmv_threads, csr_layout<T>::resident_blocks)
    spmv_csr(csr_layout<T> M, const T* __restrict__ x, Epilogue epilogue) {
  __shared__ T buffer[warps][padded_piece];
  const csr_view<const T> A = M.A;
  const int lane = static_cast<int>(threadIdx.x % 32);
  T* const products = buffer[threadIdx.x / 32];
  const int rows_a_tile = 32 / M.lanes;
  const int part = lane % M.lanes;
  const std::int64_t stride = std::int64_t{gridDim.x} * warps * rows_a_tile;
  typename Epilogue::state state{};

  std::int64_t tile = (std::int64_t{blockIdx.x} * warps + threadIdx.x / 32) * rows_a_tile;
  std::int64_t row = tile + lane / M.lanes;
  std::int64_t begin = A.row_ptr[min(row, A.rows)], end = A.row_ptr[min(row + 1, A.rows)];
  for (; tile < A.rows; tile += stride, row += stride) {
    // The next tile's offsets travel while this tile is worked on.
    const std::int64_t next_begin = A.row_ptr[min(row + stride, A.rows)];
    const std::int64_t next_end = A.row_ptr[min(row + stride + 1, A.rows)];
    const std::int64_t first = __shfl_sync(~0u, begin, 0), last = __shfl_sync(~0u, end, 31);
    T sum{};
    if (last - first > 4 * csr_piece) {
      for (int r = 0; r < rows_a_tile; ++r) {
        const T whole =
            long_row(A, x, __shfl_sync(~0u, begin, r * M.lanes), __shfl_sync(~0u, end, r * M.lanes), lane);
        if (lane == r * M.lanes) sum = whole;
      }
    } else {
      for (std::int64_t piece = first; piece < last; piece += csr_piece) {
        const int count = static_cast<int>(min(std::int64_t{csr_piece}, last - piece));
        stage_products(A, x, piece, count, lane, products);
        __syncwarp();
        // This thread's entries within the piece, keeping k = begin + part modulo lanes.
        const int behind = static_cast<int>(max(std::int64_t{0}, piece - begin));
        const int from = static_cast<int>(max(std::int64_t{0}, begin - piece)) +
                         (part - behind % M.lanes + M.lanes) % M.lanes;
        const int until = static_cast<int>(min(std::int64_t{count}, end - piece));
        for (int k = from; k < until; k += M.lanes) sum += products[padded(k)];
        __syncwarp();
      }
      for (int d = M.lanes / 2; d > 0; d /= 2) sum += __shfl_down_sync(~0u, sum, d, M.lanes);
    }
    if (part == 0 && row < A.rows) epilogue.row(state, row, sum);
    begin = next_begin;
    end = next_end;
  }
  epilogue.finish(state);
}

// A thread takes a row; neighbours read neighbouring values of each diagonal. Entries are added by ascending
// column, eight diagonals' loads in flight at a time. Bound by memory.
template <class T, class Epilogue>
__global__ void __launch_bounds__(spmv_threads, dia_layout<T>::resident_blocks)
    spmv_dia(__grid_constant__ const dia_layout<T> A, const T* __restrict__ x, Epilogue epilogue) {
  constexpr int group = 8;
  typename Epilogue::state state{};
  const std::int64_t stride = std::int64_t{gridDim.x} * spmv_threads;
  for (std::int64_t i = std::int64_t{blockIdx.x} * spmv_threads + threadIdx.x; i < A.rows; i += stride) {
    T sum{};
    for (int k0 = 0; k0 < A.count; k0 += group) {
      T value[group], other[group];
#pragma unroll
      for (int u = 0; u < group; ++u) {
        value[u] = other[u] = T{};
        if (k0 + u >= A.count) continue;
        const std::int64_t j = i + A.offset[k0 + u];
        if (j < 0 || j >= A.cols) continue;
        value[u] = __ldg(A.val + A.start[k0 + u] + i);
        other[u] = __ldg(x + j);
      }
#pragma unroll
      for (int u = 0; u < group; ++u) sum += value[u] * other[u];
    }
    epilogue.row(state, i, sum);
  }
  epilogue.finish(state);
}

// A warp takes two slices of a window, one long and one short, b lanes a block row: lane c multiplies column c
// of the blocks, a fixed sum over the b lanes leaves row c with lane c. Four steps' loads are in flight at a
// time. Bound by memory, in random order by the gather of x from L2.
template <class T, int B, class Index, class Epilogue>
__global__ void __launch_bounds__(spmv_threads, sliced_layout<T>::resident_blocks)
    spmv_sliced(sliced_layout<T> A, const T* __restrict__ x, Epilogue epilogue) {
  constexpr int block_rows = 32 / B, lanes = block_rows * B, batch = 4;
  constexpr int slices = sliced_layout<T>::slices_a_window;
  static_assert(slices == 2 * warps);
  const int lane = static_cast<int>(threadIdx.x % 32), warp = static_cast<int>(threadIdx.x / 32);
  const int local = lane / B, c = lane % B;
  typename Epilogue::state state{};
  for (std::int64_t window = blockIdx.x; window < A.windows; window += gridDim.x)
    for (int turn = 0; turn < 2; ++turn) {
      const std::int64_t slice = window * slices + (turn == 0 ? warp : slices - 1 - warp);
      const slice_place place = A.slices[slice];
      const unsigned slot = lane < lanes ? A.order[slice * block_rows + local] : sliced_layout<T>::absent;
      const int length = static_cast<int>(slot >> 16);
      const T* val = A.val + place.start * (B * lanes) + lane;
      const Index* index = static_cast<const Index*>(A.index) + place.start * block_rows + local;
      const T* const column = x + std::int64_t{place.base} * B + c;
      T sum[B] = {};
      for (int j0 = 0; j0 < length; j0 += batch, val += batch * B * lanes, index += batch * block_rows) {
        T a[batch][B] = {}, other[batch] = {};
#pragma unroll
        for (int u = 0; u < batch; ++u) {
          if (j0 + u >= length) continue;
          other[u] = __ldg(column + std::int64_t{__ldcs(index + u * block_rows)} * B);
#pragma unroll
          for (int r = 0; r < B; ++r) a[u][r] = __ldcs(val + (u * B + r) * lanes);
        }
#pragma unroll
        for (int u = 0; u < batch; ++u)
#pragma unroll
          for (int r = 0; r < B; ++r) sum[r] += a[u][r] * other[u];
      }
      T mine = sum[0];
      if constexpr (B > 1) {
#pragma unroll
        for (int r = 0; r < B; ++r) {
          T whole = __shfl_sync(~0u, sum[r], local * B);
#pragma unroll
          for (int k = 1; k < B; ++k) whole += __shfl_sync(~0u, sum[r], local * B + k);
          if (r == c) mine = whole;
        }
      }
      const unsigned block_row = slot & 0xffff;
      if (block_row != sliced_layout<T>::absent)
        epilogue.row(state, (window * slices * block_rows + block_row) * B + c, mine);
    }
  epilogue.finish(state);
}

template <class T, int B, class Epilogue>
void launch_sliced(const device& dev, launch_shape shape, const sliced_layout<T>& A, const T* x,
                   Epilogue epilogue) {
  if (A.short_index)
    launch(dev, "spmv_sliced", shape, spmv_sliced<T, B, std::uint16_t, Epilogue>, A, x, epilogue);
  else
    launch(dev, "spmv_sliced", shape, spmv_sliced<T, B, std::int32_t, Epilogue>, A, x, epilogue);
}

}  // namespace detail

/// Enqueues sums A x, each handed to the epilogue; no allocation and no wait, so it can be captured in a graph.
///
/// Memory  x has plan.cols() elements on dev and is not written by the epilogue.
template <real T, class Epilogue>
void launch_spmv(const device& dev, const spmv_plan<T>& plan, const T* x, Epilogue epilogue) {
  const launch_shape shape{spmv_blocks(plan), spmv_threads};
  switch (plan.kept_as()) {
    case layout::dia:
      return launch(dev, "spmv_dia", shape, detail::spmv_dia<T, Epilogue>, plan.as_dia(), x, epilogue);
    case layout::sell:
      return detail::launch_sliced<T, 1>(dev, shape, plan.as_sliced(), x, epilogue);
    case layout::bsr:
      if (plan.as_sliced().b == 2)
        return detail::launch_sliced<T, 2>(dev, shape, plan.as_sliced(), x, epilogue);
      return detail::launch_sliced<T, 3>(dev, shape, plan.as_sliced(), x, epilogue);
    default:
      return launch(dev, "spmv_csr", shape, detail::spmv_csr<T, Epilogue>, plan.as_csr(), x, epilogue);
  }
}

}  // namespace vouch
