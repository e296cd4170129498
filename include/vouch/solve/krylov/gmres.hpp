// vouch/solve/krylov/gmres.hpp -- restarted GMRES for any square system, flexible or not.
#pragma once
#include <vouch/core/device.hpp>
#include <vouch/core/view.hpp>
#include <vouch/core/visibility.hpp>
#include <vouch/solve/loop/operator.hpp>
#include <vouch/solve/loop/report.hpp>
#include <vouch/solve/loop/stopping_criterion.hpp>
#include <vouch/sparse/csr.hpp>

namespace VOUCH_PUBLIC vouch {

struct gmres_options : stopping_criterion {
  int restart = 50;           // vectors of the basis, at least 1
  int longest_restart = 200;  // what it is doubled to where they reduce the residual by less than a tenth
};

/// Solves A x = b from the given x by the minimal residual over Krylov spaces of A M, begun anew every `restart`
/// iterations.
///
/// Shapes  A is n-by-n, b and x have n elements; n may be 0.
/// Types   T is float or double.
/// Memory  A, b and x live on dev; x holds the start and receives the result; overlaps nothing. `restart` + 2 vectors
///         besides, in the end up to `longest_restart` + 2 where that has to be and there is memory for it.
/// Result  The numerical contract of docs/contract.md: status converged means ||b - Ax||_2 <= max(rtol ||b||_2, atol)
///         for the x returned, recomputed in twice the working precision. Same bits on every run; on the CPU for any
///         number of threads. Not converging is a status, never an exception: restarts that gain nothing,
///         however long, end `stagnated`. Where A is the real form of complex numbers (vouch/solve/complex.hpp) and M is
///         linear for them, as one vector and i times it tell, or any M of fgmres(), the scalars are complex, and vectors
///         are orthogonal as complex ones.
/// Cost    Iteration k of a restart: one product with A, one application of M, and 2 k + 6 vectors read or written. A GPU
///         waits for the host once in every iteration.
/// Throws  shape_error  A not square, wrong lengths, M for another number of unknowns
///         value_error  NaN or infinity in A, b or x; a restart below 1; a rule on the change of x
/// Source  Saad, Schultz, SIAM J. Sci. Stat. Comput. 7 (1986); preconditioned from the right; classical Gram-Schmidt
///         twice, the second time one iteration late with one pass of inner products for both: Bielich, Langou, Thomas,
///         Swirydowicz, Yamazaki, Boman, Parallel Comput. 112 (2022).
template <real T>
solve_report gmres(const device& dev, csr_view<const T> A, view<const T> b, view<T> x,
                   const gmres_options& options = {}, const preconditioner<T>* M = nullptr);

/// The same for a matrix given by its action. The residual at the end is recomputed in the working precision, since
/// only the operator knows its entries; the report says so.
template <real T>
solve_report gmres(const device& dev, const linear_operator<T>& A, view<const T> b, view<T> x,
                   const gmres_options& options = {}, const preconditioner<T>* M = nullptr);

/// The same with a preconditioner that may be another one in every iteration: one that iterates itself, or is no
/// linear map. M times each vector of the basis is kept: as many vectors more where there is an M.
///
/// Source  Saad, SIAM J. Sci. Comput. 14 (1993).
template <real T>
solve_report fgmres(const device& dev, csr_view<const T> A, view<const T> b, view<T> x,
                    const gmres_options& options = {}, const preconditioner<T>* M = nullptr);

template <real T>
solve_report fgmres(const device& dev, const linear_operator<T>& A, view<const T> b, view<T> x,
                    const gmres_options& options = {}, const preconditioner<T>* M = nullptr);

}  // namespace vouch
