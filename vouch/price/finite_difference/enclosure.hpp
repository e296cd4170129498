// vouch/price/finite_difference/enclosure.hpp -- proved bounds of what steps in time and the exponential scheme compute;
// private.
#pragma once
#include <cstddef>
#include <string>
#include <vector>

#include <vouch/core/double_double.hpp>
#include <vouch/interval/interval.hpp>
#include <vouch/price/contract.hpp>
#include <vouch/price/finite_difference.hpp>
#include <vouch/price/finite_difference/exponential.hpp>
#include <vouch/price/finite_difference/grid.hpp>
#include <vouch/price/finite_difference/steps.hpp>
#include <vouch/price/finite_difference/time_stepping.hpp>

namespace vouch {

/// What the steps would give on this grid without any rounding, read at the spot by the polynomial of
/// evaluate(). Exact are: nodes, coefficients of the operator, lengths of steps, payoffs and boundary values,
/// spots behind a cash dividend, all as the doubles that step_in_time() has; an American step is the solution of its
/// linear complementarity problem. The exponential scheme takes no steps; of it the differential equation in
/// time of the grid's values is solved exactly. So it bounds rounding, in whatever precision and order steps
/// were taken, and what a contour leaves out, and says nothing of the distance to the differential equation in
/// space and time.
///
/// Result  Nothing is proved where no norm of docs/rigor.md keeps errors small: verified is false then, and the
///         intervals are entire.
///         Same bits on every run.
/// Cost    About 40 ns a node and step; American ones some times that. The exponential scheme: see
///         enclose_exponential().
/// Source  docs/rigor.md, "Steps in time".
fd_enclosure enclose_time_stepping(const contract& c, const fd_grid& grid, const fd_payment& payment,
                                   const std::vector<fd_segment>& segments, time_scheme scheme);

/// The same of step_to_knock_in(), which has two such problems: the values of the one at the barrier, read by its
/// polynomial, are those of the other at its end.
fd_enclosure enclose_knock_in(const contract& c, const fd_grid& grid, grid_kind kind, std::int64_t steps,
                              time_scheme scheme);

/// An option that knocks in at a barrier from `out`, which knocks out there: the exact price without barrier less out.
fd_enclosure enclose_in_option(const contract& knocked_out, const fd_enclosure& out);

/// dV/dtau = L V at the inner nodes, from V = start on; the ends are sums of amount * exp(-decay tau / time).
struct exponential_problem {
  fd_operator L;
  double time = 0;
  std::vector<double> start;
  boundary_exponentials first, last;
};

/// The values after `time` at the nodes [from, from + count), for the exact numbers of the problem: exp(time L)
/// by a sum of Chebyshev polynomials in double-double precision, whose truncation and rounding are bounded.
///
/// Result  Entire where nothing is proved. The same bits on every run.
/// Cost    About 10 ns a node and polynomial; of these nine times the root of time * max(lower + upper).
/// Throws  error  a growing solution or a node at an end, in a build without MPFR
/// Source  docs/rigor.md, "The exponential scheme".
std::vector<interval<double>> enclose_exponential(const exponential_problem& p, std::size_t from,
                                                  std::size_t count);

/// p(y) = sum_k coefficient[k] T_k(y) for -1 <= y <= 1, near f(y) = exp(2 time / scale (y - 1)).
struct enclosed_chebyshev {
  std::vector<double_double<double>> coefficient;
  double magnitudes = 0;  // at least the sum of the coefficients' magnitudes
  double off = 0;         // at least |p - f|
  double slope_off = 0;   // at least |p' - f'| scale / (2 time)
};

/// For time and scale between 1e-100 and 1e100 with time / scale at most 1e12.
///
/// Cost    About nine times the root of time / scale coefficients.
enclosed_chebyshev enclose_chebyshev(double time, double scale);

}  // namespace vouch
