// vouch/core/cluster.cuh -- how the blocks of a cluster write into each other's shared memory; private.
#pragma once
#include <cuda_runtime.h>

#include <cstdint>

#include <vouch/core/arrival.cuh>

namespace vouch {

/// Where something of this block's shared memory stands in that of the cluster's block `rank`.
__device__ inline unsigned cluster_address(const void* shared, unsigned rank) {
  unsigned to;
  asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(to) : "r"(shared_address(shared)), "r"(rank));
  return to;
}

/// Stores into another block's shared memory and counts the bytes on that block's arrival barrier.
__device__ inline void send_cluster(unsigned to, double value, unsigned arrival) {
  asm volatile("st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.f64 [%0], %1, [%2];" ::"r"(to),
               "d"(value), "r"(arrival)
               : "memory");
}
__device__ inline void send_cluster(unsigned to, float value, unsigned arrival) {
  asm volatile("st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.f32 [%0], %1, [%2];" ::"r"(to),
               "f"(value), "r"(arrival)
               : "memory");
}

/// 16 bytes at once; the place begins on 16.
__device__ inline void send_cluster(unsigned to, const float (&value)[4], unsigned arrival) {
  asm volatile(
      "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.v4.f32 [%0], {%1, %2, %3, %4}, [%5];" ::"r"(
          to),
      "f"(value[0]), "f"(value[1]), "f"(value[2]), "f"(value[3]), "r"(arrival)
      : "memory");
}
__device__ inline void send_cluster(unsigned to, const double (&value)[2], unsigned arrival) {
  asm volatile(
      "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.v2.f64 [%0], {%1, %2}, [%3];" ::"r"(to),
      "d"(value[0]), "d"(value[1]), "r"(arrival)
      : "memory");
}

/// Where all threads of all blocks of the cluster meet.
__device__ inline void cluster_barrier() {
  asm volatile("barrier.cluster.arrive.release.aligned; barrier.cluster.wait.acquire.aligned;" ::: "memory");
}

}  // namespace vouch
