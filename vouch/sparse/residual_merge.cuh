// vouch/sparse/residual_merge.cuh -- adds up the norms of a residual, in a fixed order; private.
#pragma once
#include <cuda_runtime.h>

#include <vouch/core/array.hpp>
#include <vouch/core/launch.cuh>
#include <vouch/sparse/residual_row.hpp>

namespace vouch::detail {

inline constexpr int merge_threads = 256;

/// The norms of all threads of a block of merge_threads by a fixed tree; thread 0 returns the whole.
__device__ inline residual_norms merge_block(const residual_norms& mine) {
  __shared__ alignas(residual_norms) unsigned char raw[merge_threads * sizeof(residual_norms)];
  auto* all = reinterpret_cast<residual_norms*>(raw);
  all[threadIdx.x] = mine;
  __syncthreads();
  for (unsigned half = merge_threads / 2; half > 0; half /= 2) {
    if (threadIdx.x < half) all[threadIdx.x].merge(all[threadIdx.x + half]);
    __syncthreads();
  }
  return all[0];
}

// One block: thread t takes t, t + 256, ... in order, then the fixed tree.
static __global__ void __launch_bounds__(merge_threads)
    merge_norms(const residual_norms* partial, std::int64_t count, residual_norms* result) {
  residual_norms mine;
  for (std::int64_t k = threadIdx.x; k < count; k += merge_threads) mine.merge(partial[k]);
  const residual_norms whole = merge_block(mine);
  if (threadIdx.x == 0) *result = whole;
}

/// The sum of the first `count` elements of partial, which has one more; waits for the GPU.
inline residual_norms merge_on_gpu(const device& dev, array<residual_norms>& partial, std::int64_t count) {
  launch(dev, "merge_norms", {1, merge_threads}, merge_norms,
         static_cast<const residual_norms*>(partial.data()), count, partial.data() + count);
  residual_norms result;
  copy_bytes(&result, device::cpu(1), partial.data() + count, dev, sizeof result);
  return result;
}

}  // namespace vouch::detail
