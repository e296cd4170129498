// vouch/dense/directed_mma.cuh -- FP64 tensor cores that round in one direction; private.
#pragma once

namespace vouch::detail {

enum class toward { down, up };

/// c += a b in the warp's usual layout: 16 by 8 by 4, and 16 by 8 by 8. Each element is a chain of fused
/// multiply-adds over k, all rounded in one direction.
template <toward R>
__device__ inline void multiply_add(double (&c)[4], const double (&a)[2], const double (&b)[1]) {
#define VOUCH_MMA(mode)                                                     \
  asm volatile("mma.sync.aligned.m16n8k4.row.col." mode                     \
               ".f64.f64.f64.f64 {%0,%1,%2,%3},{%4,%5},{%6},{%0,%1,%2,%3};" \
               : "+d"(c[0]), "+d"(c[1]), "+d"(c[2]), "+d"(c[3])             \
               : "d"(a[0]), "d"(a[1]), "d"(b[0]))
  if constexpr (R == toward::down) VOUCH_MMA("rm");
  if constexpr (R == toward::up) VOUCH_MMA("rp");
#undef VOUCH_MMA
}

template <toward R>
__device__ inline void multiply_add(double (&c)[4], const double (&a)[4], const double (&b)[2]) {
#define VOUCH_MMA(mode)                                                              \
  asm volatile("mma.sync.aligned.m16n8k8.row.col." mode                              \
               ".f64.f64.f64.f64 {%0,%1,%2,%3},{%4,%5,%6,%7},{%8,%9},{%0,%1,%2,%3};" \
               : "+d"(c[0]), "+d"(c[1]), "+d"(c[2]), "+d"(c[3])                      \
               : "d"(a[0]), "d"(a[1]), "d"(a[2]), "d"(a[3]), "d"(b[0]), "d"(b[1]))
  if constexpr (R == toward::down) VOUCH_MMA("rm");
  if constexpr (R == toward::up) VOUCH_MMA("rp");
#undef VOUCH_MMA
}

/// The part of one sign, by the sign bit.
__device__ inline double plus(double x) { return __double2hiint(x) < 0 ? 0.0 : x; }
__device__ inline double minus(double x) { return __double2hiint(x) < 0 ? x : 0.0; }

}  // namespace vouch::detail
