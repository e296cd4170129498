// vouch/solve/krylov/grid_sum.cuh -- sums over all threads of a grid, in fixed order and within one kernel; private.
#pragma once
#include <cuda_runtime.h>

#include <cstdint>

#include <vouch/solve/krylov/sum_room.hpp>

namespace vouch::passes {

inline constexpr unsigned block = 256;

// Sums of Count products over all threads of the grid.
template <int Count>
struct sums {
  double value[Count] = {};
};

template <int Count>
__device__ sums<Count> block_sum(const sums<Count>& mine) {
  __shared__ double warp_sums[Count][block / 32];
  sums<Count> all;
  const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32;
#pragma unroll
  for (int k = 0; k < Count; ++k) {
    double v = mine.value[k];
    for (int d = 16; d > 0; d /= 2) v += __shfl_xor_sync(~0u, v, d);
    if (lane == 0) warp_sums[k][warp] = v;
  }
  __syncthreads();
#pragma unroll
  for (int k = 0; k < Count; ++k)
    for (unsigned w = 0; w < block / 32; ++w) all.value[k] += warp_sums[k][w];
  __syncthreads();
  return all;
}

// Each block leaves its sums in parts; the last block to come adds them in the order of the blocks and one
// thread of it runs then(totals). Which block is last changes from run to run, what it computes does not.
template <int Count, class Then>
__device__ void grid_sum(const sums<Count>& mine, double* parts, unsigned* ticket, Then then) {
  __shared__ bool last;
  const sums<Count> here = block_sum(mine);
  if (threadIdx.x == 0) {
    for (int k = 0; k < Count; ++k) parts[blockIdx.x * Count + k] = here.value[k];
    __threadfence();
    last = atomicInc(ticket, gridDim.x - 1) == gridDim.x - 1;
  }
  __syncthreads();
  if (!last) return;
  __threadfence();
  sums<Count> all;
  for (unsigned b = threadIdx.x; b < gridDim.x; b += block)
    for (int k = 0; k < Count; ++k) all.value[k] += __ldcg(parts + b * Count + k);
  all = block_sum(all);
  if (threadIdx.x == 0) then(all);
}

/// One thread, after what the others of its block wrote and fenced.
__device__ inline void post(const sum_message& message) {
  __threadfence_system();
  *static_cast<volatile std::int64_t*>(message.arrived) = message.number;
}

}  // namespace vouch::passes
