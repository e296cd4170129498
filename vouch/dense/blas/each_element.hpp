// vouch/dense/blas/each_element.hpp -- one small function for every element, on CPU and GPU; private.
#pragma once
#include <cstdint>

#include <vouch/core/config.hpp>
#include <vouch/core/device.hpp>
#include <vouch/dense/blas/elementwise_bodies.hpp>
#include <vouch/dense/blas/vectors.hpp>

namespace vouch::detail {

/// body(i) for every i < n, in any order; on a GPU enqueued under this name.
template <class Body>
void each_element(const device& dev, const char* name, std::int64_t n, const Body& body) {
  if constexpr (built_with_cuda)
    if (dev.is_cuda()) return each_element_cuda(dev, name, n, body);
  for_pieces(dev, n, [&](std::int64_t piece) {
    const std::int64_t first = piece * piece_size;
    for (std::int64_t i = first; i < first + piece_length(n, piece); ++i) body(i);
  });
}

}  // namespace vouch::detail
