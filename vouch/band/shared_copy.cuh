// vouch/band/shared_copy.cuh -- lines of numbers in shared memory; private.
#pragma once
#include <cstdint>

#include <vouch/core/gpu/async_copy.cuh>

namespace vouch::detail {

/// Numbers in the 16 bytes that copy_line_to_shared() takes, and whether p can begin them.
template <class T>
constexpr int line_size = 16 / static_cast<int>(sizeof(T));

template <class T>
__device__ inline bool begins_a_line(const T* p) {
  return reinterpret_cast<std::uintptr_t>(p) % 16 == 0;
}

/// The block's dynamic shared memory.
__device__ inline unsigned char* dynamic_shared() {
  extern __shared__ __align__(16) unsigned char bytes[];
  return bytes;
}

}  // namespace vouch::detail
