// vouch/solve/krylov/cocg.hpp -- conjugate orthogonal conjugate gradients for complex symmetric systems.
#pragma once
#include <vouch/core/device.hpp>
#include <vouch/core/view.hpp>
#include <vouch/core/visibility.hpp>
#include <vouch/solve/loop/operator.hpp>
#include <vouch/solve/loop/report.hpp>
#include <vouch/solve/loop/stopping_criterion.hpp>
#include <vouch/sparse/csr.hpp>

namespace VOUCH_PUBLIC vouch {

struct cocg_options : stopping_criterion {
  bool matrix_checked = false;  // A is known to be complex symmetric
};

/// Solves A x = b from the given x for a complex matrix A that equals its transpose, not its conjugate transpose:
/// conjugate gradients whose products are u^T v. A is given by its real form, vectors by real and imaginary parts in
/// turns (vouch/solve/complex.hpp). M is linear for complex numbers and equals its transpose, too: make_jacobi(), make_amg(),
/// make_ilu0() where it does not exchange rows.
///
/// Shapes  A is 2n-by-2n, b and x have 2n elements; n may be 0.
/// Types   T is float or double.
/// Memory  A, b and x live on dev; x holds the start and receives the result; overlaps nothing. Six vectors besides.
/// Result  The numerical contract of docs/contract.md: status converged means ||b - Ax||_2 <= max(rtol ||b||_2, atol)
///         for the x returned, recomputed in twice the working precision. Same bits on every run; on the CPU for any
///         number of threads. Not converging is a status, never an exception. u^T u may vanish where u does not:
///         where the recurrence has nothing but rounding to divide by it begins anew, and the status is `breakdown`
///         where it had not come half way before that. Residuals go up and down: of an end without success x is the
///         iterate of the least residual by the recurrence, up to a factor of two.
/// Cost    An iteration: a product with A, an application of M, 15 vectors read or written. A GPU waits for the host
///         twice in every iteration.
/// Throws  shape_error  A not square, wrong lengths, M for another number of unknowns
///         value_error  NaN or infinity in A, b or x; a rule on the change of x; A is not the real form of a complex
///                      symmetric matrix; M is none, as two vectors tell
/// Source  van der Vorst, Melissen, IEEE Trans. Magn. 26 (1990).
template <real T>
solve_report cocg(const device& dev, csr_view<const T> A, view<const T> b, view<T> x,
                  const cocg_options& options = {}, const preconditioner<T>* M = nullptr);

}  // namespace vouch
