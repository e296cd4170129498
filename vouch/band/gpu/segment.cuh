// vouch/band/gpu/segment.cuh -- a thread's run of rows in shared memory, condensed to its reduced block and
// filled in; private.
//
// Inner rows are eliminated in place: what the answer needs of a row takes its place, so that filling in is a
// sweep of multiplications. The rows ahead are read before those behind are written: a chain of eliminations
// never waits for shared memory.
#pragma once
#include <cstdint>

#include <vouch/band/reduced_block.hpp>

namespace vouch::detail {

constexpr int rows_a_thread = 11;  // odd, so that neighbours' segments do not lie on the same banks

/// Row k of the segment is a(k) x_{k-1} + d(k) x_k + c(k) x_{k+1} = f(k). Width: from array to array. Full: it
/// has rows_a_thread rows; loops over them are unrolled.
template <real T, int Width, bool Full>
struct segment_rows {
  T* first;
  int step, some;  // some: the number of rows unless Full

  static constexpr bool full = Full;
  __device__ int count() const { return Full ? rows_a_thread : some; }
  __device__ T& a(int k) const { return first[k * step]; }
  __device__ T& d(int k) const { return first[k * step + Width]; }
  __device__ T& c(int k) const { return first[k * step + 2 * Width]; }
  __device__ T& f(int k) const { return first[k * step + 3 * Width]; }
  __device__ band_row<T> operator[](int k) const { return {a(k), d(k), c(k), f(k)}; }
};

// The exponent and the leading bits of a magnitude, which compare as it does.
__device__ inline int leading_bits(double v) { return __double2hiint(v) & 0x7fffffff; }
__device__ inline int leading_bits(float v) { return __float_as_int(v) & 0x7fffffff; }

/// True where 1 / d is far from the boundary unknowns of the range.
__device__ inline bool invertible(double d) {
  return static_cast<unsigned>(leading_bits(d) - 0x01000000) < 0x7de00000u - 0x01000000u;
}
__device__ inline bool invertible(float d) {
  return static_cast<unsigned>(leading_bits(d) - 0x02000000) < 0x7d000000u - 0x02000000u;
}

/// True where all rows of the segment dominate.
template <class Rows>
__device__ bool dominates(const Rows& rows) {
  bool all = true;
#pragma unroll(Rows::full ? rows_a_thread : 1)
  for (int k = 0; k < rows.count(); ++k) {
    const auto a = rows.a(k), d = rows.d(k), c = rows.c(k);
    all = all && magnitude_of(d) >= magnitude_of(a) + magnitude_of(c) && invertible(d);
  }
  return all;
}

// The power of two that scales a magnitude of these leading bits to [1, 2), as far as a power of two reaches.
template <real T>
__device__ T power_against(int largest) {
  if constexpr (sizeof(T) == sizeof(double)) {
    const int exponent = min(max(largest & 0x7ff00000, 0x00100000), 0x7fd00000);
    return __hiloint2double(0x7fe00000 - exponent, 0);
  } else {
    const int exponent = min(max(largest & 0x7f800000, 0x00800000), 0x7e800000);
    return __int_as_float(0x7f000000 - exponent);
  }
}

/// The row scaled to size 1 by a power of two.
template <real T>
__device__ band_row<T> balanced(const band_row<T>& row) {
  const T power = power_against<T>(max(max(leading_bits(row.a), leading_bits(row.d)), leading_bits(row.c)));
  return {row.a * power, row.d * power, row.c * power, row.f * power};
}

/// x_l of a segment that has been extended: x_l + next x_{l+1} + other y + left x_{f-1} = rhs, where y is
/// x_{l+2} if far, else x_f.
template <real T>
struct eliminated {
  T next, other, left, rhs;
  bool far;
};

/// append() of reduced_block.hpp, with what the answer needs. Of the three candidates for the pivot the
/// first row yields as a pivot, unless it is more than twice as large as the others: it seldom takes part
/// in an interchange.
template <real T>
__device__ eliminated<T> append_keeping(reduced_block<T>& at, const band_row<T>& row) {
  constexpr T pivot_threshold = 2;
  const bool far = magnitude_of(row.a) > magnitude_of(at.last[1]);
  const T zero{};
  // p: the pivot row, o: the other one; columns l, l + 1, l + 2, f - 1, f and the right-hand side.
  T p0 = far ? row.a : at.last[1], o0 = far ? at.last[1] : row.a;
  T p1 = far ? row.d : at.right[1], o1 = far ? at.right[1] : row.d;
  T p2 = far ? row.c : zero, o2 = far ? zero : row.c;
  T p_left = far ? zero : at.left[1], o_left = far ? at.left[1] : zero;
  T p_first = far ? zero : at.first[1], o_first = far ? at.first[1] : zero;
  T p_rhs = far ? row.f : at.rhs[1], o_rhs = far ? at.rhs[1] : row.f;
  T e2 = zero;
  bool of_row = far;
  if (magnitude_of(at.last[0]) > pivot_threshold * magnitude_of(p0)) {
    asm volatile("");  // rare: a branch, not a selection in every row
    const auto exchange = [](T& x, T& y) {
      const T old = x;
      x = y;
      y = old;
    };
    exchange(p0, at.last[0]);
    exchange(p1, at.right[0]);
    exchange(p2, e2);
    exchange(p_left, at.left[0]);
    exchange(p_first, at.first[0]);
    exchange(p_rhs, at.rhs[0]);
    of_row = false;
  }
  const T inverse = inverse_of(p0), m = o0 * inverse, e = at.last[0] * inverse;
  at.left[1] = o_left - m * p_left;
  at.first[1] = o_first - m * p_first;
  at.last[1] = o1 - m * p1;
  at.right[1] = o2 - m * p2;
  at.rhs[1] = o_rhs - m * p_rhs;
  at.left[0] = at.left[0] - e * p_left;
  at.first[0] = at.first[0] - e * p_first;
  at.last[0] = at.right[0] - e * p1;
  at.right[0] = e2 - e * p2;
  at.rhs[0] = at.rhs[0] - e * p_rhs;
  return {p1 * inverse, (of_row ? p2 : p_first) * inverse, p_left * inverse, p_rhs * inverse, of_row};
}

/// The reduced block of a segment of at least one row, with pivoting. far: bit k is eliminated::far of row k.
template <real T, class Rows>
__device__ reduced_block<T> reduce_pivoted(const Rows& rows, unsigned& far) {
  const band_row<T> row = balanced(rows[0]);
  if (rows.count() == 1) return reduced_block_of(row);
  reduced_block<T> made = reduced_block_of(row, balanced(rows[1]));
  if (rows.count() == 2) return made;
  band_row<T> here = rows[2];
#pragma unroll(Rows::full ? rows_a_thread : 1)
  for (int k = 1; k < rows.count() - 1; ++k) {
    const band_row<T> ahead = rows[k + 2 < rows.count() ? k + 2 : k + 1];
    const eliminated<T> gone = append_keeping(made, balanced(here));
    rows.c(k) = gone.next;
    rows.a(k) = gone.other;
    rows.d(k) = gone.left;
    rows.f(k) = gone.rhs;
    far |= static_cast<unsigned>(gone.far) << k;
    here = ahead;
  }
  return made;
}

/// One of the four rows at a separator: columns of the two unknowns that go, left, first, last, right of
/// the whole, and the right-hand side.
template <real T>
struct separator_row {
  T v, w, left, first, last, right, rhs;

  __device__ void subtract(T m, const separator_row& row) {
    w -= m * row.w;
    left -= m * row.left;
    first -= m * row.first;
    last -= m * row.last;
    right -= m * row.right;
    rhs -= m * row.rhs;
  }
};
template <real T>
__device__ void interchange_where(bool mask, separator_row<T>& x, separator_row<T>& y) {
  swap_where(mask, x.v, y.v);
  swap_where(mask, x.w, y.w);
  swap_where(mask, x.left, y.left);
  swap_where(mask, x.first, y.first);
  swap_where(mask, x.last, y.last);
  swap_where(mask, x.right, y.right);
  swap_where(mask, x.rhs, y.rhs);
}

/// join() of reduced_block.hpp for balanced rows. As in append_keeping() the outer rows, the first of the
/// left segment and the last of the right one, yield as pivots: their part in the unknowns that go is small
/// as a rule.
template <real T>
__device__ reduced_block<T> join_pivoted(const reduced_block<T>& before, const reduced_block<T>& after,
                                         separator_pair<T>& at) {
  constexpr T pivot_threshold = 2;
  const T zero{};
  const auto of_left = [&](int k) {
    return separator_row<T>{before.last[k], before.right[k], before.left[k], before.first[k], zero,
                            zero,           before.rhs[k]};
  };
  const auto of_right = [&](int k) {
    return separator_row<T>{after.left[k], after.first[k], zero,        zero,
                            after.last[k], after.right[k], after.rhs[k]};
  };
  separator_row<T> outer = of_left(0), pivot = of_left(1), other = of_right(0), next = of_right(1);
  interchange_where(magnitude_of(other.v) > magnitude_of(pivot.v), pivot, other);
  const T bar = pivot_threshold * magnitude_of(pivot.v);
  if (magnitude_of(outer.v) > bar || magnitude_of(next.v) > bar) {
    asm volatile("");  // rare: a branch, not selections in every separator
    const bool left = magnitude_of(outer.v) >= magnitude_of(next.v);
    interchange_where(left, pivot, outer);
    interchange_where(!left, pivot, next);
  }
  const T inverse_v = inverse_of(pivot.v);
  other.subtract(other.v * inverse_v, pivot);
  next.subtract(next.v * inverse_v, pivot);
  outer.subtract(outer.v * inverse_v, pivot);
  at.last[0] = pivot.w * inverse_v;
  at.last[1] = pivot.left * inverse_v;
  at.last[2] = pivot.first * inverse_v;
  at.last[3] = pivot.last * inverse_v;
  at.last[4] = pivot.right * inverse_v;
  at.last[5] = pivot.rhs * inverse_v;
  interchange_where(magnitude_of(next.w) > magnitude_of(other.w), other, next);
  if (magnitude_of(outer.w) > pivot_threshold * magnitude_of(other.w)) {
    asm volatile("");
    interchange_where(true, other, outer);
  }
  const T inverse_w = inverse_of(other.w);
  next.subtract(next.w * inverse_w, other);
  outer.subtract(outer.w * inverse_w, other);
  at.first[0] = other.left * inverse_w;
  at.first[1] = other.first * inverse_w;
  at.first[2] = other.last * inverse_w;
  at.first[3] = other.right * inverse_w;
  at.first[4] = other.rhs * inverse_w;
  at.broken = false;
  return {{outer.left, next.left},
          {outer.first, next.first},
          {outer.last, next.last},
          {outer.right, next.right},
          {outer.rhs, next.rhs}};
}

/// Puts the boundary unknowns of a segment into d, and says whether all unknowns are numbers: rest is 0
/// times those between.
template <real T, class Rows>
__device__ bool finish(const Rows& rows, const boundary_unknowns<T>& known, T rest) {
  rows.d(rows.count() - 1) = known.last;
  rows.d(0) = known.first;
  return known.first * 0 + known.last * 0 + rest == 0;
}

/// Fills in a segment from its boundary unknowns into d. Returns false where an unknown is no number.
template <real T, class Rows>
__device__ bool fill_pivoted(const Rows& rows, unsigned far, const boundary_unknowns<T>& known) {
  T x1 = known.last, x2 = known.right, rest = 0;
  band_row<T> here = rows[rows.count() > 2 ? rows.count() - 2 : 0];
#pragma unroll(Rows::full ? rows_a_thread : 1)
  for (int k = rows.count() - 2; k > 0; --k) {
    const band_row<T> ahead = rows[k - 1];
    const T other = (far >> k & 1) != 0 ? x2 : known.first;
    const T now = here.f - here.a * other - here.d * known.left - here.c * x1;
    rows.d(k) = now;
    rest = now * 0 + rest;
    x2 = x1;
    x1 = now;
    here = ahead;
  }
  return finish(rows, known, rest);
}

/// The reduced block of a segment whose rows all dominate. Leaves x_k + c_k x_{k+1} + a_k x_first = f_k for
/// its inner rows.
///
/// Beside the sweep down runs x_{first+1} = g - s x_first - u x_{k+1}, the same row seen from above.
template <real T, class Rows>
__device__ reduced_block<T> reduce_dominant(const Rows& rows) {
  const band_row<T> row = rows[0];
  if (rows.count() == 1) return reduced_block_of(row);
  band_row<T> here = rows[1];
  if (rows.count() == 2) return reduced_block_of(row, here);
  T up = 0, spike = -1, rhs = 0;  // row `first` as x_first = x_first
  T g = 0, s = 0, u = -1;
#pragma unroll(Rows::full ? rows_a_thread : 1)
  for (int k = 1; k < rows.count() - 1; ++k) {
    const band_row<T> ahead = rows[k + 1];
    const T inverse = inverse_of(here.d - here.a * up);
    spike = -here.a * inverse * spike;
    rhs = (here.f - here.a * rhs) * inverse;
    up = here.c * inverse;
    g = g - u * rhs;
    s = s - u * spike;
    u = -u * up;
    rows.a(k) = spike;
    rows.c(k) = up;
    rows.f(k) = rhs;
    here = ahead;
  }
  return {{row.a, T{0}},
          {row.d - row.c * s, -here.a * spike},
          {-row.c * u, here.d - here.a * up},
          {T{0}, here.c},
          {row.f - row.c * g, here.f - here.a * rhs}};
}

/// Likewise.
template <real T, class Rows>
__device__ bool fill_dominant(const Rows& rows, const boundary_unknowns<T>& known) {
  T next = known.last, rest = 0;
  int k = rows.count() > 2 ? rows.count() - 2 : 0;
  T a = rows.a(k), c = rows.c(k), f = rows.f(k);
#pragma unroll(Rows::full ? rows_a_thread : 1)
  for (k = rows.count() - 2; k > 0; --k) {
    const T a_ahead = rows.a(k - 1), c_ahead = rows.c(k - 1), f_ahead = rows.f(k - 1);
    next = f - a * known.first - c * next;
    rows.d(k) = next;
    rest = next * 0 + rest;
    a = a_ahead;
    c = c_ahead;
    f = f_ahead;
  }
  return finish(rows, known, rest);
}

}  // namespace vouch::detail
