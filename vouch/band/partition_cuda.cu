#include <algorithm>

#include <vouch/band/chunk.cuh>
#include <vouch/band/device_offsets.cuh>
#include <vouch/band/factored_storage.hpp>
#include <vouch/band/partition_cuda.hpp>
#include <vouch/core/launch.cuh>

namespace vouch::detail {
namespace {

// ---- whole systems in a block
// ----------------------------------------------------------------------------------

// A block solves `per_block` neighbouring systems: everything is read once and written once. Bound by memory
// where rows dominate, by the instructions of the elimination where they do not.
template <real T, int Threads>
__global__ void __launch_bounds__(Threads)
    solve_resident(band_task<T> task, int per_block, int segment_threads, bool across) {
  const int thread = static_cast<int>(threadIdx.x);
  segments of;
  of.system = std::int64_t{blockIdx.x} * per_block;
  const std::int64_t left = task.b.shape.systems - of.system;
  of.count = static_cast<int>(left < per_block ? left : per_block);
  of.end = task.b.shape.rows(of.system);
  of.threads = segment_threads;
  of.across = across ? per_block : 0;
  if (of.end == 0) return;  // the whole block: unequal lengths have a block each
  const chunk<T> rows(dynamic_shared(), Threads, false);
  load_rows(task, of, rows, thread, Threads);
  await_rows();
  const piece_place at(of, thread);
  const bool dominant = __syncthreads_and(dominates(rows, at)) != 0;
  relation<T> own{};
  if (at.count > 0) own = reduce_piece(rows, at, dominant);
  join_segments(of, rows, at, own, dominant, thread, Threads);
  ends<T> whole{};
  if (at.count > 0)
    close(get_relation(rows.slots + at.segment * of.threads * rows.stride), task.A.periodic, whole);
  fill_segments(of, rows, at, dominant, whole);
  store_rows(task, of, rows, thread, Threads, 0, of.end);
}

// ---- one pass over long systems, with halos
// ----------------------------------------------------------------------

constexpr int chunk_threads = 128;
constexpr int halo_threads = 6;
constexpr int chunk_rows = chunk_threads * rows_a_thread;
constexpr int kept_rows = chunk_rows - 2 * halo_threads * rows_a_thread;

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

// A block solves a run of rows with a halo on both sides, as if nothing lay beyond, and keeps what is right:
// where every row dominates and a far unknown's part has fallen below `dropped`. Else it raises *needed, for
// the two-pass kernels, and blocks that come later leave at once. Bound by memory.
template <real T>
__global__ void __launch_bounds__(chunk_threads)
    solve_one_pass(band_task<T> task, std::int64_t chunks, double bound, int* needed) {
  __shared__ T parts[2][halo_threads];
  const int thread = static_cast<int>(threadIdx.x);
  const std::int64_t system = blockIdx.x / chunks, c = blockIdx.x % chunks, n = task.b.shape.rows(system);
  const std::int64_t keep_from = c * kept_rows, keep_to = keep_from + kept_rows < n ? keep_from + kept_rows : n;
  const int given_up = thread == 0 ? *static_cast<volatile int*>(needed) : 0;
  if (__syncthreads_or(given_up) != 0 || keep_from >= n) return;
  constexpr int halo = halo_threads * rows_a_thread;
  segments of;
  of.system = system;
  of.begin = c > 0 ? keep_from - halo : 0;
  of.end = keep_to + halo < n ? keep_to + halo : n;
  of.count = 1;
  of.threads = chunk_threads;
  const chunk<T> rows(dynamic_shared(), chunk_threads, true);
  load_rows(task, of, rows, thread, chunk_threads);
  await_rows();
  const piece_place at(of, thread);
  if (__syncthreads_and(dominates(rows, at)) == 0) {
    if (thread == 0) *static_cast<volatile int*>(needed) = 1;
    return;
  }
  const bool open_below = c > 0, open_above = of.end < n;
  const int above = thread - (static_cast<int>(keep_to - of.begin) + rows_a_thread - 1) / rows_a_thread;
  relation<T> own{};
  if (at.count > 0) own = reduce_dominant(rows, at);
  if (thread < halo_threads) parts[0][thread] = open_below ? contribution(own, false) : T{0};
  if (above >= 0 && above < halo_threads) parts[1][above] = open_above ? contribution(own, true) : T{0};
  join_segments(of, rows, at, own, true, thread, chunk_threads);
  ends<T> whole{};
  close(get_relation(rows.slots), false, whole);
  fill_segments(of, rows, at, true, whole);
  store_rows(task, of, rows, thread, chunk_threads, keep_from, keep_to);
  if (thread > 1 || (thread == 0 ? !open_below : !open_above)) return;
  double product = 1;
  for (int k = 0; k < halo_threads; ++k) product *= static_cast<double>(parts[thread][k]);
  if (!(product <= bound)) *static_cast<volatile int*>(needed) = 1;
}

// ---- two passes over long systems
// --------------------------------------------------------------------------------

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
    of.count = 1;
    of.threads = chunk_threads;
    return of;
  }
};

// First pass: a block reduces its rows to their relation; the last block of a group joins the group's. Which
// block is last changes from run to run, what it computes does not.
template <real T>
__global__ void __launch_bounds__(chunk_threads) reduce_chunks(band_task<T> task, tree_memory<T> memory) {
  if (memory.idle()) return;
  const int thread = static_cast<int>(threadIdx.x);
  const std::int64_t n = task.b.shape.rows(blockIdx.x / memory.chunks_a_system);
  const chunk_place place(blockIdx.x, memory.chunks_a_system, n);
  if (place.chunk >= place.count) return;
  const segments of = place.rows(n);
  const chunk<T> rows(dynamic_shared(), chunk_threads, true);
  load_rows(task, of, rows, thread, chunk_threads);
  await_rows();
  const piece_place at(of, thread);
  const bool dominant = __syncthreads_and(dominates(rows, at)) != 0;
  relation<T> own{};
  if (at.count > 0) own = reduce_piece(rows, at, dominant);
  join_segments(of, rows, at, own, dominant, thread, chunk_threads);

  T* chunks = memory.chunks + place.system * memory.chunks_a_system * slot_size;
  if (thread < slot_size)  // the last number of a slot is a joint's alone
    chunks[place.chunk * slot_size + thread] = thread < slot_size - 1 ? rows.slots[thread] : T{0};
  __threadfence();
  __syncthreads();
  int last = 0;
  const std::int64_t group = place.system * memory.groups_a_system + place.group;
  if (thread == 0) last = atomicAdd(memory.arrived + group, 1u) + 1 == static_cast<unsigned>(place.leaves);
  if (__syncthreads_or(last) == 0) return;
  __threadfence();
  T* group_slots = chunks + place.group * group_size * slot_size;
  for (int e = thread; e < place.leaves * slot_size; e += chunk_threads) rows.f[e] = __ldcg(group_slots + e);
  join_slots(rows.f, slot_size, 1, group_size, place.leaves, false, thread, chunk_threads);
  for (int e = thread + slot_size; e < place.leaves * slot_size; e += chunk_threads) group_slots[e] = rows.f[e];
  if (thread < slot_size - 1) memory.groups[group * slot_size + thread] = rows.f[thread];
}

// Between the passes: a block a system folds the groups, each thread a run of them, joins the runs, closes the
// system and goes back down to the ends of every group.
template <real T>
__global__ void __launch_bounds__(chunk_threads) join_groups(band_task<T> task, tree_memory<T> memory) {
  if (memory.idle()) return;
  __shared__ T slots[chunk_threads * slot_size];
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
    relation<T> whole = get_relation(groups + first * slot_size);
    for (std::int64_t k = first + 1; k < last; ++k) {
      joint<T> at;
      whole = join(whole, get_relation(groups + k * slot_size), at);
      put_joint(groups + k * slot_size, at);
    }
    put_relation(slots + thread * slot_size, whole);
  }
  join_slots(slots, slot_size, 1, chunk_threads, leaves, false, thread, chunk_threads);
  if (first >= last) return;
  ends<T> at;
  close(get_relation(slots), task.A.periodic, at);
  at = descend(slots, slot_size, leaves, thread, at);
  const auto put = [&](std::int64_t k, const ends<T>& e) {
    known[4 * k] = e.left;
    known[4 * k + 1] = e.first;
    known[4 * k + 2] = e.last;
    known[4 * k + 3] = e.right;
  };
  for (std::int64_t k = last - 1; k > first; --k) {
    ends<T> before, after;
    get_joint(groups + k * slot_size).solve(at, before, after);
    put(k, after);
    at = before;
  }
  put(first, at);
}

// Second pass: a block reduces its rows again, now that it knows their ends, and fills them in.
template <real T>
__global__ void __launch_bounds__(chunk_threads) fill_chunks(band_task<T> task, tree_memory<T> memory) {
  if (memory.idle()) return;
  const int thread = static_cast<int>(threadIdx.x);
  const std::int64_t n = task.b.shape.rows(blockIdx.x / memory.chunks_a_system);
  const chunk_place place(blockIdx.x, memory.chunks_a_system, n);
  if (place.chunk >= place.count) return;
  const segments of = place.rows(n);
  const chunk<T> rows(dynamic_shared(), chunk_threads, false);
  load_rows(task, of, rows, thread, chunk_threads);
  const T* known = memory.group_ends + (place.system * memory.groups_a_system + place.group) * 4;
  const T* joints =
      memory.chunks + (place.system * memory.chunks_a_system + place.group * group_size) * slot_size;
  const ends<T> whole =
      descend(joints, slot_size, place.leaves, place.leaf, ends<T>{known[0], known[1], known[2], known[3]});
  await_rows();
  const piece_place at(of, thread);
  const bool dominant = __syncthreads_and(dominates(rows, at)) != 0;
  relation<T> own{};
  if (at.count > 0) own = reduce_piece(rows, at, dominant);
  join_segments(of, rows, at, own, dominant, thread, chunk_threads);
  fill_segments(of, rows, at, dominant, whole);
  store_rows(task, of, rows, thread, chunk_threads, of.begin, of.end);
}

// ---- launchers
// ---------------------------------------------------------------------------------------------------

template <real T, int Threads>
void launch_resident(const device& dev, const band_task<T>& task, int per_block, int segment_threads,
                     bool across) {
  launch(dev, "solve_resident",
         {ceil_div<std::int64_t>(task.b.shape.systems, per_block), Threads, chunk_bytes<T>(Threads, false)},
         solve_resident<T, Threads>, task, per_block, segment_threads, across);
}

// Blocks of few threads, so that many share a multiprocessor and hide each other's latencies; where systems lie
// side by side, enough of them a block to fill the 32 bytes that memory moves.
template <real T>
void solve_whole_systems(const device& dev, const band_task<T>& task) {
  const batch_shape& shape = task.b.shape;
  const int segment = static_cast<int>(ceil_div<std::int64_t>(shape.n, rows_a_thread));
  const bool across = shape.offsets == nullptr && shape.system_stride == 1 && shape.systems > 1;
  constexpr int wanted = 32 / static_cast<int>(sizeof(T));
  const int least = across ? wanted : 1;
  int threads = 64;
  while (threads < 256 && segment * least > threads) threads *= 2;
  if (across && threads == 256 && segment * least / 2 <= 128) threads = 128;  // half a sector, twice the blocks
  int per_block = shape.offsets != nullptr ? 1 : threads / segment;
  if (across)
    while ((per_block & (per_block - 1)) != 0) per_block &= per_block - 1;
  if (threads == 64) return launch_resident<T, 64>(dev, task, per_block, segment, across);
  if (threads == 128) return launch_resident<T, 128>(dev, task, per_block, segment, across);
  launch_resident<T, 256>(dev, task, per_block, segment, across);
}

// Pieces of a workspace, each aligned to 256 bytes.
class carver {
 public:
  template <class U>
  void add(U** to, std::int64_t count) {
    if (base_ != nullptr) *to = reinterpret_cast<U*>(base_ + used_);
    used_ += ceil_div<std::int64_t>(count * static_cast<std::int64_t>(sizeof(U)), 256) * 256;
  }
  void start(void* base) {
    base_ = static_cast<unsigned char*>(base);
    used_ = 0;
  }
  std::int64_t used() const { return used_; }

 private:
  unsigned char* base_ = nullptr;
  std::int64_t used_ = 0;
};

template <real T>
void solve_two_passes(const device& dev, const band_task<T>& task, const tree_memory<T>& memory) {
  const std::int64_t blocks = task.b.shape.systems * memory.chunks_a_system;
  launch(dev, "reduce_chunks", {blocks, chunk_threads, chunk_bytes<T>(chunk_threads, true)}, reduce_chunks<T>,
         task, memory);
  launch(dev, "join_groups", {task.b.shape.systems, chunk_threads}, join_groups<T>, task, memory);
  launch(dev, "fill_chunks", {blocks, chunk_threads, chunk_bytes<T>(chunk_threads, false)}, fill_chunks<T>,
         task, memory);
}

template <real T>
const char* solve_in_chunks(const device& dev, const band_task<T>& task, tridiagonal_workspace& workspace) {
  const std::int64_t systems = task.b.shape.systems, n = task.b.shape.n;
  tree_memory<T> memory{};
  memory.chunks_a_system = ceil_div<std::int64_t>(n, chunk_rows);
  memory.groups_a_system = ceil_div<std::int64_t>(memory.chunks_a_system, group_size);
  int* needed = nullptr;
  carver parts;
  const auto carve = [&] {
    parts.add(&memory.arrived, systems * memory.groups_a_system);
    parts.add(&needed, 1);
    const std::int64_t cleared = parts.used();
    parts.add(&memory.chunks, systems * memory.chunks_a_system * slot_size);
    parts.add(&memory.groups, systems * memory.groups_a_system * slot_size);
    parts.add(&memory.group_ends, systems * memory.groups_a_system * 4);
    return cleared;
  };
  carve();
  void* base = workspace.bytes(dev, parts.used());
  parts.start(base);
  const std::int64_t cleared = carve();
  zero_bytes(dev, base, static_cast<std::size_t>(cleared));
  if (task.A.periodic || task.b.data == task.x.data) {
    solve_two_passes(dev, task, memory);
    return "two passes over chunks";
  }
  memory.needed = needed;
  const std::int64_t chunks = ceil_div<std::int64_t>(n, kept_rows);
  launch(dev, "solve_one_pass", {systems * chunks, chunk_threads, chunk_bytes<T>(chunk_threads, true)},
         solve_one_pass<T>, task, chunks, 0.999 * dropped<T>, needed);
  solve_two_passes(dev, task, memory);
  return "one pass over chunks with halos, or two";
}

}  // namespace

template <real T>
const char* partition_cuda(const device& dev, const tridiagonal_view<const T>& A, const batch_view<const T>& b,
                           const batch_view<T>& x, int* broken, tridiagonal_workspace& workspace) {
  if (b.shape.systems == 0 || b.shape.n == 0) return "nothing to do";
  const device_offsets offsets(dev, b.shape.systems);
  const band_task<T> task{offsets.of(A), offsets.of(b), offsets.of(x), broken};
  const char* engine = "whole systems in blocks";
  if (b.shape.n <= 256 * rows_a_thread)
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
