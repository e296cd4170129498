#include <cuda_bf16.h>
#include <cuda_fp8.h>
#include <cuda_runtime.h>

#include <limits>

#include <vouch/core/array.hpp>
#include <vouch/core/launch.cuh>
#include <vouch/solve/stationary/dense_engines.hpp>

namespace vouch {
namespace {

constexpr unsigned block = 256;

template <class S>
constexpr bool has_scale = sizeof(S) == 1;

// The largest power of two by which 448, the largest number of 8 bits, reaches `largest`, times two at most.
__device__ double scale_of(double largest) {
  if (largest == 0) return 1;
  int exponent;
  const double fraction = frexp(largest, &exponent);  // in [1/2, 1)
  return ldexp(1.0, exponent - (fraction <= 0.875 ? 9 : 8));
}

__device__ double largest_of_block(double v) {
  __shared__ double part[block / 32];
  for (int d = 16; d > 0; d /= 2) v = fmax(v, __shfl_xor_sync(~0u, v, d));
  if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = v;
  __syncthreads();
  for (const double p : part) v = fmax(v, p);
  return v;
}

// A block a row, its entries in turn. Bound by memory.
template <class S>
__global__ void __launch_bounds__(block)
    round_row(const double* __restrict__ a, std::int64_t n, std::int64_t ld, S* __restrict__ values,
              std::int64_t padded, float* __restrict__ scales, float* __restrict__ diagonal) {
  const std::int64_t i = blockIdx.x;
  const double* const row = a + i * ld;
  double scale = 1;
  if (has_scale<S> && i < n) {
    double largest = 0;
    for (std::int64_t j = threadIdx.x; j < n; j += block)
      if (j != i) largest = fmax(largest, fabs(row[j]));
    scale = scale_of(largest_of_block(largest));
  }
  const double up = 1 / scale;
  for (std::int64_t j = threadIdx.x; j < padded; j += block)
    values[i * padded + j] = S(i < n && j < n && j != i ? static_cast<float>(row[j] * up) : 0.0F);
  if (threadIdx.x != 0) return;
  scales[i] = static_cast<float>(scale);
  diagonal[i] = i < n ? static_cast<float>(row[i]) : 1.0F;
}

}  // namespace

template <class S>
rounded_rows<S> round_rows(const device& dev, const detail::aligned_rows<double>& A) {
  constexpr auto whole = static_cast<std::int64_t>(16 / sizeof(S));
  const std::int64_t padded = ceil_div(A.n, whole) * whole;
  rounded_rows<S> rounded{array<S>(dev, padded * padded), array<float>(dev, padded), array<float>(dev, padded),
                          A.n, padded};
  launch(dev, "round_row", {padded, block}, round_row<S>, A.data, A.n, A.ld, rounded.values.data(), padded,
         rounded.scale.data(), rounded.diagonal.data());
  return rounded;
}

template rounded_rows<__nv_bfloat16> round_rows(const device&, const detail::aligned_rows<double>&);
template rounded_rows<__nv_fp8_e4m3> round_rows(const device&, const detail::aligned_rows<double>&);

namespace {

constexpr int threads = 1024;

// The larger quotient, of equal ones the first row's; the first row that is refused.
__device__ void merge(row_dominance& mine, const row_dominance& other) {
  if (other.ratio > mine.ratio || (other.ratio == mine.ratio && other.row < mine.row)) {
    mine.ratio = other.ratio;
    mine.row = other.row;
  }
  if (other.refused < 0 || (mine.refused >= 0 && mine.refused < other.refused)) return;
  mine.refused = other.refused;
  mine.diagonal = other.diagonal;
  mine.others = other.others;
}

// One block, a thread every 1024th row.
template <class T>
__global__ void __launch_bounds__(threads)
    judge_rows(std::int64_t n, const T* __restrict__ diagonal, const double* __restrict__ sums, double scale,
               double least, double largest, double unit_roundoff, row_dominance* __restrict__ result) {
  __shared__ alignas(row_dominance) unsigned char raw[threads * sizeof(row_dominance)];
  auto* const all = reinterpret_cast<row_dominance*>(raw);
  row_dominance mine;
  mine.row = n;
  for (std::int64_t i = threadIdx.x; i < n; i += threads) {
    const double d = fabs(static_cast<double>(diagonal[i])),
                 others = __dadd_rn(__dmul_rn(sums[i], scale), least);
    row_dominance row;
    row.row = i;
    if (is_divisor(d, others, largest, unit_roundoff)) {
      row.ratio = __ddiv_ru(others, d);
    } else {
      row.refused = i;
      row.diagonal = d;
      row.others = others;
    }
    merge(mine, row);
  }
  all[threadIdx.x] = mine;
  for (int half = threads / 2; half > 0; half /= 2) {
    __syncthreads();
    if (static_cast<int>(threadIdx.x) < half) merge(all[threadIdx.x], all[threadIdx.x + half]);
  }
  if (threadIdx.x == 0) *result = all[0];
}

template <class T>
__global__ void __launch_bounds__(threads)
    largest_of_quotients(std::int64_t n, const double* __restrict__ a, const T* __restrict__ diagonal,
                         double* __restrict__ result) {
  __shared__ double all[threads];
  double largest = 0;
  for (std::int64_t i = threadIdx.x; i < n; i += threads) {
    const double quotient = __ddiv_ru(a[i], fabs(static_cast<double>(diagonal[i])));
    if (!(quotient <= largest)) largest = quotient == quotient ? quotient : 1.0 / 0.0;
  }
  all[threadIdx.x] = largest;
  for (int half = threads / 2; half > 0; half /= 2) {
    __syncthreads();
    if (static_cast<int>(threadIdx.x) < half)
      all[threadIdx.x] = fmax(all[threadIdx.x], all[threadIdx.x + half]);
  }
  if (threadIdx.x == 0) *result = all[0];
}

template <class Number>
Number fetch(const device& dev, const array<Number>& from) {
  Number value;
  copy_bytes(&value, device::cpu(1), from.data(), dev, sizeof value);
  return value;
}

}  // namespace

template <real T>
row_dominance dominance_of_rows(const device& dev, std::int64_t n, const T* diagonal, const double* sums,
                                double scale, double least) {
  if (n == 0) return {};
  array<row_dominance> result(dev, 1);
  launch(dev, "judge_rows", {1, threads}, judge_rows<T>, n, diagonal, sums, scale, least,
         static_cast<double>(std::numeric_limits<T>::max()),
         static_cast<double>(std::numeric_limits<T>::epsilon() / 2), result.data());
  return fetch(dev, result);
}

template <real T>
double largest_quotient(const device& dev, std::int64_t n, const double* a, const T* diagonal) {
  if (n == 0) return 0;
  array<double> result(dev, 1);
  launch(dev, "largest_of_quotients", {1, threads}, largest_of_quotients<T>, n, a, diagonal, result.data());
  return fetch(dev, result);
}

template row_dominance dominance_of_rows(const device&, std::int64_t, const float*, const double*, double,
                                         double);
template row_dominance dominance_of_rows(const device&, std::int64_t, const double*, const double*, double,
                                         double);
template double largest_quotient(const device&, std::int64_t, const double*, const float*);
template double largest_quotient(const device&, std::int64_t, const double*, const double*);

}  // namespace vouch
