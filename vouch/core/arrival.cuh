// vouch/core/arrival.cuh -- barriers in shared memory on which threads arrive and copies count their bytes;
// private.
#pragma once
#include <cstdint>

namespace vouch {

__device__ inline unsigned shared_address(const void* p) {
  return static_cast<unsigned>(__cvta_generic_to_shared(p));
}

/// A phase ends when `arrivals` arrivals, and all bytes that were announced in it, have come. One thread makes
/// the barrier, before a barrier of the whole block.
__device__ inline void arrival_init(std::uint64_t* barrier, unsigned arrivals) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(shared_address(barrier)), "r"(arrivals)
               : "memory");
}

__device__ inline void arrive(std::uint64_t* barrier) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(shared_address(barrier)) : "memory");
}

/// Arrives, and announces so many bytes for the phase.
__device__ inline void arrive_expecting(std::uint64_t* barrier, unsigned bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(shared_address(barrier)),
               "r"(bytes)
               : "memory");
}

/// After arrival_init(): the copy engine sees the barriers, too.
__device__ inline void arrival_init_fence() {
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}

/// The copy engine brings bytes from global into shared memory and counts them on the barrier; all addresses
/// and the count are multiples of 16.
__device__ inline void bulk_copy(void* to, const void* from, unsigned bytes, std::uint64_t* arrival) {
  asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(
                   shared_address(to)),
               "l"(from), "r"(bytes), "r"(shared_address(arrival))
               : "memory");
}

/// The same; L2 treats what is read by a policy (see l2_policy.cuh).
__device__ inline void bulk_copy(void* to, const void* from, unsigned bytes, std::uint64_t* arrival,
                                 std::uint64_t policy) {
  asm volatile(
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.L2::cache_hint [%0], [%1], %2, [%3], "
      "%4;" ::"r"(shared_address(to)),
      "l"(from), "r"(bytes), "r"(shared_address(arrival)), "l"(policy)
      : "memory");
}

/// A barrier of `count` threads of the block, whole warps, that know it by this number (1 to 15).
__device__ inline void group_barrier(int number, int count) {
  asm volatile("bar.sync %0, %1;" ::"r"(number), "r"(count) : "memory");
}

/// Waits a while for the end of the phase of this parity (0 for the first): what those who arrived had written
/// is there. Whether it has come.
__device__ inline bool try_await(std::uint64_t* barrier, unsigned parity) {
  unsigned done;
  asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; }"
               : "=r"(done)
               : "r"(shared_address(barrier)), "r"(parity)
               : "memory");
  return done != 0;
}
__device__ inline void await(std::uint64_t* barrier, unsigned parity) {
  while (!try_await(barrier, parity)) {
  }
}

/// Whether the phase of this parity has ended; does not wait.
__device__ inline bool has_ended(std::uint64_t* barrier, unsigned parity) {
  unsigned done;
  asm volatile("{ .reg .pred p; mbarrier.test_wait.parity.shared::cta.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; }"
               : "=r"(done)
               : "r"(shared_address(barrier)), "r"(parity)
               : "memory");
  return done != 0;
}

/// Waits a while for the end of the phase of this parity, where other blocks of the cluster write; whether it
/// has come.
__device__ inline bool try_await_cluster(std::uint64_t* barrier, unsigned parity) {
  unsigned done;
  asm volatile(
      "{ .reg .pred p; mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 p, [%1], %2; selp.u32 %0, 1, "
      "0, p; }"
      : "=r"(done)
      : "r"(shared_address(barrier)), "r"(parity)
      : "memory");
  return done != 0;
}

/// await() where other blocks of the cluster write.
__device__ inline void await_cluster(std::uint64_t* barrier, unsigned parity) {
  while (!try_await_cluster(barrier, parity)) {
  }
}

}  // namespace vouch
