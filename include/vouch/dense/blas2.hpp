// vouch/dense/blas2.hpp -- matrices and vectors: BLAS level 2 for numbers and intervals.
//
// For all routines of this header:
//
// Shapes  Sizes may be 0. Vectors may have any stride other than 0. A band matrix is held as BLAS holds it:
//         entry (i, j) in row ku + i - j of column j of an array of kl + ku + 1 rows; a symmetric or triangular
//         band in k + 1 rows, as with kl = k, ku = 0 for the lower triangle and kl = 0, ku = k for the upper. A
//         packed triangle is the vector of its columns, n(n+1)/2 elements without gaps.
// Types   TA, TX and TY are float, double, interval<float> or interval<double> in one precision; the type that
//         is written is an interval where an operand is one. Points that meet intervals are not widened.
// Memory  On dev. What is written overlaps no other operand. Entries that BLAS does not read are not read. On a
//         GPU intervals of double are aligned to 16 bytes, and routines only enqueue, but for triangular
//         systems, which wait for the test of their diagonal.
// Result  Sums of products are chains of fused multiply-adds, each bound rounded once a step: over the columns
//         upwards in blocks of 256 that are added afterwards (no transposition), or as in dot (transposition).
//         Symmetric matrices: the chain of the stored triangle first, then the mirrored part. Then alpha times
//         the sum is added to beta y; beta = 0 overwrites y. Empty and unbounded intervals follow IEEE 1788.
//         Same bits for any number of threads, on any CPU and GPU, the signs of zeros apart.
// Cost    One pass over the stored matrix, two for symmetric ones; scratch of 1/256 of the matrix.
// Throws  shape_error  sizes that do not fit; the text has both
//         value_error  a negative number of diagonals, a leading dimension below the rows, what is written
//                      overlaps an operand or has the stride 0, one does not lie on dev
#pragma once
#include <cstdint>
#include <type_traits>

#include <vouch/core/device.hpp>
#include <vouch/core/view.hpp>
#include <vouch/core/visibility.hpp>
#include <vouch/dense/matrix.hpp>
#include <vouch/dense/scalar.hpp>
#include <vouch/dense/types.hpp>

namespace VOUCH_PUBLIC vouch {

/// y := alpha op(A) x + beta y
template <scalar TA, scalar TX, scalar TY>
requires accumulates<TY, TA, TX>
void gemv(const device& dev, transpose trans, std::type_identity_t<TY> alpha, matrix_view<const TA> A,
          view<const TX> x, std::type_identity_t<TY> beta, view<TY> y);

/// y := alpha op(A) x + beta y for a band matrix of the given rows and A.cols columns.
template <scalar TA, scalar TX, scalar TY>
requires accumulates<TY, TA, TX>
void gbmv(const device& dev, transpose trans, std::int64_t rows, std::int64_t kl, std::int64_t ku,
          std::type_identity_t<TY> alpha, matrix_view<const TA> A, view<const TX> x,
          std::type_identity_t<TY> beta, view<TY> y);

/// y := alpha A x + beta y for a symmetric A of which one triangle is read.
template <scalar TA, scalar TX, scalar TY>
requires accumulates<TY, TA, TX>
void symv(const device& dev, triangle stored, std::type_identity_t<TY> alpha, matrix_view<const TA> A,
          view<const TX> x, std::type_identity_t<TY> beta, view<TY> y);

/// The same for a band with k diagonals beside the main one.
template <scalar TA, scalar TX, scalar TY>
requires accumulates<TY, TA, TX>
void sbmv(const device& dev, triangle stored, std::int64_t k, std::type_identity_t<TY> alpha,
          matrix_view<const TA> A, view<const TX> x, std::type_identity_t<TY> beta, view<TY> y);

/// The same for a packed triangle.
template <scalar TA, scalar TX, scalar TY>
requires accumulates<TY, TA, TX>
void spmv(const device& dev, triangle stored, std::type_identity_t<TY> alpha, view<const TA> A,
          view<const TX> x, std::type_identity_t<TY> beta, view<TY> y);

/// x := op(A) x for a triangular A.
template <scalar TA, scalar TX>
requires accumulates<TX, TA>
void trmv(const device& dev, triangle stored, transpose trans, diagonal unit, matrix_view<const TA> A,
          view<TX> x);

/// The same for a band with k diagonals beside the main one.
template <scalar TA, scalar TX>
requires accumulates<TX, TA>
void tbmv(const device& dev, triangle stored, transpose trans, diagonal unit, std::int64_t k,
          matrix_view<const TA> A, view<TX> x);

/// The same for a packed triangle.
template <scalar TA, scalar TX>
requires accumulates<TX, TA>
void tpmv(const device& dev, triangle stored, transpose trans, diagonal unit, view<const TA> A, view<TX> x);

/// Solves op(A) x = b for a triangular A; x holds b and receives the solution.
///
/// Result  Substitution: an unknown is its right-hand side less its products with those before it, a chain of
///         fused multiply-adds in their order, over the diagonal. Intervals enclose the solutions for all
///         points of A and b, and may be much wider than the smallest enclosure: dependencies are lost at every
///         step.
/// Throws  value_error  a diagonal element is 0 or holds 0; the text names it
template <scalar TA, scalar TX>
requires accumulates<TX, TA>
void trsv(const device& dev, triangle stored, transpose trans, diagonal unit, matrix_view<const TA> A,
          view<TX> x);

/// The same for a band with k diagonals beside the main one.
template <scalar TA, scalar TX>
requires accumulates<TX, TA>
void tbsv(const device& dev, triangle stored, transpose trans, diagonal unit, std::int64_t k,
          matrix_view<const TA> A, view<TX> x);

/// The same for a packed triangle.
template <scalar TA, scalar TX>
requires accumulates<TX, TA>
void tpsv(const device& dev, triangle stored, transpose trans, diagonal unit, view<const TA> A, view<TX> x);

/// A := alpha x y^T + A
///
/// Result  An entry is x_i (alpha y_j) + a_ij: the product in parentheses is rounded, then the whole.
template <scalar TX, scalar TY, scalar TA>
requires accumulates<TA, TX, TY>
void ger(const device& dev, std::type_identity_t<TA> alpha, view<const TX> x, view<const TY> y,
         matrix_view<TA> A);

/// One triangle of A := alpha x x^T + A; the diagonal of intervals is formed of squares.
template <scalar TX, scalar TA>
requires accumulates<TA, TX>
void syr(const device& dev, triangle stored, std::type_identity_t<TA> alpha, view<const TX> x,
         matrix_view<TA> A);

/// The same for a packed triangle.
template <scalar TX, scalar TA>
requires accumulates<TA, TX>
void spr(const device& dev, triangle stored, std::type_identity_t<TA> alpha, view<const TX> x, view<TA> A);

/// One triangle of A := alpha (x y^T + y x^T) + A.
template <scalar TX, scalar TA>
requires accumulates<TA, TX>
void syr2(const device& dev, triangle stored, std::type_identity_t<TA> alpha, view<const TX> x,
          view<const TX> y, matrix_view<TA> A);

/// The same for a packed triangle.
template <scalar TX, scalar TA>
requires accumulates<TA, TX>
void spr2(const device& dev, triangle stored, std::type_identity_t<TA> alpha, view<const TX> x,
          view<const TX> y, view<TA> A);

}  // namespace vouch
