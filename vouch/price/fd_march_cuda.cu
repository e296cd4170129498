#include <vouch/core/array.hpp>
#include <vouch/core/launch.cuh>
#include <vouch/price/fd_march_cuda.hpp>

namespace vouch {
namespace {

constexpr unsigned threads = 256;
constexpr int rows = 8;  // of a thread, in registers
constexpr int team = 8;  // threads whose rows are coupled by shuffles
constexpr int teams = threads / team;
constexpr unsigned all_lanes = ~0u;

struct march_parameters {
  std::int64_t n, own, halo, steps, alone;
  double ratio;
  march_edge first, last;
  const double *lower, *inverse, *upper;
  double* values[2];
  unsigned* counter;
};

// Everybody's writes before it are everybody's to read after it; number counts meetings from 1.
__device__ void meet(unsigned* counter, unsigned number) {
  __syncthreads();
  if (threadIdx.x == 0) {
    asm volatile("red.release.gpu.global.add.u32 [%0], 1;" ::"l"(counter) : "memory");
    unsigned seen;
    do {
      asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(seen) : "l"(counter) : "memory");
    } while (seen < number * gridDim.x);
  }
  __syncthreads();
}

// One direction of elimination: how a thread's rows hang together, and with those of threads before it.
template <int Reach>
struct coupling {
  double share[rows];    // of what arrives, in each row
  double over[3];        // factors over 1, 2 and 4 threads; 0 where there are not so many before it in the team
  double from_team;      // what arrives at the team, in what arrives at the thread
  double weight[Reach];  // of the ends of the teams before
};

// Up: from lower rows to higher ones; else the other way.
template <bool Up>
__device__ double neighbour(double x, int distance) {
  return Up ? __shfl_up_sync(all_lanes, x, distance, team) : __shfl_down_sync(all_lanes, x, distance, team);
}

template <bool Up, int Reach>
__device__ void couple(const double (&multiplier)[rows], double* scratch, coupling<Reach>& c) {
  const int thread = static_cast<int>(threadIdx.x);
  const int before = Up ? thread % team : team - 1 - thread % team;  // threads before it in its team
  const int own_team = thread / team;
  double product = 1;
#pragma unroll
  for (int k = 0; k < rows; ++k) {
    const int j = Up ? k : rows - 1 - k;
    product *= -multiplier[j];
    c.share[j] = product;
  }
  double all = product;
#pragma unroll
  for (int level = 0; level < 3; ++level) {
    const int distance = 1 << level;
    c.over[level] = before >= distance ? all : 0;
    all *= neighbour<Up>(all, distance);  // of no use, and not used, where it reaches over the team's border
  }
  // Products over all threads of the team up to this one.
  double through = product;
#pragma unroll
  for (int level = 0; level < 3; ++level) {
    const double other = neighbour<Up>(through, 1 << level);
    if (before >= 1 << level) through *= other;
  }
  const double earlier = neighbour<Up>(through, 1);
  c.from_team = before == 0 ? 1 : earlier;
  __syncthreads();
  if (before == team - 1) scratch[own_team] = through;
  __syncthreads();
  double weight = 1;
#pragma unroll
  for (int k = 1; k <= Reach; ++k) {
    const int at = Up ? own_team - k : own_team + k;
    const bool there = at >= 0 && at < teams;
    c.weight[k - 1] = there ? weight : 0;
    if (there) weight *= scratch[at];
  }
}

// What arrives at this thread from those before it, given the end of its own rows; ends is padded by Reach
// zeros on both sides.
template <bool Up, int Reach>
__device__ double arriving(double end, const coupling<Reach>& c, double* ends) {
  const int thread = static_cast<int>(threadIdx.x), own_team = thread / team;
  const int before = Up ? thread % team : team - 1 - thread % team;
#pragma unroll
  for (int level = 0; level < 3; ++level) end = fma(c.over[level], neighbour<Up>(end, 1 << level), end);
  const double earlier = neighbour<Up>(end, 1);
  if (before == team - 1) ends[Reach + own_team] = end;
  __syncthreads();
  double even = 0, odd = 0;
#pragma unroll
  for (int k = 1; k <= Reach; ++k) {
    const double other = ends[Reach + own_team + (Up ? -k : k)];
    if (k % 2 == 0)
      even = fma(c.weight[k - 1], other, even);
    else
      odd = fma(c.weight[k - 1], other, odd);
  }
  return fma(c.from_team, even + odd, before == 0 ? 0.0 : earlier);
}

// Mapping   A block steps a window of 2048 rows, of which it owns the middle; a thread has 8 neighbouring rows
// with
//           their factors in registers. For `alone` steps blocks do not wait for each other, while what is
//           wrong at the window's ends creeps inwards; then all write their own rows and meet.
// Step      Elimination in the thread from zero, ends carried over 8 threads by shuffles and over Reach teams
//           through shared memory, then added to the rows by products known beforehand; substitution alike. V
//           goes on to ratio W - (ratio - 1) V with (I - implicit L) W = V.
// Bound     by latency: two chains of 8 FMAs, 8 shuffles, two block barriers a step.
// Bits      fixed orders: the same on every run; they change with the number of multiprocessors.
template <int Reach>
__global__ void __launch_bounds__(threads, 1) march_rows(const __grid_constant__ march_parameters p) {
  __shared__ double up_ends[teams + 2 * Reach], down_ends[teams + 2 * Reach];
  for (int k = static_cast<int>(threadIdx.x); k < teams + 2 * Reach; k += threads)
    up_ends[k] = down_ends[k] = 0;
  const std::int64_t row0 =
      static_cast<std::int64_t>(blockIdx.x) * p.own - p.halo + static_cast<std::int64_t>(threadIdx.x) * rows;
  double lower[rows], inverse[rows], upper[rows], v[rows], y[rows];
#pragma unroll
  for (int j = 0; j < rows; ++j) {
    const std::int64_t i = row0 + j;
    const bool there = i >= 0 && i < p.n;
    lower[j] = there ? p.lower[i] : 0;
    inverse[j] = there ? p.inverse[i] : 1;
    upper[j] = there ? p.upper[i] : 0;
  }
  coupling<Reach> up, down;
  couple<true, Reach>(lower, up_ends, up);
  couple<false, Reach>(upper, up_ends, down);
  __syncthreads();
  for (int k = static_cast<int>(threadIdx.x); k < teams + 2 * Reach; k += threads) up_ends[k] = 0;
  __syncthreads();

  // The row of this thread that is an end of the grid, if any, and its value over time.
  int edge_row = -1;
  march_edge edge{};
  if (row0 <= 0 && 0 < row0 + rows) {
    edge_row = static_cast<int>(-row0);
    edge = p.first;
  } else if (row0 <= p.n - 1 && p.n - 1 < row0 + rows) {
    edge_row = static_cast<int>(p.n - 1 - row0);
    edge = p.last;
  }
  const double rest = p.ratio - 1, share = 1 / p.ratio;

  unsigned meetings = 0;
  for (std::int64_t done = 0; done < p.steps;) {
    const double* from = p.values[meetings % 2];
#pragma unroll
    for (int j = 0; j < rows; ++j) v[j] = row0 + j >= 0 && row0 + j < p.n ? __ldcg(from + row0 + j) : 0;
    const std::int64_t end = p.steps - done > p.alone ? done + p.alone : p.steps;
    for (; done < end; ++done) {
      const double old = edge.slope + edge.constant;
      edge.slope *= edge.slope_factor;
      edge.constant *= edge.constant_factor;
      const double edge_side = share * (edge.slope + edge.constant + rest * old);
      double t = 0;
#pragma unroll
      for (int j = 0; j < rows; ++j) {
        t = fma(-lower[j], t, inverse[j] * (j == edge_row ? edge_side : v[j]));
        y[j] = t;
      }
      const double below = arriving<true, Reach>(t, up, up_ends);
#pragma unroll
      for (int j = 0; j < rows; ++j) y[j] = fma(up.share[j], below, y[j]);
      t = 0;
#pragma unroll
      for (int j = rows - 1; j >= 0; --j) {
        t = fma(-upper[j], t, y[j]);
        y[j] = t;
      }
      const double above = arriving<false, Reach>(t, down, down_ends);
#pragma unroll
      for (int j = 0; j < rows; ++j) v[j] = fma(p.ratio, fma(down.share[j], above, y[j]), -rest * v[j]);
    }
    double* to = p.values[(meetings + 1) % 2];
    const std::int64_t first = static_cast<std::int64_t>(blockIdx.x) * p.own;
#pragma unroll
    for (int j = 0; j < rows; ++j) {
      const std::int64_t i = row0 + j;
      if (i >= first && i < first + p.own && i < p.n) __stcg(to + i, v[j]);
    }
    ++meetings;
    meet(p.counter, meetings);
  }
}

}  // namespace

void march_cuda(const device& gpu, const march_factors& factors, const march_plan& plan, std::int64_t steps,
                double ratio, const march_edge& first, const march_edge& last, std::span<double> values) {
  const auto n = static_cast<std::int64_t>(values.size());
  const auto lower = array<double>::from(gpu, factors.lower),
             inverse = array<double>::from(gpu, factors.inverse);
  const auto upper = array<double>::from(gpu, factors.upper);
  auto here = array<double>::from(gpu, values);
  auto there = array<double>(gpu, n);
  auto counter = array<unsigned>::zeros(gpu, 1);
  const march_parameters p{n,
                           plan.own,
                           plan.halo,
                           steps,
                           plan.alone,
                           ratio,
                           first,
                           last,
                           lower.data(),
                           inverse.data(),
                           upper.data(),
                           {here.data(), there.data()},
                           counter.data()};
  const launch_shape shape{plan.blocks, threads, 0, 1, true};
  if (plan.reach <= 3)
    launch(gpu, "march_rows", shape, march_rows<3>, p);
  else if (plan.reach <= 5)
    launch(gpu, "march_rows", shape, march_rows<5>, p);
  else
    launch(gpu, "march_rows", shape, march_rows<8>, p);
  const std::int64_t meetings = ceil_div(steps, plan.alone);
  copy_bytes(values.data(), device::cpu(1), meetings % 2 == 0 ? here.data() : there.data(), gpu,
             values.size_bytes());
}

}  // namespace vouch
