// Jacobi sweeps over a dense matrix that stays in registers.
//
// Mapping   A block owns some rows, whose entries its summing warps hold. A warp ends the rows and sends their
//           changes. Each block of a cluster looks for the changes of one slice of the unknowns, and hands the
//           new solution there to all blocks of its cluster, into shared memory; so what looks into L2 is
//           little, and the cluster has all facts of the sweep between them.
// Messages  Changes travel as flagged words (flagged_words.cuh), within the cluster by stores that count their bytes.
//           Who has anything of a sweep knows that everybody has read all of the sweep before the last, so two
//           places in turn are enough. The decision about a sweep takes longer than a sweep: it is waited for
//           two sweeps later, and what was done since is dropped.
// Bound     by the way of a change: one trip through L2, one in the cluster, two sums over threads.
// Bits      every sum has a fixed order, every block takes the same decision from the same numbers.
#include <cuda_runtime.h>

#include <bit>
#include <cstdint>
#include <string>

#include <vouch/core/gpu/cluster.cuh>
#include <vouch/core/gpu/flagged_words.cuh>
#include <vouch/solve/loop/pinned_history.cuh>
#include <vouch/solve/stationary/dense_engine_cuda.cuh>
#include <vouch/solve/stationary/row_stream.cuh>
#include <vouch/solve/stationary/sweep_progress.hpp>

namespace vouch::jacobi_registers {

using namespace stream;

/// Blocks of a cluster.
inline constexpr int mates = 8;

/// How the rows of a block lie in its summing threads: a warp takes ThreadRows rows of 32 Columns columns.
template <int ThreadRows, int Columns>
struct row_layout {
  static constexpr int row_groups = 3, column_groups = 4, thread_rows = ThreadRows, columns = Columns;
  static constexpr int rows = row_groups * thread_rows;
  static constexpr int most = column_groups * 32 * columns;  // unknowns
  static constexpr int summing = row_groups * column_groups * 32;
  static constexpr int sums = static_cast<int>(std::bit_ceil(static_cast<unsigned>(thread_rows)));
};

/// Threads that look for changes, 16 bytes each.
template <class T, class Layout>
inline constexpr int looking = Layout::most / lane_columns<T> / mates;
/// Threads of the kernel: those that sum, those that look, a warp that ends rows, one that decides.
template <class T, class Layout>
inline constexpr int first_closing = Layout::summing + looking<T, Layout>;
template <class T, class Layout>
inline constexpr int all_threads = first_closing<T, Layout> + 64;

/// n is a multiple of lane_columns<T>; rows of the matrix begin on 16 bytes.
template <class T>
struct task {
  const T* a = nullptr;
  std::int64_t n = 0;
  std::int64_t ld = 0;
  const T* r = nullptr;
  const T* factor = nullptr;          // omega over the diagonal
  const T* weight = nullptr;          // the diagonal over omega
  T* d = nullptr;                     // the result
  std::uint64_t* exchange = nullptr;  // words of the changes of even and of odd sweeps; zeros at the start
  std::uint64_t* wish = nullptr;      // words of two sweeps' wish to stop; zeros at the start
  pinned_history* box = nullptr;
  sweep_progress progress;
  std::int64_t look = 512;  // iterations between two looks at the mailbox
  int goes_back = 0;        // ends with the iterate that met the target, not with the next

  __device__ std::uint64_t* exchange_of(std::uint32_t epoch) const {
    return exchange + (epoch & 1) * n * flagged_words<T>;
  }
};

__host__ __device__ inline std::int64_t first_row(std::int64_t n, std::int64_t blocks, std::int64_t block) {
  return n * block / blocks;
}

/// What the threads of a block share. Of two places, those of even and of odd sweeps.
template <class T, class Layout>
struct shared_parts {
  static constexpr int tellers = mates * looking<T, Layout> / 32;  // warps of the cluster that tell facts
  alignas(16) T x[2][Layout::most];
  alignas(16) T part[2][Layout::rows][Layout::column_groups];
  alignas(16) double facts[2][tellers][4];
  std::uint64_t solved[2];   // barriers: x is there
  std::uint64_t told[2];     // facts are there
  std::uint64_t summed[2];   // part is there
  std::uint64_t decided[2];  // about the sweep
  std::uint32_t last;        // the sweep that ends the run, once that is known
  static constexpr std::uint32_t unknown = ~0U;
  int met;  // not 0: its own iterate met the target, and is the result

  /// One thread, before a barrier of the cluster.
  __device__ void init(unsigned x_bytes) {
    for (int k = 0; k < 2; ++k) {
      mbarrier_init(solved + k, 1);
      mbarrier_init(told + k, 1);
      mbarrier_init(summed + k, Layout::summing);
      mbarrier_init(decided + k, 1);
    }
    last = unknown;
    met = 0;
    mbarrier_init_fence();
    for (int k = 0; k < 2; ++k) {
      mbarrier_arrive_expect_tx(solved + k, x_bytes);
      mbarrier_arrive_expect_tx(told + k, sizeof(facts[0]));
    }
  }
  /// Whether sweep k is known not to be begun: the one after the last still is.
  __device__ bool is_late(std::uint32_t k) {
    const std::uint32_t known = atomicOr(&last, 0);
    return known != unknown && k >= known + 2;
  }
  /// Waits for the solution or the sums of sweep k; whether there is such a sweep.
  __device__ bool await_solved(std::uint32_t k) {
    while (!mbarrier_try_wait_cluster(solved + (k & 1), (k - 1) / 2 & 1))
      if (is_late(k)) return false;
    return true;
  }
  __device__ bool await_summed(std::uint32_t k) {
    while (!mbarrier_try_wait(summed + (k & 1), k / 2 & 1))
      if (is_late(k)) return false;
    return true;
  }
  /// Whether sweep k is begun: waits for the decision about the sweep before the last one.
  __device__ bool begins(std::uint32_t k) {
    if (k >= 2) mbarrier_wait(decided + (k & 1), (k - 2) / 2 & 1);
    return !is_late(k);
  }
};

__device__ inline int lane() { return static_cast<int>(threadIdx.x) % 32; }

/// The threads that sum. x of sweep k is the solution before it; that of sweep 0 is zero.
template <class T, class Layout>
struct summing_group {
  static constexpr int lanes = lane_columns<T>, vectors = Layout::columns / lanes;

  const task<T>& in;
  shared_parts<T, Layout>& shared;
  T a[Layout::thread_rows][Layout::columns];

  __device__ static int warp() { return static_cast<int>(threadIdx.x) / 32; }
  __device__ static int row_group() { return warp() / Layout::column_groups; }
  __device__ static int column_group() { return warp() % Layout::column_groups; }
  __device__ static int column(int vector) {
    return (column_group() * vectors + vector) * 32 * lanes + lane() * lanes;
  }

  __device__ summing_group(const task<T>& task, shared_parts<T, Layout>& parts) : in(task), shared(parts) {
    const std::int64_t first = first_row(in.n, gridDim.x, blockIdx.x);
    const std::int64_t end = first_row(in.n, gridDim.x, blockIdx.x + 1);
#pragma unroll
    for (int i = 0; i < Layout::thread_rows; ++i) {
      const std::int64_t row = first + row_group() * Layout::thread_rows + i;
#pragma unroll
      for (int v = 0; v < vectors; ++v) {
        T entries[lanes] = {};
        if (row < end && column(v) < in.n) load_lanes(in.a + row * in.ld + column(v), entries);
#pragma unroll
        for (int l = 0; l < lanes; ++l) a[i][v * lanes + l] = entries[l];
      }
    }
  }

  __device__ void run() {
    const auto bytes = static_cast<unsigned>(in.n * static_cast<std::int64_t>(sizeof(T)));
    for (std::uint32_t k = 0;; ++k) {
      if (k > 0) {
        if (!shared.await_solved(k)) return;
        if (threadIdx.x == 0) mbarrier_arrive_expect_tx(shared.solved + (k & 1), bytes);
      }
      sum(k);
    }
  }

 private:
  __device__ void sum(std::uint32_t k) {
    T sums[Layout::sums] = {};
#pragma unroll
    for (int v = 0; v < vectors; ++v) {
      T x[lanes];
      load_lanes(shared.x[k & 1] + column(v), x);
#pragma unroll
      for (int i = 0; i < Layout::thread_rows; ++i)
#pragma unroll
        for (int l = 0; l < lanes; ++l) sums[i] = fma(a[i][v * lanes + l], x[l], sums[i]);
    }
    const T mine = sum_over_warp(sums);
    constexpr int sharing = 32 / Layout::sums;
    const int row = lane() / sharing;
    if (lane() % sharing == 0 && row < Layout::thread_rows)
      shared.part[k & 1][row_group() * Layout::thread_rows + row][column_group()] = mine;
    mbarrier_arrive(shared.summed + (k & 1));
  }
};

/// The threads that look for the changes of a slice of the unknowns and hand on what comes of them.
template <class T, class Layout>
struct looking_group {
  static constexpr int lanes = lane_columns<T>;

  const task<T>& in;
  shared_parts<T, Layout>& shared;

  __device__ void run() {
    const int me = static_cast<int>(threadIdx.x) - Layout::summing;
    const int slice = static_cast<int>(blockIdx.x) % mates;
    const int column = (slice * looking<T, Layout> + me) * lanes;
    const bool has = column < in.n;
    T d[lanes] = {}, weight[lanes] = {};
    if (has) load_lanes(in.weight + column, weight);
    for (std::uint32_t k = 0; shared.begins(k); ++k) {
      T change[lanes] = {};
      if (has) {
        wait_load(in.exchange_of(k + 1) + column * flagged_words<T>, change, k + 1);
#pragma unroll
        for (int l = 0; l < lanes; ++l) d[l] += change[l];
#pragma unroll
        for (unsigned mate = 0; mate < mates; ++mate)
          cluster_store_async(cluster_address(shared.x[(k + 1) & 1] + column, mate), d,
                              cluster_address(shared.solved + ((k + 1) & 1), mate));
      }
      tell(k, slice * (looking<T, Layout> / 32) + me / 32, change, weight, d);
    }
  }

 private:
  // The warp's facts to all blocks of the cluster.
  __device__ void tell(std::uint32_t k, int teller, const T (&change)[lanes], const T (&weight)[lanes],
                       const T (&d)[lanes]) {
    double sums[2] = {};
    T most[2] = {};
#pragma unroll
    for (int l = 0; l < lanes; ++l) {
      const double s = static_cast<double>(change[l]) * static_cast<double>(weight[l]);
      sums[0] += s * s;
      sums[1] += fabs(static_cast<double>(change[l]));
      most[0] = fmax(most[0], fabs(change[l]));
      most[1] = fmax(most[1], fabs(d[l]));
    }
    const double sum = sum_over_warp(sums);  // of the first kind in lower lanes
    const double all[2] = {__shfl_sync(everyone, sum, 0), __shfl_sync(everyone, sum, 16)};
    const double largest[2] = {largest_of_warp(most[0]), largest_of_warp(most[1])};
    if (lane() >= mates) return;
    const auto mate = static_cast<unsigned>(lane());
    const unsigned arrival = cluster_address(shared.told + (k & 1), mate);
    cluster_store_async(cluster_address(shared.facts[k & 1][teller], mate), all, arrival);
    cluster_store_async(cluster_address(shared.facts[k & 1][teller] + 2, mate), largest, arrival);
  }
};

/// The warp that ends rows, one a lane.
template <class T, class Layout>
__device__ void close_rows(const task<T>& in, shared_parts<T, Layout>& shared) {
  static_assert(Layout::rows <= 32);
  const std::int64_t row = first_row(in.n, gridDim.x, blockIdx.x) + lane();
  const bool has = row < first_row(in.n, gridDim.x, blockIdx.x + 1);
  const double r = has ? in.r[row] : T{};
  const T factor = has ? in.factor[row] : T{};
  T d{}, before{}, earlier{}, change{};  // the solution, and those of one and two sweeps ago
  for (std::uint32_t k = 0;; ++k) {
    if (shared.await_summed(k) && has) {
      double all = r;
      for (const T part : shared.part[k & 1][lane()]) all -= static_cast<double>(part);
      change = factor * static_cast<T>(all);
    }
    if (!shared.begins(k)) break;
    if (has) store_flagged(in.exchange_of(k + 1) + row * flagged_words<T>, change, k + 1);
    earlier = before;
    before = d;
    d += change;
  }
  if (has) in.d[row] = shared.met != 0 ? earlier : before;
}

/// The facts of a sweep, by one warp.
template <class T, class Layout>
__device__ sweep_facts gather(const shared_parts<T, Layout>& shared, std::uint32_t k) {
  constexpr int tellers = shared_parts<T, Layout>::tellers;
  static_assert(tellers <= 32);
  double told[4] = {};
  if (lane() < tellers)
#pragma unroll
    for (int v = 0; v < 4; ++v) told[v] = shared.facts[k & 1][lane()][v];
  const double sums[2] = {told[0], told[1]}, sum = sum_over_warp(sums);
  sweep_facts facts;
  facts.met = __shfl_sync(everyone, sum, 0);
  facts.change = __shfl_sync(everyone, sum, 16);
  facts.largest_change = largest_of_warp(told[2]);
  facts.largest = largest_of_warp(told[3]);
  return facts;
}

/// The warp that decides.
template <class T, class Layout>
__device__ void decide(const task<T>& in, shared_parts<T, Layout>& shared) {
  sweep_progress progress = in.progress;
  solver_event event = solver_event::running;
  std::uint32_t k = 0;
  for (;; ++k) {
    const std::int64_t iteration = k;
    const bool looks = (iteration + 1) % in.look == 0;
    float wish = 0;
    if (looks) {
      std::uint64_t* const word = in.wish + (k / in.look & 1);
      if (blockIdx.x == 0 && lane() == 0)
        store_flagged(word, *static_cast<volatile std::int32_t*>(&in.box->stop) != 0 ? 1.0F : 0.0F, k + 1);
      wait_load(word, wish, k + 1);
    }
    mbarrier_wait_cluster(shared.told + (k & 1), k / 2 & 1);
    if (lane() == 0) mbarrier_arrive_expect_tx(shared.told + (k & 1), sizeof(shared.facts[0]));
    sweep_facts facts = gather(shared, k);
    facts.wish = wish;
    event = progress.take(facts, iteration);
    if (blockIdx.x == 0 && lane() == 0) {
      publish_to_host(*in.box, iteration, facts.met, event, looks);
      if (event != solver_event::running) in.box->mean_change = facts.change / static_cast<double>(in.n);
    }
    if (event != solver_event::running) break;
    if (lane() == 0) mbarrier_arrive(shared.decided + (k & 1));
  }
  if (lane() == 0) {
    shared.met = in.goes_back && event == solver_event::reached ? 1 : 0;
    atomicExch(&shared.last, k);
    mbarrier_arrive(shared.decided + (k & 1));
  }
  // What the sweep after the last one brings is on its way into this block, which must not leave before.
  mbarrier_wait_cluster(shared.solved + (k & 1), (k + 1) / 2 & 1);
  mbarrier_wait_cluster(shared.told + ((k + 1) & 1), (k + 1) / 2 & 1);
}

template <class T, class Layout>
__global__ void __launch_bounds__(all_threads<T, Layout>, 1)
    jacobi_in_registers(const __grid_constant__ task<T> in) {
  __shared__ shared_parts<T, Layout> shared;
  const int thread = static_cast<int>(threadIdx.x);
  for (int i = thread; i < 2 * Layout::most; i += all_threads<T, Layout>)
    shared.x[i / Layout::most][i % Layout::most] = T{};
  if (thread == 0) shared.init(static_cast<unsigned>(in.n * static_cast<std::int64_t>(sizeof(T))));
  __syncthreads();
  cluster_barrier();  // before a block writes to another

  if (thread < Layout::summing)
    summing_group<T, Layout>(in, shared).run();
  else if (thread < first_closing<T, Layout>)
    looking_group<T, Layout>{in, shared}.run();
  else if (thread < first_closing<T, Layout> + 32)
    close_rows(in, shared);
  else
    decide(in, shared);
}

}  // namespace vouch::jacobi_registers

// Plans and runs the kernel of dense_jacobi_registers.cuh.

namespace vouch {
namespace {

using namespace jacobi_registers;

// Layouts of small and of large matrices: their entries take 96 of a thread's 128 registers at most.
using small = row_layout<3, 8>;
using large = row_layout<6, 16>;

template <class T, class Layout>
std::int64_t blocks_of(std::int64_t n) {
  return ceil_div<std::int64_t>(n, mates * Layout::rows) * mates;
}

// Every block has a row, and all run at once.
template <class T, class Layout>
bool fits(const device& dev, std::int64_t n) {
  const std::int64_t blocks = blocks_of<T, Layout>(n);
  return n >= blocks && n <= Layout::most &&
         blocks <= mates * dense_engine::clusters_at_once(dev, jacobi_in_registers<T, Layout>, mates,
                                                          all_threads<T, Layout>, "jacobi_in_registers");
}

template <class T, class Layout>
class register_engine final : public inner_solver<T> {
 public:
  register_engine(const device& dev, const detail::aligned_rows<T>& A, const sweep_rule& rule, bool by_residual)
      : dev_(dev),
        blocks_(blocks_of<T, Layout>(A.padded)),
        runner_(dev, A.n, A.padded, by_residual, 2 * A.padded * flagged_words<T> + 2),
        factor_(dev, A.padded),
        weight_(dev, A.padded) {
    dense_engine::make_relaxation<T>(dev, A, rule.omega, factor_.data(), weight_.data());
    in_.a = A.data;
    in_.n = A.padded;
    in_.ld = A.ld;
    in_.factor = factor_.data();
    in_.weight = weight_.data();
    in_.exchange = runner_.words();
    in_.wish = in_.exchange + 2 * A.padded * flagged_words<T>;
    in_.box = runner_.box();
    in_.look = dense_engine::iterations_between_looks(A.padded * A.ld * static_cast<std::int64_t>(sizeof(T)));
  }

  std::string name() const override {
    return std::to_string(blocks_) + " blocks of " + std::to_string(all_threads<T, Layout>) +
           " threads, dense by rows, in registers";
  }

  inner_outcome run(T* r, T* d, const stopping_rule& rule, iteration_log& log) override {
    return runner_.run(in_, r, d, rule, log, [&] {
      launch(dev_, "jacobi_in_registers", {blocks_, all_threads<T, Layout>, 0, mates, true},
             jacobi_in_registers<T, Layout>, in_);
    });
  }

 private:
  device dev_;
  std::int64_t blocks_;
  dense_engine::jacobi_runner<T> runner_;
  array<T> factor_, weight_;
  task<T> in_;
};

}  // namespace

template <real T>
std::unique_ptr<inner_solver<T>> dense_jacobi_in_registers(const device& dev, const detail::aligned_rows<T>& A,
                                                           const sweep_rule& rule, bool by_residual) {
  if (fits<T, small>(dev, A.padded))
    return std::make_unique<register_engine<T, small>>(dev, A, rule, by_residual);
  if constexpr (sizeof(T) == 4)
    if (fits<T, large>(dev, A.padded))
      return std::make_unique<register_engine<T, large>>(dev, A, rule, by_residual);
  return nullptr;
}

template std::unique_ptr<inner_solver<float>> dense_jacobi_in_registers(const device&,
                                                                        const detail::aligned_rows<float>&,
                                                                        const sweep_rule&, bool);
template std::unique_ptr<inner_solver<double>> dense_jacobi_in_registers(const device&,
                                                                         const detail::aligned_rows<double>&,
                                                                         const sweep_rule&, bool);

}  // namespace vouch
