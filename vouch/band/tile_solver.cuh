// vouch/band/tile_solver.cuh -- a block at work on its tiles: from the relations of pieces to their ends;
// private.
#pragma once
#include <cstdint>

#include <vouch/band/tile.cuh>
#include <vouch/band/tile_joining.cuh>

namespace vouch::detail {

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
    spare_bits_ = __clz(of.pieces);
  }

  // The ends of this thread's piece from its relation.
  template <class Joining>
  __device__ ends<T> ends_of_piece(const relation<T>& own) {
    if (place_.left > 0) Joining::put(slot_of(place_.system, place_.piece), own);
    join_trees<Joining>([this](int s, int p) { return slot_of(s, p); }, of_.width, of_.leaves, thread_,
                        tile_threads);
    return descend<Joining>([this](int p) { return slot_of(place_.system, p); }, of_.leaves, place_.piece,
                            closed(Joining::get(slot_of(place_.system, 0))));
  }

 private:
  // The bits of a piece's number in reverse: those that a level of the tree joins lie together.
  __device__ tile_slot<T> slot_of(int system, int piece) const {
    const auto place = static_cast<int>(__brev(static_cast<unsigned>(piece)) >> 1 >> spare_bits_);
    return {memory_.slots + place * of_.width + system};
  }

  const tile_batch& of_;
  const tile_place& place_;
  const tile_memory<T>& memory_;
  int thread_, spare_bits_;  // bits above those of a piece's number, but one
};

}  // namespace vouch::detail
