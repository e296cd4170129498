// vouch/core/copy_engine.cuh -- boxes and stores by the copy engine; bulk_copy() is in arrival.cuh; private.
#pragma once
#include <cuda.h>

#include <cstdint>

#include <vouch/core/arrival.cuh>

namespace vouch {

/// What this thread has read and written in shared memory comes before what the copy engine writes and reads.
__device__ inline void fence_for_copy_engine() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }

/// The box of a map at this column and row into shared memory; its bytes are counted on the barrier.
__device__ inline void box_copy(void* to, const CUtensorMap* map, int column, int row, std::uint64_t* arrival) {
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], "
      "[%4];" ::"r"(shared_address(to)),
      "l"(map), "r"(column), "r"(row), "r"(shared_address(arrival))
      : "memory");
}

/// From shared memory to global memory, addresses and bytes multiples of 16; of the group that this thread ends
/// with commit_stores().
__device__ inline void bulk_store(void* to, const void* from, unsigned bytes) {
  asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(to),
               "r"(shared_address(from)), "r"(bytes)
               : "memory");
}
__device__ inline void box_store(const CUtensorMap* map, int column, int row, const void* from) {
  asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%0, {%1, %2}], [%3];" ::"l"(map),
               "r"(column), "r"(row), "r"(shared_address(from))
               : "memory");
}
__device__ inline void commit_stores() { asm volatile("cp.async.bulk.commit_group;" ::: "memory"); }

/// The shared memory of this thread's stores may be written again.
__device__ inline void await_reads_of_stores() {
  asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory");
}

}  // namespace vouch
