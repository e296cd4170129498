// vouch/solve/krylov/least_squares.hpp -- LSQR and LSMR: sparse systems of any shape, solved or in the least-squares sense.
#pragma once
#include <vouch/core/device.hpp>
#include <vouch/core/view.hpp>
#include <vouch/core/visibility.hpp>
#include <vouch/solve/loop/report.hpp>
#include <vouch/solve/loop/stopping_criterion.hpp>
#include <vouch/sparse/csr.hpp>

namespace VOUCH_PUBLIC vouch {

struct least_squares_options : stopping_criterion {
  bool must_fit = false;  // A is square and A x = b is to be solved: the residual alone decides
};

/// The x, from the given one on, for which ||b - Ax||_2 is least, by Golub and Kahan's bidiagonalisation of A with columns
/// scaled to norm 1. LSQR makes ||b - Ax||_2 least over the Krylov spaces of A'A.
///
/// Shapes  A is m-by-n, b has m elements, x has n; m and n may be 0.
/// Types   T is float or double.
/// Memory  A, b and x live on dev; x holds the start and receives the result; overlaps nothing. The transpose of A, 2
///         vectors of m elements and 7 of n besides.
/// Result  Status converged means ||b - Ax||_2 <= max(rtol ||b||_2, atol), with b - Ax recomputed in twice the working
///         precision; or, unless must_fit is set, ||A'(b - Ax)||_2 <= rtol ||A||_F ||b - Ax||_2: a least-squares solution.
///         reason says which, normal_equations how small that is. From x = 0 and with columns of one norm it is the
///         shortest one. Same bits on every run; on the CPU for any number of threads. Not converging is a status,
///         never an exception.
/// Cost    An iteration: a product with A and one with A', 1 vector of m elements and at most 9 of n read or written. A GPU waits
///         for the host twice in every iteration. A'A has the square of the condition number of A.
/// Throws  shape_error  wrong lengths; must_fit and A is not square
///         value_error  NaN or infinity in A, b or x; a rule on the change of x; without must_fit any rule but the residual's
/// Source  Paige, Saunders, ACM TOMS 8 (1982).
template <real T>
solve_report lsqr(const device& dev, csr_view<const T> A, view<const T> b, view<T> x,
                  const least_squares_options& options = {});

/// The same by LSMR, which makes the norm of A'(b - Ax), columns scaled, least: it falls steadily, so that runs that are
/// ended early end nearer to a least-squares solution.
///
/// Source  Fong, Saunders, SIAM J. Sci. Comput. 33 (2011).
template <real T>
solve_report lsmr(const device& dev, csr_view<const T> A, view<const T> b, view<T> x,
                  const least_squares_options& options = {});

}  // namespace vouch
