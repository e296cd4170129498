#include <vouch/core/array.hpp>
#include <vouch/core/launch.cuh>
#include <vouch/price/fd_march_cuda.hpp>

namespace vouch {
namespace {

constexpr int rows = march_rows_a_thread, half = rows / 2;
constexpr unsigned all_lanes = ~0u;

struct march_parameters {
  std::int64_t n, own, halo, steps, alone;
  march_edge first, last;
  const double *lower, *inverse, *upper;
  double* values[2];
  unsigned* meetings;  // of each block, `apart` numbers from the one before
  int neighbours;      // blocks on each side that read what this one has
};
constexpr int apart = 32;

// What the blocks that this one's window reaches, or whose windows reach it, wrote before it is there to be
// read after it, and what they read before it may be overwritten; number counts meetings from 1.
__device__ void meet(const march_parameters& p, unsigned number) {
  __syncthreads();
  const int own = static_cast<int>(blockIdx.x);
  if (threadIdx.x == 0)
    asm volatile("st.release.gpu.global.u32 [%0], %1;" ::"l"(p.meetings + own * apart), "r"(number) : "memory");
  const int other = own - p.neighbours + static_cast<int>(threadIdx.x);
  if (static_cast<int>(threadIdx.x) <= 2 * p.neighbours && other >= 0 && other < static_cast<int>(gridDim.x)) {
    unsigned seen;
    do {
      asm volatile("ld.acquire.gpu.global.u32 %0, [%1];"
                   : "=r"(seen)
                   : "l"(p.meetings + other * apart)
                   : "memory");
    } while (seen < number);
  }
  __syncthreads();
}

// Up: what thread `distance` before this one has, where rows are counted upwards; else the other way.
template <bool Up, int Team>
__device__ double neighbour(double x, int distance) {
  return Up ? __shfl_up_sync(all_lanes, x, distance, Team) : __shfl_down_sync(all_lanes, x, distance, Team);
}

// One direction of elimination: how a thread's rows hang together with those of threads before it. Factors of
// threads that are not there, or in another team, are 0.
template <int Team, int Reach>
struct coupling {
  double over_half;      // of what arrives at the thread, in what arrives at the second half of its rows
  double through_half;   // of what leaves the first half, in what leaves the thread
  double through;        // of what arrives, in what leaves
  double near[4], far;   // of the ends of the 4 threads before; of what arrived at the fourth of them
  double from_team;      // of what arrives at the team, in what arrives at the thread
  double weight[Reach];  // of the ends of the teams before
};

template <bool Up, int Team>
__device__ int place_in_team() {
  const int place = static_cast<int>(threadIdx.x) % Team;
  return Up ? place : Team - 1 - place;
}

// share[j] := what arrives at row j's half of the rows, in row j.
template <bool Up, int Team, int Reach>
__device__ void couple(const double (&multiplier)[rows], double* scratch, double (&share)[rows],
                       coupling<Team, Reach>& c) {
  const int before = place_in_team<Up, Team>(), own_team = static_cast<int>(threadIdx.x) / Team;
  const int teams = static_cast<int>(blockDim.x) / Team;
  double product = 1;
#pragma unroll
  for (int k = 0; k < rows; ++k) {
    const int j = Up ? k : rows - 1 - k;
    if (k == half) {
      c.over_half = product;
      product = 1;
    }
    product *= multiplier[j];
    share[j] = product;
  }
  c.through_half = product;
  c.through = product *= c.over_half;
  double over = 1;
#pragma unroll
  for (int k = 0; k < 4; ++k) {
    c.near[k] = before > k ? over : 0;
    over *= neighbour<Up, Team>(product, k + 1);  // not used where it reaches over the team's border
  }
  c.far = before > 4 ? over : 0;
  // Products over all threads of the team before this one.
  c.from_team = 1;
#pragma unroll
  for (int k = 1; k < Team; ++k) {
    const double other = neighbour<Up, Team>(product, k);
    if (before >= k) c.from_team *= other;
  }
  __syncthreads();
  if (before == Team - 1) scratch[own_team] = c.from_team * product;
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
template <bool Up, int Team, int Reach>
__device__ double from_team_mates(double end, const coupling<Team, Reach>& c) {
  const double one_before = neighbour<Up, Team>(end, 1), first = c.near[0] > 0 ? one_before : 0.0;
  const double near = fma(c.near[1], neighbour<Up, Team>(end, 2), first);
  if constexpr (Team == 4) return fma(c.near[2], neighbour<Up, Team>(end, 3), near);
  const double next = fma(c.near[3], neighbour<Up, Team>(end, 4), c.near[2] * neighbour<Up, Team>(end, 3));
  const double arrived = near + next;
  return fma(c.far, neighbour<Up, Team>(arrived, 4), arrived);
}

// What arrives from the teams before; ends is padded by Reach zeros on both sides.
template <bool Up, int Team, int Reach>
__device__ double from_teams(const double* ends, const coupling<Team, Reach>& c) {
  const double* at = ends + Reach + static_cast<int>(threadIdx.x) / Team;
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
//           wrong at the window's ends creeps inwards; then each writes its own rows and meets those near it.
// Step      Elimination upwards and downwards at the same time: W = (P + Q - V) / pivot, where P has what comes
//           from lower and Q what comes from higher rows. Both from zero in each half of a thread's rows, ends
//           carried over a team of threads by shuffles and over Reach teams through shared memory, then added
//           to the rows by products known beforehand. V goes on to 2 W - V, or to W where Damped, with (I -
//           implicit L) W = V.
// Bound     by latency: chains of 4 FMAs, two rounds of shuffles, one block barrier a step.
// Bits      fixed orders: the same on every run; they change with the number of multiprocessors.
template <int Threads, int Team, int Reach, bool Damped>
__global__ void __launch_bounds__(Threads, 1) march_rows(const __grid_constant__ march_parameters p) {
  constexpr int padded = Threads / Team + 2 * Reach;
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
  coupling<Team, Reach> up, down;
  double up_share[rows], down_share[rows];
  couple<true>(lower, ends[0][0], up_share, up);
  couple<false>(upper, ends[0][0], down_share, down);
  __syncthreads();
  for (int k = static_cast<int>(threadIdx.x); k < padded; k += Threads) ends[0][0][k] = 0;
  __syncthreads();
#pragma unroll
  for (int j = 0; j < rows; ++j) {
    up_share[j] *= sum_share[j];
    down_share[j] *= sum_share[j];
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
  const bool has_edge = __any_sync(all_lanes, edge_row >= 0);

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
      const double upwards = fma(up.through_half, low, high), middle_low = low;
      const double from_below = from_team_mates<true>(upwards, up);
      low = high = 0;
#pragma unroll
      for (int j = half - 1; j >= 0; --j) {  // Q - V is what comes from above
        next[j] = fma(upper[j], low, next[j]);
        next[half + j] = fma(upper[half + j], high, next[half + j]);
        low = fma(upper[j], low, v[j]);
        high = fma(upper[half + j], high, v[half + j]);
      }
      const double downwards = fma(down.through_half, high, low), middle_high = high;
      const double from_above = from_team_mates<false>(downwards, down);
      auto& now = ends[done % 2];
      const int own_team = Reach + static_cast<int>(threadIdx.x) / Team;
      if (place_in_team<true, Team>() == Team - 1) now[0][own_team] = fma(up.through, from_below, upwards);
      if (place_in_team<false, Team>() == Team - 1) now[1][own_team] = fma(down.through, from_above, downwards);
#pragma unroll
      for (int j = 0; j < rows; ++j)
        next[j] = Damped ? sum_share[j] * next[j] : fma(sum_share[j], next[j], -v[j]);
      if (has_edge) pass_edge();
      __syncthreads();
      const double below = fma(up.from_team, from_teams<true>(now[0], up), from_below),
                   above = fma(down.from_team, from_teams<false>(now[1], down), from_above);
      const double below_middle = fma(up.over_half, below, middle_low),
                   above_middle = fma(down.over_half, above, middle_high);
#pragma unroll
      for (int j = 0; j < half; ++j) {
        v[j] = fma(up_share[j], below, fma(down_share[j], above_middle, next[j]));
        v[half + j] = fma(up_share[half + j], below_middle, fma(down_share[half + j], above, next[half + j]));
      }
      if (has_edge) set_edge(edge_side);
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
    meet(p, meetings);
  }
}

}  // namespace

namespace {

int blocks_around(const march_plan& plan) {
  const std::int64_t behind = plan.threads * rows - plan.halo - plan.own;
  return static_cast<int>(ceil_div(std::max(plan.halo, behind), plan.own));
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
  auto counters = array<unsigned>::zeros(gpu, std::int64_t{plan.blocks} * apart);
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
                           counters.data(),
                           blocks_around(plan)};
  const auto with = [&]<int Threads, bool Damped>() {
    const auto go = [&](auto kernel) {
      launch(gpu, "march_rows", {plan.blocks, Threads, 0, 1, true}, kernel, p);
    };
    if (plan.team == 4)
      plan.reach <= 5 ? go(march_rows<Threads, 4, 5, Damped>) : go(march_rows<Threads, 4, 8, Damped>);
    else if (plan.reach <= 6)
      go(march_rows<Threads, 8, 6, Damped>);
    else if (plan.reach <= 9)
      go(march_rows<Threads, 8, 9, Damped>);
    else
      go(march_rows<Threads, 8, 12, Damped>);
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
