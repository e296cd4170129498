// vouch/dense/blas/lanes.cuh -- sums over the lanes of summation.hpp by neighbouring threads; private.
#pragma once
#include <vouch/dense/blas/summation.hpp>
#include <vouch/dense/scalar.hpp>

namespace vouch::detail {

template <class R>
__device__ R from_lane(R value, int delta, int width) {
  if constexpr (is_interval<R>)
    return R::unchecked(__shfl_down_sync(~0u, value.lo(), delta, width),
                        __shfl_down_sync(~0u, value.hi(), delta, width));
  else
    return __shfl_down_sync(~0u, value, delta, width);
}

/// The pairwise sum of lane_count<R> neighbouring threads' values, in the first of them. For all threads of a
/// block of Block threads.
template <unsigned Block, class R>
__device__ R sum_of_lanes(R sum) {
  constexpr int lanes = lane_count<R>, groups = static_cast<int>(Block) / lanes;
  const int lane = static_cast<int>(threadIdx.x) % lanes;
  // Only sums of 64 lanes are wider than a warp.
  if constexpr (lanes > 32) {
    __shared__ R upper_half[groups][lanes / 2];
    const int mine = static_cast<int>(threadIdx.x) / lanes;
    if (lane >= 32) upper_half[mine][lane - 32] = sum;
    __syncthreads();
    if (lane < 32) sum = sum + upper_half[mine][lane];
  }
  for (int half = (lanes < 32 ? lanes : 32) / 2; half > 0; half /= 2) {
    const R other = from_lane(sum, half, lanes < 32 ? lanes : 32);
    if (lane < half) sum = sum + other;
  }
  return sum;
}

}  // namespace vouch::detail
