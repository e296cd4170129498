// vouch/solve/krylov/chunk.cuh -- vectors 16 bytes at a time; private.
#pragma once
#include <cstdint>

namespace vouch::passes {

/// 16 bytes of a vector.
template <class T>
struct alignas(16) chunk {
  static constexpr int width = 16 / sizeof(T);
  T v[width];
};

/// Elements k * width and those behind it of n, filled up with zeros; whole: all are there, on a 16-byte boundary.
template <class T>
__device__ chunk<T> load_chunk(const T* from, std::int64_t k, std::int64_t n, bool whole) {
  constexpr int width = chunk<T>::width;
  if (whole) return reinterpret_cast<const chunk<T>*>(from)[k];
  chunk<T> part{};
#pragma unroll
  for (int e = 0; e < width; ++e)
    if (k * width + e < n) part.v[e] = from[k * width + e];
  return part;
}

template <class T>
__device__ void store_chunk(T* to, std::int64_t k, std::int64_t n, bool whole, const chunk<T>& c) {
  constexpr int width = chunk<T>::width;
  if (whole) {
    reinterpret_cast<chunk<T>*>(to)[k] = c;
    return;
  }
#pragma unroll
  for (int e = 0; e < width; ++e)
    if (k * width + e < n) to[k * width + e] = c.v[e];
}

}  // namespace vouch::passes
