// vouch/dense/transpose/transpose_cuda.hpp -- transposition on a GPU; private, called after the checks.
#pragma once
#include <vouch/dense/transpose.hpp>

namespace vouch::detail {

void transpose_elements_cuda(const device& dev, int bytes, element_grid<const std::byte> from,
                             element_grid<std::byte> to);
/// In place.
void transpose_square_cuda(const device& dev, int bytes, element_grid<std::byte> A);
/// In place, through a copy; columns follow each other without gaps.
void transpose_rectangle_cuda(const device& dev, int bytes, element_grid<std::byte> A);

}  // namespace vouch::detail
