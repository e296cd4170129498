// vouch/band/tile_solver.cuh -- a block at work on its tiles: from the relations of pieces to their ends;
// private.
//
// The relations of a system's pieces join in a tree. Where blocks of a cluster share the rows, each tells the
// relation of its own to all, and all join these in a second tree.
#pragma once
#include <cstdint>

#include <vouch/band/tile.cuh>
#include <vouch/band/tile_joining.cuh>

namespace vouch::detail {

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

/// The shared memory of a block. Systems in line leave through a stage of their own, which holds the slots of
/// the tree while they are being solved.
template <real T, layout Layout>
struct tile_memory {
  static constexpr bool side_by_side = Layout == layout::across;
  static constexpr int stages = side_by_side ? 4 : 5;
  static constexpr std::int64_t slots_at = std::int64_t{stages} * stage_size<Layout>,
                                exchange_at = slots_at + stage_size<Layout>;

  T *rows, *slots, *exchange;
  std::uint64_t *arrived, *told;

  __device__ tile_memory() {
    T* const all = reinterpret_cast<T*>(dynamic_shared() + (0u - shared_address(dynamic_shared())) % 128);
    __shared__ std::uint64_t barriers[stages + 2];
    rows = all;
    slots = all + slots_at;
    exchange = all + exchange_at;
    arrived = barriers;
    told = barriers + stages;
  }
  // Blocks of a cluster tell relations in turns of two.
  static std::size_t bytes(const tile_batch<T, Layout>& of) {
    const std::int64_t told = of.blocks > 1 ? 2 * of.blocks * of.width * slot_size : 0;
    return static_cast<std::size_t>(exchange_at + told) * sizeof(T) + 128;
  }
};

// Slots of the tree in a block, and of the tree over its cluster: neighbours' numbers lie together.
template <class T, int Step>
struct tile_slot {
  T* first;
  __device__ T& operator[](int k) const { return first[k * Step]; }
};
template <class T>
struct told_slot {
  T* first;
  int step;
  __device__ T& operator[](int k) const { return first[k * step]; }
};
constexpr int told_together = 16;  // systems; a tile of a cluster has at least so many

// A block at work on its tiles.
template <real T, layout Layout>
class tile_solver {
 public:
  __device__ tile_solver(const tile_batch<T, Layout>& of, const tile_place<Layout>& place,
                         const tile_memory<T, Layout>& memory, int thread)
      : of_(of), place_(place), memory_(memory), thread_(thread), spare_bits_(__clz(of.pieces)) {}

  // The ends of this thread's piece from its relation.
  template <class Joining>
  __device__ ends<T> ends_of_piece(const relation<T>& own, bool dominant) {
    if (place_.left > 0) Joining::put(slot_of(place_.system, place_.piece), own);
    join_trees<Joining>([this](int s, int p) { return slot_of(s, p); }, of_.width, place_.leaves, thread_,
                        threads);
    ends<T> at;
    if (side_by_side && of_.blocks > 1) {
      at = tell(balanced(Joining::get(slot_of(place_.system, 0))), dominant)
               ? ends_of_block<told_dominant_joining<T>>()
               : ends_of_block<tile_joining<T>>();
    } else {
      at = closed(Joining::get(slot_of(place_.system, 0)));
    }
    return descend<Joining>([this](int p) { return slot_of(place_.system, p); }, place_.leaves, place_.piece,
                            at);
  }

 private:
  static constexpr bool side_by_side = Layout == layout::across;
  static constexpr int threads = tile_threads<Layout>;

  // The bits of a piece's number in reverse: those that a level of the tree joins lie together.
  __device__ tile_slot<T, threads> slot_of(int system, int piece) const {
    const auto place = static_cast<int>(__brev(static_cast<unsigned>(piece)) >> 1 >> spare_bits_);
    return {memory_.slots + place * of_.width + system};
  }
  // Where the relation of a system's rows in block `rank` is told: numbers of neighbouring systems lie
  // together.
  __device__ told_slot<T> told_by(int system, int rank) const {
    const int step = of_.blocks * of_.width, turn = static_cast<int>(turn_ & 1);
    return {memory_.exchange + turn * slot_size * step + rank * of_.width + system, step};
  }
  // Sends the relations of this block, and whether its rows dominate, to all of the cluster; waits for theirs.
  // Returns whether all rows dominate. Nobody is two turns ahead of another, who must tell him before he can go
  // on.
  __device__ bool tell(const relation<T>& of_system, bool dominant) const {
    std::uint64_t* const barrier = memory_.told + (turn_ & 1);
    const int to = place_.piece;  // a thread for each of its systems
    if (to < of_.blocks) {
      const told_slot<T> slot = told_by(place_.system, place_.rank);
      const unsigned at = address_in_block(slot.first, to), step = static_cast<unsigned>(slot.step * sizeof(T));
#pragma unroll
      for (int k = 0; k < 2; ++k) {
        put_in_block(at + (5 * k) * step, of_system.left[k]);
        put_in_block(at + (5 * k + 1) * step, of_system.first[k]);
        put_in_block(at + (5 * k + 2) * step, of_system.last[k]);
        put_in_block(at + (5 * k + 3) * step, of_system.right[k]);
        put_in_block(at + (5 * k + 4) * step, of_system.rhs[k]);
      }
      put_in_block(at + 10 * step, dominant ? T{1} : T{0});
    }
    __syncwarp();
    if (to < of_.blocks && thread_ % told_together == 0) arrive_in_block(address_in_block(barrier, to));
    await_cluster(barrier, turn_ >> 1 & 1);
    bool all = true;
    for (int r = 0; r < of_.blocks; ++r) all = all && told_by(place_.system, r)[10] == 1;
    return all;
  }
  // The ends of this block's rows from what the cluster has told.
  template <class Joining>
  __device__ ends<T> ends_of_block() {
    join_trees<Joining>([this](int s, int r) { return told_by(s, r); }, of_.width, of_.blocks, thread_,
                        threads);
    const ends<T> at = descend<Joining>([this](int r) { return told_by(place_.system, r); }, of_.blocks,
                                        place_.rank, closed(Joining::get(told_by(place_.system, 0))));
    ++turn_;
    return at;
  }

  const tile_batch<T, Layout>& of_;
  const tile_place<Layout>& place_;
  const tile_memory<T, Layout>& memory_;
  int thread_, spare_bits_;  // bits above those of a piece's number, but one
  unsigned turn_ = 0;
};

}  // namespace vouch::detail
