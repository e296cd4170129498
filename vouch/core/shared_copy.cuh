// vouch/core/shared_copy.cuh -- copies to shared memory that do not wait; private.
#pragma once
#include <cuda_runtime.h>

#include <cstdint>

#include <vouch/core/arrival.cuh>

namespace vouch {

/// An element, in parts of its alignment: 4, 8 or 16 bytes.
template <class E>
__device__ inline void copy_to_shared(E* to, const E* from) {
  constexpr int part = alignof(E);
  static_assert(part == 4 || part == 8 || part == 16);
#pragma unroll
  for (int at = 0; at < static_cast<int>(sizeof(E)); at += part)
    asm volatile("cp.async.ca.shared.global [%0], [%1], %2;" ::"r"(shared_address(to) + at),
                 "l"(reinterpret_cast<const char*>(from) + at), "n"(part)
                 : "memory");
}

/// 16 bytes, aligned to as many on either side; past the first-level cache.
template <class T>
__device__ inline void copy_line_to_shared(T* to, const T* from) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(shared_address(to)), "l"(from) : "memory");
}

/// Waits for the copies of this thread; a barrier makes them known to others.
__device__ inline void await_copies_to_shared() { asm volatile("cp.async.wait_all;" ::: "memory"); }

/// One of the arrivals that were announced, as soon as this thread's copies so far are there.
__device__ inline void arrive_when_copied(std::uint64_t* barrier) {
  asm volatile("cp.async.mbarrier.arrive.noinc.shared::cta.b64 [%0];" ::"r"(shared_address(barrier))
               : "memory");
}

}  // namespace vouch
