#include <cuda_bf16.h>
#include <cuda_fp8.h>
#include <cuda_runtime.h>

#include <vouch/core/launch.cuh>
#include <vouch/solve/rounded_rows.hpp>

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

}  // namespace vouch
