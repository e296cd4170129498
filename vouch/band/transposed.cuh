// vouch/band/transposed.cuh -- batches of systems side by side that are solved as copies one after another, on
// GPUs; private, defined only in CUDA builds.
#pragma once
#include <functional>

#include <vouch/band/chunk.cuh>
#include <vouch/core/device.hpp>

namespace vouch::detail {

/// Solves systems that lie side by side in all arrays, and are long enough for it to pay, slab by slab: `solve`
/// is called with a task of systems one after another.
///
/// Memory  168 MB at most, for the time of the work
/// Result  Whether it has done so; if not, nothing has been enqueued.
template <real T>
bool solve_transposed(const device& dev, const band_task<T>& task,
                      const std::function<void(const band_task<T>&)>& solve);

}  // namespace vouch::detail
