// vouch/dense/complex_blas.hpp -- vectors and matrices of rectangles of complex numbers: BLAS levels 1 to 3.
//
// For all routines of this header:
//
// Shapes  as in blas1.hpp, blas2.hpp and blas3.hpp. transpose::conjugate conjugates.
// Types   T is float or double.
// Memory  On dev, as in those. What is written overlaps no other operand.
// Result  Encloses, as rectangles: each part is made of what the real routine gives for the parts that make it. alpha and
//         beta are applied by complex_interval's operators; beta = 0 overwrites. Same bits on every device and for any
//         number of threads, the signs of zeros apart; of matrix products on every run, on the CPU for any number of
//         threads.
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

// Vectors and vectors: what the real routine gives for the parts, added up. Sums of products cost four times the real
// routine.

/// y := x
template <real T>
void copy(const device& dev, view<const complex_interval<T>> x, view<complex_interval<T>> y);

/// Exchanges x and y.
template <real T>
void swap(const device& dev, view<complex_interval<T>> x, view<complex_interval<T>> y);

/// x := alpha x, by an interval of real numbers or by a rectangle.
template <real T>
void scal(const device& dev, std::type_identity_t<interval<T>> alpha, view<complex_interval<T>> x);
template <real T>
void scal(const device& dev, std::type_identity_t<complex_interval<T>> alpha, view<complex_interval<T>> x);

/// y := alpha x + y
template <real T>
void axpy(const device& dev, std::type_identity_t<complex_interval<T>> alpha, view<const complex_interval<T>> x,
          view<complex_interval<T>> y);

/// The sum of the x_i y_i, or of the conj(x_i) y_i.
template <real T>
complex_interval<T> dotu(const device& dev, view<const complex_interval<T>> x,
                         view<const complex_interval<T>> y);
template <real T>
complex_interval<T> dotc(const device& dev, view<const complex_interval<T>> x,
                         view<const complex_interval<T>> y);

/// The Euclidean norm.
template <real T>
interval<T> nrm2(const device& dev, view<const complex_interval<T>> x);

/// The sum of |real| + |imaginary|, as BLAS has it.
template <real T>
interval<T> asum(const device& dev, view<const complex_interval<T>> x);

/// The first index of the largest |real| + |imaginary|, as BLAS has it: of the sum of the parts' magnitudes, to
/// nearest. The empty set is passed over; -1 where nothing is left.
template <real T>
std::int64_t iamax(const device& dev, view<const complex_interval<T>> x);

/// The same for the smallest, of the sum of the parts' mignitudes.
template <real T>
std::int64_t iamin(const device& dev, view<const complex_interval<T>> x);

/// A rotation with c a + s b = r and c b - conj(s) a = 0; c is real.
template <real T>
struct complex_rotation {
  interval<T> c;
  complex_interval<T> s, r;
};

/// The rotation that brings b to 0.
///
/// Result  c and s enclose |a|/|(a, b)| and a conj(b) / (|a| |(a, b)|) for all points, r encloses a |(a, b)| /
///         |a|; a/|a| is taken as 1 where a is 0, and lies anywhere where a holds 0 beside others; so does
///         b/|b|.
template <real T>
complex_rotation<T> rotg(complex_interval<T> a, complex_interval<T> b);

/// x := c x + s y and y := c y - s x for real c and s.
template <real T>
void rot(const device& dev, view<complex_interval<T>> x, view<complex_interval<T>> y,
         std::type_identity_t<interval<T>> c, std::type_identity_t<interval<T>> s);

// Matrices and vectors. The real routine's chains are formed for the entries' parts with the real and with the imaginary
// part of the vector, then added up: the matrix is read twice, a Hermitian one four times, with scratch of a few vectors. Of
// a Hermitian matrix one triangle is read or written; its diagonal is read as real, and written as such.

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

// Matrices and matrices. Each part is the tight sum of the two real products that make it, one chain after the other, as
// blas3.hpp says, with copies of the operands' parts and of the product's: four times the cost of the real routine on
// intervals, herk three times.

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
