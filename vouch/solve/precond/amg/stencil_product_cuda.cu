// Products with stencils on a GPU: a thread an element. Bound by memory; what neighbours in the plane share comes from
// the caches of a multiprocessor, since a block takes several lines.
#include <algorithm>
#include <array>
#include <cstdint>

#include <vouch/core/launch.cuh>
#include <vouch/solve/precond/amg/stencil_lines.hpp>
#include <vouch/solve/precond/amg/stencil_place.cuh>
#include <vouch/solve/precond/amg/stencil_product.cuh>
#include <vouch/solve/precond/amg/stencil_product.hpp>

namespace vouch::multigrid {
namespace {

constexpr unsigned block = points_block;

// Rows `begin` to end - 1 of n.
template <int count>
__global__ void __launch_bounds__(block)
    combine_rows(__grid_constant__ const upper_diagonals U, int n, int begin, int end, int rows_a_thread,
                 combination terms) {
  const int first = begin + static_cast<int>(blockIdx.x * (block * rows_a_thread) + threadIdx.x);
#pragma unroll 2
  for (int r = 0; r < rows_a_thread; ++r) {
    const int i = first + r * static_cast<int>(block);
    if (i >= end) return;
    terms.out[i] = combined(terms, i, row_product<count>(U, n, terms.w, i));
  }
}

struct transfer {
  box fine, coarse;
  coarsening by;
  weight_table weights;

  // The weights of steps (y, z) along a line, the point `at` being its first.
  __device__ line_terms terms(int y, int z, std::int64_t at, const float* vector) const {
    line_terms line;
    line.here = weights[place_in_table(0, y, z)] + at;
    line.vector = vector;
    if (by[0] == 1) return line;
    line.back = weights[place_in_table(-1, y, z)] + at;
    line.ahead = weights[place_in_table(1, y, z)] + at;
    return line;
  }
  __device__ bool has_step(int y, int z) const { return (y == 0 || by[1] == 2) && (z == 0 || by[2] == 2); }
};

__global__ void __launch_bounds__(block)
    restrict_points(__grid_constant__ const transfer way, const float* __restrict__ from,
                    float* __restrict__ to, __grid_constant__ const point_range points) {
  const std::int64_t at = points.first + std::int64_t{blockIdx.x} * block + threadIdx.x;
  if (at >= points.end) return;
  const point_place here = place_of_point(way.coarse, at);
  float sum = 0;
#pragma unroll
  for (int z = -1; z <= 1; ++z)
#pragma unroll
    for (int y = -1; y <= 1; ++y) {
      const line_place there{way.by[1] * here.line.y + y, way.by[2] * here.line.z + z};
      if (!way.has_step(y, z) || !has_line(way.fine, there)) continue;
      const line_terms line = way.terms(y, z, at - here.x, from + first_of(way.fine, there));
      if (way.by[0] == 2)
        add_restricted(sum, line, here.x, way.fine.size[0]);
      else
        add_plain(sum, line, here.x);
    }
  to[at] = sum;
}

// A thread takes the fine points at a coarse point of a line and behind it.
__global__ void __launch_bounds__(block)
    prolongate_points(__grid_constant__ const transfer way, const float* __restrict__ from, float a,
                      const float* u, float* out, __grid_constant__ const point_range lines) {
  const box threads{{way.coarse.size[0], way.fine.size[1], way.fine.size[2]}};
  const std::int64_t t = lines.first * threads.size[0] + std::int64_t{blockIdx.x} * block + threadIdx.x;
  if (t >= lines.end * threads.size[0]) return;
  const point_place here = place_of_point(threads, t);
  const std::int64_t n = way.coarse.size[0], nx = way.fine.size[0];
  float even = 0, odd = 0;
#pragma unroll
  for (int z = -1; z <= 1; ++z)
#pragma unroll
    for (int y = -1; y <= 1; ++y) {
      const std::int64_t beside_y = here.line.y - y, beside_z = here.line.z - z;
      if (!way.has_step(y, z) || (way.by[1] == 2 && (beside_y & 1) != 0) ||
          (way.by[2] == 2 && (beside_z & 1) != 0))
        continue;
      const line_place there{beside_y / way.by[1], beside_z / way.by[2]};
      if (!has_line(way.coarse, there)) continue;
      const std::int64_t at = first_of(way.coarse, there);
      const line_terms line = way.terms(y, z, at, from + at);
      if (way.by[0] == 2)
        add_prolongated(even, odd, line, here.x, n);
      else
        add_plain(even, line, here.x);
    }
  const std::int64_t i = first_of(way.fine, here.line) + way.by[0] * here.x;
  out[i] = a * u[i] + even;
  if (way.by[0] == 2 && 2 * here.x + 1 < nx) out[i + 1] = a * u[i + 1] + odd;
}

}  // namespace

void scale_stencil_cuda(const device& dev, const stencil_matrix& A, step_values<float>& upper) {
  const step_view<const double> from = A.view();
  const step_view<float> to = upper.view();
  const upper_diagonals U = diagonals_of(steps_of(upper));
  for_each_step(
      dev, "scale_stencil", upper.steps.size(), A.grid, [=] __device__(std::size_t k, std::int64_t i) {
        const double value = from.of(k + 1)[i];
        to.of(k)[i] = value != 0 ? scaled_coupling(value, from.of(0)[i], from.of(0)[i + U.distance[k]]) : 0.0F;
      });
}

void combine_stencil_cuda(const device& dev, const upper_steps& upper, point_range rows,
                          const combination& terms) {
  const upper_diagonals U = diagonals_of(upper);
  const std::int64_t count = rows.end - rows.first;
  const auto kernel = with_count(U, [](auto count) { return combine_rows<count>; });
  // Several lines a block where there are blocks enough.
  const std::int64_t share = count / (std::int64_t{block} * 8 * dev.processors());
  const int rows_a_thread = static_cast<int>(std::clamp<std::int64_t>(share, 1, 8));
  launch(dev, "combine_rows", {ceil_div<std::int64_t>(count, std::int64_t{block} * rows_a_thread), block},
         kernel, U, static_cast<int>(upper.grid.points()), static_cast<int>(rows.first),
         static_cast<int>(rows.end), rows_a_thread, terms);
}

void scale_interpolation_cuda(const device& dev, const step_values<double>& P, const coarsening& by,
                              const stencil_matrix& fine, const stencil_matrix& coarse,
                              step_values<float>& weights) {
  const box grid = P.grid, fine_grid = fine.grid;
  const step_view<const double> from = P.view();
  const step_view<float> to = weights.view();
  const double *const fine_diagonal = fine.of(0), *const diagonal = coarse.of(0);
  const auto steps = listed<most_steps>(P.steps);
  for_each_step(dev, "scale_interpolation", P.steps.size(), grid,
                [=] __device__(std::size_t k, std::int64_t at) {
                  const step& s = steps[k];
                  const point_place here = place_of_point(grid, at);
                  const line_place there{by[1] * here.line.y + s[1], by[2] * here.line.z + s[2]};
                  const std::int64_t point = first_of(fine_grid, there) + by[0] * here.x + s[0];
                  const double weight = from.of(k)[at];
                  to.of(k)[at] = weight != 0 ? scaled_weight(weight, fine_diagonal[point], diagonal[at]) : 0.0F;
                });
}

void restrict_cuda(const device& dev, const box& fine, const box& coarse, const coarsening& by,
                   const weight_table& weights, point_range points, const float* from, float* to) {
  launch(dev, "restrict_points", {ceil_div<std::int64_t>(points.end - points.first, block), block},
         restrict_points, transfer{fine, coarse, by, weights}, from, to, points);
}

void prolongate_cuda(const device& dev, const box& fine, const box& coarse, const coarsening& by,
                     const weight_table& weights, point_range lines, const float* from, float a, const float* u,
                     float* out) {
  const std::int64_t threads = coarse.size[0] * (lines.end - lines.first);
  launch(dev, "prolongate_points", {ceil_div<std::int64_t>(threads, block), block}, prolongate_points,
         transfer{fine, coarse, by, weights}, from, a, u, out, lines);
}

}  // namespace vouch::multigrid
