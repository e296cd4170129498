// vouch/solve/krylov/idr.hpp -- IDR(s) for any square system, one product an iteration.
#pragma once
#include <vouch/core/device.hpp>
#include <vouch/core/view.hpp>
#include <vouch/core/visibility.hpp>
#include <vouch/solve/loop/operator.hpp>
#include <vouch/solve/loop/report.hpp>
#include <vouch/solve/loop/stopping_criterion.hpp>
#include <vouch/sparse/csr.hpp>

namespace VOUCH_PUBLIC vouch {

struct idr_options : stopping_criterion {
  int s = 4;  // dimensions of the shadow space, 1 to 16
};

/// Solves A x = b from the given x by induced dimension reduction with biorthogonal residuals, preconditioned from the
/// right.
///
/// Shapes  A is n-by-n, b and x have n elements; n may be 0.
/// Types   T is float or double.
/// Memory  A, b and x live on dev; x holds the start and receives the result; overlaps nothing. 3 s + 3 vectors
///         besides.
/// Result  The numerical contract of docs/contract.md: status converged means ||b - Ax||_2 <= max(rtol ||b||_2, atol)
///         for the x returned, recomputed in twice the working precision. Same bits on every run; on the CPU for any
///         number of threads: the shadow space is hashed. Not converging is a status, never an exception. Where a
///         division of the recurrence is one by rounding errors, it begins anew from there with another shadow space;
///         where that happens again before the residual was halved, the status is `breakdown`. Residuals go up and
///         down: of an end without success x is the iterate of the least residual by the recurrence, up to a factor of
///         two. Where A is the real form of complex numbers (vouch/solve/complex.hpp) and M is linear for them, as one vector and i
///         times it tell, the scalars are complex.
/// Cost    An iteration: one product with A, one application of M, about 3 s + 13 vectors read or written. A GPU waits
///         for the host three times in every iteration, for s > 4 in many of them four times.
/// Throws  shape_error  A not square, wrong lengths, M for another number of unknowns
///         value_error  NaN or infinity in A, b or x; s outside 1 to 16; a rule on the change of x
/// Source  Sonneveld, van Gijzen, SIAM J. Sci. Comput. 31 (2008); van Gijzen, Sonneveld, ACM TOMS 38 (2011); the angle
///         rule: Sleijpen, van der Vorst, Numer. Algorithms 10 (1995).
template <real T>
solve_report idr(const device& dev, csr_view<const T> A, view<const T> b, view<T> x,
                 const idr_options& options = {}, const preconditioner<T>* M = nullptr);

/// The same for a matrix given by its action. The residual at the end is recomputed in the working precision, since
/// only the operator knows its entries; the report says so.
template <real T>
solve_report idr(const device& dev, const linear_operator<T>& A, view<const T> b, view<T> x,
                 const idr_options& options = {}, const preconditioner<T>* M = nullptr);

}  // namespace vouch
