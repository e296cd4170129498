// vouch/solve/precond/scaling.hpp -- symmetric Jacobi scaling, a transformation of the system itself.
#pragma once
#include <vouch/core/array.hpp>
#include <vouch/core/device.hpp>
#include <vouch/sparse/csr.hpp>

namespace vouch {

/// How the factors of a scaling are rounded.
enum class scale_rounding {
  powers_of_two,  // scaling rounds nothing; the new diagonal lies in [0.5, 2]
  nearest         // the new diagonal is one up to rounding
};

/// matrix = S A S with S = diag(scale), scale_i about 1/sqrt(a_ii). A x = b becomes matrix y = S b, x = S y.
template <real T>
struct jacobi_scaling {
  csr<T> matrix;
  array<T> scale;
};

/// Scales A by its diagonal.
///
/// Shapes  A is n-by-n; n may be 0.
/// Types   T is float or double.
/// Memory  A and the result live on dev; A stays as it is.
/// Result  Of a symmetric A an exactly symmetric matrix. With powers of two every entry is exact as long as it
///         neither overflows nor falls below the smallest normal number.
/// Cost    2 nnz flops, nnz (8 + 2 sizeof T) bytes.
/// Throws  shape_error  A is not square
///         value_error  a diagonal entry that is not positive; the text names the row
/// Source  van der Sluis, Numer. Math. 14 (1969).
template <real T>
jacobi_scaling<T> scale_symmetric(const device& dev, csr_view<const T> A,
                                  scale_rounding rounding = scale_rounding::powers_of_two);

/// z_i := d_i r_i, as a right-hand side and a solution are scaled; on a GPU it only enqueues.
///
/// Shapes  r and z have as many elements as d.
/// Memory  All live on dev and are contiguous; z may be r.
template <real T>
void multiply_elements(const device& dev, const T* d, view<const T> r, view<T> z);

}  // namespace vouch
