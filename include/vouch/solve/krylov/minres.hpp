// vouch/solve/krylov/minres.hpp -- MINRES for symmetric systems, definite or not.
#pragma once
#include <vouch/core/device.hpp>
#include <vouch/core/view.hpp>
#include <vouch/core/visibility.hpp>
#include <vouch/solve/loop/operator.hpp>
#include <vouch/solve/loop/report.hpp>
#include <vouch/solve/loop/stopping_criterion.hpp>
#include <vouch/sparse/csr.hpp>

namespace VOUCH_PUBLIC vouch {

struct minres_options : stopping_criterion {
  bool matrix_checked = false;  // the caller knows A symmetric: skip the check
};

/// Solves A x = b from the given x by the residual r that is least in the norm of M, the root of r' M r, over the
/// Krylov spaces of A M.
///
/// Shapes  A is n-by-n, b and x have n elements; n may be 0.
/// Types   T is float or double.
/// Memory  A, b and x live on dev; x holds the start and receives the result; overlaps nothing. 7 vectors besides.
/// Result  The numerical contract of docs/contract.md: status converged means ||b - Ax||_2 <= max(rtol ||b||_2, atol)
///         for the x returned, recomputed in twice the working precision. The stopping rule watches ||b - Ax||_2,
///         not the norm of M. Same bits on every run; on the CPU for any number of threads. Not converging is a
///         status, never an exception: of a singular system without a solution x comes near one of least squares
///         (in the norm of M), the status is `stagnated`, and the reason says so; M not positive definite is
///         `not_spd`.
/// Cost    An iteration: one product with A, one application of M, 9 vectors read or written, with M 19. A GPU waits for
///         the host once in every iteration, with M three times; not at all where one of compute capability 9 holds
///         matrix and vectors on its chip (up to 150,000 entries, M a diagonal or none, nobody wants
///         checkpoints), where on_iteration hears of iterations, and stops them, every few hundred.
/// Throws  shape_error  A not square, wrong lengths, M for another number of unknowns
///         value_error  A not symmetric (the text names the entry), NaN or infinity in A, b or x; a rule on the change
///                      of x
/// Source  Paige, Saunders, SIAM J. Numer. Anal. 12 (1975); with M as in Elman, Silvester, Wathen, Finite Elements and
///         Fast Iterative Solvers (2005), algorithm 6.1; the residual by its own recurrence: Choi, Paige, Saunders,
///         SIAM J. Sci. Comput. 33 (2011).
template <real T>
solve_report minres(const device& dev, csr_view<const T> A, view<const T> b, view<T> x,
                    const minres_options& options = {}, const preconditioner<T>* M = nullptr);

/// The same for a matrix given by its action, whose symmetry is not checked. The residual at the end is recomputed in
/// the working precision, since only the operator knows its entries; the report says so.
template <real T>
solve_report minres(const device& dev, const linear_operator<T>& A, view<const T> b, view<T> x,
                    const minres_options& options = {}, const preconditioner<T>* M = nullptr);

}  // namespace vouch
