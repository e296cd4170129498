// vouch/reduce/batch_reduce_cpu.hpp -- batches on the CPU; private, called by batch_reduce.cpp after its
// checks.
#pragma once
#include <vouch/reduce/batch_reduce.hpp>

namespace vouch::detail {

template <batch_scalar T>
void reduce_batch_cpu(const device& cpu, const matrix_batch<T>& batch, batch_parts parts,
                      view<element_summary<T>> results);

}  // namespace vouch::detail
