// vouch/band/gpu/pivoting.cuh -- a thread's run of rows that do not all dominate, condensed to its reduced
// block and filled in; private.
//
// As in segment.cuh the outer rows yield as pivots. The two usual candidates have their entries in different
// columns, so that what becomes of them is a sum of multiples of both, whichever is the pivot: two numbers are
// selected, not rows.
#pragma once
#include <vouch/band/gpu/segment.cuh>

namespace vouch::detail {

/// An outer row is the pivot where it is so many times larger than the others: that seldom happens, and its
/// multiples stay below this.
template <real T>
constexpr T outer_pivot_threshold = 16;

/// Of two candidates for the pivot, `here` unless `there` is larger: the factors of the row that is left, and
/// those of the pivot row over the pivot.
template <real T>
struct pivot_choice {
  bool there_is;
  T pivot, left_here, left_there, pivot_here, pivot_there;

  __device__ pivot_choice(T here, T there)
      : there_is(magnitude_of(there) > magnitude_of(here)), pivot(there_is ? there : here) {
    const T inverse = inverse_of(pivot), multiplier = -(there_is ? here : there) * inverse;
    left_here = there_is ? T{1} : multiplier;
    left_there = there_is ? multiplier : T{1};
    pivot_here = there_is ? T{0} : inverse;
    pivot_there = there_is ? inverse : T{0};
  }
};

/// append_keeping() of segment.cuh.
template <real T>
__device__ eliminated<T> append_unpivoted(reduced_block<T>& at, const band_row<T>& row) {
  const pivot_choice<T> choice(at.last[1], row.a);
  if (magnitude_of(at.last[0]) > outer_pivot_threshold<T> * magnitude_of(choice.pivot)) {
    asm volatile("");  // rare: a branch, not selections in every row
    return append_keeping(at, row);
  }
  const T here = choice.pivot_here, there = choice.pivot_there;
  const eliminated<T> gone{here * at.right[1] + there * row.d,
                           choice.there_is ? there * row.c : here * at.first[1], here * at.left[1],
                           here * at.rhs[1] + there * row.f, choice.there_is};
  const T outer = at.last[0], row_next = there * row.c;
  at.left[0] -= outer * gone.left;
  at.first[0] -= outer * (here * at.first[1]);
  at.last[0] = at.right[0] - outer * gone.next;
  at.right[0] = -outer * row_next;
  at.rhs[0] -= outer * gone.rhs;
  at.left[1] *= choice.left_here;
  at.first[1] *= choice.left_here;
  at.last[1] = choice.left_here * at.right[1] + choice.left_there * row.d;
  at.right[1] = choice.left_there * row.c;
  at.rhs[1] = choice.left_here * at.rhs[1] + choice.left_there * row.f;
  return gone;
}

/// 1 / v, right to 20 bits; and from that within an ulp.
__device__ inline double rough_inverse(double v) {
  double guess;
  asm("rcp.approx.ftz.f64 %0, %1;" : "=d"(guess) : "d"(v));
  return guess;
}
template <real T>
__device__ T refined_inverse(T v, T guess) {
  const T error = fma(-v, guess, T{1});
  return fma(guess, fma(error, error, error), guess);
}

/// append_unpivoted() where what has been eliminated is not needed. The inner row may have any factor: a
/// rough inverse does for it, so that the next pivot is known soon.
template <real T>
__device__ void append_only(reduced_block<T>& at, const band_row<T>& row) {
  const T outer = at.last[0];
  const bool far = magnitude_of(row.a) > magnitude_of(at.last[1]);
  const T pivot = far ? row.a : at.last[1], guess = rough_inverse(pivot);
  if (magnitude_of(outer) > outer_pivot_threshold<T> * magnitude_of(pivot)) {
    asm volatile("");  // rare: a branch, not selections in every row
    append_keeping(at, row);
    return;
  }
  const T of_row = -at.last[1] * guess, of_last = row.a * guess, m = outer * refined_inverse(pivot, guess);
  const T here = far ? T{0} : m, there = far ? m : T{0};
  at.left[0] -= here * at.left[1];
  at.first[0] -= here * at.first[1];
  at.last[0] = at.right[0] - here * at.right[1] - there * row.d;
  at.right[0] = -there * row.c;
  at.rhs[0] = at.rhs[0] - here * at.rhs[1] - there * row.f;
  at.left[1] *= of_last;
  at.first[1] *= of_last;
  at.last[1] = of_last * at.right[1] + of_row * row.d;
  at.right[1] = of_row * row.c;
  at.rhs[1] = of_last * at.rhs[1] + of_row * row.f;
}

/// known_left::append() of reduced_block.hpp in the same way, for several at once: each waits for its own
/// numbers only.
template <real T, int Count>
__device__ void append_known(known_left<T> (&at)[Count], const band_row<T> (&rows)[Count],
                             typename known_left<T>::eliminated (&gone)[Count]) {
  bool far[Count], rare = false;
  T pivot[Count], guess[Count];
#pragma unroll
  for (int k = 0; k < Count; ++k) {
    far[k] = magnitude_of(rows[k].a) > magnitude_of(at[k].last[1]);
    pivot[k] = far[k] ? rows[k].a : at[k].last[1];
    guess[k] = rough_inverse(pivot[k]);
    rare = rare || magnitude_of(at[k].last[0]) > outer_pivot_threshold<T> * magnitude_of(pivot[k]);
  }
  if (rare) {
    asm volatile("");
    for (int k = 0; k < Count; ++k) gone[k] = at[k].append(rows[k]);
    return;
  }
#pragma unroll
  for (int k = 0; k < Count; ++k) {
    known_left<T>& to = at[k];
    const band_row<T>& row = rows[k];
    const T of_row = -to.last[1] * guess[k], of_last = row.a * guess[k], outer = to.last[0];
    const T inverse = refined_inverse(pivot[k], guess[k]);
    gone[k].next = (far[k] ? row.d : to.right[1]) * inverse;
    gone[k].after = far[k] ? row.c * inverse : T{0};
    gone[k].rhs = (far[k] ? row.f : to.rhs[1]) * inverse;
    to.last[0] = to.right[0] - outer * gone[k].next;
    to.right[0] = -outer * gone[k].after;
    to.rhs[0] -= outer * gone[k].rhs;
    to.last[1] = of_last * to.right[1] + of_row * row.d;
    to.right[1] = of_row * row.c;
    to.rhs[1] = of_last * to.rhs[1] + of_row * row.f;
  }
}

/// u x + v y = rhs.
template <real T>
struct equation {
  T u, v, rhs;
};
template <real T>
__device__ void interchange_where(bool mask, equation<T>& one, equation<T>& other) {
  swap_where(mask, one.u, other.u);
  swap_where(mask, one.v, other.v);
  swap_where(mask, one.rhs, other.rhs);
}

/// Of four equations that agree but for rounding, of like size before anything was eliminated: the largest
/// entries are the least touched by it.
template <real T>
__device__ void solve_equations(equation<T> (&of)[4], T& x, T& y) {
#pragma unroll
  for (int k = 1; k < 4; ++k) interchange_where(magnitude_of(of[k].u) > magnitude_of(of[0].u), of[0], of[k]);
  const T inverse = inverse_of(of[0].u);
#pragma unroll
  for (int k = 1; k < 4; ++k) {
    const T m = of[k].u * inverse;
    of[k].v -= m * of[0].v;
    of[k].rhs -= m * of[0].rhs;
  }
#pragma unroll
  for (int k = 2; k < 4; ++k) interchange_where(magnitude_of(of[k].v) > magnitude_of(of[1].v), of[1], of[k]);
  y = of[1].rhs * inverse_of(of[1].v);
  x = (of[0].rhs - of[0].v * y) * inverse;
}

/// The reduced block of a thread's `Count` rows, at least three and at most 32. far: bit k is
/// eliminated::far of row k. Keep: what fill_with_interchanges() needs takes the place of the rows.
template <bool Keep, int Count, class Rows>
__device__ auto reduce_with_interchanges(const Rows& rows, unsigned& far) {
  reduced_block made = reduced_block_of(balanced(rows[0]), balanced(rows[1]));
  band_row here = rows[2];
#pragma unroll
  for (int k = 1; k < Count - 1; ++k) {
    const band_row ahead = rows[k + 2 < Count ? k + 2 : k + 1];
    const eliminated gone = append_unpivoted(made, balanced(here));
    if constexpr (Keep) {
      rows.c(k) = gone.next;
      rows.a(k) = gone.other;
      rows.d(k) = gone.left;
      rows.f(k) = gone.rhs;
      far |= static_cast<unsigned>(gone.far) << k;
    }
    here = ahead;
  }
  return made;
}

/// Fills in the rows from their boundary unknowns into d. Returns 0, or NaN where an unknown is no number.
template <int Count, class Rows, real T>
__device__ T fill_with_interchanges(const Rows& rows, unsigned far, const boundary_unknowns<T>& known) {
  T x1 = known.last, x2 = known.right, rest = known.first * 0 + known.last * 0;
#pragma unroll
  for (int k = Count - 2; k > 0; --k) {
    const T other = (far >> k & 1) != 0 ? x2 : known.first;
    const T now = rows.f(k) - rows.a(k) * other - rows.d(k) * known.left - rows.c(k) * x1;
    rows.d(k) = now;
    rest = now * 0 + rest;
    x2 = x1;
    x1 = now;
  }
  rows.d(Count - 1) = known.last;
  rows.d(0) = known.first;
  return rest;
}

/// Both rows scaled to size 1 by powers of two.
template <real T>
__device__ reduced_block<T> balanced(reduced_block<T> of) {
  for (int k = 0; k < 2; ++k) {
    const T power = power_against<T>(max(max(leading_bits(of.left[k]), leading_bits(of.first[k])),
                                         max(leading_bits(of.last[k]), leading_bits(of.right[k]))));
    for (T* number : {&of.left[k], &of.first[k], &of.last[k], &of.right[k], &of.rhs[k]}) *number *= power;
  }
  return of;
}

/// join_pivoted() of segment.cuh without row interchanges, as in append() of register_segment.cuh: of the two
/// inner rows, the last of the left segment and the first of the right one, one is the pivot and then what is
/// left of them, which may have any factor, so that the two pivots are inverted at the same time.
template <real T>
__device__ reduced_block<T> join_unpivoted(const reduced_block<T>& before, const reduced_block<T>& after,
                                           separator_pair<T>& at) {
  const T v_before = before.last[1], v_after = after.left[0];
  const bool of_after = magnitude_of(v_after) > magnitude_of(v_before);
  const T pivot = of_after ? v_after : v_before, inverse = inverse_of(pivot);
  const T here = of_after ? T{0} : inverse, there = of_after ? inverse : T{0};
  const T inner_w = v_after * before.right[1] - v_before * after.first[0], inverse_w = inverse_of(inner_w);
  at.last[0] = here * before.right[1] + there * after.first[0];
  at.last[1] = here * before.left[1];
  at.last[2] = here * before.first[1];
  at.last[3] = there * after.last[0];
  at.last[4] = there * after.right[0];
  at.last[5] = here * before.rhs[1] + there * after.rhs[0];
  const T from_before = v_after * inverse_w, from_after = -v_before * inverse_w;
  at.first[0] = from_before * before.left[1];
  at.first[1] = from_before * before.first[1];
  at.first[2] = from_after * after.last[0];
  at.first[3] = from_after * after.right[0];
  at.first[4] = from_before * before.rhs[1] + from_after * after.rhs[0];
  at.broken = false;
  // The outer rows, the first of the left segment and the last of the right one.
  const T u = before.last[0], v = after.left[1];
  const T u_w = before.right[0] - u * at.last[0], v_w = after.first[1] - v * at.last[0];
  const T bar = outer_pivot_threshold<T> * magnitude_of(pivot),
          bar_w = outer_pivot_threshold<T> * magnitude_of(inner_w);
  const reduced_block<T> whole{
      {before.left[0] - u * at.last[1] - u_w * at.first[0], -v * at.last[1] - v_w * at.first[0]},
      {before.first[0] - u * at.last[2] - u_w * at.first[1], -v * at.last[2] - v_w * at.first[1]},
      {-u * at.last[3] - u_w * at.first[2], after.last[1] - v * at.last[3] - v_w * at.first[2]},
      {-u * at.last[4] - u_w * at.first[3], after.right[1] - v * at.last[4] - v_w * at.first[3]},
      {before.rhs[0] - u * at.last[5] - u_w * at.first[4], after.rhs[1] - v * at.last[5] - v_w * at.first[4]}};
  if (magnitude_of(u) <= bar && magnitude_of(v) <= bar && magnitude_of(u_w * pivot) <= bar_w &&
      magnitude_of(v_w * pivot) <= bar_w)
    return whole;
  asm volatile("");  // rare
  return join_pivoted(before, after, at);
}

/// The boundary unknowns of a whole system; close() of reduced_block.hpp in fewer instructions.
template <real T>
__device__ boundary_unknowns<T> closed(const reduced_block<T>& whole) {
  const pivot_choice<T> choice(whole.first[0], whole.first[1]);
  const T here = choice.pivot_here, there = choice.pivot_there;
  const T last = (choice.left_here * whole.rhs[0] + choice.left_there * whole.rhs[1]) *
                 inverse_of(choice.left_here * whole.last[0] + choice.left_there * whole.last[1]);
  const T first =
      here * whole.rhs[0] + there * whole.rhs[1] - (here * whole.last[0] + there * whole.last[1]) * last;
  return {T{0}, first, last, T{0}};
}

}  // namespace vouch::detail
