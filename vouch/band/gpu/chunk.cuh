// vouch/band/gpu/chunk.cuh -- rows of tridiagonal systems in shared memory, solved by a block; private.
//
// A block holds one or more slices (slices.cuh): runs of rows, one of each of neighbouring systems. Every
// thread of a slice owns rows_a_thread rows of it, its segment. It condenses them to their reduced block
// (segment.cuh); a tree of separators over the slice's segments makes one reduced block of all; the
// boundary unknowns of the slice go back down the tree, to every thread along its own path, and each fills
// in its segment. Where every row of the block dominates, segments are reduced without interchanges, at a
// third of the instructions.
//
// Shared memory, in numbers: four arrays of a row each, and spare ones. A segment that has been reduced keeps
// nothing in the places of its first and last row; these and three spare numbers are its slot in the tree.
// Slices end in rows of the identity, so that all segments are full; periodic ones cannot, and have whole slots
// of spare numbers. Slices that lie side by side in memory do so here.
#pragma once
#include <cstdint>

#include <vouch/band/gpu/segment.cuh>
#include <vouch/band/gpu/slices.cuh>
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

/// A number of a node of the tree is slot[k].
template <real T, int Width, bool Full>
struct chunk_slot {
  T *segment, *spare;
  int last;

  __device__ T& operator[](int k) const {
    if (!Full) return spare[k];
    return k < 4 ? segment[k * Width] : k < 8 ? segment[(k - 4) * Width + last] : spare[k - 8];
  }
};

/// How reduced blocks of segments become one, without interchanges: of rows that dominate. A reduced block
/// takes 8 numbers.
template <real T>
struct dominant_joining {
  template <class Slot>
  __device__ static void put(const Slot& slot, const reduced_block<T>& r) {
    slot[0] = r.left[0], slot[1] = r.first[0], slot[2] = r.last[0], slot[3] = r.rhs[0];
    slot[4] = r.first[1], slot[5] = r.last[1], slot[6] = r.right[1], slot[7] = r.rhs[1];
  }
  template <class Slot>
  __device__ static reduced_block<T> get(const Slot& slot) {
    return {{slot[0], T{0}}, {slot[1], slot[4]}, {slot[2], slot[5]}, {T{0}, slot[6]}, {slot[3], slot[7]}};
  }
  template <class Slot>
  __device__ static void keep(const Slot& slot, const separator_pair<T>& at) {
    slot[0] = at.first[1], slot[1] = at.first[2], slot[2] = at.first[4];
    slot[3] = at.last[0], slot[4] = at.last[2], slot[5] = at.last[5];
  }
  /// left becomes the reduced block of both, right the separator.
  template <class Slot>
  __device__ static void join(const Slot& left, const Slot& right) {
    separator_pair<T> at;
    put(left, join_dominant(get(left), get(right), at));
    keep(right, at);
  }
  template <class Slot>
  __device__ static void solve(const Slot& at, const boundary_unknowns<T>& outside,
                               boundary_unknowns<T>& before, boundary_unknowns<T>& after) {
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
  __device__ static void put(const Slot& slot, const reduced_block<T>& r) {
    for (int k = 0; k < 2; ++k) {
      slot[5 * k] = r.left[k], slot[5 * k + 1] = r.first[k], slot[5 * k + 2] = r.last[k];
      slot[5 * k + 3] = r.right[k], slot[5 * k + 4] = r.rhs[k];
    }
  }
  template <class Slot>
  __device__ static reduced_block<T> get(const Slot& slot) {
    reduced_block<T> r;
    for (int k = 0; k < 2; ++k) {
      r.left[k] = slot[5 * k], r.first[k] = slot[5 * k + 1], r.last[k] = slot[5 * k + 2];
      r.right[k] = slot[5 * k + 3], r.rhs[k] = slot[5 * k + 4];
    }
    return r;
  }
  template <class Slot>
  __device__ static void keep(const Slot& slot, const separator_pair<T>& at) {
    for (int k = 0; k < 5; ++k) slot[k] = at.first[k];
    for (int k = 0; k < 6; ++k) slot[5 + k] = at.last[k];
  }
  template <class Slot>
  __device__ static reduced_block<T> joined(const reduced_block<T>& before, const reduced_block<T>& after,
                                            const Slot& to) {
    separator_pair<T> at;
    reduced_block<T> whole;
    if constexpr (Balance)
      whole = detail::join(before, after, at);
    else
      whole = join_pivoted(before, after, at);
    keep(to, at);
    return whole;
  }
  template <class Slot>
  __device__ static void join(const Slot& left, const Slot& right) {
    put(left, joined(get(left), get(right), right));
  }
  template <class Slot>
  __device__ static void solve(const Slot& slot, const boundary_unknowns<T>& outside,
                               boundary_unknowns<T>& before, boundary_unknowns<T>& after) {
    // separator_pair::solve() with the two unknowns beside each other as long as they can be.
    const T w = (slot[4] - slot[0] * outside.left - slot[1] * outside.first) -
                (slot[2] * outside.last + slot[3] * outside.right);
    const T rest = (slot[10] - slot[6] * outside.left - slot[7] * outside.first) -
                   (slot[8] * outside.last + slot[9] * outside.right);
    const T v = rest - slot[5] * w;
    before = {outside.left, outside.first, v, w};
    after = {v, w, outside.last, outside.right};
  }
};

/// Joins leaves 0 to leaves - 1 of each of `trees` trees, slot_of(tree, leaf), those `step` apart for step
/// = 1, 2, 4, ...: the sum stays in the left slot, the separator in the right one. The whole is in slot 0
/// of each tree after the call, for every thread. A pivot of zero shows in the answer, as infinity or NaN.
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
__device__ boundary_unknowns<T> descend(const Slots& slot_of, int leaves, int leaf, boundary_unknowns<T> at) {
  for (int step = leaves > 1 ? 1 << (31 - __clz(leaves - 1)) : 0; step > 0; step /= 2) {
    const int left = leaf & ~(2 * step - 1);
    if (left + step >= leaves) continue;
    boundary_unknowns<T> before, after;
    Joining::solve(slot_of(left + step), at, before, after);
    at = (leaf & step) != 0 ? after : before;
  }
  return at;
}

/// A block at work on its slices: reduce(), then fill() once their boundary unknowns are known.
template <real T, int Threads, bool Full, layout Layout>
class chunk_solver {
 public:
  /// Loads the rows and waits for them.
  __device__ chunk_solver(const band_task<T>& task, const slices& of, int thread)
      : of_(of),
        place_(segment_place::of<Layout>(of, thread, Full)),
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
    wait_copies_to_shared();
    __syncthreads();
    if (place_.count > 0) complete(task);
    dominant_ = __syncthreads_and(place_.count == 0 || dominates(rows_)) != 0;
  }
  __device__ bool dominant() const { return dominant_; }
  /// Whether this thread has a segment, and of which system.
  __device__ bool works() const { return place_.count > 0; }
  __device__ std::int64_t system() const { return of_.system + place_.slice; }

  /// The reduced block of this thread's slice, for every thread. seen(r) is called with that of its segment.
  template <class Seen>
  __device__ reduced_block<T> reduce(const Seen& seen) {
    return dominant_ ? join_segments<dominant_joining<T>>(
                           works() ? reduce_dominant<T>(rows_) : reduced_block<T>{}, seen)
                     : join_segments<pivoted_joining<T, false>>(
                           works() ? reduce_pivoted<T>(rows_, far_) : reduced_block<T>{}, seen);
  }
  __device__ reduced_block<T> reduce() {
    return reduce([](const reduced_block<T>&) {});
  }

  /// The unknowns from the boundary unknowns of this thread's slice; complete after the call, for every
  /// thread. Returns false where they are no numbers.
  __device__ bool fill(const boundary_unknowns<T>& whole) const {
    const boundary_unknowns<T> known = !works()    ? whole
                                       : dominant_ ? own_boundary<dominant_joining<T>>(whole)
                                                   : own_boundary<pivoted_joining<T, false>>(whole);
    __syncthreads();  // filling in overwrites slots
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
    if (!task.A.periodic && of_.begin == 0 && place_.segment == 0) rows_.a(0) = 0;
    const int left = of_.rows() - place_.segment * rows_a_thread;
    if (left > rows_a_thread) return;
    if (!task.A.periodic && of_.end == task.b.shape.rows(of_.system))
      rows_.c((Full ? left : rows_.count()) - 1) = 0;
    if constexpr (Full)
      for (int k = left; k < rows_a_thread; ++k) {
        rows_.a(k) = rows_.c(k) = rows_.f(k) = 0;
        rows_.d(k) = 1;
      }
  }

  __device__ slot slot_of(int slice, int segment) const {
    const int step = of_.step<Layout>(), first = slice * of_.width<Layout>() + segment * rows_a_thread * step;
    const int leaf = Layout == layout::across ? segment * step + slice : slice * of_.segments + segment;
    return {numbers_ + first, numbers_ + 4 * width + leaf * spare_size<Full>, (rows_a_thread - 1) * step};
  }

  template <class Joining, class Seen>
  __device__ reduced_block<T> join_segments(const reduced_block<T>& own, const Seen& seen) {
    seen(own);
    if (of_.leaves() == 1) return own;
    if (works()) Joining::put(slot_of(place_.slice, place_.segment), own);
    join_slots<Joining>([this](int slice, int segment) { return slot_of(slice, segment); }, of_.count,
                        of_.leaves(), thread_, Threads);
    return works() ? Joining::get(slot_of(place_.slice, 0)) : own;
  }
  template <class Joining>
  __device__ boundary_unknowns<T> own_boundary(const boundary_unknowns<T>& whole) const {
    return descend<Joining>([this](int segment) { return slot_of(place_.slice, segment); }, of_.leaves(),
                            place_.segment, whole);
  }

  const slices& of_;
  segment_place place_;
  T* numbers_;
  segment_rows<T, width, Full> rows_;
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

/// The slots of a warp's tree: those that a level joins lie together.
template <class T>
struct lane_slots {
  T* first;
  __device__ T* operator()(int leaf) const {
    return first + (__brev(static_cast<unsigned>(leaf)) >> 27) * slot_size;
  }
};

/// Joins the leaves of a warp's lanes; the whole is in slot 0 after the call, for every lane.
template <class Joining, class Slots>
__device__ void join_lanes(const Slots& slot_of, int lane) {
#pragma unroll 1
  for (int step = 1; step < 32; step *= 2) {
    __syncwarp();
    const int left = 2 * step * lane;
    if (left < 32) Joining::join(slot_of(left), slot_of(left + step));
  }
  __syncwarp();
}

}  // namespace vouch::detail
