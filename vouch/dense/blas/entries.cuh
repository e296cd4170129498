// vouch/dense/blas/entries.cuh -- how kernels read entries, and the step of a sum for finite ones; private.
//
// Pairs of doubles are read as one word: intervals of double on a GPU are aligned to 16 bytes, as array and
// matrix make them.
#pragma once
#include <cmath>
#include <cstdint>

#include <vouch/dense/scalar.hpp>
#include <vouch/interval/complex_interval.hpp>

namespace vouch::detail {

template <class E>
__device__ inline E load_entry(const E* p) {
  return *p;
}
__device__ inline interval<double> load_entry(const interval<double>* p) {
  const double2 v = *reinterpret_cast<const double2*>(p);
  return interval<double>::unchecked(v.x, v.y);
}
__device__ inline interval<float> load_entry(const interval<float>* p) {
  const float2 v = *reinterpret_cast<const float2*>(p);
  return interval<float>::unchecked(v.x, v.y);
}
template <real T>
__device__ inline complex_interval<T> load_entry(const complex_interval<T>* p) {
  const auto* part = reinterpret_cast<const interval<T>*>(p);
  return {load_entry(part), load_entry(part + 1)};
}

/// Of the bits of a number those that order magnitudes, and what they are from infinity on.
__device__ inline unsigned magnitude_bits(double x) {
  return static_cast<unsigned>(__double2hiint(x)) & 0x7fffffffU;
}
__device__ inline unsigned magnitude_bits(float x) { return __float_as_uint(x) & 0x7fffffffU; }
template <class T>
__device__ inline unsigned magnitude_bits(interval<T> x) {
  return ::max(magnitude_bits(x.lo()), magnitude_bits(x.hi()));
}
template <class T>
__device__ inline unsigned magnitude_bits(complex_interval<T> z) {
  return ::max(magnitude_bits(z.real()), magnitude_bits(z.imag()));
}
template <class E>
inline constexpr unsigned infinite_bits = sizeof(bound_of<E>) == 8 ? 0x7ff00000U : 0x7f800000U;
template <real T>
inline constexpr unsigned infinite_bits<complex_interval<T>> = infinite_bits<T>;

__device__ inline bool is_negative(double x) { return __double2hiint(x) < 0; }
__device__ inline bool is_negative(float x) { return __float_as_int(x) < 0; }

/// multiply_add for finite a and x: what a zero or an infinite bound asks for need not be looked at. c may have
/// overflowed towards its own infinity.
template <scalar R, scalar A>
__device__ R multiply_add_finite(A a, R x, R c) {
  if constexpr (!is_interval<R>) {
    return ::fma(a, x, c);
  } else if constexpr (!is_interval<A>) {
    const bool negative = is_negative(a);
    return R::unchecked(fma_down(a, negative ? x.hi() : x.lo(), c.lo()),
                        fma_up(a, negative ? x.lo() : x.hi(), c.hi()));
  } else {
    const bool low = is_negative(a.lo()), high = is_negative(a.hi());
    const auto p = fma_down(a.lo(), low ? x.hi() : x.lo(), c.lo());
    const auto q = fma_down(a.hi(), high ? x.hi() : x.lo(), c.lo());
    const auto r = fma_up(a.lo(), low ? x.lo() : x.hi(), c.hi());
    const auto s = fma_up(a.hi(), high ? x.lo() : x.hi(), c.hi());
    return R::unchecked(p < q ? p : q, r > s ? r : s);
  }
}

/// Count elements of R in shared memory, which takes no constructors.
template <class R, int Count>
struct alignas(16) shared_elements {
  unsigned char bytes[sizeof(R) * Count];
  __device__ R& operator[](std::int64_t i) { return reinterpret_cast<R*>(bytes)[i]; }
};

}  // namespace vouch::detail
