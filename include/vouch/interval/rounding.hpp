// vouch/interval/rounding.hpp -- sums, products, quotients and roots rounded downwards and upwards.
#pragma once
#include <vouch/core/ieee_environment.hpp>
#include <vouch/core/types.hpp>
#include <vouch/core/visibility.hpp>
#include <vouch/interval/rounding_host.hpp>

VOUCH_AS_WRITTEN_BEGIN
namespace VOUCH_PUBLIC vouch {

namespace rounding {

// These are for callers that have seen to the floating-point environment.

VOUCH_HOST_DEVICE inline double add_down(double a, double b) {
#if defined(__CUDA_ARCH__)
  return __dadd_rd(a, b);
#else
  return sum<direction::down>(a, b);
#endif
}
VOUCH_HOST_DEVICE inline float add_down(float a, float b) {
#if defined(__CUDA_ARCH__)
  return __fadd_rd(a, b);
#else
  return sum<direction::down>(a, b);
#endif
}
VOUCH_HOST_DEVICE inline double add_up(double a, double b) {
#if defined(__CUDA_ARCH__)
  return __dadd_ru(a, b);
#else
  return sum<direction::up>(a, b);
#endif
}
VOUCH_HOST_DEVICE inline float add_up(float a, float b) {
#if defined(__CUDA_ARCH__)
  return __fadd_ru(a, b);
#else
  return sum<direction::up>(a, b);
#endif
}
VOUCH_HOST_DEVICE inline double sub_down(double a, double b) {
#if defined(__CUDA_ARCH__)
  return __dsub_rd(a, b);
#else
  return sum<direction::down>(a, -b);
#endif
}
VOUCH_HOST_DEVICE inline float sub_down(float a, float b) {
#if defined(__CUDA_ARCH__)
  return __fsub_rd(a, b);
#else
  return sum<direction::down>(a, -b);
#endif
}
VOUCH_HOST_DEVICE inline double sub_up(double a, double b) {
#if defined(__CUDA_ARCH__)
  return __dsub_ru(a, b);
#else
  return sum<direction::up>(a, -b);
#endif
}
VOUCH_HOST_DEVICE inline float sub_up(float a, float b) {
#if defined(__CUDA_ARCH__)
  return __fsub_ru(a, b);
#else
  return sum<direction::up>(a, -b);
#endif
}
VOUCH_HOST_DEVICE inline double mul_down(double a, double b) {
#if defined(__CUDA_ARCH__)
  return __dmul_rd(a, b);
#else
  return product<direction::down>(a, b);
#endif
}
VOUCH_HOST_DEVICE inline float mul_down(float a, float b) {
#if defined(__CUDA_ARCH__)
  return __fmul_rd(a, b);
#else
  return product<direction::down>(a, b);
#endif
}
VOUCH_HOST_DEVICE inline double mul_up(double a, double b) {
#if defined(__CUDA_ARCH__)
  return __dmul_ru(a, b);
#else
  return product<direction::up>(a, b);
#endif
}
VOUCH_HOST_DEVICE inline float mul_up(float a, float b) {
#if defined(__CUDA_ARCH__)
  return __fmul_ru(a, b);
#else
  return product<direction::up>(a, b);
#endif
}
VOUCH_HOST_DEVICE inline double div_down(double a, double b) {
#if defined(__CUDA_ARCH__)
  return __ddiv_rd(a, b);
#else
  return quotient<direction::down>(a, b);
#endif
}
VOUCH_HOST_DEVICE inline float div_down(float a, float b) {
#if defined(__CUDA_ARCH__)
  return __fdiv_rd(a, b);
#else
  return quotient<direction::down>(a, b);
#endif
}
VOUCH_HOST_DEVICE inline double div_up(double a, double b) {
#if defined(__CUDA_ARCH__)
  return __ddiv_ru(a, b);
#else
  return quotient<direction::up>(a, b);
#endif
}
VOUCH_HOST_DEVICE inline float div_up(float a, float b) {
#if defined(__CUDA_ARCH__)
  return __fdiv_ru(a, b);
#else
  return quotient<direction::up>(a, b);
#endif
}
VOUCH_HOST_DEVICE inline double sqrt_down(double a) {
#if defined(__CUDA_ARCH__)
  return __dsqrt_rd(a);
#else
  return root<direction::down>(a);
#endif
}
VOUCH_HOST_DEVICE inline float sqrt_down(float a) {
#if defined(__CUDA_ARCH__)
  return __fsqrt_rd(a);
#else
  return root<direction::down>(a);
#endif
}
VOUCH_HOST_DEVICE inline double sqrt_up(double a) {
#if defined(__CUDA_ARCH__)
  return __dsqrt_ru(a);
#else
  return root<direction::up>(a);
#endif
}
VOUCH_HOST_DEVICE inline float sqrt_up(float a) {
#if defined(__CUDA_ARCH__)
  return __fsqrt_ru(a);
#else
  return root<direction::up>(a);
#endif
}
VOUCH_HOST_DEVICE inline double fma_down(double a, double b, double c) {
#if defined(__CUDA_ARCH__)
  return __fma_rd(a, b, c);
#else
  return product_plus<direction::down>(a, b, c);
#endif
}
VOUCH_HOST_DEVICE inline float fma_down(float a, float b, float c) {
#if defined(__CUDA_ARCH__)
  return __fmaf_rd(a, b, c);
#else
  return product_plus<direction::down>(a, b, c);
#endif
}
VOUCH_HOST_DEVICE inline double fma_up(double a, double b, double c) {
#if defined(__CUDA_ARCH__)
  return __fma_ru(a, b, c);
#else
  return product_plus<direction::up>(a, b, c);
#endif
}
VOUCH_HOST_DEVICE inline float fma_up(float a, float b, float c) {
#if defined(__CUDA_ARCH__)
  return __fmaf_ru(a, b, c);
#else
  return product_plus<direction::up>(a, b, c);
#endif
}

}  // namespace rounding

// NAME_down and NAME_up return the largest number of type T that is not above, and the smallest that is not
// below, the exact result: also where that is subnormal or beyond the largest number.
//
// Result  A zero may have either sign. Infinite operands give what arithmetic in the extended reals gives and,
//         where that is undefined, NaN: 0 * inf, inf - inf, inf / inf, 0 / 0, the root of a negative number.
//         x / 0 is an infinity.
// Source  On the host, operations to nearest and the exact sign of their error, from error-free
// transformations:
//         Dekker 1971; Boldo, Graillat, Muller, ACM TOMS 44 (2017) on overflow in the sum; Boldo, Muller, IEEE
//         TC 60 (2011) for fma. No rounding mode is ever switched.
//         On the device, the instructions that carry a rounding mode.

VOUCH_HOST_DEVICE inline double add_down(double a, double b) {
  VOUCH_IN_IEEE_UNLESS(rounding::is_usual(a, b), add_down(a, b));
  return rounding::add_down(a, b);
}
VOUCH_HOST_DEVICE inline float add_down(float a, float b) {
  VOUCH_IN_IEEE_UNLESS(rounding::is_usual(a, b), add_down(a, b));
  return rounding::add_down(a, b);
}
VOUCH_HOST_DEVICE inline double add_up(double a, double b) {
  VOUCH_IN_IEEE_UNLESS(rounding::is_usual(a, b), add_up(a, b));
  return rounding::add_up(a, b);
}
VOUCH_HOST_DEVICE inline float add_up(float a, float b) {
  VOUCH_IN_IEEE_UNLESS(rounding::is_usual(a, b), add_up(a, b));
  return rounding::add_up(a, b);
}
VOUCH_HOST_DEVICE inline double sub_down(double a, double b) {
  VOUCH_IN_IEEE_UNLESS(rounding::is_usual(a, b), sub_down(a, b));
  return rounding::sub_down(a, b);
}
VOUCH_HOST_DEVICE inline float sub_down(float a, float b) {
  VOUCH_IN_IEEE_UNLESS(rounding::is_usual(a, b), sub_down(a, b));
  return rounding::sub_down(a, b);
}
VOUCH_HOST_DEVICE inline double sub_up(double a, double b) {
  VOUCH_IN_IEEE_UNLESS(rounding::is_usual(a, b), sub_up(a, b));
  return rounding::sub_up(a, b);
}
VOUCH_HOST_DEVICE inline float sub_up(float a, float b) {
  VOUCH_IN_IEEE_UNLESS(rounding::is_usual(a, b), sub_up(a, b));
  return rounding::sub_up(a, b);
}
VOUCH_HOST_DEVICE inline double mul_down(double a, double b) {
  VOUCH_IN_IEEE_UNLESS(rounding::is_usual(a, b), mul_down(a, b));
  return rounding::mul_down(a, b);
}
VOUCH_HOST_DEVICE inline float mul_down(float a, float b) {
  VOUCH_IN_IEEE_UNLESS(rounding::is_usual(a, b), mul_down(a, b));
  return rounding::mul_down(a, b);
}
VOUCH_HOST_DEVICE inline double mul_up(double a, double b) {
  VOUCH_IN_IEEE_UNLESS(rounding::is_usual(a, b), mul_up(a, b));
  return rounding::mul_up(a, b);
}
VOUCH_HOST_DEVICE inline float mul_up(float a, float b) {
  VOUCH_IN_IEEE_UNLESS(rounding::is_usual(a, b), mul_up(a, b));
  return rounding::mul_up(a, b);
}
VOUCH_HOST_DEVICE inline double div_down(double a, double b) {
  VOUCH_IN_IEEE_UNLESS(rounding::is_usual(a, b), div_down(a, b));
  return rounding::div_down(a, b);
}
VOUCH_HOST_DEVICE inline float div_down(float a, float b) {
  VOUCH_IN_IEEE_UNLESS(rounding::is_usual(a, b), div_down(a, b));
  return rounding::div_down(a, b);
}
VOUCH_HOST_DEVICE inline double div_up(double a, double b) {
  VOUCH_IN_IEEE_UNLESS(rounding::is_usual(a, b), div_up(a, b));
  return rounding::div_up(a, b);
}
VOUCH_HOST_DEVICE inline float div_up(float a, float b) {
  VOUCH_IN_IEEE_UNLESS(rounding::is_usual(a, b), div_up(a, b));
  return rounding::div_up(a, b);
}
VOUCH_HOST_DEVICE inline double sqrt_down(double a) {
  VOUCH_IN_IEEE_UNLESS(rounding::is_usual(a), sqrt_down(a));
  return rounding::sqrt_down(a);
}
VOUCH_HOST_DEVICE inline float sqrt_down(float a) {
  VOUCH_IN_IEEE_UNLESS(rounding::is_usual(a), sqrt_down(a));
  return rounding::sqrt_down(a);
}
VOUCH_HOST_DEVICE inline double sqrt_up(double a) {
  VOUCH_IN_IEEE_UNLESS(rounding::is_usual(a), sqrt_up(a));
  return rounding::sqrt_up(a);
}
VOUCH_HOST_DEVICE inline float sqrt_up(float a) {
  VOUCH_IN_IEEE_UNLESS(rounding::is_usual(a), sqrt_up(a));
  return rounding::sqrt_up(a);
}
VOUCH_HOST_DEVICE inline double fma_down(double a, double b, double c) {
  VOUCH_IN_IEEE(fma_down(a, b, c));
  return rounding::fma_down(a, b, c);
}
VOUCH_HOST_DEVICE inline float fma_down(float a, float b, float c) {
  VOUCH_IN_IEEE(fma_down(a, b, c));
  return rounding::fma_down(a, b, c);
}
VOUCH_HOST_DEVICE inline double fma_up(double a, double b, double c) {
  VOUCH_IN_IEEE(fma_up(a, b, c));
  return rounding::fma_up(a, b, c);
}
VOUCH_HOST_DEVICE inline float fma_up(float a, float b, float c) {
  VOUCH_IN_IEEE(fma_up(a, b, c));
  return rounding::fma_up(a, b, c);
}

}  // namespace vouch
VOUCH_AS_WRITTEN_END
