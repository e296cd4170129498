// vouch/band/cpu/sweep.hpp -- elimination down and substitution up, for a vector of systems; private.
#pragma once
#include <vouch/band/cpu/lanes.hpp>

namespace vouch::detail {

/// Facts of the lanes.
template <class V>
struct sweep_facts {
  V largest{};                                                  // of the coefficients of eliminated rows
  V smallest = V{} + std::numeric_limits<scalar_of<V>>::max();  // of the pivots' magnitudes
  V doubt{};                                                    // NaN once an x is not finite

  VOUCH_SIMD_INLINE void see_pivot(const V& pivot) {
    const V size = magnitude(pivot);
    smallest = smaller(size, smallest);
    largest = larger(largest, size);
  }
  VOUCH_SIMD_INLINE void see_solution(const V& x) { doubt += x - x; }
};

/// Elimination without interchanges: row i becomes x_i + up_i x_{i+1} = rhs_i.
template <class V>
struct thomas_sweep {
  using T = scalar_of<V>;
  static constexpr int stored = 2;  // numbers kept a row
  V up{}, rhs{};

  VOUCH_SIMD_INLINE void down(const row_tile<V>& tile, std::int64_t i, T* kept, sweep_facts<V>& facts) {
    const V a = row_of<V>(tile.a, i);
    const V pivot = row_of<V>(tile.d, i) - a * up;
    const V inverse = T{1} / pivot;
    up = row_of<V>(tile.c, i) * inverse;
    rhs = (row_of<V>(tile.f, i) - a * rhs) * inverse;
    facts.see_pivot(pivot);
    set_row<V>(kept, 0, up);
    set_row<V>(kept, 1, rhs);
  }
  VOUCH_SIMD_INLINE static V back(const T* kept, const V& x1, const V&) {
    return row_of<V>(kept, 1) - row_of<V>(kept, 0) * x1;
  }
};

/// The same with the larger of two rows as pivot, both scaled to the same size: row i of the result reads
/// p x_i + q x_{i+1} + r x_{i+2} = f. What is carried is the row that has not been a pivot yet.
template <class V>
struct pivoted_sweep {
  using T = scalar_of<V>;
  static constexpr int stored = 4;
  V p{}, q{}, f{};  // the carried row

  VOUCH_SIMD_INLINE void take_row(const row_tile<V>& tile, std::int64_t i, V& a, V& d, V& c, V& rhs) const {
    a = row_of<V>(tile.a, i);
    d = row_of<V>(tile.d, i);
    c = row_of<V>(tile.c, i);
    const V power = balancing_power(a, d, c);
    a *= power;
    d *= power;
    c *= power;
    rhs = row_of<V>(tile.f, i) * power;
  }
  VOUCH_SIMD_INLINE void begin(const row_tile<V>& tile) {
    V none;
    take_row(tile, 0, none, p, q, f);
  }
  // Eliminates the unknown before row i, with row i and the carried one; keeps the pivot row for it.
  VOUCH_SIMD_INLINE void down(const row_tile<V>& tile, std::int64_t i, T* kept, sweep_facts<V>& facts) {
    V a, d, c, rhs;
    take_row(tile, i, a, d, c, rhs);
    const auto swap = magnitude(a) > magnitude(p);
    const V zero{};
    const V pivot = swap ? a : p, next = swap ? d : q, after = swap ? c : zero, pivot_rhs = swap ? rhs : f;
    const V inverse = T{1} / pivot;
    const V factor = (swap ? p : a) * inverse;
    p = (swap ? q : d) - factor * next;
    q = (swap ? zero : c) - factor * after;
    f = (swap ? f : rhs) - factor * pivot_rhs;
    facts.see_pivot(pivot);
    facts.largest = larger(facts.largest, larger(magnitude(p), magnitude(q)));
    keep(kept, inverse, next, after, pivot_rhs);
  }
  // The last unknown has the carried row alone.
  VOUCH_SIMD_INLINE void finish(T* kept, sweep_facts<V>& facts) const {
    facts.see_pivot(p);
    keep(kept, T{1} / p, V{}, V{}, f);
  }
  VOUCH_SIMD_INLINE static V back(const T* kept, const V& x1, const V& x2) {
    return (row_of<V>(kept, 3) - row_of<V>(kept, 1) * x1 - row_of<V>(kept, 2) * x2) * row_of<V>(kept, 0);
  }

 private:
  VOUCH_SIMD_INLINE static void keep(T* kept, const V& inverse, const V& next, const V& after, const V& rhs) {
    set_row<V>(kept, 0, inverse);
    set_row<V>(kept, 1, next);
    set_row<V>(kept, 2, after);
    set_row<V>(kept, 3, rhs);
  }
};

/// Substitution from row rows - 1 down to row 0 of what is kept, into x, a tile at a time.
template <class V, class Sweep>
VOUCH_SIMD_INLINE void substitute(const scalar_of<V>* kept, std::int64_t rows, V x1, V x2,
                                  std::int64_t first_row, const lane_segments<width_of<V>>& at, scalar_of<V>* x,
                                  sweep_facts<V>& facts) {
  using T = scalar_of<V>;
  constexpr int width = width_of<V>;
  alignas(64) T tile[tile_rows * width];
  for (std::int64_t end = rows; end > 0;) {
    const std::int64_t begin = (end - 1) / tile_rows * tile_rows;
    for (std::int64_t i = end - 1; i >= begin; --i) {
      const V now = Sweep::back(kept + i * Sweep::stored * width, x1, x2);
      facts.see_solution(now);
      set_row<V>(tile, i - begin, now);
      x2 = x1;
      x1 = now;
    }
    unpack<T, width>(tile, at.solution, at.solution_stride, {}, at.rows, first_row + begin, end - begin, x);
    end = begin;
  }
}

}  // namespace vouch::detail
