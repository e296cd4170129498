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

// add(u, v) for as many elements as there are lanes at a time, the rest filled up with zeros.
template <real T, class Add>
VOUCH_SIMD_INLINE void lane_by_lane(const T* u, const T* v, std::int64_t n, const Add& add) {
  constexpr int width = simd<T>::width;
  const std::int64_t whole = n / width * width;
  lanes<T> a, b;
  for (std::int64_t i = 0; i < whole; i += width) {
    load<T>(a, u + i);
    load<T>(b, v + i);
    add(a, b);
  }
  if (whole < n) {
    T rest[2][width] = {};
    const auto bytes = static_cast<std::size_t>(n - whole) * sizeof(T);
    std::memcpy(rest[0], u + whole, bytes);
    std::memcpy(rest[1], v + whole, bytes);
    load<T>(a, rest[0]);
    load<T>(b, rest[1]);
    add(a, b);
  }
}

/// sum += u v
template <real T>
VOUCH_SIMD_INLINE void add_products(const T* u, const T* v, std::int64_t n, lanes<T>& sum) {
  lane_by_lane<T>(
      u, v, n, [&](const lanes<T>& a, const lanes<T>& b) __attribute__((always_inline)) { sum += a * b; });
}

/// sum += u times the other part of v: of the imaginary part of u* v what the even lanes have less the odd ones.
template <real T>
VOUCH_SIMD_INLINE void add_crossed_products(const T* u, const T* v, std::int64_t n, lanes<T>& sum) {
  lane_by_lane<T>(
      u, v, n, [&](const lanes<T>& a, lanes<T>& b) __attribute__((always_inline)) {
        exchange_parts<T>(b);
        sum += a * b;
      });
}

template <real T>
VOUCH_SIMD_INLINE double alternating_total(const lanes<T>& v) {
  double sum = 0;
  for (int l = 0; l < simd<T>::width; l += 2) sum += static_cast<double>(v[l]) - static_cast<double>(v[l + 1]);
  return sum;
}

}  // namespace vouch
