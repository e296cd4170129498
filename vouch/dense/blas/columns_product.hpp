// vouch/dense/blas/columns_product.hpp -- products and updates with a matrix in any of BLAS's storages;
// private.
//
// One algorithm each for general, band, triangular, symmetric and packed matrices: see columns.hpp.
#pragma once
#include <cstdint>

#include <vouch/core/device.hpp>
#include <vouch/core/view.hpp>
#include <vouch/dense/blas/columns.hpp>
#include <vouch/dense/scalar.hpp>
#include <vouch/dense/types.hpp>

namespace vouch::detail {

/// Rows of which one thread holds the sums while columns stream past, and columns that it adds up at a time.
inline constexpr std::int64_t row_block = 512;
inline constexpr std::int64_t column_block = 256;

/// What the stored entries mean beside themselves.
enum class meaning { as_stored, mirrored, unit_diagonal };

/// y := alpha op(A) x + beta y, x and y of the right sizes. mirrored: A is symmetric with one triangle stored.
/// unit_diagonal: the stored diagonal is not read.
template <scalar R, scalar A, scalar X>
void multiply_columns(const device& dev, columns<const A> a, bool transposed, meaning means, R alpha,
                      view<const X> x, R beta, view<R> y);

/// A := A + alpha x y^T for the stored entries.
template <scalar R, scalar X, scalar Y>
void update_columns(const device& dev, columns<R> a, R alpha, view<const X> x, view<const Y> y);

/// A := A + alpha x x^T for the stored entries of a triangle, squares on the diagonal.
template <scalar R, scalar X>
void update_columns(const device& dev, columns<R> a, R alpha, view<const X> x);

}  // namespace vouch::detail

// columns_product.hpp on a GPU, with the bits of the CPU.

namespace vouch::detail {

template <scalar R, scalar A, scalar X>
void multiply_columns_cuda(const device& dev, columns<const A> a, bool transposed, meaning means, R alpha,
                           view<const X> x, R beta, view<R> y);

template <scalar R, scalar X, scalar Y>
void update_columns_cuda(const device& dev, columns<R> a, R alpha, view<const X> x, view<const Y> y);

template <scalar R, scalar X>
void update_columns_cuda(const device& dev, columns<R> a, R alpha, view<const X> x);

}  // namespace vouch::detail
