#include <cuda.h>

#include <algorithm>
#include <cstdint>

#include <vouch/band/gpu/partition_engines.cuh>
#include <vouch/band/gpu/register_segment.cuh>
#include <vouch/band/gpu/slices.cuh>
#include <vouch/band/gpu/tensor_map.cuh>
#include <vouch/band/gpu/tile_joining.cuh>
#include <vouch/core/gpu/tma.cuh>
#include <vouch/core/launch.cuh>

namespace vouch::detail {
namespace {

// Tiles of short tridiagonal systems side by side, and how they come through shared memory.
//
// A tile is what the registers of a block hold: all rows of neighbouring systems, cut into segments, a
// segment a thread (register_segment.cuh), so many systems that they fill the lines that memory moves. The
// four arrays of a tile come one after another through a ring of stages in shared memory: while a tile is
// being solved, the next one is under way.

constexpr int tile_threads = 128;      // few, so that another block computes while this one waits
constexpr int register_threads = 256;  // of a multiprocessor, at 255 registers
constexpr int stage_size = tile_threads * register_rows;
constexpr int tile_stages = 4;

/// How TMA finds the arrays. Not a part of tile_batch: kernels need its address, which would keep
/// the rest out of registers.
struct tile_maps {
  CUtensorMap dl, d, du, b, x;
};

/// A batch of systems side by side, to be solved in tiles.
struct tile_batch {
  int* broken;  // see band_task
  std::int64_t systems, tiles;
  int n, leaves;        // rows and segments of a system
  int segments, width;  // places for segments, a power of two; systems of a tile, as many as fill its threads
  int at_work;          // tiles at once
};

/// The rows of every tile that a thread holds.
struct tile_place {
  int system, segment, left;  // left: rows from its first to the system's last
  int base;                   // of its rows in a stage, which are of.width apart

  __device__ tile_place(const tile_batch& of, int thread)
      : system(thread & (of.width - 1)),
        segment(thread / of.width),
        left(of.n - segment * register_rows),
        base(segment * register_rows * of.width + system) {}
};

/// The block's arrays on their way, tile after tile in the order dl, d, du, b.
template <real T>
class tile_ring {
 public:
  /// arrived: tile_stages barriers that init() has made.
  __device__ tile_ring(const tile_batch& of, const tile_maps& maps, const tile_place& place, T* stages,
                       std::uint64_t* arrived, int thread)
      : of_(of),
        maps_(maps),
        place_(place),
        stages_(stages),
        arrived_(arrived),
        thread_(thread),
        next_tile_(blockIdx.x) {}
  __device__ static void init(std::uint64_t* arrived) {
    for (int k = 0; k < tile_stages; ++k) mbarrier_init(arrived + k, 1);
    mbarrier_init_fence();
  }

  /// Starts to load the next arrays into stages that are free.
  __device__ void load(int arrays) {
#pragma unroll 1
    for (int k = 0; k < arrays; ++k) {
      if (next_tile_ < of_.tiles) load_box();
      next_stage_ = next_stage_ + 1 == tile_stages ? 0 : next_stage_ + 1;
      next_array_ = (next_array_ + 1) % 4;
      if (next_array_ == 0) next_tile_ += of_.at_work;
    }
  }

  /// This thread's rows of the next array. Its stage is free once the whole block has taken it.
  __device__ void take(T (&rows)[register_rows]) {
    mbarrier_wait(arrived_ + stage_, parity_);
    const T* from = stages_ + stage_ * stage_size + place_.base;
#pragma unroll
    for (int k = 0; k < register_rows; ++k) rows[k] = from[k * of_.width];
    if (++stage_ < tile_stages) return;
    stage_ = 0;
    parity_ ^= 1;
  }

 private:
  // TMA loads the rows of the tile, and zeros beyond the last system and row.
  __device__ void load_box() {
    if (thread_ != 0) return;
    const CUtensorMap* const map = next_array_ == 0   ? &maps_.dl
                                   : next_array_ == 1 ? &maps_.d
                                   : next_array_ == 2 ? &maps_.du
                                                      : &maps_.b;
    std::uint64_t* const arrival = arrived_ + next_stage_;
    mbarrier_arrive_expect_tx(arrival,
                              static_cast<unsigned>(of_.width * of_.leaves * register_rows * sizeof(T)));
    tensor_load(stages_ + next_stage_ * stage_size, map, static_cast<int>(next_tile_ * of_.width), 0, arrival);
  }
  const tile_batch& of_;
  const tile_maps& maps_;
  const tile_place& place_;
  T* stages_;
  std::uint64_t* arrived_;
  int thread_, stage_ = 0, next_stage_ = 0, next_array_ = 0;
  unsigned parity_ = 0;
  std::int64_t next_tile_;
};

/// The shared memory of a block. The unknowns leave through a stage of their own, which holds the slots of the
/// tree while they are being found.
template <real T>
struct tile_memory {
  static constexpr std::size_t bytes = (tile_stages + 1) * stage_size * sizeof(T) + 128;

  T *rows, *slots;
  std::uint64_t* arrived;

  __device__ tile_memory() {
    __shared__ std::uint64_t barriers[tile_stages];
    rows = reinterpret_cast<T*>(dynamic_shared() + (0u - shared_address(dynamic_shared())) % 128);
    slots = rows + tile_stages * stage_size;
    arrived = barriers;
  }
};

// Slots of the tree: numbers of neighbours lie together.
template <class T>
struct tile_slot {
  T* first;
  __device__ T& operator[](int k) const { return first[k * tile_threads]; }
};

// A block at work on its tiles.
template <real T>
class tile_solver {
 public:
  __device__ tile_solver(const tile_batch& of, const tile_place& place, const tile_memory<T>& memory,
                         int thread)
      : of_(of), place_(place), memory_(memory), thread_(thread) {
    spare_bits_ = __clz(of.segments);
  }

  // The boundary unknowns of this thread's segment from its reduced block.
  template <class Joining>
  __device__ boundary_unknowns<T> boundary_of_segment(const reduced_block<T>& own) {
    if (place_.left > 0) Joining::put(slot_of(place_.system, place_.segment), own);
    join_trees<Joining>([this](int s, int p) { return slot_of(s, p); }, of_.width, of_.leaves, thread_,
                        tile_threads);
    return descend<Joining>([this](int p) { return slot_of(place_.system, p); }, of_.leaves, place_.segment,
                            closed(Joining::get(slot_of(place_.system, 0))));
  }

 private:
  // The bits of a segment's number in reverse: those that a level of the tree joins lie together.
  __device__ tile_slot<T> slot_of(int system, int segment) const {
    const auto place = static_cast<int>(__brev(static_cast<unsigned>(segment)) >> 1 >> spare_bits_);
    return {memory_.slots + place * of_.width + system};
  }

  const tile_batch& of_;
  const tile_place& place_;
  const tile_memory<T>& memory_;
  int thread_, spare_bits_;  // bits above those of a segment's number, but one
};

// Writes the unknowns of a tile.
template <real T>
__device__ void store_tile(const tile_batch& of, const tile_maps& maps, const tile_place& place, T* staged,
                           std::int64_t first, int thread, const T (&x)[register_rows]) {
  __syncthreads();  // the slots of the tree are needed no more
#pragma unroll
  for (int k = 0; k < register_rows; ++k) staged[place.base + k * of.width] = x[k];
  fence_proxy_async();
  __syncthreads();
  if (thread != 0) return;
  tensor_store(&maps.x, static_cast<int>(first), 0, staged);
  bulk_commit_group();
}

// Blocks take every so many-th tile: everything is read once and written once. Bound by memory.
template <real T>
__global__ void __launch_bounds__(tile_threads, register_threads / tile_threads)
    solve_tiles(tile_batch of, const __grid_constant__ tile_maps maps) {
  const int thread = static_cast<int>(threadIdx.x);
  const tile_memory<T> memory;
  const tile_place place(of, thread);
  tile_ring<T> ring(of, maps, place, memory.rows, memory.arrived, thread);
  if (thread == 0) ring.init(memory.arrived);
  __syncthreads();
  ring.load(tile_stages);
  tile_solver<T> solver(of, place, memory, thread);
  for (std::int64_t tile = blockIdx.x; tile < of.tiles; tile += of.at_work) {
    const std::int64_t first = tile * of.width, left = of.systems - first;
    const int count = left < of.width ? static_cast<int>(left) : of.width;
    register_segment<T> segment;
    ring.take(segment.a);
    ring.take(segment.d);
    ring.take(segment.c);
    ring.take(segment.f);
    segment.complete(place.segment == 0, true, place.left);
    const bool works = place.left > 0 && place.system < count, fit = segment.dominates();
    bulk_wait_group_read();
    const bool dominant = __syncthreads_and(fit || !works) != 0;
    ring.load(4);
    bool numbers = true;
    if (dominant) {
      const reduced_block<T> own = segment.reduce_dominant();
      numbers = segment.fill_dominant(solver.template boundary_of_segment<dominant_joining<T>>(own));
    } else {
      unsigned far = 0;
      const reduced_block<T> own = segment.reduce_pivoted(far);
      numbers = segment.fill_pivoted(far, solver.template boundary_of_segment<tile_joining<T>>(own));
    }
    if (works && !numbers && of.broken != nullptr) of.broken[first + place.system] = 1;
    store_tile(of, maps, place, memory.slots, first, thread, segment.d);
  }
  bulk_wait_group_read();  // before the shared memory goes to another block
}

// ---- launchers

// A map of rows of systems side by side, loaded in boxes of a tile.
template <real T>
bool describe(CUtensorMap& map, const T* data, const batch_shape& shape, const tile_batch& of) {
  return encode_tensor_map(map, data, shape, {of.width, of.leaves * register_rows}, CU_TENSOR_MAP_SWIZZLE_NONE);
}

}  // namespace

template <real T>
bool solve_in_tiles(const device& dev, const tridiagonal_view<const T>& A, const batch_view<const T>& b,
                    const batch_view<T>& x, int* broken) {
  constexpr int most_segments = 8;  // so that tiles fill lines of 128 bytes
  if (!runs_sm90_code(dev) || !are_interleaved(A, b, x) || b.shape.n > most_segments * register_rows)
    return false;
  tile_batch of{};
  of.broken = broken;
  of.systems = b.shape.systems;
  of.n = static_cast<int>(b.shape.n);
  of.leaves = ceil_div(of.n, register_rows);
  of.segments = 1;
  while (of.segments < of.leaves) of.segments *= 2;
  of.width = tile_threads / of.segments;
  of.tiles = ceil_div<std::int64_t>(of.systems, of.width);
  if (of.tiles < dev.processors()) return false;
  tile_maps maps{};
  if (!describe(maps.dl, A.dl, A.shape, of) || !describe(maps.d, A.d, A.shape, of) ||
      !describe(maps.du, A.du, A.shape, of) || !describe(maps.b, b.data, b.shape, of) ||
      !describe<T>(maps.x, x.data, x.shape, of))
    return false;
  of.at_work =
      static_cast<int>(std::min(std::int64_t{dev.processors()} * (register_threads / tile_threads), of.tiles));
  launch(dev, "solve_tiles", {of.at_work, tile_threads, tile_memory<T>::bytes}, solve_tiles<T>, of, maps);
  return true;
}

template bool solve_in_tiles(const device&, const tridiagonal_view<const float>&,
                             const batch_view<const float>&, const batch_view<float>&, int*);
template bool solve_in_tiles(const device&, const tridiagonal_view<const double>&,
                             const batch_view<const double>&, const batch_view<double>&, int*);

}  // namespace vouch::detail
