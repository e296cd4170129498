// vouch/sparse/trusted.hpp -- operations on matrices that nobody needs to look through: their pattern is of our own
// making; private.
#pragma once
#include <cmath>

#include <vouch/core/device.hpp>
#include <vouch/core/types.hpp>
#include <vouch/sparse/csr.hpp>

namespace vouch::detail {

/// sum + a b, rounded once on every device.
VOUCH_HOST_DEVICE inline double plus_product(double sum, float a, float b) {
  return sum + static_cast<double>(a) * static_cast<double>(b);  // the product is a double
}
VOUCH_HOST_DEVICE inline double plus_product(double sum, double a, double b) { return std::fma(a, b, sum); }

/// As multiply() and transpose().
template <real T>
csr<T> multiply_trusted(const device& dev, csr_view<const T> A, csr_view<const T> B);
template <real T>
csr<T> transpose_trusted(const device& dev, csr_view<const T> A);

// The CUDA sides.
template <real T>
csr<T> multiply_cuda(const device& dev, csr_view<const T> A, csr_view<const T> B);
template <real T>
csr<T> transpose_cuda(const device& dev, csr_view<const T> A);

}  // namespace vouch::detail
