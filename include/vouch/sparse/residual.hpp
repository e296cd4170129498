// vouch/sparse/residual.hpp -- r = b - A x in twice the working precision, and the norms a verdict needs.
#pragma once
#include <vouch/core/device.hpp>
#include <vouch/core/view.hpp>
#include <vouch/core/visibility.hpp>
#include <vouch/sparse/csr.hpp>

namespace VOUCH_PUBLIC vouch {

/// What one pass over A, b and x tells. A NaN or infinity in A, b or x shows in every norm it belongs to.
struct residual_facts {
  double norm2 = 0;            // ||r||_2 of the rounded r
  double norm_inf = 0;         // ||r||_inf
  double matrix_norm_inf = 0;  // ||A||_inf, the largest row sum of |a_ij|
  double x_norm_inf = 0;       // ||x_hi + x_lo||_inf
  double rhs_norm_inf = 0;     // ||b||_inf
  double rhs_norm2 = 0;        // ||b||_2
  double product_norm2 = 0;    // || |A||x| ||_2; u times this over ||b|| is about the attainable residual
  double terms = 0;            // entries and rows of A

  /// ||r||_inf / (||A||_inf ||x||_inf + ||b||_inf); 0 for r = 0.
  double backward_error() const;

  /// norm2, with what sums in twice the precision of T leave open added where that is above u ||b||, which is
  /// where || |A||x| || is above 10^14 ||b|| (T float: 10^6): a computed r of zero says nothing there. Likewise
  /// with what underflow may hide, unless x is 0, or norm2 is 0 and that is below u ||b||.
  template <real T>
  double norm2_at_most() const;
};

/// r := b - A (x_hi + x_lo).
///
/// Shapes  A is m-by-n, x_hi has n elements, b and r have m; m, n and nnz may be 0. x_lo is nullptr, meaning
///         zero, or has n elements.
/// Types   T is float or double.
/// Memory  Everything lives on dev, vectors are contiguous. r may be b; it overlaps nothing else.
/// Result  Each row is summed in double-double (T double) or double (T float) and rounded once: row i errs by
///         at most u |r_i| + c nnz_i u^2 (|b| + |A||x|)_i with u the unit roundoff of T and c below 10, unless
///         a product under- or overflows. Norms are relatively accurate to about m u of double and neither
///         overflow nor underflow before their value does. Same bits on every run on one device, on the CPU for
///         any number of threads.
/// Cost    One pass over A, waits for the GPU. About 25 flops an entry in double, 6 in float.
/// Throws  shape_error  lengths that do not fit, a stride other than 1
/// Source  Double-double: see core/double_double.hpp. Norms: Blue, ACM TOMS 4 (1978).
template <real T>
residual_facts residual(const device& dev, csr_view<const T> A, view<const T> b, view<const T> x_hi,
                        const T* x_lo, view<T> r);

/// Bounds of the exact residual: |b - A x|_i <= bound[i] for the exact numbers of A, b and x; NaN or infinity
/// where something overflows.
///
/// Shapes  A is m-by-n, x has n elements, b and bound have m.
/// Memory  Everything lives on the CPU, vectors are contiguous.
/// Cost    One pass over A.
template <real T>
void residual_bound(const device& dev, csr_view<const T> A, view<const T> b, view<const T> x,
                    view<double> bound);

}  // namespace vouch
