// vouch/solve/precond/chebyshev_kernels.hpp -- the vector sweeps of the Chebyshev recurrence and of Lanczos's;
// private.
#pragma once
#include <cmath>
#include <cstdint>

#include <vouch/core/device.hpp>
#include <vouch/core/types.hpp>
#include <vouch/sparse/csr.hpp>

namespace vouch {

/// previous := keep*z + momentum*previous + step*(r - w)/D, one step of either recurrence; r == nullptr stands
/// for zero, and momentum == 0 does not read previous.
template <real T>
struct three_terms {
  T keep, momentum, step;
  const T* r;
  const T* w;
  const T* inverse;  // 1/D
  const T* z;
  T* previous;

  VOUCH_HOST_DEVICE void operator()(std::int64_t i) const {
    const T residual = r != nullptr ? r[i] - w[i] : -w[i];
    previous[i] = next(residual, inverse[i], z[i], momentum != T{} ? previous[i] : T{});
  }
  /// The new iterate's element, from those of r - w, 1/D, z and previous.
  VOUCH_HOST_DEVICE T next(T residual, T inverse_i, T zi, T before) const {
    const T moved = momentum != T{} ? momentum * before : T{};
    return keep * zi + moved + step * (inverse_i * residual);
  }
};

/// The sum of |a_ij| in a row, over a_ii.
template <real T>
VOUCH_HOST_DEVICE inline double relative_row_sum(csr_view<const T> A, const T* inverse, std::int64_t i) {
  double sum = 0;
  for (std::int64_t k = A.row_ptr[i]; k < A.row_ptr[i + 1]; ++k) sum += fabs(static_cast<double>(A.val[k]));
  return sum * static_cast<double>(inverse[i]);
}

// The CUDA sides.
template <real T>
void three_terms_cuda(const device& dev, std::int64_t n, const three_terms<T>& step);
/// z := factor * r / D
template <real T>
void first_iterate_cuda(const device& dev, std::int64_t n, T factor, const T* inverse, const T* r, T* z);
/// out := x * y, or x * y * D with inverse = 1/D.
template <real T>
void products_cuda(const device& dev, std::int64_t n, const T* x, const T* y, const T* inverse, T* out);
/// most receives the largest relative row sum, NaN if there is one; it starts at zero.
template <real T>
void largest_row_sum_cuda(const device& dev, csr_view<const T> A, const T* inverse, double* most);

}  // namespace vouch
