// vouch/core/parallel_for.cuh -- the same work for every index of a range.
#pragma once
#include <algorithm>
#include <cstdint>

#include <vouch/core/launch.cuh>
#include <vouch/core/types.hpp>

namespace vouch::detail {

inline constexpr unsigned parallel_for_block = 256;

// A thread takes every (grid size)-th index. Bound by memory; bits do not depend on the grid.
template <class Body>
__global__ void __launch_bounds__(parallel_for_block) parallel_for_kernel(std::int64_t n, Body body) {
  for (std::int64_t i = std::int64_t{blockIdx.x} * parallel_for_block + threadIdx.x; i < n;
       i += std::int64_t{gridDim.x} * parallel_for_block)
    body(i);
}

/// Enqueues body(i) for every i from 0 to n - 1, each of which is independent of the others.
template <class Body>
void parallel_for(const device& dev, const char* name, std::int64_t n, const Body& body) {
  const std::int64_t blocks =
      std::min<std::int64_t>(ceil_div<std::int64_t>(n, parallel_for_block), 16 * dev.processors());
  launch(dev, name, {blocks, parallel_for_block}, parallel_for_kernel<Body>, n, body);
}

}  // namespace vouch::detail
