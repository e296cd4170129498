// vouch/solve/krylov/team_kernels.cuh -- how kernels of conjugate gradients on several GPUs meet: sums over slabs, rows
// handed over; private.
#pragma once
#include <algorithm>
#include <cstdint>

#include <vouch/core/device_group.hpp>
#include <vouch/core/launch.cuh>
#include <vouch/solve/krylov/cg_recurrence.hpp>
#include <vouch/solve/krylov/gpu_team.cuh>
#include <vouch/solve/krylov/grid_sum.cuh>
#include <vouch/solve/loop/pinned_history.cuh>

namespace vouch {

static_assert(slab_count == most_gpus, "a slab, and a place among what is added up, for each GPU");

/// What the kernels of one GPU share.
struct team_control {
  cg_scalars s;
  cg_solution_update solution;
  stopping_rule rule;
  std::uint64_t reductions;  // for totals, so far
  std::uint64_t exchanges;   // of rows, so far
  unsigned tickets[slab_count];
  unsigned slabs_done;
  unsigned blocks_done;
  bool lost;  // another GPU did not come to a reduction
};

/// One thread: gives up.
__device__ inline void give_up(team_control& c, cudaGraphConditionalHandle loop) {
  c.lost = true;
  c.s.event = solver_event::interrupted;
  if (loop != 0) cudaGraphSetConditional(loop, 0);
}

__device__ inline double ordered_sum(const double (*totals)[mailbox::most_sums], int k) {
  static_assert(slab_count == 8);
  const auto of = [&](int slab) { return __ldcg(&totals[slab][k]); };
  return ((of(0) + of(1)) + (of(2) + of(3))) + ((of(4) + of(5)) + (of(6) + of(7)));
}

/// The end of a kernel over the rows of one slab: what it has added up goes to all GPUs.
struct slab_end {
  double* parts;
  team_control* c;
  pinned_history* box;  // nullptr but on the first GPU
  cudaGraphConditionalHandle loop;
  gpu_team team;
  int slab;
  int first_slab;  // of this GPU
  int slabs;

  /// All threads of the grid. The last slab of each GPU awaits those of the others, and one thread of it runs
  /// then(totals, whether the host wants an end), on all GPUs alike.
  template <int Count, class Then>
  __device__ void meet(const passes::sums<Count>& mine, Then then) const {
    static_assert(Count <= mailbox::most_sums);
    passes::grid_sum(mine, parts, &c->tickets[slab], [&](const passes::sums<Count>& total) {
      if (c->s.event != solver_event::running) return;
      hand_out(total);
      if (atomicInc(&c->slabs_done, slabs - 1) != slabs - 1) return;
      __threadfence();
      await_others<Count>(then);
    });
  }

  /// One thread of each GPU: tells the host of iteration `iteration`, ends the loop at an event.
  __device__ void report(std::int64_t iteration, double alpha, double beta, double rr) const {
    if (box != nullptr) {
      publish_step(*box, iteration, alpha, beta);
      publish_to_host(*box, iteration, rr, c->s.event);
    }
    if (c->s.event != solver_event::running && loop != 0) cudaGraphSetConditional(loop, 0);
  }

 private:
  template <int Count>
  __device__ void hand_out(const passes::sums<Count>& t) const {
    const std::uint64_t reduction = c->reductions + 1;
    const std::int32_t stop = slab == 0 && asked_to_stop(*box, c->s.iteration) ? 1 : 0;
    for (int g = 0; g < team.size; ++g) {
      volatile double* const there = team.box[g]->totals[reduction % 2][slab];
      for (int k = 0; k < Count; ++k) there[k] = t.value[k];
      if (slab == 0) *static_cast<volatile std::int32_t*>(&team.box[g]->stop[reduction % 2]) = stop;
    }
    __threadfence_system();
    for (int g = 0; g < team.size; ++g)
      if (g != team.me) raise_flag(&team.box[g]->totals_here[slab], reduction);
  }

  template <int Count, class Then>
  __device__ void await_others(Then then) const {
    const mailbox& mine = *team.box[team.me];
    const std::uint64_t reduction = ++c->reductions;
    for (int k = 0; k < slab_count; ++k)
      if ((k < first_slab || k >= first_slab + slabs) && !await_flag(&mine.totals_here[k], reduction))
        return give_up(*c, loop);
    passes::sums<Count> all;
    for (int k = 0; k < Count; ++k) all.value[k] = ordered_sum(mine.totals[reduction % 2], k);
    then(all, *static_cast<const volatile std::int32_t*>(&mine.stop[reduction % 2]) != 0);
  }
};

/// The end of the first `blocks` blocks of a grid, which have written rows to others: the last of them tells the GPUs
/// `readers` and awaits as much of the GPUs `writers`; both as bits.
__device__ inline void meet_readers(team_control& c, const gpu_team& team, unsigned blocks, unsigned readers,
                                    unsigned writers, cudaGraphConditionalHandle loop) {
  __threadfence_system();
  __syncthreads();
  if (threadIdx.x != 0) return;
  if (atomicInc(&c.blocks_done, blocks - 1) != blocks - 1) return;
  __threadfence_system();
  const std::uint64_t exchange = ++c.exchanges;
  for (int g = 0; g < team.size; ++g)
    if ((readers >> g & 1U) != 0) raise_flag(&team.box[g]->rows_here[team.me], exchange);
  for (int g = 0; g < team.size; ++g)
    if ((writers >> g & 1U) != 0 && !await_flag(&team.box[team.me]->rows_here[g], exchange))
      return give_up(c, loop);
}

/// One vector on all GPUs: the number of a row in the whole is its index on each that has it.
template <class T>
struct team_vector {
  T* of[slab_count] = {};
};

/// Rows that others need, by a bit for each row and GPU; the first row and those behind the last one follow each other.
struct rows_by_bits {
  const std::uint8_t* needed_by;    // of rows from first on
  std::int64_t first, count;        // of this GPU
  std::int64_t begin, room, items;  // the items begin there, in a circle of so many places

  __device__ unsigned readers(std::int64_t item, std::int64_t& row) const {
    const std::int64_t place = begin + item, local = place < room ? place : place - room;
    row = first + local;
    return local < count ? needed_by[local] : 0;
  }
};

/// Rows that others need, a range for each GPU.
struct rows_by_range {
  std::int64_t first[slab_count] = {}, end[slab_count] = {};
  std::int64_t items = 0;

  void add(int gpu, std::int64_t from, std::int64_t to) {
    first[gpu] = from;
    end[gpu] = std::max(from, to);
    items += end[gpu] - from;
  }
  __device__ unsigned readers(std::int64_t item, std::int64_t& row) const {
    for (int g = 0; g < slab_count; ++g) {
      const std::int64_t size = end[g] - first[g];
      if (item < size) {
        row = first[g] + item;
        return 1U << g;
      }
      item -= size;
    }
    return 0;
  }
};

/// Rows of a vector to the GPUs that need them, a thread a row; then a barrier of all GPUs.
template <class T, class Rows>
__global__ void __launch_bounds__(passes::block)
    exchange_rows(__grid_constant__ const Rows rows, __grid_constant__ const team_vector<T> v, team_control* c,
                  __grid_constant__ const gpu_team team, cudaGraphConditionalHandle loop) {
  if (c->s.event != solver_event::running) return;
  const std::int64_t item = std::int64_t{blockIdx.x} * passes::block + threadIdx.x;
  if (item < rows.items) {
    std::int64_t row = 0;
    for (unsigned to = rows.readers(item, row); to != 0; to &= to - 1)
      v.of[__ffs(to) - 1][row] = v.of[team.me][row];
  }
  const unsigned others = ((1U << team.size) - 1) & ~(1U << team.me);
  meet_readers(*c, team, gridDim.x, others, others, loop);
}

/// Enqueues that; what the others do at the same point has to match. Nothing where a GPU is alone.
template <class T, class Rows>
void launch_exchange(const device& dev, const Rows& rows, const team_vector<T>& v, team_control* c,
                     const gpu_team& team, cudaGraphConditionalHandle loop) {
  if (team.size == 1) return;
  launch(dev, "exchange_rows",
         {std::max<std::int64_t>(1, ceil_div<std::int64_t>(rows.items, passes::block)), passes::block},
         exchange_rows<T, Rows>, rows, v, c, team, loop);
}

}  // namespace vouch
