#include <algorithm>

#include <vouch/band/row_boxes.cuh>
#include <vouch/band/tile_solver.cuh>
#include <vouch/band/tiles_cuda.hpp>
#include <vouch/core/gpu/tma.cuh>
#include <vouch/core/launch.cuh>

namespace vouch::detail {
namespace {

// Writes the unknowns of a tile.
template <real T>
__device__ void store_tile(const tile_batch& of, const tile_maps& maps, const tile_place& place, T* staged,
                           std::int64_t first, int thread, const T (&x)[held_rows]) {
  __syncthreads();  // the slots of the tree are needed no more
#pragma unroll
  for (int k = 0; k < held_rows; ++k) staged[place.base + k * of.width] = x[k];
  fence_proxy_async();
  __syncthreads();
  if (thread != 0) return;
  tensor_store(&maps.x, static_cast<int>(first), 0, staged);
  bulk_commit_group();
}

// Blocks take every so many-th tile: everything is read once and written once. Bound by memory.
template <real T>
__global__ void __launch_bounds__(tile_threads, held_threads / tile_threads)
    solve_tiles(tile_batch of, const __grid_constant__ tile_maps maps) {
  const int thread = static_cast<int>(threadIdx.x);
  const tile_memory<T> memory;
  const tile_place place(of, thread);
  tile_ring<T> ring(of, maps, place, memory.rows, memory.arrived, thread);
  if (thread == 0) ring.init(memory.arrived);
  __syncthreads();
  ring.bring(tile_stages);
  tile_solver<T> solver(of, place, memory, thread);
  for (std::int64_t tile = blockIdx.x; tile < of.tiles; tile += of.at_work) {
    const std::int64_t first = tile * of.width, left = of.systems - first;
    const int count = left < of.width ? static_cast<int>(left) : of.width;
    held_piece<T> piece;
    ring.take(piece.a);
    ring.take(piece.d);
    ring.take(piece.c);
    ring.take(piece.f);
    piece.complete(place.piece == 0, true, place.left);
    const bool works = place.left > 0 && place.system < count, fit = piece.dominates();
    bulk_wait_group_read();
    const bool dominant = __syncthreads_and(fit || !works) != 0;
    ring.bring(4);
    bool numbers = true;
    if (dominant) {
      const relation<T> own = piece.reduce_dominant();
      numbers = piece.fill_dominant(solver.template ends_of_piece<dominant_joining<T>>(own));
    } else {
      unsigned far = 0;
      const relation<T> own = piece.reduce_pivoted(far);
      numbers = piece.fill_pivoted(far, solver.template ends_of_piece<tile_joining<T>>(own));
    }
    if (works && !numbers && of.broken != nullptr) of.broken[first + place.system] = 1;
    store_tile(of, maps, place, memory.slots, first, thread, piece.d);
  }
  bulk_wait_group_read();  // before the shared memory goes to another block
}

// ---- launchers

// A map of rows of systems side by side, brought in boxes of a tile.
template <real T>
bool describe(CUtensorMap& map, const T* data, const batch_shape& shape, const tile_batch& of) {
  return describe_rows(map, data, shape, {of.width, of.leaves * held_rows}, CU_TENSOR_MAP_SWIZZLE_NONE);
}

}  // namespace

template <real T>
bool solve_in_tiles(const device& dev, const tridiagonal_view<const T>& A, const batch_view<const T>& b,
                    const batch_view<T>& x, int* broken) {
  constexpr int most_pieces = 8;  // so that tiles fill lines of 128 bytes
  if (!lie_side_by_side(A, b, x) || b.shape.n > most_pieces * held_rows) return false;
  tile_batch of{};
  of.broken = broken;
  of.systems = b.shape.systems;
  of.n = static_cast<int>(b.shape.n);
  of.leaves = ceil_div(of.n, held_rows);
  of.pieces = 1;
  while (of.pieces < of.leaves) of.pieces *= 2;
  of.width = tile_threads / of.pieces;
  of.tiles = ceil_div<std::int64_t>(of.systems, of.width);
  if (of.tiles < dev.processors()) return false;
  tile_maps maps{};
  if (!describe(maps.dl, A.dl, A.shape, of) || !describe(maps.d, A.d, A.shape, of) ||
      !describe(maps.du, A.du, A.shape, of) || !describe(maps.b, b.data, b.shape, of) ||
      !describe<T>(maps.x, x.data, x.shape, of))
    return false;
  of.at_work =
      static_cast<int>(std::min(std::int64_t{dev.processors()} * (held_threads / tile_threads), of.tiles));
  launch(dev, "solve_tiles", {of.at_work, tile_threads, tile_memory<T>::bytes}, solve_tiles<T>, of, maps);
  return true;
}

template bool solve_in_tiles(const device&, const tridiagonal_view<const float>&,
                             const batch_view<const float>&, const batch_view<float>&, int*);
template bool solve_in_tiles(const device&, const tridiagonal_view<const double>&,
                             const batch_view<const double>&, const batch_view<double>&, int*);

}  // namespace vouch::detail
