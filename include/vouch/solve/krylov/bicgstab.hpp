// vouch/solve/krylov/bicgstab.hpp -- BiCGStab(l) for any square system, in memory that does not grow.
#pragma once
#include <vouch/core/device.hpp>
#include <vouch/core/view.hpp>
#include <vouch/core/visibility.hpp>
#include <vouch/solve/loop/operator.hpp>
#include <vouch/solve/loop/report.hpp>
#include <vouch/solve/loop/stopping_criterion.hpp>
#include <vouch/sparse/csr.hpp>

namespace VOUCH_PUBLIC vouch {

struct bicgstab_options : stopping_criterion {
  int l = 2;  // degree of the minimal residual polynomials, 1 to 8; 1 is van der Vorst's BiCGStab
};

/// Solves A x = b from the given x by BiCGStab(l), preconditioned from the right.
///
/// Shapes  A is n-by-n, b and x have n elements; n may be 0.
/// Types   T is float or double.
/// Memory  A, b and x live on dev; x holds the start and receives the result; overlaps nothing. 2 l + 6 vectors
///         besides.
/// Result  The numerical contract of docs/contract.md: status converged means ||b - Ax||_2 <= max(rtol ||b||_2, atol)
///         for the x returned, recomputed in twice the working precision. Same bits on every run; on the CPU for any
///         number of threads. Not converging is a status, never an exception. Where a division of the recurrence is
///         one by rounding errors, it begins anew from there with another shadow vector; where that happens again
///         before the residual was halved, the status is `breakdown`. Residuals go up and down: of an end without
///         success x is the iterate of the least residual by the recurrence, up to a factor of two. Where A
///         is the real form of complex numbers (vouch/solve/complex.hpp) and M is linear for them, as one vector and i
///         times it tell, the scalars are complex.
/// Cost    An iteration, one of the l steps before each polynomial: two products with A, two applications of M,
///         about 3 l + 10 vectors read or written. A GPU waits for the host three times in every iteration, for l = 1
///         twice, and for each polynomial once, from l = 3 on l + 1 times; not at all, for l up to 2, where minres() does
///         not.
/// Throws  shape_error  A not square, wrong lengths, M for another number of unknowns
///         value_error  NaN or infinity in A, b or x; l outside 1 to 8; a rule on the change of x
/// Source  van der Vorst, SIAM J. Sci. Stat. Comput. 13 (1992); Sleijpen, Fokkema, ETNA 1 (1993); the polynomial
///         between minimal residual and orthogonality: Sleijpen, van der Vorst, Numer. Algorithms 10 (1995).
template <real T>
solve_report bicgstab(const device& dev, csr_view<const T> A, view<const T> b, view<T> x,
                      const bicgstab_options& options = {}, const preconditioner<T>* M = nullptr);

/// The same for a matrix given by its action. The residual at the end is recomputed in the working precision, since
/// only the operator knows its entries; the report says so.
template <real T>
solve_report bicgstab(const device& dev, const linear_operator<T>& A, view<const T> b, view<T> x,
                      const bicgstab_options& options = {}, const preconditioner<T>* M = nullptr);

}  // namespace vouch
