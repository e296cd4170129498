// Coarse stencils on a GPU: a thread a point and step of interpolation, or a point and coupling. Blocks that take the
// same points for different steps stand side by side, so that what they read comes from memory once.
#include <algorithm>
#include <cstdint>
#include <cstdlib>

#include <vouch/core/launch.cuh>
#include <vouch/core/parallel_for.cuh>
#include <vouch/solve/precond/amg/stencil_place.cuh>
#include <vouch/solve/precond/amg/stencil_rows.hpp>

namespace vouch::multigrid {
namespace {

constexpr unsigned block = points_block;

// Of numbers that are not negative, or not numbers, which are then the largest.
__device__ void raise_to(double* most, double value) {
  atomicMax(reinterpret_cast<unsigned long long*>(most),
            static_cast<unsigned long long>(__double_as_longlong(fabs(value))));
}

__global__ void __launch_bounds__(block)
    examine_points(box grid, __grid_constant__ const coupling_list ways, step_view<const double> A,
                   double units, coupling_facts* all) {
  coupling_facts mine;
  const std::int64_t points = grid.points();
  for (std::int64_t i = std::int64_t{blockIdx.x} * block + threadIdx.x; i < points;
       i += std::int64_t{gridDim.x} * block) {
    const point_place here = place_of_point(grid, i);
    coupling_sums<double> sums;
    sums.add(ways, A, i, [&](std::size_t w) { return has_line(grid, here.line.beside(ways[w].to)); });
    mine.add(units, A.of(0)[i], sums.sizes, sums.all, sums.along);
  }
  for (std::size_t a = 0; a < 3; ++a) {
    std::int64_t sum = mine.strength[a];
    for (int d = 16; d > 0; d /= 2) sum += __shfl_xor_sync(~0u, sum, d);
    if (threadIdx.x % 32 == 0)
      atomicAdd(reinterpret_cast<unsigned long long*>(&all->strength[a]), static_cast<unsigned long long>(sum));
  }
  for (int d = 16; d > 0; d /= 2) {
    mine.row_sum = vouch::detail::max_or_nan(mine.row_sum, __shfl_xor_sync(~0u, mine.row_sum, d));
    mine.remainder = vouch::detail::max_or_nan(mine.remainder, __shfl_xor_sync(~0u, mine.remainder, d));
  }
  if (threadIdx.x % 32 != 0) return;
  raise_to(&all->row_sum, mine.row_sum);
  raise_to(&all->remainder, mine.remainder);
}

// Steps begin to begin + count - 1, whose weights depend on those of steps before alone.
template <int stride>
__global__ void __launch_bounds__(block)
    interpolate(__grid_constant__ const interpolation_plan plan, step_view<const double> A, box fine,
                box coarse, coarsening by, __grid_constant__ const std::array<step, most_steps> steps,
                unsigned begin, unsigned count, step_view<double> P) {
  const std::size_t k = begin + blockIdx.x % count;
  const std::int64_t at = std::int64_t{blockIdx.x / count} * block + threadIdx.x;
  if (at >= coarse.points()) return;
  if (k == 0) {
    P.of(0)[at] = 1;
    return;
  }
  const step& d = steps[k];
  const point_place here = place_of_point(coarse, at);
  const line_place there = fine_line(here.line, by).beside(d);
  const std::int64_t x = stride * here.x + d[0];
  double weight = 0;
  if (has_line(fine, there) && x >= 0 && x < fine.size[0])
    plan.weights<stride>(
        weight, k, A, first_of(fine, there) + x,
        [&](std::size_t w) { return has_line(fine, there.beside(plan.ways[w].to)); }, P, at);
  P.of(k)[at] = weight;
}

// What a path reads, counted from a fine point and from a coarse one.
struct path_places {
  std::int64_t entry, weight;
  std::int64_t shift;  // from the point's number to that whose entry it is
};

// Coupling blockIdx.x % count.
__global__ void __launch_bounds__(block)
    multiply_paths(__grid_constant__ const galerkin_plan plan, step_view<const double> A,
                   step_view<const double> P, box fine, box coarse, coarsening by,
                   __grid_constant__ const std::array<step, most_steps> steps, unsigned steps_count,
                   __grid_constant__ const std::array<step, galerkin_plan::most_couplings> to, unsigned count,
                   step_view<double> C) {
  const std::size_t m = blockIdx.x % count;
  __shared__ path_places places[galerkin_plan::most_of_coupling];
  const auto& begin = plan.begin[m];
  for (int p = begin[0] + static_cast<int>(threadIdx.x); p < begin[steps_count]; p += block) {
    const galerkin_plan::path& path = plan.paths[static_cast<std::size_t>(p)];
    const coupling& way = plan.ways[static_cast<std::size_t>(path.way)];
    places[p - begin[0]] = {static_cast<std::int64_t>(way.diagonal) * A.stride + way.shift,
                            path.weight * P.stride + distance(coarse, to[m]), way.shift};
  }
  __syncthreads();
  const std::int64_t at = std::int64_t{blockIdx.x / count} * block + threadIdx.x;
  if (at >= coarse.points()) return;
  const point_place here = place_of_point(coarse, at);
  const line_place fine_here = fine_line(here.line, by);
  const std::int64_t beside = here.x + to[m][0], points = fine.points();
  double sum = 0;
  if (beside >= 0 && beside < coarse.size[0] && has_line(coarse, here.line.beside(to[m])))
    for (std::size_t d = 0; d < steps_count; ++d) {
      const line_place there = fine_here.beside(steps[d]);
      const double weight = P.of(d)[at];
      if (!has_line(fine, there) || weight == 0) continue;
      const std::int64_t from = first_of(fine, there) + by[0] * here.x + steps[d][0];
      // Entries out of the box are zeros: only the ends of the memory are to be kept off.
      const auto factors = [&](std::int16_t p, const double*& a, const double*& w) {
        const path_places& path = places[p - begin[0]];
        a = A.first + from + path.entry;
        w = P.first + at + path.weight;
        return from + path.shift >= 0 && from + path.shift < points;
      };
      galerkin_plan::add_paths(sum, weight, begin[d], begin[d + 1], factors);
    }
  C.of(m)[at] = sum;
}

}  // namespace

coupling_facts examine_cuda(const device& dev, const stencil_matrix& A, const coupling_list& ways,
                            double units) {
  auto facts = array<coupling_facts>::zeros(dev, 1);
  launch(dev, "examine_points", {std::min<std::int64_t>(blocks_of(A.grid), 16 * dev.processors()), block},
         examine_points, A.grid, ways, A.view(), units, facts.data());
  return facts.to_vector().front();
}

void interpolate_cuda(const device& dev, const stencil_matrix& A, const interpolation_plan& plan,
                      const coarsening& by, step_values<double>& P) {
  const auto steps = listed<most_steps>(P.steps);
  const auto parts = [&](unsigned k) { return parts_of(steps[k]); };
  const auto all = static_cast<unsigned>(P.steps.size());
  unsigned begin = 0;
  while (begin < all) {
    unsigned end = begin + 1;
    while (end < all && parts(end) == parts(begin)) ++end;
    launch(dev, "interpolate", {(end - begin) * blocks_of(P.grid), block},
           by[0] == 2 ? interpolate<2> : interpolate<1>, plan, A.view(), A.grid, P.grid, by, steps, begin,
           end - begin, P.view());
    begin = end;
  }
}

void galerkin_cuda(const device& dev, const stencil_matrix& A, const step_values<double>& P,
                   const galerkin_plan& plan, const coarsening& by, stencil_matrix& C) {
  const auto count = static_cast<unsigned>(C.steps.size());
  launch(dev, "multiply_paths", {count * blocks_of(C.grid), block}, multiply_paths, plan, A.view(), P.view(),
         A.grid, C.grid, by, listed<most_steps>(P.steps), static_cast<unsigned>(P.steps.size()),
         listed<galerkin_plan::most_couplings>(C.steps), count, C.view());
}

bool is_positive_cuda(const device& dev, const stencil_matrix& coarse, const stencil_matrix& fine,
                      const coarsening& by) {
  auto lost = array<std::int32_t>::zeros(dev, 1);
  std::int32_t* const flag = lost.data();
  const box grid = coarse.grid, fine_grid = fine.grid;
  const double *const now = coarse.of(0), *const before = fine.of(0);
  detail::parallel_for(dev, "is_positive", grid.points(), [=] __device__(std::int64_t i) {
    const point_place here = place_of_point(grid, i);
    const std::int64_t point = first_of(fine_grid, fine_line(here.line, by)) + by[0] * here.x;
    if (!keeps_energy(now[i], before[point])) *flag = 1;
  });
  return lost.to_vector().front() == 0;
}

}  // namespace vouch::multigrid
