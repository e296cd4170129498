// vouch/band/factored/affine_scan.cuh -- what stretches of prefactored rows make of what comes into them,
// joined by the lanes of a warp; private.
#pragma once
#include <vouch/core/types.hpp>

namespace vouch::detail {

/// What a stretch of rows makes of what comes into it, y from before (z if symmetric) and x from behind: what
/// leaves it behind is out * before + out_rhs, its first unknown first_behind * behind + first_before * before
/// + first_rhs.
template <real T>
struct affine_map {
  T out, out_rhs, first_behind, first_before, first_rhs;

  /// Of no rows.
  __device__ static affine_map none() { return {1, 0, 1, 0, 0}; }
  /// With the stretch that follows.
  __device__ void append(const affine_map& next) {
    first_rhs += first_behind * (next.first_rhs + next.first_before * out_rhs);
    first_before += first_behind * (next.first_before * out);
    first_behind *= next.first_behind;
    out_rhs = next.out * out_rhs + next.out_rhs;
    out *= next.out;
  }
};

/// What comes into a stretch, by what comes into the whole that it is a part of.
template <real T>
struct incoming_map {
  T before_factor = 1, before_rhs = 0, behind_factor = 1, behind_before = 0, behind_rhs = 0;

  __device__ T before(T outer) const { return before_factor * outer + before_rhs; }
  __device__ T behind(T outer_before, T outer) const {
    return behind_factor * outer + (behind_before * outer_before + behind_rhs);
  }
  /// The same by what comes into a larger whole.
  __device__ incoming_map within(const incoming_map& whole) const {
    return {before_factor * whole.before_factor, before(whole.before_rhs), behind_factor * whole.behind_factor,
            behind_factor * whole.behind_before + behind_before * whole.before_factor,
            behind(whole.before_rhs, whole.behind_rhs)};
  }
};

template <real T>
__device__ T of_lane(T value, int lane) {
  return __shfl_sync(~0u, value, lane);
}
template <real T>
__device__ incoming_map<T> of_lane(const incoming_map<T>& of, int lane) {
  return {of_lane(of.before_factor, lane), of_lane(of.before_rhs, lane), of_lane(of.behind_factor, lane),
          of_lane(of.behind_before, lane), of_lane(of.behind_rhs, lane)};
}

/// Lanes hold `count` stretches, one after another from lane 0 on, then some without rows. Returns what comes
/// into each; of becomes, in every lane, the whole.
template <real T>
__device__ incoming_map<T> scan_affine_maps(affine_map<T>& of, int lane, int count) {
  const auto lower = [](T value, int d) { return __shfl_up_sync(~0u, value, static_cast<unsigned>(d)); };
  const auto upper = [](T value, int d) { return __shfl_down_sync(~0u, value, static_cast<unsigned>(d)); };
  for (int d = 1; d < count; d *= 2) {
    const T out = lower(of.out, d), out_rhs = lower(of.out_rhs, d);
    if (lane < d) continue;
    of.out_rhs = of.out * out_rhs + of.out_rhs;
    of.out *= out;
  }
  incoming_map<T> into{lower(of.out, 1), lower(of.out_rhs, 1)};
  if (lane == 0) into.before_factor = 1, into.before_rhs = 0;
  of.first_rhs += of.first_before * into.before_rhs;
  of.first_before *= into.before_factor;
  for (int d = 1; d < count; d *= 2) {
    const T behind = upper(of.first_behind, d), before = upper(of.first_before, d),
            rhs = upper(of.first_rhs, d);
    if (lane + d > 31) continue;
    of.first_rhs += of.first_behind * rhs;
    of.first_before += of.first_behind * before;
    of.first_behind *= behind;
  }
  into.behind_factor = upper(of.first_behind, 1);
  into.behind_before = upper(of.first_before, 1);
  into.behind_rhs = upper(of.first_rhs, 1);
  if (lane == 31) into.behind_factor = 1, into.behind_before = into.behind_rhs = 0;
  of = {of_lane(of.out, count - 1), of_lane(of.out_rhs, count - 1), of_lane(of.first_behind, 0),
        of_lane(of.first_before, 0), of_lane(of.first_rhs, 0)};
  return into;
}

/// The same for the threads of a block, at most 32 warps; published: shared room for an affine map of each.
/// All threads.
template <real T>
__device__ incoming_map<T> join_in_block(affine_map<T>& of, affine_map<T>* published, int thread, int warps) {
  const int lane = thread % 32, warp = thread / 32;
  const incoming_map<T> into_lane = scan_affine_maps(of, lane, 32);
  if (warps == 1) return into_lane;
  if (lane == 0) published[warp] = of;
  __syncthreads();
  of = lane < warps ? published[lane] : affine_map<T>::none();
  return into_lane.within(of_lane(scan_affine_maps(of, lane, warps), warp));
}

}  // namespace vouch::detail
