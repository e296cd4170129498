// vouch/dense/complex_blas3.hpp -- matrices of rectangles of complex numbers: BLAS level 3.
//
// For all routines of this header:
//
// Shapes  as in blas3.hpp. transpose::conjugate conjugates.
// Types   T is float or double.
// Memory  On dev, with copies of the operands' parts and of the product's. The matrix that is written overlaps
//         no other operand.
// Result  Encloses, as rectangles: each part is the tight sum of the two real products that make it, one chain
//         after the other, as blas3.hpp says; alpha and beta are applied by complex_interval's operators.
//         beta = 0 overwrites. Same bits on every run, on the CPU for any number of threads.
// Cost    Four times that of the real routine on intervals, herk three times.
// Throws  as the real routines
#pragma once
#include <type_traits>

#include <vouch/core/device.hpp>
#include <vouch/core/visibility.hpp>
#include <vouch/dense/matrix.hpp>
#include <vouch/dense/types.hpp>
#include <vouch/interval/complex_interval.hpp>

namespace VOUCH_PUBLIC vouch {

/// C := alpha op(A) op(B) + beta C
template <real T>
void gemm(const device& dev, transpose trans_a, transpose trans_b,
          std::type_identity_t<complex_interval<T>> alpha, matrix_view<const complex_interval<T>> A,
          matrix_view<const complex_interval<T>> B, std::type_identity_t<complex_interval<T>> beta,
          matrix_view<complex_interval<T>> C);

/// C := alpha A B + beta C, or alpha B A + beta C, for a Hermitian A of which one triangle is read; its
/// diagonal is taken as real.
template <real T>
void hemm(const device& dev, side where, triangle stored, std::type_identity_t<complex_interval<T>> alpha,
          matrix_view<const complex_interval<T>> A, matrix_view<const complex_interval<T>> B,
          std::type_identity_t<complex_interval<T>> beta, matrix_view<complex_interval<T>> C);

/// The same for a symmetric A.
template <real T>
void symm(const device& dev, side where, triangle stored, std::type_identity_t<complex_interval<T>> alpha,
          matrix_view<const complex_interval<T>> A, matrix_view<const complex_interval<T>> B,
          std::type_identity_t<complex_interval<T>> beta, matrix_view<complex_interval<T>> C);

/// One triangle of C := alpha op(A) op(A)^H + beta C, op(A) being A or, for transpose::conjugate, A^H. The
/// diagonal is real, and formed of squares.
///
/// Throws  value_error  transpose::yes
template <real T>
void herk(const device& dev, triangle stored, transpose trans, std::type_identity_t<interval<T>> alpha,
          matrix_view<const complex_interval<T>> A, std::type_identity_t<interval<T>> beta,
          matrix_view<complex_interval<T>> C);

/// One triangle of C := alpha op(A) op(B)^H + conj(alpha) op(B) op(A)^H + beta C; the diagonal is real.
///
/// Throws  value_error  transpose::yes
template <real T>
void her2k(const device& dev, triangle stored, transpose trans, std::type_identity_t<complex_interval<T>> alpha,
           matrix_view<const complex_interval<T>> A, matrix_view<const complex_interval<T>> B,
           std::type_identity_t<interval<T>> beta, matrix_view<complex_interval<T>> C);

/// One triangle of C := alpha op(A) op(A)^T + beta C, op(A) being A or A^T. The real parts of the diagonal are
/// formed of squares.
///
/// Throws  value_error  transpose::conjugate
template <real T>
void syrk(const device& dev, triangle stored, transpose trans, std::type_identity_t<complex_interval<T>> alpha,
          matrix_view<const complex_interval<T>> A, std::type_identity_t<complex_interval<T>> beta,
          matrix_view<complex_interval<T>> C);

/// One triangle of C := alpha op(A) op(B)^T + alpha op(B) op(A)^T + beta C.
///
/// Throws  value_error  transpose::conjugate
template <real T>
void syr2k(const device& dev, triangle stored, transpose trans, std::type_identity_t<complex_interval<T>> alpha,
           matrix_view<const complex_interval<T>> A, matrix_view<const complex_interval<T>> B,
           std::type_identity_t<complex_interval<T>> beta, matrix_view<complex_interval<T>> C);

/// B := alpha op(A) B, or alpha B op(A) where A stands on the right, for a triangular A.
template <real T>
void trmm(const device& dev, side where, triangle stored, transpose trans, diagonal unit,
          std::type_identity_t<complex_interval<T>> alpha, matrix_view<const complex_interval<T>> A,
          matrix_view<complex_interval<T>> B);

/// B := alpha op(A)^-1 B, or alpha B op(A)^-1 where A stands on the right, for a triangular A.
///
/// Result  Substitution: halves, products between them as by gemm, and in blocks of at most 32 as by trsv.
///         Dependencies are lost at every step.
/// Throws  value_error  a diagonal element holds 0; the text names it
template <real T>
void trsm(const device& dev, side where, triangle stored, transpose trans, diagonal unit,
          std::type_identity_t<complex_interval<T>> alpha, matrix_view<const complex_interval<T>> A,
          matrix_view<complex_interval<T>> B);

}  // namespace vouch
