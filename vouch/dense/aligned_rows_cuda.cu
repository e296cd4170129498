// Passes over a dense matrix by rows on a GPU, all of them bound by one read of it.
#include <cuda_runtime.h>

#include <vouch/core/launch.cuh>
#include <vouch/dense/aligned_rows.hpp>
#include <vouch/interval/rounding.hpp>
#include <vouch/sparse/residual_merge.cuh>

namespace vouch::detail {
namespace {

constexpr int threads = merge_threads;
constexpr int warps = threads / 32;
constexpr unsigned everyone = ~0u;

template <class T>
constexpr int lanes = 16 / static_cast<int>(sizeof(T));  // entries in 16 bytes

template <class T>
struct alignas(16) pack {
  T v[lanes<T>];
};

// 32 x 32 entries a block, 256 threads: read along the lines of the source, written along rows.
template <class T>
__global__ void __launch_bounds__(threads)
    copy_aligned(const T* __restrict__ a, std::int64_t n, std::int64_t ld, bool by_rows, T* __restrict__ to,
                 std::int64_t padded, std::int64_t tiles) {
  __shared__ T tile[32][33];
  const std::int64_t i0 = blockIdx.x / tiles * 32, j0 = blockIdx.x % tiles * 32;
  const int fast = static_cast<int>(threadIdx.x) % 32, slow = static_cast<int>(threadIdx.x) / 32;
  for (int k = slow; k < 32; k += warps) {
    const std::int64_t i = by_rows ? i0 + k : i0 + fast, j = by_rows ? j0 + fast : j0 + k;
    T value = i == j ? T{1} : T{};
    if (i < n && j < n) value = by_rows ? a[i * ld + j] : a[i + j * ld];
    (by_rows ? tile[k][fast] : tile[fast][k]) = value;
  }
  __syncthreads();
  for (int k = slow; k < 32; k += warps)
    if (i0 + k < padded && j0 + fast < padded) to[(i0 + k) * padded + j0 + fast] = tile[k][fast];
}

// x and x_lo as doubles, zero from n on.
template <class T>
__global__ void __launch_bounds__(threads)
    widen(const T* __restrict__ x, const T* __restrict__ x_lo, std::int64_t n, std::int64_t padded,
          double* __restrict__ wide) {
  const std::int64_t j = std::int64_t{blockIdx.x} * threads + threadIdx.x;
  if (j >= padded) return;
  wide[j] = j < n ? static_cast<double>(x[j]) : 0.0;
  if (x_lo != nullptr) wide[padded + j] = j < n ? static_cast<double>(x_lo[j]) : 0.0;
}

// One thread's, later one row's sums; what it is for is b - A x = high + low.
struct row_sum {
  double high = 0, low = 0, others = 0, product = 0;

  // The product of two doubles and every sum leave their rounding errors in low.
  __device__ void subtract(double a, double x) {
    const double p = __dmul_rn(a, x), e = fma(a, x, -p);
    add(-p);
    low -= e;
  }
  // The product of two floats is exact.
  __device__ void subtract(float a, double x) { high = fma(-static_cast<double>(a), x, high); }
  __device__ void add(double term) {
    const double_double<double> sum = two_sum(high, term);
    high = sum.hi;
    low += sum.lo;
  }
  __device__ void merge(const row_sum& other) {
    add(other.high);
    low += other.low;
    others += other.others;
    product += other.product;
  }
};

__device__ row_sum merge_warp(row_sum mine) {
  for (int d = 16; d > 0; d /= 2) {
    row_sum other;
    other.high = __shfl_down_sync(everyone, mine.high, d);
    other.low = __shfl_down_sync(everyone, mine.low, d);
    other.others = __shfl_down_sync(everyone, mine.others, d);
    other.product = __shfl_down_sync(everyone, mine.product, d);
    mine.merge(other);
  }
  return mine;
}

// All roundings of a row are at most `count` of sums whose terms' magnitudes add up to less than `summed`; in
// twice the precision they count among themselves only.
template <class T>
__device__ double bound_of(const row_sum& row, double b, std::int64_t n) {
  const double count = 4 * (static_cast<double>(n) + 8);
  const double slack = sizeof(T) == 4 ? mul_up(count, 0x1p-53) : mul_up(mul_up(count, count), 0x1p-106);
  const double summed = add_up(fabs(b), mul_up(1 + 0x1p-20, row.product));
  return add_up(add_up(fabs(row.high), fabs(row.low)), add_up(mul_up(slack, summed), mul_up(count, 0x1p-1074)));
}

// A block forms Rows rows, a thread every 256th 16 bytes of each; x, in doubles, comes from cache. Bound by
// memory; fixed trees throughout.
template <class T, int Rows>
__global__ void __launch_bounds__(threads)
    residual_rows(const T* __restrict__ a, std::int64_t n, std::int64_t padded, std::int64_t ld, const T* b,
                  const double* __restrict__ x, bool has_low, row_results<T> results, residual_norms* partial) {
  __shared__ row_sum warp_sum[Rows][warps];
  const std::int64_t first = std::int64_t{blockIdx.x} * Rows;
  const int warp = static_cast<int>(threadIdx.x) / 32, lane = static_cast<int>(threadIdx.x) % 32;
  row_sum sum[Rows];
  for (std::int64_t j = std::int64_t{threadIdx.x} * lanes<T>; j < padded; j += threads * lanes<T>) {
    pack<T> entries[Rows];
#pragma unroll
    for (int i = 0; i < Rows; ++i)
      entries[i] = *reinterpret_cast<const pack<T>*>(a + min(first + i, padded - 1) * ld + j);
#pragma unroll
    for (int l = 0; l < lanes<T>; ++l) {
      const double high = x[j + l], low = has_low ? x[padded + j + l] : 0.0;
#pragma unroll
      for (int i = 0; i < Rows; ++i) {
        const T entry = entries[i].v[l];
        sum[i].subtract(entry, high);
        if (has_low) sum[i].subtract(entry, low);
        const double magnitude = fabs(static_cast<double>(entry));
        sum[i].others += first + i == j + l ? 0.0 : magnitude;
        sum[i].product = fma(magnitude, fabs(high), sum[i].product);
      }
    }
  }
#pragma unroll
  for (int i = 0; i < Rows; ++i) {
    const row_sum whole = merge_warp(sum[i]);
    if (lane == 0) warp_sum[i][warp] = whole;
  }
  __syncthreads();
  residual_norms norms;
  if (threadIdx.x < Rows && first + threadIdx.x < n) {
    const std::int64_t i = first + threadIdx.x;
    const double b_i = b[i];
    row_sum row;
    row.high = b_i;
    for (int w = 0; w < warps; ++w) row.merge(warp_sum[threadIdx.x][w]);
    const T rounded = static_cast<T>(row.high + row.low);
    results.r[i] = rounded;
    results.others[i] = row.others;
    results.bound[i] = bound_of<T>(row, b_i, n);
    const double diagonal = fabs(static_cast<double>(a[i * ld + i]));
    norms.add_row(rounded, b_i, row.others + diagonal, row.product);
    norms.add_x(has_low ? x[i] + x[padded + i] : x[i]);
  }
  // The first Rows threads' norms, in order.
  __shared__ alignas(residual_norms) unsigned char raw[Rows * sizeof(residual_norms)];
  auto* all = reinterpret_cast<residual_norms*>(raw);
  if (threadIdx.x < Rows) all[threadIdx.x] = norms;
  __syncthreads();
  if (threadIdx.x != 0) return;
  for (int i = 1; i < Rows; ++i) norms.merge(all[i]);
  partial[blockIdx.x] = norms;
}

// A block per row, a thread every 256th 16 bytes of it.
template <class T>
__global__ void __launch_bounds__(threads)
    row_magnitudes(const T* __restrict__ a, std::int64_t n, std::int64_t padded, std::int64_t ld,
                   const double* __restrict__ v, double* __restrict__ sums) {
  __shared__ double warp_sum[warps];
  const std::int64_t i = blockIdx.x;
  double part[lanes<T>] = {};
#pragma unroll 5
  for (std::int64_t j = std::int64_t{threadIdx.x} * lanes<T>; j < padded; j += threads * lanes<T>) {
    const pack<T> entries = *reinterpret_cast<const pack<T>*>(a + i * ld + j);
#pragma unroll
    for (int l = 0; l < lanes<T>; ++l) {
      const double weight = v == nullptr ? 1.0 : v[min(j + l, n - 1)];
      part[l] += i == j + l ? 0.0 : fabs(static_cast<double>(entries.v[l])) * weight;
    }
  }
  double sum = 0;
#pragma unroll
  for (int l = 0; l < lanes<T>; ++l) sum += part[l];
  for (int d = 16; d > 0; d /= 2) sum += __shfl_xor_sync(everyone, sum, d);
  if (threadIdx.x % 32 == 0) warp_sum[threadIdx.x / 32] = sum;
  __syncthreads();
  if (threadIdx.x != 0) return;
  for (int w = 1; w < warps; ++w) sum += warp_sum[w];
  sums[i] = sum;
}

constexpr std::int64_t slab = 256;  // rows whose sums over columns are formed by one block

// A block adds a slab of 256 columns, a thread each; then column_sums adds the slabs.
template <class T>
__global__ void __launch_bounds__(threads)
    column_magnitudes(const T* __restrict__ a, std::int64_t n, std::int64_t ld, const double* __restrict__ v,
                      std::int64_t tiles, double* __restrict__ parts) {
  const std::int64_t j = blockIdx.x % tiles * threads + threadIdx.x, part = blockIdx.x / tiles;
  if (j >= n) return;
  double sum = 0;
#pragma unroll 8
  for (std::int64_t i = part * slab; i < min(n, (part + 1) * slab); ++i)
    sum += i == j ? 0.0 : fabs(static_cast<double>(a[i * ld + j])) * (v != nullptr ? v[i] : 1.0);
  parts[part * n + j] = sum;
}
__global__ void __launch_bounds__(threads) column_sums(const double* __restrict__ parts, std::int64_t n,
                                                       std::int64_t count, double* __restrict__ sums) {
  const std::int64_t j = std::int64_t{blockIdx.x} * threads + threadIdx.x;
  if (j >= n) return;
  double sum = 0;
  for (std::int64_t k = 0; k < count; ++k) sum += parts[k * n + j];
  sums[j] = sum;
}

template <class T>
__global__ void __launch_bounds__(threads)
    take_diagonal(const T* __restrict__ a, std::int64_t n, std::int64_t ld, T* __restrict__ diagonal) {
  const std::int64_t i = std::int64_t{blockIdx.x} * threads + threadIdx.x;
  if (i < n) diagonal[i] = a[i * ld + i];
}

std::int64_t blocks_of(std::int64_t count) { return ceil_div<std::int64_t>(count, threads); }

}  // namespace

template <real T>
aligned_rows<T> align_rows(const device& dev, const square_matrix<T>& A) {
  aligned_rows<T> rows;
  rows.n = A.n;
  rows.padded = ceil_div<std::int64_t>(A.n, lanes<T>) * lanes<T>;
  const bool aligned = reinterpret_cast<std::uintptr_t>(A.data) % 16 == 0 && A.ld % lanes<T> == 0;
  if (A.by_rows && aligned && rows.padded == A.n) {
    rows.data = A.data;
    rows.ld = A.ld;
    return rows;
  }
  rows.own = array<T>(dev, rows.padded * rows.padded);
  rows.data = rows.own.data();
  rows.ld = rows.padded;
  const std::int64_t tiles = ceil_div<std::int64_t>(rows.padded, 32);
  launch(dev, "copy_aligned", {tiles * tiles, threads}, copy_aligned<T>, A.data, A.n, A.ld, A.by_rows,
         rows.own.data(), rows.padded, tiles);
  return rows;
}

template <real T>
residual_norms residual_pass(const device& dev, const aligned_rows<T>& A, const T* b, const T* x, const T* x_lo,
                             const row_results<T>& results, pass_workspace& work) {
  if (A.n == 0) return {};
  constexpr int rows = 4;
  const std::int64_t blocks = ceil_div<std::int64_t>(A.n, rows);
  launch(dev, "widen", {blocks_of(A.padded), threads}, widen<T>, x, x_lo, A.n, A.padded, work.wide.data());
  launch(dev, "residual_rows", {blocks, threads}, residual_rows<T, rows>, A.data, A.n, A.padded, A.ld, b,
         static_cast<const double*>(work.wide.data()), x_lo != nullptr, results, work.partial.data());
  return merge_on_gpu(dev, work.partial, blocks);
}

template <real T>
void magnitude_sums(const device& dev, const aligned_rows<T>& A, const double* v, bool across, double* sums) {
  if (A.n == 0) return;
  array<double> weights(dev, v != nullptr ? A.n : 0), parts;
  if (v != nullptr)
    copy_bytes(weights.data(), dev, v, device::cpu(1), static_cast<std::size_t>(A.n) * sizeof(double));
  const double* const given = v != nullptr ? weights.data() : nullptr;
  if (across) {
    const std::int64_t slabs = ceil_div(A.n, slab), tiles = blocks_of(A.n);
    parts = array<double>(dev, slabs * A.n);
    launch(dev, "column_magnitudes", {slabs * tiles, threads}, column_magnitudes<T>, A.data, A.n, A.ld, given,
           tiles, parts.data());
    launch(dev, "column_sums", {tiles, threads}, column_sums, static_cast<const double*>(parts.data()), A.n,
           slabs, sums);
  } else {
    launch(dev, "row_magnitudes", {A.n, threads}, row_magnitudes<T>, A.data, A.n, A.padded, A.ld, given, sums);
  }
}

template <real T>
array<T> diagonal_of(const device& dev, const aligned_rows<T>& A) {
  array<T> diagonal(dev, A.padded);
  launch(dev, "take_diagonal", {blocks_of(A.padded), threads}, take_diagonal<T>, A.data, A.padded, A.ld,
         diagonal.data());
  return diagonal;
}

#define VOUCH_INSTANTIATE(T)                                                                                 \
  template aligned_rows<T> align_rows(const device&, const square_matrix<T>&);                               \
  template residual_norms residual_pass(const device&, const aligned_rows<T>&, const T*, const T*, const T*, \
                                        const row_results<T>&, pass_workspace&);                             \
  template void magnitude_sums(const device&, const aligned_rows<T>&, const double*, bool, double*);         \
  template array<T> diagonal_of(const device&, const aligned_rows<T>&);
VOUCH_INSTANTIATE(float)
VOUCH_INSTANTIATE(double)
#undef VOUCH_INSTANTIATE

}  // namespace vouch::detail
