#include <algorithm>
#include <cmath>
#include <memory>

#include <vouch/core/device_cuda.hpp>
#include <vouch/core/launch.cuh>
#include <vouch/core/scratch.cuh>
#include <vouch/verify/batch_tally.cuh>
#include <vouch/verify/batch_visit.hpp>
#include <vouch/verify/comparison_solver.cuh>
#include <vouch/verify/tridiagonal_factors.hpp>

namespace vouch::detail {
namespace {

// Zero at the start.
struct visit_memory {
  totals_memory ratios, radii;
  unsigned long long left;  // systems that the comparison matrix proves nothing of
  unsigned long long done;  // blocks
};

// The last block to come here tells the host. Only thread 0 of each block, after all that the block adds.
__device__ void tell(visit_memory* all, visit_memory* host) {
  static_assert(sizeof(visit_memory) % sizeof(bits_type) == 0);
  __threadfence();
  if (atomicAdd(&all->done, 1ull) + 1 != gridDim.x) return;
  __threadfence();
  all->done = 0;
  const auto* from = reinterpret_cast<const bits_type*>(all);
  for (unsigned k = 0; k < sizeof(visit_memory) / sizeof(bits_type); ++k)
    reinterpret_cast<bits_type*>(host)[k] = __ldcg(from + k);
}

constexpr bits_type refuted = ~bits_type{0};  // above all numbers

__device__ void begin_copy(double* to, const double* from) {
  asm volatile(
      "cp.async.ca.shared.global [%0], [%1], 8;" ::"r"(static_cast<unsigned>(__cvta_generic_to_shared(to))),
      "l"(from)
      : "memory");
}
__device__ void await_copies() { asm volatile("cp.async.wait_all;" ::: "memory"); }

// The largest of a block, for all its threads; parts may be used again behind the next barrier.
template <int Warps>
__device__ bits_type largest_in_block(bits_type mine, bits_type* parts) {
  mine = largest_in_warp(mine);
  if constexpr (Warps > 1) {
    if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = mine;
    __syncthreads();
    for (int w = 0; w < Warps; ++w) mine = ::max(mine, parts[w]);
  }
  return mine;
}

template <int Warps>
__device__ bool all_in_block(bool mine) {
  if constexpr (Warps == 1)
    return __all_sync(~0u, mine) != 0;
  else
    return __syncthreads_and(mine) != 0;
}

__device__ double about_inverse(double d) {
  double guess;
  asm("rcp.approx.ftz.f64 %0, %1;" : "=d"(guess) : "d"(d));
  return fma(guess, fma(-d, guess, 1.0), guess);
}

// Where a system is, and the places of a row's neighbours; of one that is not there, of the row.
struct visited_system {
  std::int64_t in_A, in_vectors;
  int n;
  bool periodic;

  __device__ visited_system(const visit_task& task, std::int64_t s)
      : in_A(task.A.shape.at(s, 0)),
        in_vectors(task.vectors.at(s, 0)),
        n(static_cast<int>(task.vectors.rows(s))),
        periodic(task.A.periodic) {}
  __device__ bool below(int i) const { return i > 0 || periodic; }
  __device__ bool above(int i) const { return i < n - 1 || periodic; }
  __device__ int lower(int i) const { return !below(i) ? i : i > 0 ? i - 1 : n - 1; }
  __device__ int upper(int i) const { return !above(i) ? i : i < n - 1 ? i + 1 : 0; }

  // A row with all but its coefficients, which are what a says.
  template <class V>
  __device__ row_data<double> row(int i, const double (&a)[3], const double* x, double b, const V& v) const {
    const int at[3] = {lower(i), i, upper(i)};
    row_data<double> data;
    for (int k = 0; k < 3; ++k) {
      data.a[k] = a[k];
      data.x[k] = x[at[k]];
      data.v[k] = v(at[k]);
      data.place[k] = in_vectors + at[k];
    }
    data.b = b;
    data.step = 1;
    return data;
  }
};

__device__ void put_radius(const visit_task& task, const visited_system& of, int i, double ratio, double v,
                           double x, radius_tally& tally) {
  const std::int64_t at = of.in_vectors + i;
  const double low = task.judgement.x_lo == nullptr ? 0 : task.judgement.x_lo[at];
  const judged_element<double> found = tridiagonal_radius_body::bounded<double>(ratio, v, x, low);
  task.radius[at] = found.absolute;
  tally.add(found);
}

// ---- by v = e or the comparison matrix

template <int Rows, int Warps>
constexpr int blocks_at_once = (Rows == 16  ? 12
                                : Rows == 8 ? 18
                                            : 28) /
                               Warps;

template <int Rows, int Warps>
struct comparison_memory {
  double x[32 * Rows * Warps], b[32 * Rows * Warps];
  typename comparison_solver<Rows, Warps>::memory solver;
  bits_type parts[Warps];
};

// A block has a system at a time, a thread every so many-th row of it in registers, and x and b in shared
// memory: they arrive while v is found. Bound by memory.
template <int Rows, int Warps>
__global__ void __launch_bounds__(32 * Warps, blocks_at_once<Rows, Warps>)
    visit_by_comparison(__grid_constant__ const visit_task task, std::int64_t* left, visit_memory* all,
                        visit_memory* host) {
  constexpr int threads = 32 * Warps;
  extern __shared__ double raw_memory[];
  auto& memory = *reinterpret_cast<comparison_memory<Rows, Warps>*>(raw_memory);
  const int thread = static_cast<int>(threadIdx.x);
  const tridiagonal_view<const double>& A = task.A;
  ratio_tally of_ratios;
  radius_tally of_radii;
  for (std::int64_t s = blockIdx.x; s < task.vectors.systems; s += gridDim.x) {
    const visited_system of(task, s);
    comparison_solver<Rows, Warps> solver(memory.solver, of.n);
    double a[Rows][3];
#pragma unroll
    for (int k = 0; k < Rows; ++k) {
      const int i = k * threads + thread;
      const std::int64_t at = of.in_A + i * A.shape.row_stride;
      const bool present = i < of.n;
      a[k][0] = present && of.below(i) ? __ldg(A.dl + at) : 0;
      a[k][1] = present ? __ldg(A.d + at) : 1;
      a[k][2] = present && of.above(i) ? __ldg(A.du + at) : 0;
    }
    for (int i = thread; i < of.n; i += threads) {
      begin_copy(memory.x + i, task.x + of.in_vectors + i);
      begin_copy(memory.b + i, task.b + of.in_vectors + i);
    }
    bool dominant = true;
#pragma unroll
    for (int k = 0; k < Rows; ++k)
      dominant &= task.judgement.image_of_ones<double>(fabs(a[k][0]), fabs(a[k][1]), fabs(a[k][2])) > 0;
    dominant = all_in_block<Warps>(dominant);
    if (!dominant) {
#pragma unroll
      for (int k = 0; k < Rows; ++k) {
        const double inverse = about_inverse(a[k][1]);
        solver.put(k * threads + thread, static_cast<float>(fabs(a[k][0] * inverse)),
                   static_cast<float>(fabs(a[k][2] * inverse)));
      }
      sync_threads<Warps>();
      solver.solve();
    } else {
      for (int k = 0; k < Rows; ++k) solver.put_one(k * threads + thread);
    }
    await_copies();
    sync_threads<Warps>();
    bits_type most = 0;
    ratio_tally of_system;
#pragma unroll
    for (int k = 0; k < Rows; ++k) {
      const int i = k * threads + thread;
      if (i >= of.n) continue;
      const row_data<double> data = of.row(i, a[k], memory.x, memory.b[i], [&](int j) { return solver.v(j); });
      const judged_row<double> row = task.judgement.judge<double>(data, nullptr, false);
      of_system.add(row);
      most = ::max(most, row.proves ? bits_of(row.ratio) : refuted);
    }
    most = largest_in_block<Warps>(most, memory.parts);
    const bool proved = most != refuted;
    if (proved) {
      of_ratios.add(of_system);
      for (int i = thread; i < of.n; i += threads)
        put_radius(task, of, i, number_of(most), solver.v(i), memory.x[i], of_radii);
    }
    if (thread == 0) {
      task.ratio[s] = proved ? number_of(most) : HUGE_VAL;
      if (!proved) left[atomicAdd(&all->left, 1ull)] = s;
    }
    sync_threads<Warps>();  // the memory goes to the next system
  }
  join_block<Warps>(of_ratios, &all->ratios);
  join_block<Warps>(of_radii, &all->radii);
  if (thread == 0) tell(all, host);
}

// ---- by factors

// Chunks of an odd number of rows, so that threads that step through them use different banks.
struct factor_memory {
  double *dl, *d, *du, *pivot, *v, *base, *slope;
  double* margin;
  std::int64_t* system;

  __device__ factor_memory(double* from, int n, int threads)
      : dl(from),
        d(dl + n),
        du(d + n),
        pivot(du + n),
        v(pivot + n),
        base(v + n),
        slope(base + threads),
        margin(slope + threads),
        system(reinterpret_cast<std::int64_t*>(margin + 1)) {}
  static std::size_t bytes(std::int64_t n, int threads) {
    return sizeof(double) * static_cast<std::size_t>(5 * n + 2 * threads + 2);
  }
};

template <int Warps>
__device__ void factor_in_chunks(const tridiagonal_factors& of) {
  const std::int64_t k = threadIdx.x;
  const bool mine = k < of.chunks;
  if (mine) tridiagonal_eliminate_body{of}(k);
  sync_threads<Warps>();
  if (k == 0 && of.chunks > 1) tridiagonal_carry_down_body{of}(0);
  sync_threads<Warps>();
  if (mine) tridiagonal_turn_body{of}(k);
  sync_threads<Warps>();
  if (k == 0 && of.chunks > 1) tridiagonal_carry_up_body{of}(0);
  sync_threads<Warps>();
  if (mine && of.chunks > 1) tridiagonal_substitute_body{of}(k);
  sync_threads<Warps>();
  if (mine) tridiagonal_delta_body{of}(k);
  sync_threads<Warps>();
  if (k == 0) tridiagonal_margin_body{of}(0);
  sync_threads<Warps>();
}

// A block has a system at a time, and it and its factors in shared memory. Bound by the latency of divisions
// that follow one another.
template <int Warps>
__global__ void __launch_bounds__(32 * Warps)
    visit_by_factors(__grid_constant__ const visit_task task, const std::int64_t* those, std::int64_t count,
                     int chunk_rows, visit_memory* all, visit_memory* host) {
  constexpr int threads = 32 * Warps;
  extern __shared__ double raw_memory[];
  __shared__ bits_type parts[Warps];
  const int thread = static_cast<int>(threadIdx.x);
  const factor_memory memory(raw_memory, static_cast<int>(task.vectors.n), threads);
  ratio_tally of_ratios;
  radius_tally of_radii;
  for (std::int64_t c = blockIdx.x; c < count; c += gridDim.x) {
    const std::int64_t s = those[c];
    const visited_system of(task, s);
    for (int i = thread; i < of.n; i += threads) {
      const std::int64_t at = of.in_A + i * task.A.shape.row_stride;
      begin_copy(memory.d + i, task.A.d + at);
      if (i > 0) begin_copy(memory.dl + i, task.A.dl + at);
      if (i + 1 < of.n) begin_copy(memory.du + i, task.A.du + at);
      memory.v[i] = 0;
    }
    if (thread == 0) *memory.system = 0;
    await_copies();
    sync_threads<Warps>();
    const batch_shape one{of.n, 1, 1, 0, nullptr};
    tridiagonal_factors factors{{memory.dl, memory.d, memory.du, one, false},
                                one,
                                task.judgement.within,
                                false,
                                memory.system,
                                chunk_rows,
                                (of.n + chunk_rows - 1) / chunk_rows,
                                memory.pivot,
                                memory.v,
                                memory.base,
                                memory.slope,
                                memory.margin};
    factor_in_chunks<Warps>(factors);
    if (!(*memory.margin > 0) && factors.chunks > 1) {
      sync_threads<Warps>();
      factors.rows = of.n, factors.chunks = 1;
      factor_in_chunks<Warps>(factors);
    }
    const double* const x = task.x + of.in_vectors;
    const double part = *memory.margin;
    bits_type most = 0;
    for (int i = thread; i < of.n; i += threads) {
      const double a[3] = {i > 0 ? memory.dl[i] : 0, memory.d[i], i + 1 < of.n ? memory.du[i] : 0};
      const row_data<double> data =
          of.row(i, a, x, task.b[of.in_vectors + i], [&](int j) { return memory.v[j]; });
      const judged_row<double> row = task.judgement.judge<double>(data, &part, false);
      of_ratios.add(row);
      most = ::max(most, bits_of(row.ratio));
    }
    most = largest_in_block<Warps>(most, parts);
    for (int i = thread; i < of.n; i += threads)
      put_radius(task, of, i, number_of(most), memory.v[i], x[i], of_radii);
    if (thread == 0) task.ratio[s] = number_of(most);
    sync_threads<Warps>();  // the memory goes to the next system
  }
  join_block<Warps>(of_ratios, &all->ratios);
  join_block<Warps>(of_radii, &all->radii);
  if (thread == 0) tell(all, host);
}

// ---- launchers

constexpr std::size_t shared_bytes = 227 << 10;  // of a multiprocessor

// As many blocks as there are systems and as run at once.
launch_shape shape_for(const device& dev, std::int64_t systems, int at_once, unsigned threads,
                       std::size_t bytes) {
  return {std::min<std::int64_t>(systems, std::int64_t{at_once} * cuda_processors(dev.index())), threads,
          bytes};
}

template <int Rows, int Warps>
void launch_by_comparison(const device& dev, const visit_task& task, std::int64_t* left, visit_memory* all,
                          visit_memory* host) {
  launch(dev, "visit_by_comparison",
         shape_for(dev, task.vectors.systems, blocks_at_once<Rows, Warps>, 32 * Warps,
                   sizeof(comparison_memory<Rows, Warps>)),
         visit_by_comparison<Rows, Warps>, task, left, all, host);
}
void launch_by_comparison(const device& dev, const visit_task& task, std::int64_t* left, visit_memory* all,
                          visit_memory* host) {
  const std::int64_t n = task.vectors.n;
  if (n <= 128) return launch_by_comparison<4, 1>(dev, task, left, all, host);
  if (n <= 256) return launch_by_comparison<8, 1>(dev, task, left, all, host);
  if (n <= 512) return launch_by_comparison<16, 1>(dev, task, left, all, host);
  if (n <= 1024) return launch_by_comparison<16, 2>(dev, task, left, all, host);
  launch_by_comparison<16, 4>(dev, task, left, all, host);
}

template <int Warps>
void launch_by_factors(const device& dev, const visit_task& task, const std::int64_t* those, std::int64_t count,
                       visit_memory* all, visit_memory* host) {
  constexpr int threads = 32 * Warps;
  const std::int64_t n = task.vectors.n;
  const auto rows = static_cast<int>(n <= 64 ? n : ceil_div<std::int64_t>(n, threads) | 1);
  const std::size_t bytes = factor_memory::bytes(n, threads);
  const int at_once = std::clamp(static_cast<int>(shared_bytes / (bytes + 1024)), 1, 16 / Warps);
  launch(dev, "visit_by_factors", shape_for(dev, count, at_once, threads, bytes), visit_by_factors<Warps>, task,
         those, count, rows, all, host);
}
void launch_by_factors(const device& dev, const visit_task& task, const std::int64_t* those, std::int64_t count,
                       visit_memory* all, visit_memory* host) {
  if (task.vectors.n <= 512) return launch_by_factors<1>(dev, task, those, count, all, host);
  if (task.vectors.n <= 1024) return launch_by_factors<2>(dev, task, those, count, all, host);
  launch_by_factors<4>(dev, task, those, count, all, host);
}

// What the device tells a thread of the host; kept for its next call.
visit_memory* mailbox() {
  struct give_back {
    void operator()(visit_memory* memory) const { cudaFreeHost(memory); }
  };
  thread_local std::unique_ptr<visit_memory, give_back> kept;
  if (kept == nullptr) {
    void* memory = nullptr;
    check(cudaHostAlloc(&memory, sizeof(visit_memory), cudaHostAllocMapped | cudaHostAllocPortable),
          "allocating pinned memory");
    kept.reset(static_cast<visit_memory*>(memory));
  }
  return kept.get();
}

}  // namespace

visit_totals visit_systems_cuda(const device& dev, const visit_task& task, bool with_factors) {
  if (task.vectors.systems == 0) return {};
  constexpr std::int64_t words = sizeof(visit_memory) / sizeof(std::int64_t);
  const scratch<std::int64_t> memory(dev, words + task.vectors.systems);
  auto* const all = reinterpret_cast<visit_memory*>(memory.data());
  std::int64_t* const left = memory.data() + words;
  visit_memory* const host = mailbox();
  zero_bytes(dev, all, sizeof(visit_memory));
  launch_by_comparison(dev, task, left, all, host);
  dev.synchronize();
  const auto remaining = static_cast<std::int64_t>(host->left);
  if (remaining > 0 && with_factors && !task.A.periodic) {
    launch_by_factors(dev, task, left, remaining, all, host);
    dev.synchronize();
  } else if (remaining > 0) {
    host->ratios.flags |= 2u;
  }
  return {as_ratios(host->ratios), {number(host->radii.most[0]), number(host->radii.most[1])}, remaining > 0};
}

}  // namespace vouch::detail
