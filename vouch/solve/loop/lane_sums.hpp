// vouch/solve/loop/lane_sums.hpp -- inner products on the CPU, lane by lane; private.
#pragma once
#include <cstdint>
#include <cstring>

#include <vouch/core/simd.hpp>
#include <vouch/core/types.hpp>

namespace vouch {

template <real T>
VOUCH_SIMD_INLINE void exchange_parts(lanes<T>& v) {
  if constexpr (sizeof(T) == 8)
    v = __builtin_shufflevector(v, v, 1, 0, 3, 2, 5, 4, 7, 6);
  else
    v = __builtin_shufflevector(v, v, 1, 0, 3, 2, 5, 4, 7, 6, 9, 8, 11, 10, 13, 12, 15, 14);
}

// add(x) for as many elements of each of Count vectors as there are lanes at a time, the rest filled up with zeros.
template <real T, int Count, class Add>
VOUCH_SIMD_INLINE void lane_by_lane(const T* const (&from)[Count], std::int64_t n, const Add& add) {
  constexpr int width = simd<T>::width;
  const std::int64_t whole = n / width * width;
  lanes<T> x[Count];
  for (std::int64_t i = 0; i < whole; i += width) {
    for (int k = 0; k < Count; ++k) load<T>(x[k], from[k] + i);
    add(x);
  }
  if (whole < n) {
    T rest[width] = {};
    for (int k = 0; k < Count; ++k) {
      std::memcpy(rest, from[k] + whole, static_cast<std::size_t>(n - whole) * sizeof(T));
      load<T>(x[k], rest);
    }
    add(x);
  }
}

/// sum += u v
template <real T>
VOUCH_SIMD_INLINE void add_products(const T* u, const T* v, std::int64_t n, lanes<T>& sum) {
  lane_by_lane<T>(
      {u, v}, n, [&](const lanes<T>(&x)[2]) __attribute__((always_inline)) { sum += x[0] * x[1]; });
}

/// sum += u times the other part of v: of the imaginary part of u* v what the even lanes have less the odd ones.
template <real T>
VOUCH_SIMD_INLINE void add_crossed_products(const T* u, const T* v, std::int64_t n, lanes<T>& sum) {
  lane_by_lane<T>(
      {u, v}, n, [&](lanes<T>(&x)[2]) __attribute__((always_inline)) {
        exchange_parts<T>(x[1]);
        sum += x[0] * x[1];
      });
}

template <real T>
VOUCH_SIMD_INLINE double alternating_total(const lanes<T>& v) {
  double sum = 0;
  for (int l = 0; l < simd<T>::width; l += 2) sum += static_cast<double>(v[l]) - static_cast<double>(v[l + 1]);
  return sum;
}

}  // namespace vouch
