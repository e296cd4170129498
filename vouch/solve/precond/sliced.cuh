// vouch/solve/precond/sliced.cuh -- sliced rows on a GPU, and the sum that a warp forms of them; private.
#pragma once
#include <cuda_runtime.h>

#include <utility>
#include <vector>

#include <vouch/core/array.hpp>
#include <vouch/solve/precond/sliced.hpp>

namespace vouch {

/// A sliced_triangle as kernels see it.
template <class T>
struct slices {
  const sweep_set* sets = nullptr;
  const std::int64_t* slice_ptr = nullptr;
  const std::int32_t* col = nullptr;
  const T* val = nullptr;
};

template <real T>
struct slices_on_gpu {
  std::vector<sweep_set> sets;
  array<sweep_set> sets_there;
  array<std::int64_t> slice_ptr;
  array<std::int32_t> col;
  array<T> val;

  slices_on_gpu(const device& dev, sliced_triangle<T> S)
      : sets(std::move(S.sets)),
        sets_there(array<sweep_set>::from(dev, sets)),
        slice_ptr(array<std::int64_t>::from(dev, S.slice_ptr)),
        col(array<std::int32_t>::from(dev, S.col)),
        val(array<T>::from(dev, S.val)) {}
  slices<T> arguments() const { return {sets_there.data(), slice_ptr.data(), col.data(), val.data()}; }
};

/// A row's products, lane k of its lanes taking entries k, k + lanes, ..., then added in a fixed tree; the
/// first lane of a row has the sum. The whole warp comes here together. w is a pointer, or what has its
/// operator [].
template <class T, class Vector>
__device__ T row_sum(const slices<T>& side, std::int64_t slice, unsigned lanes, const Vector& w) {
  const std::int64_t end = __ldg(side.slice_ptr + slice + 1);
  T sum{};
#pragma unroll 4
  for (std::int64_t k = __ldg(side.slice_ptr + slice) + threadIdx.x % 32; k < end; k += 32) {
    const std::int32_t col = __ldg(side.col + k);
    const T val = __ldg(side.val + k);
    if (col >= 0) sum += val * w[col];
  }
  for (unsigned d = lanes / 2; d > 0; d /= 2) sum += __shfl_down_sync(~0u, sum, d, static_cast<int>(lanes));
  return sum;
}

}  // namespace vouch
