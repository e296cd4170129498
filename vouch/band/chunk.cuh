// vouch/band/chunk.cuh -- rows of tridiagonal systems in shared memory, solved by a block; private.
//
// A block holds one or more segments: runs of rows, one of each of neighbouring systems. Thread t of a segment
// owns the rows_a_thread rows from t * rows_a_thread, its piece. It reduces them to their relation
// (relation.hpp); a tree of joints over the segment's threads makes one relation of all; whoever knows the ends
// of the segment hands them down the tree, every thread along its own path, and each fills in its piece. Where
// every row of the block dominates, pieces are reduced without interchanges, at a third of the instructions.
//
// Shared memory, in numbers: four arrays of a row each, then `slot_size` a thread for the tree. rows_a_thread
// and slot_size are odd, so that neither strides over the same banks.
#pragma once
#include <cstdint>

#include <vouch/band/relation.hpp>
#include <vouch/band/shared_copy.cuh>
#include <vouch/band/tridiagonal.hpp>

namespace vouch::detail {

constexpr int rows_a_thread = 17;
constexpr int slot_size = 11;

template <real T>
constexpr std::size_t chunk_bytes(int threads, bool slots_in_d) {
  return sizeof(T) * static_cast<std::size_t>(threads) * (4 * rows_a_thread + (slots_in_d ? 0 : slot_size));
}

/// What a kernel solves. Offsets, where there are any, lie on the GPU.
template <real T>
struct band_task {
  tridiagonal_view<const T> A;
  batch_view<const T> b;
  batch_view<T> x;
  int* broken;  // of every system, set to 1 where there is no answer
};

/// The segments of one block: rows begin to end - 1 of `count` systems from `system` on, `threads` threads
/// each.
struct segments {
  std::int64_t system = 0, begin = 0, end = 0;
  int count = 0, threads = 0;
  int across = 0;  // a power of two >= count where neighbours in memory are systems, not rows

  __device__ int rows() const { return static_cast<int>(end - begin); }
  __device__ int leaves() const { return (rows() + rows_a_thread - 1) / rows_a_thread; }
};

/// The arrays of one block.
template <real T>
struct chunk {
  T *a, *d, *c, *f, *slots;
  int stride;  // from slot to slot

  __device__ chunk(unsigned char* shared, int threads, bool slots_in_d) {
    a = reinterpret_cast<T*>(shared);
    d = a + threads * rows_a_thread;
    c = d + threads * rows_a_thread;
    f = c + threads * rows_a_thread;
    slots = slots_in_d ? d : f + threads * rows_a_thread;
    stride = slots_in_d ? rows_a_thread : slot_size;
  }
};

/// A thread's place: its segment, its piece in it, the first of its rows in the arrays, and how many they are.
/// No piece has a single row, which the two rows of a relation without interchanges could not tell, unless its
/// segment has: the last piece takes one of its neighbour's.
struct piece_place {
  int segment, piece, first, count;

  __device__ piece_place(const segments& of, int thread) {
    segment = thread / of.threads;
    piece = thread % of.threads;
    first = thread * rows_a_thread;
    const int rows = of.rows(), left = rows - piece * rows_a_thread;
    count = segment >= of.count || left < 0 ? 0 : left < rows_a_thread ? left : rows_a_thread;
    if (rows % rows_a_thread != 1 || rows == 1 || count == 0) return;
    if (left == 1) {
      --first;
      count = 2;
    } else if (left == rows_a_thread + 1) {
      --count;
    }
  }
};

/// Calls f(g, i) for row begin + i of segment g, for all of them, neighbouring threads on neighbours in memory.
template <class F>
__device__ void for_rows(const segments& of, int thread, int threads, const F& f) {
  const int rows = of.rows();
  if (of.across > 0) {
    const int shift = 31 - __clz(of.across);
    for (int e = thread; e < rows << shift; e += threads)
      if ((e & (of.across - 1)) < of.count) f(e & (of.across - 1), e >> shift);
  } else {
    for (int g = 0; g < of.count; ++g)
      for (int i = thread; i < rows; i += threads) f(g, i);
  }
}

/// Begins to bring the segments' rows into shared memory; await_rows() ends it for every thread.
template <real T>
__device__ void load_rows(const band_task<T>& task, const segments& of, const chunk<T>& to, int thread,
                          int threads) {
  for_rows(of, thread, threads, [&](int g, int i) {
    const std::int64_t s = of.system + g, row = of.begin + i, at = task.A.shape.at(s, row);
    const int place = g * of.threads * rows_a_thread + i;
    const bool below = row > 0 || task.A.periodic, above = row + 1 < task.A.shape.rows(s) || task.A.periodic;
    if (below)
      copy_to_shared(to.a + place, task.A.dl + at);
    else
      to.a[place] = 0;
    copy_to_shared(to.d + place, task.A.d + at);
    if (above)
      copy_to_shared(to.c + place, task.A.du + at);
    else
      to.c[place] = 0;
    copy_to_shared(to.f + place, task.b.data + task.b.shape.at(s, row));
  });
}
__device__ inline void await_rows() {
  await_copies_to_shared();
  __syncthreads();
}

/// Writes rows keep_from to keep_to - 1 of the systems from the array d, and marks the systems that have no
/// answer.
template <real T>
__device__ void store_rows(const band_task<T>& task, const segments& of, const chunk<T>& from, int thread,
                           int threads, std::int64_t keep_from, std::int64_t keep_to) {
  for_rows(of, thread, threads, [&](int g, int i) {
    const std::int64_t row = of.begin + i;
    if (row < keep_from || row >= keep_to) return;
    const T x = from.d[g * of.threads * rows_a_thread + i];
    task.x(of.system + g, row) = x;
    if (task.broken != nullptr && x - x != 0) task.broken[of.system + g] = 1;  // all who write, write the same
  });
}

/// True where all rows of the piece dominate.
template <real T>
__device__ bool dominates(const chunk<T>& of, const piece_place& at) {
  bool all = true;
  for (int i = at.first; i < at.first + at.count; ++i)
    all = all && magnitude_of(of.d[i]) >= magnitude_of(of.a[i]) + magnitude_of(of.c[i]) && of.d[i] != 0;
  return all;
}

template <real T>
__device__ band_row<T> row_at(const chunk<T>& of, int i) {
  return {of.a[i], of.d[i], of.c[i], of.f[i]};
}

template <real T>
__device__ band_row<T> balanced_row_at(const chunk<T>& of, int i) {
  const band_row<T> row = row_at(of, i);
  T largest = magnitude_of(row.a);
  largest = magnitude_of(row.d) > largest ? magnitude_of(row.d) : largest;
  largest = magnitude_of(row.c) > largest ? magnitude_of(row.c) : largest;
  const T power = balancing_power_of(largest);
  return {row.a * power, row.d * power, row.c * power, row.f * power};
}

/// The relation of a piece of at least one row, rows changing places.
template <real T>
__device__ relation<T> reduce_pivoted(const chunk<T>& of, const piece_place& at) {
  const band_row<T> row = balanced_row_at(of, at.first);
  if (at.count == 1) return relation_of(row);
  relation<T> made = relation_of(row, balanced_row_at(of, at.first + 1));
  for (int i = 2; i < at.count; ++i) append(made, balanced_row_at(of, at.first + i));
  return made;
}

/// Fills in a piece from its ends into d; what reduce_pivoted did is done again with the ends known.
template <real T>
__device__ void fill_pivoted(const chunk<T>& of, const piece_place& at, const ends<T>& known) {
  if (at.count > 2) {
    known_left<T> inner =
        start_known(balanced_row_at(of, at.first), balanced_row_at(of, at.first + 1), known.left, known.first);
    for (int i = at.first + 2; i < at.first + at.count; ++i) {
      const auto gone = inner.append(balanced_row_at(of, i));
      of.a[i - 1] = gone.after;
      of.c[i - 1] = gone.next;
      of.f[i - 1] = gone.rhs;
    }
    T x1 = known.last, x2 = known.right;
    for (int i = at.first + at.count - 2; i > at.first; --i) {
      const T now = of.f[i] - of.c[i] * x1 - of.a[i] * x2;
      of.d[i] = now;
      x2 = x1;
      x1 = now;
    }
  }
  of.d[at.first + at.count - 1] = known.last;
  of.d[at.first] = known.first;
}

/// The relation of a piece whose rows all dominate. Leaves x_i + c_i x_{i+1} + a_i x_first = f_i for its inner
/// rows.
///
/// Beside the sweep down runs x_{first+1} = g - s x_first - u x_{i+1}, the same row seen from above.
template <real T>
__device__ relation<T> reduce_dominant(const chunk<T>& of, const piece_place& at) {
  const band_row<T> row = row_at(of, at.first);
  if (at.count == 1) return relation_of(row);
  if (at.count == 2) return relation_of(row, row_at(of, at.first + 1));
  T up = 0, spike = -1, rhs = 0;  // row `first` as x_first = x_first
  T g = 0, s = 0, u = 0;
  for (int i = at.first + 1; i < at.first + at.count - 1; ++i) {
    const band_row<T> here = row_at(of, i);
    const T inverse = T{1} / (here.d - here.a * up);
    spike = -here.a * spike * inverse;
    rhs = (here.f - here.a * rhs) * inverse;
    up = here.c * inverse;
    const bool begins = i == at.first + 1;
    g = begins ? rhs : g - u * rhs;
    s = begins ? spike : s - u * spike;
    u = begins ? up : -u * up;
    of.a[i] = spike;
    of.c[i] = up;
    of.f[i] = rhs;
  }
  const band_row<T> last = row_at(of, at.first + at.count - 1);
  return {{row.a, T{0}},
          {row.d - row.c * s, -last.a * spike},
          {-row.c * u, last.d - last.a * up},
          {T{0}, last.c},
          {row.f - row.c * g, last.f - last.a * rhs}};
}

template <real T>
__device__ void fill_dominant(const chunk<T>& of, const piece_place& at, const ends<T>& known) {
  T next = known.last;
  for (int i = at.first + at.count - 2; i > at.first; --i) {
    next = of.f[i] - of.a[i] * known.first - of.c[i] * next;
    of.d[i] = next;
  }
  of.d[at.first + at.count - 1] = known.last;
  of.d[at.first] = known.first;
}

template <real T>
__device__ void put_relation(T* slot, const relation<T>& r) {
  for (int k = 0; k < 2; ++k) {
    slot[5 * k] = r.left[k];
    slot[5 * k + 1] = r.first[k];
    slot[5 * k + 2] = r.last[k];
    slot[5 * k + 3] = r.right[k];
    slot[5 * k + 4] = r.rhs[k];
  }
}
template <real T>
__device__ relation<T> get_relation(const T* slot) {
  relation<T> r;
  for (int k = 0; k < 2; ++k) {
    r.left[k] = slot[5 * k];
    r.first[k] = slot[5 * k + 1];
    r.last[k] = slot[5 * k + 2];
    r.right[k] = slot[5 * k + 3];
    r.rhs[k] = slot[5 * k + 4];
  }
  return r;
}
template <real T>
__device__ void put_joint(T* slot, const joint<T>& j) {
  for (int k = 0; k < 5; ++k) slot[k] = j.first[k];
  for (int k = 0; k < 6; ++k) slot[5 + k] = j.last[k];
}
template <real T>
__device__ joint<T> get_joint(const T* slot) {
  joint<T> j;
  for (int k = 0; k < 5; ++k) j.first[k] = slot[k];
  for (int k = 0; k < 6; ++k) j.last[k] = slot[5 + k];
  j.broken = false;
  return j;
}

/// Joins the relations in slots 0 to leaves - 1 of each of `trees` runs of `width` slots, those `step` apart
/// for step = 1, 2, 4, ...: the sum stays in the left slot, the joint in the right one. The whole is in slot 0
/// of each run after the call, for every thread. A pivot of zero shows in the answer, as infinity or NaN.
template <real T>
__device__ void join_slots(T* slots, int stride, int trees, int width, int leaves, bool dominant, int thread,
                           int threads) {
  for (int step = 1; step < leaves; step *= 2) {
    __syncthreads();
    const int pairs = (leaves + step - 1) / (2 * step);
    for (int q = thread; q < trees * pairs; q += threads) {
      T* left = slots + ((q / pairs) * width + (q % pairs) * 2 * step) * stride;
      T* right = left + step * stride;
      joint<T> at;
      const relation<T> before = get_relation(left), after = get_relation(right);
      put_relation(left, dominant ? join_dominant(before, after, at) : join(before, after, at));
      put_joint(right, at);
    }
  }
  __syncthreads();
}

/// The ends of one leaf from those of the whole tree, along its path; slots may lie in any memory.
template <real T>
__device__ ends<T> descend(const T* slots, int stride, int leaves, int leaf, ends<T> at) {
  int step = 1;
  while (step < leaves) step *= 2;
  for (step /= 2; step > 0; step /= 2) {
    const int left = leaf & ~(2 * step - 1);
    if (left + step >= leaves) continue;
    ends<T> before, after;
    get_joint(slots + (left + step) * stride).solve(at, before, after);
    at = (leaf & step) != 0 ? after : before;
  }
  return at;
}

/// The relation of a piece with rows; `dominant` must be the same for the whole block.
template <real T>
__device__ relation<T> reduce_piece(const chunk<T>& of, const piece_place& at, bool dominant) {
  return dominant ? reduce_dominant(of, at) : reduce_pivoted(of, at);
}

/// Joins the relations of each segment's pieces, own that of this thread, into slot 0 of its run.
template <real T>
__device__ void join_segments(const segments& of, const chunk<T>& rows, const piece_place& at,
                              const relation<T>& own, bool dominant, int thread, int threads) {
  if (at.count > 0) put_relation(rows.slots + thread * rows.stride, own);
  join_slots(rows.slots, rows.stride, of.count, of.threads, of.leaves(), dominant, thread, threads);
}

/// The unknowns of a piece from the ends of its segment, into d; complete after the call, for every thread.
/// Slots lie in d for blocks that dominate alone.
template <real T>
__device__ void fill_segments(const segments& of, const chunk<T>& rows, const piece_place& at, bool dominant,
                              const ends<T>& whole) {
  ends<T> known{};
  if (at.count > 0)
    known =
        descend(rows.slots + at.segment * of.threads * rows.stride, rows.stride, of.leaves(), at.piece, whole);
  __syncthreads();  // who fills may write over slots
  if (at.count > 0) {
    if (dominant)
      fill_dominant(rows, at, known);
    else
      fill_pivoted(rows, at, known);
  }
  __syncthreads();
}

}  // namespace vouch::detail
