// Jacobi sweeps over a dense matrix: one cooperative kernel runs them all.
//
// Mapping   A block owns a range of rows; 256 threads sum them, Rows at a time (row_stream.cuh). A warp of its own
//           ends the rows and decides, one thread has the matrix brought in. All vectors of the own rows stay
//           in shared memory; of the solution every summing thread keeps the columns that it meets.
// Messages  Numbers travel as flagged words (flagged_words.cuh): a block goes on once it has the new solution; where
//           that is all it waits for, the decision about the sweep falls during the next one. Blocks count
//           themselves when they have sent theirs, so that nobody looks for words long before they are there;
//           the count orders nothing. Who has a word of a sweep knows that everybody has read those of the
//           sweep before, so two sets of them are enough.
// Bound     by memory: one read of the matrix a sweep, which goes on while blocks wait; a part of it is left in
//           L2 from sweep to sweep. Where the matrix stays in shared memory, by the way of the solution from block to block.
// Bits      every sum has a fixed order, every block takes the same decision from the same numbers.
// Source    Acceleration: Anderson, JACM 12 (1965); Walker, Ni, SIAM J. Numer. Anal. 49 (2011).
#include <cuda_runtime.h>

#include <cstdint>
#include <string>

#include <vouch/core/error.hpp>
#include <vouch/core/gpu/flagged_words.cuh>
#include <vouch/core/gpu/l2_policy.cuh>
#include <vouch/solve/loop/pinned_history.cuh>
#include <vouch/solve/loop/pinned_history.hpp>
#include <vouch/solve/stationary/anderson_coefficients.hpp>
#include <vouch/solve/stationary/dense_engine_cuda.cuh>
#include <vouch/solve/stationary/dense_engines.hpp>
#include <vouch/solve/stationary/row_stream.cuh>
#include <vouch/solve/stationary/sweep_progress.hpp>

namespace vouch::jacobi_kernel {

using namespace stream;

/// Numbers that blocks exchange: the facts of a sweep and, with Anderson acceleration, 2 depth products.
inline constexpr int most_depth = 8;
inline constexpr int most_sums = sweep_facts::count + 2 * most_depth;
/// Threads of the kernel: those that sum, the warp that closes rows and decides, the one that fills.
inline constexpr int first_closing = threads, first_filling = threads + 32, all_threads = threads + 64;

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
  const T* factor = nullptr;          // omega over the diagonal
  const T* scale = nullptr;           // of rounded entries: those of a row are times this
  const T* diagonal = nullptr;        // and the diagonal is not among them
  T* d = nullptr;                     // the result
  T* columns = nullptr;               // a copy of the solution for each block; nullptr: in shared memory
  std::uint64_t* exchange = nullptr;  // words of the solution of even and of odd sweeps; zeros at the start
  std::uint64_t* sums = nullptr;      // words of 2 x blocks x most_sums doubles; zeros at the start
  unsigned* sweeps_told = nullptr;    // by all blocks together; 0 at the start
  pinned_history* box = nullptr;
  sweep_progress progress;
  std::int64_t look = 512;  // iterations between two looks at the mailbox
  int depth = 0;            // of Anderson acceleration
  int stages = 0;
  int resident = 0;   // the stages hold all that the block needs
  int kept = 0;       // stages of a block's sweep that are to stay in L2
  int goes_back = 0;  // ends with the iterate that met the target, not with the next

  __device__ std::uint64_t* exchange_of(std::uint32_t epoch) const {
    return exchange + (epoch & 1) * A.n * flagged_words<T>;
  }
  __device__ std::uint64_t* sums_of(std::uint32_t epoch, int block, int value) const {
    return sums + (((epoch & 1) * gridDim.x + static_cast<unsigned>(block)) * most_sums +
                   static_cast<unsigned>(value)) *
                      flagged_words<double>;
  }
};

__host__ __device__ inline std::int64_t first_row(std::int64_t n, std::int64_t blocks, std::int64_t block) {
  return n * block / blocks;
}
/// Rows of the block that has most.
__host__ __device__ inline std::int64_t most_rows(std::int64_t n, std::int64_t blocks) {
  return (n + blocks - 1) / blocks;
}

/// Whether a matrix is kept with less precision than the vectors.
template <class S, class T>
inline constexpr bool is_rounded = sizeof(S) < sizeof(T);

/// What a block keeps of its own rows.
template <class T>
struct own_rows {
  T *r, *factor, *d;
  T *scale, *diagonal;  // of a rounded matrix
  // Accelerated: the next iterate and its change, the same of the sweep before, the plain iterate that the
  // mixed one replaced, and `depth` differences of each kind.
  T *g, *change, *last_g, *last_change, *plain, *changes, *images;

  static std::size_t bytes(std::int64_t rows, int depth, bool rounded) {
    return (3 + (rounded ? 2 : 0) + (depth > 0 ? 5 + 2 * static_cast<std::size_t>(depth) : 0)) *
           carved_bytes<T>(rows);
  }
  __device__ own_rows(char*& free, std::int64_t rows, int depth, bool rounded) : own_rows{} {
    r = carve<T>(free, rows);
    factor = carve<T>(free, rows);
    d = carve<T>(free, rows);
    if (rounded) {
      scale = carve<T>(free, rows);
      diagonal = carve<T>(free, rows);
    }
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
  return stage_ring::bytes(stages, Rows * piece_bytes) +
         own_rows<T>::bytes(most_rows(n, blocks), depth, is_rounded<S, T>) +
         (columns_shared ? carved_bytes<T>(std::int64_t{pieces_of<S>(n)} * piece_columns<S>) : 0);
}

/// The filling thread's walk over the stages of its block, sweep after sweep.
template <class S, int Rows>
struct filler {
  aligned_rows<S> A;  // of the own rows
  std::int64_t rows;
  std::int64_t row = 0, piece = 0;
  ring_place at{};
  int kept = 0;  // of a sweep's stages, the first
  std::uint64_t keep = evict_last_policy(), pass = evict_first_policy();

  __device__ void fill(const stage_ring& ring) {
    const std::int64_t column = piece * piece_columns<S>;
    const auto width = static_cast<unsigned>(min(std::int64_t{piece_columns<S>}, A.n - column) * sizeof(S));
    const int count = static_cast<int>(min(std::int64_t{Rows}, rows - row));
    const std::uint64_t policy = row / Rows * pieces_of<S>(A.n) + piece < kept ? keep : pass;
    for (int i = 0; i < count; ++i)
      ring.copy(at.slot, i * piece_bytes, A.data + (row + i) * A.ld + column, width, policy);
    ring.claim(at, width * static_cast<unsigned>(count));
    if (++piece < pieces_of<S>(A.n)) return;
    piece = 0;
    row += Rows;
    if (row >= rows) row = 0;
  }
};

/// Groups of rows that may wait to be closed.
inline constexpr unsigned groups_ahead = 4;

/// What the threads of a block share.
struct shared_parts {
  double group[groups_ahead][warps][8];  // parts of the sums of a group's rows
  std::uint64_t summed[groups_ahead];    // barriers: they are there
  std::uint64_t closed[groups_ahead];    // they are used up
  std::uint64_t decided;                 // the sweep is over
  std::uint64_t expected;                // the solution is worth a look
  int ended;                             // not 0: no sweep follows
  double total[most_sums];
  double weight[most_depth];
  double products[most_depth * most_depth];
  int mixed;

  /// One thread, before a barrier of the block.
  __device__ void init() {
    for (unsigned k = 0; k < groups_ahead; ++k) {
      mbarrier_init(summed + k, warps);
      mbarrier_init(closed + k, 1);
    }
    mbarrier_init(&decided, 1);
    mbarrier_init(&expected, 1);
    ended = 0;
    mbarrier_init_fence();
  }
  __device__ bool is_over() const { return *static_cast<const volatile int*>(&ended) != 0; }
  /// A warp waits for the end of a phase, or of the sweeps; whether it was the former.
  __device__ bool await_unless_over(std::uint64_t* barrier, unsigned parity) const {
    for (;;) {
      if (__all_sync(everyone, mbarrier_try_wait(barrier, parity))) return true;
      if (__any_sync(everyone, is_over())) return false;
    }
  }
};

/// The threads that sum rows.
template <class S, class T, int Rows>
struct row_group {
  static constexpr int lanes = lane_columns<S>;

  const task<S, T>& in;
  const stage_ring& ring;
  shared_parts& shared;
  own_columns<S, T> x;
  std::int64_t rows;
  ring_place at{};
  unsigned turn = 0;  // groups so far

  __device__ row_group(const task<S, T>& task, const stage_ring& stages, shared_parts& parts, T* columns,
                       std::int64_t own)
      : in(task), ring(stages), shared(parts), x(columns), rows(own) {
    const T zeros[lanes] = {};
    for (int p = 0; p < pieces_of<S>(in.A.n); ++p) x.store(p, zeros);
  }

  __device__ void run() {
    for (std::uint32_t epoch = 1;; ++epoch) {
      for (std::int64_t begin = 0; begin < rows; begin += Rows)
        if (!sum_group(epoch == 1)) return;
      if (in.resident) at = {};
      if (!await_solution(epoch) || !receive_columns(epoch)) return;
    }
  }

 private:
  __device__ static int lane() { return static_cast<int>(threadIdx.x) % 32; }
  __device__ static int warp() { return static_cast<int>(threadIdx.x) / 32; }

  // Many threads that look for words in vain would slow down the memory; but for a matrix that stays here, one
  // waits until all blocks have sent theirs.
  __device__ bool await_solution(std::uint32_t epoch) {
    if (in.depth > 0) return shared.await_unless_over(&shared.decided, ~epoch & 1);
    if (in.resident) return true;
    if (threadIdx.x == 0) {
      while (static_cast<int>(counted(in.sweeps_told) - epoch * gridDim.x) < 0 && !shared.is_over()) {
      }
      mbarrier_arrive(&shared.expected);
    }
    return shared.await_unless_over(&shared.expected, ~epoch & 1);
  }

  // The parts of this warp's columns of the sums of up to Rows rows; false where nobody will want them. The
  // first sweep starts from zero, and needs no matrix.
  __device__ bool sum_group(bool of_zero) {
    T sum[Rows] = {};
    for (int p = of_zero ? pieces_of<S>(in.A.n) : 0; p < pieces_of<S>(in.A.n); ++p) {
      if (!shared.await_unless_over(ring.full(at.slot), at.turn)) return false;
      if (has(p)) {
        const S* stage = reinterpret_cast<const S*>(ring.data(at.slot)) + threadIdx.x * lanes;
        T d[lanes];
        x.load(p, d);
#pragma unroll
        for (int i = 0; i < Rows; ++i) {
          T a[lanes];
          unpack(stage + i * piece_columns<S>, a);
#pragma unroll
          for (int l = 0; l < lanes; ++l) sum[i] += a[l] * d[l];
        }
      }
      if (!in.resident) ring.release(at.slot);
      at.next(ring.stages());
      if (in.resident) at.turn = 0;
    }
    double wide[Rows];
#pragma unroll
    for (int i = 0; i < Rows; ++i) wide[i] = sum[i];
    const double mine = sum_over_warp(wide);
    const unsigned place = turn % groups_ahead;
    if (turn >= groups_ahead && !shared.await_unless_over(shared.closed + place, ~(turn / groups_ahead) & 1))
      return false;
    if (lane() % (32 / Rows) == 0) shared.group[place][warp()][lane() / (32 / Rows)] = mine;
    __syncwarp();
    if (lane() == 0) mbarrier_arrive(shared.summed + place);
    ++turn;
    return true;
  }

  // The solution of a sweep, this thread's columns; false where none will come.
  __device__ bool receive_columns(std::uint32_t epoch) {
    constexpr int at_once = lanes <= 4 ? 5 : 16 / lanes;  // on their way together
    const std::uint64_t* const words = in.exchange_of(epoch);
    const int pieces = pieces_of<S>(in.A.n);
    for (int first = 0; first < pieces; first += at_once) {
      T d[at_once][lanes];
      for (;;) {
        bool all = true;
#pragma unroll
        for (int u = 0; u < at_once; ++u) {
          const bool wanted = has(first + u);
          all &= try_load(words + (wanted ? column(first + u) : 0) * flagged_words<T>, d[u], epoch) || !wanted;
        }
        if (__all_sync(everyone, all)) break;
        if (__any_sync(everyone, shared.is_over())) return false;
      }
#pragma unroll
      for (int u = 0; u < at_once; ++u)
        if (has(first + u)) x.store(first + u, d[u]);
    }
    return true;
  }

  __device__ static std::int64_t column(int piece) {
    return std::int64_t{piece} * piece_columns<S> + static_cast<int>(threadIdx.x) * lanes;
  }
  __device__ bool has(int piece) const { return column(piece) < in.A.n; }
};

}  // namespace vouch::jacobi_kernel

// Anderson acceleration.

namespace vouch::jacobi_kernel {

/// Anderson acceleration, every block on its own rows, by the warp that closes them. All blocks keep the same
/// products and take the same choices.
template <class T>
struct anderson_step {
  const own_rows<T>& own;
  std::int64_t rows, stride;
  anderson_course course;

  // Differences of this sweep to the one before; this lane's part of their products: with all differences, then
  // of these with the last change.
  __device__ int take(double* values) {
    const int held = course.held(), slot = course.slot;
    for (int k = 0; k < 2 * held; ++k) values[k] = 0;
    for (std::int64_t i = threadIdx.x % 32; i < rows; i += 32) {
      if (course.has_last) {
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
  __device__ void next(shared_parts& shared, double met, int held) {
    const bool worse = course.worse(met);
    if (threadIdx.x % 32 == 0)
      shared.mixed = !worse && course.weigh(shared.total + sweep_facts::count, shared.products, shared.weight);
    __syncwarp();
    const bool mixed = shared.mixed != 0;
    course.advance(worse, met, mixed);
    for (std::int64_t i = threadIdx.x % 32; i < rows; i += 32) {
      if (!worse) own.plain[i] = own.g[i];
      T x = own.plain[i];
      for (int k = 0; k < held && mixed; ++k)
        x -= static_cast<T>(shared.weight[k]) * own.images[k * stride + i];
      own.d[i] = x;
    }
  }
};

}  // namespace vouch::jacobi_kernel

namespace vouch::jacobi_kernel {

// The warp that closes rows, tells what they met, and decides when all blocks have told.
template <class S, class T, int Rows>
struct closing_warp {
  const task<S, T>& in;
  shared_parts& shared;
  const own_rows<T>& own;
  std::int64_t first, rows;
  unsigned turn = 0;  // groups so far
  anderson_step<T> mix;
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
      const solver_event event = progress.take({total[0], total[1], total[2], total[3], total[4]}, iteration);
      if (blockIdx.x == 0 && lane() == 0) {
        publish_to_host(*in.box, iteration, total[0], event, looks);
        if (event != solver_event::running) in.box->mean_change = total[1] / static_cast<double>(in.A.n);
      }
      if (event != solver_event::running) {
        const bool back = in.goes_back && event == solver_event::reached;
        if (in.depth == 0)
          result = back ? nullptr : own.d;
        else if (!back)
          result = event == solver_event::iteration_limit && mix.course.worse(total[0]) ? own.plain : own.g;
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

// Plans and runs the kernel.

namespace vouch {
namespace {

using namespace jacobi_kernel;

// How the kernel uses a multiprocessor.
struct plan {
  std::int64_t blocks = 0;
  int rows = 8;  // taken at a time
  int stages = 0;
  bool resident = false;
  bool columns_shared = true;
  std::size_t bytes = 0;
};

template <class S, class T>
auto kernel_of(int rows) {
  return rows == 8 ? jacobi_sweeps<S, T, 8> : jacobi_sweeps<S, T, 4>;
}

template <class S, class T, int Rows>
plan plan_with(const device& dev, std::int64_t n, int depth) {
  plan p;
  p.rows = Rows;
  p.blocks = std::min<std::int64_t>(dev.processors(), n);
  const std::int64_t room = dense_engine::shared_room(dev, jacobi_sweeps<S, T, Rows>, "jacobi_sweeps");
  const std::int64_t tiles = ceil_div<std::int64_t>(most_rows(n, p.blocks), Rows) * pieces_of<S>(n);
  const std::int64_t a_stage = Rows * piece_bytes + 2 * static_cast<std::int64_t>(sizeof(std::uint64_t));
  for (const bool shared : {true, false}) {
    p.columns_shared = shared;
    const auto fixed =
        static_cast<std::int64_t>(shared_bytes<S, T, Rows>(n, p.blocks, depth, 0, shared) + stage_ring::align);
    p.stages = static_cast<int>(std::clamp<std::int64_t>((room - fixed) / a_stage, 0, tiles));
    p.resident = p.stages == tiles;
    if (p.resident || p.stages * a_stage >= dense_engine::least_ring) break;
  }
  p.bytes = shared_bytes<S, T, Rows>(n, p.blocks, depth, p.stages, p.columns_shared);
  return p;
}

template <class S, class T>
plan make_plan(const device& dev, std::int64_t n, int depth) {
  plan p = plan_with<S, T, 8>(dev, n, depth);
  if (!p.resident) p = plan_with<S, T, 4>(dev, n, depth);  // smaller stages, of which more are on their way
  if (!p.resident && p.stages < 2)
    throw value_error(
        "the sweeps of a matrix of " + std::to_string(n) + " rows do not fit the GPU's shared memory",
        "mix fewer iterates, or take --device cpu");
  return p;
}

// A matrix for the kernel, by rows of `padded` entries, ld apart, of which n count; the first n of its
// diagonal.
template <class S, class T>
struct stored_matrix {
  const S* data;
  std::int64_t n, padded, ld;
  const T* diagonal;
  const T* scale = nullptr;  // of rounded entries
};

template <class S, class T>
class jacobi_engine final : public inner_solver<T> {
 public:
  jacobi_engine(const device& dev, const stored_matrix<S, T>& A, double omega, bool by_residual, int depth)
      : dev_(dev),
        plan_(make_plan<S, T>(dev, A.padded, depth)),
        runner_(dev, A.n, A.padded, by_residual, words(A.padded, plan_.blocks)),
        factor_(dev, A.padded),
        columns_(dev, plan_.columns_shared ? 0 : plan_.blocks * pieces_of<S>(A.padded) * piece_columns<S>) {
    dense_engine::make_relaxation<T>(dev, A.diagonal, A.padded, omega, factor_.data(), nullptr);
    in_.A = {A.data, A.padded, A.ld};
    in_.factor = factor_.data();
    if constexpr (is_rounded<S, T>) {
      in_.scale = A.scale;
      in_.diagonal = A.diagonal;
    }
    in_.columns = columns_.data();
    in_.exchange = runner_.words();
    in_.sums = in_.exchange + 2 * A.padded * flagged_words<T>;
    in_.sweeps_told = reinterpret_cast<unsigned*>(in_.exchange + words(A.padded, plan_.blocks) - 1);
    in_.box = runner_.box();
    in_.look = dense_engine::iterations_between_looks(A.padded * A.ld * static_cast<std::int64_t>(sizeof(S)));
    in_.depth = depth;
    in_.stages = plan_.stages;
    in_.resident = plan_.resident;
    in_.kept = dense_engine::stages_in_cache(dev, plan_.blocks, plan_.rows * piece_bytes);
  }

  std::string name() const override {
    return std::to_string(plan_.blocks) + " blocks of " + std::to_string(all_threads) +
           " threads, dense by rows" + (plan_.resident ? ", in shared memory" : ", one kernel");
  }

  inner_outcome run(T* r, T* d, const stopping_rule& rule, iteration_log& log) override {
    return runner_.run(in_, r, d, rule, log, [&] {
      launch(dev_, "jacobi_sweeps", {plan_.blocks, all_threads, plan_.bytes, 1, true},
             kernel_of<S, T>(plan_.rows), in_);
    });
  }

 private:
  static std::int64_t words(std::int64_t padded, std::int64_t blocks) {
    return 2 * (padded * flagged_words<T> + blocks * most_sums * flagged_words<double>)+1;
  }

  device dev_;
  plan plan_;
  dense_engine::jacobi_runner<T> runner_;
  array<T> factor_, columns_;
  task<S, T> in_;
};

int checked_depth(const acceleration& accelerate) {
  if (accelerate.anderson > most_depth)
    throw value_error("on a GPU anderson keeps 1 to " + std::to_string(most_depth) + " earlier iterates, not " +
                      std::to_string(accelerate.anderson));
  return accelerate.anderson;
}

// With the matrix that it sweeps over.
template <class S>
class rounded_engine final : public inner_solver<float> {
 public:
  rounded_engine(const device& dev, const detail::aligned_rows<double>& A, double omega, int depth)
      : rows_(round_rows<S>(dev, A)),
        engine_(dev,
                {rows_.values.data(), rows_.n, rows_.padded, rows_.padded, rows_.diagonal.data(),
                 rows_.scale.data()},
                omega, true, depth) {}
  std::string name() const override { return engine_.name(); }
  inner_outcome run(float* r, float* d, const stopping_rule& rule, iteration_log& log) override {
    return engine_.run(r, d, rule, log);
  }

 private:
  rounded_rows<S> rows_;
  jacobi_engine<S, float> engine_;
};

}  // namespace

template <real T>
std::unique_ptr<inner_solver<T>> dense_jacobi_cuda(const device& dev, const detail::aligned_rows<T>& A,
                                                   const sweep_rule& rule, bool by_residual,
                                                   const acceleration& accelerate) {
  const int depth = checked_depth(accelerate);
  if (accelerate.anderson == 0)
    if (auto engine = dense_jacobi_in_registers<T>(dev, A, rule, by_residual)) return engine;
  const array<T> diagonal = diagonal_of(dev, A);
  return std::make_unique<jacobi_engine<T, T>>(
      dev, stored_matrix<T, T>{A.data, A.n, A.padded, A.ld, diagonal.data()}, rule.omega, by_residual, depth);
}

std::unique_ptr<inner_solver<float>> dense_jacobi_rounded_cuda(const device& dev,
                                                               const detail::aligned_rows<double>& A,
                                                               entry_precision precision,
                                                               const sweep_rule& rule,
                                                               const acceleration& accelerate) {
  const int depth = checked_depth(accelerate);
  if (precision == entry_precision::float8)
    return std::make_unique<rounded_engine<__nv_fp8_e4m3>>(dev, A, rule.omega, depth);
  return std::make_unique<rounded_engine<__nv_bfloat16>>(dev, A, rule.omega, depth);
}

template std::unique_ptr<inner_solver<float>> dense_jacobi_cuda(const device&,
                                                                const detail::aligned_rows<float>&,
                                                                const sweep_rule&, bool, const acceleration&);
template std::unique_ptr<inner_solver<double>> dense_jacobi_cuda(const device&,
                                                                 const detail::aligned_rows<double>&,
                                                                 const sweep_rule&, bool, const acceleration&);

}  // namespace vouch
