// vouch/dense/blas3.hpp -- products and triangular systems of matrices: BLAS level 3 for numbers and intervals.
//
// For all routines of this header:
//
// Shapes  Sizes may be 0.
// Types   TA, TB and TC are float, double, interval<float> or interval<double> in one precision; TC is an
//         interval where an operand is one. Points that meet intervals are not widened; a product of two
//         matrices of points in a C of intervals encloses the exact product.
// Memory  On dev. The matrix that is written overlaps no other operand. On a GPU intervals of double are
// aligned to
//         16 bytes, routines only enqueue, but for trsm, which waits for the test of its diagonal, and take
//         scratch: for alpha or beta that are no points and for trmm a copy of C, for symm one of A, for trsm
//         on the right two of B.
// Result  An entry of a product is a chain of fused multiply-adds over the inner index upwards, each bound
//         rounded once a step, then alpha times this and beta C. An entry of inner size k is wider per bound
//         than the smallest enclosure of sums of independent products by at most gamma(k + 2) |alpha||A||B|
//         and an ulp of beta C. beta = 0 overwrites C. Empty and unbounded intervals follow IEEE 1788. Same
//         bits for any number of threads, and on any CPU the signs of zeros apart. On a GPU numbers have the
//         bits of the CPU; products of intervals are formed by tensor cores, in parts where a factor is
//         triangular: the same bits on every run, and as tight but for an ulp a part.
// Cost    On a core with AVX-512, per inner step of an entry: 4 packed fused multiply-adds for two intervals
//         (6 operations where 0 is inside that of B) or an interval and a point, 2 for points, 1 for numbers.
//         Unbounded or empty operands cost about a hundred times that in their blocks, and so does every
//         operand on processors without AVX-512.
// Throws  shape_error  shapes that do not fit; the text has both
//         value_error  an operand that is written overlaps another, one does not lie on dev, a leading
//                      dimension below the rows
#pragma once
#include <type_traits>

#include <vouch/core/device.hpp>
#include <vouch/core/visibility.hpp>
#include <vouch/dense/matrix.hpp>
#include <vouch/dense/scalar.hpp>
#include <vouch/dense/types.hpp>

namespace VOUCH_PUBLIC vouch {

/// C := alpha op(A) op(B) + beta C
///
/// Shapes  op(A) is m-by-k, op(B) is k-by-n, C is m-by-n.
template <scalar TA, scalar TB, scalar TC>
requires accumulates<TC, TA, TB>
void gemm(const device& dev, transpose trans_a, transpose trans_b, std::type_identity_t<TC> alpha,
          matrix_view<const TA> A, matrix_view<const TB> B, std::type_identity_t<TC> beta, matrix_view<TC> C);

/// The same for C of intervals, enclosed as mode says.
///
/// Memory  On a CPU fast and exact take scratch: 16 bytes an entry of op(A) and op(B) and 12 one of C; up to 8
///         copies of A and of B's strips of 2048 rows and up to 15 of C as doubles. On a GPU exact takes up to
///         6 GiB.
/// Result  tight: as without a mode. fast: midpoints and radii. The radius is at most 1.5 times that of the
///         smallest enclosure, plus (k + 1) u |A||B| and 2^-20 of itself: for narrow intervals about as tight
///         as tight. exact: each bound of the product is rounded once, with the same bits on CPU and GPU; alpha
///         and beta then as by tight. Products with unbounded or empty entries, and fast ones of inner size
///         beyond 2^20, are tight. On a GPU fast rounds radii up to 8 bits of the largest of a row or column,
///         and exact is tight where a row of op(A) or a column of op(B) spreads over more than 126 bits or
///         factors that meet both hold 0 inside.
/// Cost    On the CPU fast takes a product of doubles and one of floats, two for two intervals. exact takes 9
///         to 16 products of doubles, twice or 8 times that for one interval or two; where a row or column
///         spreads over more than about 150 bits or factors that meet hold 0 inside, about 10 ns a term. On a
///         GPU exact takes 81 products on INT8 tensor cores for doubles of similar size, 25 for floats; twice
///         to 8 times that for intervals, as signs meet.
template <scalar TA, scalar TB, scalar TC>
requires accumulates<TC, TA, TB> && is_interval<TC>
void gemm(const device& dev, transpose trans_a, transpose trans_b, std::type_identity_t<TC> alpha,
          matrix_view<const TA> A, matrix_view<const TB> B, std::type_identity_t<TC> beta, matrix_view<TC> C,
          gemm_mode mode);

/// C := alpha A B + beta C, or alpha B A + beta C where A stands on the right, for a symmetric A of which one
/// triangle is read.
///
/// Shapes  A is square; B and C are m-by-n.
template <scalar TA, scalar TB, scalar TC>
requires accumulates<TC, TA, TB>
void symm(const device& dev, side where, triangle stored, std::type_identity_t<TC> alpha,
          matrix_view<const TA> A, matrix_view<const TB> B, std::type_identity_t<TC> beta, matrix_view<TC> C);

/// One triangle of C := alpha op(A) op(A)^T + beta C.
///
/// Shapes  op(A) is n-by-k, C is n-by-n.
/// Result  The diagonal of intervals is formed of squares, summed as by nrm2: never below 0 where alpha and
///         beta C are not.
template <scalar TA, scalar TC>
requires accumulates<TC, TA>
void syrk(const device& dev, triangle stored, transpose trans, std::type_identity_t<TC> alpha,
          matrix_view<const TA> A, std::type_identity_t<TC> beta, matrix_view<TC> C);

/// One triangle of C := alpha (op(A) op(B)^T + op(B) op(A)^T) + beta C.
///
/// Shapes  op(A) and op(B) are n-by-k, C is n-by-n.
template <scalar TA, scalar TC>
requires accumulates<TC, TA>
void syr2k(const device& dev, triangle stored, transpose trans, std::type_identity_t<TC> alpha,
           matrix_view<const TA> A, matrix_view<const TA> B, std::type_identity_t<TC> beta, matrix_view<TC> C);

/// B := alpha op(A) B, or alpha B op(A) where A stands on the right, for a triangular A.
///
/// Shapes  A is square; B is m-by-n.
/// Memory  A copy of B.
template <scalar TA, scalar TB>
requires accumulates<TB, TA>
void trmm(const device& dev, side where, triangle stored, transpose trans, diagonal unit,
          std::type_identity_t<TB> alpha, matrix_view<const TA> A, matrix_view<TB> B);

/// Solves op(A) X = alpha B, or X op(A) = alpha B where A stands on the right, for a triangular A; X replaces
/// B.
///
/// Shapes  A is square; B is m-by-n.
/// Result  Substitution in blocks of 64, on a GPU by halves down to 64. Intervals enclose the solutions for all
///         points of A, alpha and B, and may be much wider than the smallest enclosure: dependencies are lost
///         at every step.
/// Throws  value_error  a diagonal element is 0 or holds 0; the text names it
template <scalar TA, scalar TB>
requires accumulates<TB, TA>
void trsm(const device& dev, side where, triangle stored, transpose trans, diagonal unit,
          std::type_identity_t<TB> alpha, matrix_view<const TA> A, matrix_view<TB> B);

}  // namespace vouch
