// vouch/solve/precond/chebyshev.hpp -- a polynomial in the matrix: products only, no inner products, no
// barriers.
#pragma once
#include <cstdint>
#include <memory>

#include <vouch/core/device.hpp>
#include <vouch/core/visibility.hpp>
#include <vouch/solve/loop/operator.hpp>
#include <vouch/sparse/csr.hpp>

namespace VOUCH_PUBLIC vouch {

/// M = p(D^-1 A) D^-1, D = diag(A), where 1 - t p(t) is the Chebyshev polynomial of degree `degree` + 1 that is
/// smallest on [b / (degree + 1)^2, b] and one at 0. p is positive on (0, b + b / (degree + 1)^2).
///
/// b bounds the eigenvalues of D^-1 A: 1.1 times the largest Ritz value of up to 12 Lanczos steps from a fixed
/// start, but no more than the largest row sum of |D^-1 A|, which is a bound for certain. name() tells it. The
/// lower end suits all but well conditioned matrices: conjugate gradients see to the few eigenvalues below it.
///
/// Shapes  A is n-by-n; n may be 0.
/// Types   T is float or double.
/// Memory  A lives on dev and must outlive the preconditioner; 3 n values, and a copy of A where spmv_plan
///         makes one.
/// Result  Symmetric, and positive definite as long as b + b / (degree + 1)^2 exceeds the largest
///         eigenvalue. The same bits on every run; on the CPU for any number of threads.
/// Cost    Set-up: up to 12 products. apply(): `degree` products and n (6 degree + 3) values moved.
/// Throws  shape_error  A is not square
///         value_error  degree outside of 1 to 64; a diagonal entry that is not positive, an entry that is not
///                      finite
/// Source  Saad, SIAM J. Sci. Stat. Comput. 6 (1985); Golub, Van Loan, Matrix Computations, 4th ed., 11.2.8.
template <real T>
std::unique_ptr<preconditioner<T>> make_chebyshev(const device& dev, csr_view<const T> A,
                                                  std::int64_t degree = 4);

}  // namespace vouch
