// vouch/band/gpu/tensor_map.cuh -- tensor maps of rows of interleaved systems; private.
#pragma once
#include <cuda.h>

#include <cstdint>

#include <vouch/band/gpu/slices.cuh>
#include <vouch/band/tridiagonal.hpp>
#include <vouch/core/check.cuh>

namespace vouch::detail {

/// Whether systems lie side by side, as TMA asks for it: it moves 16 bytes at least.
template <class T>
bool is_interleaved(const T* data, const batch_shape& shape) {
  return shape.offsets == nullptr && reinterpret_cast<std::uintptr_t>(data) % 16 == 0 &&
         shape.system_stride == 1 && shape.row_stride % line_size<T> == 0 && shape.systems % line_size<T> == 0;
}
template <class T>
bool are_interleaved(const tridiagonal_view<const T>& A, const batch_view<const T>& b, const batch_view<T>& x) {
  return !A.periodic && is_interleaved(A.dl, A.shape) && is_interleaved(A.d, A.shape) &&
         is_interleaved(A.du, A.shape) && is_interleaved(b.data, b.shape) && is_interleaved(x.data, x.shape);
}

struct tensor_box {
  int systems, rows;
};

/// A map of rows of systems side by side, loaded in boxes. Returns false where there is no way to make one.
template <real T>
bool encode_tensor_map(CUtensorMap& map, const T* data, const batch_shape& shape, const tensor_box& of,
                       CUtensorMapSwizzle swizzle) {
  static const auto encode = [] {
    void* found = nullptr;
    cudaDriverEntryPointQueryResult result;
    const cudaError_t e =
        cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &found, 12000, cudaEnableDefault, &result);
    return reinterpret_cast<decltype(&cuTensorMapEncodeTiled)>(e == cudaSuccess ? found : nullptr);
  }();
  if (encode == nullptr) return false;
  const cuuint64_t size[2] = {static_cast<cuuint64_t>(shape.systems), static_cast<cuuint64_t>(shape.n)},
                   stride[1] = {static_cast<cuuint64_t>(shape.row_stride) * sizeof(T)};
  const cuuint32_t box[2] = {static_cast<cuuint32_t>(of.systems), static_cast<cuuint32_t>(of.rows)},
                   ones[2] = {1, 1};
  return encode(&map, sizeof(T) == 8 ? CU_TENSOR_MAP_DATA_TYPE_FLOAT64 : CU_TENSOR_MAP_DATA_TYPE_FLOAT32, 2,
                const_cast<T*>(data), size, stride, box, ones, CU_TENSOR_MAP_INTERLEAVE_NONE, swizzle,
                CU_TENSOR_MAP_L2_PROMOTION_L2_128B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE) == CUDA_SUCCESS;
}

}  // namespace vouch::detail
