// vouch/dense/gemm/tile_avx512.hpp -- the register tile of all matrix products, and the packing that feeds it;
// private.
//
// Sign splitting: x+ = max(x, 0) and x- = min(x, 0). With a point a times an interval b
//   lo = a+ bl + a- bh        hi = a+ bh + a- bl
// and with two intervals, of which b does not hold 0 inside,
//   lo = x+ bl + x- bh        hi = y+ bh + y- bl        (x, y) = (al, ah) for b >= 0, (ah, al) for b <= 0
// where one term of each is 0. If b does hold 0 inside, lo is the smaller of ah bl and al bh, hi the larger of
// al bl and ah bh. Each term is one fused multiply-add rounded down (lo) or up (hi) on the running sum, and
// terms that are 0 change nothing: the bits are those of a chain of detail::multiply_add, the sign of a zero
// apart. Operands must be finite. A sum may overflow: towards its own infinity, where it stays.
#pragma once
#include <algorithm>
#include <bit>
#include <cstdint>
#include <type_traits>

#include <vouch/dense/blas/pieces_avx512.hpp>
#include <vouch/dense/gemm/strided.hpp>

#if VOUCH_HAS_AVX512
namespace vouch::avx512 {

/// What packing saw.
struct contents {
  bool finite = true;
  bool straddles = false;  // an interval with 0 inside
};

/// One product of a part of a with a part of b.
struct term {
  int a;
  int b;
};

// How a and b are split into parts and which products of parts add up.
template <scalar R, scalar A, scalar B>
struct product_form {  // a point times a point
  static constexpr int parts_a = 1, parts_b = 1, terms = 1;
  static constexpr term low[] = {{0, 0}};
  static constexpr term high[] = {{0, 0}};
};
template <real T>
struct product_form<interval<T>, T, interval<T>> {
  static constexpr int parts_a = 2, parts_b = 2, terms = 2;
  static constexpr term low[] = {{0, 0}, {1, 1}};
  static constexpr term high[] = {{0, 1}, {1, 0}};
};
template <real T>
struct product_form<interval<T>, interval<T>, T> {
  static constexpr int parts_a = 2, parts_b = 2, terms = 2;
  static constexpr term low[] = {{0, 0}, {1, 1}};
  static constexpr term high[] = {{1, 0}, {0, 1}};
};
template <real T>
struct product_form<interval<T>, interval<T>, interval<T>> {  // see tile::add_intervals
  static constexpr int parts_a = 4, parts_b = 3;
};

/// Rows of a tile: two registers.
template <real T>
inline constexpr int tile_rows = 2 * vec<T>::width;

/// Where the tile finds x of the sign splitting in a panel of a: from al+ on, or from ah+ on; -1 for neither.
template <real T>
using parts_offset = std::conditional_t<sizeof(T) == 8, std::int64_t, std::int32_t>;
template <real T>
VOUCH_AVX512_INLINE T offset_for(T low, T high) {
  const parts_offset<T> offset = low >= 0 ? 0 : high <= 0 ? 2 * tile_rows<T> : -1;
  return std::bit_cast<T>(offset);
}

/// The parts of one element: itself; a point's positive and negative part; the bounds; bounds and offset_for();
/// the parts of both bounds.
template <int Parts, scalar X>
VOUCH_AVX512_INLINE void split(X x, bound_of<X>* part, int stride) {
  using T = bound_of<X>;
  const T low = detail::lower(x), high = detail::upper(x);
  if constexpr (Parts == 1) {
    part[0] = low;
  } else if constexpr (Parts == 3 || (Parts == 2 && is_interval<X>)) {
    part[0] = low;
    part[stride] = high;
    if constexpr (Parts == 3) part[2 * stride] = offset_for(low, high);
  } else {
    part[0] = low > 0 ? low : T{};
    part[stride] = low < 0 ? low : T{};
    if constexpr (Parts == 4) {
      part[2 * stride] = high > 0 ? high : T{};
      part[3 * stride] = high < 0 ? high : T{};
    }
  }
}

/// The four parts of a tile's rows of neighbouring intervals; whether all are finite.
template <real T>
VOUCH_AVX512_INLINE bool split_column(const interval<T>* column, T* to) {
  using V = vec<T>;
  bool finite = true;
#pragma GCC unroll 2
  for (int h = 0; h < 2; ++h) {
    const T* from = numbers(column + h * V::width);
    const auto first = V::load(from), second = V::load(from + V::width);
    finite = finite && V::finite(first) && V::finite(second);
    const auto low = V::evens(first, second), high = V::odds(first, second);
    T* part = to + h * V::width;
    V::store(part, V::max(low, V::zero()));
    V::store(part + tile_rows<T>, V::min(low, V::zero()));
    V::store(part + 2 * tile_rows<T>, V::max(high, V::zero()));
    V::store(part + 3 * tile_rows<T>, V::min(high, V::zero()));
  }
  return finite;
}

/// Panels of Width rows; in a panel, for each k, the parts one after the other. Rows that are missing are 0.
/// Numbers that only numbers are made of are not looked at.
template <int Parts, int Width, bool Inspect, scalar X>
VOUCH_AVX512 contents pack(const detail::strided<X>& from, bound_of<X>* to) {
  using T = bound_of<X>;
  bool finite = true, straddles = false;
  for (std::int64_t i0 = 0; i0 < from.rows; i0 += Width) {
    const std::int64_t rows = std::min<std::int64_t>(Width, from.rows - i0);
    for (std::int64_t k = 0; k < from.depth; ++k, to += Parts * Width) {
      const X* column = from.data + i0 * from.across + k * from.along;
      if constexpr (Parts == 1 && !Inspect)
        if (from.across == 1 && rows == Width) {
          std::copy_n(column, Width, to);
          continue;
        }
      if constexpr (Parts == 4)
        if (from.across == 1 && rows == Width) {
          finite &= split_column(column, to);
          continue;
        }
      if (rows < Width) std::fill_n(to, Parts * Width, T{});
      for (std::int64_t i = 0; i < rows; ++i) {
        const X x = column[i * from.across];
        split<Parts>(x, to + i, Width);
        if constexpr (Inspect) finite &= detail::finite(x);
        if constexpr (Parts == 3) straddles |= detail::lower(x) < 0 && detail::upper(x) > 0;
      }
    }
  }
  return {finite, straddles};
}

/// Columns of a tile: 24 registers hold sums.
template <scalar R>
inline constexpr int tile_cols = is_interval<R> ? 6 : 12;

template <scalar R, scalar A, scalar B>
struct tile {
  using T = bound_of<R>;
  using V = vec<T>;
  using reg = typename V::reg;
  using form = product_form<R, A, B>;
  static constexpr int registers = 2;
  static constexpr bool two_intervals = is_interval<A> && is_interval<B>;
  static constexpr int rows = tile_rows<T>;
  static constexpr int cols = tile_cols<R>;

  VOUCH_AVX512_INLINE static void add(const reg (&a)[form::parts_a][registers], const reg (&b)[form::parts_b],
                                      int v, reg& low, reg& high) requires(!two_intervals) {
    if constexpr (!is_interval<R>) {
      low = V::template fma<rounds::nearest>(a[0][v], b[0], low);
    } else {
#pragma GCC unroll 4
      for (int t = 0; t < form::terms; ++t) {
        low = V::template fma<rounds::down>(a[form::low[t].a][v], b[form::low[t].b], low);
        high = V::template fma<rounds::up>(a[form::high[t].a][v], b[form::high[t].b], high);
      }
    }
  }

  /// The rows of a, in parts, times one b.
  template <bool Straddles>
  VOUCH_AVX512_INLINE static void add_intervals(const T* a, const T* b, reg (&low)[registers],
                                                reg (&high)[registers]) {
    const auto bl = V::all(b[0]), bh = V::all(b[cols]);
    const auto offset = std::bit_cast<parts_offset<T>>(b[2 * cols]);
    if (Straddles && offset < 0) {
#pragma GCC unroll 2
      for (int v = 0; v < registers; ++v) {
        const T* p = a + v * V::width;
        // One of al+ and al- is 0, and the other al.
        const auto al = V::template add<rounds::nearest>(V::load(p), V::load(p + rows));
        const auto ah = V::template add<rounds::nearest>(V::load(p + 2 * rows), V::load(p + 3 * rows));
        low[v] = V::min(V::template fma<rounds::down>(ah, bl, low[v]),
                        V::template fma<rounds::down>(al, bh, low[v]));
        high[v] =
            V::max(V::template fma<rounds::up>(al, bl, high[v]), V::template fma<rounds::up>(ah, bh, high[v]));
      }
      return;
    }
    const T* x = a + offset;
    const T* y = a + (2 * rows - offset);
#pragma GCC unroll 2
    for (int v = 0; v < registers; ++v) {
      low[v] = V::template fma<rounds::down>(V::load(x + v * V::width), bl, low[v]);
      high[v] = V::template fma<rounds::up>(V::load(y + v * V::width), bh, high[v]);
      low[v] = V::template fma<rounds::down>(V::load(x + rows + v * V::width), bh, low[v]);
      high[v] = V::template fma<rounds::up>(V::load(y + rows + v * V::width), bl, high[v]);
    }
  }

  /// One step of k for the whole tile.
  template <bool Straddles>
  VOUCH_AVX512_INLINE static void add_step(const T* a, const T* b, reg (&low)[cols][registers],
                                           reg (&high)[cols][registers]) {
    if constexpr (two_intervals) {
#pragma GCC unroll 12
      for (int j = 0; j < cols; ++j) add_intervals<Straddles>(a, b + j, low[j], high[j]);
    } else {
      reg left[form::parts_a][registers];
#pragma GCC unroll 4
      for (int p = 0; p < form::parts_a; ++p)
#pragma GCC unroll 4
        for (int v = 0; v < registers; ++v) left[p][v] = V::load(a + p * rows + v * V::width);
#pragma GCC unroll 12
      for (int j = 0; j < cols; ++j) {
        reg right[form::parts_b];
#pragma GCC unroll 4
        for (int p = 0; p < form::parts_b; ++p) right[p] = V::all(b[p * cols + j]);
#pragma GCC unroll 4
        for (int v = 0; v < registers; ++v) add(left, right, v, low[j][v], high[j][v]);
      }
    }
  }

  VOUCH_AVX512_INLINE static void load(const R* w, reg& low, reg& high) {
    const T* p = numbers(w);
    if constexpr (is_interval<R>) {
      const reg first = V::load(p), second = V::load(p + V::width);
      low = V::evens(first, second);
      high = V::odds(first, second);
    } else {
      low = V::load(p);
    }
  }
  VOUCH_AVX512_INLINE static void store(R* w, reg low, reg high) {
    T* p = numbers(w);
    if constexpr (is_interval<R>) {
      V::store(p, V::lower_pairs(low, high));
      V::store(p + V::width, V::upper_pairs(low, high));
    } else {
      V::store(p, low);
    }
  }

  /// w := w + a b for one panel of a and one of b, w column after column with leading dimension ld.
  template <bool Straddles>
  VOUCH_AVX512 static void multiply(std::int64_t depth, const T* a, const T* b, R* w, std::int64_t ld) {
    reg low[cols][registers], high[cols][registers];
#pragma GCC unroll 12
    for (int j = 0; j < cols; ++j)
#pragma GCC unroll 4
      for (int v = 0; v < registers; ++v) load(w + j * ld + v * V::width, low[j][v], high[j][v]);
    for (std::int64_t k = 0; k < depth; ++k) {
      add_step<Straddles>(a, b, low, high);
      a += form::parts_a * rows;
      b += form::parts_b * cols;
    }
#pragma GCC unroll 12
    for (int j = 0; j < cols; ++j)
#pragma GCC unroll 4
      for (int v = 0; v < registers; ++v) store(w + j * ld + v * V::width, low[j][v], high[j][v]);
  }
};

}  // namespace vouch::avx512
#endif
