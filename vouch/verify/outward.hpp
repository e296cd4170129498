// vouch/verify/outward.hpp -- bounds of single operations and error-free ones, for a number or a vector of
// them; private, CPU and GPU.
//
// V is double or lanes<double>. On a GPU bounds are the correctly rounded ones. On a CPU they are what rounding
// to nearest gave, moved by one or two units of the last place and by `tiny`, which takes no branch. A bound
// that would overflow is infinite or NaN.
#pragma once
#include <cmath>
#include <type_traits>

#include <vouch/core/double_double.hpp>
#include <vouch/core/simd.hpp>

// Inlined always: what is made of vectors must take the instruction set of its caller.
#define VOUCH_OUTWARD_INLINE VOUCH_HOST_DEVICE inline __attribute__((always_inline))

namespace vouch::detail::outward {

// Above whatever underflow takes from a single operation, and never subnormal, which would be slow.
inline constexpr double tiny = 0x1p-1000;
inline constexpr double wider = 1 + 0x1p-51, narrower = 1 - 0x1p-51;

template <class V>
VOUCH_OUTWARD_INLINE V spread(double number) {
  return V{} + number;
}

template <class V>
VOUCH_OUTWARD_INLINE V magnitude(const V& v) {
  if constexpr (std::is_same_v<V, double>)
    return std::fabs(v);
  else
    return v < 0 ? -v : v;
}

/// The larger; NaN where one of them is.
template <class V>
VOUCH_OUTWARD_INLINE V larger_or_nan(const V& a, const V& b) {
  return ((b > a) | (b != b)) ? b : a;
}

/// At least a b, for a, b >= 0.
template <class V>
VOUCH_OUTWARD_INLINE V product_above(const V& a, const V& b) {
#if defined(__CUDA_ARCH__)
  return __dmul_ru(a, b);
#else
  return a * b * wider + tiny;
#endif
}

/// At most a b, for a, b >= 0; perhaps negative.
template <class V>
VOUCH_OUTWARD_INLINE V product_below(const V& a, const V& b) {
#if defined(__CUDA_ARCH__)
  return __dmul_rd(a, b);
#else
  return a * b * narrower - tiny;
#endif
}

/// At least a + b, for a, b >= 0.
template <class V>
VOUCH_OUTWARD_INLINE V sum_above(const V& a, const V& b) {
#if defined(__CUDA_ARCH__)
  return __dadd_ru(a, b);
#else
  return (a + b) * wider;
#endif
}

/// At most a - b.
template <class V>
VOUCH_OUTWARD_INLINE V difference_below(const V& a, const V& b) {
#if defined(__CUDA_ARCH__)
  return __dadd_rd(a, -b);
#else
  const V difference = a - b;
  return difference - magnitude<V>(difference) * 0x1p-52;
#endif
}

/// At least a / b, for a >= 0 and b > 0. On a GPU by an inverse y with abs(1 - b y) <= 2^-48, which is checked,
/// so that 1 / b <= y (1 + 2^-47).
template <class V>
VOUCH_OUTWARD_INLINE V quotient_above(const V& a, const V& b) {
#if defined(__CUDA_ARCH__)
  double guess;
  asm("rcp.approx.ftz.f64 %0, %1;" : "=d"(guess) : "d"(b));
  const double error = __fma_rn(-b, guess, 1.0);
  const double y = __fma_rn(guess, __fma_rn(error, error, error), guess);
  if (!(fabs(__fma_rn(-b, y, 1.0)) <= 0x1p-49)) return __ddiv_ru(a, b);
  return __dmul_ru(a, __dmul_ru(y, 1 + 0x1p-47));
#else
  return a / b * wider + tiny;
#endif
}

/// At least |a b + c|, where c itself was rounded to nearest or, with exact = true, is what it is.
VOUCH_OUTWARD_INLINE double size_of_fused_above(double a, double b, double c, bool exact) {
  const double slack = exact ? 0 : std::fabs(c) * 0x1p-52 + tiny;
#if defined(__CUDA_ARCH__)
  return __dadd_ru(::fmax(std::fabs(__fma_rd(a, b, c)), std::fabs(__fma_ru(a, b, c))), slack);
#else
  return (std::fabs(std::fma(a, b, c)) + slack) * wider + tiny;
#endif
}

/// hi + lo.
template <class V>
struct pair_of {
  V hi, lo;
};

/// hi + lo == a + b exactly, hi = fl(a + b).
template <class V>
VOUCH_OUTWARD_INLINE pair_of<V> exact_sum(const V& a, const V& b) {
  const V s = a + b, z = s - a;
  return {s, (a - (s - z)) + (b - z)};
}

template <class V>
VOUCH_OUTWARD_INLINE bool any(const V& mask) {
  if constexpr (std::is_same_v<V, bool>) {
    return mask;
  } else {
    bool found = false;
    for (int l = 0; l < simd<double>::width; ++l) found |= mask[l] != 0;
    return found;
  }
}

/// hi + lo == a b exactly, hi = fl(a b), for |a b| >= least_exact_product or a b = 0; smaller products err by
/// less than `tiny`. Vectors: NaN for factors above 2^995. Source  Dekker 1971: not all vectors have fused
/// operations.
inline constexpr double least_exact_product = 0x1p-960;
template <class V>
VOUCH_OUTWARD_INLINE pair_of<V> exact_product(const V& a, const V& b) {
  if constexpr (std::is_same_v<V, double>) {
    const double_double<double> p = two_prod(a, b);
    return {p.hi, p.lo};
  } else {
    constexpr double half = 0x1p27 + 1;
    const V big_a = a * half, big_b = b * half;
    const V a_hi = big_a - (big_a - a), b_hi = big_b - (big_b - b), a_lo = a - a_hi, b_lo = b - b_hi;
    const V p = a * b;
    return {p, ((a_hi * b_hi - p) + a_hi * b_lo + a_lo * b_hi) + a_lo * b_lo};
  }
}

}  // namespace vouch::detail::outward
