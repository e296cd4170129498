// vouch/solve/stationary/upload_with_start.hpp -- a dense matrix on its way to a GPU, and sweeps over what is there
// already.
#pragma once
#include <vouch/core/device.hpp>
#include <vouch/core/view.hpp>
#include <vouch/dense/matrix.hpp>
#include <vouch/dense/types.hpp>

namespace vouch {

/// Copies a square dense matrix from the host, and meanwhile makes x a better start for the sweeps that solve
/// op(A) x = b: jacobi(), gauss_seidel() or sor(), to which the copy is then given.
///
/// The matrix comes in some 20 pieces. The rows of a piece are solved for their own unknowns once it is there,
/// then one Jacobi sweep goes over all rows so far; the next piece comes in meanwhile. Where x is zero,
/// unknowns whose rows are not there yet are taken for t times their right-hand side, with the t that fits the
/// last piece best, but for none larger than the largest there: from zero no element of the start exceeds what
/// dominance allows those of the solution, max |b_i / a_ii| / (1 - q). Where a row does not dominate, x is left
/// as it was.
///
/// Shapes  A is n-by-n, b and x have n elements; n may be 0.
/// Types   T is float or double.
/// Memory  A lives on the host: pinned memory is copied while the host and the GPU work on, other memory piece
///         by piece. b, x and the result live on dev. On the CPU, and where rows do not lie in one piece of
///         memory (op is transpose::no), A is only copied.
/// Result  The copy, column after column. The same bits on every run on one GPU.
/// Cost    The copy; a few microseconds after the last piece.
/// Throws  shape_error    A not square, wrong lengths
///         out_of_memory  with the bytes asked and free
template <real T>
matrix<T> upload_with_start(const device& dev, transpose op, matrix_view<const T> A, view<const T> b,
                            view<T> x);

}  // namespace vouch
