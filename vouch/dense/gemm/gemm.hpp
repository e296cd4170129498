// vouch/dense/gemm/gemm.hpp -- the modes of gemm, on the CPU and on GPUs; private.
#pragma once
#include <algorithm>
#include <bit>
#include <cstdint>

#include <vouch/core/device.hpp>
#include <vouch/dense/gemm/block_product.hpp>
#include <vouch/dense/matrix.hpp>
#include <vouch/dense/scalar.hpp>
#include <vouch/dense/types.hpp>
#include <vouch/interval/interval.hpp>

namespace vouch::detail {

/// C := alpha left right + beta C for general factors; what gemm says of gemm_mode::fast.
template <scalar TA, scalar TB, real T>
void gemm_fast_cpu(const device& dev, interval<T> alpha, const factor<TA>& left, const factor<TB>& right,
                   interval<T> beta, matrix_view<interval<T>> C);

/// The same for gemm_mode::exact.
template <scalar TA, scalar TB, real T>
void gemm_exact_cpu(const device& dev, interval<T> alpha, const factor<TA>& left, const factor<TB>& right,
                    interval<T> beta, matrix_view<interval<T>> C);

/// 2^e, of the exponents beyond those of normal numbers the nearest.
inline double power_of_two(int e) {
  return std::bit_cast<double>(static_cast<std::uint64_t>(std::clamp(e, -1022, 1023) + 1023) << 52);
}

/// The smallest interval of T around x.
template <real T>
interval<T> narrowed(interval<double> x);

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
