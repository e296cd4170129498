// Stencils on a GPU: found in a matrix, multiplied, made coarser, and the largest eigenvalue of one.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <vector>

#include <vouch/core/array.hpp>
#include <vouch/core/launch.cuh>
#include <vouch/core/parallel_for.cuh>
#include <vouch/solve/loop/vector_update.hpp>
#include <vouch/solve/precond/amg/repeated_points.hpp>
#include <vouch/solve/precond/amg/stencil_entries.hpp>
#include <vouch/solve/precond/amg/stencil_lines.hpp>
#include <vouch/solve/precond/amg/stencil_place.cuh>
#include <vouch/solve/precond/amg/stencil_product.cuh>
#include <vouch/solve/precond/amg/stencil_product.hpp>
#include <vouch/solve/precond/amg/stencil_rows.hpp>
#include <vouch/solve/precond/eigenvalue_bound.hpp>

namespace vouch::multigrid {
namespace {

constexpr unsigned block = points_block;

// From matrices. Bound by memory: the matrix is read twice.

struct filling_facts {
  unsigned long long above_less_below;  // modulo 2^64, so exact
  int misfits;
};

constexpr unsigned row_block = 128;

// body(i, its entries) for every row, a thread each, from tiles of rows that the block brings in entry by entry: rows of
// memory would be read here and there by a warp.
template <class T, class Body>
__device__ void for_each_row(const csr_view<const T>& A, int most_entries, const Body& body) {
  extern __shared__ __align__(16) char memory[];
  T* const val = reinterpret_cast<T*>(memory);
  auto* const col = reinterpret_cast<std::int32_t*>(val + std::int64_t{most_entries} * row_block);
  const auto thread = static_cast<std::int64_t>(threadIdx.x);
  for (std::int64_t tile = std::int64_t{blockIdx.x} * row_block; tile < A.rows;
       tile += std::int64_t{gridDim.x} * row_block) {
    const std::int64_t first = A.row_ptr[tile],
                       end = A.row_ptr[std::min<std::int64_t>(tile + row_block, A.rows)];
    for (std::int64_t k = first + thread; k < end; k += row_block) {
      val[k - first] = A.val[k];
      col[k - first] = A.col[k];
    }
    __syncthreads();
    const std::int64_t i = tile + thread;
    if (i < A.rows) {
      const std::int64_t begin = A.row_ptr[i];
      body(i, row_entries<T>{col + (begin - first), val + (begin - first), A.row_ptr[i + 1] - begin});
    }
    __syncthreads();
  }
}

template <class T>
__global__ void __launch_bounds__(row_block)
    fill_stencil(__grid_constant__ const stencil_filling<T> filling, box grid, std::size_t steps,
                 int most_entries, filling_facts* facts) {
  long long above_less_below = 0;
  bool good = true;
  for_each_row<T>(filling.A, most_entries, [&](std::int64_t i, const row_entries<T>& row) {
    for (std::size_t k = 0; k < steps; ++k) filling.values.of(k)[i] = 0;
    const std::int64_t nx = grid.size[0], line = i / nx, x = i - line * nx;
    const line_place here = place_of_line(grid, line);
    const auto in_box = [&](std::size_t w) {
      const std::int64_t to = x + filling.ways[w].to[0];
      return to >= 0 && to < nx && has_line(grid, here.beside(filling.ways[w].to));
    };
    std::int64_t change = 0;
    good = filling.put_upper(i, row, in_box, change) && good;
    above_less_below += change;
  });
  if (!good) facts->misfits = 1;
  for (int d = 16; d > 0; d /= 2) above_less_below += __shfl_xor_sync(~0u, above_less_below, d);
  if (threadIdx.x % 32 == 0 && above_less_below != 0)
    atomicAdd(&facts->above_less_below, static_cast<unsigned long long>(above_less_below));
}

template <class T>
__global__ void __launch_bounds__(row_block)
    compare_with_stencil(__grid_constant__ const stencil_filling<T> filling, int most_entries,
                         filling_facts* facts) {
  for_each_row<T>(filling.A, most_entries, [&](std::int64_t i, const row_entries<T>& row) {
    if (!filling.mirrors_upper(i, row)) facts->misfits = 1;
  });
}

}  // namespace

template <class T>
void clear_margins_cuda(const device& dev, step_values<T>& values) {
  constexpr std::int64_t margin = step_values<T>::margin;
  const step_view<T> view = values.view();
  const std::int64_t points = values.grid.points();
  detail::parallel_for(dev, "clear_margins", static_cast<std::int64_t>(values.steps.size()) * 2 * margin,
                       [=] __device__(std::int64_t t) {
                         const std::int64_t place = t % (2 * margin);
                         T* const row = view.of(static_cast<std::size_t>(t / (2 * margin)));
                         row[place < margin ? place - margin : points + place - margin] = T{};
                       });
}

template <real T>
bool fill_stencil_cuda(const device& dev, csr_view<const T> A, double factor, stencil_matrix& S) {
  const stencil_filling<T> filling{A, factor, couplings_of(S.grid, S.steps), S.view()};
  auto facts = array<filling_facts>::zeros(dev, 1);
  const std::int64_t blocks =
      std::min<std::int64_t>(ceil_div<std::int64_t>(A.rows, row_block), 16 * dev.processors());
  const auto most_entries = static_cast<int>(2 * S.steps.size() - 1);  // of a row
  const launch_shape shape{blocks, row_block,
                           row_block * static_cast<std::size_t>(most_entries) * (sizeof(T) + 4)};
  launch(dev, "fill_stencil", shape, fill_stencil<T>, filling, S.grid, S.steps.size(), most_entries,
         facts.data());
  launch(dev, "compare_with_stencil", shape, compare_with_stencil<T>, filling, most_entries, facts.data());
  const filling_facts all = facts.to_vector().front();
  return all.above_less_below == 0 && all.misfits == 0;
}

template void clear_margins_cuda(const device&, step_values<float>&);
template void clear_margins_cuda(const device&, step_values<double>&);
template bool fill_stencil_cuda(const device&, csr_view<const float>, double, stencil_matrix&);
template bool fill_stencil_cuda(const device&, csr_view<const double>, double, stencil_matrix&);

// Coarse ones: a thread a point and step of interpolation, or a point and coupling. Blocks that take the
// same points for different steps stand side by side, so that what they read comes from memory once.

namespace {

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

// Products: a thread an element. Bound by memory; what neighbours in the plane share comes from
// the caches of a multiprocessor, since a block takes several lines.

namespace {

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

// Whose numbers repeat: a thread a point and step. Bound by memory: what is made is written, or what is compared read, once.

namespace {

// The number of the point of `from` that stands for point i of `to`.
__device__ std::int64_t number_of_same(const box& to, const box& from, const end_points& ends, std::int64_t i) {
  const point_place here = place_of_point(to, i);
  const auto same = [&](std::int64_t x, std::size_t a) {
    return same_point(x, to.size[a], from.size[a], ends.first[a], ends.last[a]);
  };
  return first_of(from, {same(here.line.y, 1), same(here.line.z, 2)}) + same(here.x, 0);
}

}  // namespace

bool repeats_cuda(const device& dev, const stencil_matrix& A, const end_points& ends) {
  auto differs = array<std::int32_t>::zeros(dev, 1);
  std::int32_t* const flag = differs.data();
  const box grid = A.grid;
  const step_view<const double> values = A.view();
  for_each_step(dev, "repeats", A.steps.size(), grid, [=] __device__(std::size_t k, std::int64_t i) {
    if (*flag != 0) return;  // once seen, enough is known
    const double* const of_step = values.of(k);
    if (!(of_step[i] == of_step[number_of_same(grid, grid, ends, i)])) *flag = 1;
  });
  return differs.to_vector().front() == 0;
}

void repeat_cuda(const device& dev, const step_values<double>& from, const end_points& ends,
                 step_values<double>& to) {
  const box small = from.grid, large = to.grid;
  const step_view<const double> given = from.view();
  const step_view<double> made = to.view();
  for_each_step(dev, "repeat", to.steps.size(), large, [=] __device__(std::size_t k, std::int64_t i) {
    made.of(k)[i] = given.of(k)[number_of_same(large, small, ends, i)];
  });
}

// Lanczos's recurrence for a stencil with a unit diagonal, two kernels a step and nobody waits: every block adds
// the parts of an inner product, in the same order, before it needs it. Bound by memory, on coarse levels by launches.

namespace {

struct lanczos_scalars {
  double norm[lanczos_steps + 1];  // of the vector that a step begins with
  double alpha[lanczos_steps];     // times its square
};

// The sum of a number a thread, in every thread.
__device__ double sum_of_block(double v) {
  __shared__ double parts[block / 32];
  for (int d = 16; d > 0; d /= 2) v += __shfl_xor_sync(~0u, v, d);
  __syncthreads();
  if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = v;
  __syncthreads();
  double sum = 0;
  for (unsigned w = 0; w < block / 32; ++w) sum += parts[w];
  return sum;
}
__device__ double sum_of_parts(const double* parts) {
  double sum = 0;
  for (unsigned k = threadIdx.x; k < gridDim.x; k += block) sum += parts[k];
  return sum_of_block(sum);
}

__global__ void __launch_bounds__(block) begin_lanczos(int n, float* u, double* squares) {
  double sum = 0;
  for (int i = static_cast<int>(blockIdx.x * block + threadIdx.x); i < n;
       i += static_cast<int>(gridDim.x * block)) {
    u[i] = hashed_element<float>(lanczos_stream, i);
    sum += static_cast<double>(u[i]) * static_cast<double>(u[i]);
  }
  sum = sum_of_block(sum);
  if (threadIdx.x == 0) squares[blockIdx.x] = sum;
}

// w := A u and the parts of u w; the norm of u.
template <int count>
__global__ void __launch_bounds__(block)
    multiply_lanczos(__grid_constant__ const upper_diagonals U, int n, const float* u, float* w,
                     const double* squares, double* products, lanczos_scalars* s, std::int64_t step) {
  const double square = sum_of_parts(squares);
  if (blockIdx.x == 0 && threadIdx.x == 0) s->norm[step] = std::sqrt(square);
  if (products == nullptr) return;
  double sum = 0;
  for (int i = static_cast<int>(blockIdx.x * block + threadIdx.x); i < n;
       i += static_cast<int>(gridDim.x * block)) {
    w[i] = row_product<count>(U, n, u, i);
    sum += static_cast<double>(u[i]) * static_cast<double>(w[i]);
  }
  sum = sum_of_block(sum);
  if (threadIdx.x == 0) products[blockIdx.x] = sum;
}

// previous := the next vector, and the parts of its square.
__global__ void __launch_bounds__(block)
    advance_lanczos(int n, const float* u, const float* w, float* previous, const double* products,
                    double* squares, lanczos_scalars* s, std::int64_t step) {
  const double product = sum_of_parts(products), norm = s->norm[step];
  if (blockIdx.x == 0 && threadIdx.x == 0) s->alpha[step] = product;
  const auto keep = static_cast<float>(-product / (norm * norm * norm)), by = static_cast<float>(1 / norm),
             momentum = static_cast<float>(step == 0 ? 0.0 : -norm / s->norm[step - 1]);
  double sum = 0;
  for (int i = static_cast<int>(blockIdx.x * block + threadIdx.x); i < n;
       i += static_cast<int>(gridDim.x * block)) {
    const float before = step == 0 ? 0.0F : momentum * previous[i];
    const float next = keep * u[i] + before + by * w[i];
    previous[i] = next;
    sum += static_cast<double>(next) * static_cast<double>(next);
  }
  sum = sum_of_block(sum);
  if (threadIdx.x == 0) squares[blockIdx.x] = sum;
}

}  // namespace

double largest_ritz_value_cuda(const device& dev, const step_values<float>& upper) {
  const std::int64_t n = upper.grid.points(), steps = std::min(lanczos_steps, n);
  const std::int64_t blocks = std::min<std::int64_t>(ceil_div<std::int64_t>(n, block), 4 * dev.processors());
  const upper_diagonals U = diagonals_of(steps_of(upper));
  const int rows = static_cast<int>(n);
  array<float> one(dev, n), other(dev, n), w(dev, n);
  array<double> squares(dev, blocks), products(dev, blocks);
  auto scalars = array<lanczos_scalars>::zeros(dev, 1);
  float *u = one.data(), *previous = other.data();
  const launch_shape shape{blocks, block};
  const auto multiply = with_count(U, [](auto count) { return multiply_lanczos<count>; });
  launch(dev, "begin_lanczos", shape, begin_lanczos, rows, u, squares.data());
  for (std::int64_t k = 0; k < steps; ++k) {
    launch(dev, "multiply_lanczos", shape, multiply, U, rows, u, w.data(), squares.data(), products.data(),
           scalars.data(), k);
    launch(dev, "advance_lanczos", shape, advance_lanczos, rows, u, w.data(), previous, products.data(),
           squares.data(), scalars.data(), k);
    std::swap(u, previous);
  }
  launch(dev, "multiply_lanczos", shape, multiply, U, rows, u, w.data(), squares.data(), nullptr,
         scalars.data(), steps);
  const lanczos_scalars found = scalars.to_vector().front();
  std::vector<double> alpha, beta;
  for (std::int64_t k = 0; k < steps && std::isfinite(found.norm[k]); ++k) {
    alpha.push_back(found.alpha[k] / (found.norm[k] * found.norm[k]));
    beta.push_back(found.norm[k + 1]);
    if (!(beta.back() > lanczos_invariant * std::abs(alpha.front()))) break;
  }
  return lanczos_safety * largest_eigenvalue(alpha, beta);
}

}  // namespace vouch::multigrid
