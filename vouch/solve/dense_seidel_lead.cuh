// vouch/solve/dense_seidel_lead.cuh -- the blocks of the diagonal that Gauss-Seidel sweeps need inverted, and
// the threads that work with them; private.
#pragma once
#include <cuda_runtime.h>

#include <cstdint>

#include <vouch/core/arrival.cuh>
#include <vouch/core/relay.cuh>
#include <vouch/solve/device_history.hpp>
#include <vouch/solve/row_stream.cuh>
#include <vouch/solve/stationary_options.hpp>
#include <vouch/solve/sweep_progress.hpp>

namespace vouch::seidel_kernel {

using namespace stream;

/// Unknowns of a step: what one warp holds of a piece.
template <class T>
inline constexpr int step_rows = 32 * lane_columns<T>;
/// Threads of the leading group that share a row of V and M, and the columns that each takes.
template <class T>
inline constexpr int parts = threads / step_rows<T>;
template <class T>
inline constexpr int part_columns = step_rows<T> / parts<T>;

/// The threads of a row take its columns in turn, 16 bytes at a time, so that all have their share of the zeros
/// of V: the k-th column of a part, and where it stands in a row.
template <class T>
__host__ __device__ constexpr int column_of_part(int part, int k) {
  return (k / lane_columns<T> * parts<T> + part) * lane_columns<T> + k % lane_columns<T>;
}
/// V and M lie in memory part after part, each by columns; a gap moves the parts to different banks.
template <class T>
inline constexpr int part_gap = sizeof(T) == 4 ? 16 : 4;
template <class T>
inline constexpr int part_elements = part_columns<T>* step_rows<T> + part_gap<T>;
template <class T>
inline constexpr int lead_elements = parts<T>* part_elements<T>;
template <class T>
__host__ __device__ constexpr int lead_place(int row, int column) {
  const int turn = column / lane_columns<T>, k = turn / parts<T> * lane_columns<T> + column % lane_columns<T>;
  return turn % parts<T> * part_elements<T> + k * step_rows<T> + row;
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
  std::uint32_t stamp = 0;  // of the last sweep before
  sweep_order order = sweep_order::forward;
  int stages = 0;
  int stage_pieces = 1;
  int resident = 0;  // the stages hold all that a block needs
  int inverse_shared = 1;

  __device__ std::uint64_t* delta_words(std::uint32_t of) const {
    return delta + (of & 1) * n * relay_words<T>;
  }
  __device__ T* forward_change_of(unsigned parity) const { return forward_change + parity * n; }
};

/// A sweep in one direction: half a symmetric one.
struct half_sweep {
  int steps = 0;
  std::uint32_t stamp = 0;
  unsigned parity = 0;  // of the iteration
  bool forward = true;
  bool second = false;  // the way back of a symmetric sweep
  bool last = true;     // ends an iteration
  bool looks = false;   // the host may have asked to stop

  __device__ void begin(sweep_order order, int half, int halves) {
    ++stamp;
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
  unsigned turns;               // that have passed
  int ended;                    // not 0: no sweep follows
  double facts[warps][sweep_facts::count];
  cg_event event[2];
  alignas(16) T met[step_rows<T>];
  alignas(16) T delta[step_rows<T>];

  /// One thread, before a barrier of the block.
  __device__ void init() {
    for (unsigned k = 0; k < depth; ++k) {
      arrival_init(summed + k, warps);
      arrival_init(told + k, 1);
    }
    turns = 0;
    ended = 0;
    arrival_init_fence();
  }
  __device__ static void await_turn(std::uint64_t* barriers, unsigned turn) {
    await(barriers + turn % depth, turn / depth & 1);
  }
};

// Threads of the kernel: those that sum rows, those that lead, a warp that closes rows, one that fills.
inline constexpr int first_leading = threads, first_closing = 2 * threads, first_filling = first_closing + 32;
inline constexpr int all_threads = first_filling + 32;

// Barriers of two groups, and of all but the filling warp.
__device__ inline void row_barrier() { group_barrier(1, threads); }
__device__ inline void lead_barrier() { group_barrier(2, threads); }
__device__ inline void sweep_barrier() { group_barrier(3, first_filling); }

/// The group that leads.
template <class T>
struct lead_group {
  static constexpr int lanes = lane_columns<T>;

  const task<T>& in;
  shared_parts<T>& shared;
  T* inverse;  // in shared memory, or nullptr
  const T* V = nullptr;
  T m[part_columns<T>];
  int held = -1;  // whose V and M are here
  bool held_forward = true;
  unsigned turns = 0;  // before the sweep

  __device__ lead_group(const task<T>& task, shared_parts<T>& parts, T* room)
      : in(task), shared(parts), inverse(room) {}

  __device__ static int me() { return static_cast<int>(threadIdx.x) - first_leading; }
  __device__ static int row() { return me() / parts<T>; }
  __device__ static int part() { return me() % parts<T>; }

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
    if (held != step || held_forward != now.forward) hold(step, now.forward);
    await_turn(turns + static_cast<unsigned>(now.place(step)));
    const std::int64_t first = std::int64_t{step} * step_rows<T>;
    const bool one_each = me() < step_rows<T>;
    if (one_each) shared.met[me()] = from(in.met, first + me(), now.stamp);
    lead_barrier();
    T sum = times_inverse(now.forward);
    if (now.place(step) > 0) {
      const std::int64_t before = std::int64_t{now.step(now.place(step) - 1)} * step_rows<T>;
      if (one_each) shared.delta[me()] = from(in.delta_words(now.stamp), before + me(), now.stamp);
      lead_barrier();
      sum -= times_coupling();
    }
#pragma unroll
    for (int d = 1; d < parts<T>; d *= 2) sum += __shfl_xor_sync(everyone, sum, d);
    if (part() == 0 && first + row() < in.n)
      send(in.delta_words(now.stamp) + (first + row()) * relay_words<T>, sum, now.stamp);
  }

  // Until so many turns have passed the words of the step are not worth a look. After it nobody reads the last
  // step's numbers any more.
  __device__ void await_turn(unsigned turn) const {
    if (me() == 0)
      while (static_cast<int>(*static_cast<volatile unsigned*>(&shared.turns) - turn) < 0) __nanosleep(20);
    lead_barrier();
  }

  __device__ T from(const std::uint64_t* words, std::int64_t unknown, std::uint32_t stamp) const {
    T value{};
    if (unknown < in.n) receive(words + unknown * relay_words<T>, value, stamp);
    return value;
  }

  // This thread's part of a row of V times t, but for columns where all rows of the warp have zeros.
  __device__ T times_inverse(bool forward) const {
    constexpr int rows = 32 / parts<T>, width = parts<T> * lanes;
    const int top = me() / 32 * rows;
    const int begin = forward ? 0 : top / width,
              end = forward ? (top + rows - 1) / width : step_rows<T> / width - 1;
    const T* const own = V + lead_place<T>(row(), part() * lanes);
    T sum[lanes] = {};
#pragma unroll 2
    for (int g = begin; g <= end; ++g) {
      T t[lanes];
      load_lanes(shared.met + column_of_part<T>(part(), g * lanes), t);
#pragma unroll
      for (int l = 0; l < lanes; ++l) sum[l] += own[(g * lanes + l) * step_rows<T>] * t[l];
    }
    return total(sum);
  }
  // And of M times the change before.
  __device__ T times_coupling() const {
    T sum[lanes] = {};
#pragma unroll
    for (int k = 0; k < part_columns<T>; k += lanes) {
      T before[lanes];
      load_lanes(shared.delta + column_of_part<T>(part(), k), before);
#pragma unroll
      for (int l = 0; l < lanes; ++l) sum[l] += m[k + l] * before[l];
    }
    return total(sum);
  }
  __device__ static T total(const T (&sum)[lanes]) {
    T all = sum[0];
#pragma unroll
    for (int l = 1; l < lanes; ++l) all += sum[l];
    return all;
  }

  // Brings V and M here, which are read only after the next barrier.
  __device__ void hold(int step, bool forward) {
    const T* const stored = in.inverse[forward ? 0 : 1] + std::int64_t{step} * lead_elements<T>;
    const T* const own = in.coupling[forward ? 0 : 1] + std::int64_t{step} * lead_elements<T> +
                         lead_place<T>(row(), part() * lanes);
#pragma unroll
    for (int k = 0; k < part_columns<T>; ++k) m[k] = own[k * step_rows<T>];
    V = stored;
    if (inverse != nullptr) {
      lead_barrier();  // nobody reads the last ones any more
      for (int k = me(); k < lead_elements<T>; k += threads) inverse[k] = stored[k];
      V = inverse;
    }
    held = step;
    held_forward = forward;
  }
};

}  // namespace vouch::seidel_kernel
