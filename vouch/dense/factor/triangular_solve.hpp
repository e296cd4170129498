// vouch/dense/factor/triangular_solve.hpp -- triangular systems in any of BLAS's storages; private, called after the
// checks.
#pragma once
#include <cstdint>

#include <vouch/core/device.hpp>
#include <vouch/core/types.hpp>
#include <vouch/core/view.hpp>
#include <vouch/dense/blas/columns.hpp>
#include <vouch/dense/types.hpp>

namespace vouch::detail {

/// x := op(A)^-1 x for a triangular A, R and A being scalars or both rectangles of one precision.
///
/// Result  An unknown is its right-hand side, less its products with the unknowns before it, one after the
///         other in the order of substitution by multiply_add, divided by the diagonal. Rectangles: the chains
///         of the products with the real and with the imaginary parts of the unknowns are added up before the
///         division. The order does not depend on blocks, threads or device.
template <class R, class A>
void solve_columns(const device& dev, columns<const A> a, transpose trans, diagonal unit, view<R> x);

template <class R, class A>
void solve_columns_cuda(const device& dev, columns<const A> a, transpose trans, diagonal unit, view<R> x);

/// to[i] := from[order[i]], or to[order[i]] := from[i] for the inverse of the permutation; n of each.
template <real T>
void permute_cuda(const device& dev, view<const std::int64_t> order, bool inverse, const T* from, T* to);

/// The first diagonal element that is or holds 0; -1 where there is none. Waits for the device.
template <class T>
std::int64_t first_zero_divisor_cuda(const device& dev, columns<const T> a);

}  // namespace vouch::detail
