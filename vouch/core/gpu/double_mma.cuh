// vouch/core/gpu/double_mma.cuh -- products of the FP64 tensor cores from those that compute capability 8.0 has; private.
#pragma once

namespace vouch {

enum class rounding_mode { nearest, down, up };

/// c += a b, 8 by 8 by 4, in the warp's usual layout: a chain of fused multiply-adds over k, each rounded as R says.
template <rounding_mode R>
__device__ inline void multiply_add_eight(double& c0, double& c1, double a, double b) {
#define VOUCH_MMA(mode)                                                                             \
  asm volatile("mma.sync.aligned.m8n8k4.row.col" mode ".f64.f64.f64.f64 {%0,%1},{%2},{%3},{%0,%1};" \
               : "+d"(c0), "+d"(c1)                                                                 \
               : "d"(a), "d"(b))
  if constexpr (R == rounding_mode::nearest)
    VOUCH_MMA("");
  else if constexpr (R == rounding_mode::down)
    VOUCH_MMA(".rm");
  else
    VOUCH_MMA(".rp");
#undef VOUCH_MMA
}

/// c += a b, 16 by 8 by 4 Depth, with the operands of the larger instruction: a[h] has rows 8 (h % 2) + lane / 4 and
/// column 4 (h / 2) + lane % 4.
template <rounding_mode R, int Depth>
__device__ inline void multiply_add_in_parts(double (&c)[4], const double (&a)[2 * Depth],
                                             const double (&b)[Depth]) {
#pragma unroll
  for (int k = 0; k < Depth; ++k) {
    multiply_add_eight<R>(c[0], c[1], a[2 * k], b[k]);
    multiply_add_eight<R>(c[2], c[3], a[2 * k + 1], b[k]);
  }
}

}  // namespace vouch
