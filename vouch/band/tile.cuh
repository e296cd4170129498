// vouch/band/tile.cuh -- tiles of short tridiagonal systems side by side, and how they come through shared
// memory; private.
//
// A tile is what the registers of a block hold: all rows of neighbouring systems, cut into pieces, a piece a
// thread (held_piece.cuh), so many systems that they fill the lines that memory moves. The four arrays of a
// tile come one after another through a ring of stages in shared memory: while a tile is being solved, the next
// one is under way.
#pragma once
#include <cuda.h>

#include <cstdint>

#include <vouch/band/held_piece.cuh>
#include <vouch/band/segments.cuh>
#include <vouch/core/gpu/tma.cuh>

namespace vouch::detail {

constexpr int tile_threads = 128;  // few, so that another block computes while this one waits
constexpr int held_threads = 256;  // of a multiprocessor, at 255 registers
constexpr int stage_size = tile_threads * held_rows;
constexpr int tile_stages = 4;

/// How the copy engine finds the arrays. Not a part of tile_batch: kernels need its address, which would keep
/// the rest out of registers.
struct tile_maps {
  CUtensorMap dl, d, du, b, x;
};

/// A batch of systems side by side, to be solved in tiles.
struct tile_batch {
  int* broken;  // see band_task
  std::int64_t systems, tiles;
  int n, leaves;      // rows and pieces of a system
  int pieces, width;  // places for pieces, a power of two; systems of a tile, as many as fill its threads
  int at_work;        // tiles at once
};

/// The rows of every tile that a thread holds.
struct tile_place {
  int system, piece, left;  // left: rows from its first to the system's last
  int base;                 // of its rows in a stage, which are of.width apart

  __device__ tile_place(const tile_batch& of, int thread)
      : system(thread & (of.width - 1)),
        piece(thread / of.width),
        left(of.n - piece * held_rows),
        base(piece * held_rows * of.width + system) {}
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

  /// Begins to bring the next arrays into stages that are free.
  __device__ void bring(int arrays) {
#pragma unroll 1
    for (int k = 0; k < arrays; ++k) {
      if (next_tile_ < of_.tiles) bring_box();
      next_stage_ = next_stage_ + 1 == tile_stages ? 0 : next_stage_ + 1;
      next_array_ = (next_array_ + 1) % 4;
      if (next_array_ == 0) next_tile_ += of_.at_work;
    }
  }

  /// This thread's rows of the next array. Its stage is free once the whole block has taken it.
  __device__ void take(T (&rows)[held_rows]) {
    mbarrier_wait(arrived_ + stage_, parity_);
    const T* from = stages_ + stage_ * stage_size + place_.base;
#pragma unroll
    for (int k = 0; k < held_rows; ++k) rows[k] = from[k * of_.width];
    if (++stage_ < tile_stages) return;
    stage_ = 0;
    parity_ ^= 1;
  }

 private:
  // The copy engine brings the rows of the tile, and zeros beyond the last system and row.
  __device__ void bring_box() {
    if (thread_ != 0) return;
    const CUtensorMap* const map = next_array_ == 0   ? &maps_.dl
                                   : next_array_ == 1 ? &maps_.d
                                   : next_array_ == 2 ? &maps_.du
                                                      : &maps_.b;
    std::uint64_t* const arrival = arrived_ + next_stage_;
    mbarrier_arrive_expect_tx(arrival, static_cast<unsigned>(of_.width * of_.leaves * held_rows * sizeof(T)));
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

}  // namespace vouch::detail
