// vouch/solve/precond/amg/stencil_place.cuh -- threads for the points of a box; private.
#pragma once
#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include <vouch/core/launch.cuh>
#include <vouch/solve/precond/amg/stencil.hpp>

namespace vouch::multigrid {

struct point_place {
  std::int64_t x;
  line_place line;
};
/// Of a point by its number. Numbers of rows fit into 32 bits, in which quotients are cheap.
__device__ inline point_place place_of_point(const box& grid, std::int64_t i) {
  const auto number = static_cast<std::uint32_t>(i), nx = static_cast<std::uint32_t>(grid.size[0]),
             ny = static_cast<std::uint32_t>(grid.size[1]);
  const std::uint32_t line = number / nx, z = line / ny;
  return {number - line * nx, {line - z * ny, z}};
}

template <std::size_t n>
std::array<step, n> listed(const std::vector<step>& steps) {
  std::array<step, n> all{};
  std::copy(steps.begin(), steps.end(), all.begin());
  return all;
}

inline constexpr unsigned points_block = 256;
inline std::int64_t blocks_of(const box& grid) { return ceil_div<std::int64_t>(grid.points(), points_block); }

// Blocks that take the same points for different steps stand side by side: what they share is read once.
template <class Body>
__global__ void __launch_bounds__(points_block)
    for_each_step_kernel(std::int64_t n, unsigned count, __grid_constant__ const Body body) {
  const std::int64_t i = std::int64_t{blockIdx.x / count} * points_block + threadIdx.x;
  if (i < n) body(std::size_t{blockIdx.x % count}, i);
}
/// Enqueues body(k, i) for every k below count and every point i of the box.
template <class Body>
void for_each_step(const device& dev, const char* name, std::size_t count, const box& grid, const Body& body) {
  launch(dev, name, {static_cast<std::int64_t>(count) * blocks_of(grid), points_block},
         for_each_step_kernel<Body>, grid.points(), static_cast<unsigned>(count), body);
}

}  // namespace vouch::multigrid
