// vouch/verify/batch_visit.cuh -- what the kernels that visit systems have in common; private.
#pragma once
#include <algorithm>

#include <vouch/core/device_cuda.hpp>
#include <vouch/core/launch.cuh>
#include <vouch/verify/batch_tally.cuh>
#include <vouch/verify/batch_visit.hpp>

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
  lists.all->done = 0;
  const auto* from = reinterpret_cast<const bits_type*>(lists.all);
  for (unsigned k = 0; k < sizeof(visit_memory) / sizeof(bits_type); ++k)
    reinterpret_cast<bits_type*>(lists.host)[k] = __ldcg(from + k);
}

/// The exponent and leading bits of a magnitude, ordered as magnitudes are; sums of them as products, nearly.
__device__ inline int high_of(double value) { return __double2hiint(value) & 0x7fffffff; }

__device__ inline void begin_copy(double* to, const double* from) {
  asm volatile(
      "cp.async.ca.shared.global [%0], [%1], 8;" ::"r"(static_cast<unsigned>(__cvta_generic_to_shared(to))),
      "l"(from)
      : "memory");
}
__device__ inline void await_copies() { asm volatile("cp.async.wait_all;" ::: "memory"); }

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
  __device__ void put_places(int i, row_data<double>& row) const {
    row.place[0] = in_vectors + (!below(i) ? i : i > 0 ? i - 1 : n - 1);
    row.place[1] = in_vectors + i;
    row.place[2] = in_vectors + (!above(i) ? i : i < n - 1 ? i + 1 : 0);
    row.step = 1;
  }
};

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
void visit_by_comparison(const device& dev, const visit_task& task, const visit_lists& lists);
void visit_nearly_proved(const device& dev, const visit_task& task, const visit_lists& lists,
                         std::int64_t count);
/// Whether the visits below are for this task: then they come before those by factors.
bool quick_factors_serve(const visit_task& task);
void visit_by_quick_factors(const device& dev, const visit_task& task, const visit_lists& lists,
                            std::int64_t count);
void visit_by_factors(const device& dev, const visit_task& task, const visit_lists& lists, std::int64_t count);

}  // namespace vouch::detail
