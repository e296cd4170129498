// vouch/price/finite_difference/time_stepping_device.cuh -- what the kernels that take many steps have in common; private.
#pragma once
#include <cstdint>

#include <vouch/price/finite_difference/time_stepping_cuda.hpp>

namespace vouch::stepping {

constexpr int rows = march_rows_a_thread, half = rows / 2;
constexpr unsigned all_lanes = ~0u;

struct march_parameters {
  std::int64_t n, own, halo, steps, alone;
  march_edge first, last;
  const double *lower, *inverse, *upper;
  const double* floor;  // of the values, under American exercise
  double* values[2];
  unsigned* meetings;  // of each block, `apart` numbers from the one before
  int neighbours;      // blocks on each side that read what this one has
};
constexpr int apart = 32;

// What the blocks that this one's window reaches, or whose windows reach it, wrote before it is there to be
// read after it, and what they read before it may be overwritten; number counts meetings from 1.
__device__ inline void meet(const march_parameters& p, unsigned number) {
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

  __device__ explicit given_rows(const march_edge& e) {
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
  __device__ edge_of_thread(const march_parameters& p, std::int64_t row0) {
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
  march_edge edge_{};
  double now_ = 0, next_ = 0;
};

__device__ inline void write_own(const march_parameters& p, std::int64_t row0, const double (&v)[rows],
                                 double* to) {
  const std::int64_t first = static_cast<std::int64_t>(blockIdx.x) * p.own;
#pragma unroll
  for (int j = 0; j < rows; ++j) {
    const std::int64_t i = row0 + j;
    if (i >= first && i < first + p.own && i < p.n) __stcg(to + i, v[j]);
  }
}

}  // namespace vouch::stepping
