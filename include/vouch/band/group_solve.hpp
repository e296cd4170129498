// vouch/band/group_solve.hpp -- batches of tridiagonal systems in host memory, solved by a group of devices.
#pragma once
#include <vouch/band/solve.hpp>
#include <vouch/core/device_group.hpp>
#include <vouch/core/visibility.hpp>

namespace VOUCH_PUBLIC vouch {

/// Solves A x = b for every system of a batch: devices take blocks of whole systems, of some 262,144 rows each.
///
/// Shapes  As solve() (solve.hpp).
/// Types   As there.
/// Memory  A, b and x live on the host; x overlaps nothing, or is b itself. options.workspace is not used. On each GPU
///         as many blocks at once as host threads feed it, with what a solve of them needs.
/// Result  As solve() of each block, and one verdict over all. The bits of one GPU; where a block is solved otherwise
///         than the batch as a whole would be, not those of solve() on it.
/// Cost    Bound by the links to the GPUs, as far as host threads can feed them: four numbers a row there,
///         one back. Many copies where rows of few systems lie side by side.
/// Throws  As solve(), texts name systems by their numbers in the batch; cancelled
template <real T>
tridiagonal_report solve(const device_group& devices, const tridiagonal_view<const T>& A,
                         const batch_view<const T>& b, const batch_view<T>& x,
                         const tridiagonal_options& options = {});

}  // namespace vouch
