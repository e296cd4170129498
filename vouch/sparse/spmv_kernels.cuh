// vouch/sparse/spmv_kernels.cuh -- products with a plan, fused with what the caller does with each row;
// private.
#pragma once
#include <cstdint>

#include <vouch/core/gpu/tma.cuh>
#include <vouch/core/launch.cuh>
#include <vouch/sparse/spmv_layouts.hpp>
#include <vouch/sparse/spmv_plan.hpp>

namespace vouch {

/// What the caller does with the product, row by row:
///
///   struct state;
///       a thread's accumulators; state{} is their start
///   struct operands;
///   __device__ operands fetch(std::int64_t i) const;
///       what row() will need of row i, loaded before the sum is begun
///   __device__ void row(state&, std::int64_t i, T sum, operands) const;
///       once for each row, by the thread that fetched, in an order that the plan fixes
///   __device__ void finish(state&) const;
///       once at the end by all threads of every block
///
/// finish may use __syncthreads() and static shared memory. It is called by spmv_threads threads of each of
/// spmv_blocks(plan) blocks, also where there are no rows; what other threads a kernel has, have ended then.
constexpr unsigned spmv_threads = 256;

/// The grid of launch_spmv: fixed for a plan, from 1 to 4096.
template <real T>
unsigned spmv_blocks(const spmv_plan<T>& plan) {
  return plan.blocks();
}

namespace detail {

constexpr unsigned warps = spmv_threads / 32;

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

// Entries that a block has on chip at once, in each of csr_depth stages.
constexpr int csr_stage = 1824;
constexpr int csr_depth = 2;
constexpr unsigned csr_threads = spmv_threads + 32;

// Room for a stage whose first entry need not stand on a 16-byte boundary.
template <class T>
struct csr_stages {
  alignas(16) T val[csr_depth][csr_stage + 8];
  alignas(16) std::int32_t col[csr_depth][csr_stage + 8];
  std::uint64_t full[csr_depth];   // ends a phase when the producer's bytes are there
  std::uint64_t empty[csr_depth];  // ends a phase when every summing thread has read them
};

// Entries that can be brought in whole groups of 16 bytes; the last three of a matrix may be left.
template <class T>
__device__ std::int64_t staged_entries(const csr_view<const T>& A) {
  return A.nonzeros & ~std::int64_t{3};
}

// The producer's walk over the stages that the block will need: it runs up to csr_depth stages ahead of the
// sums, and the offsets of the tile after the one it is in are already under way.
template <class T>
struct csr_walk {
  csr_view<const T> A;
  const std::int64_t* starts;
  std::int64_t tiles, tile, at, last, next_first, next_last;

  __device__ csr_walk(const csr_layout<T>& M, std::int64_t tile_count)
      : A(M.A), starts(M.tile), tiles(tile_count), tile(blockIdx.x) {
    at = start_of(tile);
    last = start_of(tile + 1);
    look_ahead();
    skip();
  }

  __device__ std::int64_t start_of(std::int64_t t) const { return starts[min(t, tiles)]; }
  __device__ void look_ahead() {
    next_first = start_of(tile + gridDim.x);
    next_last = start_of(tile + gridDim.x + 1);
  }
  // Past tiles without entries and those that are summed without stages.
  __device__ void skip() {
    while (!done() && (at >= last || last - at > 4 * csr_stage)) {
      tile += gridDim.x;
      at = next_first;
      last = next_last;
      look_ahead();
    }
  }

  __device__ bool done() const { return tile >= tiles; }

  __device__ void fetch(csr_stages<T>& stages, int stage) {
    const std::int64_t end = min(at + csr_stage, last), start = at & ~std::int64_t{3};
    const std::int64_t whole = min((end + 3) & ~std::int64_t{3}, staged_entries(A));
    const auto count = static_cast<unsigned>(max(whole - start, std::int64_t{0}));
    if (count > 0) {
      bulk_load(stages.val[stage], A.val + start, count * sizeof(T), &stages.full[stage]);
      bulk_load(stages.col[stage], A.col + start, count * sizeof(std::int32_t), &stages.full[stage]);
    }
    mbarrier_arrive_expect_tx(&stages.full[stage],
                              count * static_cast<unsigned>(sizeof(T) + sizeof(std::int32_t)));
    at = end;
    if (at < last) return;
    tile += gridDim.x;
    at = next_first;
    last = next_last;
    look_ahead();
    skip();
  }
};

// One thread's entries from..until-1, every lanes-th, of a stage; all loads of x of eight entries under way
// together.
template <class T>
__device__ T staged_sum(const T* val, const std::int32_t* col, const T* __restrict__ x, int from, int until,
                        int lanes) {
  constexpr int group = 8;
  T sum{};
  for (int k = from; k < until; k += group * lanes) {
    T product[group];
#pragma unroll
    for (int u = 0; u < group; ++u) {
      const int e = k + u * lanes;
      product[u] = e < until ? val[e] * __ldg(x + col[e]) : T{};
    }
#pragma unroll
    for (int u = 0; u < group; ++u) sum += product[u];
  }
  return sum;
}

// A block takes tiles of 256 / lanes rows. A ninth warp is the producer: it has the copy engine stream the
// entries into shared memory, as many stages ahead as there are. In the others `lanes` neighbouring threads add
// each row, every lanes-th entry each; a fixed shuffle tree joins them. A tile with very many entries goes row
// by row, a warp a row. Bound by memory; bits depend on the matrix alone.
template <class T, class Epilogue>
__global__ void __launch_bounds__(csr_threads, csr_layout<T>::resident_blocks)
    spmv_csr(csr_layout<T> M, const T* __restrict__ x, Epilogue epilogue) {
  extern __shared__ __align__(16) char on_chip[];
  csr_stages<T>& stages = *reinterpret_cast<csr_stages<T>*>(on_chip);
  const csr_view<const T> A = M.A;
  const int thread = static_cast<int>(threadIdx.x), part = thread % M.lanes;
  const int rows_a_tile = M.tile_rows(), own = thread / M.lanes;
  const std::int64_t tiles = ceil_div(A.rows, std::int64_t{rows_a_tile});
  if (thread == 0) {
    for (int stage = 0; stage < csr_depth; ++stage) {
      mbarrier_init(&stages.full[stage], 1);
      mbarrier_init(&stages.empty[stage], spmv_threads);
    }
    mbarrier_init_fence();
  }
  __syncthreads();
  if (thread >= spmv_threads) {
    if (thread > spmv_threads) return;
    csr_walk<T> walk(M, tiles);
    for (unsigned turn = 0; !walk.done(); ++turn) {
      const unsigned stage = turn % csr_depth, round = turn / csr_depth;
      if (round > 0) mbarrier_wait(&stages.empty[stage], (round - 1) % 2);
      walk.fetch(stages, stage);
    }
    return;
  }

  typename Epilogue::state state{};
  unsigned turn = 0;
  const std::int64_t staged = staged_entries(A);
  const auto start_of = [&](std::int64_t t) { return M.tile[min(t, tiles)]; };
  // Entries of the tile before the end of its row i.
  const auto end_of = [&](std::int64_t t, int i) {
    const std::int64_t row = t * rows_a_tile + i;
    return i >= 0 && row < A.rows ? static_cast<int>(M.row_end[row]) : 0;
  };
  std::int64_t first = start_of(blockIdx.x), last = start_of(blockIdx.x + 1);
  int begin = end_of(blockIdx.x, own - 1), end = end_of(blockIdx.x, own);
  for (std::int64_t tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
    // The next tile's offsets travel while this tile is worked on.
    const std::int64_t following = tile + gridDim.x, row = tile * rows_a_tile + own;
    const std::int64_t next_first = start_of(following), next_last = start_of(following + 1);
    const int next_begin = end_of(following, own - 1), next_end = end_of(following, own);
    if (last - first > 4 * csr_stage) {
      for (std::int64_t i = tile * rows_a_tile + thread / 32; i < min((tile + 1) * rows_a_tile, A.rows);
           i += warps) {
        const T sum = long_row(A, x, A.row_ptr[i], A.row_ptr[i + 1], thread % 32);
        if (thread % 32 == 0) epilogue.row(state, i, sum, epilogue.fetch(i));
      }
    } else {
      const bool mine = part == 0 && row < A.rows;
      typename Epilogue::operands operands{};
      if (mine) operands = epilogue.fetch(row);
      T sum{};
      const int count = static_cast<int>(last - first);
      const int on_chip_end = min(end, static_cast<int>(min(staged - first, std::int64_t{count})));
      for (int at = 0; at < count; at += csr_stage, ++turn) {
        const int stage = turn % csr_depth, shift = static_cast<int>((first + at) & 3);
        mbarrier_wait(&stages.full[stage], turn / csr_depth % 2);
        // This thread's entries in the stage, keeping k = begin + part modulo lanes.
        const int behind = max(0, at - begin);
        const int from = max(0, begin - at) + (part - behind % M.lanes + M.lanes) % M.lanes;
        const int until = min(csr_stage, on_chip_end - at);
        sum += staged_sum(stages.val[stage] + shift, stages.col[stage] + shift, x, from, until, M.lanes);
        mbarrier_arrive(&stages.empty[stage]);
      }
      for (int e = max(begin, on_chip_end); e < end; ++e)
        if ((e - begin) % M.lanes == part) sum += A.val[first + e] * x[A.col[first + e]];
      for (int d = M.lanes / 2; d > 0; d /= 2) sum += __shfl_down_sync(~0u, sum, d, M.lanes);
      if (mine) epilogue.row(state, row, sum, operands);
    }
    first = next_first;
    last = next_last;
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
  for (std::int64_t tile = blockIdx.x; tile * spmv_threads < A.rows; tile += gridDim.x) {
    const std::int64_t i = tile * spmv_threads + threadIdx.x;
    if (i >= A.rows) break;
    const typename Epilogue::operands operands = epilogue.fetch(i);
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
    epilogue.row(state, i, sum, operands);
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
      const unsigned block_row = slot & 0xffff;
      const bool present = block_row != sliced_layout<T>::absent;
      const std::int64_t row = (window * slices * block_rows + block_row) * B + c;
      typename Epilogue::operands operands{};
      if (present) operands = epilogue.fetch(row);
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
      if (present) epilogue.row(state, row, mine, operands);
    }
  epilogue.finish(state);
}

template <class T>
struct pair_of;
template <>
struct pair_of<float> {
  using type = float2;
};
template <>
struct pair_of<double> {
  using type = double2;
};

// One complex number; x may stand on any boundary.
template <class T>
__device__ typename pair_of<T>::type load_pair(const T* __restrict__ from, bool aligned) {
  using pair = typename pair_of<T>::type;
  if (aligned) return __ldg(reinterpret_cast<const pair*>(from));
  return {__ldg(from), __ldg(from + 1)};
}

template <class T>
__device__ bool are_pairs_aligned(const T* x) {
  return reinterpret_cast<std::uintptr_t>(x) % (2 * sizeof(T)) == 0;
}

// The sum of products of complex numbers.
template <class T>
struct complex_sum {
  T real{}, imaginary{};
  __device__ void add(const typename pair_of<T>::type& a, const typename pair_of<T>::type& x) {
    real += a.x * x.x;
    real -= a.y * x.y;
    imaginary += a.x * x.y;
    imaginary += a.y * x.x;
  }
};

// As spmv_dia, a thread for both rows of blocks [a -b; b a]; four diagonals' loads in flight at a time.
template <class T, class Epilogue>
__global__ void __launch_bounds__(spmv_threads, dia_layout<T>::resident_blocks)
    spmv_complex_dia(__grid_constant__ const dia_layout<T> A, const T* __restrict__ x, Epilogue epilogue) {
  using pair = typename pair_of<T>::type;
  constexpr int group = 4;
  const bool aligned = are_pairs_aligned(x);
  const T below = A.conjugated ? T{-1} : T{1};
  typename Epilogue::state state{};
  for (std::int64_t tile = blockIdx.x; tile * spmv_threads < A.rows; tile += gridDim.x) {
    const std::int64_t i = tile * spmv_threads + threadIdx.x;
    if (i >= A.rows) break;
    const typename Epilogue::operands upper = epilogue.fetch(2 * i), lower = epilogue.fetch(2 * i + 1);
    complex_sum<T> sum;
    for (int k0 = 0; k0 < A.count; k0 += group) {
      pair value[group], other[group];
#pragma unroll
      for (int u = 0; u < group; ++u) {
        value[u] = other[u] = pair{};
        if (k0 + u >= A.count) continue;
        const std::int64_t offset = A.offset[k0 + u], j = i + offset;
        if (j < 0 || j >= A.cols) continue;
        value[u] = __ldg(reinterpret_cast<const pair*>(A.val) + A.start[k0 + u] + i);
        if (offset < 0) value[u].y *= below;
        other[u] = load_pair(x + 2 * j, aligned);
      }
#pragma unroll
      for (int u = 0; u < group; ++u) sum.add(value[u], other[u]);
    }
    epilogue.row(state, 2 * i, sum.real, upper);
    epilogue.row(state, 2 * i + 1, sum.imaginary, lower);
  }
  epilogue.finish(state);
}

// Walks the slices of a warp: two of each window, one long and one short. What the next slice needs is under way while
// one is added up.
template <class T>
struct slice_walk {
  const sliced_layout<T>& A;
  unsigned turn = 0;  // two of each window
  slice_place place{};
  unsigned slot = sliced_layout<T>::absent;

  __device__ explicit slice_walk(const sliced_layout<T>& layout) : A(layout) { look(); }
  __device__ std::int64_t window() const { return blockIdx.x + std::int64_t{turn / 2} * gridDim.x; }
  __device__ bool is_there() const { return window() < A.windows; }
  __device__ int length() const { return static_cast<int>(slot >> 16); }
  __device__ void step() {
    ++turn;
    look();
  }

 private:
  __device__ void look() {
    slot = sliced_layout<T>::absent;
    if (!is_there()) return;
    constexpr int slices = sliced_layout<T>::slices_a_window;
    const int warp = static_cast<int>(threadIdx.x / 32);
    const std::int64_t slice = window() * slices + (turn % 2 == 0 ? warp : slices - 1 - warp);
    place = A.slices[slice];
    slot = A.order[slice * 32 + threadIdx.x % 32];
  }
};

// As spmv_sliced, a lane for both rows of blocks [a -b; b a].
template <class T, class Index, class Epilogue>
__global__ void __launch_bounds__(spmv_threads, sliced_layout<T>::complex_resident_blocks)
    spmv_complex(sliced_layout<T> A, const T* __restrict__ x, Epilogue epilogue) {
  using pair = typename pair_of<T>::type;
  constexpr int batch = 4, window_rows = 32 * sliced_layout<T>::slices_a_window;
  const int lane = static_cast<int>(threadIdx.x % 32);
  const bool aligned = are_pairs_aligned(x);
  typename Epilogue::state state{};
  const auto columns = [&](const slice_place& place, int length, int first, Index(&to)[batch]) {
    const Index* const from = static_cast<const Index*>(A.index) + (place.start + first) * 32 + lane;
#pragma unroll
    for (int u = 0; u < batch; ++u) to[u] = first + u < length ? __ldcs(from + u * 32) : Index{};
  };
  slice_walk<T> walk(A);
  Index column[batch];
  if (walk.is_there()) columns(walk.place, walk.length(), 0, column);
  while (walk.is_there()) {
    const slice_place place = walk.place;
    const int length = walk.length();
    const unsigned block_row = walk.slot & 0xffff;
    const bool present = block_row != sliced_layout<T>::absent;
    const std::int64_t row = (walk.window() * window_rows + block_row) * 2;
    walk.step();
    typename Epilogue::operands upper{}, lower{};
    if (present) {
      upper = epilogue.fetch(row);
      lower = epilogue.fetch(row + 1);
    }
    const pair* val = reinterpret_cast<const pair*>(A.val) + place.start * 32 + lane;
    const T* const base = x + std::int64_t{place.base} * 2;
    complex_sum<T> sum;
    for (int j0 = 0; j0 < place.width; j0 += batch, val += batch * 32) {
      pair a[batch] = {}, other[batch] = {};
#pragma unroll
      for (int u = 0; u < batch; ++u)
        if (j0 + u < length) a[u] = __ldcs(val + u * 32);
#pragma unroll
      for (int u = 0; u < batch; ++u)
        if (j0 + u < length) other[u] = load_pair(base + std::int64_t{column[u]} * 2, aligned);
      if (j0 + batch < place.width) columns(place, length, j0 + batch, column);
#pragma unroll
      for (int u = 0; u < batch; ++u) sum.add(a[u], other[u]);
    }
    if (walk.is_there()) columns(walk.place, walk.length(), 0, column);
    if (present) {
      epilogue.row(state, row, sum.real, upper);
      epilogue.row(state, row + 1, sum.imaginary, lower);
    }
  }
  epilogue.finish(state);
}

template <class T, class Epilogue>
void launch_complex(const device& dev, launch_shape shape, const spmv_plan<T>& plan, const T* x,
                    Epilogue epilogue) {
  if (plan.as_dia().complex)
    return launch(dev, "spmv_complex_dia", shape, spmv_complex_dia<T, Epilogue>, plan.as_dia(), x, epilogue);
  const sliced_layout<T>& A = plan.as_sliced();
  if (A.short_index)
    launch(dev, "spmv_complex", shape, spmv_complex<T, std::uint16_t, Epilogue>, A, x, epilogue);
  else
    launch(dev, "spmv_complex", shape, spmv_complex<T, std::int32_t, Epilogue>, A, x, epilogue);
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
    case layout::complex:
      return detail::launch_complex<T>(dev, shape, plan, x, epilogue);
    case layout::bsr:
      if (plan.as_sliced().b == 2)
        return detail::launch_sliced<T, 2>(dev, shape, plan.as_sliced(), x, epilogue);
      return detail::launch_sliced<T, 3>(dev, shape, plan.as_sliced(), x, epilogue);
    default:
      return launch(dev, "spmv_csr", {shape.blocks, detail::csr_threads, sizeof(detail::csr_stages<T>)},
                    detail::spmv_csr<T, Epilogue>, plan.as_csr(), x, epilogue);
  }
}

}  // namespace vouch
