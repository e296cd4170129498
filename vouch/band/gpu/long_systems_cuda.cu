#include <algorithm>

#include <vouch/band/factored/factored_storage.hpp>
#include <vouch/band/gpu/one_chunk.cuh>
#include <vouch/band/gpu/partition_engines.cuh>
#include <vouch/band/reduced_block.hpp>
#include <vouch/band/tridiagonal.hpp>
#include <vouch/band/workspace_layout.hpp>
#include <vouch/core/launch.cuh>

namespace vouch::detail {
namespace {

// How fast the inverse decays along some rows, roughly.
//
// A row carries (x_k, x_{k-1}) to (x_{k+1}, x_k). What the product of many such matrices stretches most, over
// the root of its determinant, is what an unknown weighs less so far away. Numbers of single precision do:
// this decides what is tried, not what is right.

constexpr int probed_rows = 4;  // of a lane
constexpr int probed_by_warp = 32 * probed_rows;

/// A product of what rows carry, entries of at most 1, and the bits by which unknowns decay over these rows.
class carried_unknowns {
 public:
  template <real T>
  __device__ void append(T a, T d, T c) {
    const T inverse = inverse_of(max(magnitude_of(d), max(magnitude_of(a), magnitude_of(c))));
    const float before = static_cast<float>(a * inverse), own = static_cast<float>(d * inverse),
                next = static_cast<float>(c * inverse);
    const float first[2] = {-own * p_[0] - before * p_[2], -own * p_[1] - before * p_[3]};
    p_[2] = next * p_[0], p_[3] = next * p_[1];
    p_[0] = first[0], p_[1] = first[1];
    bits_ -= 0.5F * __log2f(fabsf(before * next));
  }
  /// Of all lanes: their rows one after another, right in lane 0.
  __device__ void append_lanes() {
#pragma unroll 1
    for (int step = 1; step < 32; step *= 2) {
      scale();
      float q[4];
      for (int k = 0; k < 4; ++k) q[k] = __shfl_down_sync(~0u, p_[k], step);
      bits_ += __shfl_down_sync(~0u, bits_, step);
      const float product[4] = {q[0] * p_[0] + q[1] * p_[2], q[0] * p_[1] + q[1] * p_[3],
                                q[2] * p_[0] + q[3] * p_[2], q[2] * p_[1] + q[3] * p_[3]};
      for (int k = 0; k < 4; ++k) p_[k] = product[k];
    }
    scale();
  }
  /// No number, or infinite, where a row parts the system.
  __device__ float bits() const { return bits_; }

 private:
  __device__ void scale() {
    const float largest = fmaxf(fmaxf(fabsf(p_[0]), fabsf(p_[1])), fmaxf(fabsf(p_[2]), fabsf(p_[3])));
    const float inverse = __frcp_rn(largest);
    for (float& p : p_) p *= inverse;
    bits_ += __log2f(largest);
  }

  float p_[4] = {1, 0, 0, 1}, bits_ = 0;
};

/// Of a whole warp: whether an unknown weighs more than 2^-most at the other end of the stretch that its lanes
/// look at, probed_rows from `first` on each, all inner ones.
template <real T>
__device__ bool hardly_decays(const tridiagonal_view<const T>& A, std::int64_t system, std::int64_t first,
                              float most) {
  T a[probed_rows], d[probed_rows], c[probed_rows];
#pragma unroll
  for (int k = 0; k < probed_rows; ++k) {
    const std::int64_t at = A.shape.at(system, first + k);
    a[k] = A.dl[at], d[k] = A.d[at], c[k] = A.du[at];
  }
  carried_unknowns carried;
#pragma unroll
  for (int k = 0; k < probed_rows; ++k) carried.append(a[k], d[k], c[k]);
  carried.append_lanes();
  return __shfl_sync(~0u, carried.bits(), 0) < most;
}

// As many blocks a multiprocessor as shared memory has room for: large ones where there are halos, which cost
// the less, small ones where blocks wait for each other's threads in trees.
constexpr int pass_threads = 192, pass_rows = 11, pass_blocks = 3;
constexpr int chunk_threads = 160, chunk_rows = 13, chunk_blocks = 3;
template <real T>
using pass_chunk = one_chunk<T, pass_threads, pass_rows>;
template <real T>
using full_chunk = one_chunk<T, chunk_threads, chunk_rows>;

// The system of an item, and its chunk there. A division costs as much as several rows.
struct system_item {
  std::int64_t system = 0, chunk;

  __device__ system_item(std::int64_t item, std::int64_t chunks_a_system, std::int64_t systems) : chunk(item) {
    if (systems == 1) return;
    system = item / chunks_a_system;
    chunk = item - system * chunks_a_system;
  }
};

// ---- one pass, with halos

constexpr int halo_rows = 64;  // on either side
template <real T>
constexpr int kept_rows = (pass_chunk<T>::rows - 2 * halo_rows) / 16 * 16;  // whole lines

// Whether a row that is neither first nor last dominates, at least so that little |d| >= |dl| + |du|.
template <real T>
__device__ bool dominates(const band_task<T>& task, std::int64_t system, std::int64_t i, T little) {
  const std::int64_t at = task.A.shape.at(system, i);
  return little * magnitude_of(task.A.d[at]) >= magnitude_of(task.A.dl[at]) + magnitude_of(task.A.du[at]);
}

// Shorter systems are as soon tried as probed.
constexpr std::int64_t probed_from = std::int64_t{1} << 19;

// Whether the first rows of a block's run, and for its last warp rows of another place, so that blocks see
// some from everywhere, say that one pass cannot do: one does not dominate, which they report, or most of
// the first do so little that nothing decays within a halo. One block decides whether register-resident
// runs need not be tried either: where each of its warps looks, the inverse decays by half of what they
// need, or less. For all threads.
template <real T>
__device__ bool decays_too_slowly(const band_task<T>& task, std::int64_t system, std::int64_t first,
                                  pass_state* state) {
  constexpr T little = sizeof(T) == sizeof(double) ? T(0.95) : T(0.98);
  constexpr unsigned own = pass_threads - 32;
  const unsigned thread = threadIdx.x;
  const std::int64_t of_block = system;
  const bool elsewhere = thread >= own;
  if (elsewhere) system = std::int64_t{blockIdx.x} * task.b.shape.systems / gridDim.x;
  const std::int64_t n = task.b.shape.rows(system);
  const std::int64_t i = elsewhere ? n / gridDim.x * blockIdx.x + thread % 32 : first + thread;
  const bool inner = i > 0 && i + 1 < n;
  const bool broken = inner && !dominates(task, system, i, T{1});
  const int weak = __syncthreads_count(inner && !elsewhere && !dominates(task, system, i, little));
  if (__syncthreads_or(broken) == 0) return weak > static_cast<int>(own) / 2;
  if (thread == 0) state->interchanges = 1;
  if (blockIdx.x == 0 && task.b.shape.rows(of_block) >= probed_from) {
    const float needed = -log2f(static_cast<float>(dropped<T>)) * probed_by_warp / resident_run_rows;
    const bool hardly = hardly_decays(task.A, of_block, first + 1 + thread * probed_rows, needed / 2);
    if (__syncthreads_and(hardly) != 0 && thread == 0) state->coupled = 1;
  }
  return true;
}

// Blocks solve runs of rows with a halo on both sides, as if nothing lay beyond, and keep what is right: where
// every row dominates and what a far unknown contributes has fallen below `bound`. Else they say so, and all
// leave. Bound by memory.
template <real T>
__global__ void __launch_bounds__(pass_threads, pass_blocks)
    solve_one_pass(band_task<T> task, std::int64_t chunks, T bound, pass_state* state) {
  __shared__ std::uint64_t barrier;
  __shared__ std::int64_t published[2];
  const int thread = static_cast<int>(threadIdx.x);
  volatile int& failed = state->halos_failed;
  row_arrival arrival(&barrier, thread);
  for (block_items items(&state->items, published, thread); *items < chunks * task.b.shape.systems;
       items.next()) {
    const auto [system, c] = system_item(*items, chunks, task.b.shape.systems);
    const std::int64_t n = task.b.shape.rows(system);
    const std::int64_t keep_from = c * kept_rows<T>,
                       keep_to = keep_from + kept_rows<T> < n ? keep_from + kept_rows<T> : n;
    if (keep_from >= n) continue;
    if (*items == blockIdx.x && decays_too_slowly(task, system, keep_from, state)) {
      if (thread == 0) failed = 1;
      return;
    }
    slices of;
    of.system = system;
    of.begin = c > 0 ? keep_from - halo_rows : 0;
    of.end = keep_to + halo_rows < n ? keep_to + halo_rows : n;
    pass_chunk<T> chunk(task, of, arrival, thread);
    const int given_up = thread == 0 ? failed : 0;
    chunk.await_rows(task);
    if (__syncthreads_or(given_up) != 0) return;
    row_run<T> run;
    if (!chunk.template separate<true, true>(run)) {
      if (thread == 0) failed = 1;
      return;
    }
    // The separators next to rows that are kept.
    const int first = static_cast<int>(keep_from - of.begin) / pass_rows - 1,
              last = (static_cast<int>(keep_to - of.begin) - 1) / pass_rows;
    const T coupling = chunk.coupling(of.end < n);
    if (thread >= first && thread <= last && !(coupling <= bound)) failed = 1;
    const T of_block = __shfl_sync(~0u, run.rhs / run.diagonal, pass_threads / 32 - 1);
    if (!chunk.fill_separated(T{0}, of_block) && task.broken != nullptr) task.broken[system] = 1;
    chunk.store(task.x, keep_from, keep_to);
  }
}

// ---- two passes

constexpr int group_size = 64;  // chunks

template <real T>
using joining = unpivoted_joining<T, true>;

// Where the reduced blocks of chunks and of groups of chunks lie.
template <real T>
struct tree_memory {
  T* chunks;                // a slot of every chunk; separators once its group is joined
  T* groups;                // a slot of every group
  T* group_boundaries;      // left, first, last, right of every group
  bool* separated;          // of every chunk, by its separators
  const pass_state* state;  // nullptr, or what one pass has found out
  bool resident;            // solve_register_resident() has been at work where interchanges are needed
  std::int64_t rows_a_chunk, chunks_a_system, groups_a_system;

  __device__ bool idle() const {
    if (state == nullptr) return false;
    const pass_state found = *state;  // at once, not one after another
    return found.halos_failed == 0 || (resident && found.interchanges != 0 && found.coupled == 0);
  }
};

__device__ std::int64_t chunk_count(std::int64_t rows, std::int64_t rows_a_chunk) {
  return (rows + rows_a_chunk - 1) / rows_a_chunk;
}

// The chunk of a block, and its group.
struct chunk_place {
  std::int64_t system, chunk, count, group;
  int leaf, leaves;

  template <real T>
  __device__ chunk_place(std::int64_t item, const tree_memory<T>& memory, const batch_shape& shape) {
    const system_item at(item, memory.chunks_a_system, shape.systems);
    system = at.system;
    chunk = at.chunk;
    count = chunk_count(shape.rows(system), memory.rows_a_chunk);
    group = chunk / group_size;
    leaf = static_cast<int>(chunk % group_size);
    const std::int64_t left = count - group * group_size;
    leaves = static_cast<int>(left < group_size ? left : group_size);
  }
  __device__ slices rows(std::int64_t n, std::int64_t rows_a_chunk) const {
    slices of;
    of.system = system;
    of.begin = chunk * rows_a_chunk;
    of.end = of.begin + rows_a_chunk < n ? of.begin + rows_a_chunk : n;
    return of;
  }
};

// First pass: a block condenses its rows to their reduced block. Bound by memory.
template <real T, class Chunk>
__global__ void __launch_bounds__(chunk_threads, chunk_blocks)
    reduce_chunks(band_task<T> task, tree_memory<T> memory) {
  __shared__ std::uint64_t barrier;
  if (memory.idle()) return;
  const int thread = static_cast<int>(threadIdx.x);
  row_arrival arrival(&barrier, thread);
  for (std::int64_t item = blockIdx.x; item < memory.chunks_a_system * task.b.shape.systems;
       item += gridDim.x) {
    const chunk_place place(item, memory, task.b.shape);
    if (place.chunk >= place.count) continue;
    const slices of = place.rows(task.b.shape.rows(place.system), memory.rows_a_chunk);
    Chunk chunk(task, of, arrival, thread);
    chunk.await_rows(task);
    const reduced_block<T> whole = chunk.reduce();
    if (thread == 0) {
      memory.separated[item] = chunk.separated();
      T* slot = memory.chunks + item * slot_size;
      joining<T>::put(slot, whole);
      slot[slot_size - 1] = 0;  // a separator's alone
    }
    __syncthreads();
  }
}

// Between the passes: a block joins the chunks of a group. Bound by latency.
template <real T>
__global__ void __launch_bounds__(group_size) join_chunks(band_task<T> task, tree_memory<T> memory) {
  if (memory.idle()) return;
  __shared__ T slots[group_size * slot_size];
  const int thread = static_cast<int>(threadIdx.x);
  const system_item at(blockIdx.x, memory.groups_a_system, task.b.shape.systems);
  const std::int64_t first = at.chunk * group_size;
  const std::int64_t left = chunk_count(task.b.shape.rows(at.system), memory.rows_a_chunk) - first;
  if (left <= 0) return;
  const int leaves = static_cast<int>(left < group_size ? left : group_size);
  T* chunks = memory.chunks + (at.system * memory.chunks_a_system + first) * slot_size;
  for (int e = thread; e < leaves * slot_size; e += group_size) slots[e] = chunks[e];
  join_slots<joining<T>>(lined_slots<T>{slots}, 1, leaves, thread, group_size);
  for (int e = thread + slot_size; e < leaves * slot_size; e += group_size) chunks[e] = slots[e];
  if (thread < slot_size - 1) memory.groups[std::int64_t{blockIdx.x} * slot_size + thread] = slots[thread];
}

constexpr int joining_threads = 192;

// Between the passes: a block a system folds the groups, each thread a run of them, joins the runs, closes the
// system and goes back down to the boundary unknowns of every group.
template <real T>
__global__ void __launch_bounds__(joining_threads) join_groups(band_task<T> task, tree_memory<T> memory) {
  if (memory.idle()) return;
  __shared__ T shared[joining_threads * slot_size];
  const lined_slots<T> slots{shared};
  const int thread = static_cast<int>(threadIdx.x);
  const std::int64_t system = blockIdx.x, n = task.b.shape.rows(system);
  const std::int64_t count = chunk_count(n, group_size * memory.rows_a_chunk);
  if (count == 0) return;
  T* groups = memory.groups + system * memory.groups_a_system * slot_size;
  T* known = memory.group_boundaries + system * memory.groups_a_system * 4;
  const std::int64_t share = (count + joining_threads - 1) / joining_threads;
  const std::int64_t first = thread * share, last = first + share < count ? first + share : count;
  const int leaves = static_cast<int>((count + share - 1) / share);
  if (first < last) {
    reduced_block<T> whole = joining<T>::get(groups + first * slot_size);
    for (std::int64_t k = first + 1; k < last; ++k)
      whole = joining<T>::joined(whole, joining<T>::get(groups + k * slot_size), groups + k * slot_size);
    joining<T>::put(slots(thread), whole);
  }
  join_slots<joining<T>>(slots, 1, leaves, thread, joining_threads);
  if (first >= last) return;
  boundary_unknowns<T> at;
  close(joining<T>::get(slots(0)), task.A.periodic, at);
  at = descend<joining<T>>(slots, leaves, thread, at);
  const auto put = [&](std::int64_t k, const boundary_unknowns<T>& e) {
    known[4 * k] = e.left;
    known[4 * k + 1] = e.first;
    known[4 * k + 2] = e.last;
    known[4 * k + 3] = e.right;
  };
  for (std::int64_t k = last - 1; k > first; --k) {
    boundary_unknowns<T> before, after;
    joining<T>::solve(groups + k * slot_size, at, before, after);
    put(k, after);
    at = before;
  }
  put(first, at);
}

// The separators on the way from a group's whole to a leaf, by the power of two that divides their place.
template <class T>
struct separators_above {
  static constexpr int levels = 6;
  static_assert(1 << levels == group_size);
  T* first;

  // By the threads of a warp.
  __device__ void load(const T* slots, int leaf, int leaves, int lane) const {
    for (int e = lane; e < levels * slot_size; e += 32) {
      const int step = 1 << (e / slot_size), separator = (leaf & ~(2 * step - 1)) + step;
      if (separator < leaves) first[e] = slots[separator * slot_size + e % slot_size];
    }
    __syncwarp();
  }
  __device__ const T* operator()(int separator) const { return first + (__ffs(separator) - 1) * slot_size; }
};

// Second pass: a block reduces its rows again, finds out about their ends while they come, and fills them in.
// It begins with the rows that came last. Bound by memory.
template <real T, class Chunk>
__global__ void __launch_bounds__(chunk_threads, chunk_blocks)
    fill_chunks(band_task<T> task, tree_memory<T> memory) {
  __shared__ T above[separators_above<T>::levels * slot_size];
  __shared__ boundary_unknowns<T> at;
  __shared__ std::uint64_t barrier;
  if (memory.idle()) return;
  const int thread = static_cast<int>(threadIdx.x);
  row_arrival arrival(&barrier, thread);
  const std::int64_t items = memory.chunks_a_system * task.b.shape.systems;
  for (std::int64_t item = items - 1 - blockIdx.x; item >= 0; item -= gridDim.x) {
    const chunk_place place(item, memory, task.b.shape);
    if (place.chunk >= place.count) continue;
    const slices of = place.rows(task.b.shape.rows(place.system), memory.rows_a_chunk);
    Chunk chunk(task, of, arrival, thread);
    const bool separated = memory.separated[item];
    if (thread < 32) {
      const separators_above<T> separators{above};
      const T* known = memory.group_boundaries + (place.system * memory.groups_a_system + place.group) * 4;
      const boundary_unknowns<T> whole{known[0], known[1], known[2], known[3]};
      separators.load(
          memory.chunks + (place.system * memory.chunks_a_system + place.group * group_size) * slot_size,
          place.leaf, place.leaves, thread);
      if (thread == 0) at = descend<joining<T>>(separators, place.leaves, place.leaf, whole);
    }
    chunk.await_rows(task);
    const boundary_unknowns<T> whole = at;
    chunk.reduce_again(separated);
    if (!chunk.fill(whole) && task.broken != nullptr) task.broken[place.system] = 1;
    chunk.store(task.x, of.begin, of.end);
    __syncthreads();
  }
}

// Segments that need not be full: rows of the identity would break a ring.
template <real T>
class ring_chunk : public chunk_solver<T, chunk_threads, false, layout::single> {
  using base = chunk_solver<T, chunk_threads, false, layout::single>;

 public:
  static constexpr int rows = chunk_threads * rows_a_thread;
  static constexpr std::size_t bytes = chunk_bytes<T, false>(chunk_threads);
  __device__ ring_chunk(const band_task<T>& task, const slices& of, row_arrival&, int thread)
      : base(task, of, thread) {}
  __device__ void await_rows(const band_task<T>&) const { __syncthreads(); }
  __device__ bool separated() const { return false; }
  __device__ void reduce_again(bool) { base::reduce(); }
};

// From so many rows on register-resident runs and tiles are measured to be faster than chunks and their trees.
constexpr std::int64_t register_resident_from = std::int64_t{1} << 13;

template <real T, class Chunk>
void solve_two_passes(const device& dev, const band_task<T>& task, const tree_memory<T>& memory) {
  const std::int64_t chunks = task.b.shape.systems * memory.chunks_a_system;
  const launch_shape shape{std::min<std::int64_t>(chunks, std::int64_t{dev.processors()} * chunk_blocks),
                           chunk_threads, Chunk::bytes};
  launch(dev, "reduce_chunks", shape, reduce_chunks<T, Chunk>, task, memory);
  launch(dev, "join_chunks", {task.b.shape.systems * memory.groups_a_system, group_size}, join_chunks<T>, task,
         memory);
  launch(dev, "join_groups", {task.b.shape.systems, joining_threads}, join_groups<T>, task, memory);
  launch(dev, "fill_chunks", shape, fill_chunks<T, Chunk>, task, memory);
}

}  // namespace

template <real T>
const char* solve_long_systems(const device& dev, const band_task<T>& task, tridiagonal_workspace& workspace) {
  const std::int64_t systems = task.b.shape.systems, n = task.b.shape.n;
  tree_memory<T> memory{};
  memory.rows_a_chunk = task.A.periodic ? ring_chunk<T>::rows : full_chunk<T>::rows;
  memory.chunks_a_system = ceil_div<std::int64_t>(n, memory.rows_a_chunk);
  memory.groups_a_system = ceil_div<std::int64_t>(memory.chunks_a_system, group_size);
  pass_state* state = nullptr;
  T *boundaries = nullptr, *general = nullptr;
  std::size_t state_bytes = 0;
  lay_out_workspace(dev, workspace, [&](workspace_layout& parts) {
    parts.add(&state, 1);
    parts.add(&boundaries, register_resident_numbers<T>(task.b.shape));
    state_bytes = static_cast<std::size_t>(parts.used());
    parts.add(&memory.chunks, systems * memory.chunks_a_system * slot_size);
    parts.add(&memory.groups, systems * memory.groups_a_system * slot_size);
    parts.add(&memory.group_boundaries, systems * memory.groups_a_system * 4);
    parts.add(&memory.separated, systems * memory.chunks_a_system);
    if (sizeof(T) == sizeof(double) && systems == 1) parts.add(&general, general_system_numbers(n));
  });
  if (task.A.periodic) {
    solve_two_passes<T, ring_chunk<T>>(dev, task, memory);
    return "two passes over chunks";
  }
  if (task.b.data == task.x.data) {
    solve_two_passes<T, full_chunk<T>>(dev, task, memory);
    return "two passes over chunks";
  }
  memory.state = state;
  zero_bytes(dev, state, state_bytes);
  const std::int64_t chunks = ceil_div<std::int64_t>(n, kept_rows<T>);
  const std::int64_t resident = std::int64_t{dev.processors()} * pass_blocks;
  launch(dev, "solve_one_pass", {std::min(systems * chunks, resident), pass_threads, pass_chunk<T>::bytes},
         solve_one_pass<T>, task, chunks, static_cast<T>(0.999 * dropped<T>), state);
  const bool large = systems * n >= register_resident_from;
  memory.resident = large && solve_register_resident(dev, task, state, boundaries);
  if constexpr (sizeof(T) == sizeof(double))
    if (large && solve_general_system(dev, task, memory.resident, state, general))
      return "one pass, or two over tiles";
  solve_two_passes<T, full_chunk<T>>(dev, task, memory);
  return "one pass over chunks, or two";
}

template const char* solve_long_systems(const device&, const band_task<float>&, tridiagonal_workspace&);
template const char* solve_long_systems(const device&, const band_task<double>&, tridiagonal_workspace&);

}  // namespace vouch::detail
