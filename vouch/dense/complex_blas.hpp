// vouch/dense/complex_blas.hpp -- BLAS for rectangles of complex numbers, by their real and imaginary parts.
//
// For all routines of this header:
//
// Shapes  as in blas1.hpp, blas2.hpp and blas3.hpp. transpose::conjugate conjugates.
// Types   T is float or double.
// Memory  Level 1 on dev. gemv, gemm, hemm and herk on the CPU, with copies of the operands' parts.
// Result  Encloses, as rectangles: each part is what the real routine gives for the parts that make it, added
// up;
//         alpha and beta are applied by complex_interval's operators.
// Cost    Four times that of the real routine, herk three times.
// Throws  as the real routines
#pragma once
#include <type_traits>

#include <vouch/core/device.hpp>
#include <vouch/core/view.hpp>
#include <vouch/dense/matrix.hpp>
#include <vouch/dense/types.hpp>
#include <vouch/interval/complex_interval.hpp>

namespace vouch {

/// x := alpha x
template <real T>
void scal(const device& dev, std::type_identity_t<interval<T>> alpha, view<complex_interval<T>> x);

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

/// y := alpha op(A) x + beta y
template <real T>
void gemv(const device& dev, transpose trans, std::type_identity_t<complex_interval<T>> alpha,
          matrix_view<const complex_interval<T>> A, view<const complex_interval<T>> x,
          std::type_identity_t<complex_interval<T>> beta, view<complex_interval<T>> y);

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

/// One triangle of C := alpha op(A) op(A)^H + beta C, op(A) being A or, for transpose::conjugate, A^H. The
/// diagonal is real, and formed of squares.
///
/// Throws  value_error  transpose::yes
template <real T>
void herk(const device& dev, triangle stored, transpose trans, std::type_identity_t<interval<T>> alpha,
          matrix_view<const complex_interval<T>> A, std::type_identity_t<interval<T>> beta,
          matrix_view<complex_interval<T>> C);

}  // namespace vouch
