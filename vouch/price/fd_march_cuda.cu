#include <vouch/core/array.hpp>
#include <vouch/core/launch.cuh>
#include <vouch/price/fd_march_cuda.hpp>

namespace vouch {
namespace {

constexpr int rows = march_rows_a_thread, half = rows / 2, team = march_team;
constexpr unsigned all_lanes = ~0u;

struct march_parameters {
  std::int64_t n, own, halo, steps, alone;
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

// Up: what thread `distance` before this one has, where rows are counted upwards; else the other way.
template <bool Up>
__device__ double neighbour(double x, int distance) {
  return Up ? __shfl_up_sync(all_lanes, x, distance, team) : __shfl_down_sync(all_lanes, x, distance, team);
}

// One direction of elimination: how a thread's rows hang together with those of threads before it. Factors of
// threads that are not there, or in another team, are 0.
template <int Reach>
struct coupling {
  double share[rows];    // of what arrives, in each row
  double through;        // of what arrives, in what leaves
  double near[4], far;   // of the ends of the 4 threads before; of what arrived at the fourth of them
  double from_team;      // of what arrives at the team, in what arrives at the thread
  double weight[Reach];  // of the ends of the teams before
};

template <bool Up>
__device__ int place_in_team() {
  const int place = static_cast<int>(threadIdx.x) % team;
  return Up ? place : team - 1 - place;
}

template <bool Up, int Reach>
__device__ void couple(const double (&multiplier)[rows], double* scratch, coupling<Reach>& c) {
  const int before = place_in_team<Up>(), own_team = static_cast<int>(threadIdx.x) / team;
  const int teams = static_cast<int>(blockDim.x) / team;
  double product = 1;
#pragma unroll
  for (int k = 0; k < rows; ++k) {
    const int j = Up ? k : rows - 1 - k;
    product *= multiplier[j];
    c.share[j] = product;
  }
  c.through = product;
  double over = 1;
#pragma unroll
  for (int k = 0; k < 4; ++k) {
    c.near[k] = before > k ? over : 0;
    over *= neighbour<Up>(product, k + 1);  // of no use, and not used, where it reaches over the team's border
  }
  c.far = before > 4 ? over : 0;
  // Products over all threads of the team before this one.
  c.from_team = 1;
#pragma unroll
  for (int k = 1; k < team; ++k) {
    const double other = neighbour<Up>(product, k);
    if (before >= k) c.from_team *= other;
  }
  __syncthreads();
  if (before == team - 1) scratch[own_team] = c.from_team * product;
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

// What arrives at this thread from those before it in its team, given the end of its own rows.
template <bool Up, int Reach>
__device__ double from_team_mates(double end, const coupling<Reach>& c) {
  const double first = neighbour<Up>(end, 1),
               near = fma(c.near[1], neighbour<Up>(end, 2), c.near[0] > 0 ? first : 0.0),
               next = fma(c.near[3], neighbour<Up>(end, 4), c.near[2] * neighbour<Up>(end, 3));
  const double arrived = near + next;
  return fma(c.far, neighbour<Up>(arrived, 4), arrived);
}

// What arrives from the teams before; ends is padded by Reach zeros on both sides.
template <bool Up, int Reach>
__device__ double from_teams(const double* ends, const coupling<Reach>& c) {
  const double* at = ends + Reach + static_cast<int>(threadIdx.x) / team;
  double even = 0, odd = 0;
#pragma unroll
  for (int k = 1; k <= Reach; ++k) {
    const double other = at[Up ? -k : k];
    if (k % 2 == 0)
      even = fma(c.weight[k - 1], other, even);
    else
      odd = fma(c.weight[k - 1], other, odd);
  }
  return even + odd;
}

// Mapping   A block steps a window of rows, of which it owns the middle; a thread has neighbouring rows
//           with their factors in registers. For `alone` steps blocks do not wait for each other, while what is
//           wrong at the window's ends creeps inwards; then all write their own rows and meet.
// Step      Elimination upwards and downwards at the same time: W = (P + Q - V) / pivot, where P has what comes
//           from lower and Q what comes from higher rows. Both from zero in the thread, ends carried over 8
//           threads by shuffles and over Reach teams through shared memory, then added to the rows by products
//           known beforehand. V goes on to 2 W - V, or to W where Damped, with (I - implicit L) W = V.
// Bound     by latency: chains of 4 FMAs, two rounds of shuffles, one block barrier a step.
// Bits      fixed orders: the same on every run; they change with the number of multiprocessors.
template <int Threads, int Reach, bool Damped>
__global__ void __launch_bounds__(Threads, 1) march_rows(const __grid_constant__ march_parameters p) {
  constexpr int padded = Threads / team + 2 * Reach;
  __shared__ double ends[2][2][padded];  // of steps in turn, upwards and downwards
  for (int k = static_cast<int>(threadIdx.x); k < 4 * padded; k += Threads) (&ends[0][0][0])[k] = 0;
  const std::int64_t row0 =
      static_cast<std::int64_t>(blockIdx.x) * p.own - p.halo + static_cast<std::int64_t>(threadIdx.x) * rows;
  const auto there = [&](int j) { return row0 + j >= 0 && row0 + j < p.n; };
  constexpr double ratio = Damped ? 1 : 2;
  double lower[rows], upper[rows], v[rows];
  double sum_share[rows];  // of P + Q - V in the next V
#pragma unroll
  for (int j = 0; j < rows; ++j) {
    lower[j] = there(j) ? p.lower[row0 + j] : 0;
    upper[j] = there(j) ? p.upper[row0 + j] : 0;
    sum_share[j] = there(j) ? ratio * p.inverse[row0 + j] : 0;
  }
  coupling<Reach> up, down;
  couple<true>(lower, ends[0][0], up);
  couple<false>(upper, ends[0][0], down);
  __syncthreads();
  for (int k = static_cast<int>(threadIdx.x); k < padded; k += Threads) ends[0][0][k] = 0;
  __syncthreads();
#pragma unroll
  for (int j = 0; j < rows; ++j) {
    up.share[j] *= sum_share[j];
    down.share[j] *= sum_share[j];
  }

  double up_half[half], down_half[half];  // of what leaves a half of the rows, in those of the other
  up_half[0] = lower[half];
  down_half[half - 1] = upper[half - 1];
#pragma unroll
  for (int j = 1; j < half; ++j) {
    up_half[j] = up_half[j - 1] * lower[half + j];
    down_half[half - 1 - j] = down_half[half - j] * upper[half - 1 - j];
  }

  // The row of this thread that is an end of the grid, if any. While it steps, v has there what its equation
  // has on the right; found a step ahead and by all threads, so that nobody waits for it.
  int edge_row = -1;
  march_edge edge{0, 0, 0, 0};
  if (row0 <= 0 && 0 < row0 + rows) {
    edge_row = static_cast<int>(-row0);
    edge = p.first;
  } else if (row0 <= p.n - 1 && p.n - 1 < row0 + rows) {
    edge_row = static_cast<int>(p.n - 1 - row0);
    edge = p.last;
  }
  const auto set_edge = [&](double value) {
#pragma unroll
    for (int j = 0; j < rows; ++j)
      if (j == edge_row) v[j] = value;
  };
  double edge_now = 0, edge_next = edge.slope + edge.constant, edge_side = 0;
  const auto pass_edge = [&] {
    edge_now = edge_next;
    edge.slope *= edge.slope_factor;
    edge.constant *= edge.constant_factor;
    edge_next = edge.slope + edge.constant;
    edge_side = Damped ? edge_next : 0.5 * (edge_next + edge_now);
  };
  pass_edge();

  unsigned meetings = 0;
  for (std::int64_t done = 0; done < p.steps;) {
    const double* from = p.values[meetings % 2];
#pragma unroll
    for (int j = 0; j < rows; ++j) v[j] = there(j) ? __ldcg(from + row0 + j) : 0;
    set_edge(edge_side);
    const std::int64_t end = p.steps - done > p.alone ? done + p.alone : p.steps;
    for (; done < end; ++done) {
      // Both halves of the rows from zero, each way: chains of 4 in place of 8.
      double next[rows], low = 0, high = 0;
#pragma unroll
      for (int j = 0; j < half; ++j) {
        next[j] = low = fma(lower[j], low, v[j]);
        next[half + j] = high = fma(lower[half + j], high, v[half + j]);
      }
      const double upwards = fma(up_half[half - 1], low, high), middle_low = low;
      const double from_below = from_team_mates<true>(upwards, up);
      low = high = 0;
#pragma unroll
      for (int j = half - 1; j >= 0; --j) {  // Q - V is what comes from above
        next[j] = fma(upper[j], low, next[j]);
        next[half + j] = fma(upper[half + j], high, next[half + j]);
        low = fma(upper[j], low, v[j]);
        high = fma(upper[half + j], high, v[half + j]);
      }
      const double downwards = fma(down_half[0], high, low);
      const double from_above = from_team_mates<false>(downwards, down);
#pragma unroll
      for (int j = 0; j < half; ++j) {
        next[j] = fma(down_half[j], high, next[j]);
        next[half + j] = fma(up_half[j], middle_low, next[half + j]);
      }
      auto& now = ends[done % 2];
      const int own_team = Reach + static_cast<int>(threadIdx.x) / team;
      if (place_in_team<true>() == team - 1) now[0][own_team] = fma(up.through, from_below, upwards);
      if (place_in_team<false>() == team - 1) now[1][own_team] = fma(down.through, from_above, downwards);
#pragma unroll
      for (int j = 0; j < rows; ++j)
        next[j] = Damped ? sum_share[j] * next[j] : fma(sum_share[j], next[j], -v[j]);
      pass_edge();
      __syncthreads();
      const double below = fma(up.from_team, from_teams<true>(now[0], up), from_below),
                   above = fma(down.from_team, from_teams<false>(now[1], down), from_above);
#pragma unroll
      for (int j = 0; j < rows; ++j) v[j] = fma(up.share[j], below, fma(down.share[j], above, next[j]));
      set_edge(edge_side);
    }
    set_edge(edge_now);
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
                bool damped, const march_edge& first, const march_edge& last, std::span<double> values) {
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
                           first,
                           last,
                           lower.data(),
                           inverse.data(),
                           upper.data(),
                           {here.data(), there.data()},
                           counter.data()};
  const auto with = [&]<int Threads, bool Damped>() {
    const auto go = [&](auto kernel) {
      launch(gpu, "march_rows", {plan.blocks, Threads, 0, 1, true}, kernel, p);
    };
    if (plan.reach <= 3)
      go(march_rows<Threads, 3, Damped>);
    else if (plan.reach <= 6)
      go(march_rows<Threads, 6, Damped>);
    else
      go(march_rows<Threads, 12, Damped>);
  };
  const auto both = [&]<int Threads>() {
    damped ? with.template operator()<Threads, true>() : with.template operator()<Threads, false>();
  };
  plan.threads == 128 ? both.template operator()<128>() : both.template operator()<256>();
  const std::int64_t meetings = ceil_div(steps, plan.alone);
  copy_bytes(values.data(), device::cpu(1), meetings % 2 == 0 ? here.data() : there.data(), gpu,
             values.size_bytes());
}

}  // namespace vouch
