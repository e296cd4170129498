// vouch/dense/blas/pieces_portable.hpp -- vector loops of one thread over contiguous elements, for any processor;
// private.
//
// Sums run over the lanes of summation.hpp.
// pieces_avx512.hpp gives the same bits, the sign of a zero apart.
#pragma once
#include <cstdint>

#include <vouch/dense/blas/summation.hpp>
#include <vouch/dense/scalar.hpp>

namespace vouch::detail {

template <scalar R>
struct lane_sums {
  R lane[lane_count<R>] = {};

  R total() {
    for (int half = lane_count<R> / 2; half > 0; half /= 2)
      for (int l = 0; l < half; ++l) lane[l] = lane[l] + lane[l + half];
    return lane[0];
  }
};

namespace portable {

/// y := sum of alpha_c x_c over the columns + y, or without y where not Add, for count elements from `first`
/// on.
template <int Columns, bool Add, scalar R, scalar X>
void axpy_columns(std::int64_t count, const R* alpha, const X* const* x, std::int64_t first, R* y) {
  for (std::int64_t i = first; i < first + count; ++i) {
    R sum = Add ? y[i] : R{};
    for (int c = 0; c < Columns; ++c) sum = multiply_add(alpha[c], x[c][i], sum);
    y[i] = sum;
  }
}

template <scalar R, scalar A, scalar B>
R dot(std::int64_t n, const A* a, const B* b) {
  lane_sums<R> sums;
  for (std::int64_t i = 0; i < n; ++i) {
    R& lane = sums.lane[i % lane_count<R>];
    lane = multiply_add(a[i], b[i], lane);
  }
  return sums.total();
}

template <scalar R>
R sum_of_magnitudes(std::int64_t n, const R* x) {
  lane_sums<R> sums;
  for (std::int64_t i = 0; i < n; ++i) {
    R& lane = sums.lane[i % lane_count<R>];
    lane = add_magnitude(x[i], lane);
  }
  return sums.total();
}

template <scalar R>
R sum_of_squares(std::int64_t n, const R* x) {
  lane_sums<R> sums;
  for (std::int64_t i = 0; i < n; ++i) {
    R& lane = sums.lane[i % lane_count<R>];
    lane = add_square(x[i], lane);
  }
  return sums.total();
}

}  // namespace portable
}  // namespace vouch::detail
