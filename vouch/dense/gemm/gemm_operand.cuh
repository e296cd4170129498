// vouch/dense/gemm/gemm_operand.cuh -- operands and result of the interval products on a GPU; private.
#pragma once
#include <cstdint>

#include <vouch/interval/interval.hpp>

namespace vouch::detail {

template <class E>
struct gemm_element {
  static constexpr bool interval = false;
  __device__ static double lo(E e) { return e; }
  __device__ static double hi(E e) { return e; }
  __device__ static vouch::interval<double> whole(E e) { return vouch::interval<double>(double{e}); }
};

template <class T>
struct gemm_element<vouch::interval<T>> {
  static constexpr bool interval = true;
  __device__ static double lo(vouch::interval<T> e) { return e.lo(); }
  __device__ static double hi(vouch::interval<T> e) { return e.hi(); }
  __device__ static vouch::interval<double> whole(vouch::interval<T> e) {
    return vouch::interval<double>::unchecked(e.lo(), e.hi());
  }
};

/// One operand: element (i, k) of A, or (j, k) of B, is data[i * along + k * across].
template <class E>
struct gemm_operand {
  const E* data = nullptr;
  std::int64_t size = 0;    // rows of op(A), columns of op(B)
  std::int64_t along = 0;   // from one of these to the next
  std::int64_t across = 0;  // from one k to the next
};

/// C := alpha A B + beta C, each step outward; element (i, j) is data[i * along + j * across].
template <class T>
struct gemm_result {
  vouch::interval<T>* data = nullptr;
  std::int64_t along = 1, across = 0;
  T alpha = 1;
  T beta = 0;
};

// One step of k with whatever intervals may hold. Seldom needed: not worth registers of the usual way.
__device__ __noinline__ inline interval<double> add_any(interval<double> sum, interval<double> a,
                                                        interval<double> b) {
  return sum + a * b;
}

// The element again, from the start, with whatever intervals may hold.
template <class EA, class EB>
__device__ __noinline__ interval<double> element_again(const gemm_operand<EA>& A, const gemm_operand<EB>& B,
                                                       std::int64_t i, std::int64_t j, std::int64_t depth) {
  interval<double> sum;
  for (std::int64_t k = 0; k < depth; ++k)
    sum = add_any(sum, gemm_element<EA>::whole(A.data[i * A.along + k * A.across]),
                  gemm_element<EB>::whole(B.data[j * B.along + k * B.across]));
  return sum;
}

template <class T>
__device__ inline interval<T> outward(interval<double> x) {
  if constexpr (sizeof(T) == sizeof(double))
    return x;
  else
    return interval<T>::unchecked(__double2float_rd(x.lo()), __double2float_ru(x.hi()));
}

/// C(i, j) := alpha sum + beta C(i, j), outward.
template <class T>
__device__ inline void store_result(const gemm_result<T>& C, std::int64_t i, std::int64_t j,
                                    interval<double> sum) {
  interval<T>& c = C.data[i * C.along + j * C.across];
  if (C.alpha != T{1}) sum = sum * static_cast<double>(C.alpha);
  if (C.beta != T{0}) sum = sum + interval<double>::unchecked(c.lo(), c.hi()) * static_cast<double>(C.beta);
  c = outward<T>(sum);
}

// Blocks walk over the tiles of C in bands of 8 rows of tiles, so that those at work at a time share tiles in
// L2.
__device__ inline void place_of_tile(std::int64_t tile, std::int64_t tiles_m, std::int64_t tiles_n,
                                     std::int64_t& i, std::int64_t& j) {
  constexpr std::int64_t band = 8;
  const std::int64_t a_band = band * tiles_n, first = tile / a_band * band;
  const std::int64_t height = ::min(band, tiles_m - first), at = tile % a_band;
  i = first + at % height;
  j = at / height;
}

}  // namespace vouch::detail
