// vouch/solve/dense_seidel.cuh -- exact Gauss-Seidel and SOR sweeps over a dense matrix: one cooperative kernel
// runs them all; private.
//
// A sweep takes the unknowns in steps of 512 bytes. For the rows of step s, t = r - A d with the newest d, but
// with the old one for the step before; then delta_s = V_s t - M_s delta_(s-1), where V_s is the inverse of the
// step's own triangle D/omega + L, and M_s is V_s times the block that couples both steps. Both are made
// beforehand, so that from delta_(s-1) to delta_s there is but one product with a small block.
//
// Mapping   A team of as many blocks as a step has rows forms its t, a row each; teams take the steps in turn.
//           Each block leads every gridDim-th step. Of a block's threads 256 sum rows (row_stream.cuh): of the
//           solution every one keeps the columns that it meets. They are some steps ahead of the chain of
//           changes, so that the matrix streams on while it moves: what the last steps change a warp of its own
//           takes off their sums as soon as it is known. 256 others lead, with most of their part of M in
//           registers. One thread has the matrix brought in.
// Talk      Numbers travel as flagged words (flagged_words.cuh). No block waits for all others within a sweep; the
//           first step of a sweep needs all of the one before, from all blocks. So a word of delta may be
//           written again two sweeps later, one of t in the next sweep.
// Bound     by memory, one read of the matrix a sweep; for small matrices by the chain of steps, about a
//           microsecond each.
// Bits      every sum has a fixed order, every block takes the same decision from the same numbers.
#pragma once
#include <cuda_runtime.h>

#include <cstdint>
#include <type_traits>

#include <vouch/core/gpu/flagged_words.cuh>
#include <vouch/solve/dense_seidel_mixing.cuh>
#include <vouch/solve/device_history.cuh>

namespace vouch::seidel_kernel {

/// Bytes of dynamic shared memory.
template <class T>
std::size_t shared_bytes(std::int64_t n, int stages, int stage_pieces, bool columns_shared,
                         bool inverse_shared) {
  return stage_ring::bytes(stages, stage_pieces * piece_bytes) +
         (inverse_shared ? carved_bytes<T>(shared_lead_elements<T>) : 0) +
         (columns_shared ? carved_bytes<T>(std::int64_t{pieces_of<T>(n)} * piece_columns<T>) : 0);
}

/// In the place of mixing<T> where nothing is mixed.
template <class T>
struct no_mixing {
  __device__ no_mixing(const task<T>&, const own_columns<T, T>&) {}
  __device__ bool worse(double) const { return false; }
  __device__ void go_back() const {}
  __device__ void next(double) const {}
};

template <class T, bool Mixed>
__global__ void __launch_bounds__(all_threads, 1) seidel_sweeps(const __grid_constant__ task<T> in) {
  extern __shared__ __align__(128) char memory[];
  __shared__ shared_parts<T> shared;
  char* free = memory;
  const stage_ring ring(free, in.stages, in.stage_pieces * piece_bytes);
  free += stage_ring::bytes(in.stages, in.stage_pieces * piece_bytes);
  T* const inverse = in.inverse_shared ? carve<T>(free, shared_lead_elements<T>) : nullptr;
  const std::int64_t columns = std::int64_t{pieces_of<T>(in.n)} * piece_columns<T>;
  T* const own_copy = in.columns != nullptr ? in.columns + blockIdx.x * columns : carve<T>(free, columns);
  if (threadIdx.x == 0) {
    ring.init();
    shared.init();
  }
  __syncthreads();

  const int thread = static_cast<int>(threadIdx.x);
  if (thread >= first_filling) {
    filler<T> fill(in);
    if (thread == first_filling)
      keep_filling(ring, fill, fill.enough(), *static_cast<volatile int*>(&shared.ended));
    return;
  }
  const int halves = in.order == sweep_order::symmetric ? 2 : 1;
  half_sweep now{steps_of<T>(in.n)};
  now.epoch = in.epoch;
  // The others follow the decision of those that sum rows.
  const auto follow_on = [&](auto& group) {
    for (cg_event event = cg_event::go_on; event == cg_event::go_on; event = shared.event[now.parity]) {
      for (int half = 0; half < halves; ++half) {
        now.begin(in.order, half, halves);
        group.sweep(now);
      }
      sweep_barrier();
      mbarrier_wait(&shared.decided, now.parity ^ 1);
    }
  };
  if (thread >= first_closing) {
    closing_warp<T> closing(in, shared);
    follow_on(closing);
    return;
  }
  if (thread >= first_leading) {
    lead_group<T> lead(in, shared, inverse);
    follow_on(lead);
    return;
  }

  row_group<T> rows(in, ring, shared, own_copy);
  std::conditional_t<Mixed, mixing<T>, no_mixing<T>> mix(in, rows.x);
  sweep_progress progress = in.progress;
  const bool speaks = blockIdx.x == 0 && thread == threads - 1;
  for (std::int64_t iteration = in.first;; ++iteration) {
    for (int half = 0; half < halves; ++half) {
      now.begin(in.order, half, halves);
      now.looks = now.last && (iteration + 1) % in.look == 0;
      if (now.looks && speaks) {
        const bool stop = *static_cast<volatile std::int32_t*>(&in.box->stop) != 0;
        store_flagged(in.wish + (now.epoch & 1), stop ? 1.0f : 0.0f, now.epoch);
      }
      rows.sweep(now);
    }
    const sweep_facts facts = rows.gather(now);
    const cg_event event = progress.take(facts, iteration);
    if (thread == 0) {
      shared.event[now.parity] = event;
      if (event != cg_event::go_on) *static_cast<volatile int*>(&shared.ended) = 1;
      mbarrier_arrive(&shared.decided);
    }
    if (speaks) {
      tell_host(*in.box, iteration, facts.met, event, now.looks);
      if (event != cg_event::go_on) in.box->mean_change = facts.change / static_cast<double>(in.n);
    }
    sweep_barrier();
    if (event != cg_event::go_on) {
      if (event == cg_event::limit && mix.worse(facts.met)) mix.go_back();
      break;
    }
    mix.next(facts.met);
  }
  rows.finish();
}

}  // namespace vouch::seidel_kernel
