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

/// V and M lie in memory part after part, each by columns; a gap moves the parts to different banks.
template <class T>
inline constexpr int part_gap = sizeof(T) == 4 ? 16 : 4;
template <class T>
inline constexpr int part_elements = part_columns<T>* step_rows<T> + part_gap<T>;
template <class T>
inline constexpr int lead_elements = parts<T>* part_elements<T>;
template <class T>
__host__ __device__ constexpr int lead_place(int row, int column) {
  return column / part_columns<T> * part_elements<T> + column % part_columns<T> * step_rows<T> + row;
}

template <class T>
__host__ __device__ std::int64_t steps_of(std::int64_t n) {
  return (n + step_rows<T> - 1) / step_rows<T>;
}

/// n is a multiple of lane_columns<T>; rows of the matrix begin on 16 bytes.
template <class T>
struct task {
  const T* a = nullptr;
  std::int64_t n = 0;
  std::int64_t ld = 0;
  const T* r = nullptr;
  const T* weight = nullptr;       // the diagonal over omega
  T* d = nullptr;                  // start and result
  const T* inverse[2] = {};        // V of all steps, forward and backward, lead_elements each
  const T* coupling[2] = {};       // M likewise
  T* columns = nullptr;            // a copy of the solution for each block; nullptr: in shared memory
  T* forward_change = nullptr;     // 2 x n, of symmetric sweeps: of even and of odd iterations
  std::uint64_t* met = nullptr;    // words of t
  std::uint64_t* delta = nullptr;  // words of two sweeps' delta
  std::uint64_t* wish = nullptr;   // words of two sweeps' wish to stop
  device_mailbox* box = nullptr;
  sweep_progress progress;
  std::int64_t first = 0;   // iterations done before
  std::int64_t look = 512;  // iterations between two looks at the mailbox
  std::int64_t teams = 1;
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
  std::int64_t steps = 0;
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
  __device__ std::int64_t step(std::int64_t k) const { return forward ? k : steps - 1 - k; }
  __device__ std::int64_t place(std::int64_t step) const { return forward ? step : steps - 1 - step; }
};

/// What the two groups of a block share.
template <class T>
struct shared_parts {
  double far[2][warps];
  double facts[warps][sweep_facts::count];
  cg_event event[2];
  alignas(16) T met[step_rows<T>];
  alignas(16) T delta[step_rows<T>];
};

// Barriers of the two groups, and of both together.
__device__ inline void row_barrier() { group_barrier(1, threads); }
__device__ inline void lead_barrier() { group_barrier(2, threads); }
__device__ inline void both_barrier() { group_barrier(3, 2 * threads); }

/// The group that leads.
template <class T>
struct lead_group {
  static constexpr int lanes = lane_columns<T>;

  const task<T>& in;
  shared_parts<T>& shared;
  T* inverse;  // in shared memory, or nullptr
  const T* V = nullptr;
  T m[part_columns<T>];
  std::int64_t held = -1;  // whose V and M are here
  bool held_forward = true;

  __device__ lead_group(const task<T>& task, shared_parts<T>& parts, T* room)
      : in(task), shared(parts), inverse(room) {}

  __device__ static int me() { return static_cast<int>(threadIdx.x) - threads; }
  __device__ static int row() { return me() / parts<T>; }
  __device__ static int first_column() { return me() % parts<T> * part_columns<T>; }

  __device__ void sweep(const half_sweep& now) {
    const auto blocks = static_cast<std::int64_t>(gridDim.x), mine = static_cast<std::int64_t>(blockIdx.x);
    if (mine >= now.steps) return;
    const std::int64_t last =
        (now.steps - 1 - mine) / blocks;  // the last of the own steps is mine + last*blocks
    for (std::int64_t k = 0; k <= last; ++k) lead(mine + (now.forward ? k : last - k) * blocks, now);
  }

 private:
  __device__ void lead(std::int64_t step, const half_sweep& now) {
    lead_barrier();  // nobody reads the last step's numbers any more
    if (held != step || held_forward != now.forward) hold(step, now.forward);
    const std::int64_t first = step * step_rows<T>;
    const bool one_each = me() < step_rows<T>;
    if (one_each) shared.met[me()] = from(in.met, first + me(), now.stamp);
    lead_barrier();
    T sum = times_inverse();
    if (now.place(step) > 0) {
      const std::int64_t before = now.step(now.place(step) - 1) * step_rows<T>;
      if (one_each) shared.delta[me()] = from(in.delta_words(now.stamp), before + me(), now.stamp);
      lead_barrier();
      sum -= times_coupling();
    }
#pragma unroll
    for (int d = 1; d < parts<T>; d *= 2) sum += __shfl_xor_sync(everyone, sum, d);
    if (first_column() == 0 && first + row() < in.n)
      send(in.delta_words(now.stamp) + (first + row()) * relay_words<T>, sum, now.stamp);
  }

  __device__ T from(const std::uint64_t* words, std::int64_t unknown, std::uint32_t stamp) const {
    T value{};
    if (unknown < in.n) receive(words + unknown * relay_words<T>, value, stamp);
    return value;
  }

  // This thread's part of a row of V times t, and of M times the change before.
  __device__ T times_inverse() const {
    const T* const own = V + lead_place<T>(row(), first_column());
    T sum[lanes] = {};
#pragma unroll 2
    for (int k = 0; k < part_columns<T>; k += lanes) {
      T t[lanes];
      load_lanes(shared.met + first_column() + k, t);
#pragma unroll
      for (int l = 0; l < lanes; ++l) sum[l] += own[(k + l) * step_rows<T>] * t[l];
    }
    return total(sum);
  }
  __device__ T times_coupling() const {
    T sum[lanes] = {};
#pragma unroll
    for (int k = 0; k < part_columns<T>; k += lanes) {
      T before[lanes];
      load_lanes(shared.delta + first_column() + k, before);
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

  // Brings V and M here.
  __device__ void hold(std::int64_t step, bool forward) {
    const T* const stored = in.inverse[forward ? 0 : 1] + step * lead_elements<T>;
    const T* const own =
        in.coupling[forward ? 0 : 1] + step * lead_elements<T> + lead_place<T>(row(), first_column());
#pragma unroll
    for (int k = 0; k < part_columns<T>; ++k) m[k] = own[k * step_rows<T>];
    V = stored;
    if (inverse != nullptr) {
      for (int k = me(); k < lead_elements<T>; k += threads) inverse[k] = stored[k];
      V = inverse;
    }
    held = step;
    held_forward = forward;
    lead_barrier();
  }
};

}  // namespace vouch::seidel_kernel
