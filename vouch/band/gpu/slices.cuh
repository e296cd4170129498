// vouch/band/gpu/slices.cuh -- where the rows of a block's tridiagonal systems lie, in memory and in shared
// memory, and how they come and go; private.
#pragma once
#include <cstdint>

#include <vouch/band/gpu/segment.cuh>
#include <vouch/band/tridiagonal.hpp>
#include <vouch/core/gpu/async_copy.cuh>

namespace vouch::detail {

/// Numbers in the 16 bytes that copy_line_to_shared() takes, and whether p can begin them.
template <class T>
constexpr int line_size = 16 / static_cast<int>(sizeof(T));

template <class T>
__device__ inline bool begins_a_line(const T* p) {
  return reinterpret_cast<std::uintptr_t>(p) % 16 == 0;
}

/// The block's dynamic shared memory.
__device__ inline unsigned char* dynamic_shared() {
  extern __shared__ __align__(16) unsigned char bytes[];
  return bytes;
}

/// How the slices of a block lie in memory: there is but one, one after another, or side by side.
enum class layout { single, in_line, across };

/// The slices of one block: rows begin to end - 1 of `count` systems from `system` on, `segments` places for
/// segments in each.
struct slices {
  std::int64_t system = 0, begin = 0, end = 0;
  int count = 1, segments = 0;
  int across = 1;         // layout::across: a power of two >= count
  unsigned inverse = 0;   // of segments, see set_segments()
  int sharing_shift = 0;  // layout::in_line: so many threads, as a power of two, load a slice and write it

  __host__ __device__ void set_segments(int to) {
    segments = to;
    inverse = 65536u / static_cast<unsigned>(to) + 1;
  }
  __device__ int rows() const { return static_cast<int>(end - begin); }
  __device__ int leaves() const {
    return static_cast<int>((static_cast<unsigned>(rows()) + rows_a_thread - 1) / rows_a_thread);
  }
  /// The slice of a thread below 256, and its segment there.
  template <layout Layout>
  __device__ int slice_of(int thread) const {
    if (Layout == layout::single) return 0;
    if (Layout == layout::across) return thread & (across - 1);
    return static_cast<int>(static_cast<unsigned>(thread) * inverse >> 16);  // exact: thread, segments <= 256
  }
  template <layout Layout>
  __device__ int segment_of(int thread) const {
    if (Layout == layout::single) return thread;
    if (Layout == layout::across) return thread >> (31 - __clz(across));
    return thread - slice_of<Layout>(thread) * segments;
  }
  /// From row to row in the arrays, and from slice to slice.
  template <layout Layout>
  __device__ int step() const {
    return Layout == layout::across ? across : 1;
  }
  template <layout Layout>
  __device__ int width() const {
    return Layout == layout::across ? 1 : segments * rows_a_thread;
  }
};

/// A segment in its slice. Where segments need not be full none has a single row, which the two rows of a
/// reduced block without interchanges could not express, unless its slice has: the last takes one of its
/// neighbour's.
struct segment_place {
  int slice = 0, segment = 0, first = 0, count = 0;

  template <layout Layout>
  __device__ static segment_place of(const slices& all, int thread, bool full) {
    segment_place at;
    at.slice = all.slice_of<Layout>(thread);
    at.segment = all.segment_of<Layout>(thread);
    at.first = at.slice * all.width<Layout>() + at.segment * rows_a_thread * all.step<Layout>();
    const int rows = all.rows(), left = rows - at.segment * rows_a_thread;
    at.count = at.slice >= all.count || left <= 0 ? 0 : full || left > rows_a_thread ? rows_a_thread : left;
    if (full || rows % rows_a_thread != 1 || rows == 1 || at.count == 0) return at;
    if (left == 1) {
      at.first -= all.step<Layout>();
      at.count = 2;
    } else if (left == rows_a_thread + 1) {
      --at.count;
    }
    return at;
  }
};

/// One array of a slice's rows or more: where its first number lies, and how far apart the next are.
template <class T>
struct strided {
  T* first;
  std::int64_t row_stride, system_stride;
};
template <class T>
__device__ strided<T> rows_from(T* data, const batch_shape& shape, const slices& of) {
  return {data + shape.at(of.system, of.begin), shape.row_stride, shape.system_stride};
}

/// Starts to load Count arrays that lie alike into shared memory, Width numbers apart.
template <layout Layout, int Threads, int Width, int Count, class T>
__device__ void load_arrays(const slices& of, T* to, const strided<const T> (&from)[Count], int thread) {
  constexpr int line = line_size<T>;
  const std::int64_t row_stride = from[0].row_stride, system_stride = from[0].system_stride;
  bool lines = true;
  for (int k = 0; k < Count; ++k) lines = lines && begins_a_line(from[k].first);
  // Rows i, i + pass, ... below end, from source on.
  const auto copy = [&](T* target, std::int64_t source, int i, int end, int pass, int pitch) {
    const std::int64_t stride = pass * row_stride;
    if (lines) {
#pragma unroll 4
      for (; i < end; i += pass, source += stride, target += pitch)
#pragma unroll
        for (int k = 0; k < Count; ++k) copy_line_to_shared(target + k * Width, from[k].first + source);
    } else {
#pragma unroll 1
      for (; i < end; i += pass, source += stride, target += pitch)
#pragma unroll
        for (int k = 0; k < Count; ++k) copy_to_shared(target + k * Width, from[k].first + source);
    }
  };
  if constexpr (Layout == layout::across) {
    lines =
        lines && system_stride == 1 && row_stride % line == 0 && of.across % line == 0 && of.count == of.across;
    const int each = lines ? line : 1, shift = 31 - __clz(of.across / each);
    const int g = (thread & ((1 << shift) - 1)) * each, i = thread >> shift, pass = Threads >> shift;
    if (g < of.count)
      copy(to + g + i * of.across, g * system_stride + i * row_stride, i, of.rows(), pass, pass * of.across);
  } else if constexpr (Layout == layout::single) {
    lines = lines && row_stride == 1;
    const int rows = of.rows(), in_lines = lines ? rows / line * line : rows,
              i = lines ? thread * line : thread;
    copy(to + i, i * row_stride, i, in_lines, lines ? Threads * line : Threads,
         lines ? Threads * line : Threads);
    lines = false;
    copy(to + in_lines + thread, (in_lines + thread) * row_stride, in_lines + thread, rows, Threads, Threads);
  } else {
    const int rows = of.rows(), width = of.width<Layout>(), sharing = 1 << of.sharing_shift;
    const bool in_whole = lines && row_stride == 1 && system_stride % line == 0 && width % line == 0;
    const int each = in_whole ? line : 1, in_lines = rows / each * each, i = (thread & (sharing - 1)) * each;
    for (int g = thread >> of.sharing_shift; g < of.count; g += Threads >> of.sharing_shift) {
      lines = in_whole;
      copy(to + g * width + i, g * system_stride + i * row_stride, i, in_lines, sharing * each, sharing * each);
      const int rest = in_lines + (thread & (sharing - 1));
      lines = false;
      copy(to + g * width + rest, g * system_stride + rest * row_stride, rest, rows, sharing, sharing);
    }
  }
}

/// Writes rows keep_from to keep_to - 1 of the systems from their place in shared memory.
template <layout Layout, int Threads, real T>
__device__ void store_rows(const batch_view<T>& x, const slices& of, const T* d, int thread,
                           std::int64_t keep_from, std::int64_t keep_to) {
  const int from = static_cast<int>(keep_from - of.begin), to = static_cast<int>(keep_to - of.begin);
  const strided<T> whole = rows_from(x.data, x.shape, of);
  const auto copy = [&](T* target, const T* source, int i, int pass, int pitch) {
    const std::int64_t stride = pass * whole.row_stride;
#pragma unroll 4
    for (; i < to; i += pass, target += stride, source += pitch) *target = *source;
  };
  if constexpr (Layout == layout::across) {
    const int shift = 31 - __clz(of.across), g = thread & (of.across - 1), i = from + (thread >> shift);
    if (g < of.count)
      copy(whole.first + g * whole.system_stride + i * whole.row_stride, d + g + i * of.across, i,
           Threads >> shift, (Threads >> shift) * of.across);
  } else if constexpr (Layout == layout::single) {
    const int i = from + thread;
    copy(whole.first + i * whole.row_stride, d + i, i, Threads, Threads);
  } else {
    const int sharing = 1 << of.sharing_shift, i = from + (thread & (sharing - 1));
    for (int g = thread >> of.sharing_shift; g < of.count; g += Threads >> of.sharing_shift)
      copy(whole.first + g * whole.system_stride + i * whole.row_stride, d + g * of.width<Layout>() + i, i,
           sharing, sharing);
  }
}

}  // namespace vouch::detail
