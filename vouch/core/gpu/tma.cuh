// vouch/core/gpu/tma.cuh -- bulk copies by the tensor memory accelerator (compute capability 9.0); private.
#pragma once
#include <cuda.h>

#include <cstdint>

#include <vouch/core/gpu/mbarrier.cuh>

namespace vouch {

/// Orders what this thread has read and written in shared memory before what bulk copies then write and read there.
__device__ inline void fence_proxy_async() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }

/// From global to shared memory, counted in bytes on the barrier; addresses and bytes are multiples of 16.
__device__ inline void bulk_load(void* to, const void* from, unsigned bytes, std::uint64_t* arrival) {
  asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(
                   shared_address(to)),
               "l"(from), "r"(bytes), "r"(shared_address(arrival))
               : "memory");
}

/// The same with an L2 cache policy (l2_policy.cuh).
__device__ inline void bulk_load(void* to, const void* from, unsigned bytes, std::uint64_t* arrival,
                                 std::uint64_t policy) {
  asm volatile(
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.L2::cache_hint [%0], [%1], %2, [%3], "
      "%4;" ::"r"(shared_address(to)),
      "l"(from), "r"(bytes), "r"(shared_address(arrival)), "l"(policy)
      : "memory");
}

/// The box of a tensor map at this column and row to shared memory, counted in bytes on the barrier.
__device__ inline void tensor_load(void* to, const CUtensorMap* map, int column, int row,
                                   std::uint64_t* arrival) {
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], "
      "[%4];" ::"r"(shared_address(to)),
      "l"(map), "r"(column), "r"(row), "r"(shared_address(arrival))
      : "memory");
}

/// From shared to global memory, addresses and bytes multiples of 16; joins the group that this thread ends with
/// bulk_commit_group().
__device__ inline void bulk_store(void* to, const void* from, unsigned bytes) {
  asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(to),
               "r"(shared_address(from)), "r"(bytes)
               : "memory");
}
__device__ inline void tensor_store(const CUtensorMap* map, int column, int row, const void* from) {
  asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%0, {%1, %2}], [%3];" ::"l"(map),
               "r"(column), "r"(row), "r"(shared_address(from))
               : "memory");
}
__device__ inline void bulk_commit_group() { asm volatile("cp.async.bulk.commit_group;" ::: "memory"); }

/// Waits until all committed stores of this thread have read their shared memory, which may then be written again.
__device__ inline void bulk_wait_group_read() { asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory"); }

}  // namespace vouch
