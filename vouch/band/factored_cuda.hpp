// vouch/band/factored_cuda.hpp -- solving with factors on GPUs; private, defined only in CUDA builds.
#pragma once
#include <vouch/band/factored_storage.hpp>

namespace vouch::detail {

/// How a GPU works with factors.
enum class factored_plan {
  whole,       // a system fits a block
  halos,       // chunks of a system, each with rows beside it as far as couplings reach
  cluster,     // a system fits a cluster of blocks that tell each other what couples them
  two_passes,  // chunks again, reading everything twice
  none         // couplings that grow: no way
};
/// For systems of so many rows whose couplings fall below the bound within decay rows; bounded: no factor
/// exceeds 1.
factored_plan plan_of_factors(std::int64_t rows, std::int64_t decay, bool bounded);

/// Solves for all of b, with plain factors on dev that have no offsets and a plan. Enqueues only.
///
/// Memory  x overlaps nothing; or is b itself, unless the plan has halos.
template <real T>
void solve_factored_cuda(const device& dev, const typename factored_tridiagonal<T>::storage& kept,
                         const batch_view<const T>& b, const batch_view<T>& x);

}  // namespace vouch::detail
