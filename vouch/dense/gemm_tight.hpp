// vouch/dense/gemm_tight.hpp -- tight enclosures of matrix products on a GPU; private, called by gemm.
#pragma once
#include <vouch/core/device.hpp>
#include <vouch/dense/matrix.hpp>
#include <vouch/dense/types.hpp>
#include <vouch/interval/interval.hpp>

namespace vouch::detail {

/// C := alpha op(A) op(B) + beta C on a GPU, on the device's stream.
///
/// Shapes  op(A) m-by-k, op(B) k-by-n, C m-by-n, checked by the caller.
/// Types   TA and TB are T or interval<T>, T float or double. A point that is no real number counts as empty.
/// Result  Encloses. Each bound is a chain of directed fused multiply-adds in double over ascending k, in an
///         order that the sizes fix: the same bits on every run. Of intervals of float the chain is rounded
///         once at the end. The factor by which it is wider than the tightest: docs/rigor.md.
/// Cost    2 m n k multiply-adds for points, 4 with one interval factor, 8 with two, and where both factors
///         straddle zero about 8 DFMA-rate operations in their place; tensor cores.
/// Throws  device_error  the launch failed
template <class TA, class TB, real T>
void gemm_tight_cuda(const device& dev, transpose trans_a, transpose trans_b, T alpha, matrix_view<const TA> A,
                     matrix_view<const TB> B, T beta, matrix_view<interval<T>> C);

}  // namespace vouch::detail
