// vouch/core/gpu/cluster.cuh -- distributed shared memory: blocks of a cluster write into each other's. Code for compute
// capability 8.x has none and traps: host code asks runs_sm90_code() first; private.
#pragma once
#include <cuda_runtime.h>

#include <cstdint>

#include <vouch/core/gpu/mbarrier.cuh>

namespace vouch {

/// The address in the cluster's block `rank` of what stands at `shared` in this block.
__device__ inline unsigned cluster_address(const void* shared, unsigned rank) {
  unsigned to = 0;
  if constexpr (compiled_for_sm90)
    asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(to) : "r"(shared_address(shared)), "r"(rank));
  else
    __trap();
  return to;
}

/// Stores into another block's shared memory, counted in bytes on that block's mbarrier.
__device__ inline void cluster_store_async(unsigned to, double value, unsigned arrival) {
  if constexpr (compiled_for_sm90)
    asm volatile("st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.f64 [%0], %1, [%2];" ::"r"(to),
                 "d"(value), "r"(arrival)
                 : "memory");
}
__device__ inline void cluster_store_async(unsigned to, float value, unsigned arrival) {
  if constexpr (compiled_for_sm90)
    asm volatile("st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.f32 [%0], %1, [%2];" ::"r"(to),
                 "f"(value), "r"(arrival)
                 : "memory");
}

/// 8 or 16 bytes at once, aligned to as many.
__device__ inline void cluster_store_async(unsigned to, const float (&value)[2], unsigned arrival) {
  if constexpr (compiled_for_sm90)
    asm volatile(
        "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.v2.f32 [%0], {%1, %2}, [%3];" ::"r"(to),
        "f"(value[0]), "f"(value[1]), "r"(arrival)
        : "memory");
}
__device__ inline void cluster_store_async(unsigned to, const float (&value)[4], unsigned arrival) {
  if constexpr (compiled_for_sm90)
    asm volatile(
        "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.v4.f32 [%0], {%1, %2, %3, %4}, [%5];" ::"r"(
            to),
        "f"(value[0]), "f"(value[1]), "f"(value[2]), "f"(value[3]), "r"(arrival)
        : "memory");
}
__device__ inline void cluster_store_async(unsigned to, const double (&value)[2], unsigned arrival) {
  if constexpr (compiled_for_sm90)
    asm volatile(
        "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.v2.f64 [%0], {%1, %2}, [%3];" ::"r"(to),
        "d"(value[0]), "d"(value[1]), "r"(arrival)
        : "memory");
}

/// A barrier of all threads of the cluster: its two halves, and both.
__device__ inline void cluster_arrive() {
  if constexpr (compiled_for_sm90) asm volatile("barrier.cluster.arrive.release.aligned;" ::: "memory");
}
__device__ inline void cluster_wait() {
  if constexpr (compiled_for_sm90) asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory");
}
__device__ inline void cluster_barrier() {
  cluster_arrive();
  cluster_wait();
}

/// As mbarrier_try_wait(), where other blocks of the cluster write.
__device__ inline bool mbarrier_try_wait_cluster(std::uint64_t* barrier, unsigned parity) {
  unsigned done = 1;
  if constexpr (compiled_for_sm90)
    asm volatile(
        "{ .reg .pred p; mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 p, [%1], %2; selp.u32 %0, 1, "
        "0, p; }"
        : "=r"(done)
        : "r"(shared_address(barrier)), "r"(parity)
        : "memory");
  return done != 0;
}

/// As mbarrier_wait(), where other blocks of the cluster write.
__device__ inline void mbarrier_wait_cluster(std::uint64_t* barrier, unsigned parity) {
  while (!mbarrier_try_wait_cluster(barrier, parity)) {
  }
}

}  // namespace vouch
