// vouch/band/gpu/contiguous_tile.cuh -- tiles of tridiagonal systems that lie one after another, each in the registers of
// a warp or of a few; private.
//
// A tile is whole systems, cut into pieces, a piece a thread (register_segment.cuh). The relations of a warp's pieces
// join in a tree by shuffles; where a system has several warps, these tell each other theirs. Nothing else has
// the threads of a tile wait for each other, so that the tiles of a multiprocessor go their own ways.
#pragma once
#include <cstdint>
#include <type_traits>

#include <vouch/band/gpu/chunk.cuh>
#include <vouch/band/gpu/pivoting.cuh>
#include <vouch/band/gpu/register_segment.cuh>
#include <vouch/band/gpu/slices.cuh>
#include <vouch/core/gpu/mbarrier.cuh>

namespace vouch::detail {

/// Of a multiprocessor, at 255 or 128 registers a thread.
template <real T>
constexpr int line_warps = sizeof(T) == sizeof(double) ? 8 : 16;
constexpr int most_line_warps = 8;  // of a system
/// Rows of a piece: pairs of them lie on other banks than those of seven neighbours.
constexpr int line_rows = 18;

/// Numbers in the lines that memory moves.
template <real T>
constexpr int long_line = 128 / sizeof(T);

/// Rows that lie one after another, and rows in front of them in the line of 128 bytes they begin in.
struct line_run {
  std::int64_t origin = 0;  // of its first row in the arrays
  int rows = 0, lead = 0;
};

/// A batch of systems one after another, in tiles.
template <real T>
struct line_batch {
  const T* from[4];       // dl, d, du, b
  std::int64_t pitch[4];  // from system to system
  T* x;
  std::int64_t pitch_x;
  int* broken;  // see band_task
  std::int64_t systems, tiles;
  int n, leaves;      // rows and pieces of a system, the longest
  int pieces, width;  // places for pieces; systems of a tile
  // Of systems without gaps between them:
  const std::int64_t* offsets;  // null where their lengths are equal
  std::int64_t rows;            // of all
  int lead, tile_rows;          // of the first system; of a tile of equal ones

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
      : system(thread / of.pieces), piece(thread - system * of.pieces), left(of.n - piece * line_rows) {}
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

/// A tree over neighbouring lanes of a warp, or over every so many-th one (Across), with places for its leaves.
/// The joint in front of a leaf is in the leaf's slot: slots of neighbours lie side by side, a slot's numbers
/// Step apart.
template <bool Dominant, int Step, real T, int Across = 1>
class lane_tree {
 public:
  __device__ lane_tree(T* slots, int leaves, int places) : slots_(slots), leaves_(leaves), places_(places) {}

  /// The relation of all leaves to the first lane, from that of each lane's leaf. Others may read the joints
  /// after __syncwarp().
  __device__ relation<T> join(relation<T> own, int leaf) const {
#pragma unroll 1
    for (int step = 1; step < places_; step *= 2) {
      const relation<T> after = relation_ahead<Dominant>(own, step * Across);
      if ((leaf & (2 * step - 1)) != 0 || leaf + step >= leaves_) continue;
      joint<T> at;
      own = joined<Dominant>(own, after, at);
      joining::keep(slot{slots_ + (leaf + step) * Across}, at);
    }
    return own;
  }
  /// The ends of a leaf from those of all.
  template <int Places>
  __device__ ends<T> descend(ends<T> at, int leaf) const {
#pragma unroll
    for (int step = Places / 2; step > 0; step /= 2) {
      const int left = leaf & ~(2 * step - 1);
      if (step >= places_ || left + step >= leaves_) continue;
      ends<T> before, after;
      joining::solve(slot{slots_ + (left + step) * Across}, at, before, after);
      at = (leaf & step) != 0 ? after : before;
    }
    return at;
  }

 private:
  using joining = std::conditional_t<Dominant, dominant_joining<T>, pivoted_joining<T, false>>;
  struct slot {
    T* first;
    __device__ T& operator[](int k) const { return first[k * Step]; }
  };

  T* slots_;
  int leaves_, places_;
};

/// The ends of a system from its relation, which the first of `places` lanes has.
template <real T>
__device__ ends<T> ends_of_system(const relation<T>& whole, int places) {
  const ends<T> at = closed(whole);
  return {T{0}, __shfl_sync(~0u, at.first, 0, places), __shfl_sync(~0u, at.last, 0, places), T{0}};
}

/// The same from the relation that this lane has.
template <real T>
__device__ ends<T> ends_from(const relation<T>& whole, int lane) {
  const ends<T> at = closed(whole);
  return {T{0}, __shfl_sync(~0u, at.first, lane), __shfl_sync(~0u, at.last, lane), T{0}};
}

/// Warps that share a system tell each other their relations, and all join these.
template <bool Dominant, int Warps, real T>
class warp_tree {
 public:
  __device__ warp_tree(T* room, int leaves, int thread)
      : told_(room),
        warp_(thread / 32),
        lane_(thread % 32),
        tree_(room + (relation_size + warp_ * slot_size) * Warps, (leaves + 31) / 32, Warps) {}

  /// The ends of this warp's rows from their relation, which its first lane has.
  __device__ ends<T> ends_of_warp(const relation<T>& own) const {
    if (lane_ == 0) telling::put(slot{told_ + warp_}, own);
    __syncthreads();
    if constexpr (Warps == 2) {
      return ends_of_half();
    } else {
      const int leaf = lane_ < Warps ? lane_ : Warps - 1;
      const ends<T> at = ends_of_system(tree_.join(telling::get(slot{told_ + leaf}), lane_), 32);
      __syncwarp();
      return tree_.template descend<Warps>(at, warp_);
    }
  }

 private:
  using telling = pivoted_joining<T, false>;
  static constexpr int relation_size = 10;
  struct slot {
    T* first;
    __device__ T& operator[](int k) const { return first[k * Warps]; }
  };

  // Of two warps: without a tree.
  __device__ ends<T> ends_of_half() const {
    joint<T> between;
    const ends<T> whole =
        closed(joined<Dominant>(telling::get(slot{told_}), telling::get(slot{told_ + 1}), between));
    ends<T> before, after;
    between.solve(whole, before, after);
    return warp_ == 0 ? before : after;
  }

  T* told_;
  int warp_, lane_;
  lane_tree<Dominant, Warps, T> tree_;
};

/// From the relations of pieces to their ends; the first warp of a system has its first 32 pieces, and so on.
template <bool Dominant, int Warps, real T>
class line_solver {
 public:
  /// room: of the block's threads, line_rows numbers each, or slot_size if Warps is 1.
  template <class Batch, class Place>
  __device__ line_solver(const Batch& of, const Place& place, T* room, int thread)
      : room_(room),
        thread_(thread),
        leaf_(place.piece % 32),
        leaves_(place.system < of.width ? of.leaves : 0),
        tree_(room + thread - leaf_, leaves_ - (place.piece - leaf_), of.pieces < 32 ? of.pieces : 32) {}

  __device__ ends<T> ends_of_piece(const relation<T>& own) const {
    return ends_of_piece(own, [this](const relation<T>& of_warp) {
      if constexpr (Warps == 1)
        return ends_from(of_warp, thread_ - leaf_);
      else
        return warp_tree<Dominant, Warps, T>(room_ + slot_size * threads, leaves_, thread_)
            .ends_of_warp(of_warp);
    });
  }
  /// find: the ends of a warp's pieces together, for every lane, from their relation, which the first lane of a
  /// system has.
  template <class Find>
  __device__ ends<T> ends_of_piece(const relation<T>& own, const Find& find) const {
    const ends<T> at = find(tree_.join(own, leaf_));
    __syncwarp();
    return tree_.template descend<32>(at, leaf_);
  }

 private:
  static constexpr int threads = 32 * Warps;

  T* room_;
  int thread_, leaf_, leaves_;
  lane_tree<Dominant, threads, T> tree_;
};

}  // namespace vouch::detail
