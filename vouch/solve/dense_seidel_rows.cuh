// vouch/solve/dense_seidel_rows.cuh -- the threads of a Gauss-Seidel sweep that sum rows, the one that brings
// them, and the warp that closes them; private.
#pragma once
#include <cuda_runtime.h>

#include <cstdint>

#include <vouch/core/gpu/flagged_words.cuh>
#include <vouch/core/gpu/l2_policy.cuh>
#include <vouch/solve/dense_seidel_lead.cuh>

namespace vouch::seidel_kernel {

/// Stages of one row.
template <class T>
__host__ __device__ int row_stages(std::int64_t n, int stage_pieces) {
  return (pieces_of<T>(n) + stage_pieces - 1) / stage_pieces;
}

/// The rows of a block: one of every teams-th step.
template <class T>
struct own_rows {
  std::int64_t n;
  int teams, team, inside;

  __device__ own_rows(std::int64_t unknowns, int team_count)
      : n(unknowns),
        teams(team_count),
        team(static_cast<int>(blockIdx.x) / step_rows<T>),
        inside(static_cast<int>(blockIdx.x) % step_rows<T>) {}
  __device__ std::int64_t row(int step) const { return std::int64_t{step} * step_rows<T> + inside; }
  __device__ bool in_step(int step) const { return step % teams == team && row(step) < n; }
  __device__ int count() const {
    const int steps = static_cast<int>((n - inside + step_rows<T> - 1) / step_rows<T>);  // that have such a row
    return team < steps ? (steps - 1 - team) / teams + 1 : 0;
  }
  /// The k-th of them, and which one that of a step is.
  __device__ std::int64_t kth(int k) const { return row(team + k * teams); }
  __device__ int place(int step) const { return (step - team) / teams; }
};

/// The filling thread's walk over the stages of its block's rows, sweep after sweep.
template <class T>
struct filler {
  const task<T>& in;
  own_rows<T> own;
  bool forward;
  int k;
  int stage = 0;  // of the row
  ring_place at{};
  std::uint64_t keep = evict_last_policy(), pass = evict_first_policy();

  __device__ filler(const task<T>& task)
      : in(task), own(task.n, task.teams), forward(task.order != sweep_order::backward) {
    k = forward ? 0 : own.count() - 1;
  }
  /// Stages that there are; negative: they go round and round.
  __device__ std::int64_t enough() const {
    const int all = own.count() * row_stages<T>(in.n, in.stage_pieces);
    return all == 0 || in.resident != 0 ? all : -1;
  }

  __device__ void fill(const stage_ring& ring) {
    const std::int64_t column = std::int64_t{stage} * in.stage_pieces * piece_columns<T>;
    const auto width =
        static_cast<unsigned>(min(std::int64_t{in.stage_pieces} * piece_columns<T>, in.n - column) * sizeof(T));
    ring.claim(at, width);
    const bool kept = k * row_stages<T>(in.n, in.stage_pieces) + stage < in.kept;
    ring.copy(at.slot, 0, in.a + own.kth(k) * in.ld + column, width, kept ? keep : pass);
    if (++stage < row_stages<T>(in.n, in.stage_pieces)) return;
    stage = 0;
    k += forward ? 1 : -1;
    if (k >= 0 && k < own.count()) return;
    if (in.order == sweep_order::symmetric) forward = !forward;
    k = forward ? 0 : own.count() - 1;
  }
};

/// The group that sums rows, some steps ahead of what is known.
template <class T>
struct row_group {
  static constexpr int lanes = lane_columns<T>;

  const task<T>& in;
  const stage_ring& ring;
  shared_parts<T>& shared;
  own_columns<T, T> x;
  own_rows<T> own;
  ring_place at{};
  unsigned turn = 0;    // of the numbers left in shared
  sweep_facts facts{};  // of this thread's columns

  __device__ row_group(const task<T>& task, const stage_ring& stages, shared_parts<T>& parts, T* columns)
      : in(task), ring(stages), shared(parts), x(columns), own(task.n, task.teams) {
    for (int p = 0; p < pieces_of<T>(in.n); ++p) {
      T d[lanes] = {};
      if (column_of(p) < in.n) load_lanes(in.d + column_of(p), d);
      store_lanes(d, x.piece(p));
    }
  }

  __device__ static int lane() { return static_cast<int>(threadIdx.x) % 32; }
  __device__ static int warp() { return static_cast<int>(threadIdx.x) / 32; }
  __device__ static std::int64_t column_of(int piece) {
    return std::int64_t{piece} * piece_columns<T> + static_cast<int>(threadIdx.x) * lanes;
  }
  // The warp whose columns are a step's unknowns.
  __device__ static int owner(int step) { return step % warps; }
  __device__ static int piece_of(int step) { return step / warps; }

  __device__ void sweep(const half_sweep& now) {
    const int turns = turns_of(now);
    for (int s = 0; s < turns + ahead; ++s, ++turn) {
      if (s >= ahead) {
        shared.await_turn(shared.told, turn - ahead);
        const int known = s - ahead - 2;  // whose change was told
        if (known >= 0 && warp() == owner(now.step(known)))
          take(now.step(known), now, shared.change[(turn - ahead) % depth]);
      }
      if (s < now.steps && own.in_step(now.step(s))) sum_row(s, now);
      if (s >= turns) continue;
      mbarrier_arrive(shared.summed + turn % depth);
    }
    turn -= ahead;
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
        wait_load(in.wish + (now.epoch & 1), wish, now.epoch);
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

  // The solution, piece after piece by one block each.
  __device__ void finish() {
    for (int p = static_cast<int>(blockIdx.x); p < pieces_of<T>(in.n); p += static_cast<int>(gridDim.x)) {
      if (column_of(p) >= in.n) break;
      T d[lanes];
      load_lanes(x.piece(p), d);
      store_lanes(d, in.d + column_of(p));
    }
  }

 private:
  // The block's row of the s-th step: this warp's part of the sum, and of the entries in the columns of the
  // steps that are not known yet, whose old values are in the sum.
  __device__ void sum_row(int s, const half_sweep& now) {
    const unsigned place = turn % depth;
    // Of these steps, one after the other, at most one has its columns in this warp.
    int behind = ahead, near_piece = -1;
    if (s >= 2) {
      const int newest = now.step(s - 2);
      behind = ((now.forward ? newest - warp() : warp() - newest) % warps + warps) % warps;
      if (behind < ahead && behind <= s - 2)
        near_piece = piece_of(now.forward ? newest - behind : newest + behind);
    }
    const double mine =
        sum_over_warp(sum_pieces(now.step(s), near_piece, shared.near[place][min(behind, ahead - 1)]));
    if (lane() == 0) shared.far[place][warp()] = mine;
  }

  // This thread's part of a row's sum; its entries of one piece go to near.
  __device__ double sum_pieces(int step, int near_piece, T* near) {
    const int stages = row_stages<T>(in.n, in.stage_pieces);
    // Pieces in which this thread has columns.
    const int pieces = column_of(pieces_of<T>(in.n) - 1) < in.n ? pieces_of<T>(in.n) : pieces_of<T>(in.n) - 1;
    if (in.resident) at = {fill_order_place(own.place(step)) * stages, 0};
    T sum[lanes] = {};
    for (int stage = 0; stage < stages; ++stage) {
      ring.wait(at);
      const int first = stage * in.stage_pieces, last = min(pieces, first + in.stage_pieces);
      const T* const here = reinterpret_cast<const T*>(ring.data(at.slot)) + threadIdx.x * lanes;
#pragma unroll 4
      for (int p = first; p < last; ++p) {
        T a[lanes], d[lanes];
        load_lanes(here + (p - first) * piece_columns<T>, a);
        load_lanes(x.piece(p), d);
#pragma unroll
        for (int l = 0; l < lanes; ++l) sum[l] += a[l] * d[l];
      }
      if (near_piece >= first && near_piece < first + in.stage_pieces) {
        T a[lanes] = {};
        if (near_piece < pieces) load_lanes(here + (near_piece - first) * piece_columns<T>, a);
        store_lanes(a, near + lane() * lanes);
      }
      if (!in.resident) ring.release(at.slot);
      at.next(ring.stages());
    }
    double all = 0;
#pragma unroll
    for (int l = 0; l < lanes; ++l) all += sum[l];
    return all;
  }

  // Where a resident row stands: rows were brought in in the order of the first sweep.
  __device__ int fill_order_place(int place) const {
    return in.order == sweep_order::backward ? own.count() - 1 - place : place;
  }

  // Adds the change of a step's unknowns, this warp's columns, to them.
  __device__ void take(int step, const half_sweep& now, const T* change) {
    const int p = piece_of(step);
    const std::int64_t column = column_of(p);
    if (column >= in.n) return;
    T delta[lanes], weight[lanes], d[lanes], before[lanes] = {};
    load_lanes(change + lane() * lanes, delta);
    load_lanes(in.weight + column, weight);
    load_lanes(x.piece(p), d);
    if (now.second) load_lanes(in.forward_change_of(now.parity) + column, before);
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

/// The warp that closes rows: it waits for the change of a step, takes it off the sums that left it out, and
/// sends what the row of the next step but one has met.
template <class T>
struct closing_warp {
  static constexpr int lanes = lane_columns<T>;

  const task<T>& in;
  shared_parts<T>& shared;
  own_rows<T> own;
  unsigned turn = 0;
  T change[ahead][lanes] = {};  // of the steps s-2, s-3, ...

  __device__ closing_warp(const task<T>& task, shared_parts<T>& parts)
      : in(task), shared(parts), own(task.n, task.teams) {}

  __device__ static int lane() { return static_cast<int>(threadIdx.x) % 32; }

  __device__ void sweep(const half_sweep& now) {
    for (int s = 0; s < turns_of(now); ++s, ++turn) {
      const bool has_row = s < now.steps && own.in_step(now.step(s));
      const double rhs = has_row ? in.r[own.row(now.step(s))] : T{};
      shared.await_turn(shared.summed, turn);
#pragma unroll
      for (int k = ahead - 1; k > 0; --k)
#pragma unroll
        for (int l = 0; l < lanes; ++l) change[k][l] = change[k - 1][l];
      double rest = 0;
      T late{};
      if (has_row) {
        rest = rhs - far();
#pragma unroll
        for (int k = 1; k < ahead; ++k)
          if (s - 2 >= k) late += near_times_change(k);
      }
      if (s >= 2) receive_change(now.step(s - 2), now);
      if (has_row) {
        if (s >= 2) late += near_times_change(0);
        const T t = static_cast<T>(rest - static_cast<double>(sum_over_warp_as_is(late)));
        if (lane() == 0) store_flagged(in.met + own.row(now.step(s)) * flagged_words<T>, t, now.epoch);
      }
      if (s >= 2) store_lanes(change[0], shared.change[turn % depth] + lane() * lanes);
      mbarrier_arrive(shared.told + turn % depth);
      if (lane() == 0) shared.pass_turn(turn + 1);
    }
  }

 private:
  __device__ double far() const {
    double sum = 0;
    for (int w = 0; w < warps; ++w) sum += shared.far[turn % depth][w];
    return sum;
  }
  __device__ T near_times_change(int k) const {
    T near[lanes], sum{};
    load_lanes(shared.near[turn % depth][k] + lane() * lanes, near);
#pragma unroll
    for (int l = 0; l < lanes; ++l) sum += near[l] * change[k][l];
    return sum;
  }
  __device__ void receive_change(int step, const half_sweep& now) {
    const std::int64_t column = std::int64_t{step} * step_rows<T> + lane() * lanes;
#pragma unroll
    for (int l = 0; l < lanes; ++l) change[0][l] = T{};
    if (column < in.n) wait_load(in.delta_words(now.epoch) + column * flagged_words<T>, change[0], now.epoch);
  }
  __device__ static T sum_over_warp_as_is(T v) {
    for (int d = 16; d > 0; d /= 2) v += __shfl_xor_sync(everyone, v, d);
    return v;
  }
};

}  // namespace vouch::seidel_kernel
