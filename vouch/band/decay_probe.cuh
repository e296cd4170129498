// vouch/band/decay_probe.cuh -- how fast the inverse decays along some rows, roughly; private.
//
// A row carries (x_k, x_{k-1}) to (x_{k+1}, x_k). What the product of many such matrices stretches most, over
// the root of its determinant, is what an unknown weighs less so far away. Numbers of single precision do: this
// decides what is tried, not what is right.
#pragma once
#include <vouch/band/relation.hpp>
#include <vouch/band/tridiagonal.hpp>

namespace vouch::detail {

constexpr int probed_rows = 4;  // of a lane
constexpr int probed_by_warp = 32 * probed_rows;

/// A product of what rows carry, entries of at most 1, and the bits by which unknowns decay over these rows.
class carried_unknowns {
 public:
  template <real T>
  __device__ void append(T a, T d, T c) {
    const T inverse = inverse_of(max(magnitude_of(d), max(magnitude_of(a), magnitude_of(c))));
    const float before = static_cast<float>(a * inverse), own = static_cast<float>(d * inverse),
                next = static_cast<float>(c * inverse);
    const float first[2] = {-own * p_[0] - before * p_[2], -own * p_[1] - before * p_[3]};
    p_[2] = next * p_[0], p_[3] = next * p_[1];
    p_[0] = first[0], p_[1] = first[1];
    bits_ -= 0.5F * __log2f(fabsf(before * next));
  }
  /// Of all lanes: their rows one after another, right in lane 0.
  __device__ void append_lanes() {
#pragma unroll 1
    for (int step = 1; step < 32; step *= 2) {
      scale();
      float q[4];
      for (int k = 0; k < 4; ++k) q[k] = __shfl_down_sync(~0u, p_[k], step);
      bits_ += __shfl_down_sync(~0u, bits_, step);
      const float product[4] = {q[0] * p_[0] + q[1] * p_[2], q[0] * p_[1] + q[1] * p_[3],
                                q[2] * p_[0] + q[3] * p_[2], q[2] * p_[1] + q[3] * p_[3]};
      for (int k = 0; k < 4; ++k) p_[k] = product[k];
    }
    scale();
  }
  /// No number, or infinite, where a row parts the system.
  __device__ float bits() const { return bits_; }

 private:
  __device__ void scale() {
    const float largest = fmaxf(fmaxf(fabsf(p_[0]), fabsf(p_[1])), fmaxf(fabsf(p_[2]), fabsf(p_[3])));
    const float inverse = __frcp_rn(largest);
    for (float& p : p_) p *= inverse;
    bits_ += __log2f(largest);
  }

  float p_[4] = {1, 0, 0, 1}, bits_ = 0;
};

/// Of a whole warp: whether an unknown weighs more than 2^-most at the other end of the stretch that its lanes
/// look at, probed_rows from `first` on each, all inner ones.
template <real T>
__device__ bool hardly_decays(const tridiagonal_view<const T>& A, std::int64_t system, std::int64_t first,
                              float most) {
  T a[probed_rows], d[probed_rows], c[probed_rows];
#pragma unroll
  for (int k = 0; k < probed_rows; ++k) {
    const std::int64_t at = A.shape.at(system, first + k);
    a[k] = A.dl[at], d[k] = A.d[at], c[k] = A.du[at];
  }
  carried_unknowns carried;
#pragma unroll
  for (int k = 0; k < probed_rows; ++k) carried.append(a[k], d[k], c[k]);
  carried.append_lanes();
  return __shfl_sync(~0u, carried.bits(), 0) < most;
}

}  // namespace vouch::detail
