// vouch/solve/device_sweeps_facts.cuh -- where the blocks of device_sweeps.cuh meet, and what they make of the
// facts of a sweep; private.
#pragma once
#include <cuda_runtime.h>

#include <cstdint>

#include <vouch/core/grid_barrier.cuh>
#include <vouch/solve/chebyshev_steps.hpp>
#include <vouch/solve/mixing_weights.hpp>
#include <vouch/solve/sweep_progress.hpp>

namespace vouch::device_sweeps {

inline constexpr unsigned threads = 512;
inline constexpr int warps = 16;

/// Where all threads of all blocks meet; what was written before is everybody's to read after.
struct meeting_point {
  unsigned* counter;
  unsigned number = 0;

  __device__ void meet() {
    __syncthreads();
    if (gridDim.x == 1) return;
    ++number;
    if (threadIdx.x == 0) grid_barrier(counter, gridDim.x, number);
    __syncthreads();
  }
};

inline constexpr int most_numbers = sweep_facts::count + 2 * most_mixed;

struct shared_facts {
  double part[most_numbers][warps];
  double total[most_numbers];
  double products[most_mixed * most_mixed], weight[most_mixed];
  // One thread a block decides for all, from the same numbers in every block.
  sweep_progress progress;
  chebyshev_steps chebyshev;
  mixing_course course;
  sweep_facts now;
  cg_event event;
  bool worse;       // the mixed iterate gives way to the plain one
  int differences;  // that are mixed into the next
  bool in_doubt;    // sweeps in place believe that they are done: the residual itself has to say so
};

// Facts 2 and 3 are the largest of all, the others sums.
__device__ inline double combined(int fact, double a, double b) {
  return fact == 2 || fact == 3 ? fmax(a, b) : a + b;
}
__device__ inline double over_warp(int fact, double value) {
  for (int d = 16; d > 0; d /= 2) value = combined(fact, value, __shfl_xor_sync(~0u, value, d));
  return value;
}

// The first `count` numbers of all threads, known to all of them afterwards.
__device__ __forceinline__ void exchange(shared_facts& shared, const double* values, int count, double* sums,
                                         int numbers, meeting_point& point) {
  const int warp = static_cast<int>(threadIdx.x) / 32, lane = static_cast<int>(threadIdx.x) % 32;
#pragma unroll
  for (int v = 0; v < count; ++v) {
    const double value = over_warp(v, values[v]);
    if (lane == 0) shared.part[v][warp] = value;
  }
  __syncthreads();
  // Blocks that are one meeting ahead write to the other half.
  double* const now = sums + (point.number & 1) * (numbers * std::int64_t{gridDim.x});
  for (int v = warp; v < count; v += warps) {
    const double value = over_warp(v, lane < warps ? shared.part[v][lane] : 0.0);  // no largest is negative
    if (lane == 0) (gridDim.x == 1 ? shared.total[v] : now[v * gridDim.x + blockIdx.x]) = value;
  }
  point.meet();
  if (gridDim.x == 1) return;
  for (int v = warp; v < count; v += warps) {
    double value = 0;
    for (unsigned b = static_cast<unsigned>(lane); b < gridDim.x; b += 32)
      value = combined(v, value, __ldcg(now + v * gridDim.x + b));
    value = over_warp(v, value);
    if (lane == 0) shared.total[v] = value;
  }
  __syncthreads();
}

/// One thread a block, after the facts of a sweep are there.
__device__ inline void judge(shared_facts& shared, bool in_place, std::int64_t iteration) {
  const double* const total = shared.total;
  shared.now = {total[0], total[1], total[2], total[3], total[4]};
  shared.event = shared.progress.take(shared.now, iteration);
  shared.in_doubt = in_place && shared.event == cg_event::reached && total[0] <= shared.progress.trigger;
}

/// The same thread, after a doubt was looked into: where so much is left of the residual sweeps go on until
/// they meet as much less as is missing.
__device__ inline void settle(shared_facts& shared, double target, std::int64_t iteration) {
  const double squares = shared.total[0], met = shared.now.met;
  if (squares <= target) return;
  const double missing = met > 0 ? target * (met / squares) : target;
  shared.progress.trigger = 0.81 * fmin(shared.progress.trigger, missing);
  shared.event = iteration + 1 >= shared.progress.limit ? cg_event::limit : cg_event::go_on;
}

/// The same thread, where sweeps go on: how the next iterate is mixed.
__device__ inline void decide_mixing(shared_facts& shared) {
  mixing_course& course = shared.course;
  shared.worse = course.worse(shared.now.met);
  const bool mixed =
      !shared.worse && course.weigh(shared.total + sweep_facts::count, shared.products, shared.weight);
  shared.differences = mixed ? course.held() : 0;
  course.advance(shared.worse, shared.now.met, mixed);
}

}  // namespace vouch::device_sweeps
