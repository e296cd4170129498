// vouch/solve/krylov/cg_many.hpp -- conjugate gradients for several right-hand sides with one matrix; private.
#pragma once
#include <cstdint>
#include <vector>

#include <vouch/core/device.hpp>
#include <vouch/core/view.hpp>
#include <vouch/solve/krylov/cg.hpp>
#include <vouch/sparse/csr.hpp>

namespace vouch {

/// Solves A x_j = b_j for every column j, from the given x_j: as cg() for each, but up to eight columns go
/// through the loop together, so that one pass over A serves them all. Each has its own step lengths and ends
/// on its own; one that needs many more iterations than the others runs on with theirs standing still.
///
/// Shapes  A is n-by-n; B and X are n-by-columns, column after column: n * columns elements; n and columns may
///         be 0.
/// Types   T is float or double.
/// Memory  A, B and X live on dev; X holds the starts and receives the results; overlaps nothing. 7 n
///         values for each of up to eight columns besides.
/// Result  A report for each column, every one under the contract of cg(). Seconds are each column's share and
///         add up. The monitor hears of every column (iteration_record::column); false stops that column. Same
///         bits on every run; on the CPU for any number of threads. The bits of a column may differ from those
///         of cg().
///
/// Blocks of 8, 4, 2 or 1 columns are taken as a stored model of an iteration's time says (cg_many_widths.hpp);
/// one column is what cg() would do: on small systems on a GPU the kernel that keeps all on chip, on the CPU
/// often the faster way where the matrix is a few diagonals. With a preconditioner other than a diagonal, or a
/// layout wanted other than csr, all columns go one after another.
///
/// Cost    An iteration of w columns: 2 nnz w + 14 n w flops; the matrix as csr once and 9 n w values.
/// Throws  As cg().
template <real T>
std::vector<solve_report> cg_many(const device& dev, csr_view<const T> A, std::int64_t columns, view<const T> B,
                                  view<T> X, const cg_options& options = {},
                                  const preconditioner<T>* M = nullptr);

}  // namespace vouch
