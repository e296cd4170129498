// vouch/core/gpu/mbarrier.cuh -- PTX's mbarrier: barriers in shared memory on which threads arrive and asynchronous
// copies count their bytes. On compute capability 8.x a thread's own copies arrive in place of bytes; private.
#pragma once
#include <cstdint>

#include <vouch/core/gpu/generation.hpp>

namespace vouch {

__device__ inline unsigned shared_address(const void* p) {
  return static_cast<unsigned>(__cvta_generic_to_shared(p));
}

/// A phase completes when `arrivals` threads have arrived and all bytes expected in it were transferred. One thread
/// initialises the barrier, before a barrier of the whole block.
__device__ inline void mbarrier_init(std::uint64_t* barrier, unsigned arrivals) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(shared_address(barrier)), "r"(arrivals)
               : "memory");
}

__device__ inline void mbarrier_arrive(std::uint64_t* barrier) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(shared_address(barrier)) : "memory");
}

/// One of the arrivals the barrier was initialised with, once this thread's cp.async copies so far have completed.
__device__ inline void mbarrier_arrive_when_copied(std::uint64_t* barrier) {
  asm volatile("cp.async.mbarrier.arrive.noinc.shared::cta.b64 [%0];" ::"r"(shared_address(barrier))
               : "memory");
}

/// Arrives, and expects so many bytes in this phase. The thread that orders bulk_load()s calls it after them: on
/// compute capability 8.x it is the copies ordered so far that are waited for.
__device__ inline void mbarrier_arrive_expect_tx(std::uint64_t* barrier, unsigned bytes) {
  if constexpr (compiled_for_sm90)
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(shared_address(barrier)),
                 "r"(bytes)
                 : "memory");
  else
    mbarrier_arrive_when_copied(barrier);
}

/// After mbarrier_init(): makes the barriers visible to asynchronous copies, too.
__device__ inline void mbarrier_init_fence() {
  if constexpr (compiled_for_sm90) asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}

/// A named barrier (number 1 to 15) of `count` threads of the block, whole warps.
__device__ inline void named_barrier(int number, int count) {
  asm volatile("bar.sync %0, %1;" ::"r"(number), "r"(count) : "memory");
}

/// Whether the phase of this parity has completed; does not wait.
__device__ inline bool mbarrier_test_wait(std::uint64_t* barrier, unsigned parity) {
  unsigned done;
  asm volatile("{ .reg .pred p; mbarrier.test_wait.parity.shared::cta.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; }"
               : "=r"(done)
               : "r"(shared_address(barrier)), "r"(parity)
               : "memory");
  return done != 0;
}

/// Waits for a limited time for the phase of this parity (0 for the first) to complete; whether it has. Then what
/// the arrived threads had written is visible.
__device__ inline bool mbarrier_try_wait(std::uint64_t* barrier, unsigned parity) {
  if constexpr (compiled_for_sm90) {
    unsigned done;
    asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; }"
                 : "=r"(done)
                 : "r"(shared_address(barrier)), "r"(parity)
                 : "memory");
    return done != 0;
  } else {
    return mbarrier_test_wait(barrier, parity);
  }
}
__device__ inline void mbarrier_wait(std::uint64_t* barrier, unsigned parity) {
  while (!mbarrier_try_wait(barrier, parity)) {
  }
}

}  // namespace vouch
