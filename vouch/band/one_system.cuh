// vouch/band/one_system.cuh -- systems too long for a block on GPUs; private, defined only in CUDA builds.
#pragma once
#include <vouch/band/chunk.cuh>
#include <vouch/band/workspace.hpp>
#include <vouch/core/device.hpp>

namespace vouch::detail {

/// Solves all systems of a task, offsets on the GPU; x is b itself or overlaps nothing.
///
/// Result  Which implementation was enqueued.
template <real T>
const char* solve_long_systems(const device& dev, const band_task<T>& task, tridiagonal_workspace& workspace);

}  // namespace vouch::detail
