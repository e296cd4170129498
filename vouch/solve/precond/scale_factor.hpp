// vouch/solve/precond/scale_factor.hpp -- the factor of one row in Jacobi scaling; private, for the CPU and the
// GPU alike.
#pragma once
#include <cmath>

#include <vouch/core/types.hpp>
#include <vouch/solve/precond/scaling.hpp>

namespace vouch {

/// sqrt(inverse), or the power of two s with inverse <= 2 s^2 < 4 inverse.
template <real T>
VOUCH_HOST_DEVICE inline T scale_factor(T inverse, scale_rounding rounding) {
  using std::ilogb;
  using std::ldexp;
  using std::sqrt;
  if (rounding == scale_rounding::nearest) return sqrt(inverse);
  return ldexp(T(1), (ilogb(inverse) + 1) >> 1);
}

/// a_ij s_i s_j, the same for a_ji.
template <real T>
VOUCH_HOST_DEVICE inline T scaled_entry(T a, T si, T sj) {
  return a * (si * sj);
}

/// scale_i := scale_factor(scale_i), on the device that holds them.
template <real T>
void scale_factors(const device& dev, scale_rounding rounding, array<T>& scale);

// The CUDA sides: scale holds the inverse diagonal and receives the factors; B has the pattern of A.
template <real T>
void scale_factors_cuda(const device& dev, scale_rounding rounding, std::int64_t n, T* scale);
template <real T>
void scale_entries_cuda(const device& dev, csr_view<const T> A, const T* scale, T* out);

}  // namespace vouch
