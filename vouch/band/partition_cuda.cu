#include <algorithm>

#include <vouch/band/carver.hpp>
#include <vouch/band/chunk.cuh>
#include <vouch/band/device_offsets.cuh>
#include <vouch/band/factored_storage.hpp>
#include <vouch/band/partition_cuda.hpp>
#include <vouch/band/tiles_cuda.hpp>
#include <vouch/core/launch.cuh>

namespace vouch::detail {
namespace {

// As many as shared memory has room for; more registers would not be of use.
constexpr int threads_a_multiprocessor = 576;

// ---- whole systems in a block

// A block solves `per_block` neighbouring systems: everything is read once and written once. Bound by memory.
template <real T, int Threads, bool Full, layout Layout>
__global__ void __launch_bounds__(Threads, threads_a_multiprocessor / Threads)
    solve_resident(band_task<T> task, segments of) {
  const int thread = static_cast<int>(threadIdx.x);
  of.system = std::int64_t{blockIdx.x} * of.count;
  const std::int64_t left = task.b.shape.systems - of.system;
  of.count = static_cast<int>(left < of.count ? left : of.count);
  of.end = task.b.shape.rows(of.system);
  if (of.end == 0) return;  // the whole block: unequal lengths have a block each
  chunk_solver<T, Threads, Full, Layout> solver(task, of, thread);
  const relation<T> all = solver.reduce();
  ends<T> whole{};
  if (solver.works()) close(all, task.A.periodic, whole);
  if (!solver.fill(whole) && task.broken != nullptr) task.broken[solver.system()] = 1;
  solver.store(task.x, 0, of.end);
}

// ---- one pass over long systems, with halos

constexpr int chunk_threads = 192;
// Of the halo on either side: rows that fill whole lines.
template <real T>
constexpr int halo_threads = sizeof(T) == sizeof(double) ? 6 : 4;
constexpr int chunk_rows = chunk_threads * rows_a_thread;
template <real T>
constexpr int kept_rows = chunk_rows - 2 * halo_threads<T>* rows_a_thread;

// A bound on what the unknown before (after, if upward) a piece contributes at its other end, from the relation
// of a piece that dominates. In the homogeneous system the far side is no larger than the near one: with a
// x_{f-1} + d x_f + e x_l = 0 and |x_l| <= |x_f|, |x_f| is at most |a| / (|d| - |e|) |x_{f-1}|, and so on
// through the piece.
template <real T>
__device__ T contribution(const relation<T>& of, bool upward) {
  const auto ratio = [](T toward, T diagonal, T behind) {
    const T size = magnitude_of(toward);
    return size > 0 ? size / (magnitude_of(diagonal) - magnitude_of(behind)) : T{0};
  };
  if (upward) return ratio(of.right[1], of.last[1], of.first[1]) * ratio(of.last[0], of.first[0], of.left[0]);
  return ratio(of.left[0], of.first[0], of.last[0]) * ratio(of.first[1], of.last[1], of.right[1]);
}

// Blocks solve runs of rows with a halo on both sides, as if nothing lay beyond, and keep what is right: where
// every row dominates and a far unknown's part has fallen below `bound`. Else they raise *needed, for the
// two-pass kernels, and all leave. Bound by memory.
template <real T>
__global__ void __launch_bounds__(chunk_threads, threads_a_multiprocessor / chunk_threads)
    solve_one_pass(band_task<T> task, std::int64_t chunks, double bound, int* needed) {
  __shared__ T parts[2][halo_threads<T>];
  const int thread = static_cast<int>(threadIdx.x);
  for (std::int64_t item = blockIdx.x; item < chunks * task.b.shape.systems; item += gridDim.x) {
    const std::int64_t system = item / chunks, c = item % chunks, n = task.b.shape.rows(system);
    const std::int64_t keep_from = c * kept_rows<T>,
                       keep_to = keep_from + kept_rows<T> < n ? keep_from + kept_rows<T> : n;
    const int given_up = thread == 0 ? *static_cast<volatile int*>(needed) : 0;
    if (__syncthreads_or(given_up) != 0) return;
    if (keep_from >= n) continue;
    constexpr int halo = halo_threads<T> * rows_a_thread;
    segments of;
    of.system = system;
    of.begin = c > 0 ? keep_from - halo : 0;
    of.end = keep_to + halo < n ? keep_to + halo : n;
    of.pieces = chunk_threads;
    chunk_solver<T, chunk_threads, true, layout::single> solver(task, of, thread);
    if (!solver.dominant()) {
      if (thread == 0) *static_cast<volatile int*>(needed) = 1;
      return;
    }
    const bool open_below = c > 0, open_above = of.end < n;
    const int above = thread - (static_cast<int>(keep_to - of.begin) + rows_a_thread - 1) / rows_a_thread;
    const relation<T> all = solver.reduce([&](const relation<T>& own) {
      if (thread < halo_threads<T>) parts[0][thread] = open_below ? contribution(own, false) : T{0};
      if (above >= 0 && above < halo_threads<T>) parts[1][above] = open_above ? contribution(own, true) : T{0};
    });
    ends<T> whole{};
    close(all, false, whole);
    if (!solver.fill(whole) && task.broken != nullptr) task.broken[system] = 1;
    solver.store(task.x, keep_from, keep_to);
    if (thread < 2 && (thread == 0 ? open_below : open_above)) {
      double product = 1;
      for (int k = 0; k < halo_threads<T>; ++k) product *= static_cast<double>(parts[thread][k]);
      if (!(product <= bound)) *static_cast<volatile int*>(needed) = 1;
    }
    __syncthreads();  // the next rows take the place of these
  }
}

// ---- two passes over long systems

constexpr int group_size = 64;  // chunks

// Where the relations of chunks and of groups of chunks lie.
template <real T>
struct tree_memory {
  T* chunks;          // a slot of every chunk; joints once its group is joined
  T* groups;          // a slot of every group
  T* group_ends;      // left, first, last, right of every group
  unsigned* arrived;  // blocks of every group that are done
  const int* needed;  // nullptr, or where the one pass says whether it failed
  std::int64_t chunks_a_system, groups_a_system;

  __device__ bool idle() const { return needed != nullptr && *needed == 0; }
};

__device__ std::int64_t chunk_count(std::int64_t n) { return (n + chunk_rows - 1) / chunk_rows; }

// The chunk of a block, and its group.
struct chunk_place {
  std::int64_t system, chunk, count, group;
  int leaf, leaves;

  __device__ chunk_place(std::int64_t block, std::int64_t chunks_a_system, std::int64_t n) {
    system = block / chunks_a_system;
    chunk = block % chunks_a_system;
    count = chunk_count(n);
    group = chunk / group_size;
    leaf = static_cast<int>(chunk % group_size);
    const std::int64_t left = count - group * group_size;
    leaves = static_cast<int>(left < group_size ? left : group_size);
  }
  __device__ segments rows(std::int64_t n) const {
    segments of;
    of.system = system;
    of.begin = chunk * chunk_rows;
    of.end = of.begin + chunk_rows < n ? of.begin + chunk_rows : n;
    of.pieces = chunk_threads;
    return of;
  }
};

// First pass: a block reduces its rows to their relation; the last block of a group joins the group's. Which
// block is last changes from run to run, what it computes does not.
template <real T, bool Full>
__global__ void __launch_bounds__(chunk_threads, threads_a_multiprocessor / chunk_threads)
    reduce_chunks(band_task<T> task, tree_memory<T> memory) {
  using joining = pivoted_joining<T, true>;
  if (memory.idle()) return;
  const int thread = static_cast<int>(threadIdx.x);
  const std::int64_t n = task.b.shape.rows(blockIdx.x / memory.chunks_a_system);
  const chunk_place place(blockIdx.x, memory.chunks_a_system, n);
  if (place.chunk >= place.count) return;
  const segments of = place.rows(n);
  chunk_solver<T, chunk_threads, Full, layout::single> solver(task, of, thread);
  const relation<T> whole = solver.reduce();
  T* chunks = memory.chunks + place.system * memory.chunks_a_system * slot_size;
  if (thread == 0) {
    joining::put(chunks + place.chunk * slot_size, whole);
    chunks[place.chunk * slot_size + slot_size - 1] = 0;  // a joint's alone
  }
  __threadfence();
  __syncthreads();
  int last = 0;
  const std::int64_t group = place.system * memory.groups_a_system + place.group;
  if (thread == 0) last = atomicAdd(memory.arrived + group, 1u) + 1 == static_cast<unsigned>(place.leaves);
  if (__syncthreads_or(last) == 0) return;
  __threadfence();
  T* group_slots = chunks + place.group * group_size * slot_size;
  T* const room = solver.room();
  for (int e = thread; e < place.leaves * slot_size; e += chunk_threads) room[e] = __ldcg(group_slots + e);
  join_slots<joining>(lined_slots<T>{room}, 1, place.leaves, thread, chunk_threads);
  for (int e = thread + slot_size; e < place.leaves * slot_size; e += chunk_threads) group_slots[e] = room[e];
  if (thread < slot_size - 1) memory.groups[group * slot_size + thread] = room[thread];
}

// Between the passes: a block a system folds the groups, each thread a run of them, joins the runs, closes the
// system and goes back down to the ends of every group.
template <real T>
__global__ void __launch_bounds__(chunk_threads) join_groups(band_task<T> task, tree_memory<T> memory) {
  using joining = pivoted_joining<T, true>;
  if (memory.idle()) return;
  __shared__ T shared[chunk_threads * slot_size];
  const lined_slots<T> slots{shared};
  const int thread = static_cast<int>(threadIdx.x);
  const std::int64_t system = blockIdx.x, n = task.b.shape.rows(system);
  const std::int64_t count = (chunk_count(n) + group_size - 1) / group_size;
  if (count == 0) return;
  T* groups = memory.groups + system * memory.groups_a_system * slot_size;
  T* known = memory.group_ends + system * memory.groups_a_system * 4;
  const std::int64_t share = (count + chunk_threads - 1) / chunk_threads;
  const std::int64_t first = thread * share, last = first + share < count ? first + share : count;
  const int leaves = static_cast<int>((count + share - 1) / share);
  if (first < last) {
    relation<T> whole = joining::get(groups + first * slot_size);
    for (std::int64_t k = first + 1; k < last; ++k)
      whole = joining::joined(whole, joining::get(groups + k * slot_size), groups + k * slot_size);
    joining::put(slots(thread), whole);
  }
  join_slots<joining>(slots, 1, leaves, thread, chunk_threads);
  if (first >= last) return;
  ends<T> at;
  close(joining::get(slots(0)), task.A.periodic, at);
  at = descend<joining>(slots, leaves, thread, at);
  const auto put = [&](std::int64_t k, const ends<T>& e) {
    known[4 * k] = e.left;
    known[4 * k + 1] = e.first;
    known[4 * k + 2] = e.last;
    known[4 * k + 3] = e.right;
  };
  for (std::int64_t k = last - 1; k > first; --k) {
    ends<T> before, after;
    joining::solve(groups + k * slot_size, at, before, after);
    put(k, after);
    at = before;
  }
  put(first, at);
}

// Second pass: a block reduces its rows again, now that it knows their ends, and fills them in.
template <real T, bool Full>
__global__ void __launch_bounds__(chunk_threads, threads_a_multiprocessor / chunk_threads)
    fill_chunks(band_task<T> task, tree_memory<T> memory) {
  if (memory.idle()) return;
  const int thread = static_cast<int>(threadIdx.x);
  const std::int64_t n = task.b.shape.rows(blockIdx.x / memory.chunks_a_system);
  const chunk_place place(blockIdx.x, memory.chunks_a_system, n);
  if (place.chunk >= place.count) return;
  const segments of = place.rows(n);
  const T* known = memory.group_ends + (place.system * memory.groups_a_system + place.group) * 4;
  const lined_slots<const T> joints{
      memory.chunks + (place.system * memory.chunks_a_system + place.group * group_size) * slot_size};
  const ends<T> whole = descend<pivoted_joining<T, true>>(joints, place.leaves, place.leaf,
                                                          ends<T>{known[0], known[1], known[2], known[3]});
  chunk_solver<T, chunk_threads, Full, layout::single> solver(task, of, thread);
  solver.reduce();
  if (!solver.fill(whole) && task.broken != nullptr) task.broken[place.system] = 1;
  solver.store(task.x, of.begin, of.end);
}

// ---- launchers

template <real T, int Threads, bool Full, layout Layout>
void launch_resident(const device& dev, const band_task<T>& task, const segments& of) {
  launch(dev, "solve_resident",
         {ceil_div<std::int64_t>(task.b.shape.systems, of.count), Threads, chunk_bytes<T, Full>(Threads)},
         solve_resident<T, Threads, Full, Layout>, task, of);
}

constexpr int least_threads = 96, most_threads = 384;

int threads_for(int pieces) {
  int threads = least_threads;
  while (threads < pieces) threads *= 2;
  return threads;
}

template <real T, layout Layout>
void launch_resident(const device& dev, const band_task<T>& task, const segments& of, int threads) {
  if (threads == least_threads) return launch_resident<T, least_threads, true, Layout>(dev, task, of);
  if (threads == most_threads) return launch_resident<T, most_threads, true, Layout>(dev, task, of);
  launch_resident<T, 2 * least_threads, true, Layout>(dev, task, of);
}

// Systems side by side: enough of them a block to fill the lines that memory moves.
template <real T>
void solve_across(const device& dev, const band_task<T>& task, int pieces) {
  segments of;
  of.across = 16;
  while (of.across > 4 && pieces * of.across > 2 * least_threads) of.across /= 2;
  while (pieces * of.across > most_threads) of.across /= 2;
  const int threads = threads_for(pieces * of.across);
  of.count = of.across;
  of.set_pieces(threads / of.across);
  launch_resident<T, layout::across>(dev, task, of, threads);
}

// Blocks of few threads, so that many share a multiprocessor and hide each other's latencies.
template <real T>
void solve_whole_systems(const device& dev, const band_task<T>& task) {
  const batch_shape& shape = task.b.shape;
  int pieces = static_cast<int>(ceil_div<std::int64_t>(shape.n, rows_a_thread));
  segments of;
  if (task.A.periodic) {
    of.set_pieces(most_threads);
    return launch_resident<T, most_threads, false, layout::single>(dev, task, of);
  }
  if (shape.offsets == nullptr && shape.system_stride == 1 && shape.systems > 1)
    return solve_across(dev, task, pieces);
  if (shape.offsets != nullptr || 2 * pieces > least_threads) {
    const int threads = threads_for(pieces);
    of.set_pieces(threads);
    return launch_resident<T, layout::single>(dev, task, of, threads);
  }
  if (pieces > 2) pieces = ceil_div(pieces, line_size<T>) * line_size<T>;
  of.set_pieces(pieces);
  of.count = least_threads / pieces;
  while ((1 << of.sharing_shift) < shape.n / line_size<T> && of.sharing_shift < 5) ++of.sharing_shift;
  launch_resident<T, layout::in_line>(dev, task, of, least_threads);
}

template <real T, bool Full>
void solve_two_passes(const device& dev, const band_task<T>& task, const tree_memory<T>& memory) {
  const launch_shape shape{task.b.shape.systems * memory.chunks_a_system, chunk_threads,
                           chunk_bytes<T, Full>(chunk_threads)};
  launch(dev, "reduce_chunks", shape, reduce_chunks<T, Full>, task, memory);
  launch(dev, "join_groups", {task.b.shape.systems, chunk_threads}, join_groups<T>, task, memory);
  launch(dev, "fill_chunks", shape, fill_chunks<T, Full>, task, memory);
}

template <real T>
const char* solve_in_chunks(const device& dev, const band_task<T>& task, tridiagonal_workspace& workspace) {
  const std::int64_t systems = task.b.shape.systems, n = task.b.shape.n;
  tree_memory<T> memory{};
  memory.chunks_a_system = ceil_div<std::int64_t>(n, chunk_rows);
  memory.groups_a_system = ceil_div<std::int64_t>(memory.chunks_a_system, group_size);
  int* needed = nullptr;
  std::int64_t cleared = 0;
  void* const base = carve(dev, workspace, [&](carver& parts) {
    parts.add(&memory.arrived, systems * memory.groups_a_system);
    parts.add(&needed, 1);
    cleared = parts.used();
    parts.add(&memory.chunks, systems * memory.chunks_a_system * slot_size);
    parts.add(&memory.groups, systems * memory.groups_a_system * slot_size);
    parts.add(&memory.group_ends, systems * memory.groups_a_system * 4);
  });
  zero_bytes(dev, base, static_cast<std::size_t>(cleared));
  if (task.A.periodic || task.b.data == task.x.data) {
    if (task.A.periodic)
      solve_two_passes<T, false>(dev, task, memory);
    else
      solve_two_passes<T, true>(dev, task, memory);
    return "two passes over chunks";
  }
  memory.needed = needed;
  const std::int64_t chunks = ceil_div<std::int64_t>(n, kept_rows<T>);
  const std::int64_t resident = std::int64_t{dev.processors()} * (threads_a_multiprocessor / chunk_threads);
  launch(dev, "solve_one_pass",
         {std::min(systems * chunks, resident), chunk_threads, chunk_bytes<T, true>(chunk_threads)},
         solve_one_pass<T>, task, chunks, 0.999 * dropped<T>, needed);
  solve_two_passes<T, true>(dev, task, memory);
  return "one pass over chunks with halos, or two";
}

}  // namespace

template <real T>
const char* partition_cuda(const device& dev, const tridiagonal_view<const T>& A, const batch_view<const T>& b,
                           const batch_view<T>& x, int* broken, tridiagonal_workspace& workspace) {
  if (b.shape.systems == 0 || b.shape.n == 0) return "nothing to do";
  if (solve_in_tiles(dev, A, b, x, broken)) return "tiles of whole systems";
  const device_offsets offsets(dev, b.shape.systems);
  const band_task<T> task{offsets.of(A), offsets.of(b), offsets.of(x), broken};
  const char* engine = "whole systems in blocks";
  if (b.shape.n <= most_threads * rows_a_thread)
    solve_whole_systems(dev, task);
  else
    engine = solve_in_chunks(dev, task, workspace);
  if (offsets.any()) dev.synchronize();  // the offsets' copies go with this call
  return engine;
}

template const char* partition_cuda(const device&, const tridiagonal_view<const float>&,
                                    const batch_view<const float>&, const batch_view<float>&, int*,
                                    tridiagonal_workspace&);
template const char* partition_cuda(const device&, const tridiagonal_view<const double>&,
                                    const batch_view<const double>&, const batch_view<double>&, int*,
                                    tridiagonal_workspace&);

}  // namespace vouch::detail
