// vouch/dense/tile_avx512.hpp -- the register tile of all matrix products, and the packing that feeds it;
// private.
//
// Sign splitting: with x+ = max(x, 0) and x- = min(x, 0) the bounds of a product of intervals are
//   lo = al+ bl+ + ah+ bl- + al- bh+ + ah- bh-        hi = ah+ bh+ + al+ bh- + ah- bl+ + al- bl-
// where at most one term of each is not 0 unless a and b both hold 0 inside. In that case the two mixed terms
// of lo (both <= 0) and the two pure ones of hi (both >= 0) stand for alternatives: the smaller, the larger
// counts. Each term is one fused multiply-add rounded down (lo) or up (hi) on the running sum, and terms that
// are 0 change nothing: the bits are those of a chain of detail::multiply_add, the sign of a zero apart.
// Operands must be finite. A sum may overflow: towards its own infinity, where it stays.
#pragma once
#include <algorithm>
#include <cstdint>

#include <vouch/dense/pieces_avx512.hpp>
#include <vouch/dense/strided.hpp>

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

// How a and b are split into parts and which products of parts add up. The first `sums` terms of low and high
// always count; of the other two the extreme one, where intervals straddle 0.
template <scalar R, scalar A, scalar B>
struct product_form {  // a point times a point
  static constexpr int parts_a = 1, parts_b = 1, terms = 1, sums = 1;
  static constexpr term low[] = {{0, 0}};
  static constexpr term high[] = {{0, 0}};
};
template <real T>
struct product_form<interval<T>, T, interval<T>> {
  static constexpr int parts_a = 2, parts_b = 2, terms = 2, sums = 2;
  static constexpr term low[] = {{0, 0}, {1, 1}};
  static constexpr term high[] = {{0, 1}, {1, 0}};
};
template <real T>
struct product_form<interval<T>, interval<T>, T> {
  static constexpr int parts_a = 2, parts_b = 2, terms = 2, sums = 2;
  static constexpr term low[] = {{0, 0}, {1, 1}};
  static constexpr term high[] = {{1, 0}, {0, 1}};
};
template <real T>
struct product_form<interval<T>, interval<T>, interval<T>> {
  static constexpr int parts_a = 4, parts_b = 4, terms = 4, sums = 2;
  static constexpr term low[] = {{0, 0}, {3, 3}, {2, 1}, {1, 2}};
  static constexpr term high[] = {{0, 3}, {3, 0}, {2, 2}, {1, 1}};
};

/// The parts of one element: itself; a point's positive and negative part; the bounds; those parts of both.
template <int Parts, scalar X>
VOUCH_AVX512_INLINE void split(X x, bound_of<X>* part, int stride) {
  using T = bound_of<X>;
  if constexpr (Parts == 1) {
    part[0] = detail::lower(x);
  } else if constexpr (Parts == 2 && is_interval<X>) {
    part[0] = detail::lower(x);
    part[stride] = detail::upper(x);
  } else {
    const T low = detail::lower(x), high = detail::upper(x);
    part[0] = low > 0 ? low : T{};
    part[stride] = low < 0 ? low : T{};
    if constexpr (Parts == 4) {
      part[2 * stride] = high > 0 ? high : T{};
      part[3 * stride] = high < 0 ? high : T{};
    }
  }
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
      if (rows < Width) std::fill_n(to, Parts * Width, T{});
      for (std::int64_t i = 0; i < rows; ++i) {
        const X x = column[i * from.across];
        split<Parts>(x, to + i, Width);
        if constexpr (Inspect) finite &= detail::finite(x);
        if constexpr (is_interval<X>) straddles |= detail::lower(x) < 0 && detail::upper(x) > 0;
      }
    }
  }
  return {finite, straddles};
}

/// Columns of a tile: 24 registers hold sums, 16 for two intervals, whose factors take 8.
template <scalar R, int Parts>
inline constexpr int tile_cols = !is_interval<R> ? 12
                                 : Parts == 4    ? 4
                                                 : 6;

template <scalar R, scalar A, scalar B>
struct tile {
  using T = bound_of<R>;
  using V = vec<T>;
  using reg = typename V::reg;
  using form = product_form<R, A, B>;
  static constexpr int registers = 2;
  static constexpr int rows = registers * V::width;
  static constexpr int cols = tile_cols<R, form::parts_a>;

  template <bool Straddles>
  VOUCH_AVX512_INLINE static void add(const reg (&a)[form::parts_a][registers], const reg (&b)[form::parts_b],
                                      int v, reg& low, reg& high) {
    if constexpr (!is_interval<R>) {
      low = V::template fma<rounds::nearest>(a[0][v], b[0], low);
      return;
    }
    constexpr int plain = Straddles ? form::sums : form::terms;
#pragma GCC unroll 4
    for (int t = 0; t < plain; ++t) {
      low = V::template fma<rounds::down>(a[form::low[t].a][v], b[form::low[t].b], low);
      high = V::template fma<rounds::up>(a[form::high[t].a][v], b[form::high[t].b], high);
    }
    if constexpr (plain < form::terms) {
      constexpr term l0 = form::low[plain], l1 = form::low[plain + 1];
      constexpr term h0 = form::high[plain], h1 = form::high[plain + 1];
      low = V::min(V::template fma<rounds::down>(a[l0.a][v], b[l0.b], low),
                   V::template fma<rounds::down>(a[l1.a][v], b[l1.b], low));
      high = V::max(V::template fma<rounds::up>(a[h0.a][v], b[h0.b], high),
                    V::template fma<rounds::up>(a[h1.a][v], b[h1.b], high));
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
        for (int v = 0; v < registers; ++v) add<Straddles>(left, right, v, low[j][v], high[j][v]);
      }
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
