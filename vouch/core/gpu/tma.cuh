// vouch/core/gpu/tma.cuh -- bulk copies by the tensor memory accelerator. On compute capability 8.x the calling thread
// copies 16 bytes after 16 bytes instead, and there are no tensor maps; private.
#pragma once
#include <cuda.h>

#include <cstdint>

#include <vouch/core/gpu/async_copy.cuh>
#include <vouch/core/gpu/mbarrier.cuh>

namespace vouch {

/// Orders what this thread has read and written in shared memory before what bulk copies then write and read there.
__device__ inline void fence_proxy_async() {
  if constexpr (compiled_for_sm90)
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  else
    __threadfence_block();
}

/// Also what it has written in global memory.
__device__ inline void fence_proxy_async_global() {
  if constexpr (compiled_for_sm90)
    asm volatile("fence.proxy.async;" ::: "memory");
  else
    __threadfence();
}

/// From global to shared memory, addresses and bytes multiples of 16; counted in bytes on the barrier, on which the
/// thread then arrives (mbarrier_arrive_expect_tx).
__device__ inline void bulk_load(void* to, const void* from, unsigned bytes, std::uint64_t* arrival) {
  if constexpr (compiled_for_sm90)
    asm volatile(
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(
            shared_address(to)),
        "l"(from), "r"(bytes), "r"(shared_address(arrival))
        : "memory");
  else
    for (unsigned at = 0; at < bytes; at += 16)
      copy_line_to_shared(static_cast<char*>(to) + at, static_cast<const char*>(from) + at);
}

/// The same with an L2 cache policy (l2_policy.cuh).
__device__ inline void bulk_load(void* to, const void* from, unsigned bytes, std::uint64_t* arrival,
                                 std::uint64_t policy) {
  if constexpr (compiled_for_sm90)
    asm volatile(
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.L2::cache_hint [%0], [%1], %2, "
        "[%3], "
        "%4;" ::"r"(shared_address(to)),
        "l"(from), "r"(bytes), "r"(shared_address(arrival)), "l"(policy)
        : "memory");
  else
    bulk_load(to, from, bytes, arrival);
}

/// The box of a tensor map at this column and row to shared memory, counted as a bulk_load().
__device__ inline void tensor_load(void* to, const CUtensorMap* map, int column, int row,
                                   std::uint64_t* arrival) {
  if constexpr (compiled_for_sm90)
    asm volatile(
        "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], "
        "[%4];" ::"r"(shared_address(to)),
        "l"(map), "r"(column), "r"(row), "r"(shared_address(arrival))
        : "memory");
  else
    __trap();
}

/// From shared to global memory, addresses and bytes multiples of 16; joins the group that this thread ends with
/// bulk_commit_group().
__device__ inline void bulk_store(void* to, const void* from, unsigned bytes) {
  if constexpr (compiled_for_sm90)
    asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(to),
                 "r"(shared_address(from)), "r"(bytes)
                 : "memory");
  else
    for (unsigned k = 0; k < bytes / 16; ++k) static_cast<uint4*>(to)[k] = static_cast<const uint4*>(from)[k];
}
__device__ inline void tensor_store(const CUtensorMap* map, int column, int row, const void* from) {
  if constexpr (compiled_for_sm90)
    asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%0, {%1, %2}], [%3];" ::"l"(map),
                 "r"(column), "r"(row), "r"(shared_address(from))
                 : "memory");
  else
    __trap();
}
__device__ inline void bulk_commit_group() {
  if constexpr (compiled_for_sm90) asm volatile("cp.async.bulk.commit_group;" ::: "memory");
}

/// Waits until all committed stores of this thread have read their shared memory, which may then be written again.
__device__ inline void bulk_wait_group_read() {
  if constexpr (compiled_for_sm90) asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory");
}

}  // namespace vouch
