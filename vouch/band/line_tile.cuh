// vouch/band/line_tile.cuh -- tiles of tridiagonal systems that lie one after another, each in the registers of
// a warp or two; private.
//
// A tile is whole systems, cut into pieces, a piece a thread (held_piece.cuh). The relations of a warp's pieces
// join in a tree by shuffles; where a system has two warps, these tell each other theirs. Nothing else has the
// threads of a tile wait for each other, so that the tiles of a multiprocessor go their own ways.
#pragma once
#include <cstdint>
#include <type_traits>

#include <vouch/band/chunk.cuh>
#include <vouch/band/exchanges.cuh>
#include <vouch/band/held_piece.cuh>
#include <vouch/core/arrival.cuh>

namespace vouch::detail {

constexpr int line_warps = 8;  // of a multiprocessor, at 255 registers a thread
/// Rows of a piece: pairs of them lie on other banks than those of seven neighbours.
constexpr int line_rows = 18;

/// A batch of systems one after another, in tiles.
template <real T>
struct line_batch {
  const T* from[4];       // dl, d, du, b
  std::int64_t pitch[4];  // from system to system
  T* x;
  std::int64_t pitch_x;
  int* broken;  // see band_task
  std::int64_t systems, tiles;
  int n, leaves;      // rows and pieces of a system
  int pieces, width;  // places for pieces, a power of two; systems of a tile

  __device__ int systems_of(std::int64_t tile) const {
    const std::int64_t left = systems - tile * width;
    return left < width ? static_cast<int>(left) : width;
  }
};

/// A thread's rows in its tile.
struct line_place {
  int system, piece, left;  // left: rows from its first to the system's last

  template <real T>
  __device__ line_place(const line_batch<T>& of, int thread)
      : system(thread / of.pieces), piece(thread & (of.pieces - 1)), left(of.n - piece * line_rows) {}
  __device__ bool begins() const { return piece == 0; }
  __device__ bool ends() const { return left > 0 && left <= line_rows; }
};

template <int Warps>
__device__ void sync_tile() {
  if constexpr (Warps == 1)
    __syncwarp();
  else
    __syncthreads();
}
template <int Warps>
__device__ bool all_of_tile(bool fact) {
  return Warps == 1 ? __all_sync(~0u, fact) != 0 : __syncthreads_and(fact) != 0;
}

/// A thread's rows in shared memory, moved two at a time.
template <class T>
struct alignas(2 * sizeof(T)) row_pair {
  T first, second;
};
template <class T>
__device__ void take_rows(T (&rows)[line_rows], const T* from) {
#pragma unroll
  for (int k = 0; k < line_rows; k += 2) {
    const row_pair<T> two = reinterpret_cast<const row_pair<T>*>(from)[k / 2];
    rows[k] = two.first;
    rows[k + 1] = two.second;
  }
}
template <class T>
__device__ void put_rows(T* to, const T (&rows)[line_rows]) {
#pragma unroll
  for (int k = 0; k < line_rows; k += 2)
    reinterpret_cast<row_pair<T>*>(to)[k / 2] = row_pair<T>{rows[k], rows[k + 1]};
}

/// The relation of the lane `step` further on.
template <bool Dominant, real T>
__device__ relation<T> relation_ahead(const relation<T>& r, int step) {
  const auto ahead = [step](T v) { return __shfl_down_sync(~0u, v, static_cast<unsigned>(step)); };
  const auto unless_dominant = [&](T v) { return Dominant ? T{0} : ahead(v); };
  return {{ahead(r.left[0]), unless_dominant(r.left[1])},
          {ahead(r.first[0]), ahead(r.first[1])},
          {ahead(r.last[0]), ahead(r.last[1])},
          {unless_dominant(r.right[0]), ahead(r.right[1])},
          {ahead(r.rhs[0]), ahead(r.rhs[1])}};
}

/// The relation of two neighbours.
template <bool Dominant, real T>
__device__ relation<T> joined(const relation<T>& before, const relation<T>& after, joint<T>& at) {
  if constexpr (Dominant)
    return join_dominant(before, after, at);
  else
    return join_quickly(before, after, at);
}

/// From the relations of a tile's pieces to their ends.
template <bool Dominant, int Warps, real T>
class line_solver {
 public:
  /// room: slot_size numbers a thread, and two slots.
  __device__ line_solver(const line_batch<T>& of, const line_place& place, T* room, int thread)
      : room_(room),
        thread_(thread),
        places_(of.pieces < 32 ? of.pieces : 32),
        piece_(place.piece & 31),
        leaves_(of.leaves - (place.piece & 32)),
        upper_((place.piece & 32) != 0) {}

  __device__ ends<T> ends_of_piece(relation<T> own) const {
#pragma unroll 1
    for (int step = 1; step < places_; step *= 2) {
      const relation<T> after = relation_ahead<Dominant>(own, step);
      if ((piece_ & (2 * step - 1)) != 0 || piece_ + step >= leaves_) continue;
      joint<T> at;
      own = joined<Dominant>(own, after, at);
      joining::keep(slot_of(step), at);
    }
    ends<T> at = Warps == 1 ? ends_of_warp(own) : ends_of_two_warps(own);
    __syncwarp();
#pragma unroll
    for (int step = 16; step > 0; step /= 2) {
      const int left = piece_ & ~(2 * step - 1);
      if (step >= places_ || left + step >= leaves_) continue;
      ends<T> before, after;
      joining::solve(slot_of(left + step - piece_), at, before, after);
      at = (piece_ & step) != 0 ? after : before;
    }
    return at;
  }

 private:
  using joining = std::conditional_t<Dominant, dominant_joining<T>, pivoted_joining<T, false>>;
  static constexpr int threads = 32 * Warps;
  template <int Step>
  struct slot {
    T* first;
    __device__ T& operator[](int k) const { return first[k * Step]; }
  };

  // The joint in front of the piece that is so many lanes further on.
  __device__ slot<threads> slot_of(int lanes) const { return {room_ + thread_ + lanes}; }

  // The first lane of a system has its relation.
  __device__ ends<T> ends_of_warp(const relation<T>& own) const {
    const ends<T> whole = closed(own);
    return {T{0}, __shfl_sync(~0u, whole.first, 0, places_), __shfl_sync(~0u, whole.last, 0, places_), T{0}};
  }
  __device__ ends<T> ends_of_two_warps(const relation<T>& own) const {
    using telling = pivoted_joining<T, false>;
    const auto told_by = [&](int warp) { return slot<2>{room_ + slot_size * threads + warp}; };
    if (piece_ == 0) telling::put(told_by(upper_), own);
    __syncthreads();
    joint<T> between;
    const ends<T> whole = closed(joined<Dominant>(telling::get(told_by(0)), telling::get(told_by(1)), between));
    ends<T> before, after;
    between.solve(whole, before, after);
    return upper_ ? after : before;
  }

  T* room_;
  int thread_, places_, piece_, leaves_;
  bool upper_;
};

}  // namespace vouch::detail
