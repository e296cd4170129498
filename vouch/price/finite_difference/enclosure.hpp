// vouch/price/finite_difference/enclosure.hpp -- proved bounds of what steps in time compute.
#pragma once
#include <string>

#include <vouch/interval/interval.hpp>
#include <vouch/price/contract.hpp>
#include <vouch/price/finite_difference.hpp>
#include <vouch/price/finite_difference/grid.hpp>
#include <vouch/price/finite_difference/time_stepping.hpp>

namespace vouch {

/// What the steps would give on this grid without any rounding, read at the spot by the polynomial of
/// evaluate(). Exact are: nodes, coefficients of the operator, lengths of steps, payoffs and boundary values,
/// spots behind a cash dividend, all as the doubles that march() has; an American step is the solution of its
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
fd_enclosure enclose_march(const contract& c, const fd_grid& grid, const fd_payment& payment,
                           const std::vector<fd_segment>& segments, time_scheme scheme);

/// The same of march_to_begin(), which has two such problems: the values of the one at the barrier, read by its
/// polynomial, are those of the other at its end.
fd_enclosure enclose_march_to_begin(const contract& c, const fd_grid& grid, grid_kind kind, std::int64_t steps,
                                    time_scheme scheme);

/// An option that begins at a barrier from `out`, which ends there: the exact price without barrier less out.
fd_enclosure enclose_in_option(const contract& knocked_out, const fd_enclosure& out);

}  // namespace vouch
