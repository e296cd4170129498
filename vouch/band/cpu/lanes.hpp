// vouch/band/cpu/lanes.hpp -- several systems, or segments of one, side by side in the lanes of a vector;
// private.
//
// A sweep along a tridiagonal system is a chain of dependent operations; side by side, as many chains as a
// vector has lanes run in the time of one. Rows come in tiles of tile_rows: packed, worked on in cache,
// unpacked.
#pragma once
#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>
#include <utility>

#include <vouch/band/tridiagonal.hpp>
#include <vouch/core/simd.hpp>

// Functions compiled for those instruction sets that pay by 3 % or more (measured on an EPYC with 512-bit
// units). Of vectors all gain from AVX-512, up to 20 times; sweeps that only add and multiply run slower by
// AVX2, whose compiler takes 64 bytes apart in memory, than by SSE2; those that pivot, 1.03 to 2.3 times as
// fast. Of single numbers, only those that pivot gain, from AVX2.
#if defined(__x86_64__) && !defined(VOUCH_SANITIZED)
#define VOUCH_CLONES(...) __attribute__((target_clones(__VA_ARGS__)))
#else
#define VOUCH_CLONES(...)
#endif
#define VOUCH_ARITHMETIC_CLONES VOUCH_CLONES("avx512f", "default")
#define VOUCH_SCALAR_PIVOTING_CLONES VOUCH_CLONES("avx2", "default")

namespace vouch::detail {

constexpr std::int64_t tile_rows = 64;

/// V is T itself (one lane) or lanes<T>.
template <class V>
struct lane_facts;
template <real T>
struct lane_facts<T> {
  using scalar = T;
  static constexpr int width = 1;
};
template <>
struct lane_facts<lanes<float>> {
  using scalar = float;
  static constexpr int width = simd<float>::width;
};
template <>
struct lane_facts<lanes<double>> {
  using scalar = double;
  static constexpr int width = simd<double>::width;
};
template <class V>
using scalar_of = typename lane_facts<V>::scalar;
template <class V>
constexpr int width_of = lane_facts<V>::width;

template <class V>
VOUCH_SIMD_INLINE V row_of(const scalar_of<V>* tile, std::int64_t row) {
  V v;
  std::memcpy(&v, tile + row * width_of<V>, sizeof v);
  return v;
}

template <class V>
VOUCH_SIMD_INLINE void set_row(scalar_of<V>* tile, std::int64_t row, const V& v) {
  std::memcpy(tile + row * width_of<V>, &v, sizeof v);
}

template <class V>
VOUCH_SIMD_INLINE V magnitude(const V& v) {
  return v < 0 ? -v : v;
}
template <class V>
VOUCH_SIMD_INLINE V larger(const V& a, const V& b) {
  return a > b ? a : b;
}
template <class V>
VOUCH_SIMD_INLINE V smaller(const V& a, const V& b) {
  return a < b ? a : b;
}

/// The power of two that scales the largest of three magnitudes to [1, 2), lane by lane; subnormal and huge
/// numbers come nearer to it as far as a power of two reaches. Multiplying by it is exact but for underflow.
template <class V>
VOUCH_SIMD_INLINE V balancing_power(const V& a, const V& b, const V& c) {
  using T = scalar_of<V>;
  using bits = std::conditional_t<sizeof(T) == 8, std::int64_t, std::int32_t>;
  constexpr int fraction = std::numeric_limits<T>::digits - 1;
  constexpr bits bias = std::numeric_limits<T>::max_exponent - 1;
  const V largest = larger(larger(magnitude(a), magnitude(b)), magnitude(c));
  V result;
  bits field[width_of<V>];
  std::memcpy(field, &largest, sizeof largest);
  for (int l = 0; l < width_of<V>; ++l) {
    const bits exponent = std::min<bits>(std::max<bits>(field[l] >> fraction, 1), 2 * bias - 1);
    field[l] = (2 * bias - exponent) << fraction;
  }
  std::memcpy(&result, field, sizeof result);
  return result;
}

/// Up to as many segments of systems as a vector has lanes. Lanes without a segment have no rows.
template <int Width>
struct lane_segments {
  std::array<std::int64_t, Width> matrix{};    // where the first row lies in dl, d, du
  std::array<std::int64_t, Width> rhs{};       // in b
  std::array<std::int64_t, Width> solution{};  // and in x
  std::array<std::int64_t, Width> rows{};
  std::array<bool, Width> begins{};  // the first row is the first of its system: dl is not used there
  std::array<bool, Width> ends{};    // likewise the last row and du
  std::int64_t matrix_stride = 1, rhs_stride = 1, solution_stride = 1;
  std::int64_t length = 0;  // of the longest
};

// Swaps the blocks of Step rows and Step columns that lie off the diagonal, between rows i and i + Step.
template <std::size_t Step, class V, std::size_t... Lane>
VOUCH_SIMD_INLINE void swap_blocks(V& low, V& high, std::index_sequence<Lane...>) {
  constexpr std::size_t width = sizeof...(Lane);
  const V a = low, b = high;
  low = __builtin_shufflevector(a, b, ((Lane & Step) == 0 ? Lane : width + Lane - Step)...);
  high = __builtin_shufflevector(a, b, ((Lane & Step) == 0 ? Lane + Step : width + Lane)...);
}

template <std::size_t Step, class V, std::size_t Width>
VOUCH_SIMD_INLINE void transpose_square(V (&v)[Width]) {
  for (std::size_t i = 0; i < Width; ++i)
    if ((i & Step) == 0) swap_blocks<Step>(v[i], v[i + Step], std::make_index_sequence<Width>());
  if constexpr (Step > 1) transpose_square<Step / 2>(v);
}

/// A square of numbers, as many as a vector has lanes each way, transposed from rows of one place to another's.
template <real T, class From, class To>
VOUCH_SIMD_INLINE void transpose_into(const From& row_of_source, const To& row_of_target) {
  constexpr std::size_t width = simd<T>::width;
  lanes<T> v[width];
  for (std::size_t i = 0; i < width; ++i) std::memcpy(&v[i], row_of_source(i), sizeof v[i]);
  transpose_square<width / 2>(v);
  for (std::size_t i = 0; i < width; ++i) std::memcpy(row_of_target(i), &v[i], sizeof v[i]);
}

/// How the rows of lanes lie in memory.
enum class lane_layout { adjacent, contiguous, other };

/// Where all lanes have rows first to last - 1: adjacent if the lanes of a row are neighbours, contiguous if
/// the rows of a lane are.
template <int Width>
VOUCH_SIMD_INLINE lane_layout layout_of(const std::array<std::int64_t, Width>& origin, std::int64_t stride,
                                        const std::array<std::int64_t, Width>& from,
                                        const std::array<std::int64_t, Width>& to, std::int64_t first,
                                        std::int64_t last) {
  bool whole = Width > 1, adjacent = true;
  for (int l = 0; l < Width; ++l) {
    whole = whole && from[l] <= first && to[l] >= last;
    adjacent = adjacent && origin[l] == origin[0] + l;
  }
  if (!whole) return lane_layout::other;
  return adjacent ? lane_layout::adjacent : stride == 1 ? lane_layout::contiguous : lane_layout::other;
}

/// Rows first to first + count - 1 of one array, for every lane; fill where a lane has ended.
template <real T, int Width>
VOUCH_SIMD_INLINE void pack(const T* from, const std::array<std::int64_t, Width>& origin, std::int64_t stride,
                            const std::array<std::int64_t, Width>& rows, std::int64_t first, std::int64_t count,
                            T fill, T* tile) {
  constexpr std::array<std::int64_t, Width> start{};
  const lane_layout layout = layout_of<Width>(origin, stride, start, rows, first, first + count);
  if (layout == lane_layout::adjacent) {
    for (std::int64_t i = 0; i < count; ++i)
      std::memcpy(tile + i * Width, from + origin[0] + (first + i) * stride, Width * sizeof(T));
    return;
  }
  std::int64_t done = 0;
  if constexpr (Width > 1)
    for (; layout == lane_layout::contiguous && done + Width <= count; done += Width)
      transpose_into<T>([&](std::size_t l) { return from + origin[l] + first + done; },
                        [&](std::size_t i) { return tile + (done + static_cast<std::int64_t>(i)) * Width; });
  for (int l = 0; l < Width; ++l) {
    const T* lane = from + origin[l] + first * stride;
    const std::int64_t present = std::clamp<std::int64_t>(rows[l] - first, 0, count);
    for (std::int64_t i = done; i < present; ++i) tile[i * Width + l] = lane[i * stride];
    for (std::int64_t i = std::max(done, present); i < count; ++i) tile[i * Width + l] = fill;
  }
}

/// The way back, for the rows keep_from ... keep_to - 1 of each lane.
template <real T, int Width>
VOUCH_SIMD_INLINE void unpack(const T* tile, const std::array<std::int64_t, Width>& origin, std::int64_t stride,
                              const std::array<std::int64_t, Width>& keep_from,
                              const std::array<std::int64_t, Width>& keep_to, std::int64_t first,
                              std::int64_t count, T* to) {
  const lane_layout layout = layout_of<Width>(origin, stride, keep_from, keep_to, first, first + count);
  if (layout == lane_layout::adjacent) {
    for (std::int64_t i = 0; i < count; ++i)
      std::memcpy(to + origin[0] + (first + i) * stride, tile + i * Width, Width * sizeof(T));
    return;
  }
  std::int64_t done = 0;
  if constexpr (Width > 1)
    for (; layout == lane_layout::contiguous && done + Width <= count; done += Width)
      transpose_into<T>([&](std::size_t i) { return tile + (done + static_cast<std::int64_t>(i)) * Width; },
                        [&](std::size_t l) { return to + origin[l] + first + done; });
  for (int l = 0; l < Width; ++l) {
    T* lane = to + origin[l] + first * stride;
    const std::int64_t begin = std::max(done, std::clamp<std::int64_t>(keep_from[l] - first, 0, count));
    const std::int64_t end = std::clamp<std::int64_t>(keep_to[l] - first, 0, count);
    for (std::int64_t i = begin; i < end; ++i) lane[i * stride] = tile[i * Width + l];
  }
}

/// One tile of a system: dl, d, du, b.
template <class V>
struct row_tile {
  using T = scalar_of<V>;
  static constexpr int width = width_of<V>;
  alignas(64) T a[tile_rows * width];
  alignas(64) T d[tile_rows * width];
  alignas(64) T c[tile_rows * width];
  alignas(64) T f[tile_rows * width];

  /// Rows first to first + count - 1 of the segments; behind a segment's end the rows are those of the
  /// identity.
  VOUCH_SIMD_INLINE void load(const tridiagonal_view<const T>& A, const T* b, const lane_segments<width>& at,
                              std::int64_t first, std::int64_t count) {
    pack<T, width>(A.dl, at.matrix, at.matrix_stride, at.rows, first, count, T{0}, a);
    pack<T, width>(A.d, at.matrix, at.matrix_stride, at.rows, first, count, T{1}, d);
    pack<T, width>(A.du, at.matrix, at.matrix_stride, at.rows, first, count, T{0}, c);
    pack<T, width>(b, at.rhs, at.rhs_stride, at.rows, first, count, T{0}, f);
    for (int l = 0; l < width; ++l) {
      if (first == 0 && at.begins[l]) a[l] = 0;
      const std::int64_t last = at.rows[l] - 1 - first;
      if (at.ends[l] && last >= 0 && last < count) c[last * width + l] = 0;
    }
  }
};

}  // namespace vouch::detail
