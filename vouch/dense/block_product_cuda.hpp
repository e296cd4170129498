// vouch/dense/block_product_cuda.hpp -- BLAS level 3 on a GPU; private, called after the checks.
#pragma once
#include <vector>

#include <vouch/core/device.hpp>
#include <vouch/dense/block_product.hpp>

namespace vouch::detail {

template <scalar R, scalar A, scalar B>
void add_products_cuda(const device& dev, R alpha, const std::vector<factors<A, B>>& terms, R beta,
                       matrix_view<R> C, region written);

/// C := alpha S + beta C for the entries written.
template <scalar R>
void combine_cuda(const device& dev, R alpha, matrix_view<const R> S, R beta, matrix_view<R> C, region written);

/// The diagonal of C := alpha op(A) op(A)^T + beta C from squares, old being C's before; as on the CPU.
template <scalar TA, scalar TC>
void square_diagonal_cuda(const device& dev, bool transposed, TC alpha, matrix_view<const TA> A, TC beta,
                          view<const TC> old, matrix_view<TC> C);

/// B := alpha op(A)^-1 B for a triangular factor: halves, the products between them by add_products_cuda, and
/// blocks of 64 by substitution.
template <scalar TA, scalar R>
void solve_left_cuda(const device& dev, const factor<TA>& f, R alpha, matrix_view<R> B);

/// B := A for matrices of one shape.
template <scalar T>
void copy_matrix_cuda(const device& dev, matrix_view<const T> A, matrix_view<T> B);

}  // namespace vouch::detail
