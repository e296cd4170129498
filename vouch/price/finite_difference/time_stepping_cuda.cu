#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include <vouch/core/array.hpp>
#include <vouch/core/launch.cuh>
#include <vouch/price/finite_difference/time_stepping_cuda.hpp>
#include <vouch/price/finite_difference/time_stepping_device.cuh>
#include <vouch/price/finite_difference/time_stepping_exercised.cuh>

namespace vouch {
namespace {

using namespace stepping;

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

  unsigned meetings = 0;
  for (std::int64_t done = 0; done < p.steps;) {
    const double* from = p.values[meetings % 2];
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
    write_own(p, row0, v, p.values[(meetings + 1) % 2]);
    ++meetings;
    meet(p, meetings);
  }
}

int blocks_around(const march_plan& plan) {
  const std::int64_t behind = plan.threads * rows - plan.halo - plan.own;
  return static_cast<int>(ceil_div(std::max(plan.halo, behind), plan.own));
}

double value_after(const march_edge& e, std::int64_t steps) {
  const auto grown = [&](double part, double factor) {
    return part * std::pow(factor, static_cast<double>(steps));
  };
  return std::max(grown(e.slope, e.slope_factor) + grown(e.constant, e.constant_factor), e.least);
}

template <int Threads>
void launch_exercised(const device& gpu, const march_plan& plan, bool damped, const march_parameters& p) {
  const auto go = [&]<int Reach>() {
    const launch_shape shape{plan.blocks, Threads, 0, 1, true};
    damped ? launch(gpu, "march_exercised", shape, march_exercised<Threads, Reach, true>, p)
           : launch(gpu, "march_exercised", shape, march_exercised<Threads, Reach, false>, p);
  };
  plan.reach <= 6 ? go.template operator()<6>() : go.template operator()<12>();
}

template <int Threads>
void launch_run(const device& gpu, const march_plan& plan, bool damped, const march_parameters& p) {
  if (p.floor != nullptr) return launch_exercised<Threads>(gpu, plan, damped, p);
  const auto go = [&]<int Team, int Reach>() {
    const launch_shape shape{plan.blocks, Threads, 0, 1, true};
    damped ? launch(gpu, "march_rows", shape, march_rows<Threads, Team, Reach, true>, p)
           : launch(gpu, "march_rows", shape, march_rows<Threads, Team, Reach, false>, p);
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

void march_cuda(const device& gpu, const march_factors& factors, const march_plan& plan,
                std::span<const march_run> runs, std::span<double> values) {
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
  march_parameters p{};
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
  auto meetings =
      array<unsigned>::zeros(gpu, std::int64_t{plan.blocks} * apart * static_cast<std::int64_t>(runs.size()));
  p.meetings = meetings.data();
  for (const march_run& run : runs) {
    p.steps = run.steps;
    p.first = run.first;
    p.last = run.last;
    plan.threads == 128 ? launch_run<128>(gpu, plan, run.damped, p) : launch_run<256>(gpu, plan, run.damped, p);
    if (ceil_div(run.steps, plan.alone) % 2 == 1) std::swap(p.values[0], p.values[1]);
    p.meetings += std::int64_t{plan.blocks} * apart;
  }
  copy_bytes(values.data(), device::cpu(1), p.values[0], gpu, values.size_bytes());
  values.front() = value_after(runs.back().first, runs.back().steps);  // known: the kernel does not keep them
  values.back() = value_after(runs.back().last, runs.back().steps);
}

}  // namespace vouch
