// vouch/solve/precond/complex_diagonal.hpp -- the diagonal of the real form of a complex matrix; private.
#pragma once
#include <cmath>
#include <cstdint>
#include <memory>

#include <vouch/core/device.hpp>
#include <vouch/core/types.hpp>
#include <vouch/solve/loop/operator.hpp>
#include <vouch/solve/precond/complex_rows.hpp>
#include <vouch/sparse/csr.hpp>

namespace vouch {

/// Divides each number by its diagonal entry of the complex matrix with the real form A; nullptr where A is no such
/// form, or its diagonal is real.
///
/// Throws  value_error  a diagonal entry is zero, not stored, or too small or large for its inverse
template <real T>
std::unique_ptr<preconditioner<T>> complex_jacobi(const device& dev, csr_view<const T> A);

/// The inverse of diagonal number i in out; false, and the number itself there, where it has none.
template <real T>
VOUCH_HOST_DEVICE inline bool invert_number(csr_view<const T> A, std::int64_t i, T* out) {
  const double a = entry_at(A, 2 * i, 2 * i), b = entry_at(A, 2 * i + 1, 2 * i);
  const bool real_first = std::fabs(a) >= std::fabs(b);
  const double large = real_first ? a : b, ratio = (real_first ? b : a) / large;
  const double inverse = 1 / (large + ratio * (real_first ? b : a));
  const T re = static_cast<T>(real_first ? inverse : ratio * inverse);
  const T im = static_cast<T>(real_first ? -ratio * inverse : -inverse);
  const bool good = large != 0 && std::isfinite(re) && std::isfinite(im) && (re != 0 || im != 0);
  out[2 * i] = good ? re : static_cast<T>(a);
  out[2 * i + 1] = good ? im : static_cast<T>(b);
  return good;
}

// bad receives the first number without an inverse, or stays.
template <real T>
void invert_numbers_cuda(const device& dev, csr_view<const T> A, T* out, std::uint64_t* bad);

}  // namespace vouch
