// vouch/solve/dense_jacobi.cuh -- Jacobi sweeps over a dense matrix: one cooperative kernel runs them all;
// private.
//
// Mapping   A block owns a range of rows and takes them Rows at a time (row_stream.cuh); a warp in turn ends
//           the rows of a group. All vectors of the own rows stay in shared memory; of the solution every
//           thread keeps the columns that it meets.
// Meetings  once a sweep, to exchange the solution and the norms; with mixing twice.
// Bound     by memory: one read of the matrix a sweep, which goes on while blocks meet. Where the matrix stays
//           in shared memory, by the meeting.
// Bits      every sum has a fixed order, every block takes the same decision from the same numbers.
// Source    Mixing: Anderson, JACM 12 (1965); Walker, Ni, SIAM J. Numer. Anal. 49 (2011).
#pragma once
#include <cuda_runtime.h>

#include <cstdint>

#include <vouch/core/grid_barrier.cuh>
#include <vouch/solve/device_history.cuh>
#include <vouch/solve/mixing_weights.hpp>
#include <vouch/solve/row_stream.cuh>
#include <vouch/solve/sweep_progress.hpp>

namespace vouch::jacobi_kernel {

using namespace stream;

/// Sums that blocks exchange: the facts of a sweep and, with mixing, 2 depth products.
inline constexpr int most_depth = 8;
inline constexpr int most_sums = sweep_facts::count + 2 * most_depth;

/// A matrix by rows whose rows begin on 16 bytes and fill them, of n rows and columns.
template <class S>
struct aligned_rows {
  const S* data = nullptr;
  std::int64_t n = 0;
  std::int64_t ld = 0;
};

template <class S, class T>
struct task {
  aligned_rows<S> A;
  const T* r = nullptr;
  const T* factor = nullptr;    // omega over the diagonal
  T* d = nullptr;               // the result
  T* exchange = nullptr;        // 2 x n: the solution of even and of odd sweeps
  T* columns = nullptr;         // a copy of the solution for each block; nullptr: in shared memory
  double* sums = nullptr;       // 2 x most_sums x blocks
  unsigned* counter = nullptr;  // 0 at the start
  device_mailbox* box = nullptr;
  sweep_progress progress;
  std::int64_t look = 512;  // iterations between two looks at the mailbox
  int depth = 0;            // of the mixing
  int stages = 0;
  int resident = 0;  // the stages hold all that the block needs
};

__host__ __device__ inline std::int64_t first_row(std::int64_t n, std::int64_t blocks, std::int64_t block) {
  return n * block / blocks;
}
/// Rows of the block that has most.
__host__ __device__ inline std::int64_t most_rows(std::int64_t n, std::int64_t blocks) {
  return (n + blocks - 1) / blocks;
}

/// What a block keeps of its own rows.
template <class T>
struct own_rows {
  T *r, *factor, *d;
  // With mixing: the next iterate and its change, the same of the sweep before, the plain iterate that the
  // mixed one replaced, and `depth` differences of each kind.
  T *g, *change, *last_g, *last_change, *plain, *changes, *images;

  static std::size_t bytes(std::int64_t rows, int depth) {
    return (3 + (depth > 0 ? 5 + 2 * static_cast<std::size_t>(depth) : 0)) * carved_bytes<T>(rows);
  }
  __device__ own_rows(char*& free, std::int64_t rows, int depth) : own_rows{} {
    r = carve<T>(free, rows);
    factor = carve<T>(free, rows);
    d = carve<T>(free, rows);
    if (depth == 0) return;
    g = carve<T>(free, rows);
    change = carve<T>(free, rows);
    last_g = carve<T>(free, rows);
    last_change = carve<T>(free, rows);
    plain = carve<T>(free, rows);
    changes = carve<T>(free, 0);
    free += static_cast<std::size_t>(depth) * carved_bytes<T>(rows);
    images = carve<T>(free, 0);
    free += static_cast<std::size_t>(depth) * carved_bytes<T>(rows);
  }

 private:
  __device__ own_rows() {}
};

/// Bytes of dynamic shared memory.
template <class S, class T, int Rows>
std::size_t shared_bytes(std::int64_t n, std::int64_t blocks, int depth, int stages, bool columns_shared) {
  return stage_ring::bytes(stages, Rows * piece_bytes) + own_rows<T>::bytes(most_rows(n, blocks), depth) +
         (columns_shared ? carved_bytes<T>(std::int64_t{pieces_of<S>(n)} * piece_columns<S>) : 0);
}

// The filling thread's walk over the stages of its block, sweep after sweep.
template <class S, int Rows>
struct filler {
  aligned_rows<S> A;  // of the own rows
  std::int64_t row = 0, piece = 0;
  ring_place at{};

  __device__ void fill(const stage_ring& ring, std::int64_t rows) {
    const std::int64_t column = piece * piece_columns<S>;
    const auto width = static_cast<unsigned>(min(std::int64_t{piece_columns<S>}, A.n - column) * sizeof(S));
    const int count = static_cast<int>(min(std::int64_t{Rows}, rows - row));
    ring.claim(at, width * static_cast<unsigned>(count));
    for (int i = 0; i < count; ++i)
      ring.copy(at.slot, i * piece_bytes, A.data + (row + i) * A.ld + column, width);
    at.next(ring.stages());
    if (++piece < pieces_of<S>(A.n)) return;
    piece = 0;
    row += Rows;
    if (row >= rows) row = 0;
  }
};

// What the threads of a block share.
struct shared_sums {
  double group[2][warps][8];
  double block[warps][most_sums];
  double total[most_sums];
  double weight[most_depth];
  double products[most_depth * most_depth];
  int mixed;
};

// Sums of the block, and of all blocks: thread 0 to 255 have values[v], every thread learns the totals.
// largest[v] says that the largest counts, not the sum.
template <class IsLargest>
__device__ void exchange_sums(shared_sums& shared, const double* values, int count, IsLargest largest,
                              double* sums, unsigned* counter, unsigned meeting) {
  const int thread = static_cast<int>(threadIdx.x), warp = thread / 32, lane = thread % 32;
  const int blocks = static_cast<int>(gridDim.x);
  for (int v = 0; v < count; ++v) {
    const double all = largest(v) ? largest_of_warp(values[v]) : sum_over_warp(values[v]);
    if (lane == 0) shared.block[warp][v] = all;
  }
  __syncthreads();
  if (warp == 0) {
    if (lane < count) {
      double all = shared.block[0][lane];
      for (int w = 1; w < warps; ++w)
        all = largest(lane) ? fmax(all, shared.block[w][lane]) : all + shared.block[w][lane];
      sums[lane * blocks + static_cast<int>(blockIdx.x)] = all;
    }
    __syncwarp();
    if (lane == 0) grid_barrier(counter, gridDim.x, meeting);
  }
  __syncthreads();
  for (int v = warp; v < count; v += warps) {
    double all = 0;
    constexpr int at_once = 8;  // loads on their way together
    for (int first = lane; first < blocks; first += 32 * at_once) {
      double part[at_once];
#pragma unroll
      for (int u = 0; u < at_once; ++u)
        part[u] = first + 32 * u < blocks ? __ldcg(sums + v * blocks + first + 32 * u) : 0.0;
#pragma unroll
      for (int u = 0; u < at_once; ++u) all = largest(v) ? fmax(all, part[u]) : all + part[u];
    }
    all = largest(v) ? largest_of_warp(all) : sum_over_warp(all);
    if (lane == 0) shared.total[v] = all;
  }
  __syncthreads();
}

// Anderson's mixing, every block on its own rows. All blocks keep the same products and take the same choices.
template <class T>
struct mixing {
  const own_rows<T>& own;
  std::int64_t rows, stride;
  int depth;
  int kept = 0, slot = 0;  // differences there are; where the next goes
  bool has_last = false, accelerated = false;
  double accepted = 0;  // what the sweep before the mixed iterate met

  // Differences of this sweep to the one before; this thread's part of their products: with all differences,
  // then of these with the last change.
  __device__ int take(double* values) {
    const int held = has_last ? min(kept + 1, depth) : kept;
    for (int k = 0; k < 2 * held; ++k) values[k] = 0;
    for (std::int64_t i = threadIdx.x; i < rows; i += threads) {
      if (has_last) {
        own.changes[slot * stride + i] = own.change[i] - own.last_change[i];
        own.images[slot * stride + i] = own.g[i] - own.last_g[i];
      }
      own.last_change[i] = own.change[i];
      own.last_g[i] = own.g[i];
      for (int k = 0; k < held; ++k) {
        const double kth = own.changes[k * stride + i];
        values[k] += kth * static_cast<double>(own.changes[slot * stride + i]);
        values[held + k] += kth * static_cast<double>(own.change[i]);
      }
    }
    return held;
  }

  // The next iterate of the own rows into d.
  __device__ void next(shared_sums& shared, double met, int held) {
    const bool worse = accelerated && !(met <= accepted);
    const int count = worse ? 0 : held;
    if (threadIdx.x == 0) solve(shared, count, held);
    __syncthreads();
    if (!worse && has_last) {
      kept = held;
      slot = (slot + 1) % depth;
    }
    if (worse) kept = slot = 0;
    has_last = !worse;
    accelerated = shared.mixed != 0;
    accepted = met;
    for (std::int64_t i = threadIdx.x; i < rows; i += threads) {
      if (!worse) own.plain[i] = own.g[i];
      T x = own.plain[i];
      for (int k = 0; k < count && accelerated; ++k)
        x -= static_cast<T>(shared.weight[k]) * own.images[k * stride + i];
      own.d[i] = x;
    }
  }

 private:
  __device__ void solve(shared_sums& shared, int count, int held) {
    const double* const total = shared.total + sweep_facts::count;
    if (count > 0 && has_last)
      for (int k = 0; k < count; ++k)
        shared.products[slot * depth + k] = shared.products[k * depth + slot] = total[k];
    for (int k = 0; k < count; ++k) shared.weight[k] = total[held + k];
    shared.mixed = count > 0 && mixing_weights(shared.products, depth, count, shared.weight);
  }
};

// A thread's part of the sums of up to Rows rows.
template <class S, class T, int Rows>
__device__ void sum_group(const stage_ring& ring, ring_place& at, filler<S, Rows>& fill, std::int64_t rows,
                          const own_columns<S, T>& x, std::int64_t n, bool resident, T (&sum)[Rows]) {
  constexpr int lanes = lane_columns<S>;
  const int thread = static_cast<int>(threadIdx.x);
#pragma unroll
  for (int i = 0; i < Rows; ++i) sum[i] = T{};
  for (int p = 0; p < pieces_of<S>(n); ++p) {
    ring.wait(at);
    if (std::int64_t{p} * piece_columns<S> + thread * lanes < n) {
      const S* stage = reinterpret_cast<const S*>(ring.data(at.slot)) + thread * lanes;
      T d[lanes];
      load_lanes(x.piece(p), d);
#pragma unroll
      for (int i = 0; i < Rows; ++i) {
        T a[lanes];
        unpack(stage + i * piece_columns<S>, a);
#pragma unroll
        for (int l = 0; l < lanes; ++l) sum[i] += a[l] * d[l];
      }
    }
    if (!resident) {
      ring.release(at.slot);
      if (thread == 0) fill.fill(ring, rows);
    }
    at.next(ring.stages());
    if (resident) at.turn = 0;
  }
}

template <class S, class T, int Rows>
__global__ void __launch_bounds__(threads, 1) jacobi_sweeps(const __grid_constant__ task<S, T> in) {
  constexpr int lanes = lane_columns<S>;
  extern __shared__ __align__(128) char memory[];
  __shared__ shared_sums shared;
  const int thread = static_cast<int>(threadIdx.x), warp = thread / 32, lane = thread % 32;
  const std::int64_t n = in.A.n, first = first_row(n, gridDim.x, blockIdx.x);
  const std::int64_t rows = first_row(n, gridDim.x, blockIdx.x + 1) - first;
  const std::int64_t stride = carved_bytes<T>(most_rows(n, gridDim.x)) / sizeof(T);
  const int pieces = pieces_of<S>(n);
  const bool resident = in.resident != 0;

  char* free = memory;
  const stage_ring ring(free, in.stages, Rows * piece_bytes);
  free += stage_ring::bytes(in.stages, Rows * piece_bytes);
  const own_rows<T> own(free, most_rows(n, gridDim.x), in.depth);
  const std::int64_t columns = std::int64_t{pieces} * piece_columns<S>;
  const own_columns<S, T> x(in.columns != nullptr ? in.columns + blockIdx.x * columns
                                                  : carve<T>(free, columns));
  filler<S, Rows> fill{{in.A.data + first * in.A.ld, n, in.A.ld}};
  mixing<T> mix{own, rows, stride, in.depth};
  sweep_progress progress = in.progress;

  if (thread == 0) ring.init();
  for (std::int64_t i = thread; i < rows; i += threads) {
    own.r[i] = in.r[first + i];
    own.factor[i] = in.factor[first + i];
    own.d[i] = T{};
  }
  const T zeros[lanes] = {};
  for (int p = 0; p < pieces; ++p) store_lanes(zeros, x.piece(p));
  __syncthreads();
  const std::int64_t ahead =
      resident ? ceil_div<std::int64_t>(rows, Rows) * pieces : max(1, in.stages - free_stages);
  if (thread == 0 && rows > 0)
    for (std::int64_t s = 0; s < ahead; ++s) fill.fill(ring, rows);

  ring_place at;
  unsigned meeting = 0;
  for (std::int64_t iteration = 0;; ++iteration) {
    T* const next = in.exchange + (iteration & 1) * n;
    double* const sums = in.sums + (iteration & 1) * (most_sums * gridDim.x);
    const bool looks = (iteration + 1) % in.look == 0;
    double values[most_sums] = {};
    int group = 0;
    for (std::int64_t begin = 0; begin < rows; begin += Rows, ++group) {
      T sum[Rows];
      sum_group(ring, at, fill, rows, x, n, resident, sum);
      double wide[Rows];
#pragma unroll
      for (int i = 0; i < Rows; ++i) wide[i] = sum[i];
      const double mine = sum_over_warp(wide);
      if (lane % (32 / Rows) == 0) shared.group[group & 1][warp][lane / (32 / Rows)] = mine;
      __syncthreads();
      const std::int64_t i = begin + lane;
      if (warp != group % warps || lane >= Rows || i >= rows) continue;
      double all = own.r[i];
      for (int w = 0; w < warps; ++w) all -= shared.group[group & 1][w][lane];
      const T s = static_cast<T>(all), change = own.factor[i] * s, g = own.d[i] + change;
      values[0] += static_cast<double>(s) * static_cast<double>(s);
      const double moved = fabs(static_cast<double>(change));
      values[1] += moved;
      values[2] = fmax(values[2], moved);
      values[3] = fmax(values[3], fabs(static_cast<double>(g)));
      if (in.depth > 0) {
        own.g[i] = g;
        own.change[i] = change;
      } else {
        own.d[i] = g;
        next[first + i] = g;
      }
    }
    if (resident) at = {};
    if (looks && blockIdx.x == 0 && thread == 0)
      values[4] = *static_cast<volatile std::int32_t*>(&in.box->stop) != 0 ? 1 : 0;
    int held = 0;
    if (in.depth > 0) {
      __syncthreads();  // g and change of all own rows are there
      held = mix.take(values + sweep_facts::count);
    }
    const auto largest = [](int v) { return v == 2 || v == 3; };
    ++meeting;
    exchange_sums(shared, values, sweep_facts::count + 2 * held, largest, sums, in.counter, meeting);
    const sweep_facts now{shared.total[0], shared.total[1], shared.total[2], shared.total[3], shared.total[4]};
    const cg_event event = progress.take(now, iteration);
    if (blockIdx.x == 0 && thread == threads - 1) {
      tell_host(*in.box, iteration, now.met, event, looks);
      if (event != cg_event::go_on) in.box->mean_change = now.change / static_cast<double>(n);
    }
    if (event != cg_event::go_on) {
      const T* const result = in.depth > 0 ? own.g : own.d;
      for (std::int64_t i = thread; i < rows; i += threads) in.d[first + i] = result[i];
      break;
    }
    if (in.depth > 0) {
      mix.next(shared, now.met, held);
      for (std::int64_t i = thread; i < rows; i += threads) next[first + i] = own.d[i];
      ++meeting;
      __syncthreads();
      if (thread == 0) grid_barrier(in.counter, gridDim.x, meeting);
      __syncthreads();
    }
    constexpr int at_once = 4;  // loads on their way together
    for (int first_piece = 0; first_piece < pieces; first_piece += at_once) {
      T d[at_once][lanes];
#pragma unroll
      for (int u = 0; u < at_once; ++u) {
        const std::int64_t column = std::int64_t{first_piece + u} * piece_columns<S> + thread * lanes;
        load_lanes_of_others(next + min(column, n - lanes), d[u]);
      }
#pragma unroll
      for (int u = 0; u < at_once; ++u)
        if (first_piece + u < pieces) store_lanes(d[u], x.piece(first_piece + u));
    }
  }

  // What is still on its way must arrive before the block ends.
  if (thread == 0 && !resident && rows > 0)
    for (std::int64_t s = 0; s < ahead; ++s) {
      ring.wait(at);
      at.next(in.stages);
    }
}

}  // namespace vouch::jacobi_kernel
