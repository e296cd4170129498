// vouch/core/double_double.hpp -- unevaluated sums hi + lo of two floating-point numbers ("double-double").
#pragma once
#include <vouch/core/fused.hpp>
#include <vouch/core/types.hpp>
#include <vouch/core/visibility.hpp>

VOUCH_AS_WRITTEN_BEGIN
namespace VOUCH_PUBLIC vouch {

/// hi + lo with |lo| <= ulp(hi)/2 after every operation below.
///
/// Result  Sums and products err by at most a few units in 2^-104 for double and 2^-46 for float, relative to
///         the sum of magnitudes for sums, as long as nothing overflows or underflows.
/// Source  Dekker 1971; Knuth TAOCP 2, 4.2.2; Ogita, Rump, Oishi, SIAM J. Sci. Comput. 26 (2005).
template <real T>
struct double_double {
  T hi{};
  T lo{};
};

/// s + e == a + b exactly, s = fl(a + b).
template <real T>
VOUCH_HOST_DEVICE inline double_double<T> two_sum(T a, T b) {
  const T s = a + b;
  const T z = s - a;
  return {s, (a - (s - z)) + (b - z)};
}

/// As two_sum, for |a| >= |b| or a == 0.
template <real T>
VOUCH_HOST_DEVICE inline double_double<T> quick_two_sum(T a, T b) {
  const T s = a + b;
  return {s, b - (s - a)};
}

/// fl(a * b), kept from being fused with a later sum: nvcc contracts a*b + c where it sees them together.
template <real T>
VOUCH_HOST_DEVICE inline T rounded_product(T a, T b) {
#if defined(__CUDA_ARCH__)
  if constexpr (sizeof(T) == sizeof(double))
    return __dmul_rn(a, b);
  else
    return __fmul_rn(a, b);
#else
  return a * b;
#endif
}

/// p + e == a * b exactly, p = fl(a * b).
template <real T>
VOUCH_HOST_DEVICE inline double_double<T> two_prod(T a, T b) {
  const T p = rounded_product(a, b);
  return {p, fused(a, b, -p)};
}

template <real T>
VOUCH_HOST_DEVICE inline double_double<T> operator+(double_double<T> a, double_double<T> b) {
  const double_double<T> s = two_sum(a.hi, b.hi);
  const double_double<T> t = two_sum(a.lo, b.lo);
  const double_double<T> u = quick_two_sum(s.hi, s.lo + t.hi);
  return quick_two_sum(u.hi, t.lo + u.lo);
}

template <real T>
VOUCH_HOST_DEVICE inline double_double<T> operator+(double_double<T> a, T b) {
  const double_double<T> s = two_sum(a.hi, b);
  return quick_two_sum(s.hi, s.lo + a.lo);
}

/// a + b*c with the product exact before the sum.
template <real T>
VOUCH_HOST_DEVICE inline double_double<T> add_product(double_double<T> a, T b, T c) {
  return a + two_prod(b, c);
}

}  // namespace vouch
VOUCH_AS_WRITTEN_END
