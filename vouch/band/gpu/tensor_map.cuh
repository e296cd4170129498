// vouch/band/gpu/tensor_map.cuh -- rows of systems side by side as the copy engine finds them; private.
#pragma once
#include <cuda.h>

#include <cstdint>

#include <vouch/band/gpu/slices.cuh>
#include <vouch/band/tridiagonal.hpp>
#include <vouch/core/check.cuh>

namespace vouch::detail {

/// Whether systems lie side by side, as the copy engine asks for it: it moves 16 bytes at least.
template <class T>
bool lies_side_by_side(const T* data, const batch_shape& shape) {
  return shape.offsets == nullptr && reinterpret_cast<std::uintptr_t>(data) % 16 == 0 &&
         shape.system_stride == 1 && shape.row_stride % line_size<T> == 0 && shape.systems % line_size<T> == 0;
}
template <class T>
bool lie_side_by_side(const tridiagonal_view<const T>& A, const batch_view<const T>& b,
                      const batch_view<T>& x) {
  return !A.periodic && lies_side_by_side(A.dl, A.shape) && lies_side_by_side(A.d, A.shape) &&
         lies_side_by_side(A.du, A.shape) && lies_side_by_side(b.data, b.shape) &&
         lies_side_by_side(x.data, x.shape);
}

struct row_box {
  int systems, rows;
};

/// A map of rows of systems side by side, brought in boxes. Returns false where there is no way to make one.
template <real T>
bool describe_rows(CUtensorMap& map, const T* data, const batch_shape& shape, const row_box& of,
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
