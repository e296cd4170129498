// vouch/band/tiles_cuda.hpp -- many tridiagonal systems of a few hundred rows on GPUs, in tiles; private,
// defined only in CUDA builds.
#pragma once
#include <vouch/band/tridiagonal.hpp>
#include <vouch/core/device.hpp>

namespace vouch::detail {

/// Solves all systems where they fill the GPU with tiles, and every system begins as far from a line of 16
/// bytes in x as in all other arrays; side by side in a line. offsets: those of x on the GPU, where there are
/// any. broken: see partition_cuda(). x is b itself or overlaps nothing.
///
/// Result  Whether they do; if not, nothing has been enqueued.
template <real T>
bool solve_in_line_tiles(const device& dev, const tridiagonal_view<const T>& A, const batch_view<const T>& b,
                         const batch_view<T>& x, const std::int64_t* offsets, int* broken);
template <real T>
bool solve_in_side_tiles(const device& dev, const tridiagonal_view<const T>& A, const batch_view<const T>& b,
                         const batch_view<T>& x, int* broken);
template <real T>
bool solve_in_tiles(const device& dev, const tridiagonal_view<const T>& A, const batch_view<const T>& b,
                    const batch_view<T>& x, int* broken);

}  // namespace vouch::detail
