#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

#include <vouch/core/array.hpp>
#include <vouch/core/launch.cuh>
#include <vouch/price/finite_difference/time_stepping_cuda.hpp>

namespace vouch {
namespace {

constexpr int rows = stepping_rows_a_thread, half = rows / 2;
constexpr unsigned all_lanes = ~0u;

struct stepping_parameters {
  std::int64_t n, own, halo, steps, alone;
  stepping_end first, last;
  const double *lower, *inverse, *upper;
  const double* floor;  // of the values, under American exercise
  double* values[2];
  unsigned*
      epochs;  // of each block, how many barriers it has reached, `epoch_stride` numbers from the one before
  int neighbours;  // blocks on each side that read what this one has
};
constexpr int epoch_stride = 32;

// What the blocks that this one's window reaches, or whose windows reach it, wrote before it is there to be
// read after it, and what they read before it may be overwritten; number counts barriers from 1.
__device__ void neighbour_barrier(const stepping_parameters& p, unsigned number) {
  __syncthreads();
  const int own = static_cast<int>(blockIdx.x);
  if (threadIdx.x == 0)
    asm volatile("st.release.gpu.global.u32 [%0], %1;" ::"l"(p.epochs + own * epoch_stride), "r"(number)
                 : "memory");
  const int other = own - p.neighbours + static_cast<int>(threadIdx.x);
  if (static_cast<int>(threadIdx.x) <= 2 * p.neighbours && other >= 0 && other < static_cast<int>(gridDim.x)) {
    unsigned seen;
    do {
      asm volatile("ld.acquire.gpu.global.u32 %0, [%1];"
                   : "=r"(seen)
                   : "l"(p.epochs + other * epoch_stride)
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
  double weight[Reach];  // of the ends of the teams before, in what arrives at the thread
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
  double weight = 1;
#pragma unroll
  for (int k = 1; k < Team; ++k) {
    const double other = neighbour<Up, Team>(product, k);
    if (before >= k) weight *= other;
  }
  __syncthreads();
  if (before == Team - 1) scratch[own_team] = weight * product;
  __syncthreads();
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

// And from the teams before; ends is padded by Reach zeros on both sides.
template <bool Up, int Team, int Reach>
__device__ double from_teams(const double* ends, const coupling<Team, Reach>& c, double from_mates) {
  const double* at = ends + Reach + static_cast<int>(threadIdx.x) / Team;
  double odd = from_mates, even = 0;
#pragma unroll
  for (int k = 1; k <= Reach; ++k) {
    const double other = at[Up ? -k : k];
    if (k == 2)
      even = c.weight[1] * other;
    else if (k % 2 == 0)
      even = fma(c.weight[k - 1], other, even);
    else
      odd = fma(c.weight[k - 1], other, odd);
  }
  return even + odd;
}

// An end of the grid as a row that steps like any other, so that nobody waits for it. Its equation has there
// the sum of two parts, each a factor larger in every step; the row beyond it holds the second part alone, and
// the end's own V is less than the sum by what elimination takes over from there.
template <bool Damped>
struct given_rows {
  double coupling;       // multiplier of the row beyond, in the end
  double share, at_end;  // of P + Q - V in the next V, and V at first
  double share_beyond, beyond;

  __device__ explicit given_rows(const stepping_end& e) {
    const double first = e.slope_factor, second = e.constant_factor;
    share = Damped ? first : 1 + first;
    share_beyond = Damped ? second : 1 + second;
    coupling = (second - first) / share_beyond;
    beyond = (Damped ? second : 0.5 * (1 + second)) * e.constant;
    at_end = (Damped ? first : 0.5 * (1 + first)) * e.slope + (1 - coupling) * beyond;
  }
};

// The row of a thread that is an end of the grid, if any. While it steps, v has there what its equation has on
// the right; found a step ahead, so that nobody waits for it.
class edge_of_thread {
 public:
  __device__ edge_of_thread(const stepping_parameters& p, std::int64_t row0) {
    if (row0 <= 0 && 0 < row0 + rows) {
      row_ = static_cast<int>(-row0);
      edge_ = p.first;
    } else if (row0 <= p.n - 1 && p.n - 1 < row0 + rows) {
      row_ = static_cast<int>(p.n - 1 - row0);
      edge_ = p.last;
    }
    near_ = __any_sync(all_lanes, row_ >= 0);
    next_ = value();
    pass();
  }
  __device__ void pass() {
    if (!near_) return;
    now_ = next_;
    edge_.slope *= edge_.slope_factor;
    edge_.constant *= edge_.constant_factor;
    next_ = value();
  }
  __device__ double now() const { return now_; }
  // Of the right-hand side in the step from now to next.
  template <bool Damped>
  __device__ double side() const {
    return Damped ? next_ : 0.5 * (next_ + now_);
  }
  __device__ void set(double (&v)[rows], double value) const {
    if (!near_) return;
#pragma unroll
    for (int j = 0; j < rows; ++j)
      if (j == row_) v[j] = value;
  }

 private:
  __device__ double value() const {
    const double free = edge_.slope + edge_.constant;
    return free > edge_.least ? free : edge_.least;
  }
  int row_ = -1;
  bool near_ = false;
  stepping_end edge_{};
  double now_ = 0, next_ = 0;
};

__device__ void write_own(const stepping_parameters& p, std::int64_t row0, const double (&v)[rows],
                          double* to) {
  const std::int64_t first = static_cast<std::int64_t>(blockIdx.x) * p.own;
#pragma unroll
  for (int j = 0; j < rows; ++j) {
    const std::int64_t i = row0 + j;
    if (i >= first && i < first + p.own && i < p.n) __stcg(to + i, v[j]);
  }
}

constexpr double lowest = -1e300;  // no floor

__device__ double larger(double a, double b) { return a > b ? a : b; }

// Substitution in some rows from what comes to them: x -> max(a x + b, c), a known beforehand.
struct clipped {
  double b = 0, c = lowest;
};
// f after g, where f has the product a.
__device__ clipped after(double a, const clipped& f, const clipped& g) {
  return {fma(a, g.b, f.b), larger(fma(a, g.c, f.b), f.c)};
}
__device__ double applied(double a, const clipped& f, double x) { return larger(fma(a, x, f.b), f.c); }

// How the rows of a team of 4 threads and those of Reach teams behind it hang together in substitution.
template <int Reach>
struct exercised_coupling {
  double over_half, through_half, through;  // products over the rows of a thread, as in coupling
  double mate[3];                           // over the mates between this thread and the k-th behind it
  double from_team;                         // over all mates behind
  double team[Reach];                       // over the teams between this one and the k-th behind it
};

template <int Reach>
__device__ void couple_exercised(const double (&multiplier)[rows], double* scratch,
                                 exercised_coupling<Reach>& c) {
  constexpr int Team = 4;
  const int behind = place_in_team<false, Team>(), own_team = static_cast<int>(threadIdx.x) / Team;
  const int teams = static_cast<int>(blockDim.x) / Team;
  c.over_half = c.through_half = 1;
#pragma unroll
  for (int j = 0; j < half; ++j) {
    c.through_half *= multiplier[j];
    c.over_half *= multiplier[half + j];
  }
  c.through = c.over_half * c.through_half;
  double over = 1;
#pragma unroll
  for (int k = 0; k < 3; ++k) {
    c.mate[k] = over;
    const double other = neighbour<false, Team>(c.through, k + 1);
    if (behind > k) over *= other;
  }
  c.from_team = over;
  __syncthreads();
  if (behind == Team - 1) scratch[own_team] = over * c.through;
  __syncthreads();
  double weight = 1;
#pragma unroll
  for (int k = 1; k <= Reach; ++k) {
    c.team[k - 1] = weight;
    weight = own_team + k < teams ? weight * scratch[own_team + k] : 0;
  }
}

// The mates' functions, each after those behind it: what arrives at the team is not in yet.
template <int Reach>
__device__ clipped from_mates(const clipped& own, const exercised_coupling<Reach>& c) {
  const int behind = place_in_team<false, 4>();
  clipped sum;
#pragma unroll
  for (int k = 0; k < 3; ++k) {
    const double b = neighbour<false, 4>(own.b, k + 1), cut = neighbour<false, 4>(own.c, k + 1);
    if (behind <= k) continue;
    sum.c = larger(sum.c, fma(c.mate[k], cut, sum.b));
    sum.b = fma(c.mate[k], b, sum.b);
  }
  return sum;
}

// Mapping   As take_steps, with teams of 4.
// Step      Brennan and Schwartz: elimination upwards, then substitution downwards that nowhere falls below the
//           floor; a row's is x -> max(a x + b, c), and such functions are closed under composition: those of
//           the rows of a thread, of a team and of Reach teams behind it are composed, then applied.
// Bound     by latency: about twice that of take_steps, and two block barriers a step.
// Bits      the same on every run; they change with the number of multiprocessors.
template <int Threads, int Reach, bool Damped>
__global__ void __launch_bounds__(Threads, 1)
    take_exercised_steps(const __grid_constant__ stepping_parameters p) {
  constexpr int Team = 4, padded = Threads / Team + 2 * Reach;
  __shared__ double ends[padded], team_b[padded], team_c[padded];
  const auto clear = [&] {
    for (int k = static_cast<int>(threadIdx.x); k < padded; k += Threads) {
      ends[k] = team_b[k] = 0;
      team_c[k] = lowest;
    }
  };
  clear();
  const std::int64_t row0 =
      static_cast<std::int64_t>(blockIdx.x) * p.own - p.halo + static_cast<std::int64_t>(threadIdx.x) * rows;
  const auto there = [&](int j) { return row0 + j >= 0 && row0 + j < p.n; };
  double lower[rows], upper[rows], inverse[rows], floor[rows], v[rows];
#pragma unroll
  for (int j = 0; j < rows; ++j) {
    lower[j] = there(j) ? p.lower[row0 + j] : 0;
    upper[j] = there(j) ? p.upper[row0 + j] : 0;
    inverse[j] = there(j) ? p.inverse[row0 + j] : 0;
    floor[j] = there(j) ? p.floor[row0 + j] : lowest;
  }
  coupling<Team, Reach> up;
  exercised_coupling<Reach> down;
  double up_share[rows];
  couple<true>(lower, ends, up_share, up);
  couple_exercised(upper, ends, down);
  __syncthreads();
  clear();
  __syncthreads();

  edge_of_thread edge(p, row0);
  unsigned epoch = 0;
  for (std::int64_t done = 0; done < p.steps;) {
    const double* from = p.values[epoch % 2];
#pragma unroll
    for (int j = 0; j < rows; ++j) v[j] = there(j) ? __ldcg(from + row0 + j) : 0;
    edge.set(v, edge.side<Damped>());
    const std::int64_t end = p.steps - done > p.alone ? done + p.alone : p.steps;
    const int own_team = Reach + static_cast<int>(threadIdx.x) / Team;
    for (; done < end; ++done) {
      double y[rows], low = inverse[0] * v[0], high = inverse[half] * v[half];
      y[0] = low;
      y[half] = high;
#pragma unroll
      for (int j = 1; j < half; ++j) {
        y[j] = low = fma(lower[j], low, inverse[j] * v[j]);
        y[half + j] = high = fma(lower[half + j], high, inverse[half + j] * v[half + j]);
      }
      const double upwards = fma(up.through_half, low, high), middle = low;
      const double from_below = from_team_mates<true>(upwards, up);
      if (place_in_team<true, Team>() == Team - 1) ends[own_team] = fma(up.through, from_below, upwards);
      double f[rows];
#pragma unroll
      for (int j = 0; j < rows; ++j) f[j] = Damped ? floor[j] : 0.5 * (floor[j] + v[j]);
      __syncthreads();
      const double below = from_teams<true>(ends, up, from_below),
                   below_middle = fma(up.over_half, below, middle);
#pragma unroll
      for (int j = 0; j < half; ++j) {
        y[j] = fma(up_share[j], below, y[j]);
        y[half + j] = fma(up_share[half + j], below_middle, y[half + j]);
      }
      clipped lower_half{y[half - 1], f[half - 1]}, upper_half{y[rows - 1], f[rows - 1]};
#pragma unroll
      for (int j = half - 2; j >= 0; --j) {
        lower_half = after(upper[j], {y[j], f[j]}, lower_half);
        upper_half = after(upper[half + j], {y[half + j], f[half + j]}, upper_half);
      }
      const clipped own = after(down.through_half, lower_half, upper_half), mates = from_mates(own, down);
      if (place_in_team<false, Team>() == Team - 1) {
        const clipped whole = after(down.through, own, mates);
        team_b[own_team] = whole.b;
        team_c[own_team] = whole.c;
      }
      __syncthreads();
      clipped teams;
#pragma unroll
      for (int k = 0; k < Reach; ++k) {
        teams.c = larger(teams.c, fma(down.team[k], team_c[own_team + k + 1], teams.b));
        teams.b = fma(down.team[k], team_b[own_team + k + 1], teams.b);
      }
      double w_high = applied(down.from_team, mates, larger(teams.b, teams.c));
      double w_low = applied(down.over_half, upper_half, w_high);
#pragma unroll
      for (int j = half - 1; j >= 0; --j) {
        w_low = applied(upper[j], {y[j], f[j]}, w_low);
        w_high = applied(upper[half + j], {y[half + j], f[half + j]}, w_high);
        v[j] = Damped ? w_low : 2 * w_low - v[j];
        v[half + j] = Damped ? w_high : 2 * w_high - v[half + j];
      }
      edge.pass();
      edge.set(v, edge.side<Damped>());
    }
    edge.set(v, edge.now());
    write_own(p, row0, v, p.values[(epoch + 1) % 2]);
    ++epoch;
    neighbour_barrier(p, epoch);
  }
}

// Mapping   A block steps a window of rows, of which it owns the middle; a thread has neighbouring rows
//           with their factors in registers. For `alone` steps blocks do not wait for each other, while what is
//           wrong at the window's ends creeps inwards; then each writes its own rows and waits at a barrier with its neighbours.
// Step      Elimination upwards and downwards at the same time: W = (P + Q - V) / pivot, where P has what comes
//           from lower and Q what comes from higher rows. Both from zero in each half of a thread's rows, ends
//           carried over a team of threads by shuffles and over Reach teams through shared memory, then added
//           to the rows by products known beforehand. V goes on to 2 W - V, or to W where Damped, with (I -
//           implicit L) W = V.
// Bound     by latency: chains of 4 FMAs, two rounds of shuffles, one block barrier a step.
// Bits      fixed orders: the same on every run; they change with the number of multiprocessors.
template <int Threads, int Team, int Reach, bool Damped>
__global__ void __launch_bounds__(Threads, 1) take_steps(const __grid_constant__ stepping_parameters p) {
  constexpr int padded = Threads / Team + 2 * Reach;
  __shared__ double ends[2][2][padded];  // of steps in turn, upwards and downwards
  for (int k = static_cast<int>(threadIdx.x); k < 4 * padded; k += Threads) (&ends[0][0][0])[k] = 0;
  const std::int64_t row0 =
      static_cast<std::int64_t>(blockIdx.x) * p.own - p.halo + static_cast<std::int64_t>(threadIdx.x) * rows;
  const auto inner = [&](int j) { return row0 + j > 0 && row0 + j < p.n - 1; };
  constexpr double ratio = Damped ? 1 : 2;
  double lower[rows], upper[rows], v[rows];
  double sum_share[rows];  // of P + Q - V in the next V
  const given_rows<Damped> first(p.first), last(p.last);
#pragma unroll
  for (int j = 0; j < rows; ++j) {
    const std::int64_t i = row0 + j;
    lower[j] = inner(j) ? p.lower[i] : i == 0 ? first.coupling : 0;
    upper[j] = inner(j) ? p.upper[i] : i == p.n - 1 ? last.coupling : 0;
    sum_share[j] = inner(j) ? ratio * p.inverse[i] : 0;
    v[j] = 0;
    const auto take = [&](std::int64_t row, double share, double value) {
      if (i != row) return;
      sum_share[j] = share;
      v[j] = value;
    };
    take(-1, first.share_beyond, first.beyond);
    take(0, first.share, first.at_end);
    take(p.n - 1, last.share, last.at_end);
    take(p.n, last.share_beyond, last.beyond);
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

  unsigned epoch = 0;
  for (std::int64_t done = 0; done < p.steps;) {
    const double* from = p.values[epoch % 2];
#pragma unroll
    for (int j = 0; j < rows; ++j)
      if (inner(j)) v[j] = __ldcg(from + row0 + j);
    const std::int64_t end = p.steps - done > p.alone ? done + p.alone : p.steps;
    for (; done < end; ++done) {
      // Both halves of the rows from zero, each way: chains of 4 in place of 8.
      double next[rows], low = v[0], high = v[half];
      next[0] = low;
      next[half] = high;
#pragma unroll
      for (int j = 1; j < half; ++j) {
        next[j] = low = fma(lower[j], low, v[j]);
        next[half + j] = high = fma(lower[half + j], high, v[half + j]);
      }
      const double upwards = fma(up.through_half, low, high), middle_low = low;
      const double from_below = from_team_mates<true>(upwards, up);
      low = v[half - 1];
      high = v[rows - 1];
#pragma unroll
      for (int j = half - 2; j >= 0; --j) {  // Q - V is what comes from above
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
      __syncthreads();
      const double below = from_teams<true>(now[0], up, from_below),
                   above = from_teams<false>(now[1], down, from_above);
      const double below_middle = fma(up.over_half, below, middle_low),
                   above_middle = fma(down.over_half, above, middle_high);
#pragma unroll
      for (int j = 0; j < half; ++j) {
        v[j] = fma(up_share[j], below, fma(down_share[j], above_middle, next[j]));
        v[half + j] = fma(up_share[half + j], below_middle, fma(down_share[half + j], above, next[half + j]));
      }
    }
    write_own(p, row0, v, p.values[(epoch + 1) % 2]);
    ++epoch;
    neighbour_barrier(p, epoch);
  }
}

int blocks_around(const stepping_plan& plan) {
  const std::int64_t behind = plan.threads * rows - plan.halo - plan.own;
  return static_cast<int>(ceil_div(std::max(plan.halo, behind), plan.own));
}

double value_after(const stepping_end& e, std::int64_t steps) {
  const auto grown = [&](double part, double factor) {
    return part * std::pow(factor, static_cast<double>(steps));
  };
  return std::max(grown(e.slope, e.slope_factor) + grown(e.constant, e.constant_factor), e.least);
}

template <int Threads>
void launch_exercised(const device& gpu, const stepping_plan& plan, bool damped, const stepping_parameters& p) {
  const auto go = [&]<int Reach>() {
    const launch_shape shape{plan.blocks, Threads, 0, 1, true};
    damped ? launch(gpu, "take_exercised_steps", shape, take_exercised_steps<Threads, Reach, true>, p)
           : launch(gpu, "take_exercised_steps", shape, take_exercised_steps<Threads, Reach, false>, p);
  };
  plan.reach <= 6 ? go.template operator()<6>() : go.template operator()<12>();
}

template <int Threads>
void launch_run(const device& gpu, const stepping_plan& plan, bool damped, const stepping_parameters& p) {
  if (p.floor != nullptr) return launch_exercised<Threads>(gpu, plan, damped, p);
  const auto go = [&]<int Team, int Reach>() {
    const launch_shape shape{plan.blocks, Threads, 0, 1, true};
    damped ? launch(gpu, "take_steps", shape, take_steps<Threads, Team, Reach, true>, p)
           : launch(gpu, "take_steps", shape, take_steps<Threads, Team, Reach, false>, p);
  };
  if (plan.team == 4)
    plan.reach <= 5 ? go.template operator()<4, 5>() : go.template operator()<4, 8>();
  else if (plan.reach <= 6)
    go.template operator()<8, 6>();
  else if (plan.reach <= 9)
    go.template operator()<8, 9>();
  else
    go.template operator()<8, 12>();
}

}  // namespace

void step_in_time_cuda(const device& gpu, const stepping_factors& factors, const stepping_plan& plan,
                       std::span<const stepping_run> runs, std::span<double> values) {
  const auto n = static_cast<std::int64_t>(values.size());
  // One transfer each way.
  std::vector<double> all;
  all.reserve(static_cast<std::size_t>(5 * n));
  for (const auto* part : {&factors.lower, &factors.inverse, &factors.upper})
    all.insert(all.end(), part->begin(), part->end());
  all.insert(all.end(), values.begin(), values.end());
  all.insert(all.end(), factors.floor.begin(), factors.floor.end());
  auto on_device = array<double>::from(gpu, all);
  double* const data = on_device.data();
  array<double> other(gpu, n);
  stepping_parameters p{};
  p.n = n;
  p.own = plan.own;
  p.halo = plan.halo;
  p.alone = plan.alone;
  p.lower = data;
  p.inverse = data + n;
  p.upper = data + 2 * n;
  p.floor = factors.floor.empty() ? nullptr : data + 4 * n;
  p.values[0] = data + 3 * n;
  p.values[1] = other.data();
  p.neighbours = blocks_around(plan);
  auto epochs = array<unsigned>::zeros(
      gpu, std::int64_t{plan.blocks} * epoch_stride * static_cast<std::int64_t>(runs.size()));
  p.epochs = epochs.data();
  for (const stepping_run& run : runs) {
    p.steps = run.steps;
    p.first = run.first;
    p.last = run.last;
    plan.threads == 128 ? launch_run<128>(gpu, plan, run.damped, p) : launch_run<256>(gpu, plan, run.damped, p);
    if (ceil_div(run.steps, plan.alone) % 2 == 1) std::swap(p.values[0], p.values[1]);
    p.epochs += std::int64_t{plan.blocks} * epoch_stride;
  }
  copy_bytes(values.data(), device::cpu(1), p.values[0], gpu, values.size_bytes());
  values.front() = value_after(runs.back().first, runs.back().steps);  // known: the kernel does not keep them
  values.back() = value_after(runs.back().last, runs.back().steps);
}

}  // namespace vouch
