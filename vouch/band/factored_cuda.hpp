// vouch/band/factored_cuda.hpp -- solving with factors on GPUs; private, defined only in CUDA builds.
#pragma once
#include <vouch/band/factored_storage.hpp>

namespace vouch::detail {

/// Whether a GPU has a way to solve systems of so many rows by factors whose couplings fall below the bound
/// within decay rows; bounded: no factor exceeds 1.
bool gpu_can_use_factors(std::int64_t rows, std::int64_t decay, bool bounded);

/// How many numbers storage::meetings has.
std::int64_t run_meeting_numbers(const device& dev);

/// Solves for all of b, with plain factors on dev that have no offsets and that it can use. Enqueues only.
///
/// Memory  x overlaps nothing, or is b itself.
template <real T>
void solve_factored_cuda(const device& dev, const typename factored_tridiagonal<T>::storage& kept,
                         const batch_view<const T>& b, const batch_view<T>& x);

}  // namespace vouch::detail
