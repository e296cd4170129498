// vouch/band/factored_cuda.hpp -- solving with factors on GPUs; private, defined only in CUDA builds.
#pragma once
#include <vouch/band/factored_storage.hpp>

namespace vouch::detail {

/// True where solve_factored_cuda can work with factors whose couplings fall below the bound within decay rows:
/// systems that fit a block, or decay that leaves a chunk most of its rows.
bool factors_fit_chunks(std::int64_t rows, std::int64_t decay);

/// Solves for all of b, with the matrices of factors (which have no offsets) and decay <= what fits. Enqueues
/// only.
///
/// Memory  x overlaps nothing; or is b itself, where systems fit a block.
template <real T>
void solve_factored_cuda(const device& dev, const factor_view<T>& factors, std::int64_t rows,
                         std::int64_t decay, const batch_view<const T>& b, const batch_view<T>& x);
/// True where x may be b.
bool solves_in_place(std::int64_t rows);

}  // namespace vouch::detail
