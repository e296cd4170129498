// vouch/band/side_tile.cuh -- tiles of tridiagonal systems that lie side by side, a block's registers full;
// private.
//
// A tile is whole systems, cut into pieces, a piece a thread (held_piece.cuh), a system or more a warp; where a
// system has more than 32 pieces, two blocks of a cluster hold half of it each. The copy engine brings and
// fetches boxes of rows, so that memory moves lines of a tile's width. Warps share nothing but these: each goes
// its own way, and the last one to take an array from its stage has the next one brought.
#pragma once
#include <cuda.h>

#include <cstdint>

#include <vouch/band/line_tile.cuh>

namespace vouch::detail {

constexpr int side_warps = 8;  // of a block, which has a multiprocessor to itself
constexpr int side_threads = 32 * side_warps;
constexpr int side_rows = held_rows;  // odd, so that pieces do not lie on the same banks
constexpr int box_pieces = 8;         // in a box for the copy engine, which has at most 256 rows
constexpr int box_rows = box_pieces * side_rows;
template <class T>
constexpr int side_stage = side_threads* side_rows* static_cast<int>(sizeof(T));  // bytes

/// A batch of systems side by side, in tiles.
template <real T>
struct side_batch {
  CUtensorMap from[4], to;  // dl, d, du, b; x
  int* broken;              // see band_task
  std::int64_t systems, tiles;
  int n;
  int pieces, width;  // places for pieces of a system in a block, a power of two; systems of a tile
  int share;          // pieces of a system in the first block of a cluster
  int line;           // bytes of a tile's row

  __device__ int systems_of(std::int64_t tile) const {
    const std::int64_t left = systems - tile * width;
    return left < width ? static_cast<int>(left) : width;
  }
};

/// The rows of every tile that a block and a thread hold.
struct side_place {
  int rank, first_row, rows;  // of the block: which of its cluster, and its rows
  int pieces, leaves;         // of a system there: places and pieces
  int system, piece, left;    // of the thread; left: rows from its first to the block's last
  bool last_block;

  template <int Blocks, real T>
  __device__ static side_place of(const side_batch<T>& all, int thread) {
    side_place at;
    at.rank = Blocks == 1 ? 0 : static_cast<int>(blockIdx.x) % Blocks;
    at.first_row = at.rank * all.share * side_rows;
    at.rows = min(all.n - at.first_row, all.share * side_rows);
    at.pieces = all.pieces;
    at.leaves = (at.rows + side_rows - 1) / side_rows;
    at.system = thread / all.pieces;
    at.piece = thread & (all.pieces - 1);
    at.left = at.rows - at.piece * side_rows;
    at.last_block = at.rank == Blocks - 1;
    return at;
  }
  __device__ bool begins() const { return rank == 0 && piece == 0; }
  __device__ bool ends() const { return last_block && left > 0 && left <= side_rows; }
};

/// Where a thread's rows lie in a stage, in bytes. The copy engine exchanges parts of 16 bytes within eight
/// rows, by bits of their addresses, so that neighbouring rows lie on different banks.
template <class T>
class side_rows_at {
 public:
  template <real Real>
  __device__ side_rows_at(const side_batch<Real>& of, const side_place& place) : line_(of.line) {
    first_ = place.piece * side_rows * of.line + place.system * static_cast<int>(sizeof(T));
#pragma unroll
    for (int k = 0; k < 8; ++k) at_[k] = exchanged(first_ + k * of.line);
  }
  /// Row k, a constant.
  __device__ T& operator()(unsigned char* stage, int k) const {
    return *reinterpret_cast<T*>(stage + at_[k % 8] + k / 8 * 8 * line_);
  }
  /// Any row.
  __device__ T& row(unsigned char* stage, int k) const {
    return *reinterpret_cast<T*>(stage + exchanged(first_ + k * line_));
  }

 private:
  __device__ int exchanged(int at) const { return at ^ ((at >> 7 & (line_ / 16 - 1)) << 4); }

  int line_, first_, at_[8];
};

/// The shared memory of a block: a stage for each array and one for the unknowns, joints of each warp's trees,
/// and what blocks of a cluster tell each other.
template <real T>
struct side_memory {
  static constexpr int told_size = 2 * 2 * 10;  // numbers a warp: in turns, by two blocks

  unsigned char *stages, *unknowns;
  T *joints, *told;
  struct signals {
    std::uint64_t arrived[4], fetched, told[side_warps][2];
    unsigned taken[4], put;
  } * signal;

  __device__ side_memory() {
    __shared__ signals all;
    signal = &all;
    stages = dynamic_shared() + (0u - shared_address(dynamic_shared())) % 1024;
    unknowns = stages + 4 * side_stage<T>;
    joints = reinterpret_cast<T*>(unknowns + side_stage<T>);
    told = joints + side_threads * slot_size;
  }
  static constexpr std::size_t bytes =
      1024 + 5 * side_stage<T> + sizeof(T) * (side_threads * slot_size + side_warps * told_size);
};

/// Whether this is the last of side_warps threads to come, who then sees what the others have done.
__device__ inline bool last_to_come(unsigned* count) {
  unsigned before;
  asm volatile("atom.acq_rel.cta.shared::cta.add.u32 %0, [%1], 1;"
               : "=r"(before)
               : "r"(shared_address(count))
               : "memory");
  return before % side_warps == side_warps - 1;
}

__device__ inline unsigned address_in_block(const void* shared, int rank) {
  unsigned at;
  asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(at) : "r"(shared_address(shared)), "r"(rank));
  return at;
}
__device__ inline void put_in_block(unsigned at, double v) {
  asm volatile("st.shared::cluster.f64 [%0], %1;" ::"r"(at), "d"(v) : "memory");
}
__device__ inline void put_in_block(unsigned at, float v) {
  asm volatile("st.shared::cluster.f32 [%0], %1;" ::"r"(at), "f"(v) : "memory");
}
/// What this thread has put before is there once the barrier at this address has seen the arrival.
__device__ inline void arrive_in_block(unsigned barrier) {
  asm volatile("mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%0];" ::"r"(barrier) : "memory");
}
__device__ inline void sync_cluster() {
  asm volatile("barrier.cluster.arrive.release.aligned; barrier.cluster.wait.acquire.aligned;" ::: "memory");
}

/// The ends of a warp's half of a system: it tells the other block its relation, in lane 0, and joins it with
/// what that tells. Nobody is two turns ahead of the other, who must tell him before he can go on.
template <real T>
class side_telling {
 public:
  __device__ side_telling(const side_memory<T>& memory, int rank, int warp, unsigned turn)
      : told_(memory.told + warp * memory.told_size + turn % 2 * (memory.told_size / 2)),
        arrived_(memory.signal->told[warp] + turn % 2),
        rank_(rank),
        parity_(turn / 2 % 2) {}

  __device__ ends<T> operator()(const relation<T>& own) const {
    if (threadIdx.x % 32 == 0) {
      const relation<T> mine = balanced(own);
      joining::put(told_by(rank_), mine);
      joining::put(remote{address_in_block(told_by(rank_), 1 - rank_)}, mine);
      arrive_in_block(address_in_block(arrived_, 1 - rank_));
    }
    __syncwarp();
    await_cluster(arrived_, parity_);
    joint<T> between;
    const ends<T> whole = closed(join_quickly(joining::get(told_by(0)), joining::get(told_by(1)), between));
    ends<T> before, after;
    between.solve(whole, before, after);
    return rank_ == 0 ? before : after;
  }

 private:
  using joining = pivoted_joining<T, false>;
  struct remote {
    unsigned at;
    struct number {
      unsigned at;
      __device__ void operator=(T v) const { put_in_block(at, v); }
    };
    __device__ number operator[](int k) const { return {at + static_cast<unsigned>(k * sizeof(T))}; }
  };
  __device__ T* told_by(int rank) const { return told_ + 10 * rank; }

  T* told_;
  std::uint64_t* arrived_;
  int rank_;
  unsigned parity_;
};

}  // namespace vouch::detail
