// vouch/price/finite_difference/time_stepping_exercised.cuh -- the kernel that takes many steps under American exercise; private.
#pragma once
#include <vouch/price/finite_difference/time_stepping_device.cuh>

namespace vouch::stepping {

constexpr double lowest = -1e300;  // no floor

__device__ inline double larger(double a, double b) { return a > b ? a : b; }

// Substitution in some rows from what comes to them: x -> max(a x + b, c), a known beforehand.
struct clipped {
  double b = 0, c = lowest;
};
// f after g, where f has the product a.
__device__ inline clipped after(double a, const clipped& f, const clipped& g) {
  return {fma(a, g.b, f.b), larger(fma(a, g.c, f.b), f.c)};
}
__device__ inline double applied(double a, const clipped& f, double x) { return larger(fma(a, x, f.b), f.c); }

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

// Mapping   As march_rows, with teams of 4.
// Step      Brennan and Schwartz: elimination upwards, then substitution downwards that nowhere falls below the
//           floor; a row's is x -> max(a x + b, c), and such functions are closed under composition: those of
//           the rows of a thread, of a team and of Reach teams behind it are composed, then applied.
// Bound     by latency: about twice that of march_rows, and two block barriers a step.
// Bits      the same on every run; they change with the number of multiprocessors.
template <int Threads, int Reach, bool Damped>
__global__ void __launch_bounds__(Threads, 1) march_exercised(const __grid_constant__ march_parameters p) {
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
  unsigned meetings = 0;
  for (std::int64_t done = 0; done < p.steps;) {
    const double* from = p.values[meetings % 2];
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
    write_own(p, row0, v, p.values[(meetings + 1) % 2]);
    ++meetings;
    meet(p, meetings);
  }
}

}  // namespace vouch::stepping
