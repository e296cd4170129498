// vouch/band/side_tile.cuh -- tiles of tridiagonal systems that lie side by side, a block's registers full;
// private.
//
// A tile is whole systems, cut into pieces, a piece a thread (held_piece.cuh). A warp has a part of each of two
// systems, lanes in turns, so that neighbours find their rows on different banks; a system is a part, or two,
// or two in either block of a cluster. The copy engine brings and fetches boxes of rows, so that memory moves
// lines of a tile's width. It has a thread wait that asks it for a box until it has begun with it: warps ask
// for one each, the arrays at different times. Warps share nothing but these and their systems.
#pragma once
#include <cuda.h>

#include <cstdint>

#include <vouch/band/line_tile.cuh>
#include <vouch/band/seams.cuh>

namespace vouch::detail {

constexpr int side_warps = 8;  // of a block, which has a multiprocessor to itself
constexpr int side_threads = 32 * side_warps;
constexpr int side_rows = held_rows;  // odd, so that pieces do not lie on the same banks
constexpr int part_pieces = 16, part_systems = 2;
constexpr int box_pieces = 8;  // in a box for the copy engine, which has at most 256 rows
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
  int pieces, width;   // places for pieces of a system in a block, a power of two; systems of a tile
  int share;           // pieces of a system in the first block that has it
  int line;            // bytes of a tile's row
  std::int64_t first;  // of the tiles of a launch; `tiles` is their end
  // Blocks one after another that have tiles beside each other, whose rows share lines of 128 bytes; the other
  // halves of their systems follow. In a cluster of four that was measured to read faster than any other order.
  int neighbours;

  template <int Blocks>
  __device__ std::int64_t first_tile() const {
    const int block = static_cast<int>(blockIdx.x);
    return first + block / (neighbours * Blocks) * neighbours + block % neighbours;
  }
  /// The block of the cluster that has the other half of this one's systems.
  __device__ int other_half() const { return static_cast<int>(blockIdx.x) % (2 * neighbours) ^ neighbours; }
  __device__ int systems_of(std::int64_t tile) const {
    const std::int64_t left = systems - tile * width;
    return left < width ? static_cast<int>(left) : width;
  }
};

/// The rows of every tile that a block and a thread hold.
struct side_place {
  int rank, first_row, rows;  // of the block: which share of a system it has, and its rows
  int pieces, leaves;         // of a system there: places and pieces
  int parts, part;            // of a system there, and the thread's
  int system, piece, left;    // of the thread; left: rows from its first to the block's last
  bool last_block;

  template <int Blocks, real T>
  __device__ static side_place of(const side_batch<T>& all, int thread) {
    side_place at;
    at.rank = static_cast<int>(blockIdx.x) / all.neighbours % Blocks;
    at.first_row = at.rank * all.share * side_rows;
    at.rows = min(all.n - at.first_row, all.share * side_rows);
    at.pieces = all.pieces;
    at.leaves = (at.rows + side_rows - 1) / side_rows;
    const int warp = thread / 32, lane = thread % 32;
    at.parts = all.pieces / part_pieces;
    at.part = warp & (at.parts - 1);
    at.system = warp / at.parts * part_systems + lane % part_systems;
    at.piece = at.part * part_pieces + lane / part_systems;
    at.left = at.rows - at.piece * side_rows;
    at.last_block = at.rank == Blocks - 1;
    return at;
  }
  __device__ int leaves_of_part() const { return min(max(leaves - part * part_pieces, 0), part_pieces); }
  /// Whether both parts have rows.
  __device__ bool joined() const { return leaves > part_pieces; }
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
/// and in turns what warps tell each other.
template <real T>
struct side_memory {
  static constexpr int part_size = 10 * part_systems;  // numbers: relations of a warp's parts
  static constexpr int seam_size = 4 * part_systems;   // a row a system, and a place to fill 16 bytes

  unsigned char *stages, *unknowns;
  T *joints, *parts, *seams;
  struct signals {
    std::uint64_t arrived[4], taken[4], put, fetched, told[side_warps][2];
  } * signal;

  __device__ side_memory() {
    __shared__ signals all;
    signal = &all;
    stages = dynamic_shared() + (0u - shared_address(dynamic_shared())) % 1024;
    unknowns = stages + 4 * side_stage<T>;
    joints = reinterpret_cast<T*>(unknowns + side_stage<T>);
    parts = joints + side_threads * slot_size;
    seams = parts + side_warps * 2 * part_size;
  }
  static constexpr std::size_t bytes =
      1024 + 5 * side_stage<T> +
      sizeof(T) * (side_threads * slot_size + side_warps * 2 * (part_size + seam_size));
};

/// Numbers of a slot, Step apart.
template <class T, int Step>
struct side_slot {
  T* first;
  __device__ T& operator[](int k) const { return first[k * Step]; }
};

__device__ inline unsigned address_in_block(const void* shared, int rank) {
  unsigned at;
  asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(at) : "r"(shared_address(shared)), "r"(rank));
  return at;
}
/// Two numbers, which lie in a line of their size, into another block's memory; their bytes are counted on the
/// barrier at this address.
__device__ inline void put_in_block(unsigned at, double v, double w, unsigned barrier) {
  asm volatile("st.async.shared::cluster.mbarrier::complete_tx::bytes.v2.b64 [%0], {%1, %2}, [%3];" ::"r"(at),
               "l"(__double_as_longlong(v)), "l"(__double_as_longlong(w)), "r"(barrier)
               : "memory");
}
__device__ inline void put_in_block(unsigned at, float v, float w, unsigned barrier) {
  asm volatile("st.async.shared::cluster.mbarrier::complete_tx::bytes.v2.b32 [%0], {%1, %2}, [%3];" ::"r"(at),
               "r"(__float_as_int(v)), "r"(__float_as_int(w)), "r"(barrier)
               : "memory");
}
__device__ inline void sync_cluster() {
  asm volatile("barrier.cluster.arrive.release.aligned; barrier.cluster.wait.acquire.aligned;" ::: "memory");
}

/// Whether a fact holds for all threads of two warps that share a barrier.
__device__ inline bool all_of_pair(int barrier, bool fact) {
  int all;
  asm volatile(
      "{ .reg .pred p, q; setp.ne.s32 p, %1, 0; barrier.cta.red.and.pred q, %2, 64, p; selp.s32 %0, 1, 0, q; }"
      : "=r"(all)
      : "r"(static_cast<int>(fact)), "r"(barrier)
      : "memory");
  return all != 0;
}

/// A half of every system in either block of a cluster: eliminates the outer end, so that one row is left in
/// the unknowns at the seam, which the blocks tell each other. All lanes of a warp find the same ends.
template <real T>
class half_system {
 public:
  /// whole: the relation of the lane's system in this block, beyond whose outer end nothing lies.
  __device__ half_system(const relation<T>& whole, int rank) : rank_(rank) {
    const relation<T> of = balanced(whole);
    const T outer[2] = {rank == 0 ? of.first[0] : of.last[0], rank == 0 ? of.first[1] : of.last[1]};
    const T before[2] = {rank == 0 ? of.last[0] : of.left[0], rank == 0 ? of.last[1] : of.left[1]};
    const T behind[2] = {rank == 0 ? of.right[0] : of.first[0], rank == 0 ? of.right[1] : of.first[1]};
    const bool second = fabs(outer[1]) > fabs(outer[0]);
    inverse_ = inverse_of(second ? outer[1] : outer[0]);
    const T multiple = (second ? outer[0] : outer[1]) * inverse_;
    pivot_ = {second ? before[1] : before[0], second ? behind[1] : behind[0], second ? of.rhs[1] : of.rhs[0]};
    own_ = {(second ? before[0] : before[1]) - multiple * pivot_.before,
            (second ? behind[0] : behind[1]) - multiple * pivot_.behind,
            (second ? of.rhs[0] : of.rhs[1]) - multiple * pivot_.rhs};
    const T power = power_against<T>(max(leading_bits(own_.before), leading_bits(own_.behind)));
    own_ = {own_.before * power, own_.behind * power, own_.rhs * power};
  }
  /// Nobody is two turns ahead of the other, who must tell him before he can go on.
  __device__ ends<T> join(const side_memory<T>& memory, int other_half, int warp, int lane,
                          unsigned turn) const {
    T* const told = memory.seams + (warp * 2 + turn % 2) * memory.seam_size;
    std::uint64_t* const arrived = memory.signal->told[warp] + turn % 2;
    if (lane == 0) mbarrier_arrive_expect_tx(arrived, sizeof(T) * memory.seam_size);
    if (lane < part_systems) {
      const unsigned to = address_in_block(told + 4 * lane, other_half),
                     barrier = address_in_block(arrived, other_half);
      put_in_block(to, own_.before, own_.behind, barrier);
      put_in_block(to + 2 * static_cast<unsigned>(sizeof(T)), own_.rhs, T{0}, barrier);
    }
    __syncwarp();
    mbarrier_wait_cluster(arrived, turn / 2 % 2);
    const T* const from = told + 4 * (lane % part_systems);
    const seam_row<T> other{from[0], from[1], from[2]};
    T before, behind;
    solve_seam(rank_ == 0 ? own_ : other, rank_ == 0 ? other : own_, before, behind);
    const T outer = (pivot_.rhs - pivot_.before * before - pivot_.behind * behind) * inverse_;
    return rank_ == 0 ? ends<T>{T{0}, outer, before, behind} : ends<T>{before, behind, outer, T{0}};
  }

 private:
  int rank_;
  T inverse_;                // of the outer end's pivot
  seam_row<T> pivot_, own_;  // the row it is in, and the one that is left
};

}  // namespace vouch::detail
