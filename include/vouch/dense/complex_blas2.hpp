// vouch/dense/complex_blas2.hpp -- matrices and vectors of rectangles of complex numbers: BLAS level 2.
//
// For all routines of this header:
//
// Shapes  as in blas2.hpp. transpose::conjugate conjugates.
// Types   T is float or double.
// Memory  On dev, as in blas2.hpp; scratch of a few vectors. Of a Hermitian matrix one triangle is read or
//         written; its diagonal is read as real, and written as such.
// Result  Encloses, as rectangles. The real routine's chains are formed for the entries' parts with the real
// and
//         with the imaginary part of the vector, then added up; alpha and beta are applied by
//         complex_interval's operators. beta = 0 overwrites. Same bits on every device and for any number of
//         threads, the signs of zeros apart.
// Cost    The matrix is read twice, a Hermitian one four times.
// Throws  as the real routines
#pragma once
#include <cstdint>
#include <type_traits>

#include <vouch/core/device.hpp>
#include <vouch/core/view.hpp>
#include <vouch/core/visibility.hpp>
#include <vouch/dense/matrix.hpp>
#include <vouch/dense/types.hpp>
#include <vouch/interval/complex_interval.hpp>

namespace VOUCH_PUBLIC vouch {

/// y := alpha op(A) x + beta y
template <real T>
void gemv(const device& dev, transpose trans, std::type_identity_t<complex_interval<T>> alpha,
          matrix_view<const complex_interval<T>> A, view<const complex_interval<T>> x,
          std::type_identity_t<complex_interval<T>> beta, view<complex_interval<T>> y);

/// The same for a band matrix of the given rows and A.cols columns.
template <real T>
void gbmv(const device& dev, transpose trans, std::int64_t rows, std::int64_t kl, std::int64_t ku,
          std::type_identity_t<complex_interval<T>> alpha, matrix_view<const complex_interval<T>> A,
          view<const complex_interval<T>> x, std::type_identity_t<complex_interval<T>> beta,
          view<complex_interval<T>> y);

/// y := alpha A x + beta y for a Hermitian A: full, a band with k diagonals beside the main one, packed.
template <real T>
void hemv(const device& dev, triangle stored, std::type_identity_t<complex_interval<T>> alpha,
          matrix_view<const complex_interval<T>> A, view<const complex_interval<T>> x,
          std::type_identity_t<complex_interval<T>> beta, view<complex_interval<T>> y);
template <real T>
void hbmv(const device& dev, triangle stored, std::int64_t k, std::type_identity_t<complex_interval<T>> alpha,
          matrix_view<const complex_interval<T>> A, view<const complex_interval<T>> x,
          std::type_identity_t<complex_interval<T>> beta, view<complex_interval<T>> y);
template <real T>
void hpmv(const device& dev, triangle stored, std::type_identity_t<complex_interval<T>> alpha,
          view<const complex_interval<T>> A, view<const complex_interval<T>> x,
          std::type_identity_t<complex_interval<T>> beta, view<complex_interval<T>> y);

/// x := op(A) x for a triangular A: full, a band, packed.
template <real T>
void trmv(const device& dev, triangle stored, transpose trans, diagonal unit,
          matrix_view<const complex_interval<T>> A, view<complex_interval<T>> x);
template <real T>
void tbmv(const device& dev, triangle stored, transpose trans, diagonal unit, std::int64_t k,
          matrix_view<const complex_interval<T>> A, view<complex_interval<T>> x);
template <real T>
void tpmv(const device& dev, triangle stored, transpose trans, diagonal unit, view<const complex_interval<T>> A,
          view<complex_interval<T>> x);

/// Solves op(A) x = b for a triangular A, full, a band or packed; x holds b and receives the solution.
///
/// Result  Substitution, as for intervals: the chains of products with the real and with the imaginary parts of
///         the unknowns are added up, then divided by complex_interval's operator.
/// Throws  value_error  a diagonal element holds 0; the text names it
template <real T>
void trsv(const device& dev, triangle stored, transpose trans, diagonal unit,
          matrix_view<const complex_interval<T>> A, view<complex_interval<T>> x);
template <real T>
void tbsv(const device& dev, triangle stored, transpose trans, diagonal unit, std::int64_t k,
          matrix_view<const complex_interval<T>> A, view<complex_interval<T>> x);
template <real T>
void tpsv(const device& dev, triangle stored, transpose trans, diagonal unit, view<const complex_interval<T>> A,
          view<complex_interval<T>> x);

/// A := alpha x y^T + A, and A := alpha x y^H + A.
///
/// Result  The factor of a column, alpha y_j or alpha conj(y_j), is rounded; then each part of an entry is a
///         chain of two fused multiply-adds.
template <real T>
void geru(const device& dev, std::type_identity_t<complex_interval<T>> alpha, view<const complex_interval<T>> x,
          view<const complex_interval<T>> y, matrix_view<complex_interval<T>> A);
template <real T>
void gerc(const device& dev, std::type_identity_t<complex_interval<T>> alpha, view<const complex_interval<T>> x,
          view<const complex_interval<T>> y, matrix_view<complex_interval<T>> A);

/// One triangle of A := alpha x x^H + A, full or packed; the diagonal is formed of squares.
template <real T>
void her(const device& dev, triangle stored, std::type_identity_t<interval<T>> alpha,
         view<const complex_interval<T>> x, matrix_view<complex_interval<T>> A);
template <real T>
void hpr(const device& dev, triangle stored, std::type_identity_t<interval<T>> alpha,
         view<const complex_interval<T>> x, view<complex_interval<T>> A);

/// One triangle of A := alpha x y^H + conj(alpha) y x^H + A, full or packed.
template <real T>
void her2(const device& dev, triangle stored, std::type_identity_t<complex_interval<T>> alpha,
          view<const complex_interval<T>> x, view<const complex_interval<T>> y,
          matrix_view<complex_interval<T>> A);
template <real T>
void hpr2(const device& dev, triangle stored, std::type_identity_t<complex_interval<T>> alpha,
          view<const complex_interval<T>> x, view<const complex_interval<T>> y, view<complex_interval<T>> A);

}  // namespace vouch
