// vouch/solve/precond/jacobi.hpp -- division by the diagonal.
#pragma once
#include <memory>

#include <vouch/core/device.hpp>
#include <vouch/core/visibility.hpp>
#include <vouch/solve/loop/operator.hpp>
#include <vouch/sparse/csr.hpp>

namespace VOUCH_PUBLIC vouch {

/// M = diag(A)^-1; diagonal() gives it to solvers that multiply by it inside their own loops.
///
/// Of the real form of a complex matrix (vouch/solve/complex.hpp) whose diagonal is not real, M divides by the complex
/// numbers there and diagonal() is nullptr.
///
/// Shapes  A is n-by-n; n may be 0.
/// Types   T is float or double.
/// Memory  A lives on dev and is not needed afterwards; n values stay.
/// Cost    Set-up: a search in every row. apply(): n multiplications, 3 n values moved.
/// Throws  shape_error  A is not square
///         value_error  a diagonal entry that is zero, negative or not finite, of a complex diagonal one without an
///                      inverse; the text names the row
template <real T>
std::unique_ptr<preconditioner<T>> make_jacobi(const device& dev, csr_view<const T> A);

}  // namespace vouch
