// vouch/band/gpu/tile_joining.cuh -- reduced blocks that become one, for tiles; private.
#pragma once
#include <vouch/band/gpu/chunk.cuh>

namespace vouch::detail {

/// join() of reduced_block.hpp for balanced rows, without row interchanges: as append() of
/// register_segment.cuh. The outer rows, the first of the left segment and the last of the right one, yield
/// as pivots. Returns false where one of them is many times larger than the inner ones in an unknown that
/// goes: then nothing here is of use.
template <real T>
__device__ bool join_inner_rows(const reduced_block<T>& before, const reduced_block<T>& after,
                                reduced_block<T>& whole, separator_pair<T>& at) {
  constexpr T many = 16;
  const bool right = fabs(after.left[0]) > fabs(before.last[1]);
  const T inverse_v = inverse_of(right ? after.left[0] : before.last[1]);
  const T of_before = right ? T{0} : inverse_v, of_after = right ? inverse_v : T{0};
  at.last[0] = before.right[1] * of_before + after.first[0] * of_after;
  at.last[1] = before.left[1] * of_before;
  at.last[2] = before.first[1] * of_before;
  at.last[3] = after.last[0] * of_after;
  at.last[4] = after.right[0] * of_after;
  at.last[5] = before.rhs[1] * of_before + after.rhs[0] * of_after;
  // The inner row without v = x_l of the left segment, and the outer ones: columns w = x_f of the right
  // segment, then those of the whole.
  const T s = after.left[0] * inverse_v, t = before.last[1] * inverse_v;
  const T inner_w = (after.left[0] * before.right[1] - before.last[1] * after.first[0]) * inverse_v;
  const T inner[5] = {before.left[1] * s, before.first[1] * s, -after.last[0] * t, -after.right[0] * t,
                      before.rhs[1] * s - after.rhs[0] * t};
  const T e = before.last[0], g = after.left[1];
  const T upper_w = before.right[0] - e * at.last[0], lower_w = after.first[1] - g * at.last[0];
  T upper[5] = {before.left[0] - e * at.last[1], before.first[0] - e * at.last[2], -e * at.last[3],
                -e * at.last[4], before.rhs[0] - e * at.last[5]};
  T lower[5] = {-g * at.last[1], -g * at.last[2], after.last[1] - g * at.last[3],
                after.right[1] - g * at.last[4], after.rhs[1] - g * at.last[5]};
  const T inverse_w = inverse_of(inner_w);
#pragma unroll
  for (int k = 0; k < 5; ++k) {
    at.first[k] = inner[k] * inverse_w;
    upper[k] -= upper_w * at.first[k];
    lower[k] -= lower_w * at.first[k];
  }
  whole = {{upper[0], lower[0]},
           {upper[1], lower[1]},
           {upper[2], lower[2]},
           {upper[3], lower[3]},
           {upper[4], lower[4]}};
  const T bar_v = many * fabs(right ? after.left[0] : before.last[1]), bar_w = many * fabs(inner_w);
  return fabs(e) <= bar_v && fabs(g) <= bar_v && fabs(upper_w) <= bar_w && fabs(lower_w) <= bar_w;
}

/// pivoted_joining of chunk.cuh, in fewer instructions.
template <real T>
struct tile_joining : pivoted_joining<T, false> {
  using as_before = pivoted_joining<T, false>;

  template <class Slot>
  __device__ static void join(const Slot& left, const Slot& right) {
    separator_pair<T> at;
    reduced_block<T> whole;
    if (!join_inner_rows(as_before::get(left), as_before::get(right), whole, at))
      return as_before::join(left, right);
    as_before::put(left, whole);
    for (int k = 0; k < 5; ++k) right[k] = at.first[k];
    for (int k = 0; k < 6; ++k) right[5 + k] = at.last[k];
  }
};

/// join_slots() of chunk.cuh for a power of two of trees; neighbouring threads work on neighbouring trees.
template <class Joining, class Slots>
__device__ void join_trees(const Slots& slot_of, int trees, int leaves, int thread, int threads) {
  const int levels = 32 - __clz(leaves - 1), across = 31 - __clz(trees);
  for (int level = 0, step = 1; step < leaves; ++level, step *= 2) {
    __syncthreads();
    for (int q = thread; q < trees << (levels - level - 1); q += threads) {
      const int tree = q & (trees - 1), left = (q >> across) * 2 * step;
      if (left + step < leaves) Joining::join(slot_of(tree, left), slot_of(tree, left + step));
    }
  }
  __syncthreads();
}

/// The boundary unknowns of a whole system; close() of reduced_block.hpp in fewer instructions.
template <real T>
__device__ boundary_unknowns<T> closed(const reduced_block<T>& whole) {
  const bool swap = fabs(whole.first[1]) > fabs(whole.first[0]);
  const T u0 = swap ? whole.first[1] : whole.first[0], u1 = swap ? whole.first[0] : whole.first[1];
  const T v0 = swap ? whole.last[1] : whole.last[0], v1 = swap ? whole.last[0] : whole.last[1];
  const T f0 = swap ? whole.rhs[1] : whole.rhs[0], f1 = swap ? whole.rhs[0] : whole.rhs[1];
  const T inverse = inverse_of(u0), m = u1 * inverse;
  const T last = (f1 - m * f0) * inverse_of(v1 - m * v0);
  return {T{0}, (f0 - v0 * last) * inverse, last, T{0}};
}

}  // namespace vouch::detail
