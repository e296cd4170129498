// vouch/band/reduced_block.hpp -- a run of rows reduced to its boundary unknowns; private.
//
// A segment, rows f to l of a tridiagonal system, touches the unknowns x_{f-1} to x_{l+1}. Its inner
// columns appear in no other row, so they can be eliminated with every row of the segment as a candidate
// for pivot; two rows in x_{f-1}, x_f, x_l, x_{l+1} remain, the reduced block of the segment. Neighbouring
// segments join by eliminating the two unknowns at the separator from their four rows. That is elimination
// with partial pivoting of the whole matrix with its columns in another order, so no regular matrix stops
// it; a ring is closed by x_{-1} = x_{n-1}, x_n = x_0.
//
// Rows are scaled to the same size by powers of two before they compete.
#pragma once
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

#include <vouch/core/types.hpp>

// Inlined always: what is made of vectors must take the instruction set of its caller.
#define VOUCH_REDUCED_BLOCK_INLINE VOUCH_HOST_DEVICE inline __attribute__((always_inline))

namespace vouch::detail {

/// The power of two that scales a magnitude to [1, 2), as far as a power of two reaches.
template <real T>
VOUCH_HOST_DEVICE inline T balancing_power_of(T largest) {
  using bits = std::conditional_t<sizeof(T) == 8, std::int64_t, std::int32_t>;
  constexpr int fraction = std::numeric_limits<T>::digits - 1;
  constexpr bits bias = std::numeric_limits<T>::max_exponent - 1;
  bits exponent = std::bit_cast<bits>(largest) >> fraction;
  exponent = exponent < 1 ? 1 : exponent > 2 * bias - 1 ? 2 * bias - 1 : exponent;
  return std::bit_cast<T>((2 * bias - exponent) << fraction);
}

template <class V>
VOUCH_REDUCED_BLOCK_INLINE V magnitude_of(const V& v) {
#if defined(__CUDA_ARCH__)
  if constexpr (std::is_floating_point_v<V>) return fabs(v);  // costs nothing: a modifier of an operand
#endif
  return v < 0 ? -v : v;
}

template <class V>
VOUCH_REDUCED_BLOCK_INLINE V unit_of() {
  if constexpr (std::is_floating_point_v<V>)
    return V{1};
  else
    return V{} + std::remove_cvref_t<decltype(V{}[0])>{1};
}

/// 1 / v within an ulp. On a GPU without the slow path of a division: NaN where v is 0 or subnormal.
template <real T>
VOUCH_HOST_DEVICE inline T inverse_of(T v) {
#if defined(__CUDA_ARCH__)
  if constexpr (sizeof(T) == sizeof(double)) {
    double guess;  // right to 20 bits
    asm("rcp.approx.ftz.f64 %0, %1;" : "=d"(guess) : "d"(v));
    const double error = fma(-v, guess, 1.0);
    return fma(guess, fma(error, error, error), guess);
  } else {
    float guess;  // right to 23 bits
    asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(guess) : "f"(v));
    return fma(guess, fma(-v, guess, 1.0f), guess);
  }
#else
  return T{1} / v;
#endif
}

/// One balanced row: a x_{i-1} + d x_i + c x_{i+1} = f. V is a number or a vector of them.
template <class V>
struct band_row {
  V a, d, c, f;
};

/// Two rows in x_{f-1}, x_f, x_l, x_{l+1}.
template <class V>
struct reduced_block {
  V left[2], first[2], last[2], right[2], rhs[2];
};

/// The unknowns of a reduced block once they are known.
template <class V>
struct boundary_unknowns {
  V left, first, last, right;
};

template <class Mask, class V>
VOUCH_REDUCED_BLOCK_INLINE void swap_where(const Mask& mask, V& x, V& y) {
  const V old = x;
  x = mask ? y : x;
  y = mask ? old : y;
}

/// The two rows that a segment of one row has: the second says x_f = x_l.
template <class V>
VOUCH_REDUCED_BLOCK_INLINE reduced_block<V> reduced_block_of(const band_row<V>& row) {
  const V zero{}, one = unit_of<V>();
  return {{row.a, zero}, {row.d, one}, {zero, -one}, {row.c, zero}, {row.f, zero}};
}

/// A segment of two rows, in which nothing needs to be eliminated.
template <class V>
VOUCH_REDUCED_BLOCK_INLINE reduced_block<V> reduced_block_of(const band_row<V>& row, const band_row<V>& next) {
  const V zero{};
  return {{row.a, zero}, {row.d, next.a}, {row.c, next.d}, {zero, next.c}, {row.f, next.f}};
}

/// Candidates for the pivot in the column of x_l: 0 is the outer row of the segment, 1 its inner one, 2 the
/// row behind it, which extends rows to the unknowns x_l, x_{l+1}, x_{l+2}; columns[0] is that of x_l. Puts
/// the pivot row in place 1. The outer row yields as a pivot unless it is more than twice as large: were it
/// the pivot again and again, unknowns would follow from those at the begin alone, and entries there would
/// grow without a bound.
template <class V, int Columns>
VOUCH_REDUCED_BLOCK_INLINE void choose_pivot(V (&columns)[Columns][3]) {
  const auto behind = magnitude_of(columns[0][2]) > magnitude_of(columns[0][1]);
  for (int j = 0; j < Columns; ++j) swap_where(behind, columns[j][1], columns[j][2]);
  const auto outer = magnitude_of(columns[0][0]) > magnitude_of(columns[0][1] + columns[0][1]);
  for (int j = 0; j < Columns; ++j) swap_where(outer, columns[j][0], columns[j][1]);
}

/// Appends the row behind the segment: x_l goes.
template <class V>
VOUCH_REDUCED_BLOCK_INLINE void append(reduced_block<V>& at, const band_row<V>& row) {
  const V zero{};
  V columns[6][3] = {
      {at.last[0], at.last[1], row.a}, {at.right[0], at.right[1], row.d}, {zero, zero, row.c},
      {at.rhs[0], at.rhs[1], row.f},   {at.left[0], at.left[1], zero},    {at.first[0], at.first[1], zero}};
  choose_pivot(columns);
  const auto& [p, q, r, f, left, first] = columns;
  const V inverse = unit_of<V>() / p[1];
  for (int k = 0; k < 2; ++k) {
    const V m = p[2 * k] * inverse;
    at.left[k] = left[2 * k] - m * left[1];
    at.first[k] = first[2 * k] - m * first[1];
    at.last[k] = q[2 * k] - m * q[1];
    at.right[k] = r[2 * k] - m * r[1];
    at.rhs[k] = f[2 * k] - m * f[1];
  }
}

/// The same with x_{f-1} and x_f known and moved to the right: what is left to find out are the unknowns
/// between. eliminated: x_l + next x_{l+1} + after x_{l+2} = rhs, the row that x_l went with.
template <class V>
struct known_left {
  V last[2], right[2], rhs[2];
  struct eliminated {
    V next, after, rhs;
  };

  VOUCH_REDUCED_BLOCK_INLINE eliminated append(const band_row<V>& row) {
    const V zero{};
    V columns[4][3] = {
        {last[0], last[1], row.a}, {right[0], right[1], row.d}, {zero, zero, row.c}, {rhs[0], rhs[1], row.f}};
    choose_pivot(columns);
    const auto& [p, q, r, f] = columns;
    const V inverse = unit_of<V>() / p[1];
    for (int k = 0; k < 2; ++k) {
      const V m = p[2 * k] * inverse;
      last[k] = q[2 * k] - m * q[1];
      right[k] = r[2 * k] - m * r[1];
      rhs[k] = f[2 * k] - m * f[1];
    }
    return {q[1] * inverse, r[1] * inverse, f[1] * inverse};
  }
};

/// Rows f and f + 1 of a segment whose x_{f-1} and x_f are known.
template <class V>
VOUCH_REDUCED_BLOCK_INLINE known_left<V> start_known(const band_row<V>& row, const band_row<V>& next,
                                                     const V& left, const V& first) {
  return {{row.c, next.d}, {V{}, next.c}, {row.f - row.a * left - row.d * first, next.f - next.a * first}};
}

/// What joining two segments leaves behind: the unknowns at the separator, x_l of the left segment and x_f
/// of the right one, from those outside, in the order left, first, last, right of the whole.
template <real T>
struct separator_pair {
  T first[5];   // four factors and a right-hand side
  T last[6];    // one more factor, of x_f of the right segment, before them
  bool broken;  // a pivot was zero

  VOUCH_HOST_DEVICE void solve(const boundary_unknowns<T>& outside, boundary_unknowns<T>& before,
                               boundary_unknowns<T>& after) const {
    const T w = first[4] - first[0] * outside.left - first[1] * outside.first - first[2] * outside.last -
                first[3] * outside.right;
    const T v = last[5] - last[0] * w - last[1] * outside.left - last[2] * outside.first -
                last[3] * outside.last - last[4] * outside.right;
    before = {outside.left, outside.first, v, w};
    after = {v, w, outside.last, outside.right};
  }
};

// Columns of the four rows at a separator: the two that go, then left, first, last, right of the whole, and the
// rhs.
constexpr int separator_columns = 7;

template <real T>
VOUCH_HOST_DEVICE inline void balance(T (&row)[separator_columns]) {
  T largest = 0;
  for (int j = 0; j + 1 < separator_columns; ++j) {
    const T size = magnitude_of(row[j]);
    largest = size > largest ? size : largest;
  }
  const T power = balancing_power_of(largest);
  for (int j = 0; j < separator_columns; ++j) row[j] *= power;
}

/// Moves the largest entry of a column, of rows Column to 3, to row Column, scales that to 1 and eliminates
/// below.
template <int Column, real T>
VOUCH_HOST_DEVICE inline bool eliminate_column(T (&rows)[4][separator_columns]) {
  for (int k = Column + 1; k < 4; ++k) {
    const bool larger = magnitude_of(rows[k][Column]) > magnitude_of(rows[Column][Column]);
    for (int j = Column; j < separator_columns; ++j) swap_where(larger, rows[Column][j], rows[k][j]);
  }
  const bool broken = !(magnitude_of(rows[Column][Column]) > 0);
  const T inverse = inverse_of(rows[Column][Column]);
  for (int j = Column + 1; j < separator_columns; ++j) rows[Column][j] *= inverse;
  for (int k = Column + 1; k < 4; ++k)
    for (int j = Column + 1; j < separator_columns; ++j) rows[k][j] -= rows[k][Column] * rows[Column][j];
  return broken;
}

/// The reduced block of two neighbouring segments together.
template <real T>
VOUCH_HOST_DEVICE inline reduced_block<T> join(const reduced_block<T>& before, const reduced_block<T>& after,
                                               separator_pair<T>& at) {
  T rows[4][separator_columns];
  for (int k = 0; k < 2; ++k) {
    const T left[separator_columns] = {before.last[k], before.right[k], before.left[k], before.first[k], T{0},
                                       T{0},           before.rhs[k]};
    const T right[separator_columns] = {after.left[k], after.first[k], T{0},        T{0},
                                        after.last[k], after.right[k], after.rhs[k]};
    for (int j = 0; j < separator_columns; ++j) {
      rows[k][j] = left[j];
      rows[k + 2][j] = right[j];
    }
  }
  for (int k = 0; k < 4; ++k) balance(rows[k]);
  const bool broken_last = eliminate_column<0>(rows);
  const bool broken_first = eliminate_column<1>(rows);
  at.broken = broken_last || broken_first;
  for (int j = 0; j < 5; ++j) at.first[j] = rows[1][j + 2];
  for (int j = 0; j < 6; ++j) at.last[j] = rows[0][j + 1];
  reduced_block<T> whole;
  for (int k = 0; k < 2; ++k) {
    whole.left[k] = rows[k + 2][2];
    whole.first[k] = rows[k + 2][3];
    whole.last[k] = rows[k + 2][4];
    whole.right[k] = rows[k + 2][5];
    whole.rhs[k] = rows[k + 2][6];
  }
  return whole;
}

/// The same where the rows of both segments dominate and their reduced blocks have come by plain
/// elimination: row 0 is that of the first unknown, without the right one, row 1 that of the last, without
/// the left one. Dominance lasts.
template <real T>
VOUCH_HOST_DEVICE inline reduced_block<T> join_dominant(const reduced_block<T>& before,
                                                        const reduced_block<T>& after, separator_pair<T>& at) {
  // inverse_v: of the row of v = x_l of the left segment, inverse_w: of w = x_f of the right one without v.
  const T inverse_v = inverse_of(before.last[1]), m = after.left[0] * inverse_v;
  const T inverse_w = inverse_of(after.first[0] - m * before.right[1]);
  const T w_rhs = (after.rhs[0] - m * before.rhs[1]) * inverse_w, w_first = -m * before.first[1] * inverse_w;
  const T w_last = after.last[0] * inverse_w;
  const T v_rhs = before.rhs[1] * inverse_v, v_first = before.first[1] * inverse_v;
  const T v_w = before.right[1] * inverse_v, e = before.last[0], b = after.first[1];
  at = {{T{0}, w_first, w_last, T{0}, w_rhs}, {v_w, T{0}, v_first, T{0}, T{0}, v_rhs}, false};
  return {{before.left[0], T{0}},
          {before.first[0] - e * (v_first - v_w * w_first), -b * w_first},
          {e * v_w * w_last, after.last[1] - b * w_last},
          {T{0}, after.right[1]},
          {before.rhs[0] - e * (v_rhs - v_w * w_rhs), after.rhs[1] - b * w_rhs}};
}

/// The boundary unknowns of a whole system. periodic: its ends are each other's neighbours; else nothing
/// lies beyond them. Returns false where the two equations determine nothing.
template <real T>
VOUCH_HOST_DEVICE inline bool close(const reduced_block<T>& whole, bool periodic, boundary_unknowns<T>& at) {
  T u[2], v[2], f[2];
  for (int k = 0; k < 2; ++k) {
    u[k] = periodic ? whole.first[k] + whole.right[k] : whole.first[k];
    v[k] = periodic ? whole.last[k] + whole.left[k] : whole.last[k];
    const T power =
        balancing_power_of(magnitude_of(u[k]) > magnitude_of(v[k]) ? magnitude_of(u[k]) : magnitude_of(v[k]));
    u[k] *= power;
    v[k] *= power;
    f[k] = whole.rhs[k] * power;
  }
  const bool swap = magnitude_of(u[1]) > magnitude_of(u[0]);
  swap_where(swap, u[0], u[1]);
  swap_where(swap, v[0], v[1]);
  swap_where(swap, f[0], f[1]);
  const T m = u[1] / u[0], pivot = v[1] - m * v[0];
  at.last = (f[1] - m * f[0]) / pivot;
  at.first = (f[0] - v[0] * at.last) / u[0];
  at.left = periodic ? at.last : T{0};
  at.right = periodic ? at.first : T{0};
  return magnitude_of(u[0]) > 0 && magnitude_of(pivot) > 0;
}

}  // namespace vouch::detail
