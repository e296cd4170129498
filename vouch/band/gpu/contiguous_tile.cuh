// vouch/band/gpu/contiguous_tile.cuh -- tiles of tridiagonal systems that lie one after another, each in
// the registers of a warp or of a few; private.
//
// A tile is whole systems, cut into segments, a segment a thread (register_segment.cuh). The reduced blocks
// of a warp's segments join in a tree by shuffles; where a system has several warps, these exchange theirs.
// Nothing else has the threads of a tile wait for each other, so that the tiles of a multiprocessor go
// their own ways.
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
constexpr int contiguous_warps = sizeof(T) == sizeof(double) ? 8 : 16;
constexpr int most_contiguous_warps = 8;  // of a system
/// Rows of a segment: pairs of them lie on other banks than those of seven neighbours.
constexpr int contiguous_rows = 18;

/// Numbers in the lines that memory moves.
template <real T>
constexpr int long_line = 128 / sizeof(T);

/// Rows that lie one after another, and rows in front of them in the line of 128 bytes they begin in.
struct contiguous_run {
  std::int64_t origin = 0;  // of its first row in the arrays
  int rows = 0, lead = 0;
};

/// A batch of systems one after another, in tiles.
template <real T>
struct contiguous_batch {
  const T* from[4];       // dl, d, du, b
  std::int64_t pitch[4];  // from system to system
  T* x;
  std::int64_t pitch_x;
  int* broken;  // see band_task
  std::int64_t systems, tiles;
  int n, leaves;        // rows and segments of a system, the longest
  int segments, width;  // places for segments; systems of a tile
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
struct contiguous_place {
  int system, segment, left;  // left: rows from its first to the system's last

  template <real T>
  __device__ contiguous_place(const contiguous_batch<T>& of, int thread)
      : system(thread / of.segments),
        segment(thread - system * of.segments),
        left(of.n - segment * contiguous_rows) {}
  __device__ bool begins() const { return segment == 0; }
  __device__ bool ends() const { return left > 0 && left <= contiguous_rows; }
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
__device__ void take_rows(T (&rows)[contiguous_rows], const T* from) {
#pragma unroll
  for (int k = 0; k < contiguous_rows; k += 2) {
    const row_pair<T> two = reinterpret_cast<const row_pair<T>*>(from)[k / 2];
    rows[k] = two.first;
    rows[k + 1] = two.second;
  }
}
template <class T>
__device__ void put_rows(T* to, const T (&rows)[contiguous_rows]) {
#pragma unroll
  for (int k = 0; k < contiguous_rows; k += 2)
    reinterpret_cast<row_pair<T>*>(to)[k / 2] = row_pair<T>{rows[k], rows[k + 1]};
}

/// The reduced block of the lane `step` further on.
template <bool Dominant, real T>
__device__ reduced_block<T> reduced_block_ahead(const reduced_block<T>& r, int step) {
  const auto ahead = [step](T v) { return __shfl_down_sync(~0u, v, static_cast<unsigned>(step)); };
  const auto unless_dominant = [&](T v) { return Dominant ? T{0} : ahead(v); };
  return {{ahead(r.left[0]), unless_dominant(r.left[1])},
          {ahead(r.first[0]), ahead(r.first[1])},
          {ahead(r.last[0]), ahead(r.last[1])},
          {unless_dominant(r.right[0]), ahead(r.right[1])},
          {ahead(r.rhs[0]), ahead(r.rhs[1])}};
}

/// The reduced block of two neighbours.
template <bool Dominant, real T>
__device__ reduced_block<T> joined(const reduced_block<T>& before, const reduced_block<T>& after,
                                   separator_pair<T>& at) {
  if constexpr (Dominant)
    return join_dominant(before, after, at);
  else
    return join_unpivoted(before, after, at);
}

/// A tree over neighbouring lanes of a warp, or over every so many-th one (Across), with places for its
/// leaves. The separator in front of a leaf is in the leaf's slot: slots of neighbours lie side by side, a
/// slot's numbers Step apart.
template <bool Dominant, int Step, real T, int Across = 1>
class lane_tree {
 public:
  __device__ lane_tree(T* slots, int leaves, int places) : slots_(slots), leaves_(leaves), places_(places) {}

  /// The reduced block of all leaves to the first lane, from that of each lane's leaf. Others may read the
  /// separators after __syncwarp().
  __device__ reduced_block<T> join(reduced_block<T> own, int leaf) const {
#pragma unroll 1
    for (int step = 1; step < places_; step *= 2) {
      const reduced_block<T> after = reduced_block_ahead<Dominant>(own, step * Across);
      if ((leaf & (2 * step - 1)) != 0 || leaf + step >= leaves_) continue;
      separator_pair<T> at;
      own = joined<Dominant>(own, after, at);
      joining::keep(slot{slots_ + (leaf + step) * Across}, at);
    }
    return own;
  }
  /// The boundary unknowns of a leaf from those of all.
  template <int Places>
  __device__ boundary_unknowns<T> descend(boundary_unknowns<T> at, int leaf) const {
#pragma unroll
    for (int step = Places / 2; step > 0; step /= 2) {
      const int left = leaf & ~(2 * step - 1);
      if (step >= places_ || left + step >= leaves_) continue;
      boundary_unknowns<T> before, after;
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

/// The boundary unknowns of a system from its reduced block, which the first of `places` lanes has.
template <real T>
__device__ boundary_unknowns<T> boundary_of_system(const reduced_block<T>& whole, int places) {
  const boundary_unknowns<T> at = closed(whole);
  return {T{0}, __shfl_sync(~0u, at.first, 0, places), __shfl_sync(~0u, at.last, 0, places), T{0}};
}

/// The same from the reduced block that this lane has.
template <real T>
__device__ boundary_unknowns<T> boundary_from(const reduced_block<T>& whole, int lane) {
  const boundary_unknowns<T> at = closed(whole);
  return {T{0}, __shfl_sync(~0u, at.first, lane), __shfl_sync(~0u, at.last, lane), T{0}};
}

/// Warps that share a system exchange their reduced blocks, and all join these.
template <bool Dominant, int Warps, real T>
class warp_tree {
 public:
  __device__ warp_tree(T* room, int leaves, int thread)
      : published_(room),
        warp_(thread / 32),
        lane_(thread % 32),
        tree_(room + (reduced_block_size + warp_ * slot_size) * Warps, (leaves + 31) / 32, Warps) {}

  /// The boundary unknowns of this warp's rows from their reduced block, which its first lane has.
  __device__ boundary_unknowns<T> boundary_of_warp(const reduced_block<T>& own) const {
    if (lane_ == 0) packing::put(slot{published_ + warp_}, own);
    __syncthreads();
    if constexpr (Warps == 2) {
      return boundary_of_half();
    } else {
      const int leaf = lane_ < Warps ? lane_ : Warps - 1;
      const boundary_unknowns<T> at =
          boundary_of_system(tree_.join(packing::get(slot{published_ + leaf}), lane_), 32);
      __syncwarp();
      return tree_.template descend<Warps>(at, warp_);
    }
  }

 private:
  using packing = pivoted_joining<T, false>;
  static constexpr int reduced_block_size = 10;
  struct slot {
    T* first;
    __device__ T& operator[](int k) const { return first[k * Warps]; }
  };

  // Of two warps: without a tree.
  __device__ boundary_unknowns<T> boundary_of_half() const {
    separator_pair<T> between;
    const boundary_unknowns<T> whole =
        closed(joined<Dominant>(packing::get(slot{published_}), packing::get(slot{published_ + 1}), between));
    boundary_unknowns<T> before, after;
    between.solve(whole, before, after);
    return warp_ == 0 ? before : after;
  }

  T* published_;
  int warp_, lane_;
  lane_tree<Dominant, Warps, T> tree_;
};

/// From the reduced blocks of segments to their boundary unknowns; the first warp of a system has its first
/// 32 segments, and so on.
template <bool Dominant, int Warps, real T>
class warp_tile_solver {
 public:
  /// room: of the block's threads, contiguous_rows numbers each, or slot_size if Warps is 1.
  template <class Batch, class Place>
  __device__ warp_tile_solver(const Batch& of, const Place& place, T* room, int thread)
      : room_(room),
        thread_(thread),
        leaf_(place.segment % 32),
        leaves_(place.system < of.width ? of.leaves : 0),
        tree_(room + thread - leaf_, leaves_ - (place.segment - leaf_), of.segments < 32 ? of.segments : 32) {}

  __device__ boundary_unknowns<T> boundary_of_segment(const reduced_block<T>& own) const {
    return boundary_of_segment(own, [this](const reduced_block<T>& of_warp) {
      if constexpr (Warps == 1)
        return boundary_from(of_warp, thread_ - leaf_);
      else
        return warp_tree<Dominant, Warps, T>(room_ + slot_size * threads, leaves_, thread_)
            .boundary_of_warp(of_warp);
    });
  }
  /// find: the boundary unknowns of a warp's segments together, for every lane, from their reduced block,
  /// which the first lane of a system has.
  template <class Find>
  __device__ boundary_unknowns<T> boundary_of_segment(const reduced_block<T>& own, const Find& find) const {
    const boundary_unknowns<T> at = find(tree_.join(own, leaf_));
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
