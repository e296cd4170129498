// vouch/solve/dense_seidel.cuh -- exact Gauss-Seidel and SOR sweeps over a dense matrix: one cooperative kernel
// runs them all; private.
//
// A sweep takes the unknowns in steps of 512 bytes. For the rows of step s, t = r - A d with the newest d, but
// with the old one for the step before; then delta_s = V_s t - M_s delta_(s-1), where V_s is the inverse of the
// step's own triangle D/omega + L, and M_s is V_s times the block that couples both steps. Both are made
// beforehand, so that from delta_(s-1) to delta_s there is but one product with a small block.
//
// Mapping   A team of as many blocks as a step has rows forms its t, a row each; teams take the steps in turn.
//           Each block leads every gridDim-th step. 256 threads sum rows (row_stream.cuh): of the solution
//           every thread keeps the columns that it meets. 256 others lead: their part of M stays in registers.
// Talk      Numbers travel as stamped words (relay.cuh). No block waits for all others within a sweep; the
//           first step of a sweep needs all of the one before, from all blocks. So a word of delta may be
//           written again two sweeps later, one of t in the next sweep.
// Bound     by memory, one read of the matrix a sweep; for small matrices by the chain of steps, about a
//           microsecond each.
// Bits      every sum has a fixed order, every block takes the same decision from the same numbers.
#pragma once
#include <cuda_runtime.h>

#include <cstdint>

#include <vouch/core/relay.cuh>
#include <vouch/solve/dense_seidel_lead.cuh>
#include <vouch/solve/device_history.cuh>
#include <vouch/solve/row_stream.cuh>

namespace vouch::seidel_kernel {

/// Stages of one row.
template <class T>
__host__ __device__ int row_stages(std::int64_t n, int stage_pieces) {
  return (pieces_of<T>(n) + stage_pieces - 1) / stage_pieces;
}

/// Bytes of dynamic shared memory.
template <class T>
std::size_t shared_bytes(std::int64_t n, int stages, int stage_pieces, bool columns_shared,
                         bool inverse_shared) {
  return stage_ring::bytes(stages, stage_pieces * piece_bytes) +
         (inverse_shared ? carved_bytes<T>(lead_elements<T>) : 0) +
         (columns_shared ? carved_bytes<T>(std::int64_t{pieces_of<T>(n)} * piece_columns<T>) : 0);
}

// The rows of a block: one of every teams-th step.
template <class T>
struct own_rows {
  std::int64_t n, teams, team, inside;

  __device__ own_rows(std::int64_t unknowns, std::int64_t team_count)
      : n(unknowns), teams(team_count), team(blockIdx.x / step_rows<T>), inside(blockIdx.x % step_rows<T>) {}
  __device__ std::int64_t row(std::int64_t step) const { return step * step_rows<T> + inside; }
  __device__ bool in_step(std::int64_t step) const { return step % teams == team && row(step) < n; }
  __device__ std::int64_t count() const {
    const std::int64_t first = row(team), apart = teams * step_rows<T>;
    return first < n ? (n - 1 - first) / apart + 1 : 0;
  }
  // The k-th of them, and which one that of a step is.
  __device__ std::int64_t kth(std::int64_t k) const { return row(team + k * teams); }
  __device__ std::int64_t place(std::int64_t step) const { return (step - team) / teams; }
};

// The filling thread's walk over the stages of its block's rows, sweep after sweep.
template <class T>
struct filler {
  const task<T>& in;
  own_rows<T> own;
  bool forward;
  std::int64_t k;
  int stage = 0;  // of the row
  ring_place at{};

  __device__ filler(const task<T>& task)
      : in(task), own(task.n, task.teams), forward(task.order != sweep_order::backward) {
    k = forward ? 0 : own.count() - 1;
  }

  __device__ void fill(const stage_ring& ring) {
    const std::int64_t column = std::int64_t{stage} * in.stage_pieces * piece_columns<T>;
    const auto width =
        static_cast<unsigned>(min(std::int64_t{in.stage_pieces} * piece_columns<T>, in.n - column) * sizeof(T));
    ring.claim(at, width);
    ring.copy(at.slot, 0, in.a + own.kth(k) * in.ld + column, width);
    at.next(ring.stages());
    if (++stage < row_stages<T>(in.n, in.stage_pieces)) return;
    stage = 0;
    k += forward ? 1 : -1;
    if (k >= 0 && k < own.count()) return;
    if (in.order == sweep_order::symmetric) forward = !forward;
    k = forward ? 0 : own.count() - 1;
  }
};

// The group that sums rows.
template <class T>
struct row_group {
  static constexpr int lanes = lane_columns<T>;

  const task<T>& in;
  const stage_ring& ring;
  shared_parts<T>& shared;
  own_columns<T, T> x;
  own_rows<T> own;
  filler<T> fill;
  ring_place at{};
  std::int64_t ahead;   // stages that are filled before they are needed
  unsigned turn = 0;    // of shared.far
  sweep_facts facts{};  // of this thread's columns

  __device__ row_group(const task<T>& task, const stage_ring& stages, shared_parts<T>& parts, T* columns)
      : in(task), ring(stages), shared(parts), x(columns), own(task.n, task.teams), fill(task) {
    ahead = in.resident ? own.count() * row_stages<T>(in.n, in.stage_pieces) : max(1, in.stages - free_stages);
    if (threadIdx.x == 0)
      for (std::int64_t s = 0; s < ahead; ++s) fill.fill(ring);
    for (int p = 0; p < pieces_of<T>(in.n); ++p) {
      const std::int64_t column = column_of(p);
      T d[lanes] = {};
      if (column < in.n) load_lanes(in.d + column, d);
      store_lanes(d, x.piece(p));
    }
  }

  __device__ static int lane() { return static_cast<int>(threadIdx.x) % 32; }
  __device__ static int warp() { return static_cast<int>(threadIdx.x) / 32; }
  __device__ static std::int64_t column_of(int piece) {
    return std::int64_t{piece} * piece_columns<T> + static_cast<int>(threadIdx.x) * lanes;
  }
  // The warp whose columns are a step's unknowns.
  __device__ static int owner(std::int64_t step) { return static_cast<int>(step % warps); }
  __device__ static int piece_of(std::int64_t step) { return static_cast<int>(step / warps); }

  __device__ void sweep(const half_sweep& now) {
    for (std::int64_t s = 0; s < now.steps; ++s) {
      const std::int64_t step = now.step(s), awaited = s >= 2 ? now.step(s - 2) : -1;
      if (own.in_step(step)) {
        form_row(step, awaited, now);
      } else if (awaited >= 0 && warp() == owner(awaited)) {
        T delta[lanes];
        take(awaited, now, delta);
      }
    }
    for (std::int64_t s = max(now.steps - 2, std::int64_t{0}); s < now.steps; ++s) {
      T delta[lanes];
      if (warp() == owner(now.step(s))) take(now.step(s), now, delta);
    }
  }

  // What the sweep has met and changed: the same numbers in every thread of every block.
  __device__ sweep_facts gather(const half_sweep& now) {
    const double sums[3] = {sum_over_warp(facts.met), sum_over_warp(facts.change),
                            largest_of_warp(facts.largest_change)};
    const double largest = largest_of_warp(facts.largest);
    facts = {};
    if (lane() == 0) {
      for (int v = 0; v < 3; ++v) shared.facts[warp()][v] = sums[v];
      shared.facts[warp()][3] = largest;
      shared.facts[warp()][4] = 0;
      if (now.looks && warp() == 0) {
        float wish;
        receive(in.wish + (now.stamp & 1), wish, now.stamp);
        shared.facts[0][4] = wish;
      }
    }
    row_barrier();
    sweep_facts all{};
    for (int w = 0; w < warps; ++w) {
      const double* const part = shared.facts[w];
      all.met += part[0];
      all.change += part[1];
      all.largest_change = fmax(all.largest_change, part[2]);
      all.largest = fmax(all.largest, part[3]);
      all.wish += part[4];
    }
    return all;
  }

  // The solution, piece after piece by one block each, and an end to what is still on its way.
  __device__ void finish() {
    for (int p = static_cast<int>(blockIdx.x); p < pieces_of<T>(in.n); p += static_cast<int>(gridDim.x)) {
      if (column_of(p) >= in.n) break;
      T d[lanes];
      load_lanes(x.piece(p), d);
      store_lanes(d, in.d + column_of(p));
    }
    if (threadIdx.x != 0 || in.resident) return;
    for (std::int64_t s = 0; s < ahead; ++s) {
      ring.wait(at);
      at.next(ring.stages());
    }
  }

 private:
  // t of the block's row of a step. The columns of the step `awaited` come last: until they are there the sum
  // is complete with their old values.
  __device__ void form_row(std::int64_t step, std::int64_t awaited, const half_sweep& now) {
    const std::int64_t row = own.row(step);
    const T rhs = in.r[row];
    T near[lanes] = {};
    const double mine = sum_over_warp(sum_row(step, awaited, near));
    if (lane() == 0) shared.far[turn][warp()] = mine;
    row_barrier();
    const int last = awaited >= 0 ? owner(awaited) : 0;
    if (warp() == last) {
      double far = 0;
      for (int w = 0; w < warps; ++w) far += shared.far[turn][w];
      double rest = 0;
      if (awaited >= 0) {
        T delta[lanes];
        take(awaited, now, delta);
        T sum{};
#pragma unroll
        for (int l = 0; l < lanes; ++l) sum += near[l] * delta[l];
        rest = sum_over_warp(static_cast<double>(sum));
      }
      const T t = static_cast<T>(static_cast<double>(rhs) - far - rest);
      if (lane() == 0) send(in.met + row * relay_words<T>, t, now.stamp);
    }
    turn ^= 1;
  }

  // This thread's part of a row's sum; near becomes its entries in the columns of the step `awaited`.
  __device__ double sum_row(std::int64_t step, std::int64_t awaited, T (&near)[lanes]) {
    const int pieces = pieces_of<T>(in.n), stages = row_stages<T>(in.n, in.stage_pieces);
    const int near_piece = awaited >= 0 ? piece_of(awaited) : -1;
    const std::int64_t place = own.place(step), skipped = fill_order_place(place) * stages;
    T sum[lanes] = {};
    for (int stage = 0; stage < stages; ++stage) {
      if (in.resident) at = {static_cast<int>(skipped) + stage, 0};
      ring.wait(at);
      const T* const here = reinterpret_cast<const T*>(ring.data(at.slot)) + threadIdx.x * lanes;
      const int first = stage * in.stage_pieces, last = min(pieces, first + in.stage_pieces);
      for (int p = first; p < last; ++p) {
        if (column_of(p) >= in.n) break;
        T a[lanes], d[lanes];
        load_lanes(here + (p - first) * piece_columns<T>, a);
        load_lanes(x.piece(p), d);
#pragma unroll
        for (int l = 0; l < lanes; ++l) {
          sum[l] += a[l] * d[l];
          if (p == near_piece) near[l] = a[l];
        }
      }
      if (in.resident) continue;
      ring.release(at.slot);
      if (threadIdx.x == 0) fill.fill(ring);
      at.next(ring.stages());
    }
    double all = 0;
#pragma unroll
    for (int l = 0; l < lanes; ++l) all += sum[l];
    return all;
  }

  // Where a resident row stands: rows were brought in in the order of the first sweep.
  __device__ std::int64_t fill_order_place(std::int64_t place) const {
    return in.order == sweep_order::backward ? own.count() - 1 - place : place;
  }

  // Waits for the change of a step's unknowns, this warp's columns, and adds it to them.
  __device__ void take(std::int64_t step, const half_sweep& now, T (&delta)[lanes]) {
    const int p = piece_of(step);
    const std::int64_t column = column_of(p);
#pragma unroll
    for (int l = 0; l < lanes; ++l) delta[l] = T{};
    if (column >= in.n) return;
    T weight[lanes], d[lanes], before[lanes] = {};
    load_lanes(in.weight + column, weight);
    load_lanes(x.piece(p), d);
    if (now.second) load_lanes(in.forward_change_of(now.parity) + column, before);
    receive(in.delta_words(now.stamp) + column * relay_words<T>, delta, now.stamp);
#pragma unroll
    for (int l = 0; l < lanes; ++l) {
      d[l] += delta[l];
      const double met = static_cast<double>(delta[l]) * static_cast<double>(weight[l]);
      if (!now.second) facts.met += met * met;
      if (!now.last) continue;
      const double moved = fabs(static_cast<double>(delta[l]) + static_cast<double>(before[l]));
      facts.change += moved;
      facts.largest_change = fmax(facts.largest_change, moved);
      facts.largest = fmax(facts.largest, fabs(static_cast<double>(d[l])));
    }
    store_lanes(d, x.piece(p));
    if (!now.last) store_lanes(delta, in.forward_change_of(now.parity) + column);
  }
};

template <class T>
__global__ void __launch_bounds__(2 * threads, 1) seidel_sweeps(const __grid_constant__ task<T> in) {
  extern __shared__ __align__(128) char memory[];
  __shared__ shared_parts<T> shared;
  char* free = memory;
  const stage_ring ring(free, in.stages, in.stage_pieces * piece_bytes);
  free += stage_ring::bytes(in.stages, in.stage_pieces * piece_bytes);
  T* const inverse = in.inverse_shared ? carve<T>(free, lead_elements<T>) : nullptr;
  const std::int64_t columns = std::int64_t{pieces_of<T>(in.n)} * piece_columns<T>;
  T* const own_copy = in.columns != nullptr ? in.columns + blockIdx.x * columns : carve<T>(free, columns);
  if (threadIdx.x == 0) ring.init();
  __syncthreads();

  const int halves = in.order == sweep_order::symmetric ? 2 : 1;
  half_sweep now{steps_of<T>(in.n)};
  now.stamp = in.stamp;
  if (threadIdx.x >= threads) {
    lead_group<T> lead(in, shared, inverse);
    for (cg_event event = cg_event::go_on; event == cg_event::go_on; event = shared.event[now.parity]) {
      for (int half = 0; half < halves; ++half) {
        now.begin(in.order, half, halves);
        lead.sweep(now);
      }
      both_barrier();
    }
    return;
  }

  row_group<T> rows(in, ring, shared, own_copy);
  sweep_progress progress = in.progress;
  const bool speaks = blockIdx.x == 0 && threadIdx.x == threads - 1;
  for (std::int64_t iteration = in.first;; ++iteration) {
    for (int half = 0; half < halves; ++half) {
      now.begin(in.order, half, halves);
      now.looks = now.last && (iteration + 1) % in.look == 0;
      if (now.looks && speaks) {
        const bool stop = *static_cast<volatile std::int32_t*>(&in.box->stop) != 0;
        send(in.wish + (now.stamp & 1), stop ? 1.0f : 0.0f, now.stamp);
      }
      rows.sweep(now);
    }
    const sweep_facts facts = rows.gather(now);
    const cg_event event = progress.take(facts, iteration);
    if (threadIdx.x == 0) shared.event[now.parity] = event;
    if (speaks) {
      tell_host(*in.box, iteration, facts.met, event, now.looks);
      if (event != cg_event::go_on) in.box->mean_change = facts.change / static_cast<double>(in.n);
    }
    both_barrier();
    if (event != cg_event::go_on) break;
  }
  rows.finish();
}

}  // namespace vouch::seidel_kernel
