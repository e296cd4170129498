// vouch/solve/dense_seidel_lead.cuh -- the blocks of the diagonal that Gauss-Seidel sweeps need inverted, and
// the threads that work with them; private.
#pragma once
#include <cuda_runtime.h>

#include <cstdint>

#include <vouch/core/gpu/flagged_words.cuh>
#include <vouch/core/gpu/mbarrier.cuh>
#include <vouch/solve/device_history.hpp>
#include <vouch/solve/row_stream.cuh>
#include <vouch/solve/stationary_options.hpp>
#include <vouch/solve/sweep_progress.hpp>

namespace vouch::seidel_kernel {

using namespace stream;

/// Unknowns of a step: what one warp holds of a piece.
template <class T>
inline constexpr int step_rows = 32 * lane_columns<T>;
/// Of V and M a thread of the leading group takes so many rows and as many columns: 16 threads share these
/// rows.
template <class T>
inline constexpr int lead_rows = step_rows<T> / 16;
template <class T>
inline constexpr int lead_vectors = lead_rows<T> / lane_columns<T>;  // of 16 bytes, a row
/// Of these rows of M so many are kept in registers, of which there are 96; the others in shared memory.
template <class T>
inline constexpr int kept_rows = sizeof(T) == 4 ? 6 : lead_rows<T>;
/// V and M lie in memory in the order in which the threads take them: vector after vector, thread by thread.
template <class T>
inline constexpr int lead_elements = step_rows<T>* step_rows<T>;
template <class T>
inline constexpr int kept_elements = kept_rows<T>* step_rows<T> * 16;
/// Of both, in shared memory.
template <class T>
inline constexpr int shared_lead_elements = 2 * lead_elements<T> - kept_elements<T>;
template <class T>
__host__ __device__ constexpr int lead_place(int row, int column) {
  constexpr int lanes = lane_columns<T>, width = 16 * lanes;
  const int thread = row / lead_rows<T> * 16 + column % width / lanes;
  const int vector = row % lead_rows<T> * lead_vectors<T> + column / width;
  return (vector * threads + thread) * lanes + column % lanes;
}

template <class T>
__host__ __device__ int steps_of(std::int64_t n) {
  return static_cast<int>((n + step_rows<T> - 1) / step_rows<T>);
}

struct mixing_numbers;

/// n is a multiple of lane_columns<T>; rows of the matrix begin on 16 bytes.
template <class T>
struct task {
  const T* a = nullptr;
  std::int64_t n = 0;
  std::int64_t ld = 0;
  const T* r = nullptr;
  const T* weight = nullptr;                 // the diagonal over omega
  T* d = nullptr;                            // start and result
  const T* inverse[2] = {};                  // V of all steps, forward and backward, lead_elements each
  const T* coupling[2] = {};                 // M likewise
  T* columns = nullptr;                      // a copy of the solution for each block; nullptr: in shared memory
  T* forward_change = nullptr;               // 2 x n, of symmetric sweeps: of even and of odd iterations
  std::uint64_t* met = nullptr;              // words of t
  std::uint64_t* delta = nullptr;            // words of two sweeps' delta
  std::uint64_t* wish = nullptr;             // words of two sweeps' wish to stop
  int depth = 0;                             // of the mixing
  T* mixing = nullptr;                       // its vectors, of each block
  mixing_numbers* mixing_scratch = nullptr;  // one a block
  device_mailbox* box = nullptr;
  sweep_progress progress;
  std::int64_t first = 0;   // iterations done before
  std::int64_t look = 512;  // iterations between two looks at the mailbox
  int teams = 1;
  std::uint32_t epoch = 0;  // of the last sweep before
  sweep_order order = sweep_order::forward;
  int stages = 0;
  int stage_pieces = 1;
  int resident = 0;  // the stages hold all that a block needs
  int kept = 0;      // stages of a block's sweep that are to stay in L2
  int inverse_shared = 1;

  __device__ std::uint64_t* delta_words(std::uint32_t of) const {
    return delta + (of & 1) * n * flagged_words<T>;
  }
  __device__ T* forward_change_of(unsigned parity) const { return forward_change + parity * n; }
};

/// A sweep in one direction: half a symmetric one.
struct half_sweep {
  int steps = 0;
  std::uint32_t epoch = 0;
  unsigned parity = 0;  // of the iteration
  bool forward = true;
  bool second = false;  // the way back of a symmetric sweep
  bool last = true;     // ends an iteration
  bool looks = false;   // the host may have asked to stop

  __device__ void begin(sweep_order order, int half, int halves) {
    ++epoch;
    parity ^= half == 0 ? 1U : 0U;
    forward = order == sweep_order::forward || (order == sweep_order::symmetric && half == 0);
    second = half == 1;
    last = half == halves - 1;
  }
  /// The k-th step that is taken.
  __device__ int step(int k) const { return forward ? k : steps - 1 - k; }
  __device__ int place(int step) const { return forward ? step : steps - 1 - step; }
};

/// Steps that the sums of rows are ahead: of a row of the s-th step they leave out what the steps s-2 to
/// s-1-ahead change.
inline constexpr int ahead = 3;
/// Places where the groups of a block leave numbers for each other, taken in turn.
inline constexpr unsigned depth = ahead + 1;
/// Turns of these places in a sweep: one a step, and two until the last change is known.
__device__ inline int turns_of(const half_sweep& now) { return now.steps + 2; }

/// What the groups of a block share.
template <class T>
struct shared_parts {
  // In turn s: of the block's row of the s-th step the sum with what is known, a part a warp, and its entries
  // in the columns of the steps s-2 to s-1-ahead; the change of step s-2.
  double far[depth][warps];
  alignas(16) T near[depth][ahead][step_rows<T>];
  alignas(16) T change[depth][step_rows<T>];
  std::uint64_t summed[depth];  // barriers: rows are summed
  std::uint64_t told[depth];    // the change is there, and the row's numbers are used up
  std::uint64_t decided;        // about the sweep
  unsigned turns;               // that have passed
  int ended;                    // not 0: no sweep follows
  double facts[warps][sweep_facts::count];
  cg_event event[2];
  alignas(16) T met[step_rows<T>];
  alignas(16) T delta[step_rows<T>];

  /// One thread, before a barrier of the block.
  __device__ void init() {
    for (unsigned k = 0; k < depth; ++k) {
      mbarrier_init(summed + k, threads);
      mbarrier_init(told + k, 32);
    }
    mbarrier_init(&decided, 1);
    turns = 0;
    ended = 0;
    mbarrier_init_fence();
  }
  /// turns is looked at while it changes, and orders nothing.
  __device__ void pass_turn(unsigned number) { atomicExch(&turns, number); }
  __device__ unsigned turns_passed() { return atomicOr(&turns, 0); }
  __device__ static void await_turn(std::uint64_t* barriers, unsigned turn) {
    mbarrier_wait(barriers + turn % depth, turn / depth & 1);
  }
};

// Threads of the kernel: those that sum rows, those that lead, a warp that closes rows, one that fills.
inline constexpr int first_leading = threads, first_closing = 2 * threads, first_filling = first_closing + 32;
inline constexpr int all_threads = first_filling + 32;

// Barriers of two groups, and of all but the filling warp.
__device__ inline void row_barrier() { named_barrier(1, threads); }
__device__ inline void lead_barrier() { named_barrier(2, threads); }
__device__ inline void sweep_barrier() { named_barrier(3, first_filling); }

/// The group that leads.
template <class T>
struct lead_group {
  static constexpr int lanes = lane_columns<T>;

  const task<T>& in;
  shared_parts<T>& shared;
  T* room;               // for V and the other rows of M in shared memory, or nullptr
  const T* V = nullptr;  // this thread's vectors
  const T* M = nullptr;  // likewise, the first kept_elements<T> left out
  T kept[kept_rows<T>][lead_rows<T>];
  int held_step = -1;  // whose V and M are here
  bool held_forward = true;
  unsigned turns = 0;  // before the sweep

  __device__ lead_group(const task<T>& task, shared_parts<T>& parts, T* memory)
      : in(task), shared(parts), room(memory) {}

  __device__ static int me() { return static_cast<int>(threadIdx.x) - first_leading; }
  // This thread's first row, and its first column of each vector.
  __device__ static int row() { return me() / 16 * lead_rows<T>; }
  __device__ static int column(int vector) { return (vector * 16 + me() % 16) * lanes; }

  __device__ void sweep(const half_sweep& now) {
    const int blocks = static_cast<int>(gridDim.x), mine = static_cast<int>(blockIdx.x);
    if (mine < now.steps) {
      const int last = (now.steps - 1 - mine) / blocks;  // the last of the own steps is mine + last*blocks
      for (int k = 0; k <= last; ++k) lead(mine + (now.forward ? k : last - k) * blocks, now);
    }
    turns += static_cast<unsigned>(turns_of(now));
  }

 private:
  __device__ void lead(int step, const half_sweep& now) {
    if (held_step != step || held_forward != now.forward) hold(step, now.forward);
    await_turn(turns + static_cast<unsigned>(now.place(step)));
    const std::int64_t first = std::int64_t{step} * step_rows<T>;
    const bool one_each = me() < step_rows<T>;
    if (one_each) shared.met[me()] = from(in.met, first + me(), now.epoch);
    lead_barrier();
    T sums[lead_rows<T>] = {};
    add_inverse(now.forward, sums);
    if (now.place(step) > 0) {
      const int before = now.step(now.place(step) - 1);
      if (one_each)
        shared.delta[me()] =
            from(in.delta_words(now.epoch), std::int64_t{before} * step_rows<T> + me(), now.epoch);
      lead_barrier();
      subtract_coupling(sums);
    }
    const T sum = sum_over_16(sums);
    constexpr int sharing = 16 / lead_rows<T>;  // threads that know the sum of a row
    if (me() % sharing != 0) return;
    const int own = row() + me() % 16 / sharing;
    if (first + own < in.n)
      store_flagged(in.delta_words(now.epoch) + (first + own) * flagged_words<T>, sum, now.epoch);
  }

  // Until so many turns have passed the words of the step are not worth a look. After it nobody reads the last
  // step's numbers any more.
  __device__ void await_turn(unsigned turn) const {
    if (me() == 0)
      while (static_cast<int>(shared.turns_passed() - turn) < 0) __nanosleep(20);
    lead_barrier();
  }

  __device__ T from(const std::uint64_t* words, std::int64_t unknown, std::uint32_t epoch) const {
    T value{};
    if (unknown < in.n) wait_load(words + unknown * flagged_words<T>, value, epoch);
    return value;
  }

  // This thread's parts of V times t, but for vectors that are zero in all rows of the warp.
  __device__ void add_inverse(bool forward, T (&sums)[lead_rows<T>]) const {
    const int top = me() / 32 * 2 * lead_rows<T>, bottom = top + 2 * lead_rows<T> - 1;  // rows of the warp
#pragma unroll
    for (int v = 0; v < lead_vectors<T>; ++v) {
      if (forward ? v * 16 * lanes > bottom : (v + 1) * 16 * lanes <= top) continue;
      T t[lanes];
      load_lanes(shared.met + column(v), t);
#pragma unroll
      for (int i = 0; i < lead_rows<T>; ++i) {
        T entries[lanes];
        load_lanes(V + (i * lead_vectors<T> + v) * threads * lanes, entries);
#pragma unroll
        for (int l = 0; l < lanes; ++l) sums[i] += entries[l] * t[l];
      }
    }
  }
  // And of M times the change before.
  __device__ void subtract_coupling(T (&sums)[lead_rows<T>]) const {
#pragma unroll
    for (int v = 0; v < lead_vectors<T>; ++v) {
      T before[lanes];
      load_lanes(shared.delta + column(v), before);
#pragma unroll
      for (int i = 0; i < lead_rows<T>; ++i) {
        T entries[lanes];
        if (i < kept_rows<T>) {
#pragma unroll
          for (int l = 0; l < lanes; ++l) entries[l] = kept[min(i, kept_rows<T> - 1)][v * lanes + l];
        } else {
          load_lanes(M + ((i - kept_rows<T>)*lead_vectors<T> + v) * threads * lanes, entries);
        }
#pragma unroll
        for (int l = 0; l < lanes; ++l) sums[i] -= entries[l] * before[l];
      }
    }
  }
  // Sums over 16 threads: the k-th of them gets that of row k / (16 / lead_rows).
  __device__ static T sum_over_16(T (&sums)[lead_rows<T>]) {
    int distance = 8;
#pragma unroll
    for (int half = lead_rows<T> / 2; half > 0; half /= 2, distance /= 2) {
      const bool upper = (me() & distance) != 0;
#pragma unroll
      for (int i = 0; i < half; ++i) {
        const T keep = upper ? sums[i + half] : sums[i], give = upper ? sums[i] : sums[i + half];
        sums[i] = keep + __shfl_xor_sync(everyone, give, distance);
      }
    }
    for (; distance > 0; distance /= 2) sums[0] += __shfl_xor_sync(everyone, sums[0], distance);
    return sums[0];
  }

  template <int Elements>
  __device__ static void take_vectors(const T* from, T* to) {
#pragma unroll 4
    for (int k = 0; k < Elements; k += threads * lanes) {
      T entries[lanes];
      load_lanes(from + k, entries);
      store_lanes(entries, to + k);
    }
  }

  // Brings V and M here.
  __device__ void hold(int step, bool forward) {
    V = in.inverse[forward ? 0 : 1] + std::int64_t{step} * lead_elements<T> + me() * lanes;
    M = in.coupling[forward ? 0 : 1] + std::int64_t{step} * lead_elements<T> + me() * lanes;
#pragma unroll
    for (int i = 0; i < kept_rows<T>; ++i)
#pragma unroll
      for (int v = 0; v < lead_vectors<T>; ++v) {
        T entries[lanes];
        load_lanes(M + (i * lead_vectors<T> + v) * threads * lanes, entries);
#pragma unroll
        for (int l = 0; l < lanes; ++l) kept[i][v * lanes + l] = entries[l];
      }
    M += kept_elements<T>;
    if (room != nullptr) {
      // Every thread has its own vectors there.
      T* const here = room + me() * lanes;
      take_vectors<lead_elements<T>>(V, here);
      take_vectors<lead_elements<T> - kept_elements<T>>(M, here + lead_elements<T>);
      V = here;
      M = here + lead_elements<T>;
    }
    held_step = step;
    held_forward = forward;
  }
};

}  // namespace vouch::seidel_kernel
