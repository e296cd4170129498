// vouch/verify/tridiagonal/short_systems.cuh -- what the kernels that visit systems have in common; private.
#pragma once
#include <algorithm>
#include <cmath>

#include <vouch/core/device_cuda.hpp>
#include <vouch/core/gpu/async_copy.cuh>
#include <vouch/core/launch.cuh>
#include <vouch/verify/tridiagonal/row_tally.cuh>
#include <vouch/verify/tridiagonal/short_systems.hpp>

namespace vouch::detail {

/// Zero at the start.
struct visit_memory {
  totals_memory ratios, radii;
  unsigned long long left;    // systems that the comparison matrix proves nothing of
  unsigned long long nearly;  // those of which it might, with a better v
  unsigned long long hard;    // systems that quick factors prove nothing of
  unsigned long long taken;   // systems that blocks have taken beyond their first ones
  unsigned long long done;    // blocks
};

/// Lists of systems, and where they are counted and told of.
struct visit_lists {
  std::int64_t* left;
  std::int64_t* nearly;  // later those that are hard
  visit_memory* all;
  visit_memory* host;
};

/// The last block to come here tells the host. Only thread 0 of each block, after all that the block adds.
__device__ inline void tell(const visit_lists& lists) {
  static_assert(sizeof(visit_memory) % sizeof(bits_type) == 0);
  __threadfence();
  if (atomicAdd(&lists.all->done, 1ull) + 1 != gridDim.x) return;
  __threadfence();
  lists.all->done = lists.all->taken = 0;  // for the next visit
  const auto* from = reinterpret_cast<const bits_type*>(lists.all);
  for (unsigned k = 0; k < sizeof(visit_memory) / sizeof(bits_type); ++k)
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

/// Where a system is, and the places of a row's neighbours; of one that is not there, of the row.
struct visited_system {
  std::int64_t in_A, in_vectors, stride;  // the first row; between rows of the vectors
  int n;
  bool periodic;

  __device__ visited_system(const visit_task& task, std::int64_t s)
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
constexpr bits_type refuted = ~bits_type{0}, nearly_proved = refuted - 1;

/// The largest ratio of a thread's rows, or refuted or nearly_proved. present(k) says whether there is a k-th
/// row, and data_of(k) has its data; of rows that are not there what it likes. Plain: as visit_by_comparison().
template <int Rows, bool Plain, class Present, class DataOf>
__device__ bits_type judge_rows(const row_judgement& judgement, const Present& present, const DataOf& data_of,
                                ratio_tally& tally) {
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
      rows[k] = judgement.measure<double>(data_of(first + k), nullptr, false);
      may_vanish |= rows[k].may_vanish;
    }
    if (may_vanish) {
#pragma unroll
      for (int k = 0; k < together; ++k)
        if (rows[k].may_vanish && judgement.vanishes<double>(data_of(first + k))) rows[k].size = 0;
    }
#pragma unroll
    for (int k = 0; k < together; ++k) {
      if (!present(first + k)) continue;
      const judged_row<double> row = judgement.concluded<double>(rows[k]);
      tally.add_proved(row);
      most = ::max(most, row.proves ? bits_of(row.ratio) : row.v > 0 ? nearly_proved : refuted);
    }
  }
  return most;
}

/// The ratio of a system in the list of those left.
constexpr double is_left = -HUGE_VAL;

/// A system that quicker proofs prove nothing of. One thread.
__device__ inline void leave(const visit_task& task, const visit_lists& lists, std::int64_t s) {
  task.ratio[s] = is_left;
  lists.left[atomicAdd(&lists.all->left, 1ull)] = s;
}

/// The same of lanes, each of which has a system of its own; all lanes of a warp call it. Counted together: one
/// after another a large batch's would take longer than all else.
__device__ inline void leave_some(const visit_task& task, const visit_lists& lists, std::int64_t s, bool mine) {
  const unsigned those = __ballot_sync(~0u, mine), lane = threadIdx.x % 32;
  if (those == 0) return;
  unsigned long long first = 0;
  if (lane == 0) first = atomicAdd(&lists.all->left, static_cast<unsigned long long>(__popc(those)));
  first = __shfl_sync(~0u, first, 0);
  if (!mine) return;
  task.ratio[s] = is_left;
  lists.left[first + static_cast<unsigned>(__popc(those & ((1u << lane) - 1)))] = s;
}

/// What is known of a system. Only one of its threads.
template <class Real>
__device__ void put_ratio(const visit_task& task, const visit_lists& lists, std::int64_t s, bits_type most) {
  if (most < nearly_proved)
    task.ratio[s] = number_of(most);
  else if (most == nearly_proved && sizeof(Real) == sizeof(float))
    lists.nearly[atomicAdd(&lists.all->nearly, 1ull)] = s;
  else
    leave(task, lists, s);
}

/// x_lo: the whole batch's, or nullptr.
__device__ inline void put_radius(double* radius, const double* x_lo, std::int64_t at, double ratio, double v,
                                  double x, radius_tally& tally) {
  const double low = x_lo == nullptr ? 0 : x_lo[at];
  const judged_element<double> found = tridiagonal_radius_body::bounded<double>(ratio, v, x, low);
  radius[at] = found.absolute;
  tally.add(found);
}

/// As many blocks as there are tasks and as run at once, which shared memory may limit.
inline launch_shape visit_shape(const device& dev, std::int64_t tasks, int at_once, unsigned threads,
                                std::size_t bytes) {
  constexpr std::size_t of_a_multiprocessor = 227 << 10, besides = 1 << 10;
  at_once = std::clamp(static_cast<int>(of_a_multiprocessor / (bytes + besides)), 1, at_once);
  return {std::min<std::int64_t>(tasks, std::int64_t{at_once} * cuda_processors(dev.index())), threads, bytes};
}

// The kernels' launchers.

/// Systems whose rows lie one after another.
void visit_by_comparison(const device& dev, const visit_task& task, const visit_lists& lists);
void visit_nearly_proved(const device& dev, const visit_task& task, const visit_lists& lists,
                         std::int64_t count);
/// Systems of at most `most_rows` rows each, wherever these lie: the same.
void visit_tiles_by_comparison(const device& dev, const visit_task& task, const visit_lists& lists);
void visit_nearly_proved_in_tiles(const device& dev, const visit_task& task, const visit_lists& lists,
                                  std::int64_t count);

/// Whether the visits below are for this task: then they come before those by factors.
bool quick_factors_serve(const visit_task& task);
void visit_by_quick_factors(const device& dev, const visit_task& task, const visit_lists& lists,
                            std::int64_t count);
/// Of all systems those that are left; `most_rows` rows at most. Reads the others, too.
void visit_tiles_by_quick_factors(const device& dev, const visit_task& task, const visit_lists& lists);
void visit_by_factors(const device& dev, const visit_task& task, const visit_lists& lists, std::int64_t count);

}  // namespace vouch::detail
