// Exact Gauss-Seidel and SOR sweeps over a dense matrix: one cooperative kernel runs them all.
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
// Messages  Numbers travel as flagged words (flagged_words.cuh). No block waits for all others within a sweep; the
//           first step of a sweep needs all of the one before, from all blocks. So a word of delta may be
//           written again two sweeps later, one of t in the next sweep.
// Bound     by memory, one read of the matrix a sweep; for small matrices by the chain of steps, about a
//           microsecond each.
// Bits      every sum has a fixed order, every block takes the same decision from the same numbers.
#include <cuda_runtime.h>

#include <cstdint>
#include <string>
#include <type_traits>

#include <vouch/core/error.hpp>
#include <vouch/core/gpu/flagged_words.cuh>
#include <vouch/core/gpu/l2_policy.cuh>
#include <vouch/core/gpu/mbarrier.cuh>
#include <vouch/solve/loop/pinned_history.cuh>
#include <vouch/solve/loop/pinned_history.hpp>
#include <vouch/solve/stationary/anderson_coefficients.hpp>
#include <vouch/solve/stationary/dense_engine_cuda.cuh>
#include <vouch/solve/stationary/row_stream.cuh>
#include <vouch/solve/stationary/stationary_options.hpp>
#include <vouch/solve/stationary/sweep_progress.hpp>

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

struct anderson_numbers;

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
  int depth = 0;                   // of Anderson acceleration
  T* anderson = nullptr;           // its vectors, of each block
  anderson_numbers* anderson_scratch = nullptr;  // one a block
  pinned_history* box = nullptr;
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
  solver_event event[2];
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

// The threads that sum rows, the one that has them copied, and the warp that closes them.

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
    const bool kept = k * row_stages<T>(in.n, in.stage_pieces) + stage < in.kept;
    ring.copy(at.slot, 0, in.a + own.kth(k) * in.ld + column, width, kept ? keep : pass);
    ring.claim(at, width);
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

// Anderson acceleration. Every block has the whole solution, so every block combines iterates by itself, all with
// the same numbers: nothing is sent. A summing thread keeps the history of its own columns.

namespace vouch::seidel_kernel {

/// Numbers that the summing threads of a block leave for each other.
struct anderson_numbers {
  double part[2 * most_mixed][warps];
  double total[2 * most_mixed];
  double products[most_mixed * most_mixed];
  double weight[most_mixed];
  int differences;  // that are mixed into the next iterate
};

/// Vectors of a block: the iterate before the sweep, the last change and the last iterate, the plain iterate
/// that the mixed one replaced, `depth` differences of each kind.
__host__ __device__ constexpr std::int64_t anderson_vectors(int depth) { return 4 + 2 * std::int64_t{depth}; }

/// What a summing thread does between two sweeps.
template <class T>
class anderson_step {
 public:
  __device__ anderson_step(const task<T>& task, const own_columns<T, T>& columns)
      : in_(task),
        x_(columns),
        length_(std::int64_t{pieces_of<T>(task.n)} * piece_columns<T>),
        own_(task.anderson + blockIdx.x * anderson_vectors(task.depth) * length_),
        numbers_(task.anderson_scratch[blockIdx.x]),
        course_{task.depth} {
    copy(x_, vector(before));
  }

  __device__ bool worse(double met) const { return course_.worse(met); }
  /// Puts the plain iterate in the place of the solution.
  __device__ void go_back() const { copy(vector(plain), x_); }

  /// Puts the next iterate there, after a sweep that met so much.
  __device__ void next(double met) {
    const bool worse = course_.worse(met);
    double products[2 * most_mixed] = {};
    take_differences(products);
    const int held = course_.held();
    for (int v = 0; v < 2 * held; ++v) {
      const double all = sum_over_warp(products[v]);
      if (threadIdx.x % 32 == 0) numbers_.part[v][threadIdx.x / 32] = all;
    }
    row_barrier();
    if (threadIdx.x < 32) decide(worse, held);
    row_barrier();
    const int differences = numbers_.differences;
    combine(worse, differences);
    course_.advance(worse, met, differences > 0);
  }

 private:
  static constexpr int lanes = lane_columns<T>;
  enum : int { before, last_change, last_g, plain, changes };

  __device__ own_columns<T, T> vector(int number) const { return {own_ + number * length_}; }
  __device__ int images() const { return changes + in_.depth; }
  /// The pieces in which this thread has columns are the first of all.
  __device__ bool has(int piece) const { return row_group<T>::column_of(piece) < in_.n; }

  __device__ void copy(const own_columns<T, T>& from, const own_columns<T, T>& to) const {
    for (int p = 0; has(p); ++p) {
      T v[lanes];
      load_lanes(from.piece(p), v);
      store_lanes(v, to.piece(p));
    }
  }

  // This thread's part of the products of the newest difference with all, then of all with the last change.
  __device__ void take_differences(double* products) const {
    const int held = course_.held(), slot = course_.slot;
    for (int p = 0; has(p); ++p) {
      T g[lanes], change[lanes], newest[lanes] = {}, v[lanes];
      load_lanes(x_.piece(p), g);
      load_lanes(vector(before).piece(p), v);
#pragma unroll
      for (int l = 0; l < lanes; ++l) change[l] = g[l] - v[l];
      if (course_.has_last) {
        load_lanes(vector(last_change).piece(p), v);
#pragma unroll
        for (int l = 0; l < lanes; ++l) newest[l] = change[l] - v[l];
        store_lanes(newest, vector(changes + slot).piece(p));
        load_lanes(vector(last_g).piece(p), v);
#pragma unroll
        for (int l = 0; l < lanes; ++l) v[l] = g[l] - v[l];
        store_lanes(v, vector(images() + slot).piece(p));
      }
      store_lanes(change, vector(last_change).piece(p));
      store_lanes(g, vector(last_g).piece(p));
      for (int k = 0; k < held; ++k) {
        load_lanes(vector(changes + k).piece(p), v);
#pragma unroll
        for (int l = 0; l < lanes; ++l) {
          products[k] += static_cast<double>(v[l]) * static_cast<double>(newest[l]);
          products[held + k] += static_cast<double>(v[l]) * static_cast<double>(change[l]);
        }
      }
    }
  }

  // One warp.
  __device__ void decide(bool worse, int held) const {
    const int v = static_cast<int>(threadIdx.x);
    if (v < 2 * held) {
      double all = 0;
      for (int w = 0; w < warps; ++w) all += numbers_.part[v][w];
      numbers_.total[v] = all;
    }
    __syncwarp();
    if (v != 0) return;
    const bool mixed = !worse && course_.weigh(numbers_.total, numbers_.products, numbers_.weight);
    numbers_.differences = mixed ? held : 0;
  }

  __device__ void combine(bool worse, int differences) const {
    for (int p = 0; has(p); ++p) {
      T x[lanes];
      load_lanes(worse ? vector(plain).piece(p) : x_.piece(p), x);
      if (!worse) store_lanes(x, vector(plain).piece(p));
      for (int k = 0; k < differences; ++k) {
        T image[lanes];
        load_lanes(vector(images() + k).piece(p), image);
        const T weight = static_cast<T>(numbers_.weight[k]);
#pragma unroll
        for (int l = 0; l < lanes; ++l) x[l] -= weight * image[l];
      }
      store_lanes(x, x_.piece(p));
      store_lanes(x, vector(before).piece(p));
    }
  }

  const task<T>& in_;
  const own_columns<T, T>& x_;
  std::int64_t length_;
  T* own_;
  anderson_numbers& numbers_;
  anderson_course course_;
};

}  // namespace vouch::seidel_kernel

namespace vouch::seidel_kernel {

/// Bytes of dynamic shared memory.
template <class T>
std::size_t shared_bytes(std::int64_t n, int stages, int stage_pieces, bool columns_shared,
                         bool inverse_shared) {
  return stage_ring::bytes(stages, stage_pieces * piece_bytes) +
         (inverse_shared ? carved_bytes<T>(shared_lead_elements<T>) : 0) +
         (columns_shared ? carved_bytes<T>(std::int64_t{pieces_of<T>(n)} * piece_columns<T>) : 0);
}

/// In the place of anderson_step<T> where nothing is mixed.
template <class T>
struct no_acceleration {
  __device__ no_acceleration(const task<T>&, const own_columns<T, T>&) {}
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
    for (solver_event event = solver_event::running; event == solver_event::running;
         event = shared.event[now.parity]) {
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
  std::conditional_t<Mixed, anderson_step<T>, no_acceleration<T>> mix(in, rows.x);
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
    const solver_event event = progress.take(facts, iteration);
    if (thread == 0) {
      shared.event[now.parity] = event;
      if (event != solver_event::running) *static_cast<volatile int*>(&shared.ended) = 1;
      mbarrier_arrive(&shared.decided);
    }
    if (speaks) {
      publish_to_host(*in.box, iteration, facts.met, event, now.looks);
      if (event != solver_event::running) in.box->mean_change = facts.change / static_cast<double>(in.n);
    }
    sweep_barrier();
    if (event != solver_event::running) {
      if (event == solver_event::iteration_limit && mix.worse(facts.met)) mix.go_back();
      break;
    }
    mix.next(facts.met);
  }
  rows.finish();
}

}  // namespace vouch::seidel_kernel

// V and M.

namespace vouch::seidel_kernel {

/// Bytes of dynamic shared memory of invert_steps.
template <class T>
constexpr std::size_t invert_bytes = static_cast<std::size_t>(step_rows<T>) * step_rows<T>*(sizeof(double) +
                                                                                            sizeof(T));

// Rows of the triangles that are inverted column by column; larger ones are put together.
constexpr int base_rows = 32;

// put(i, j, sum over k of a(i, k) b(k, j)) for i, j, k < Size: a lane takes every 32nd column, a warp every 8th
// row.
template <int Size, class Left, class Right, class Put>
__device__ void multiply(const Left& a, const Right& b, const Put& put) {
  constexpr int down = Size / warps, across = Size / 32;
  const int warp = static_cast<int>(threadIdx.x) / 32, lane = static_cast<int>(threadIdx.x) % 32;
  double sum[down][across] = {};
  for (int k = 0; k < Size; ++k) {
    double right[across];
#pragma unroll
    for (int c = 0; c < across; ++c) right[c] = b(k, lane + 32 * c);
#pragma unroll
    for (int r = 0; r < down; ++r) {
      const double left = a(warp + warps * r, k);
#pragma unroll
      for (int c = 0; c < across; ++c) sum[r][c] = fma(left, right[c], sum[r][c]);
    }
  }
#pragma unroll
  for (int r = 0; r < down; ++r)
#pragma unroll
    for (int c = 0; c < across; ++c) put(warp + warps * r, lane + 32 * c, sum[r][c]);
}

// Inverses of neighbouring triangles of Size rows become those of twice as many: below the diagonal
// -X_22 (L_21 X_11). The place above it, which is not looked at, holds the product in brackets meanwhile.
template <int Size, int Rows, class T>
__device__ void merge_triangles(const T* L, double* X) {
  if constexpr (Size < Rows) {
    for (int o = 0; o < Rows; o += 2 * Size)
      multiply<Size>([&](int i, int k) { return static_cast<double>(L[(o + Size + i) * Rows + o + k]); },
                     [&](int k, int j) { return X[(o + k) * Rows + o + j]; },
                     [&](int i, int j, double sum) { X[(o + i) * Rows + o + Size + j] = sum; });
    __syncthreads();
    for (int o = 0; o < Rows; o += 2 * Size)
      multiply<Size>([&](int i, int k) { return X[(o + Size + i) * Rows + o + Size + k]; },
                     [&](int k, int j) { return X[(o + k) * Rows + o + Size + j]; },
                     [&](int i, int j, double sum) { X[(o + Size + i) * Rows + o + j] = -sum; });
    __syncthreads();
    // What is above the diagonal of the larger triangles' halves must be zero for the next turn.
    for (int o = 0; o < Rows; o += 2 * Size)
      for (int e = static_cast<int>(threadIdx.x); e < Size * Size; e += threads)
        X[(o + e / Size) * Rows + o + Size + e % Size] = 0;
    __syncthreads();
    merge_triangles<2 * Size, Rows>(L, X);
  }
}

// A block per step, in double: X = (D/omega + L)^-1, where rows count in the order of the sweep and the
// identity fills up what the last step lacks; then M = X C, C the block that couples the step with the one
// before. Bound by arithmetic and latency. V and M are zeroed before.
template <class T>
__global__ void __launch_bounds__(threads)
    invert_steps(const T* __restrict__ a, std::int64_t n, std::int64_t ld, const T* __restrict__ weight,
                 int forward, T* __restrict__ V, T* __restrict__ M) {
  constexpr int rows = step_rows<T>;
  extern __shared__ __align__(128) char memory[];
  double* const X = reinterpret_cast<double*>(memory);
  T* const block = reinterpret_cast<T*>(X + rows * rows);
  const int thread = static_cast<int>(threadIdx.x);
  const std::int64_t step = blockIdx.x, first = step * rows;
  const int size = static_cast<int>(min(std::int64_t{rows}, n - first));
  const auto at = [&](int i) { return forward != 0 ? i : size - 1 - i; };

  for (int e = thread; e < rows * rows; e += threads) {
    const int i = e / rows, j = e % rows;
    block[e] = i < size && j < size ? a[(first + at(i)) * ld + first + at(j)] : T{};
    X[e] = 0;
  }
  __syncthreads();
  if (thread < rows) {
    const int top = thread / base_rows * base_rows;
    for (int i = thread; i < top + base_rows; ++i) {
      double sum[4] = {i == thread ? 1.0 : 0.0, 0, 0, 0};
      for (int j = top; j < i; j += 4)  // beyond i stand zeros
#pragma unroll
        for (int l = 0; l < 4; ++l)
          sum[l] -= static_cast<double>(block[i * rows + j + l]) * X[(j + l) * rows + thread];
      X[i * rows + thread] = ((sum[0] + sum[1]) + (sum[2] + sum[3])) /
                             (i < size ? static_cast<double>(weight[first + at(i)]) : 1.0);
    }
  }
  __syncthreads();
  merge_triangles<base_rows, rows>(block, X);

  T* const own_V = V + step * lead_elements<T>;
  T* const own_M = M + step * lead_elements<T>;
  for (int e = thread; e < size * rows; e += threads)
    if (const int j = e % rows; j < size) own_V[lead_place<T>(at(e / rows), at(j))] = static_cast<T>(X[e]);

  const std::int64_t before = forward != 0 ? first - rows : first + rows;
  if (before < 0 || before >= n) return;
  const int width = static_cast<int>(min(std::int64_t{rows}, n - before));
  for (int e = thread; e < rows * rows; e += threads) {
    const int i = e / rows, j = e % rows;
    block[e] = i < size && j < width ? a[(first + at(i)) * ld + before + j] : T{};
  }
  __syncthreads();
  multiply<rows>([&](int i, int k) { return X[i * rows + k]; },
                 [&](int k, int j) { return static_cast<double>(block[k * rows + j]); },
                 [&](int i, int j, double sum) {
                   if (i < size && j < width) own_M[lead_place<T>(at(i), j)] = static_cast<T>(sum);
                 });
}

}  // namespace vouch::seidel_kernel

// Plans and runs the kernel.

namespace vouch {
namespace {

using namespace seidel_kernel;

// How the kernel uses the GPU.
struct plan {
  std::int64_t blocks = 0;
  int teams = 1;
  int stage_pieces = 2;
  int stages = 0;
  bool resident = false;
  bool columns_shared = true;
  bool inverse_shared = true;
  std::size_t bytes = 0;
};

template <class T>
auto kernel_of(int depth) {
  return depth > 0 ? seidel_sweeps<T, true> : seidel_sweeps<T, false>;
}

template <class T>
plan make_plan(const device& dev, std::int64_t n, int depth) {
  constexpr std::int64_t rows = step_rows<T>;
  plan p;
  const std::int64_t processors = dev.processors();
  if (processors < std::min(rows, n))
    throw value_error("Gauss-Seidel on a GPU needs " + std::to_string(rows) +
                          " multiprocessors, this one has " + std::to_string(processors),
                      "take --device cpu");
  // Every block has a row in some step, every team a full one.
  p.teams = static_cast<int>(std::max<std::int64_t>(1, std::min(processors, n) / rows));
  p.blocks = p.teams == 1 ? std::min(rows, n) : p.teams * rows;
  const std::int64_t room = dense_engine::shared_room(dev, kernel_of<T>(depth), "seidel_sweeps");
  const std::int64_t own = ceil_div(steps_of<T>(n), p.teams);
  for (const auto& [inverse, columns, pieces] :
       {std::tuple{true, true, 4}, std::tuple{false, true, 4}, std::tuple{false, false, 4}}) {
    p.inverse_shared = inverse;
    p.columns_shared = columns;
    p.stage_pieces = std::min(pieces, pieces_of<T>(n));
    const std::int64_t tiles = own * row_stages<T>(n, p.stage_pieces);
    const std::int64_t a_stage =
        p.stage_pieces * piece_bytes + 2 * static_cast<std::int64_t>(sizeof(std::uint64_t));
    const auto fixed =
        static_cast<std::int64_t>(shared_bytes<T>(n, 0, p.stage_pieces, columns, inverse) + stage_ring::align);
    p.stages = static_cast<int>(std::clamp<std::int64_t>((room - fixed) / a_stage, 0, tiles));
    p.resident = p.stages == tiles;
    if (p.resident || p.stages * a_stage >= dense_engine::least_ring) break;
  }
  p.bytes = shared_bytes<T>(n, p.stages, p.stage_pieces, p.columns_shared, p.inverse_shared);
  return p;
}

template <class T>
class seidel_engine final : public inner_solver<T> {
 public:
  seidel_engine(const device& dev, const detail::aligned_rows<T>& A, const sweep_rule& rule, bool by_residual,
                int depth)
      : dev_(dev),
        A_(A),
        by_residual_(by_residual),
        plan_(make_plan<T>(dev, A.padded, depth)),
        r_(dev, A.n, A.padded),
        d_(dev, A.n, A.padded),
        weight_(dev, A.padded),
        columns_(dev, plan_.columns_shared ? 0 : plan_.blocks * pieces_of<T>(A.padded) * piece_columns<T>),
        forward_change_(dev, rule.order == sweep_order::symmetric ? 2 * A.padded : 0),
        words_(array<std::uint64_t>::zeros(dev, (3 * A.padded * flagged_words<T>)+2)),
        anderson_(dev, depth > 0
                           ? plan_.blocks * anderson_vectors(depth) * pieces_of<T>(A.padded) * piece_columns<T>
                           : 0),
        anderson_scratch_(dev, depth > 0 ? plan_.blocks : 0),
        residual_(dev, A.n),
        unused_(dev, 2 * A.n),
        work_(detail::make_workspace(dev, A)),
        box_(acquire_pinned_history()) {
    dense_engine::make_relaxation<T>(dev, A, rule.omega, nullptr, weight_.data());
    in_.a = A.data;
    in_.n = A.padded;
    in_.ld = A.ld;
    in_.weight = weight_.data();
    in_.columns = columns_.data();
    in_.forward_change = forward_change_.data();
    in_.met = words_.data();
    in_.delta = in_.met + A.padded * flagged_words<T>;
    in_.wish = in_.delta + 2 * A.padded * flagged_words<T>;
    in_.depth = depth;
    in_.anderson = anderson_.data();
    in_.anderson_scratch = anderson_scratch_.data();
    in_.box = box_.get();
    in_.look = dense_engine::iterations_between_looks(A.padded * A.ld * static_cast<std::int64_t>(sizeof(T)));
    in_.teams = plan_.teams;
    in_.order = rule.order;
    in_.stages = plan_.stages;
    in_.stage_pieces = plan_.stage_pieces;
    in_.resident = plan_.resident;
    in_.kept = dense_engine::stages_in_cache(dev, plan_.blocks, plan_.stage_pieces * piece_bytes);
    in_.inverse_shared = plan_.inverse_shared;
    for (const int backward : {0, 1})
      if (rule.order == sweep_order::symmetric || (rule.order == sweep_order::backward) == (backward == 1))
        invert(backward);
  }

  std::string name() const override {
    return std::to_string(plan_.blocks) + " blocks of " + std::to_string(all_threads) +
           " threads, dense by rows, steps of " + std::to_string(step_rows<T>) +
           (plan_.resident ? ", in shared memory" : "");
  }

  inner_outcome run(T* r, T* d, const stopping_rule& rule, iteration_log& log) override {
    zero_bytes(dev_, d, static_cast<std::size_t>(A_.n) * sizeof(T));
    if (rule.limit <= 0) return {solver_event::iteration_limit, 0, look(r, d)};
    r_.bring(r);
    d_.bring(d);
    double trigger = residual_trigger<T>(rule, by_residual_);
    const double target = trigger;
    in_.r = r_.of(r);
    in_.d = d_.of(d);
    in_.first = 0;
    box_->progress = 0;
    box_->stop = 0;
    history_reader reader(*box_, log);
    for (;;) {
      in_.progress = dense_engine::progress_of<T>(rule, trigger, by_residual_, A_.n);
      in_.progress.best_at = in_.first;
      launch(dev_, "seidel_sweeps", {plan_.blocks, all_threads, plan_.bytes, 1, true}, kernel_of<T>(in_.depth),
             in_);
      d_.take_back(d);
      follow(dev_, {&reader, 1});
      const std::int64_t done = box_->iterations + 1;
      in_.epoch += static_cast<std::uint32_t>(done - in_.first) * (in_.order == sweep_order::symmetric ? 2 : 1);
      in_.first = done;
      const double met = box_->last_squared;
      inner_outcome outcome{static_cast<solver_event>(box_->event), done, met, box_->mean_change};
      if (outcome.event != solver_event::reached || !(met <= trigger)) return outcome;
      // The sweep met little enough; the residual itself decides.
      outcome.residual_squared = look(r, d);
      if (outcome.residual_squared <= target) return outcome;
      if (done >= rule.limit) {
        outcome.event = solver_event::iteration_limit;
        return outcome;
      }
      const double missing = met > 0 ? target * (met / outcome.residual_squared) : target;
      trigger = 0.81 * std::min(trigger, missing);
    }
  }

 private:
  double look(const T* r, const T* d) {
    const detail::row_results<T> rows{residual_.data(), unused_.data(), unused_.data() + A_.n};
    const double norm = detail::residual_pass<T>(dev_, A_, r, d, nullptr, rows, work_).r.root();
    return norm * norm;
  }

  void invert(int backward) {
    const std::int64_t steps = steps_of<T>(A_.padded), elements = steps * lead_elements<T>;
    inverse_[backward] = array<T>::zeros(dev_, elements);
    coupling_[backward] = array<T>::zeros(dev_, elements);
    in_.inverse[backward] = inverse_[backward].data();
    in_.coupling[backward] = coupling_[backward].data();
    launch(dev_, "invert_steps", {steps, threads, invert_bytes<T>}, invert_steps<T>, A_.data, A_.padded, A_.ld,
           static_cast<const T*>(weight_.data()), backward == 0 ? 1 : 0, inverse_[backward].data(),
           coupling_[backward].data());
  }

  device dev_;
  const detail::aligned_rows<T>& A_;
  bool by_residual_;
  plan plan_;
  dense_engine::padded_vector<T> r_, d_;
  array<T> weight_, columns_, forward_change_;
  array<std::uint64_t> words_;
  array<T> anderson_;
  array<anderson_numbers> anderson_scratch_;
  array<T> residual_;
  array<double> unused_;
  detail::pass_workspace work_;
  array<T> inverse_[2], coupling_[2];
  std::shared_ptr<pinned_history> box_;
  task<T> in_;
};

}  // namespace

template <real T>
std::unique_ptr<inner_solver<T>> dense_seidel_cuda(const device& dev, const detail::aligned_rows<T>& A,
                                                   const sweep_rule& rule, bool by_residual,
                                                   const acceleration& accelerate) {
  return std::make_unique<seidel_engine<T>>(dev, A, rule, by_residual, accelerate.anderson);
}

template std::unique_ptr<inner_solver<float>> dense_seidel_cuda(const device&,
                                                                const detail::aligned_rows<float>&,
                                                                const sweep_rule&, bool, const acceleration&);
template std::unique_ptr<inner_solver<double>> dense_seidel_cuda(const device&,
                                                                 const detail::aligned_rows<double>&,
                                                                 const sweep_rule&, bool, const acceleration&);

}  // namespace vouch
