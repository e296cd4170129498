#include <cooperative_groups.h>

#include <algorithm>

#include <vouch/band/carver.hpp>
#include <vouch/band/factored_chunk.cuh>
#include <vouch/band/factored_cuda.hpp>
#include <vouch/core/launch.cuh>

namespace vouch::detail {
namespace {

constexpr int threads = factored_threads;
constexpr int widest_halo = 512;  // rows on either side
constexpr int largest_cluster = 8;

// How systems lie in blocks.
struct cutting {
  segments in;                        // every block, but where
  std::int64_t chunks = 1, kept = 0;  // of every system, and the rows that each answers for
  int halo = 0, reach = threads;
};

__device__ segments segments_of(const cutting& cut, const batch_shape& b, std::int64_t rows) {
  segments of = cut.in;
  of.system = blockIdx.x / cut.chunks * of.count;
  const std::int64_t left = b.systems - of.system;
  of.count = static_cast<int>(left < of.count ? left : of.count);
  of.begin = blockIdx.x % cut.chunks * cut.kept;
  of.end = of.begin + cut.kept < rows ? of.begin + cut.kept : rows;
  of.begin = of.begin > cut.halo ? of.begin - cut.halo : 0;
  of.end = of.end + cut.halo < rows ? of.end + cut.halo : rows;
  return of;
}

// A block solves its segments as if nothing lay beyond them, and keeps what is right. Bound by memory: three
// factors (two if symmetric) and b are read, x is written.
template <real T, bool Symmetric, layout Layout>
__global__ void __launch_bounds__(threads)
    solve_factored(factored_task<T> task, cutting cut, std::int64_t rows) {
  const int thread = static_cast<int>(threadIdx.x);
  const segments of = segments_of(cut, task.b.shape, rows);
  factored_chunk<T, Symmetric, Layout> work(dynamic_shared(), task, of, thread);
  work.reduce(cut.reach);
  work.fill(0, 0);
  const std::int64_t from = blockIdx.x % cut.chunks * cut.kept;
  work.store(task.x, from, from + cut.kept < rows ? from + cut.kept : rows);
}

// A cluster solves one system, a block a chunk of it: the blocks tell each other their passages. Bound by
// latency.
template <real T, bool Symmetric>
__global__ void __launch_bounds__(threads)
    solve_factored_in_cluster(factored_task<T> task, cutting cut, std::int64_t rows) {
  namespace cg = cooperative_groups;
  __shared__ passage<T> own, all[largest_cluster];
  const cg::cluster_group cluster = cg::this_cluster();
  const int thread = static_cast<int>(threadIdx.x), chunks = static_cast<int>(cut.chunks);
  const int chunk = static_cast<int>(cluster.block_rank());
  const segments of = segments_of(cut, task.b.shape, rows);
  factored_chunk<T, Symmetric, layout::single> work(dynamic_shared(), task, of, thread);
  const passage<T> here = work.reduce(cut.reach);
  if (thread == of.leaves() - 1) {
    own.out = here.out;
    own.out_rhs = here.out_rhs;
  }
  if (thread == 0) {
    own.first_behind = here.first_behind;
    own.first_before = here.first_before;
    own.first_rhs = here.first_rhs;
  }
  cluster.sync();
  if (thread < chunks) all[thread] = *cluster.map_shared_rank(&own, static_cast<unsigned>(thread));
  cluster.sync();  // nobody leaves while others read
  T before[largest_cluster], behind = 0;
  before[0] = 0;
  for (int c = 1; c < chunks; ++c) before[c] = all[c - 1].out * before[c - 1] + all[c - 1].out_rhs;
  for (int c = chunks - 1; c > chunk; --c)
    behind = all[c].first_behind * behind + all[c].first_before * before[c] + all[c].first_rhs;
  work.fill(before[chunk], behind);
  work.store(task.x, of.begin, of.end);
}

// Of every chunk of every system, and what comes into it.
template <real T>
struct passages {
  passage<T>* of;
  T *before, *behind;
};

// First pass. Bound by memory.
template <real T, bool Symmetric>
__global__ void __launch_bounds__(threads)
    reduce_factored(factored_task<T> task, cutting cut, std::int64_t rows, passages<T> to) {
  const int thread = static_cast<int>(threadIdx.x);
  const segments of = segments_of(cut, task.b.shape, rows);
  factored_chunk<T, Symmetric, layout::single> work(dynamic_shared(), task, of, thread);
  const passage<T> here = work.reduce(cut.reach);
  passage<T>& own = to.of[blockIdx.x];
  if (thread == of.leaves() - 1) {
    own.out = here.out;
    own.out_rhs = here.out_rhs;
  }
  if (thread == 0) {
    own.first_behind = here.first_behind;
    own.first_before = here.first_before;
    own.first_rhs = here.first_rhs;
  }
}

constexpr int carrying_threads = 512;

// x -> factor x + rhs of all threads before this one, applied to 0. A scan in `shared`, 4 numbers a thread.
template <real T>
__device__ T carried_into(T factor, T rhs, T* shared, int place) {
  T* now = shared;
  T* later = shared + 2 * carrying_threads;
  now[place] = factor;
  now[carrying_threads + place] = rhs;
  __syncthreads();
  for (int d = 1; d < carrying_threads; d *= 2) {
    if (place >= d) {
      rhs = factor * now[carrying_threads + place - d] + rhs;
      factor = factor * now[place - d];
    }
    T* const old = now;
    now = later;
    later = old;
    now[place] = factor;
    now[carrying_threads + place] = rhs;
    __syncthreads();
  }
  const T into = place > 0 ? now[carrying_threads + place - 1] : T{0};
  __syncthreads();
  return into;
}

// Between the passes: a block a system, each thread a run of its chunks, down and then up.
template <real T>
__global__ void __launch_bounds__(carrying_threads) carry_factored(std::int64_t chunks, passages<T> all) {
  __shared__ T shared[4 * carrying_threads];
  const int thread = static_cast<int>(threadIdx.x);
  const passage<T>* of = all.of + blockIdx.x * chunks;
  T *before = all.before + blockIdx.x * chunks, *behind = all.behind + blockIdx.x * chunks;
  const std::int64_t share = (chunks + carrying_threads - 1) / carrying_threads;
  const std::int64_t first = thread * share < chunks ? thread * share : chunks;
  const std::int64_t last = first + share < chunks ? first + share : chunks;
  T factor = 1, rhs = 0;
  for (std::int64_t c = first; c < last; ++c) {
    rhs = of[c].out * rhs + of[c].out_rhs;
    factor = factor * of[c].out;
  }
  T y = carried_into(factor, rhs, shared, thread);
  factor = 1;
  for (std::int64_t c = first; c < last; ++c) {
    before[c] = y;
    y = of[c].out * y + of[c].out_rhs;
  }
  rhs = 0;
  for (std::int64_t c = last - 1; c >= first; --c) {
    rhs = of[c].first_behind * rhs + of[c].first_before * before[c] + of[c].first_rhs;
    factor = factor * of[c].first_behind;
  }
  T x = carried_into(factor, rhs, shared, carrying_threads - 1 - thread);
  for (std::int64_t c = last - 1; c >= first; --c) {
    behind[c] = x;
    x = of[c].first_behind * x + of[c].first_before * before[c] + of[c].first_rhs;
  }
}

// Second pass: the same rows again. Bound by memory.
template <real T, bool Symmetric>
__global__ void __launch_bounds__(threads)
    fill_factored(factored_task<T> task, cutting cut, std::int64_t rows, passages<T> from) {
  const int thread = static_cast<int>(threadIdx.x);
  const segments of = segments_of(cut, task.b.shape, rows);
  const T before = from.before[blockIdx.x], behind = from.behind[blockIdx.x];
  factored_chunk<T, Symmetric, layout::single> work(dynamic_shared(), task, of, thread);
  work.reduce(cut.reach);
  work.fill(before, behind);
  work.store(task.x, of.begin, of.end);
}

int pieces_of(std::int64_t rows) { return static_cast<int>(ceil_div<std::int64_t>(rows, rows_a_thread)); }

bool side_by_side(const batch_shape& b) { return b.system_stride == 1 && b.systems > 1; }

template <real T>
cutting whole_systems(const batch_shape& b, std::int64_t rows) {
  cutting cut;
  cut.kept = rows;
  const int pieces = pieces_of(rows);
  cut.in.count = threads / pieces;
  cut.in.set_pieces(pieces);
  if (side_by_side(b)) {
    while ((cut.in.count & (cut.in.count - 1)) != 0) cut.in.count &= cut.in.count - 1;
    cut.in.across = cut.in.count;
    cut.in.set_pieces(threads / cut.in.count);
  }
  while ((1 << cut.in.sharing_shift) < rows / line_size<T> && cut.in.sharing_shift < 6) ++cut.in.sharing_shift;
  return cut;
}

cutting chunks_of(std::int64_t rows, std::int64_t kept) {
  cutting cut;
  cut.in.set_pieces(threads);
  cut.kept = kept;
  cut.chunks = ceil_div(rows, kept);
  return cut;
}

template <real T, bool Symmetric>
void solve_in_two_passes(const device& dev, const factored_task<T>& task, std::int64_t rows,
                         tridiagonal_workspace& workspace) {
  const cutting cut = chunks_of(rows, factored_rows);
  const std::int64_t systems = task.b.shape.systems, blocks = systems * cut.chunks;
  passages<T> all{};
  carve(dev, workspace, [&](carver& parts) {
    parts.add(&all.of, blocks);
    parts.add(&all.before, blocks);
    parts.add(&all.behind, blocks);
  });
  const launch_shape shape{blocks, threads, factored_bytes<T>(Symmetric)};
  launch(dev, "reduce_factored", shape, reduce_factored<T, Symmetric>, task, cut, rows, all);
  launch(dev, "carry_factored", {systems, carrying_threads}, carry_factored<T>, cut.chunks, all);
  launch(dev, "fill_factored", shape, fill_factored<T, Symmetric>, task, cut, rows, all);
}

template <real T, bool Symmetric>
void solve_as(const device& dev, const typename factored_tridiagonal<T>::storage& kept,
              const factored_task<T>& task) {
  const std::int64_t systems = task.b.shape.systems, rows = kept.rows;
  const std::size_t bytes = factored_bytes<T>(Symmetric);
  const factored_plan plan = plan_of_factors(rows, kept.decay, kept.bounded);
  if (plan == factored_plan::two_passes)
    return solve_in_two_passes<T, Symmetric>(dev, task, rows, *kept.workspace);
  if (plan == factored_plan::cluster) {
    // Whole pieces, behind which nothing but the last chunk may end, and whole lines.
    constexpr std::int64_t unit = 4 * rows_a_thread;
    const std::int64_t share = ceil_div(ceil_div<std::int64_t>(rows, largest_cluster), unit) * unit;
    const cutting cut = chunks_of(rows, std::min<std::int64_t>(share, factored_rows));
    launch(dev, "solve_factored_in_cluster",
           {systems * cut.chunks, threads, bytes, static_cast<unsigned>(cut.chunks)},
           solve_factored_in_cluster<T, Symmetric>, task, cut, rows);
    return;
  }
  const auto start = [&](const char* name, auto* kernel, const cutting& cut) {
    launch(dev, name, {ceil_div<std::int64_t>(systems, cut.in.count) * cut.chunks, threads, bytes}, kernel,
           task, cut, rows);
  };
  if (plan == factored_plan::halos) {
    const int halo_pieces = pieces_of(kept.decay), halo = ceil_div(halo_pieces * rows_a_thread, 4) * 4;
    cutting cut = chunks_of(rows, factored_rows - 2 * halo);
    cut.halo = halo;
    cut.reach = halo_pieces;
    return start("solve_factored", solve_factored<T, Symmetric, layout::single>, cut);
  }
  const cutting cut = whole_systems<T>(task.b.shape, rows);
  if (side_by_side(task.b.shape))
    start("solve_factored", solve_factored<T, Symmetric, layout::across>, cut);
  else
    start("solve_factored", solve_factored<T, Symmetric, layout::in_line>, cut);
}

}  // namespace

factored_plan plan_of_factors(std::int64_t rows, std::int64_t decay, bool bounded) {
  if (rows <= factored_rows) return factored_plan::whole;
  if (decay <= widest_halo) return factored_plan::halos;
  if (!bounded) return factored_plan::none;
  return rows <= largest_cluster * std::int64_t{factored_rows} ? factored_plan::cluster
                                                               : factored_plan::two_passes;
}

template <real T>
void solve_factored_cuda(const device& dev, const typename factored_tridiagonal<T>::storage& kept,
                         const batch_view<const T>& b, const batch_view<T>& x) {
  const factored_task<T> task{kept.view(), b, x, b.shape.systems / kept.shape.systems};
  if (kept.symmetric) return solve_as<T, true>(dev, kept, task);
  solve_as<T, false>(dev, kept, task);
}

template void solve_factored_cuda(const device&, const factored_tridiagonal<float>::storage&,
                                  const batch_view<const float>&, const batch_view<float>&);
template void solve_factored_cuda(const device&, const factored_tridiagonal<double>::storage&,
                                  const batch_view<const double>&, const batch_view<double>&);

}  // namespace vouch::detail
