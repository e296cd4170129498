// vouch/band/factored_runs.cuh -- prefactored systems in registers, by blocks that run at once; private,
// defined only in CUDA builds.
#pragma once
#include <vouch/band/factored_cuda.hpp>
#include <vouch/band/factored_task.cuh>

namespace vouch::detail {

/// How blocks hold systems.
enum class run_plan {
  none,     // they do not
  whole,    // one each
  halos,    // chunks of one, each with rows beside it as far as couplings reach
  cluster,  // chunks of one, in a cluster of blocks that tell each other what couples them
  grid      // chunks, and all blocks tell each other
};
/// For right-hand sides, and answers, of this shape.
template <real T>
run_plan plan_of_runs(const device& dev, const typename factored_tridiagonal<T>::storage& kept,
                      const batch_shape& b);

/// Enqueues a kernel that solves all of task by this plan, which is not `none`.
///
/// Memory  x overlaps nothing; or is b itself, unless the plan has halos.
template <real T>
void solve_in_runs(const device& dev, run_plan plan, const typename factored_tridiagonal<T>::storage& kept,
                   const factored_task<T>& task);

}  // namespace vouch::detail
