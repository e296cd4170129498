// vouch/solve/dense_jacobi_rows.cuh -- what the threads of a block of dense_jacobi.cuh share, and those that
// sum its rows; private.
#pragma once
#include <cuda_runtime.h>

#include <cstdint>

#include <vouch/core/gpu/flagged_words.cuh>
#include <vouch/core/gpu/l2_policy.cuh>
#include <vouch/solve/device_history.hpp>
#include <vouch/solve/row_stream.cuh>
#include <vouch/solve/sweep_progress.hpp>

namespace vouch::jacobi_kernel {

using namespace stream;

/// Numbers that blocks exchange: the facts of a sweep and, with mixing, 2 depth products.
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
  device_mailbox* box = nullptr;
  sweep_progress progress;
  std::int64_t look = 512;  // iterations between two looks at the mailbox
  int depth = 0;            // of the mixing
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
  // With mixing: the next iterate and its change, the same of the sweep before, the plain iterate that the
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
    ring.claim(at, width * static_cast<unsigned>(count));
    const std::uint64_t policy = row / Rows * pieces_of<S>(A.n) + piece < kept ? keep : pass;
    for (int i = 0; i < count; ++i)
      ring.copy(at.slot, i * piece_bytes, A.data + (row + i) * A.ld + column, width, policy);
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
