// vouch/band/exchanges.cuh -- a thread's run of rows that do not all dominate, reduced to its relation and
// filled in; private.
//
// As in piece.cuh the outer rows stand back as pivots. The two usual candidates have their entries in different
// columns, so that what becomes of them is a sum of multiples of both, whichever is the pivot: two numbers are
// selected, not rows.
#pragma once
#include <vouch/band/piece.cuh>

namespace vouch::detail {

/// An outer row is the pivot where it is so many times larger than the others: that seldom happens, and its
/// multiples stay below this.
template <real T>
constexpr T standing_back = 16;

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

/// append_keeping() of piece.cuh.
template <real T>
__device__ eliminated<T> append_quickly(relation<T>& at, const band_row<T>& row) {
  const pivot_choice<T> choice(at.last[1], row.a);
  if (magnitude_of(at.last[0]) > standing_back<T> * magnitude_of(choice.pivot)) {
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

/// The relation of a thread's `Count` rows, at least three and at most 32. far: bit k is eliminated::far of row
/// k. Keep: what fill_exchanged() needs takes the place of the rows.
template <bool Keep, int Count, class Rows>
__device__ auto reduce_exchanging(const Rows& rows, unsigned& far) {
  relation made = relation_of(balanced(rows[0]), balanced(rows[1]));
  band_row here = rows[2];
#pragma unroll
  for (int k = 1; k < Count - 1; ++k) {
    const band_row ahead = rows[k + 2 < Count ? k + 2 : k + 1];
    const eliminated gone = append_quickly(made, balanced(here));
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

/// Fills in the rows from their ends into d. Returns 0, or NaN where an unknown is no number.
template <int Count, class Rows, real T>
__device__ T fill_exchanged(const Rows& rows, unsigned far, const ends<T>& known) {
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

/// Both rows brought to the size 1 by powers of two.
template <real T>
__device__ relation<T> balanced(relation<T> of) {
  for (int k = 0; k < 2; ++k) {
    const T power = power_against<T>(max(max(leading_bits(of.left[k]), leading_bits(of.first[k])),
                                         max(leading_bits(of.last[k]), leading_bits(of.right[k]))));
    for (T* number : {&of.left[k], &of.first[k], &of.last[k], &of.right[k], &of.rhs[k]}) *number *= power;
  }
  return of;
}

/// join_reluctantly() of piece.cuh.
template <real T>
__device__ relation<T> join_quickly(const relation<T>& before, const relation<T>& after, joint<T>& at) {
  const pivot_choice<T> choice(before.last[1], after.left[0]);
  const T bar = standing_back<T> * magnitude_of(choice.pivot);
  if (magnitude_of(before.last[0]) > bar || magnitude_of(after.left[1]) > bar) {
    asm volatile("");
    return join_reluctantly(before, after, at);
  }
  const T here = choice.pivot_here, there = choice.pivot_there;
  const T w = here * before.right[1] + there * after.first[0], left = here * before.left[1],
          first = here * before.first[1], last = there * after.last[0], right = there * after.right[0],
          rhs = here * before.rhs[1] + there * after.rhs[0];
  at.last[0] = w, at.last[1] = left, at.last[2] = first, at.last[3] = last, at.last[4] = right,
  at.last[5] = rhs;
  const T u = before.last[0], v = after.left[1];  // of the outer rows
  joint_row<T> outer{
      0,          before.right[0] - u * w, before.left[0] - u * left, before.first[0] - u * first, -u * last,
      -u * right, before.rhs[0] - u * rhs};
  joint_row<T> next{0,
                    after.first[1] - v * w,
                    -v * left,
                    -v * first,
                    after.last[1] - v * last,
                    after.right[1] - v * right,
                    after.rhs[1] - v * rhs};
  const T from_before = choice.left_here, from_after = choice.left_there;
  joint_row<T> other{0,
                     from_before * before.right[1] + from_after * after.first[0],
                     from_before * before.left[1],
                     from_before * before.first[1],
                     from_after * after.last[0],
                     from_after * after.right[0],
                     from_before * before.rhs[1] + from_after * after.rhs[0]};
  exchange_where(magnitude_of(next.w) > magnitude_of(other.w), other, next);
  if (magnitude_of(outer.w) > standing_back<T> * magnitude_of(other.w)) {
    asm volatile("");
    exchange_where(true, other, outer);
  }
  const T inverse = inverse_of(other.w);
  next.subtract(next.w * inverse, other);
  outer.subtract(outer.w * inverse, other);
  at.first[0] = other.left * inverse;
  at.first[1] = other.first * inverse;
  at.first[2] = other.last * inverse;
  at.first[3] = other.right * inverse;
  at.first[4] = other.rhs * inverse;
  at.broken = false;
  return {{outer.left, next.left},
          {outer.first, next.first},
          {outer.last, next.last},
          {outer.right, next.right},
          {outer.rhs, next.rhs}};
}

}  // namespace vouch::detail
