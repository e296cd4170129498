// vouch/verify/tridiagonal/short_systems.cuh -- what the kernels that prove short systems share; private.
#pragma once
#include <algorithm>
#include <cmath>

#include <vouch/core/gpu/async_copy.cuh>
#include <vouch/core/launch.cuh>
#include <vouch/verify/tridiagonal/row_tally.cuh>
#include <vouch/verify/tridiagonal/short_systems.hpp>

namespace vouch::detail {

/// Zero at the start.
struct proof_counters {
  totals_memory ratios, radii;
  unsigned long long remaining;  // systems that the comparison matrix proves nothing of
  unsigned long long marginal;   // those of which it might, with a better v
  unsigned long long hard;       // systems that quick factors prove nothing of
  unsigned long long taken;      // systems that blocks have taken beyond their first ones
  unsigned long long done;       // blocks
};

/// Lists of systems, and their counters on the device and on the host.
struct worklists {
  std::int64_t* remaining;
  std::int64_t* marginal;  // later those that are hard
  proof_counters* all;
  proof_counters* host;
};

/// The last block to arrive copies the counters to the host. Only thread 0 of each block, after all that the
/// block adds.
__device__ inline void report_to_host(const worklists& lists) {
  static_assert(sizeof(proof_counters) % sizeof(bits_type) == 0);
  __threadfence();
  if (atomicAdd(&lists.all->done, 1ull) + 1 != gridDim.x) return;
  __threadfence();
  lists.all->done = lists.all->taken = 0;  // for the next kernel
  const auto* from = reinterpret_cast<const bits_type*>(lists.all);
  for (unsigned k = 0; k < sizeof(proof_counters) / sizeof(bits_type); ++k)
    reinterpret_cast<bits_type*>(lists.host)[k] = __ldcg(from + k);
}

/// The exponent and leading bits of a magnitude, ordered as magnitudes are; sums of them as products, nearly.
__device__ inline int high_of(double value) { return __double2hiint(value) & 0x7fffffff; }

template <int Warps>
__device__ void sync_threads() {
  if constexpr (Warps == 1)
    __syncwarp();
  else
    __syncthreads();
}

/// The largest of a block, for all its threads; parts may be used again behind the next barrier.
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

/// Where a system is stored, and the places of a row's neighbours; of an absent one, of the row.
struct located_system {
  std::int64_t in_A, in_vectors, stride;  // the first row; between rows of the vectors
  int n;
  bool periodic;

  __device__ located_system(const short_systems& task, std::int64_t s)
      : in_A(task.A.shape.at(s, 0)),
        in_vectors(task.vectors.at(s, 0)),
        stride(task.vectors.row_stride),
        n(static_cast<int>(task.vectors.rows(s))),
        periodic(task.A.periodic) {}
  __device__ bool below(int i) const { return i > 0 || periodic; }
  __device__ bool above(int i) const { return i < n - 1 || periodic; }
  __device__ std::int64_t at(int i) const { return in_vectors + i * stride; }
  __device__ void put_places(int i, row_data<double>& row) const {
    row.place[0] = at(!below(i) ? i : i > 0 ? i - 1 : n - 1);
    row.place[1] = at(i);
    row.place[2] = at(!above(i) ? i : i < n - 1 ? i + 1 : 0);
    row.step = 1;
  }
};

// Of a system: above all numbers, that v proves nothing of it, and that it is positive at least.
constexpr bits_type refuted = ~bits_type{0}, marginal = refuted - 1;

/// The largest ratio of a thread's rows, or refuted or marginal. present(k) says whether there is a k-th
/// row, and data_of(k) has its data; of rows that are not there what it likes. Plain: as prove_by_comparison().
template <int Rows, bool Plain, class Present, class DataOf>
__device__ bits_type certify_rows(const row_certificate& certificate, const Present& present,
                                  const DataOf& data_of, ratio_tally& tally) {
  bits_type most = 0;
  constexpr int together = 2;  // rows that need not wait for each other
#pragma unroll
  for (int first = 0; first < Rows; first += together) {
    if (!present(first) && !present(first + together - 1)) continue;
    measured_row<double> rows[together];
    bool may_vanish = false;
#pragma unroll
    for (int k = 0; k < together; ++k) {
      rows[k].may_vanish = false;
      if (!Plain && !present(first + k)) continue;
      rows[k] = certificate.measure<double>(data_of(first + k), nullptr, false);
      may_vanish |= rows[k].may_vanish;
    }
    if (may_vanish) {
#pragma unroll
      for (int k = 0; k < together; ++k)
        if (rows[k].may_vanish && certificate.vanishes<double>(data_of(first + k))) rows[k].size = 0;
    }
#pragma unroll
    for (int k = 0; k < together; ++k) {
      if (!present(first + k)) continue;
      const certified_row<double> row = certificate.conclude<double>(rows[k]);
      tally.add_proved(row);
      most = ::max(most, row.proves ? bits_of(row.ratio) : row.v > 0 ? marginal : refuted);
    }
  }
  return most;
}

/// The ratio of a system in the list of the remaining ones.
constexpr double is_remaining = -HUGE_VAL;

/// Puts a system that quicker proofs prove nothing of on the list of the remaining ones. One thread.
__device__ inline void defer(const short_systems& task, const worklists& lists, std::int64_t s) {
  task.ratio[s] = is_remaining;
  lists.remaining[atomicAdd(&lists.all->remaining, 1ull)] = s;
}

/// The same for lanes with a system each; all lanes of a warp call it. One atomic a warp: one a system would
/// take longer than all else in a large batch.
__device__ inline void defer_lanes(const short_systems& task, const worklists& lists, std::int64_t s,
                                   bool mine) {
  const unsigned those = __ballot_sync(~0u, mine), lane = threadIdx.x % 32;
  if (those == 0) return;
  unsigned long long first = 0;
  if (lane == 0) first = atomicAdd(&lists.all->remaining, static_cast<unsigned long long>(__popc(those)));
  first = __shfl_sync(~0u, first, 0);
  if (!mine) return;
  task.ratio[s] = is_remaining;
  lists.remaining[first + static_cast<unsigned>(__popc(those & ((1u << lane) - 1)))] = s;
}

/// What is known of a system. Only one of its threads.
template <class Real>
__device__ void record_ratio(const short_systems& task, const worklists& lists, std::int64_t s,
                             bits_type most) {
  if (most < marginal)
    task.ratio[s] = number_of(most);
  else if (most == marginal && sizeof(Real) == sizeof(float))
    lists.marginal[atomicAdd(&lists.all->marginal, 1ull)] = s;
  else
    defer(task, lists, s);
}

/// x_lo: the whole batch's, or nullptr.
__device__ inline void store_radius(double* radius, const double* x_lo, std::int64_t at, double ratio, double v,
                                    double x, radius_tally& tally) {
  const double low = x_lo == nullptr ? 0 : x_lo[at];
  const certified_element<double> found = tridiagonal_radius_body::bounded<double>(ratio, v, x, low);
  radius[at] = found.absolute;
  tally.add(found);
}

/// As many blocks as there are tasks and as are resident at once, which shared memory may limit.
inline launch_shape resident_shape(const device& dev, std::int64_t tasks, int at_once, unsigned threads,
                                   std::size_t bytes) {
  constexpr std::size_t of_a_multiprocessor = 227 << 10, besides = 1 << 10;
  at_once = std::clamp(static_cast<int>(of_a_multiprocessor / (bytes + besides)), 1, at_once);
  return {std::min<std::int64_t>(tasks, std::int64_t{at_once} * dev.processors()), threads, bytes};
}

// The kernels' launchers.

/// Contiguous systems.
void prove_by_comparison(const device& dev, const short_systems& task, const worklists& lists);
void prove_marginal(const device& dev, const short_systems& task, const worklists& lists, std::int64_t count);
/// The same for systems stored in any way, in tiles.
void prove_by_comparison_tiled(const device& dev, const short_systems& task, const worklists& lists);
void prove_marginal_tiled(const device& dev, const short_systems& task, const worklists& lists,
                          std::int64_t count);

/// Whether quick factors can prove this task: then they are tried before prove_by_factors().
bool quick_factors_apply(const short_systems& task);
void prove_by_quick_factors(const device& dev, const short_systems& task, const worklists& lists,
                            std::int64_t count);
/// The remaining ones of all systems. Reads the others, too.
void prove_by_quick_factors_tiled(const device& dev, const short_systems& task, const worklists& lists);
void prove_by_factors(const device& dev, const short_systems& task, const worklists& lists, std::int64_t count);

}  // namespace vouch::detail
