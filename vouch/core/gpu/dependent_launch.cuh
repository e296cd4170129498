// vouch/core/gpu/dependent_launch.cuh -- kernels that begin while the one before still runs
// (launch_shape::programmatic_dependent_launch); on compute capability 8.x they begin after it; private.
#pragma once
#include <vouch/core/gpu/generation.hpp>

namespace vouch {

/// Waits until the kernels before have ended and their writes are visible.
__device__ inline void wait_for_earlier_kernels() {
  if constexpr (compiled_for_sm90) asm volatile("griddepcontrol.wait;" ::: "memory");
}

/// The next kernel may begin once all blocks have come here.
__device__ inline void let_next_kernel_begin() {
  if constexpr (compiled_for_sm90) asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
}

}  // namespace vouch
