// vouch/band/factored/factored_cuda.hpp -- solving with factors on GPUs; private, defined only in CUDA builds.
#pragma once
#include <vouch/band/factored.hpp>
#include <vouch/band/factored/factored_storage.hpp>

namespace vouch::detail {

/// Whether a GPU has a way to solve systems of so many rows by factors whose couplings fall below the bound
/// within decay rows; bounded: no factor exceeds 1.
bool gpu_can_use_factors(std::int64_t rows, std::int64_t decay, bool bounded);

/// How many numbers storage::exchange_buffer has.
std::int64_t exchange_buffer_numbers(const device& dev);

/// Solves for all of b, with plain factors on dev that have no offsets and that it can use. Enqueues only.
///
/// Memory  x overlaps nothing, or is b itself.
template <real T>
void solve_factored_cuda(const device& dev, const typename factored_tridiagonal<T>::storage& kept,
                         const batch_view<const T>& b, const batch_view<T>& x);

template <real T>
struct factored_task {
  factor_view<T> factors;
  batch_view<const T> b;
  batch_view<T> x;
  std::int64_t rhs_a_matrix;
};

/// How blocks hold systems.
enum class run_plan {
  none,     // they do not
  whole,    // one each
  halos,    // chunks of one, each with rows beside it as far as couplings reach
  cluster,  // chunks of one, in a cluster of blocks that exchange what couples them
  grid      // chunks, and all blocks exchange
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
