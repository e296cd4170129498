// vouch/core/gpu/async_copy.cuh -- asynchronous copies of elements to shared memory (cp.async, compute capability
// 8.0); private.
#pragma once
#include <cuda_runtime.h>

#include <cstdint>

#include <vouch/core/gpu/mbarrier.cuh>

namespace vouch {

/// What L2 fetches: the sectors asked for, or their whole line.
enum class l2_fetch { sectors, line };

/// An element, in parts of its alignment: 4, 8 or 16 bytes.
template <l2_fetch What = l2_fetch::sectors, class E>
__device__ inline void copy_to_shared(E* to, const E* from) {
  constexpr int part = alignof(E);
  static_assert(part == 4 || part == 8 || part == 16);
#pragma unroll
  for (int at = 0; at < static_cast<int>(sizeof(E)); at += part) {
    const unsigned target = shared_address(to) + at;
    const char* const source = reinterpret_cast<const char*>(from) + at;
    if constexpr (What == l2_fetch::line)
      asm volatile("cp.async.ca.shared.global.L2::128B [%0], [%1], %2;" ::"r"(target), "l"(source), "n"(part)
                   : "memory");
    else
      asm volatile("cp.async.ca.shared.global [%0], [%1], %2;" ::"r"(target), "l"(source), "n"(part)
                   : "memory");
  }
}

/// The same with an L2 cache policy (l2_policy.cuh); L2 fetches the pair of cache lines.
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

/// Waits for the copies of this thread; a barrier makes them visible to others.
__device__ inline void wait_copies_to_shared() { asm volatile("cp.async.wait_all;" ::: "memory"); }

}  // namespace vouch
