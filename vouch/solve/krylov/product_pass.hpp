// vouch/solve/krylov/product_pass.hpp -- a product with the matrix, what is done to it and its inner products, while its
// rows are at hand; private.
#pragma once
#include <cstdint>

#include <vouch/core/device.hpp>
#include <vouch/core/types.hpp>
#include <vouch/solve/krylov/sum_room.hpp>
#include <vouch/solve/loop/operator.hpp>
#include <vouch/sparse/spmv_plan.hpp>

namespace vouch {

/// y := a D D A x + b w, with the diagonal D, or none. Pointers other than x and y may be nullptr; y is none of the others,
/// but may be w where the operator is a plan.
template <real T>
struct product_pass {
  const T* x = nullptr;
  T* y = nullptr;
  T a = 1;
  const T* diagonal = nullptr;
  T b = 0;
  const T* w = nullptr;
  const T* u = nullptr;  // two vectors of y's length that are multiplied with it
  const T* v = nullptr;
  bool transposed = false;  // complex u^T y and v^T y in the place of u* y and v* y
};

/// Of what came out: y* y, of D^-1 y where there is D; u* y, v* y, u* v and v* v, which mean nothing where u or v is not
/// given. The imaginary parts of complex ones.
struct product_sums {
  static constexpr int count = 8;
  double yy = 0, uy = 0, vy = 0, uv = 0, vv = 0;
  double imaginary_uy = 0, imaginary_vy = 0, imaginary_uv = 0;
};

/// rows: of A, which need not be square where it is a plan. A pass over the matrix where the operator is a plan; of others
/// the product, and a pass behind it. Waits for a GPU.
///
/// Cost    The product, and w, the diagonal, u and v once; of other operators y once more.
template <real T>
product_sums multiply_fused(const device& dev, const linear_operator<T>& A, std::int64_t rows,
                            const product_pass<T>& pass, bool is_complex, sum_room& room);

/// The same on a GPU; without a plan y holds A x, and w is another vector.
template <real T>
product_sums multiply_fused_cuda(const device& dev, const spmv_plan<T>* plan, std::int64_t rows,
                                 const product_pass<T>& pass, bool is_complex, sum_room& room);

}  // namespace vouch
