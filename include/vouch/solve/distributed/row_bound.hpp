// vouch/solve/distributed/row_bound.hpp -- proved bounds of the error of solutions that stand on several ranks.
#pragma once
#include <vouch/core/device.hpp>
#include <vouch/core/view.hpp>
#include <vouch/core/visibility.hpp>
#include <vouch/distributed/row_matrix.hpp>
#include <vouch/solve/proof.hpp>

namespace VOUCH_PUBLIC vouch {

/// Proves A an H-matrix by v > 0 with <A> v > 0, every rounding outwards, where v comes from a solve to two digits; then
/// bounds the error of x as the solution of A x* = b by an enclosure of the residual, less an approximate correction.
///
/// Shapes  b and x have A.rows() elements; the radius is of this rank's rows, all else of all of them. relative: asked of
///         every component, relative to itself; 0: what can be proved.
/// Memory  Another copy of A's values and about 16 vectors while it works.
/// Result  Proved for the numbers as stored, by the theorem of h_matrix (docs/rigor.md): largest values of all rows, which
///         every rank computes from its own. The same bits on every rank, for any number of ranks and threads. Not
///         verified: a v that was not found, bounds that overflow, a request to end.
/// Cost    Two solves with a few digits, and four passes over A.
/// Throws  shape_error  b or x of another length
/// Source  As h_matrix.
solution_proof bound_rows(const device& cpu, const row_matrix& A, view<const double> b, view<const double> x,
                          double relative = 0);

}  // namespace vouch
