// vouch/dense/residual.hpp -- r = b - op(A) x of a dense system in twice the working precision.
#pragma once
#include <vouch/core/device.hpp>
#include <vouch/core/view.hpp>
#include <vouch/core/visibility.hpp>
#include <vouch/dense/matrix.hpp>
#include <vouch/dense/types.hpp>
#include <vouch/sparse/residual.hpp>

namespace VOUCH_PUBLIC vouch {

/// r := b - op(A) (x_hi + x_lo), and the norms that a verdict needs.
///
/// Shapes  A is n-by-n, vectors have n elements; n may be 0. x_lo is nullptr, meaning zero, or has n elements.
/// Types   T is float or double.
/// Memory  Everything lives on the CPU, vectors are contiguous. r may be b; it overlaps nothing else.
/// Result  Each row is summed in double_double double precision and rounded once: row i errs by at most u |r_i| +
///         16 (n + 8)^2 2^-106 (|b| + |A||x|)_i, with u the unit roundoff of T, unless a product under- or
///         overflows. The same bits for any number of threads.
/// Cost    One pass over A; about 14 flops an entry.
/// Throws  shape_error  A is not square, lengths that do not fit, a stride other than 1
/// Source  Ogita, Rump, Oishi, SIAM J. Sci. Comput. 26 (2005).
template <real T>
residual_facts residual(const device& dev, transpose op, matrix_view<const T> A, view<const T> b,
                        view<const T> x_hi, const T* x_lo, view<T> r);

/// The same, with a bound of the exact residual beside each element.
///
/// Shapes  bound and magnitude have n elements.
/// Result  |b - op(A) x|_i <= bound[i] for the exact numbers of op(A), b and x; NaN or infinity where something
///         overflows.
template <real T>
void residual_bound(const device& dev, transpose op, matrix_view<const T> A, view<const T> b, view<const T> x,
                    view<double> bound);

}  // namespace vouch
