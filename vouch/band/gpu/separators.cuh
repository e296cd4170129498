// vouch/band/gpu/separators.cuh -- rows that dominate, reduced by a block to one unknown a thread, then one
// a warp; private.
//
// A run of rows f to l touches the unknowns x_{f-1} to x_{l+1}. Its last unknown separates it from the next
// run: elimination without interchanges leaves of a run its first unknown and its last row, in x_{f-1}, x_l and
// x_{l+1}. The runs of a warp's threads make a run of the warp, those of the block's warps one of the block, by
// parallel cyclic reduction of the separators between them. Dominance lasts through all of it.
#pragma once
#include <bit>

#include <vouch/band/gpu/segment.cuh>

namespace vouch::detail {

/// x_f = first_rhs - first_before x_{f-1} - first_last x_l, and before x_{f-1} + diagonal x_l + after x_{l+1} =
/// rhs.
template <real T>
struct row_run {
  T first_before, first_last, first_rhs;
  T before, diagonal, after, rhs;
};

/// x = rhs - before x_{f-1} - last x_l for a separator inside a run; those that are none are x_l.
template <real T>
struct separator {
  T before = 0, last = -1, rhs = 0;
};

/// Whether a row dominates and its diagonal can be inverted: 1 or 0, found without a branch, so that the
/// elimination beside it does not wait.
template <real T>
__device__ int dominant_row(const band_row<T>& row) {
  return static_cast<int>(magnitude_of(row.d) >= magnitude_of(row.a) + magnitude_of(row.c)) &
         static_cast<int>(invertible(row.d));
}

/// The run of a thread's `Count` rows, at least two. Look: dominant becomes false where one of them does not.
/// Keep: leaves x_k + c_k x_{k+1} + a_k x_before = f_k for all but the last.
template <bool Keep, bool CheckDominance, int Count, class Rows>
__device__ auto reduce_run(const Rows& rows, bool& dominant) {
  band_row here = rows[0];
  using T = decltype(here.a);
  int all_dominate = 1;
  const auto check_row = [&] {
    if constexpr (CheckDominance) all_dominate &= dominant_row(here);
  };
  check_row();
  T inverse = inverse_of(here.d);
  T spike = here.a * inverse, up = here.c * inverse, rhs = here.f * inverse;
  const auto keep = [&](int k) {
    if constexpr (Keep) rows.a(k) = spike, rows.c(k) = up, rows.f(k) = rhs;
  };
  keep(0);
  T first_before = spike, first_last = up, first_rhs = rhs;
  here = rows[1];
#pragma unroll
  for (int k = 1; k < Count - 1; ++k) {
    const band_row<T> ahead = rows[k + 1];
    check_row();
    inverse = inverse_of(here.d - here.a * up);
    spike = -here.a * inverse * spike;
    rhs = (here.f - here.a * rhs) * inverse;
    up = here.c * inverse;
    first_rhs -= first_last * rhs;
    first_before -= first_last * spike;
    first_last = -first_last * up;
    keep(k);
    here = ahead;
  }
  check_row();
  dominant = dominant && all_dominate != 0;
  return row_run<T>{first_before, first_last,           first_rhs, -here.a * spike, here.d - here.a * up,
                    here.c,       here.f - here.a * rhs};
}

/// The run that the runs of lanes 0 to count - 1 make, count at least 2 and at most 2^Levels + 1: its first
/// unknown is right in lane 0, its last row in lane count - 1. own: the lane's separator. steady: becomes false
/// where separators all but determine each other. Every lane finds out about its own in its own way, so that
/// rounding would set them apart then; elimination of one after another has no such trouble.
template <int Levels, real T>
__device__ row_run<T> join_lanes(const row_run<T>& run, int lane, int count, separator<T>& own, bool& steady) {
  constexpr T steady_pivot = T(0.125);
  const auto from = [](T value, int source) { return __shfl_sync(~0u, value, source); };
  const int next = min(lane + 1, 31), last = count - 1;
  const T next_before = from(run.first_before, next), next_last = from(run.first_last, next),
          next_rhs = from(run.first_rhs, next);
  // Separator i is a x_{i-h} + x_i + c x_{i+h} = f, with x_{f-1} and x_l of the whole beyond the ends.
  const bool inside = lane < last;
  const T scale = inverse_of(run.diagonal - run.after * next_before);
  T a = inside ? run.before * scale : T{0}, c = inside ? -run.after * next_last * scale : T{0},
    f = inside ? (run.rhs - run.after * next_rhs) * scale : T{0};
#pragma unroll
  for (int level = 0; level < Levels; ++level) {
    const int h = 1 << level;
    const bool below = lane >= h, above = lane + h < last;
    const int at_below = below ? lane - h : last, at_above = above ? lane + h : last;  // zeros stand at `last`
    const T a_below = from(a, at_below), c_below = from(c, at_below), f_below = from(f, at_below);
    const T a_above = from(a, at_above), c_above = from(c, at_above), f_above = from(f, at_above);
    const T pivot = T{1} - a * c_below - c * a_above, inverse = inverse_of(pivot);
    steady = steady && pivot >= steady_pivot;
    f = (f - a * f_below - c * f_above) * inverse;
    a = a * inverse * (below ? -a_below : T{1});
    c = c * inverse * (above ? -c_above : T{1});
  }
  if (inside) own = {a, c, f};
  const T a_last = from(a, last - 1), c_last = from(c, last - 1), f_last = from(f, last - 1);
  return {run.first_before - run.first_last * a, -run.first_last * c,
          run.first_rhs - run.first_last * f,    -run.before * a_last,
          run.diagonal - run.before * c_last,    run.after,
          run.rhs - run.before * f_last};
}

/// The separators of a block's threads.
template <real T, int Threads>
class separated_rows {
 public:
  static constexpr int warps = Threads / 32;
  struct room {
    row_run<T> runs[warps];
  };

  /// Joins the runs of all threads. Returns that of the block: its first unknown is right in lane 0, its last
  /// row in lane `warps` - 1 of every warp. run: of this thread's rows. sound: becomes false where it is so for
  /// a thread, or separators are not steady.
  __device__ row_run<T> join(const row_run<T>& run, room& shared, int thread, bool& sound) {
    const int lane = thread % 32, warp = thread / 32;
    const row_run<T> of_warp = join_lanes<5>(run, lane, 32, in_warp_, sound);
    row_run<T>& slot = shared.runs[warp];
    if (lane == 0) {
      slot.first_before = of_warp.first_before;
      slot.first_last = of_warp.first_last;
      slot.first_rhs = of_warp.first_rhs;
    }
    if (lane == 31) {
      slot.before = of_warp.before;
      slot.diagonal = of_warp.diagonal;
      slot.after = of_warp.after;
      slot.rhs = of_warp.rhs;
    }
    sound = __syncthreads_and(sound) != 0;
    constexpr int levels = std::bit_width(warps - 2u);  // until separators know those beyond both ends
    const row_run<T> block =
        join_lanes<levels>(shared.runs[min(lane, warps - 1)], lane, warps, in_block_, sound);
    sound = __all_sync(~0u, sound) != 0;  // every warp has found the same
    return block;
  }

  /// The last unknown of this thread's rows and the one before its first, from those of the block.
  __device__ void solve(T block_before, T block_last, int thread, T& before, T& last) const {
    const int lane = thread % 32, warp = thread / 32;
    const T of_warps = in_block_.rhs - in_block_.before * block_before - in_block_.last * block_last;
    const T warp_last = __shfl_sync(~0u, of_warps, warp), below = __shfl_sync(~0u, of_warps, max(warp - 1, 0));
    const T warp_before = warp > 0 ? below : block_before;
    last = in_warp_.rhs - in_warp_.before * warp_before - in_warp_.last * warp_last;
    const T left = __shfl_up_sync(~0u, last, 1);
    before = lane > 0 ? left : warp_before;
  }

  /// A bound on what the unknown before the block and, if asked, that at its end contribute to this thread's
  /// last one.
  __device__ T coupling(int thread, bool of_end) const {
    const int warp = thread / 32;
    const T before = magnitude_of(in_block_.before), last = magnitude_of(in_block_.last);
    const auto of_warp = [&](T value) { return __shfl_sync(~0u, value, warp); };
    const auto below = [&](T value) { return __shfl_sync(~0u, value, max(warp - 1, 0)); };
    const T before_here = of_warp(before), before_below = below(before), last_here = of_warp(last),
            last_below = below(last);
    const T share_before = magnitude_of(in_warp_.before), share_last = magnitude_of(in_warp_.last);
    const T of_before = share_before * (warp > 0 ? before_below : T{1}) + share_last * before_here;
    const T of_last = share_before * (warp > 0 ? last_below : T{0}) + share_last * last_here;
    return of_end ? of_before + of_last : of_before;
  }

 private:
  separator<T> in_warp_, in_block_;
};

/// Fills in a thread's rows into d: all but the last from what reduce_run() left. Returns 0, or NaN where an
/// unknown is no number.
template <int Count, class Rows, real T>
__device__ T fill_run(const Rows& rows, T before, T last) {
  T next = last, rest = last * 0;
#pragma unroll
  for (int k = Count - 2; k >= 0; --k) {
    next = rows.f(k) - rows.a(k) * before - rows.c(k) * next;
    rows.d(k) = next;
    rest = next * 0 + rest;
  }
  rows.d(Count - 1) = last;
  return rest;
}

}  // namespace vouch::detail
