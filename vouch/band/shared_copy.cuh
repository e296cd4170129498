// vouch/band/shared_copy.cuh -- copies to shared memory that do not wait; private.
#pragma once
#include <cstdint>

#include <vouch/core/arrival.cuh>

namespace vouch::detail {

/// One number of 4 or 8 bytes, aligned to its size.
template <class T>
__device__ inline void copy_to_shared(T* to, const T* from) {
  static_assert(sizeof(T) == 4 || sizeof(T) == 8);
  asm volatile("cp.async.ca.shared.global [%0], [%1], %2;" ::"r"(shared_address(to)), "l"(from), "n"(sizeof(T))
               : "memory");
}

/// 16 bytes, aligned to as many on either side; past the first-level cache.
template <class T>
__device__ inline void copy_line_to_shared(T* to, const T* from) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(shared_address(to)), "l"(from) : "memory");
}
template <class T>
constexpr int line_size = 16 / static_cast<int>(sizeof(T));

template <class T>
__device__ inline bool begins_a_line(const T* p) {
  return reinterpret_cast<std::uintptr_t>(p) % 16 == 0;
}

/// Waits for the copies of this thread; a barrier makes them known to others.
__device__ inline void await_copies_to_shared() { asm volatile("cp.async.wait_all;" ::: "memory"); }

/// The block's dynamic shared memory.
__device__ inline unsigned char* dynamic_shared() {
  extern __shared__ __align__(16) unsigned char bytes[];
  return bytes;
}

}  // namespace vouch::detail
