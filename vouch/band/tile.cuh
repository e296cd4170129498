// vouch/band/tile.cuh -- tiles of many tridiagonal systems, and how they come through shared memory; private.
//
// A tile is what the registers of a block hold: all rows of neighbouring systems, cut into pieces, a piece a
// thread (held_piece.cuh). Where systems lie side by side, the blocks of a cluster share the rows of a tile, so
// that it is wide enough to fill the lines that memory moves. The four arrays of a tile come one after another
// through a ring of stages in shared memory: while a tile is being solved, the next one is under way.
#pragma once
#include <cuda.h>

#include <cstdint>

#include <vouch/band/held_piece.cuh>
#include <vouch/band/segments.cuh>
#include <vouch/core/arrival.cuh>

namespace vouch::detail {

/// Blocks are small, so that others compute while one waits; those side by side fill lines.
template <layout Layout>
constexpr int tile_threads = Layout == layout::across ? 128 : 64;
constexpr int held_threads = 256;  // of a multiprocessor, at 255 registers
template <layout Layout>
constexpr int stage_size = tile_threads<Layout>* held_rows;

/// How the copy engine finds the arrays of systems side by side. Not a part of tile_batch: kernels need its
/// address, which would keep the rest out of registers.
template <layout Layout>
struct tile_maps {};
template <>
struct tile_maps<layout::across> {
  CUtensorMap dl, d, du, b, x;
};

/// A batch to be solved in tiles: systems one after another (layout::in_line) or side by side (layout::across).
template <real T, layout Layout>
struct tile_batch {
  const T *dl, *d, *du, *b;
  T* x;
  int* broken;  // see band_task
  std::int64_t systems;
  std::int64_t pitch_A, pitch_b, pitch_x;  // from system to system, or from row to row of those side by side
  int n;
  int pieces;   // a system has so many places for pieces in a block, a power of two
  int width;    // systems of a tile, as many as there are threads for their places
  int blocks;   // a cluster; one unless systems lie side by side
  int rows;     // of a system in a block
  int at_work;  // tiles at once
  std::int64_t tiles;
};

/// The rows of every tile that a block holds, and those of a thread among them.
template <layout Layout>
struct tile_place {
  int rank, first_row, rows, leaves;  // of the block; leaves: pieces of a system
  int system, piece, left;            // of the thread; left: rows from its first to the block's last
  int base, step;                     // of its rows in a stage

  template <real T>
  __device__ tile_place(const tile_batch<T, Layout>& of, int thread) {
    const int width = of.width, share = of.rows;
    rank = of.blocks > 1 ? static_cast<int>(blockIdx.x) % of.blocks : 0;
    first_row = rank * share;
    rows = of.n - first_row < share ? of.n - first_row : share;
    leaves = (rows + held_rows - 1) / held_rows;
    system = Layout == layout::across ? thread & (width - 1) : thread / of.pieces;
    piece = Layout == layout::across ? thread / width : thread & (of.pieces - 1);
    left = rows - piece * held_rows;
    step = Layout == layout::across ? width : 1;
    base = Layout == layout::across ? piece * held_rows * width + system : thread * held_rows;
  }
};

/// The block's arrays on their way, tile after tile in the order dl, d, du, b.
template <real T, layout Layout, int Stages>
class tile_ring {
 public:
  /// arrived: Stages barriers that init() has made.
  __device__ tile_ring(const tile_batch<T, Layout>& of, const tile_maps<Layout>& maps,
                       const tile_place<Layout>& place, T* stages, std::uint64_t* arrived, int thread)
      : of_(of), maps_(maps), place_(place), stages_(stages), arrived_(arrived), thread_(thread) {
    next_tile_ = blockIdx.x / of.blocks;
  }
  __device__ static void init(std::uint64_t* arrived) {
    for (int k = 0; k < Stages; ++k) arrival_init(arrived + k, 1);
  }

  /// Begins to bring the next arrays into stages that are free.
  __device__ void bring(int arrays) {
#pragma unroll 1
    for (int k = 0; k < arrays; ++k) {
      if (next_tile_ < of_.tiles) bring_array();
      next_stage_ = next_stage_ + 1 == Stages ? 0 : next_stage_ + 1;
      next_array_ = (next_array_ + 1) % 4;
      if (next_array_ == 0) next_tile_ += of_.at_work;
    }
  }

  /// This thread's rows of the next array. Its stage is free once the whole block has taken it.
  __device__ void take(T (&rows)[held_rows]) {
    await(arrived_ + stage_, parity_);
    const T* from = stages_ + stage_ * stage_size<Layout> + place_.base;
#pragma unroll
    for (int k = 0; k < held_rows; ++k) rows[k] = from[k * place_.step];
    if (++stage_ < Stages) return;
    stage_ = 0;
    parity_ ^= 1;
  }

 private:
  __device__ void bring_array() {
    if constexpr (Layout == layout::across)
      bring_box();
    else
      bring_systems();
  }
  // The copy engine brings the block's rows of the tile, and zeros beyond the last system and row.
  __device__ void bring_box() {
    if (thread_ != 0) return;
    const CUtensorMap* const map = next_array_ == 0   ? &maps_.dl
                                   : next_array_ == 1 ? &maps_.d
                                   : next_array_ == 2 ? &maps_.du
                                                      : &maps_.b;
    std::uint64_t* const arrival = arrived_ + next_stage_;
    arrive_expecting(arrival, static_cast<unsigned>(of_.width * of_.rows * sizeof(T)));
    asm volatile(
        "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], "
        "[%4];" ::"r"(shared_address(stages_ + next_stage_ * stage_size<Layout>)),
        "l"(map), "r"(static_cast<int>(next_tile_ * of_.width)), "r"(place_.first_row),
        "r"(shared_address(arrival))
        : "memory");
  }
  // A warp for every array has the copy engine bring whole systems.
  __device__ void bring_systems() {
    const std::int64_t first = next_tile_ * of_.width, left = of_.systems - first;
    const int count = left < of_.width ? static_cast<int>(left) : of_.width;
    const std::int64_t pitch = next_array_ < 3 ? of_.pitch_A : of_.pitch_b;
    const T* const from = (next_array_ == 0   ? of_.dl
                           : next_array_ == 1 ? of_.d
                           : next_array_ == 2 ? of_.du
                                              : of_.b) +
                          first * pitch;
    T* const to = stages_ + next_stage_ * stage_size<Layout>;
    if (thread_ / 32 != next_array_ % (tile_threads<Layout> / 32)) return;
    const unsigned bytes = static_cast<unsigned>(of_.n) * sizeof(T);
    if (thread_ % 32 == 0) arrive_expecting(arrived_ + next_stage_, static_cast<unsigned>(count) * bytes);
    __syncwarp();
    for (int s = thread_ % 32; s < count; s += 32)
      bulk_copy(to + s * of_.pieces * held_rows, from + s * pitch, bytes, arrived_ + next_stage_);
  }

  const tile_batch<T, Layout>& of_;
  const tile_maps<Layout>& maps_;
  const tile_place<Layout>& place_;
  T* stages_;
  std::uint64_t* arrived_;
  int thread_, stage_ = 0, next_stage_ = 0, next_array_ = 0;
  unsigned parity_ = 0;
  std::int64_t next_tile_;
};

}  // namespace vouch::detail
