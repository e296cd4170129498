// vouch/band/partition_cuda.hpp -- the partition method on GPUs; private, defined only in CUDA builds.
#pragma once
#include <vouch/band/tridiagonal.hpp>
#include <vouch/band/workspace.hpp>
#include <vouch/core/device.hpp>

namespace vouch::detail {

/// Solves all systems; offsets of the shapes lie in host memory. broken is nullptr or an int of every system on
/// the GPU, which becomes 1 where there is no answer. x is b itself or overlaps nothing.
///
/// Result  Which implementation was enqueued.
template <real T>
const char* partition_cuda(const device& dev, const tridiagonal_view<const T>& A, const batch_view<const T>& b,
                           const batch_view<T>& x, int* broken, tridiagonal_workspace& workspace);

}  // namespace vouch::detail
