#include <algorithm>
#include <type_traits>

#include <vouch/band/factored/affine_scan.cuh>
#include <vouch/band/factored/factored_chunk.cuh>
#include <vouch/band/factored/factored_cuda.hpp>
#include <vouch/band/gpu/self_validating_words.cuh>
#include <vouch/band/gpu/slices.cuh>
#include <vouch/core/gpu/cluster.cuh>
#include <vouch/core/gpu/dependent_launch.cuh>
#include <vouch/core/launch.cuh>

namespace vouch::detail {
namespace {

// A thread's rows of a prefactored system in registers.

/// `Rows` rows from any row of a system on, also before the first and behind the last, where all is zero.
template <real T, int Rows>
class factored_run {
 public:
  /// Loads the factors.
  __device__ factored_run(const factored_task<T>& task, std::int64_t system, std::int64_t row)
      : system_(system), row_(row), end_(task.b.shape.n) {
    const std::int64_t matrix = system / task.rhs_a_matrix;
    load(inverse_, task.factors.inverse, task.factors.shape, matrix);
    load(lower_, task.factors.lower, task.factors.shape, matrix);
    load(upper_, task.factors.upper, task.factors.shape, matrix);
  }
  __device__ void load_rhs(const batch_view<const T>& b) { load(f_, b.data, b.shape, system_); }

  /// What the rows make of what comes into them.
  __device__ affine_map<T> reduce() const {
    affine_map<T> all = affine_map<T>::none();
#pragma unroll
    for (int k = 0; k < Rows; ++k) {
      all.out *= -lower_[k];
      all.out_rhs = inverse_[k] * f_[k] - lower_[k] * all.out_rhs;
      all.first_before += all.first_behind * all.out;
      all.first_rhs += all.first_behind * all.out_rhs;
      all.first_behind *= -upper_[k];
    }
    return all;
  }
  /// Writes the unknowns of rows keep_from to keep_to - 1.
  __device__ void fill(T before, T behind, const batch_view<T>& x, std::int64_t keep_from,
                       std::int64_t keep_to) {
#pragma unroll
    for (int k = 0; k < Rows; ++k) f_[k] = before = inverse_[k] * f_[k] - lower_[k] * before;
#pragma unroll
    for (int k = Rows - 1; k >= 0; --k) f_[k] = behind = f_[k] - upper_[k] * behind;
    T* const to = x.data + x.shape.at(system_, row_);
    if (row_ >= keep_from && row_ + Rows <= keep_to && x.shape.row_stride == 1 && begins_a_line(to)) {
#pragma unroll
      for (int k = 0; k < Rows; k += line::size) {
        line of;
        for (int j = 0; j < line::size; ++j) of.numbers[j] = f_[k + j];
        *reinterpret_cast<line*>(to + k) = of;
      }
      return;
    }
#pragma unroll
    for (int k = 0; k < Rows; ++k)
      if (row_ + k >= keep_from && row_ + k < keep_to) to[k * x.shape.row_stride] = f_[k];
  }

 private:
  struct alignas(16) line {
    static constexpr int size = line_size<T>;
    T numbers[size];
  };
  static_assert(Rows % line::size == 0);

  // The last row that is stored stands for all behind it.
  __device__ void load(T (&to)[Rows], const T* from, const batch_shape& shape, std::int64_t system) const {
    const T* const first = from + shape.at(system, row_);
    if (row_ >= 0 && row_ + Rows <= shape.n && shape.row_stride == 1 && begins_a_line(first)) {
#pragma unroll
      for (int k = 0; k < Rows; k += line::size) {
        const line of = *reinterpret_cast<const line*>(first + k);
        for (int j = 0; j < line::size; ++j) to[k + j] = of.numbers[j];
      }
      return;
    }
#pragma unroll
    for (int k = 0; k < Rows; ++k) {
      const std::int64_t row = row_ + k;
      to[k] = row >= 0 && row < end_ ? from[shape.at(system, row < shape.n ? row : shape.n - 1)] : T{0};
    }
  }

  std::int64_t system_, row_, end_;
  T lower_[Rows], inverse_[Rows], upper_[Rows], f_[Rows];
};

constexpr int most_warps = 16;      // of a block
constexpr int largest_cluster = 8;  // blocks

// How systems lie in blocks.
struct run_cutting {
  unsigned chunks = 1;    // of every system
  std::int64_t kept = 0;  // rows of it that a block answers for
  int halo = 0;           // rows beside them on either side
};

// What comes into a block.
template <real T>
struct block_boundary {
  T before = 0, behind = 0;
};

// Blocks that need not know of each other.
template <real T>
struct apart {
  __device__ apart(const run_cutting&, T*) {}
  __device__ block_boundary<T> enter(const affine_map<T>&, int) const { return {}; }
};

// The blocks of a system are a cluster: they write their affine maps into each other's shared memory.
template <real T>
class in_cluster {
 public:
  __device__ in_cluster(const run_cutting& cut, T*) : chunks_(static_cast<int>(cut.chunks)) {
    if (threadIdx.x == 0) {
      mbarrier_init(shared().arrived, 1);
      mbarrier_init_fence();
    }
    __syncthreads();
    cluster_arrive();
  }
  __device__ block_boundary<T> enter(const affine_map<T>& own, int thread) const {
    const int lane = thread % 32, rank = static_cast<int>(blockIdx.x % static_cast<unsigned>(chunks_));
    cluster_wait();  // all barriers have been made
    if (thread == 0)
      mbarrier_arrive_expect_tx(shared().arrived,
                                static_cast<unsigned>(chunks_ * numbers) * static_cast<unsigned>(sizeof(T)));
    if (thread < chunks_) {
      const auto to = static_cast<unsigned>(thread);
      const unsigned place = cluster_address(shared().published[rank], to),
                     arrived = cluster_address(shared().arrived, to);
      const T all[numbers] = {own.out, own.out_rhs, own.first_behind, own.first_before, own.first_rhs};
      for (int k = 0; k < numbers; ++k)
        cluster_store_async(place + static_cast<unsigned>(k * sizeof(T)), all[k], arrived);
    }
    mbarrier_wait_cluster(shared().arrived, 0);
    const T* const published = shared().published[min(lane, chunks_ - 1)];
    affine_map<T> of = lane < chunks_
                           ? affine_map<T>{published[0], published[1], published[2], published[3], published[4]}
                           : affine_map<T>::none();
    const incoming_map<T> into = of_lane(scan_affine_maps(of, lane, chunks_), rank);
    return {into.before_rhs, into.behind_rhs};
  }

 private:
  static constexpr int numbers = 5;
  struct memory {
    std::uint64_t arrived[1];
    T published[largest_cluster][numbers];
  };
  __device__ static memory& shared() {
    __shared__ memory here;
    return here;
  }
  int chunks_;
};

// All blocks run at once: they exchange their affine maps in global memory, in one of two places by turns;
// the other is cleared meanwhile. Which one it is a block knows from the last time.
template <real T>
class in_grid {
 public:
  static constexpr int numbers = 5, slot = 2 * (numbers + 1);
  static constexpr int each = 5;  // blocks of a lane

  __device__ in_grid(const run_cutting& cut, T* exchange_buffer)
      : chunks_(static_cast<int>(cut.chunks)), rank_(static_cast<int>(blockIdx.x % cut.chunks)) {
    first_ = exchange_buffer + (blockIdx.x - static_cast<unsigned>(rank_)) * std::int64_t{slot};
    if (threadIdx.x < 32) turn_ = *turn_of(rank_) != 0 ? 1 : 0;
  }
  __device__ block_boundary<T> enter(const affine_map<T>& own, int thread) const {
    __shared__ block_boundary<T> found;
    if (thread < 32) {
      const block_boundary<T> here = exchange(own, thread);
      if (thread == 0) found = here;
    }
    __syncthreads();
    return found;
  }

 private:
  __device__ T* place(int rank, int turn) const { return first_ + rank * slot + turn * (numbers + 1) + 1; }
  __device__ volatile word_bits<T>* turn_of(int rank) const {
    return reinterpret_cast<volatile word_bits<T>*>(first_ + rank * slot);
  }
  __device__ block_boundary<T> exchange(const affine_map<T>& own, int lane) const {
    const T all[numbers] = {own.out, own.out_rhs, own.first_behind, own.first_before, own.first_rhs};
    if (lane == 0) publish(place(rank_, turn_), all);
    const int a_lane = (chunks_ + 31) / 32;
    affine_map<T> of[each], together = affine_map<T>::none();
#pragma unroll
    for (int j = 0; j < each; ++j) {
      of[j] = affine_map<T>::none();
      if (j >= a_lane) continue;
      const int rank = lane * a_lane + j;
      T words[numbers];
      while (__any_sync(~0u, !try_read(place(min(rank, chunks_ - 1), turn_), words))) {
      }
      if (rank < chunks_) of[j] = {words[0], words[1], words[2], words[3], words[4]};
      together.append(of[j]);
    }
    if (lane < numbers) place(rank_, 1 - turn_)[lane] = 0;
    if (lane == 0) *turn_of(rank_) = 1 - turn_;
    const incoming_map<T> into = scan_affine_maps(together, lane, 32);
    T before[each], behind = into.behind_rhs;
    before[0] = into.before_rhs;
#pragma unroll
    for (int j = 1; j < each; ++j) before[j] = of[j - 1].out * before[j - 1] + of[j - 1].out_rhs;
    block_boundary<T> found;
    const int which = rank_ % a_lane;
#pragma unroll
    for (int j = each - 1; j >= 0; --j) {
      if (j == which) found = {before[j], behind};
      behind = of[j].first_behind * behind + (of[j].first_before * before[j] + of[j].first_rhs);
    }
    return {of_lane(found.before, rank_ / a_lane), of_lane(found.behind, rank_ / a_lane)};
  }

  T* first_;
  int chunks_, rank_, turn_ = 0;
};

// A block solves its rows: each thread reduces its own to their affine map, threads and then blocks join
// theirs, and every thread fills in what it has. The factors come while the kernel before ends. Bound by
// latency.
template <real T, int Rows, class Coupling>
__global__ void __launch_bounds__(32 * most_warps)
    solve_factored_runs(factored_task<T> task, run_cutting cut, T* exchange_buffer) {
  __shared__ affine_map<T> published[most_warps];
  const int thread = static_cast<int>(threadIdx.x), warps = static_cast<int>(blockDim.x) / 32;
  const std::int64_t system = blockIdx.x / cut.chunks, keep_from = blockIdx.x % cut.chunks * cut.kept;
  const Coupling coupling(cut, exchange_buffer);
  factored_run<T, Rows> run(task, system, keep_from - cut.halo + thread * Rows);
  wait_for_earlier_kernels();
  run.load_rhs(task.b);
  let_next_kernel_begin();
  affine_map<T> whole = run.reduce();
  const incoming_map<T> into = join_in_block(whole, published, thread, warps);
  const block_boundary<T> at = coupling.enter(whole, thread);
  const std::int64_t keep_to = keep_from + cut.kept, rows = task.b.shape.n;
  run.fill(into.before(at.before), into.behind(at.before, at.behind), task.x, keep_from,
           keep_to < rows ? keep_to : rows);
}

template <template <class> class Coupling, int Rows, real T>
void start(const device& dev, const factored_task<T>& task, int warps, int halo, launch_shape shape,
           T* exchange_buffer = nullptr) {
  run_cutting cut;
  cut.kept = 32 * Rows * warps - 2 * halo;
  cut.chunks = static_cast<unsigned>(ceil_div<std::int64_t>(task.b.shape.n, cut.kept));
  cut.halo = halo;
  shape.blocks = task.b.shape.systems * cut.chunks;
  shape.threads = static_cast<unsigned>(32 * warps);
  if (std::is_same_v<Coupling<T>, in_cluster<T>>) shape.cluster = cut.chunks;
  launch(dev, "solve_factored_runs", shape, solve_factored_runs<T, Rows, Coupling<T>>, task, cut,
         exchange_buffer);
}

// Warps a block where each of its threads has so many rows and `blocks` have all.
int warps_of(std::int64_t rows, int of_a_thread, std::int64_t blocks) {
  return static_cast<int>(ceil_div<std::int64_t>(rows, blocks * 32 * of_a_thread));
}

// Rows of a thread: where rows beside a block's own are read, and where blocks meet.
constexpr int few_rows = 4, many_rows = 8;
constexpr int warps_apart = 8, warps_with_halos = 4, warps_of_a_cluster = 8;
constexpr int widest_halo = 96;
// More are solved sooner by kernels that hold fewer numbers at a time.
constexpr std::int64_t most_bytes = std::int64_t{8} << 20;  // of right-hand sides

int grid_blocks(const device& dev) { return std::min(dev.processors(), 32 * in_grid<double>::each); }
// Where all blocks communicate. The fewer they are, the sooner they have done so, and the later each has its
// rows. A system has the same blocks every time: they go by what they did the last time.
int warps_of_grid(const device& dev, std::int64_t rows) {
  const int blocks = grid_blocks(dev);
  return std::max(warps_of(rows, many_rows, blocks), std::min(warps_of(rows, many_rows, blocks / 2), 8));
}

}  // namespace

std::int64_t exchange_buffer_numbers(const device& dev) { return grid_blocks(dev) * in_grid<double>::slot; }

template <real T>
run_plan plan_of_runs(const device& dev, const typename factored_tridiagonal<T>::storage& kept,
                      const batch_shape& b) {
  const std::int64_t rows = kept.rows, systems = b.systems;
  const bool few = rows * systems * static_cast<std::int64_t>(sizeof(T)) <= most_bytes;
  const bool of_one_matrix = kept.shape.systems == 1 && b.row_stride == 1;  // its factors stay near
  if ((few || of_one_matrix) && rows <= warps_apart * 32 * few_rows) return run_plan::whole;
  if (few && kept.decay <= widest_halo) return run_plan::halos;
  if (!kept.bounded || (!few && (rows <= factored_rows || kept.decay <= widest_shared_halo)))
    return run_plan::none;
  if (rows <= largest_cluster * warps_of_a_cluster * 32 * many_rows && runs_sm90_code(dev))
    return run_plan::cluster;
  const int warps = warps_of_grid(dev, rows);
  const std::int64_t chunks = ceil_div<std::int64_t>(rows, warps * 32 * many_rows);
  return few && warps <= most_warps && chunks * systems <= grid_blocks(dev) ? run_plan::grid : run_plan::none;
}

template <real T>
void solve_in_runs(const device& dev, run_plan plan, const typename factored_tridiagonal<T>::storage& kept,
                   const factored_task<T>& task) {
  const std::int64_t rows = kept.rows;
  launch_shape shape;
  shape.programmatic_dependent_launch = plan != run_plan::grid;
  shape.cooperative = plan == run_plan::grid;
  if (plan == run_plan::whole) return start<apart, few_rows>(dev, task, warps_of(rows, few_rows, 1), 0, shape);
  if (plan == run_plan::halos) {
    const int halo = static_cast<int>(ceil_div<std::int64_t>(kept.decay, few_rows)) * few_rows;
    return start<apart, few_rows>(dev, task, warps_with_halos, halo, shape);
  }
  if (plan == run_plan::cluster)
    return start<in_cluster, many_rows>(dev, task, warps_of(rows, many_rows, largest_cluster), 0, shape);
  start<in_grid, many_rows>(dev, task, warps_of_grid(dev, rows), 0, shape, kept.exchange_buffer->data());
}

template run_plan plan_of_runs<float>(const device&, const factored_tridiagonal<float>::storage&,
                                      const batch_shape&);
template run_plan plan_of_runs<double>(const device&, const factored_tridiagonal<double>::storage&,
                                       const batch_shape&);
template void solve_in_runs(const device&, run_plan, const factored_tridiagonal<float>::storage&,
                            const factored_task<float>&);
template void solve_in_runs(const device&, run_plan, const factored_tridiagonal<double>::storage&,
                            const factored_task<double>&);

}  // namespace vouch::detail
