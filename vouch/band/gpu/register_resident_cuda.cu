#include <algorithm>

#include <vouch/band/factored/factored_storage.hpp>
#include <vouch/band/gpu/chunk.cuh>
#include <vouch/band/gpu/partition_boundaries.cuh>
#include <vouch/band/gpu/partition_engines.cuh>
#include <vouch/band/gpu/register_segment.cuh>
#include <vouch/band/gpu/self_validating_words.cuh>
#include <vouch/band/gpu/tile_joining.cuh>
#include <vouch/core/gpu/tma.cuh>
#include <vouch/core/launch.cuh>

namespace vouch::detail {
namespace {

constexpr int threads = 128;                   // a block; few, so that others compute while one waits
constexpr int blocks_at_once = 256 / threads;  // of a multiprocessor, at 255 registers
constexpr int run_rows = resident_run_rows;    // of a warp
static_assert(run_rows == 32 * register_rows);
constexpr int warps = threads / 32, block_rows = threads * register_rows;
constexpr int stages = 5;  // arrays of a block's rows in shared memory, on their way
// Rows may begin anywhere in a line of TMA, in shared memory as well as in global memory.
template <class T>
constexpr int stage_size = block_rows + line_size<T>;
template <class T>
constexpr int room_size = run_rows + line_size<T>;
static_assert(run_rows >= 32 * slot_size, "a tree takes the place of the answer");
constexpr int boundary_size = 6;  // numbers a block publishes: a row for either partition boundary

// Systems in rows of blocks, `shares` of each.
template <real T>
struct run_task {
  const T* arrays[4];  // dl, d, du, b
  T* x;
  std::int64_t pitch[4], pitch_x;  // from system to system
  std::int64_t n, systems, shares;
  T* boundaries;
  pass_state* state;
  T bound;
};

// The rows of a block: a share of a system, a run for every warp.
struct share_place {
  std::int64_t system = 0, share, begin;
  int rows;

  template <real T>
  __device__ share_place(const run_task<T>& of, std::int64_t item) : share(item) {
    if (of.systems > 1) {
      system = item / of.shares;
      share = item - system * of.shares;
    }
    begin = share * block_rows;
    rows = static_cast<int>(of.n - begin < block_rows ? of.n - begin : block_rows);
  }
};

// Numbers before p in its line.
template <class T>
__device__ int place_in_line(const T* p) {
  return static_cast<int>(reinterpret_cast<std::uintptr_t>(p) % 16 / sizeof(T));
}

// The arrays of a block's runs on their way through stages of shared memory, run after run.
template <real T>
class run_ring {
 public:
  __device__ run_ring(const run_task<T>& of, T* rows, std::uint64_t* arrived, int thread)
      : of_(of), rows_(rows), arrived_(arrived), thread_(thread), next_item_(blockIdx.x) {}
  __device__ static void init(std::uint64_t* arrived) {
    for (int k = 0; k < stages; ++k) mbarrier_init(arrived + k, 1);
    mbarrier_init_fence();
  }
  /// Of one thread: starts to load the next arrays into stages that are free.
  __device__ void load(int arrays) {
    fence_proxy_async();
#pragma unroll 1
    for (int k = 0; k < arrays && next_item_ < of_.shares * of_.systems; ++k) {
      const share_place place(of_, next_item_);
      const T* const from = begin_of(place, next_array_);
      const int before = place_in_line(from), in_lines = (before + place.rows) / line_size<T> * line_size<T>;
      const auto bytes = static_cast<unsigned>(in_lines) * static_cast<unsigned>(sizeof(T));
      if (bytes > 0)
        bulk_load(rows_ + next_stage_ * stage_size<T>, from - before, bytes, arrived_ + next_stage_);
      mbarrier_arrive_expect_tx(arrived_ + next_stage_, bytes);
      next_stage_ = next_stage_ + 1 == stages ? 0 : next_stage_ + 1;
      if (++next_array_ < 4) continue;
      next_array_ = 0;
      next_item_ += gridDim.x;
    }
  }
  /// This thread's rows of the next array. Its stage is free once the whole block has taken it.
  __device__ void take(const share_place& place, int array, T (&rows)[register_rows]) {
    mbarrier_wait(arrived_ + stage_, parity_);
    const T* const global = begin_of(place, array);
    const int before = place_in_line(global);
    const T* from = rows_ + stage_ * stage_size<T> + before + thread_ * register_rows;
#pragma unroll
    for (int k = 0; k < register_rows; ++k) rows[k] = from[k];
    // What no whole line holds.
    const int in_lines = (before + place.rows) / line_size<T> * line_size<T> - before - thread_ * register_rows;
    if (in_lines < register_rows && in_lines + thread_ * register_rows < place.rows) {
#pragma unroll
      for (int k = 0; k < register_rows; ++k)
        if (k >= in_lines && thread_ * register_rows + k < place.rows)
          rows[k] = global[thread_ * register_rows + k];
    }
    turn();
  }
  /// Waits for what is on its way: nothing may come once the block is gone. taken: arrays that have been.
  __device__ void drain(std::int64_t item) {
    const std::int64_t items = of_.shares * of_.systems;
    // After take() of all arrays of `item`, those of the next one have been asked for, and one beyond.
    for (int k = 0; k < stages; ++k) {
      const std::int64_t of = item + (1 + k / 4) * static_cast<std::int64_t>(gridDim.x);
      if (of >= items) return;
      mbarrier_wait(arrived_ + stage_, parity_);
      turn();
    }
  }

 private:
  __device__ const T* begin_of(const share_place& place, int array) const {
    return of_.arrays[array] + place.system * of_.pitch[array] + place.begin;
  }
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

// A lane's partition boundary: at the begin of its warp's run, or at its end. Neighbours in the block
// exchange in shared memory, those in other blocks some time in global memory.
template <real T>
class run_boundary {
 public:
  __device__ run_boundary(const run_task<T>& of, const share_place& place, std::int64_t item, int warp,
                          bool at_end, boundary_row<T> (&published)[2][warps])
      : of_(of), published_(published), warp_(warp), at_end_(at_end), outer_(warp == (at_end ? warps - 1 : 0)) {
    alone_ = outer_ && (at_end ? place.share + 1 == of.shares : place.share == 0);
    here_ = of.boundaries + item * boundary_size;
  }
  // Returns false where far couplings cannot be dropped.
  __device__ bool publish(const reduced_block<T>& whole) {
    const split_block<T> own(whole, of_.bound);
    own_ = at_end_ ? own.at_end : own.at_begin;
    published_[at_end_][warp_] = own_;
    const T numbers[3] = {own_.before, own_.behind, own_.rhs};
    if (outer_) vouch::detail::publish(here_ + (at_end_ ? 3 : 0), numbers);
    return own.sound;
  }
  // The unknowns before and behind the partition boundary, once the block has published. Returns false
  // where others have found that far couplings cannot be dropped.
  __device__ bool solve(T& x_before, T& x_behind) const {
    boundary_row<T> other{at_end_ ? T{0} : T{1}, at_end_ ? T{1} : T{0}, 0};  // beyond the system all is zero
    if (!outer_) {
      other = published_[!at_end_][at_end_ ? warp_ + 1 : warp_ - 1];
    } else if (!alone_) {
      const T* const there = at_end_ ? here_ + boundary_size : here_ - boundary_size + 3;
      T numbers[3];
      while (!try_read(there, numbers))
        if (*static_cast<volatile int*>(&of_.state->coupled) != 0) return false;
      other = {numbers[0], numbers[1], numbers[2]};
    }
    solve_partition_boundary(at_end_ ? own_ : other, at_end_ ? other : own_, x_before, x_behind);
    return true;
  }

 private:
  const run_task<T>& of_;
  boundary_row<T> (&published_)[2][warps];
  T* here_;
  int warp_;
  bool at_end_, outer_, alone_;
  boundary_row<T> own_;
};

// Writes the unknowns of a warp's run, in bulk what fills lines; begin: of the run in its share.
template <real T>
__device__ void store_run(const run_task<T>& of, const share_place& place, int begin, T* room, int lane,
                          const T (&x)[register_rows]) {
  T* const to = of.x + place.system * of.pitch_x + place.begin + begin;
  const int before = place_in_line(to);
  T* const staged = room + before;
  __syncwarp();  // the slots of the tree are needed no more
#pragma unroll
  for (int k = 0; k < register_rows; ++k) staged[lane * register_rows + k] = x[k];
  fence_proxy_async();
  __syncwarp();
  if (lane != 0) return;
  const int rows = min(max(place.rows - begin, 0), run_rows);
  const int first = min((line_size<T> - before) % line_size<T>, rows);  // of the first whole line
  const int end = first + (rows - first) / line_size<T> * line_size<T>;
  const auto bytes = static_cast<unsigned>(end - first) * static_cast<unsigned>(sizeof(T));
  if (bytes > 0) bulk_store(to + first, staged + first, bytes);
  bulk_commit_group();
  for (int i = 0; i < first; ++i) to[i] = staged[i];
  for (int i = end; i < rows; ++i) to[i] = staged[i];
}

// Blocks take every so many-th share: rows go to registers, a run for every warp, and are reduced there;
// what the reduced block of a run says of its boundary unknowns is published to the neighbours, who are at
// work at the same time, and what theirs say gives the unknowns there. Everything is read once and written
// once. All blocks run at once: they wait for each other. Bound by latency, then by memory.
template <real T>
__global__ void __launch_bounds__(threads, blocks_at_once) solve_runs(const __grid_constant__ run_task<T> of) {
  __shared__ boundary_row<T> published[2][warps];
  __shared__ std::uint64_t arrived[stages];
  const pass_state found = *of.state;
  // All of a block leave, or none: others may find out meanwhile.
  if (__syncthreads_or(found.halos_failed == 0 || found.interchanges == 0 || found.coupled != 0) != 0) return;
  const int thread = static_cast<int>(threadIdx.x), lane = thread % 32, warp = thread / 32;
  T* const rows = reinterpret_cast<T*>(dynamic_shared());
  T* const room = rows + stages * stage_size<T> + warp * room_size<T>;  // for the tree, then for the answer
  const lane_slots<T> slots{room};
  volatile int* const coupled = &of.state->coupled;
  run_ring<T> ring(of, rows, arrived, thread);
  if (thread == 0) ring.init(arrived);
  __syncthreads();
  if (thread == 0) ring.load(stages);
  bool sound = true;
  for (std::int64_t item = blockIdx.x; item < of.shares * of.systems; item += gridDim.x) {
    const share_place place(of, item);
    const int given_up = thread == 0 ? *coupled : 0;
    register_segment<T> segment;
    ring.take(place, 0, segment.a);
    ring.take(place, 1, segment.d);
    ring.take(place, 2, segment.c);
    ring.take(place, 3, segment.f);
    segment.complete(place.share == 0 && thread == 0, place.share + 1 == of.shares,
                     place.rows - thread * register_rows);
    if (lane == 0) bulk_wait_group_read();
    const bool stop = __syncthreads_or(!sound || given_up != 0) != 0;
    if (thread == 0) ring.load(4);
    if (stop) return ring.drain(item);
    unsigned far = 0;
    tile_joining<T>::put(slots(lane), segment.reduce_pivoted(far));
    join_lanes<tile_joining<T>>(slots, lane);
    const bool at_end = lane == 1;
    run_boundary<T> boundary(of, place, item, warp, at_end, published);
    if (lane < 2) sound = boundary.publish(tile_joining<T>::get(slots(0)));
    if (!sound) *coupled = 1;
    if (__syncthreads_and(sound) == 0) return ring.drain(item);
    T x_before = 0, x_behind = 0;
    if (lane < 2 && sound) sound = boundary.solve(x_before, x_behind);
    const boundary_unknowns<T> at{__shfl_sync(~0u, x_before, 0), __shfl_sync(~0u, x_behind, 0),
                                  __shfl_sync(~0u, x_before, 1), __shfl_sync(~0u, x_behind, 1)};
    const bool numbers = segment.fill_pivoted(far, descend<tile_joining<T>>(slots, 32, lane, at));
    if (!numbers) *coupled = 1;  // they find out whether there is an answer
    store_run(of, place, warp * run_rows, room, lane, segment.d);
  }
  if (lane == 0) bulk_wait_group_read();  // before the shared memory goes to another block
}

}  // namespace

template <real T>
std::int64_t register_resident_numbers(const batch_shape& shape) {
  return shape.systems * ceil_div<std::int64_t>(shape.n, block_rows) * boundary_size;
}

template <real T>
bool solve_register_resident(const device& dev, const band_task<T>& task, pass_state* state, T* boundaries) {
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
  of.n = b.n;
  of.systems = b.systems;
  of.shares = ceil_div<std::int64_t>(b.n, block_rows);
  of.boundaries = boundaries;
  of.state = state;
  of.bound = static_cast<T>(0.999 * dropped<T>);
  constexpr std::size_t bytes = sizeof(T) * (stages * stage_size<T> + warps * room_size<T>);
  check(cudaSetDevice(dev.index()), "solve_runs");
  check(
      cudaFuncSetAttribute(solve_runs<T>, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(bytes)),
      "solve_runs");
  int blocks = 0;
  check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, solve_runs<T>, threads, bytes), "solve_runs");
  if (blocks == 0) return false;
  launch_shape shape{std::min(of.shares * of.systems, std::int64_t{dev.processors()} * blocks), threads, bytes};
  shape.cooperative = true;
  launch(dev, "solve_runs", shape, solve_runs<T>, of);
  return true;
}

template std::int64_t register_resident_numbers<float>(const batch_shape&);
template std::int64_t register_resident_numbers<double>(const batch_shape&);
template bool solve_register_resident(const device&, const band_task<float>&, pass_state*, float*);
template bool solve_register_resident(const device&, const band_task<double>&, pass_state*, double*);

}  // namespace vouch::detail
