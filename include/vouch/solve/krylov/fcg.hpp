// vouch/solve/krylov/fcg.hpp -- flexible conjugate gradients: for preconditioners that change on the way.
#pragma once
#include <vouch/core/device.hpp>
#include <vouch/core/view.hpp>
#include <vouch/core/visibility.hpp>
#include <vouch/solve/loop/operator.hpp>
#include <vouch/solve/loop/report.hpp>
#include <vouch/solve/loop/stopping_criterion.hpp>
#include <vouch/sparse/csr.hpp>

namespace VOUCH_PUBLIC vouch {

struct fcg_options : stopping_criterion {
  bool matrix_checked = false;  // the caller knows A symmetric with a positive diagonal: skip the check
  int directions = 8;           // that are kept and made A-orthogonal to, 1 to 100
};

/// Solves A x = b from the given x as cg() does, each direction made A-orthogonal to the last few by inner products of
/// its own, so that M may be another one in every iteration, or not quite symmetric. The more M changes, the more
/// directions it takes to gain by them.
///
/// Shapes  A is n-by-n, b and x have n elements; n may be 0.
/// Types   T is float or double.
/// Memory  A, b and x live on dev; x holds the start and receives the result; overlaps nothing. 2 vectors a
///         direction kept and 1 besides.
/// Result  The numerical contract of docs/contract.md: status converged means ||b - Ax||_2 <= max(rtol ||b||_2, atol)
///         for the x returned, recomputed in twice the working precision. Same bits on every run, on the CPU for any
///         number of threads, if M has them. Not converging is a status, never an exception; r'Mr < 0 is `not_spd`.
/// Cost    An iteration: one product with A, one application of M, 9 vectors read or written and 2 more for
///         each direction kept. A GPU waits for the host three times in every iteration.
/// Throws  shape_error  A not square, wrong lengths, M for another number of unknowns
///         value_error  A not symmetric, a zero or negative diagonal entry (the text names it), NaN or infinity in A, b
///                      or x; a rule on the change of x; directions out of range
/// Source  Notay, SIAM J. Sci. Comput. 22 (2000), with the last directions kept.
template <real T>
solve_report fcg(const device& dev, csr_view<const T> A, view<const T> b, view<T> x,
                 const fcg_options& options = {}, const preconditioner<T>* M = nullptr);

/// The same for a matrix given by its action, which is not checked. The residual at the end is recomputed in the
/// working precision, since only the operator knows its entries; the report says so.
template <real T>
solve_report fcg(const device& dev, const linear_operator<T>& A, view<const T> b, view<T> x,
                 const fcg_options& options = {}, const preconditioner<T>* M = nullptr);

}  // namespace vouch
