// vouch/band/packed_joint.cuh -- joints on their way through global memory; private.
//
// The first pivot at a joint is a row of one of the two pieces, which says nothing of the far end of the other:
// two of the numbers are zero.
#pragma once
#include <vouch/band/chunk.cuh>
#include <vouch/core/gpu/l2_policy.cuh>

namespace vouch::detail {

/// A joint, in a slot joint::first and then joint::last, without its zeros.
class packed_joint {
 public:
  static constexpr int size = slot_size - 2;

  /// Of a slot.
  __device__ explicit packed_joint(const double* slot) : with_before_(slot[8] == 0 && slot[9] == 0) {
#pragma unroll
    for (int k = 0; k < size; ++k) numbers_[k] = slot[place(k)];
  }
  /// As put() has left it.
  __device__ packed_joint(const double* from, int step, bool with_before) : with_before_(with_before) {
#pragma unroll
    for (int k = 0; k < size; ++k) numbers_[k] = from[k * step];
  }
  /// It is read again before most of what passes through L2 meanwhile.
  __device__ void put(double* to, int step) const {
#pragma unroll
    for (int k = 0; k < size; ++k) store(to + k * step, numbers_[k], evict_last_policy());
  }
  __device__ void unpack(double* slot) const {
#pragma unroll
    for (int k = 6; k < slot_size - 1; ++k) slot[k] = 0;
#pragma unroll
    for (int k = 0; k < size; ++k) slot[place(k)] = numbers_[k];
  }
  /// Whether the row of the first pivot is one of the piece before the joint.
  __device__ bool with_before() const { return with_before_; }

 private:
  // Of joint::last the factor of x_f, those of left and first or of last and right, and the right-hand side.
  __device__ int place(int k) const {
    return k < 6 ? k : k == size - 1 ? slot_size - 1 : with_before_ ? k : k + 2;
  }

  double numbers_[size];
  bool with_before_;
};

}  // namespace vouch::detail
