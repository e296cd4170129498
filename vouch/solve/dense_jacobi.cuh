// vouch/solve/dense_jacobi.cuh -- Jacobi sweeps over a dense matrix: one cooperative kernel runs them all;
// private.
//
// Mapping   A block owns a range of rows; 256 threads sum them, Rows at a time (row_stream.cuh). A warp of its
// own
//           ends the rows and decides, one thread has the matrix brought in. All vectors of the own rows stay
//           in shared memory; of the solution every summing thread keeps the columns that it meets.
// Talk      Numbers travel as flagged words (flagged_words.cuh): a block goes on once it has the new solution; where
//           that is all it waits for, the decision about the sweep falls during the next one. Blocks count
//           themselves when they have sent theirs, so that nobody looks for words long before they are there;
//           the count orders nothing. Who has a word of a sweep knows that everybody has read those of the
//           sweep before, so two sets of them are enough.
// Bound     by memory: one read of the matrix a sweep, which goes on while blocks wait; a part of it is left in
//           L2 from sweep to sweep. Where the matrix stays
//           in shared memory, by the way of the solution from block to block.
// Bits      every sum has a fixed order, every block takes the same decision from the same numbers.
// Source    Mixing: Anderson, JACM 12 (1965); Walker, Ni, SIAM J. Numer. Anal. 49 (2011).
#pragma once
#include <cuda_runtime.h>

#include <cstdint>

#include <vouch/solve/dense_jacobi_mixing.cuh>
#include <vouch/solve/device_history.cuh>

namespace vouch::jacobi_kernel {

// The warp that closes rows, tells what they met, and decides when all blocks have told.
template <class S, class T, int Rows>
struct closing_warp {
  const task<S, T>& in;
  shared_parts& shared;
  const own_rows<T>& own;
  std::int64_t first, rows;
  unsigned turn = 0;  // groups so far
  mixing<T> mix;
  sweep_progress progress;

  __device__ closing_warp(const task<S, T>& task, shared_parts& parts, const own_rows<T>& kept,
                          std::int64_t begin, std::int64_t count)
      : in(task),
        shared(parts),
        own(kept),
        first(begin),
        rows(count),
        mix{kept,
            count,
            static_cast<std::int64_t>(carved_bytes<T>(most_rows(task.A.n, gridDim.x)) / sizeof(T)),
            {task.depth}},
        progress(task.progress) {
    for (std::int64_t i = lane(); i < rows; i += 32) {
      own.r[i] = in.r[first + i];
      own.factor[i] = in.factor[first + i];
      own.d[i] = T{};
      if constexpr (is_rounded<S, T>) {
        own.scale[i] = in.scale[first + i];
        own.diagonal[i] = in.diagonal[first + i];
      }
    }
    __syncwarp();
  }

  __device__ void run() {
    const T* result = own.d;  // nullptr: it is where it is to go
    for (std::uint32_t epoch = 1;; ++epoch) {
      const std::int64_t iteration = std::int64_t{epoch} - 1;
      const bool looks = (iteration + 1) % in.look == 0;
      sweep_facts facts;
      for (std::int64_t begin = 0; begin < rows; begin += Rows) close_group(begin, epoch, facts);
      if (lane() == 0) count_up(in.sweeps_told);
      if (looks && blockIdx.x == 0 && lane() == 0)
        facts.wish = *static_cast<volatile std::int32_t*>(&in.box->stop) != 0 ? 1 : 0;
      tell(facts, epoch);
      const int held = in.depth > 0 ? tell_products(epoch) : 0;
      gather(sweep_facts::count + 2 * held, epoch);
      const double* const total = shared.total;
      const cg_event event = progress.take({total[0], total[1], total[2], total[3], total[4]}, iteration);
      if (blockIdx.x == 0 && lane() == 0) {
        tell_host(*in.box, iteration, total[0], event, looks);
        if (event != cg_event::go_on) in.box->mean_change = total[1] / static_cast<double>(in.A.n);
      }
      if (event != cg_event::go_on) {
        const bool back = in.goes_back && event == cg_event::reached;
        if (in.depth == 0)
          result = back ? nullptr : own.d;
        else if (!back)
          result = event == cg_event::limit && mix.course.worse(total[0]) ? own.plain : own.g;
        break;
      }
      if (in.depth > 0) {
        mix.next(shared, total[0], held);
        for (std::int64_t i = lane(); i < rows; i += 32) send_solution(i, own.d[i], epoch);
      }
      __syncwarp();
      if (lane() == 0) mbarrier_arrive(&shared.decided);
    }
    if (result != nullptr)
      for (std::int64_t i = lane(); i < rows; i += 32) in.d[first + i] = result[i];
    if (lane() != 0) return;
    *static_cast<volatile int*>(&shared.ended) = 1;
    mbarrier_arrive(&shared.decided);
  }

 private:
  __device__ static int lane() { return static_cast<int>(threadIdx.x) % 32; }
  __device__ static constexpr bool is_largest(int value) { return value == 2 || value == 3; }

  __device__ void send_solution(std::int64_t i, T value, std::uint32_t epoch) const {
    store_flagged(in.exchange_of(epoch) + (first + i) * flagged_words<T>, value, epoch);
  }

  // A lane ends a row of the group.
  __device__ void close_group(std::int64_t begin, std::uint32_t epoch, sweep_facts& facts) {
    const unsigned place = turn % groups_ahead;
    const std::int64_t i = begin + lane();
    mbarrier_wait(shared.summed + place, turn / groups_ahead & 1);
    if (lane() < Rows && i < rows) {
      double all = own.r[i], scale = 1;
      if constexpr (is_rounded<S, T>) {
        all -= static_cast<double>(own.diagonal[i]) * static_cast<double>(own.d[i]);
        scale = own.scale[i];
      }
      for (int w = 0; w < warps; ++w) all -= scale * shared.group[place][w][lane()];
      const T s = static_cast<T>(all), change = own.factor[i] * s, g = own.d[i] + change;
      if (in.depth > 0) {
        own.g[i] = g;
        own.change[i] = change;
      } else {
        if (in.goes_back) in.d[first + i] = own.d[i];
        own.d[i] = g;
        send_solution(i, g, epoch);
      }
      facts.met += static_cast<double>(s) * static_cast<double>(s);
      const double moved = fabs(static_cast<double>(change));
      facts.change += moved;
      facts.largest_change = fmax(facts.largest_change, moved);
      facts.largest = fmax(facts.largest, fabs(static_cast<double>(g)));
    }
    __syncwarp();
    if (lane() == 0) mbarrier_arrive(shared.closed + place);
    ++turn;
  }

  // The block's numbers, from those of the lanes.
  __device__ void tell(const sweep_facts& facts, std::uint32_t epoch) const {
    const double all[sweep_facts::count] = {sum_over_warp(facts.met), sum_over_warp(facts.change),
                                            largest_of_warp(facts.largest_change),
                                            largest_of_warp(facts.largest), sum_over_warp(facts.wish)};
#pragma unroll
    for (int v = 0; v < sweep_facts::count; ++v)
      if (lane() == v) store_flagged(in.sums_of(epoch, static_cast<int>(blockIdx.x), v), all[v], epoch);
  }
  // And the products of its differences; how many of these there are.
  __device__ int tell_products(std::uint32_t epoch) {
    double products[2 * most_depth];
    __syncwarp();  // g and change of all own rows are there
    const int held = mix.take(products);
    for (int k = 0; k < 2 * held; ++k) {
      const double all = sum_over_warp(products[k]);
      if (lane() == 0)
        store_flagged(in.sums_of(epoch, static_cast<int>(blockIdx.x), sweep_facts::count + k), all, epoch);
    }
    return held;
  }

  // All blocks' numbers into total: a lane takes every 32nd block, some of their numbers at a time.
  __device__ void gather(int count, std::uint32_t epoch) {
    constexpr int at_once = 5;
    const int blocks = static_cast<int>(gridDim.x);
    for (int begin = 0; begin < count; begin += at_once) {
      double all[at_once] = {};
      for (int block = lane(); block < blocks; block += 32 * at_once) {
        double part[at_once][at_once];
        bool there;
        do {
          there = true;
#pragma unroll
          for (int u = 0; u < at_once; ++u)
#pragma unroll
            for (int v = 0; v < at_once; ++v) {
              part[u][v] = 0;
              if (block + 32 * u < blocks && begin + v < count)
                there = try_load(in.sums_of(epoch, block + 32 * u, begin + v), part[u][v], epoch) && there;
            }
        } while (!there);
#pragma unroll
        for (int u = 0; u < at_once; ++u)
#pragma unroll
          for (int v = 0; v < at_once; ++v)
            all[v] = is_largest(begin + v) ? fmax(all[v], part[u][v]) : all[v] + part[u][v];
      }
#pragma unroll
      for (int v = 0; v < at_once; ++v) {
        if (begin + v >= count) break;
        const double whole = is_largest(begin + v) ? largest_of_warp(all[v]) : sum_over_warp(all[v]);
        if (lane() == 0) shared.total[begin + v] = whole;
      }
    }
    __syncwarp();
  }
};

template <class S, class T, int Rows>
__global__ void __launch_bounds__(all_threads, 1) jacobi_sweeps(const __grid_constant__ task<S, T> in) {
  extern __shared__ __align__(128) char memory[];
  __shared__ shared_parts shared;
  const int thread = static_cast<int>(threadIdx.x);
  const std::int64_t n = in.A.n, first = first_row(n, gridDim.x, blockIdx.x);
  const std::int64_t rows = first_row(n, gridDim.x, blockIdx.x + 1) - first;

  char* free = memory;
  const stage_ring ring(free, in.stages, Rows * piece_bytes);
  free += stage_ring::bytes(in.stages, Rows * piece_bytes);
  const own_rows<T> own(free, most_rows(n, gridDim.x), in.depth, is_rounded<S, T>);
  const std::int64_t columns = std::int64_t{pieces_of<S>(n)} * piece_columns<S>;
  T* const own_copy = in.columns != nullptr ? in.columns + blockIdx.x * columns : carve<T>(free, columns);
  if (thread == 0) {
    ring.init();
    shared.init();
  }
  __syncthreads();

  if (thread >= first_filling) {
    filler<S, Rows> fill{{in.A.data + first * in.A.ld, n, in.A.ld}, rows};
    fill.kept = in.kept;
    const std::int64_t all = ceil_div<std::int64_t>(rows, Rows) * pieces_of<S>(n);
    if (thread == first_filling)
      keep_filling(ring, fill, in.resident ? all : -1, *static_cast<volatile int*>(&shared.ended));
  } else if (thread >= first_closing) {
    closing_warp<S, T, Rows>(in, shared, own, first, rows).run();
  } else {
    row_group<S, T, Rows>(in, ring, shared, own_copy, rows).run();
  }
}

}  // namespace vouch::jacobi_kernel
