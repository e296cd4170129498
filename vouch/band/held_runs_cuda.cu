#include <algorithm>
#include <limits>

#include <vouch/band/factored_storage.hpp>
#include <vouch/band/held_piece.cuh>
#include <vouch/band/held_runs.cuh>
#include <vouch/band/seams.cuh>
#include <vouch/band/tile_joining.cuh>
#include <vouch/core/launch.cuh>

namespace vouch::detail {
namespace {

constexpr int threads = 64;                    // a block; few, so that others compute while one waits
constexpr int blocks_at_once = 256 / threads;  // of a multiprocessor, at 255 registers
constexpr int run_rows = threads * held_rows;
constexpr int stages = 5;     // arrays of a run in shared memory, on their way
constexpr int seam_size = 6;  // numbers a run tells: a row for either seam

// Systems in runs of rows, `runs` of each.
template <real T>
struct run_task {
  const T* arrays[4];  // dl, d, du, b
  T* x;
  std::int64_t pitch[4], pitch_x;  // from system to system
  std::int64_t n, systems, runs;
  T* seams;
  pass_state* state;
  T bound;
};

// A run of a block: its system, and its rows there.
struct run_place {
  std::int64_t system = 0, run, begin;
  int rows;

  template <real T>
  __device__ run_place(const run_task<T>& of, std::int64_t item) : run(item) {
    if (of.systems > 1) {
      system = item / of.runs;
      run = item - system * of.runs;
    }
    begin = run * run_rows;
    rows = static_cast<int>(of.n - begin < run_rows ? of.n - begin : run_rows);
  }
};

// The arrays of a block's runs on their way through stages of shared memory, run after run.
template <real T>
class run_ring {
 public:
  __device__ run_ring(const run_task<T>& of, T* rows, std::uint64_t* arrived, int thread)
      : of_(of), rows_(rows), arrived_(arrived), thread_(thread), next_item_(blockIdx.x) {}
  __device__ static void init(std::uint64_t* arrived) {
    for (int k = 0; k < stages; ++k) arrival_init(arrived + k, 1);
    arrival_init_fence();
  }
  /// Of one thread: begins to bring the next arrays into stages that are free.
  __device__ void bring(int arrays) {
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
#pragma unroll 1
    for (int k = 0; k < arrays && next_item_ < of_.runs * of_.systems; ++k) {
      const run_place place(of_, next_item_);
      const T* const from = of_.arrays[next_array_] + place.system * of_.pitch[next_array_] + place.begin;
      const int in_lines = place.rows / line_size<T> * line_size<T>;
      const auto bytes = static_cast<unsigned>(in_lines) * static_cast<unsigned>(sizeof(T));
      arrive_expecting(arrived_ + next_stage_, bytes);
      if (bytes > 0) bulk_copy(rows_ + next_stage_ * run_rows, from, bytes, arrived_ + next_stage_);
      next_stage_ = next_stage_ + 1 == stages ? 0 : next_stage_ + 1;
      if (++next_array_ < 4) continue;
      next_array_ = 0;
      next_item_ += gridDim.x;
    }
  }
  /// This thread's rows of the next array. Its stage is free once the whole block has taken it.
  __device__ void take(const run_place& place, int array, T (&rows)[held_rows]) {
    await(arrived_ + stage_, parity_);
    const T* from = rows_ + stage_ * run_rows + thread_ * held_rows;
#pragma unroll
    for (int k = 0; k < held_rows; ++k) rows[k] = from[k];
    // What no whole line holds.
    const int in_lines = place.rows / line_size<T> * line_size<T> - thread_ * held_rows;
    if (in_lines < held_rows && in_lines + thread_ * held_rows < place.rows) {
      const T* const global = of_.arrays[array] + place.system * of_.pitch[array] + place.begin;
#pragma unroll
      for (int k = 0; k < held_rows; ++k)
        if (k >= in_lines && thread_ * held_rows + k < place.rows) rows[k] = global[thread_ * held_rows + k];
    }
    turn();
  }
  /// Waits for what is on its way: nothing may come once the block is gone. taken: arrays that have been.
  __device__ void drain(std::int64_t item) {
    const std::int64_t items = of_.runs * of_.systems;
    // After take() of all arrays of `item`, those of the next one have been asked for, and one beyond.
    for (int k = 0; k < stages; ++k) {
      const std::int64_t of = item + (1 + k / 4) * static_cast<std::int64_t>(gridDim.x);
      if (of >= items) return;
      await(arrived_ + stage_, parity_);
      turn();
    }
  }

 private:
  __device__ void turn() {
    if (++stage_ < stages) return;
    stage_ = 0;
    parity_ ^= 1;
  }

  const run_task<T>& of_;
  T* rows_;
  std::uint64_t* arrived_;
  int thread_, stage_ = 0, next_stage_ = 0, next_array_ = 0;
  unsigned parity_ = 0;
  std::int64_t next_item_;
};

// Numbers that tell by themselves whether they have been written: all bits of the others are set.
__device__ bool is_told(double v) { return __double_as_longlong(v) != -1; }
__device__ bool is_told(float v) { return __float_as_int(v) != -1; }

template <real T>
__device__ void tell(volatile T* to, const seam_row<T>& row) {
  to[0] = row.before, to[1] = row.behind, to[2] = row.rhs;
}
template <real T>
__device__ bool hear(const volatile T* from, seam_row<T>& row) {
  row = {from[0], from[1], from[2]};
  return is_told(row.before) && is_told(row.behind) && is_told(row.rhs);
}

// The unknowns at the begin of a run or at its end, from its relation and the neighbour there, who tells his
// part some time. Returns false where far couplings cannot be dropped.
template <real T>
__device__ bool find_seam(const run_task<T>& of, const relation<T>& whole, const run_place& place,
                          std::int64_t item, bool at_end, T& x_before, T& x_behind) {
  const volatile int* const given_up = &of.state->two_passes;
  const parted_relation<T> own(whole, of.bound);
  if (!own.sound || *given_up != 0) return false;
  T* const here = of.seams + item * seam_size;
  tell<T>(here + (at_end ? 3 : 0), at_end ? own.at_end : own.at_begin);
  const bool alone = at_end ? place.run + 1 == of.runs : place.run == 0;
  seam_row<T> other{at_end ? T{0} : T{1}, at_end ? T{1} : T{0}, 0};  // beyond the system all is zero
  if (!alone)
    while (!hear<T>(at_end ? here + seam_size : here - seam_size + 3, other))
      if (*given_up != 0) return false;
  solve_seam(at_end ? own.at_end : other, at_end ? other : own.at_begin, x_before, x_behind);
  return true;
}

__device__ inline void await_reads_of_bulk_stores() {
  asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory");
}

// Writes the unknowns of a run; lines of them in bulk.
template <real T>
__device__ void store_run(const run_task<T>& of, const run_place& place, T* staged, int thread,
                          const T (&x)[held_rows]) {
  __syncthreads();  // the slots of the tree are needed no more
#pragma unroll
  for (int k = 0; k < held_rows; ++k) staged[thread * held_rows + k] = x[k];
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  __syncthreads();
  if (thread != 0) return;
  T* const to = of.x + place.system * of.pitch_x + place.begin;
  const int in_lines = place.rows / line_size<T> * line_size<T>;
  const auto bytes = static_cast<unsigned>(in_lines) * static_cast<unsigned>(sizeof(T));
  if (bytes > 0)
    asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(to),
                 "r"(shared_address(staged)), "r"(bytes)
                 : "memory");
  asm volatile("cp.async.bulk.commit_group;" ::: "memory");
  for (int i = in_lines; i < place.rows; ++i) to[i] = staged[i];
}

// The slot of a leaf of the tree: those that a level joins lie together.
template <class T>
struct run_slots {
  T* first;
  __device__ T* operator()(int leaf) const {
    constexpr int bits = std::bit_width(threads - 1u);
    return first + (__brev(static_cast<unsigned>(leaf)) >> (32 - bits)) * slot_size;
  }
  __device__ T* operator()(int, int leaf) const { return (*this)(leaf); }
};

// Blocks take every so many-th run: rows go to registers and are reduced there; the relation of the run is told
// to the neighbours, who are at work at the same time, and theirs give the unknowns at its ends. Everything is
// read once and written once. All blocks run at once: they wait for each other. Bound by memory.
template <real T>
__global__ void __launch_bounds__(threads, blocks_at_once) solve_runs(const __grid_constant__ run_task<T> of) {
  __shared__ ends<T> at;
  __shared__ std::uint64_t arrived[stages];
  if (of.state->interchanges == 0 || of.state->two_passes != 0) return;
  const int thread = static_cast<int>(threadIdx.x);
  T* const rows = reinterpret_cast<T*>(dynamic_shared());
  T* const room = rows + stages * run_rows;  // for the tree, then for the answer
  const run_slots<T> slots{room};
  run_ring<T> ring(of, rows, arrived, thread);
  if (thread == 0) ring.init(arrived);
  __syncthreads();
  if (thread == 0) ring.bring(stages);
  for (std::int64_t item = blockIdx.x; item < of.runs * of.systems; item += gridDim.x) {
    const run_place place(of, item);
    held_piece<T> piece;
    ring.take(place, 0, piece.a);
    ring.take(place, 1, piece.d);
    ring.take(place, 2, piece.c);
    ring.take(place, 3, piece.f);
    piece.complete(place.run == 0 && thread == 0, place.run + 1 == of.runs, place.rows - thread * held_rows);
    if (thread == 0) await_reads_of_bulk_stores();
    __syncthreads();
    if (thread == 0) ring.bring(4);
    unsigned far = 0;
    const relation<T> own = piece.reduce_pivoted(far);
    tile_joining<T>::put(slots(thread), own);
    join_slots<tile_joining<T>>(slots, 1, threads, thread, threads);
    bool sound = true;
    if (thread < 2) {
      const bool at_end = thread == 1;
      sound = find_seam(of, tile_joining<T>::get(slots(0)), place, item, at_end, at_end ? at.last : at.left,
                        at_end ? at.right : at.first);
      if (!sound) *static_cast<volatile int*>(&of.state->two_passes) = 1;
    }
    if (__syncthreads_or(!sound) != 0) return ring.drain(item);
    if (!piece.fill_pivoted(far, descend<tile_joining<T>>(slots, threads, thread, at)))
      *static_cast<volatile int*>(&of.state->two_passes) = 1;  // they find out whether there is an answer
    store_run(of, place, room, thread, piece.d);
  }
  if (thread == 0) await_reads_of_bulk_stores();  // before the shared memory goes to another block
}

template <class T>
bool in_lines(const T* data, std::int64_t pitch) {
  return reinterpret_cast<std::uintptr_t>(data) % 16 == 0 && pitch % line_size<T> == 0;
}

}  // namespace

template <real T>
std::int64_t held_run_numbers(const batch_shape& shape) {
  return shape.systems * ceil_div<std::int64_t>(shape.n, run_rows) * seam_size;
}

template <real T>
bool solve_held_runs(const device& dev, const band_task<T>& task, pass_state* state, T* seams) {
  const batch_shape &a = task.A.shape, &b = task.b.shape, &x = task.x.shape;
  run_task<T> of{};
  of.arrays[0] = task.A.dl, of.arrays[1] = task.A.d, of.arrays[2] = task.A.du, of.arrays[3] = task.b.data;
  of.x = task.x.data;
  const auto pitch = [&](const batch_shape& s) { return b.systems > 1 ? s.system_stride : 0; };
  for (int k = 0; k < 3; ++k) of.pitch[k] = pitch(a);
  of.pitch[3] = pitch(b);
  of.pitch_x = pitch(x);
  for (const batch_shape* s : {&a, &b, &x})
    if (s->offsets != nullptr || s->row_stride != 1) return false;
  for (int k = 0; k < 4; ++k)
    if (!in_lines(of.arrays[k], of.pitch[k])) return false;
  if (!in_lines(of.x, of.pitch_x)) return false;
  of.n = b.n;
  of.systems = b.systems;
  of.runs = ceil_div<std::int64_t>(b.n, run_rows);
  of.seams = seams;
  of.state = state;
  of.bound = static_cast<T>(0.999 * dropped<T>);
  constexpr std::size_t bytes = sizeof(T) * (stages + 1) * run_rows;
  check(cudaSetDevice(dev.index()), "solve_runs");
  check(
      cudaFuncSetAttribute(solve_runs<T>, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(bytes)),
      "solve_runs");
  int blocks = 0;
  check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, solve_runs<T>, threads, bytes), "solve_runs");
  if (blocks == 0) return false;
  // All bits set: not told yet.
  check(cudaMemsetAsync(seams, 0xff, sizeof(T) * static_cast<std::size_t>(held_run_numbers<T>(b)),
                        static_cast<cudaStream_t>(dev.stream())),
        "solve_runs");
  launch_shape shape{std::min(of.runs * of.systems, std::int64_t{dev.processors()} * blocks), threads, bytes};
  shape.cooperative = true;
  launch(dev, "solve_runs", shape, solve_runs<T>, of);
  return true;
}

template std::int64_t held_run_numbers<float>(const batch_shape&);
template std::int64_t held_run_numbers<double>(const batch_shape&);
template bool solve_held_runs(const device&, const band_task<float>&, pass_state*, float*);
template bool solve_held_runs(const device&, const band_task<double>&, pass_state*, double*);

}  // namespace vouch::detail
