// vouch/dense/gemm_exact.hpp -- matrix products rounded once, on a GPU; private, called by gemm.
#pragma once
#include <vouch/core/device.hpp>
#include <vouch/dense/block_product.hpp>
#include <vouch/dense/matrix.hpp>
#include <vouch/interval/interval.hpp>

namespace vouch::detail {

/// C := alpha left right + beta C for general factors, checked by the caller; what gemm says of
/// gemm_mode::exact, with the bits of the CPU.
///
/// Memory  Scratch of up to about 6 GiB: digits of the factors, sums of a strip of C.
/// Result  Each bound of the product is rounded once. Tight instead where a row of op(A) or a column of op(B)
///         spreads over more than 126 bits, where two intervals meet that both hold 0 inside, and where an
///         entry is empty or unbounded.
/// Cost    2 m n k s t operations on INT8 tensor cores for each product of parts, where s and t are the digits
///         of 8 bits of the longest row and column: 9 for doubles of similar size, 5 for floats. Points take
///         one product of parts; each bound of intervals takes one where signs agree, two for a point of both
///         signs, up to four for two intervals. Waits for the device once.
/// Throws  out_of_memory  no room for the scratch
///         device_error   a launch failed
/// Source  Ozaki, Ogita, Oishi, Rump, Numer. Algorithms 59 (2012); Ootomo, Ozaki, Yokota, IJHPCA 38 (2024);
///         docs/rigor.md.
template <scalar TA, scalar TB, real T>
void gemm_exact_cuda(const device& dev, interval<T> alpha, const factor<TA>& left, const factor<TB>& right,
                     interval<T> beta, matrix_view<interval<T>> C);

}  // namespace vouch::detail
