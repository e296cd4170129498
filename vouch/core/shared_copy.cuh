// vouch/core/shared_copy.cuh -- copies to shared memory that do not wait; private.
#pragma once
#include <cuda_runtime.h>

#include <cstdint>

#include <vouch/core/arrival.cuh>

namespace vouch {

/// What the second-level cache brings at once: the sectors asked for, or their whole line.
enum class brought { sectors, line };

/// An element, in parts of its alignment: 4, 8 or 16 bytes.
template <brought What = brought::sectors, class E>
__device__ inline void copy_to_shared(E* to, const E* from) {
  constexpr int part = alignof(E);
  static_assert(part == 4 || part == 8 || part == 16);
#pragma unroll
  for (int at = 0; at < static_cast<int>(sizeof(E)); at += part) {
    const unsigned target = shared_address(to) + at;
    const char* const source = reinterpret_cast<const char*>(from) + at;
    if constexpr (What == brought::line)
      asm volatile("cp.async.ca.shared.global.L2::128B [%0], [%1], %2;" ::"r"(target), "l"(source), "n"(part)
                   : "memory");
    else
      asm volatile("cp.async.ca.shared.global [%0], [%1], %2;" ::"r"(target), "l"(source), "n"(part)
                   : "memory");
  }
}

/// The same; L2 brings the pair of cache lines and treats it by a policy (see l2_policy.cuh).
template <class E>
__device__ inline void copy_to_shared(E* to, const E* from, std::uint64_t policy) {
  constexpr int part = alignof(E);
  static_assert(part == 4 || part == 8 || part == 16);
#pragma unroll
  for (int at = 0; at < static_cast<int>(sizeof(E)); at += part)
    asm volatile(
        "cp.async.ca.shared.global.L2::cache_hint.L2::256B [%0], [%1], %2, %3;" ::"r"(shared_address(to) + at),
        "l"(reinterpret_cast<const char*>(from) + at), "n"(part), "l"(policy)
        : "memory");
}

/// A number; zero, and nothing read, where it is not present.
template <class T>
__device__ inline void copy_to_shared_or_clear(T* to, const T* from, bool present) {
  static_assert(sizeof(T) == 4 || sizeof(T) == 8);
  asm volatile("cp.async.ca.shared.global [%0], [%1], %2, %3;" ::"r"(shared_address(to)), "l"(from),
               "n"(sizeof(T)), "r"(present ? static_cast<int>(sizeof(T)) : 0)
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
