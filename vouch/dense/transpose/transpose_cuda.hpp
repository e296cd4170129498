// vouch/dense/transpose/transpose_cuda.hpp -- transposition on a GPU; private, called after the checks.
#pragma once
#include <vouch/dense/transpose.hpp>

namespace vouch::detail {

void transpose_elements_cuda(const device& dev, int bytes, element_grid<const std::byte> from,
                             element_grid<std::byte> to);
/// A is made of order-by-order blocks, each of which is transposed in place.
void transpose_blocks_cuda(const device& dev, int bytes, element_grid<std::byte> A, std::int64_t order);
/// Columns follow each other without gaps.
void transpose_rectangle_cuda(const device& dev, int bytes, element_grid<std::byte> A);

}  // namespace vouch::detail
