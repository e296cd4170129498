// vouch/solve/precond/block_jacobi.hpp -- inverses of the dense blocks on the diagonal.
#pragma once
#include <cstdint>
#include <memory>

#include <vouch/core/device.hpp>
#include <vouch/core/visibility.hpp>
#include <vouch/solve/loop/operator.hpp>
#include <vouch/sparse/csr.hpp>

namespace VOUCH_PUBLIC vouch {

/// Rows a block where none is asked for: the largest b from 8 to 2 of which nine in ten groups of b rows,
/// counted from the first, have one pattern (the unknowns of a mesh node); else 3.
///
/// Memory  A lives on dev.
template <real T>
std::int64_t natural_block(const device& dev, csr_view<const T> A);

/// M = diag(A_1, A_2, ...)^-1 with blocks of `size` consecutive rows, the last one smaller where size does not
/// divide n; size 0 takes natural_block.
///
/// Shapes  A is n-by-n; n may be 0.
/// Types   T is float or double; the inverses are computed in double.
/// Memory  A lives on dev, is symmetric (blocks are read on and below the diagonal) and is not needed
///         afterwards; n size values stay.
/// Result  Symmetric, and positive definite unless the inverse of a block is lost to rounding.
/// Cost    Set-up: n size^2 operations. apply(): 2 n size flops, n (size + 2) values moved.
/// Throws  shape_error  A is not square
///         value_error  size beyond 32 or negative; a block that is not positive definite (the text names its
///                      rows), a diagonal entry that is not positive
template <real T>
std::unique_ptr<preconditioner<T>> make_block_jacobi(const device& dev, csr_view<const T> A,
                                                     std::int64_t size = 0);

}  // namespace vouch
