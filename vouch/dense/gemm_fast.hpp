// vouch/dense/gemm_fast.hpp -- fast enclosures of matrix products on a GPU; private, called by gemm.
#pragma once
#include <vouch/core/device.hpp>
#include <vouch/dense/matrix.hpp>
#include <vouch/dense/types.hpp>
#include <vouch/interval/interval.hpp>

namespace vouch::detail {

/// C := alpha op(A) op(B) + beta C on a GPU by midpoints and radii, on the device's stream.
///
/// Shapes  op(A) m-by-k, op(B) k-by-n, C m-by-n, checked by the caller.
/// Types   TA and TB are T or interval<T>, T float or double. A point that is no real number counts as empty.
/// Memory  Scratch of about 8 k (m + n) bytes for midpoints, and k (m + n) + 4 m n for each part of the radius.
/// Result  Encloses. The midpoint is the product of the midpoints in double, rounded to nearest; the radius
///         bounds its rounding (k u |mid A| |mid B|) and the radii of A and B, each factor rounded up to 8 bits
///         of the largest of its row or column. Of wide intervals up to 1.5 times the tight radius by the
///         formula itself. Same bits on every run.
/// Cost    m n k multiply-adds on FP64 tensor cores, and on INT8 tensor cores 2 m n k where both are intervals,
///         else m n k.
/// Throws  out_of_memory  no room for the scratch
///         device_error   a launch failed
/// Source  Rump, BIT 39 (1999), Numer. Algorithms 61 (2012); Jeannerod, Rump, SIMAX 34 (2013); docs/rigor.md.
template <class TA, class TB, real T>
void gemm_fast_cuda(const device& dev, transpose trans_a, transpose trans_b, T alpha, matrix_view<const TA> A,
                    matrix_view<const TB> B, T beta, matrix_view<interval<T>> C);

}  // namespace vouch::detail
