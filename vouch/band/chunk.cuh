// vouch/band/chunk.cuh -- rows of tridiagonal systems in shared memory, solved by a block; private.
//
// A block holds one or more segments: runs of rows, one of each of neighbouring systems. Every thread of a
// segment owns rows_a_thread rows of it, its piece. It reduces them to their relation (piece.cuh); a tree of
// joints over the segment's pieces makes one relation of all; whoever knows the ends of the segment hands them
// down the tree, every thread along its own path, and each fills in its piece. Where every row of the block
// dominates, pieces are reduced without interchanges, at a third of the instructions.
//
// Shared memory, in numbers: four arrays of a row each, and spare ones. A piece that has been reduced keeps
// nothing in the places of its first and last row; these and three spare numbers are its slot in the tree.
// Segments end in rows of the identity, so that all pieces are full; periodic ones cannot, and have whole slots
// of spare numbers. Segments that lie side by side in memory do so here.
#pragma once
#include <cstdint>

#include <vouch/band/piece.cuh>
#include <vouch/band/shared_copy.cuh>
#include <vouch/band/tridiagonal.hpp>

namespace vouch::detail {

constexpr int slot_size = 11;

/// Spare numbers a thread.
template <bool Full>
constexpr int spare_size = Full ? slot_size - 8 : slot_size;

template <real T, bool Full>
constexpr std::size_t chunk_bytes(int threads) {
  return sizeof(T) * static_cast<std::size_t>(threads) * (4 * rows_a_thread + spare_size<Full>);
}

/// What a kernel solves. Offsets, where there are any, lie on the GPU.
template <real T>
struct band_task {
  tridiagonal_view<const T> A;
  batch_view<const T> b;
  batch_view<T> x;
  int* broken;  // of every system, set to 1 where there is no answer
};

/// How the segments of a block lie in memory: there is but one, one after another, or side by side.
enum class layout { single, in_line, across };

/// The segments of one block: rows begin to end - 1 of `count` systems from `system` on, `pieces` places for
/// pieces in each.
struct segments {
  std::int64_t system = 0, begin = 0, end = 0;
  int count = 1, pieces = 0;
  int across = 1;         // layout::across: a power of two >= count
  unsigned inverse = 0;   // of pieces, see set_pieces()
  int sharing_shift = 0;  // layout::in_line: so many threads, as a power of two, bring a segment and write it

  __host__ __device__ void set_pieces(int to) {
    pieces = to;
    inverse = 65536u / static_cast<unsigned>(to) + 1;
  }
  __device__ int rows() const { return static_cast<int>(end - begin); }
  __device__ int leaves() const {
    return static_cast<int>((static_cast<unsigned>(rows()) + rows_a_thread - 1) / rows_a_thread);
  }
  /// The segment of a thread below 256, and its piece there.
  template <layout Layout>
  __device__ int segment_of(int thread) const {
    if (Layout == layout::single) return 0;
    if (Layout == layout::across) return thread & (across - 1);
    return static_cast<int>(static_cast<unsigned>(thread) * inverse >> 16);  // exact: thread, pieces <= 256
  }
  template <layout Layout>
  __device__ int piece_of(int thread) const {
    if (Layout == layout::single) return thread;
    if (Layout == layout::across) return thread >> (31 - __clz(across));
    return thread - segment_of<Layout>(thread) * pieces;
  }
  /// From row to row in the arrays, and from segment to segment.
  template <layout Layout>
  __device__ int step() const {
    return Layout == layout::across ? across : 1;
  }
  template <layout Layout>
  __device__ int width() const {
    return Layout == layout::across ? 1 : pieces * rows_a_thread;
  }
};

/// A piece in its segment. Where pieces need not be full none has a single row, which the two rows of a
/// relation without interchanges could not tell, unless its segment has: the last takes one of its neighbour's.
struct piece_place {
  int segment = 0, piece = 0, first = 0, count = 0;

  template <layout Layout>
  __device__ static piece_place of(const segments& all, int thread, bool full) {
    piece_place at;
    at.segment = all.segment_of<Layout>(thread);
    at.piece = all.piece_of<Layout>(thread);
    at.first = at.segment * all.width<Layout>() + at.piece * rows_a_thread * all.step<Layout>();
    const int rows = all.rows(), left = rows - at.piece * rows_a_thread;
    at.count = at.segment >= all.count || left <= 0 ? 0 : full || left > rows_a_thread ? rows_a_thread : left;
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

/// A number of a node of the tree is slot[k].
template <real T, int Width, bool Full>
struct chunk_slot {
  T *piece, *spare;
  int last;

  __device__ T& operator[](int k) const {
    if (!Full) return spare[k];
    return k < 4 ? piece[k * Width] : k < 8 ? piece[(k - 4) * Width + last] : spare[k - 8];
  }
};

/// One array of a segment's rows or more: where its first number lies, and how far apart the next are.
template <class T>
struct strided {
  T* first;
  std::int64_t row_stride, system_stride;
};
template <class T>
__device__ strided<T> rows_from(T* data, const batch_shape& shape, const segments& of) {
  return {data + shape.at(of.system, of.begin), shape.row_stride, shape.system_stride};
}

/// Begins to bring Count arrays that lie alike into shared memory, Width numbers apart.
template <layout Layout, int Threads, int Width, int Count, class T>
__device__ void load_arrays(const segments& of, T* to, const strided<const T> (&from)[Count], int thread) {
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
__device__ void store_rows(const batch_view<T>& x, const segments& of, const T* d, int thread,
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

/// How relations of pieces become one, without interchanges: of rows that dominate. A relation takes 8 numbers.
template <real T>
struct dominant_joining {
  template <class Slot>
  __device__ static void put(const Slot& slot, const relation<T>& r) {
    slot[0] = r.left[0], slot[1] = r.first[0], slot[2] = r.last[0], slot[3] = r.rhs[0];
    slot[4] = r.first[1], slot[5] = r.last[1], slot[6] = r.right[1], slot[7] = r.rhs[1];
  }
  template <class Slot>
  __device__ static relation<T> get(const Slot& slot) {
    return {{slot[0], T{0}}, {slot[1], slot[4]}, {slot[2], slot[5]}, {T{0}, slot[6]}, {slot[3], slot[7]}};
  }
  /// left becomes the relation of both, right the joint.
  template <class Slot>
  __device__ static void join(const Slot& left, const Slot& right) {
    joint<T> at;
    put(left, join_dominant(get(left), get(right), at));
    right[0] = at.first[1], right[1] = at.first[2], right[2] = at.first[4];
    right[3] = at.last[0], right[4] = at.last[2], right[5] = at.last[5];
  }
  template <class Slot>
  __device__ static void solve(const Slot& at, const ends<T>& outside, ends<T>& before, ends<T>& after) {
    const T w = at[2] - at[0] * outside.first - at[1] * outside.last;
    const T v = at[5] - at[3] * w - at[4] * outside.first;
    before = {outside.left, outside.first, v, w};
    after = {v, w, outside.last, outside.right};
  }
};

/// The same with interchanges; Balance: of rows that differ in size.
template <real T, bool Balance>
struct pivoted_joining {
  template <class Slot>
  __device__ static void put(const Slot& slot, const relation<T>& r) {
    for (int k = 0; k < 2; ++k) {
      slot[5 * k] = r.left[k], slot[5 * k + 1] = r.first[k], slot[5 * k + 2] = r.last[k];
      slot[5 * k + 3] = r.right[k], slot[5 * k + 4] = r.rhs[k];
    }
  }
  template <class Slot>
  __device__ static relation<T> get(const Slot& slot) {
    relation<T> r;
    for (int k = 0; k < 2; ++k) {
      r.left[k] = slot[5 * k], r.first[k] = slot[5 * k + 1], r.last[k] = slot[5 * k + 2];
      r.right[k] = slot[5 * k + 3], r.rhs[k] = slot[5 * k + 4];
    }
    return r;
  }
  template <class Slot>
  __device__ static relation<T> joined(const relation<T>& before, const relation<T>& after, const Slot& to) {
    joint<T> at;
    relation<T> whole;
    if constexpr (Balance)
      whole = detail::join(before, after, at);
    else
      whole = join_reluctantly(before, after, at);
    for (int k = 0; k < 5; ++k) to[k] = at.first[k];
    for (int k = 0; k < 6; ++k) to[5 + k] = at.last[k];
    return whole;
  }
  template <class Slot>
  __device__ static void join(const Slot& left, const Slot& right) {
    put(left, joined(get(left), get(right), right));
  }
  template <class Slot>
  __device__ static void solve(const Slot& slot, const ends<T>& outside, ends<T>& before, ends<T>& after) {
    joint<T> at;
    for (int k = 0; k < 5; ++k) at.first[k] = slot[k];
    for (int k = 0; k < 6; ++k) at.last[k] = slot[5 + k];
    at.solve(outside, before, after);
  }
};

/// Joins leaves 0 to leaves - 1 of each of `trees` trees, slot_of(tree, leaf), those `step` apart for step = 1,
/// 2, 4, ...: the sum stays in the left slot, the joint in the right one. The whole is in slot 0 of each tree
/// after the call, for every thread. A pivot of zero shows in the answer, as infinity or NaN.
template <class Joining, class Slots>
__device__ void join_slots(const Slots& slot_of, int trees, int leaves, int thread, int threads) {
  const int levels = 32 - __clz(leaves - 1);  // of a tree of a power of two of leaves
  for (int level = 0, step = 1; step < leaves; ++level, step *= 2) {
    __syncthreads();
    const int shift = levels - level - 1;
    for (int q = thread; q < trees << shift; q += threads) {
      const int left = (q & ((1 << shift) - 1)) * 2 * step;
      if (left + step < leaves) Joining::join(slot_of(q >> shift, left), slot_of(q >> shift, left + step));
    }
  }
  __syncthreads();
}

/// The ends of one leaf from those of the whole tree, along its path; slots may lie in any memory.
template <class Joining, class Slots, real T>
__device__ ends<T> descend(const Slots& slot_of, int leaves, int leaf, ends<T> at) {
  for (int step = leaves > 1 ? 1 << (31 - __clz(leaves - 1)) : 0; step > 0; step /= 2) {
    const int left = leaf & ~(2 * step - 1);
    if (left + step >= leaves) continue;
    ends<T> before, after;
    Joining::solve(slot_of(left + step), at, before, after);
    at = (leaf & step) != 0 ? after : before;
  }
  return at;
}

/// A block at work on its segments: reduce(), then fill() once their ends are known.
template <real T, int Threads, bool Full, layout Layout>
class chunk_solver {
 public:
  /// Brings the rows and waits for them.
  __device__ chunk_solver(const band_task<T>& task, const segments& of, int thread)
      : of_(of),
        place_(piece_place::of<Layout>(of, thread, Full)),
        numbers_(reinterpret_cast<T*>(dynamic_shared())),
        rows_{numbers_ + place_.first, of.step<Layout>(), place_.count},
        thread_(thread) {
    const auto dl = rows_from(task.A.dl, task.A.shape, of), d = rows_from(task.A.d, task.A.shape, of),
               du = rows_from(task.A.du, task.A.shape, of), b = rows_from(task.b.data, task.b.shape, of);
    if (d.row_stride == b.row_stride && d.system_stride == b.system_stride) {
      load_arrays<Layout, Threads, width, 4>(of, numbers_, {dl, d, du, b}, thread);
    } else {
      load_arrays<Layout, Threads, width, 3>(of, numbers_, {dl, d, du}, thread);
      load_arrays<Layout, Threads, width, 1>(of, numbers_ + 3 * width, {b}, thread);
    }
    await_copies_to_shared();
    __syncthreads();
    if (place_.count > 0) complete(task);
    dominant_ = __syncthreads_and(place_.count == 0 || dominates(rows_)) != 0;
  }
  __device__ bool dominant() const { return dominant_; }
  /// Whether this thread has a piece, and of which system.
  __device__ bool works() const { return place_.count > 0; }
  __device__ std::int64_t system() const { return of_.system + place_.segment; }

  /// The relation of this thread's segment, for every thread. seen(r) is called with that of its piece.
  template <class Seen>
  __device__ relation<T> reduce(const Seen& seen) {
    return dominant_
               ? join_pieces<dominant_joining<T>>(works() ? reduce_dominant<T>(rows_) : relation<T>{}, seen)
               : join_pieces<pivoted_joining<T, false>>(
                     works() ? reduce_pivoted<T>(rows_, far_) : relation<T>{}, seen);
  }
  __device__ relation<T> reduce() {
    return reduce([](const relation<T>&) {});
  }

  /// The unknowns from the ends of this thread's segment; complete after the call, for every thread. Returns
  /// false where they are no numbers.
  __device__ bool fill(const ends<T>& whole) const {
    const ends<T> known = !works()    ? whole
                          : dominant_ ? own_ends<dominant_joining<T>>(whole)
                                      : own_ends<pivoted_joining<T, false>>(whole);
    __syncthreads();  // who fills writes over slots
    bool numbers = true;
    if (works()) numbers = dominant_ ? fill_dominant(rows_, known) : fill_pivoted(rows_, far_, known);
    __syncthreads();
    return numbers;
  }
  /// Writes rows keep_from to keep_to - 1 of what fill() has found.
  __device__ void store(const batch_view<T>& x, std::int64_t keep_from, std::int64_t keep_to) const {
    store_rows<Layout, Threads>(x, of_, numbers_ + width, thread_, keep_from, keep_to);
  }

  /// Room for chunk_bytes() of anything, once the rows are needed no more.
  __device__ T* room() const { return numbers_; }

 private:
  static constexpr int width = Threads * rows_a_thread;
  using slot = chunk_slot<T, width, Full>;

  // Zeros where entries are not used, rows of the identity behind the last.
  __device__ void complete(const band_task<T>& task) {
    if (!task.A.periodic && of_.begin == 0 && place_.piece == 0) rows_.a(0) = 0;
    const int left = of_.rows() - place_.piece * rows_a_thread;
    if (left > rows_a_thread) return;
    if (!task.A.periodic && of_.end == task.b.shape.rows(of_.system))
      rows_.c((Full ? left : rows_.count()) - 1) = 0;
    if constexpr (Full)
      for (int k = left; k < rows_a_thread; ++k) {
        rows_.a(k) = rows_.c(k) = rows_.f(k) = 0;
        rows_.d(k) = 1;
      }
  }

  __device__ slot slot_of(int segment, int piece) const {
    const int step = of_.step<Layout>(), first = segment * of_.width<Layout>() + piece * rows_a_thread * step;
    const int leaf = Layout == layout::across ? piece * step + segment : segment * of_.pieces + piece;
    return {numbers_ + first, numbers_ + 4 * width + leaf * spare_size<Full>, (rows_a_thread - 1) * step};
  }

  template <class Joining, class Seen>
  __device__ relation<T> join_pieces(const relation<T>& own, const Seen& seen) {
    seen(own);
    if (of_.leaves() == 1) return own;
    if (works()) Joining::put(slot_of(place_.segment, place_.piece), own);
    join_slots<Joining>([this](int segment, int piece) { return slot_of(segment, piece); }, of_.count,
                        of_.leaves(), thread_, Threads);
    return works() ? Joining::get(slot_of(place_.segment, 0)) : own;
  }
  template <class Joining>
  __device__ ends<T> own_ends(const ends<T>& whole) const {
    return descend<Joining>([this](int piece) { return slot_of(place_.segment, piece); }, of_.leaves(),
                            place_.piece, whole);
  }

  const segments& of_;
  piece_place place_;
  T* numbers_;
  piece_rows<T, width, Full> rows_;
  int thread_;
  unsigned far_ = 0;
  bool dominant_ = false;
};

/// Leaves side by side in any memory.
template <class T>
struct lined_slots {
  T* first;
  __device__ T* operator()(int leaf) const { return first + leaf * slot_size; }
  __device__ T* operator()(int, int leaf) const { return first + leaf * slot_size; }
};

}  // namespace vouch::detail
