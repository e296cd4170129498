// vouch/reduce/batch_reduce_cuda.hpp -- batches on a GPU; private, called by batch_reduce.cpp after its checks.
#pragma once
#include <cstddef>

#include <vouch/core/device.hpp>
#include <vouch/reduce/batch_reduce.hpp>

namespace vouch::detail {

/// Scratch for any batch, to be zero before the first call on it.
std::size_t batch_scratch_bytes(const device& gpu);

template <batch_scalar T>
void reduce_batch_cuda(const device& gpu, const matrix_batch<T>& batch, batch_parts parts, std::byte* scratch,
                       view<element_summary<T>> results);

}  // namespace vouch::detail
