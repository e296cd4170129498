// vouch/dense/square_bodies.hpp -- products with a square dense matrix at the speed of memory, its entries kept
// as numbers S, sums in numbers T; private.
//
// By rows, four rows are read side by side and share the loads of d; by columns, a tile of rows stays in the
// first-level cache while four columns at a time go by. load_as(lanes of T, const S*) is found beside S.
#pragma once
#include <algorithm>
#include <cstdint>

#include <vouch/core/simd.hpp>

namespace vouch::detail::square_bodies {

template <real T>
VOUCH_SIMD_INLINE void load_as(lanes<T>& v, const T* from) {
  load<T>(v, from);
}

inline constexpr std::int64_t panel = 128;  // columns summed apart
inline constexpr std::int64_t tile = 1024;  // rows whose sums stay in cache

// Inner products of Rows rows with d. Two vectors of lanes a row; what is left over goes to a sum of its own.
template <class S, real T, int Rows>
VOUCH_SIMD_INLINE void dot_rows(const S* a, std::int64_t ld, const T* d, std::int64_t n, T* result) {
  constexpr std::int64_t width = simd<T>::width;
  lanes<T> even[Rows]{}, odd[Rows]{};
  std::int64_t j = 0;
  for (; j + 2 * width <= n; j += 2 * width) {
    lanes<T> d0, d1;
    load<T>(d0, d + j);
    load<T>(d1, d + j + width);
    for (int k = 0; k < Rows; ++k) {
      lanes<T> a0, a1;
      load_as(a0, a + k * ld + j);
      load_as(a1, a + k * ld + j + width);
      even[k] += a0 * d0;
      odd[k] += a1 * d1;
    }
  }
  for (int k = 0; k < Rows; ++k) {
    double rest = 0;
    for (std::int64_t l = j; l < n; ++l) rest += static_cast<double>(static_cast<T>(a[k * ld + l]) * d[l]);
    even[k] += odd[k];
    result[k] = static_cast<T>(total<T>(even[k]) + rest);
  }
}

// s -= A d for these rows and n columns from a.
template <class S, real T>
VOUCH_SIMD_INLINE void rows_body(const S* a, std::int64_t ld, std::int64_t n, const T* d, T* s,
                                 std::int64_t first, std::int64_t last) {
  T sums[4];
  std::int64_t i = first;
  for (; i + 4 <= last; i += 4) {
    dot_rows<S, T, 4>(a + i * ld, ld, d, n, sums);
    for (int k = 0; k < 4; ++k) s[i + k] -= sums[k];
  }
  for (; i < last; ++i) {
    dot_rows<S, T, 1>(a + i * ld, ld, d, n, sums);
    s[i] -= sums[0];
  }
}

// s -= A d for `rows` (at most a tile) rows and `count` columns from a.
template <class S, real T>
VOUCH_SIMD_INLINE void panel_body(const S* a, std::int64_t ld, std::int64_t count, const T* d, T* s,
                                  std::int64_t rows) {
  T sum[tile];
  std::fill(sum, sum + rows, T{});
  std::int64_t j = 0;
  for (; j + 4 <= count; j += 4) {
    const S *a0 = a + j * ld, *a1 = a0 + ld, *a2 = a1 + ld, *a3 = a2 + ld;
    const T d0 = d[j], d1 = d[j + 1], d2 = d[j + 2], d3 = d[j + 3];
#pragma omp simd
    for (std::int64_t i = 0; i < rows; ++i)
      sum[i] = ((sum[i] + static_cast<T>(a0[i]) * d0) + static_cast<T>(a1[i]) * d1) +
               (static_cast<T>(a2[i]) * d2 + static_cast<T>(a3[i]) * d3);
  }
  for (; j < count; ++j) {
    const S* a0 = a + j * ld;
    const T d0 = d[j];
#pragma omp simd
    for (std::int64_t i = 0; i < rows; ++i) sum[i] += static_cast<T>(a0[i]) * d0;
  }
#pragma omp simd
  for (std::int64_t i = 0; i < rows; ++i) s[i] -= sum[i];
}

}  // namespace vouch::detail::square_bodies
