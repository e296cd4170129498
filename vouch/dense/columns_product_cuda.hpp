// vouch/dense/columns_product_cuda.hpp -- columns_product.hpp on a GPU, with the bits of the CPU; private.
#pragma once
#include <cstdint>

#include <vouch/core/device.hpp>
#include <vouch/core/view.hpp>
#include <vouch/dense/columns_product.hpp>

namespace vouch::detail {

template <scalar R, scalar A, scalar X>
void multiply_columns_cuda(const device& dev, columns<const A> a, bool transposed, meaning means, R alpha,
                           view<const X> x, R beta, view<R> y);

template <scalar R, scalar X, scalar Y>
void update_columns_cuda(const device& dev, columns<R> a, R alpha, view<const X> x, view<const Y> y);

template <scalar R, scalar X>
void update_columns_cuda(const device& dev, columns<R> a, R alpha, view<const X> x);

}  // namespace vouch::detail
