// vouch/band/lane_slots.cuh -- relations of a warp's lanes joined by a tree; private.
#pragma once
#include <vouch/band/chunk.cuh>

namespace vouch::detail {

/// The slots of a warp's tree: those that a level joins lie together.
template <class T>
struct lane_slots {
  T* first;
  __device__ T* operator()(int leaf) const {
    return first + (__brev(static_cast<unsigned>(leaf)) >> 27) * slot_size;
  }
};

/// Joins the leaves of a warp's lanes; the whole is in slot 0 after the call, for every lane.
template <class Joining, class Slots>
__device__ void join_lanes(const Slots& slot_of, int lane) {
#pragma unroll 1
  for (int step = 1; step < 32; step *= 2) {
    __syncwarp();
    const int left = 2 * step * lane;
    if (left < 32) Joining::join(slot_of(left), slot_of(left + step));
  }
  __syncwarp();
}

}  // namespace vouch::detail
