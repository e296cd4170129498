#include <algorithm>

#include <vouch/band/tile_solver.cuh>
#include <vouch/band/tiles_cuda.hpp>
#include <vouch/core/launch.cuh>

namespace vouch::detail {
namespace {

__device__ inline void await_reads_of_bulk_stores() {
  asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory");
}
template <class T>
__device__ inline void bulk_store(T* to, const T* from, unsigned bytes) {
  asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(to),
               "r"(shared_address(from)), "r"(bytes)
               : "memory");
  asm volatile("cp.async.bulk.commit_group;" ::: "memory");
}

// Writes the unknowns of a tile.
template <real T, layout Layout>
__device__ void store_tile(const tile_batch<T, Layout>& of, const tile_maps<Layout>& maps,
                           const tile_place<Layout>& place, T* staged, std::int64_t first, int count,
                           int thread, const T (&x)[held_rows]) {
  __syncthreads();  // the slots of the tree are needed no more
#pragma unroll
  for (int k = 0; k < held_rows; ++k) staged[place.base + k * place.step] = x[k];
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  __syncthreads();
  if constexpr (Layout == layout::across) {
    if (thread == 0) {
      asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%0, {%1, %2}], [%3];" ::"l"(&maps.x),
                   "r"(static_cast<int>(first)), "r"(place.first_row), "r"(shared_address(staged))
                   : "memory");
      asm volatile("cp.async.bulk.commit_group;" ::: "memory");
    }
  } else if (place.piece == 0 && place.system < count) {
    bulk_store(of.x + (first + place.system) * of.pitch_x, staged + place.base,
               static_cast<unsigned>(of.n) * sizeof(T));
  }
}

// Blocks (clusters of them) take every so many-th tile: everything is read once and written once. Bound by
// memory.
template <real T, layout Layout>
__global__ void __launch_bounds__(tile_threads<Layout>, held_threads / tile_threads<Layout>)
    solve_tiles(tile_batch<T, Layout> of, const __grid_constant__ tile_maps<Layout> maps) {
  using memory_type = tile_memory<T, Layout>;
  const int thread = static_cast<int>(threadIdx.x), width = of.width;
  const memory_type memory;
  const tile_place<Layout> place(of, thread);
  tile_ring<T, Layout, memory_type::stages> ring(of, maps, place, memory.rows, memory.arrived, thread);
  if (thread == 0) {
    ring.init(memory.arrived);
    for (int k = 0; k < 2 && of.blocks > 1; ++k)
      arrival_init(memory.told + k, static_cast<unsigned>(width * of.blocks / told_together));
    arrival_init_fence();
  }
  __syncthreads();
  if (of.blocks > 1) sync_cluster();
  ring.bring(memory_type::stages);
  tile_solver<T, Layout> solver(of, place, memory, thread);
  for (std::int64_t tile = blockIdx.x / of.blocks; tile < of.tiles; tile += of.at_work) {
    const std::int64_t first = tile * width, left = of.systems - first;
    const int count = left < width ? static_cast<int>(left) : width;
    held_piece<T> piece;
    ring.take(piece.a);
    ring.take(piece.d);
    ring.take(piece.c);
    ring.take(piece.f);
    piece.complete(place.rank == 0 && place.piece == 0, place.rank == of.blocks - 1, place.left);
    const bool works = place.left > 0 && place.system < count, fit = piece.dominates();
    await_reads_of_bulk_stores();
    const bool dominant = __syncthreads_and(fit || !works) != 0;
    ring.bring(4);
    bool numbers = true;
    if (dominant) {
      const relation<T> own = piece.reduce_dominant();
      numbers = piece.fill_dominant(solver.template ends_of_piece<dominant_joining<T>>(own, true));
    } else {
      unsigned far = 0;
      const relation<T> own = piece.reduce_pivoted(far);
      numbers = piece.fill_pivoted(far, solver.template ends_of_piece<tile_joining<T>>(own, false));
    }
    if (works && !numbers && of.broken != nullptr) of.broken[first + place.system] = 1;
    store_tile(of, maps, place, memory.slots, first, count, thread, piece.d);
  }
  await_reads_of_bulk_stores();       // before the shared memory goes to another block
  if (of.blocks > 1) sync_cluster();  // nobody leaves while others may tell him something
}

// ---- launchers

template <class T>
bool in_lines(const T* data, std::int64_t pitch) {
  return reinterpret_cast<std::uintptr_t>(data) % 16 == 0 && pitch % line_size<T> == 0;
}

// The batch in tiles of such a layout; pieces is 0 where it does not lie so.
template <real T, layout Layout>
tile_batch<T, Layout> tiles_of(const tridiagonal_view<const T>& A, const batch_view<const T>& b,
                               const batch_view<T>& x, int* broken) {
  constexpr bool side_by_side = Layout == layout::across;
  const auto unit = [](const batch_shape& s) { return side_by_side ? s.system_stride : s.row_stride; };
  const auto pitch = [](const batch_shape& s) { return side_by_side ? s.row_stride : s.system_stride; };
  const std::int64_t n = b.shape.n, in_line = side_by_side ? b.shape.systems : n;
  tile_batch<T, Layout> of{};
  of.dl = A.dl;
  of.d = A.d;
  of.du = A.du;
  of.b = b.data;
  of.x = x.data;
  of.broken = broken;
  of.systems = b.shape.systems;
  of.pitch_A = pitch(A.shape);
  of.pitch_b = pitch(b.shape);
  of.pitch_x = pitch(x.shape);
  of.n = static_cast<int>(std::min<std::int64_t>(n, 1 << 20));
  // Places for the pieces of a system: systems side by side fill lines of 128 bytes, those in line are copied
  // to addresses that are multiples of 16.
  constexpr int threads = tile_threads<Layout>;
  constexpr int most = side_by_side ? threads / told_together : threads, most_blocks = side_by_side ? 8 : 1,
                least = side_by_side ? 1 : line_size<T>;
  const int leaves = ceil_div(of.n, held_rows);
  of.blocks = ceil_div(leaves, most);
  const bool lies = unit(A.shape) == 1 && unit(b.shape) == 1 && unit(x.shape) == 1 &&
                    in_line % line_size<T> == 0 && in_lines(A.dl, of.pitch_A) && in_lines(A.d, of.pitch_A) &&
                    in_lines(A.du, of.pitch_A) && in_lines(b.data, of.pitch_b) && in_lines(x.data, of.pitch_x);
  if (!lies || of.blocks > most_blocks) return of;
  of.pieces = least;
  while (of.pieces * of.blocks < leaves) of.pieces *= 2;
  of.width = threads / of.pieces;
  of.rows = ceil_div(leaves, of.blocks) * held_rows;
  of.tiles = ceil_div<std::int64_t>(of.systems, of.width);
  return of;
}

// How many clusters of a kernel run at once.
template <class Kernel>
int resident_clusters(Kernel* kernel, const launch_shape& shape) {
  cudaLaunchAttribute attribute{};
  attribute.id = cudaLaunchAttributeClusterDimension;
  attribute.val.clusterDim = {shape.cluster, 1, 1};
  cudaLaunchConfig_t config{};
  config.gridDim = static_cast<unsigned>(shape.blocks);
  config.blockDim = shape.threads;
  config.dynamicSmemBytes = shape.shared_bytes;
  config.attrs = &attribute;
  config.numAttrs = 1;
  int clusters = 0;
  check(cudaOccupancyMaxActiveClusters(&clusters, kernel, &config), "solve_tiles");
  return clusters;
}

// A map of rows of systems side by side, brought in boxes of a block's share of a tile.
template <real T>
bool describe(CUtensorMap& map, const T* data, std::int64_t pitch, const tile_batch<T, layout::across>& of) {
  static const auto encode = [] {
    void* found = nullptr;
    cudaDriverEntryPointQueryResult result;
    const cudaError_t e =
        cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &found, 12000, cudaEnableDefault, &result);
    return reinterpret_cast<decltype(&cuTensorMapEncodeTiled)>(e == cudaSuccess ? found : nullptr);
  }();
  if (encode == nullptr) return false;
  const cuuint64_t size[2] = {static_cast<cuuint64_t>(of.systems), static_cast<cuuint64_t>(of.n)},
                   stride[1] = {static_cast<cuuint64_t>(pitch) * sizeof(T)};
  const cuuint32_t box[2] = {static_cast<cuuint32_t>(of.width), static_cast<cuuint32_t>(of.rows)},
                   ones[2] = {1, 1};
  return encode(&map, sizeof(T) == 8 ? CU_TENSOR_MAP_DATA_TYPE_FLOAT64 : CU_TENSOR_MAP_DATA_TYPE_FLOAT32, 2,
                const_cast<T*>(data), size, stride, box, ones, CU_TENSOR_MAP_INTERLEAVE_NONE,
                CU_TENSOR_MAP_SWIZZLE_NONE, CU_TENSOR_MAP_L2_PROMOTION_NONE,
                CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE) == CUDA_SUCCESS;
}

template <real T, layout Layout>
bool solve_tiles_of(const device& dev, tile_batch<T, Layout> of) {
  if (of.pieces == 0 || of.tiles * of.blocks < dev.processors()) return false;
  tile_maps<Layout> maps{};
  if constexpr (Layout == layout::across)
    if (!describe(maps.dl, of.dl, of.pitch_A, of) || !describe(maps.d, of.d, of.pitch_A, of) ||
        !describe(maps.du, of.du, of.pitch_A, of) || !describe(maps.b, of.b, of.pitch_b, of) ||
        !describe<T>(maps.x, of.x, of.pitch_x, of))
      return false;
  const auto cluster = static_cast<unsigned>(of.blocks);
  constexpr int threads = tile_threads<Layout>;
  launch_shape shape{std::int64_t{dev.processors()} * (held_threads / threads) / of.blocks * of.blocks, threads,
                     tile_memory<T, Layout>::bytes(of), cluster};
  if (cluster > 1) {
    check(cudaSetDevice(dev.index()), "solve_tiles");
    check(cudaFuncSetAttribute(solve_tiles<T, Layout>, cudaFuncAttributeMaxDynamicSharedMemorySize,
                               static_cast<int>(shape.shared_bytes)),
          "solve_tiles");
    shape.blocks = std::int64_t{resident_clusters(solve_tiles<T, Layout>, shape)} * of.blocks;
    if (shape.blocks == 0) return false;
  }
  shape.blocks = std::min(shape.blocks, of.tiles * of.blocks);
  of.at_work = static_cast<int>(shape.blocks) / of.blocks;
  launch(dev, "solve_tiles", shape, solve_tiles<T, Layout>, of, maps);
  return true;
}

}  // namespace

template <real T>
bool solve_in_tiles(const device& dev, const tridiagonal_view<const T>& A, const batch_view<const T>& b,
                    const batch_view<T>& x, int* broken) {
  if (A.periodic || A.shape.offsets != nullptr || b.shape.offsets != nullptr || x.shape.offsets != nullptr)
    return false;
  return solve_tiles_of<T, layout::in_line>(dev, tiles_of<T, layout::in_line>(A, b, x, broken)) ||
         solve_tiles_of<T, layout::across>(dev, tiles_of<T, layout::across>(A, b, x, broken));
}

template bool solve_in_tiles(const device&, const tridiagonal_view<const float>&,
                             const batch_view<const float>&, const batch_view<float>&, int*);
template bool solve_in_tiles(const device&, const tridiagonal_view<const double>&,
                             const batch_view<const double>&, const batch_view<double>&, int*);

}  // namespace vouch::detail
