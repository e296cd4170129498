// vouch/core/gpu/cluster.cuh -- distributed shared memory: blocks of a cluster write into each other's (compute
// capability 9.0); private.
#pragma once
#include <cuda_runtime.h>

#include <cstdint>

#include <vouch/core/gpu/mbarrier.cuh>

namespace vouch {

/// The address in the cluster's block `rank` of what stands at `shared` in this block.
__device__ inline unsigned cluster_address(const void* shared, unsigned rank) {
  unsigned to;
  asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(to) : "r"(shared_address(shared)), "r"(rank));
  return to;
}

/// Stores into another block's shared memory, counted in bytes on that block's mbarrier.
__device__ inline void cluster_store_async(unsigned to, double value, unsigned arrival) {
  asm volatile("st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.f64 [%0], %1, [%2];" ::"r"(to),
               "d"(value), "r"(arrival)
               : "memory");
}
__device__ inline void cluster_store_async(unsigned to, float value, unsigned arrival) {
  asm volatile("st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.f32 [%0], %1, [%2];" ::"r"(to),
               "f"(value), "r"(arrival)
               : "memory");
}

/// 16 bytes at once, aligned to 16.
__device__ inline void cluster_store_async(unsigned to, const float (&value)[4], unsigned arrival) {
  asm volatile(
      "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.v4.f32 [%0], {%1, %2, %3, %4}, [%5];" ::"r"(
          to),
      "f"(value[0]), "f"(value[1]), "f"(value[2]), "f"(value[3]), "r"(arrival)
      : "memory");
}
__device__ inline void cluster_store_async(unsigned to, const double (&value)[2], unsigned arrival) {
  asm volatile(
      "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.v2.f64 [%0], {%1, %2}, [%3];" ::"r"(to),
      "d"(value[0]), "d"(value[1]), "r"(arrival)
      : "memory");
}

/// A barrier of all threads of the cluster.
__device__ inline void cluster_barrier() {
  asm volatile("barrier.cluster.arrive.release.aligned; barrier.cluster.wait.acquire.aligned;" ::: "memory");
}

}  // namespace vouch
