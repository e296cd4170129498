// Proofs of batches of short tridiagonal systems on a GPU: by factors, by quick ones, and which of the ways a system goes.
#include <algorithm>
#include <memory>

#include <vouch/core/scratch.cuh>
#include <vouch/verify/tridiagonal/factors.hpp>
#include <vouch/verify/tridiagonal/quick_factors.cuh>
#include <vouch/verify/tridiagonal/short_systems.cuh>

namespace vouch::detail {

// ---- systems with factors ----

namespace {

// How many systems a block has at a time, and in how many chunks each.
struct factor_plan {
  std::int64_t systems, chunks, rows;  // an odd number a chunk: threads that step through them use other banks

  static constexpr std::int64_t least_rows = 17;

  static factor_plan of(std::int64_t n, int threads) {
    const std::int64_t chunks = n <= 24 ? 1 : std::min<std::int64_t>(ceil_div(n, least_rows), threads);
    const std::int64_t rows = chunks == 1 ? n : ceil_div(n, chunks) | 1;
    return {threads / chunks, chunks, rows};
  }
};

// The systems that a block has, one after another in shared memory. Transfers stand where pivots will.
struct factor_memory {
  double *dl, *d, *du, *pivot, *v, *base, *slope, *margin, *start;
  std::int64_t *offsets, *system;  // within the block; those that are factored
  int* count;                      // of those

  __device__ factor_memory(double* from, std::int64_t rows, int threads)
      : dl(from),
        d(dl + rows),
        du(d + rows),
        pivot(du + rows),
        v(pivot + rows),
        base(v + rows),
        slope(base + threads),
        margin(slope + threads),
        start(margin + threads),
        offsets(reinterpret_cast<std::int64_t*>(start + threads)),
        system(offsets + threads + 1),
        count(reinterpret_cast<int*>(system + threads)) {}
  static std::size_t bytes(std::int64_t rows, int threads) {
    return sizeof(double) * static_cast<std::size_t>(5 * rows + 6 * threads + 2);
  }
};

// All steps for `count` systems.
template <int Warps>
__device__ void factor(const tridiagonal_factors& of, std::int64_t count) {
  const std::int64_t k = threadIdx.x;
  const bool has_chunk = k < count * of.chunks, has_system = k<count, several = of.chunks> 1;
  if (has_chunk && several) tridiagonal_transfer_body{of}(k);
  sync_threads<Warps>();
  if (has_system) tridiagonal_start_body{of}(k);
  sync_threads<Warps>();
  if (has_chunk) tridiagonal_eliminate_body{of}(k);
  sync_threads<Warps>();
  if (has_system && several) tridiagonal_carry_down_body{of}(k);
  sync_threads<Warps>();
  if (has_chunk) tridiagonal_turn_body{of}(k);
  sync_threads<Warps>();
  if (has_system && several) tridiagonal_carry_up_body{of}(k);
  sync_threads<Warps>();
  if (has_chunk && several) tridiagonal_substitute_body{of}(k);
  sync_threads<Warps>();
  if (has_chunk) tridiagonal_delta_body{of}(k);
  sync_threads<Warps>();
  if (has_system) tridiagonal_margin_body{of}(k);
  sync_threads<Warps>();
}

// Keeps those systems in the list that have no margin yet.
template <int Warps>
__device__ int unproved(const factor_memory& memory, int systems) {
  sync_threads<Warps>();
  if (threadIdx.x == 0) {
    int count = 0;
    for (int k = 0; k < systems; ++k)
      if (!(memory.margin[k] > 0)) memory.system[count++] = k;
    *memory.count = count;
  }
  sync_threads<Warps>();
  return *memory.count;
}

// In chunks; in chunks of an even number of rows, which squares of two fill; whole.
template <int Warps>
__device__ void factor_until_proved(tridiagonal_factors of, const factor_memory& memory, int systems) {
  for (int attempt = 0; attempt < 3; ++attempt) {
    const int count = unproved<Warps>(memory, systems);
    if (count == 0 || (attempt > 0 && of.chunks == 1)) return;
    if (attempt == 1) of.rows += 1;
    if (attempt == 2) of.rows = of.shape.n, of.chunks = 1;
    factor<Warps>(of, count);
  }
}

// A block has some systems at a time, they and their factors in shared memory. Bound by the latency of
// divisions that follow one another.
template <int Warps>
__global__ void __launch_bounds__(32 * Warps)
    prove_with_factors(__grid_constant__ const short_systems task, __grid_constant__ const worklists lists,
                       std::int64_t count, __grid_constant__ const factor_plan plan) {
  constexpr int threads = 32 * Warps;
  extern __shared__ double raw_memory[];
  __shared__ bits_type parts[Warps];
  const int thread = static_cast<int>(threadIdx.x);
  const factor_memory memory(raw_memory, plan.systems * task.vectors.n, threads);
  ratio_tally of_ratios;
  radius_tally of_radii;
  for (std::int64_t c = std::int64_t{blockIdx.x} * plan.systems; c < count;
       c += std::int64_t{gridDim.x} * plan.systems) {
    const int systems = static_cast<int>(::min(plan.systems, count - c));
    if (thread == 0) memory.offsets[0] = 0;
    for (int k = 0; k < systems; ++k) {
      const located_system of(task, lists.remaining[c + k]);
      sync_threads<Warps>();
      const std::int64_t first = memory.offsets[k];
      if (thread == 0) memory.offsets[k + 1] = first + of.n, memory.margin[k] = 0;
      for (int i = thread; i < of.n; i += threads) {
        const std::int64_t at = of.in_A + i * task.A.shape.row_stride, to = first + i;
        copy_to_shared(memory.d + to, task.A.d + at);
        if (i > 0) copy_to_shared(memory.dl + to, task.A.dl + at);
        if (i + 1 < of.n) copy_to_shared(memory.du + to, task.A.du + at);
        memory.v[to] = 0;
      }
    }
    wait_copies_to_shared();
    const batch_shape shape{task.vectors.n, systems, 1, 0, memory.offsets};
    factor_until_proved<Warps>({{memory.dl, memory.d, memory.du, shape, false},
                                shape,
                                task.certificate.within,
                                false,
                                memory.system,
                                plan.rows,
                                plan.chunks,
                                memory.pivot,
                                memory.v,
                                memory.base,
                                memory.slope,
                                memory.margin,
                                memory.start,
                                memory.pivot,
                                0},
                               memory, systems);
    for (int k = 0; k < systems; ++k) {
      const std::int64_t s = lists.remaining[c + k], first = memory.offsets[k];
      const located_system of(task, s);
      const auto x = [&](std::int64_t i) { return task.x[of.in_vectors + i * of.stride]; };
      const double part = memory.margin[k];
      bits_type most = 0;
      for (int i = thread; i < of.n; i += threads) {
        const std::int64_t at = first + i, below = i > 0 ? 1 : 0, above = i + 1 < of.n ? 1 : 0;
        row_data<double> data{{below != 0 ? memory.dl[at] : 0, memory.d[at], above != 0 ? memory.du[at] : 0},
                              {x(i - below), x(i), x(i + above)},
                              {memory.v[at - below], memory.v[at], memory.v[at + above]},
                              task.b[of.at(i)],
                              {},
                              1};
        of.put_places(i, data);
        const certified_row<double> row = task.certificate.certify<double>(data, &part, false);
        of_ratios.add(row);
        most = ::max(most, bits_of(row.ratio));
      }
      most = largest_in_block<Warps>(most, parts);
      for (int i = thread; i < of.n; i += threads)
        store_radius(task.radius, task.certificate.x_lo, of.at(i), number_of(most), memory.v[first + i], x(i),
                     of_radii);
      if (thread == 0) task.ratio[s] = number_of(most);
      sync_threads<Warps>();  // parts, and at last all memory, go to the next system
    }
  }
  join_block<Warps>(of_ratios, &lists.all->ratios);
  join_block<Warps>(of_radii, &lists.all->radii);
  if (thread == 0) report_to_host(lists);
}

template <int Warps>
void launch_with_factors(const device& dev, const short_systems& task, const worklists& lists,
                         std::int64_t count) {
  constexpr int threads = 32 * Warps;
  const factor_plan plan = factor_plan::of(task.vectors.n, threads);
  const std::size_t bytes = factor_memory::bytes(plan.systems * task.vectors.n, threads);
  launch(dev, "prove_with_factors",
         resident_shape(dev, ceil_div(count, plan.systems), 16 / Warps, threads, bytes),
         prove_with_factors<Warps>, task, lists, count, plan);
}

}  // namespace

void prove_by_factors(const device& dev, const short_systems& task, const worklists& lists,
                      std::int64_t count) {
  if (task.vectors.n <= 512) return launch_with_factors<1>(dev, task, lists, count);
  if (task.vectors.n <= 1024) return launch_with_factors<2>(dev, task, lists, count);
  launch_with_factors<4>(dev, task, lists, count);
}

// ---- quick factors ----

namespace {

constexpr int warps_at_once = 10;

// The rows that a block has.
template <int Warps>
struct quick_memory {
  static constexpr int slots = 32 * Warps * rows_of_lane;
  double l[slots + 1], d[slots + 1], u[slots + 1], b[slots], x[slots];
  typename system_lanes<Warps>::memory lanes;
  std::int64_t next;  // the first system of those to come

  // What is read behind the last row.
  __device__ void put_guards() {
    if (threadIdx.x == 0) l[slots] = d[slots] = u[slots] = 0;
  }
};

// Of the rows of a system; zeros where it has none.
template <int Warps, bool Adjacent>
__device__ void begin_copies(const short_systems& task, const located_system& of, quick_memory<Warps>& to,
                             int first, int count) {
  constexpr int threads = 32 * Warps;
  const int thread = static_cast<int>(threadIdx.x);
  const std::int64_t in_A = Adjacent ? 1 : task.A.shape.row_stride;
  const std::int64_t in_vectors = Adjacent ? 1 : task.vectors.row_stride;
  const std::int64_t row = of.in_A + thread * in_A, place = of.in_vectors + thread * in_vectors;
  const double *const l = task.A.dl + row, *const d = task.A.d + row, *const u = task.A.du + row;
  const double *const b = task.b + place, *const x = task.x + place;
#pragma unroll(Adjacent ? rows_of_lane : 1)
  for (int k = 0; k < rows_of_lane; ++k) {
    const int i = k * threads + thread, at = first + i;
    if (i >= count) break;
    const bool present = i < of.n;
    copy_to_shared_or_clear(to.l + at, l + k * threads * in_A, present & (i > 0));
    copy_to_shared_or_clear(to.d + at, d + k * threads * in_A, present);
    copy_to_shared_or_clear(to.u + at, u + k * threads * in_A, i + 1 < of.n);
    copy_to_shared_or_clear(to.b + at, b + k * threads * in_vectors, present);
    copy_to_shared_or_clear(to.x + at, x + k * threads * in_vectors, present);
  }
}
template <int Warps>
__device__ void begin_copies(const short_systems& task, const located_system& of, quick_memory<Warps>& to,
                             int first, int count) {
  if (task.A.shape.row_stride == 1 && task.vectors.row_stride == 1)
    begin_copies<Warps, true>(task, of, to, first, count);
  else
    begin_copies<Warps, false>(task, of, to, first, count);
}

// Has the cache bring the rows of a system, that are to be copied next.
template <int Warps>
__device__ void expect(const short_systems& task, const located_system& of) {
  if (task.A.shape.row_stride != 1 || task.vectors.row_stride != 1) return;
  constexpr int line = 16;
  const auto bring = [&](const double* from) { asm volatile("prefetch.global.L2 [%0];" ::"l"(from)); };
  for (int i = static_cast<int>(threadIdx.x) * line; i < of.n; i += 32 * Warps * line) {
    bring(task.A.dl + of.in_A + i);
    bring(task.A.d + of.in_A + i);
    bring(task.A.du + of.in_A + i);
    bring(task.b + of.in_vectors + i);
    bring(task.x + of.in_vectors + i);
  }
}

// Behind the last row of a system: rows without neighbours, of the weight of its first row.
__device__ void complete(double* d, int left, double weight) {
#pragma unroll
  for (int k = 0; k < rows_of_lane; ++k)
    if (k >= left) d[k] = weight;
}

// left: rows from the first of the lane to the last of the system. Returns the largest ratio.
template <int Warps>
__device__ int measure(const quick_memory<Warps>& of, int first, const system_lanes<Warps>& lanes, int left,
                       quick_ratios& ratios) {
  const auto x_at = [&](int k) {
    const bool present = k >= 0 ? k < rows_of_lane || !lanes.last() : !lanes.first();
    return present ? of.x[first + k] : 0;
  };
  const auto data_of = [&](int k) {
    const int at = first + k;
    return row_data<double>{
        {of.l[at], of.d[at], of.u[at]}, {x_at(k - 1), x_at(k), x_at(k + 1)}, {}, of.b[at], {}, 1};
  };
#pragma unroll rows_together
  for (int k = 0; k < rows_of_lane; ++k) ratios.add(data_of(k), k);
  return ratios.largest(data_of, left);
}

template <int Warps>
__device__ void store_radii(const short_systems& task, const located_system& of, double ratio, const double* v,
                            const double* x, radius_tally& tally) {
  constexpr int threads = 32 * Warps;
  const int thread = static_cast<int>(threadIdx.x);
  const std::int64_t step = threads * task.vectors.row_stride;
  double* to = task.radius + of.in_vectors + thread * task.vectors.row_stride;
  quick_radii radii(ratio);
#pragma unroll rows_together
  for (int i = thread; i < of.n; i += threads, to += step) *to = radii.add(v[i], x[i]);
  if (thread < of.n) radii.put(tally);
}

// What a block has at a time, and next.
struct tile {
  std::int64_t first, system, next, next_system;  // the first place in the list, and what stands there
  int systems, left;  // left: rows from the first of this thread to the last of its system

  __device__ std::int64_t at(const worklists& lists, int k) const {
    return k == 0 ? system : lists.remaining[first + k];
  }
};

// Brings `width` systems from the first on, in `length` places each, and takes those to come.
template <int Warps>
__device__ void bring(const short_systems& task, const worklists& lists, std::int64_t count, int width,
                      int length, const system_lanes<Warps>& lanes, quick_memory<Warps>& memory, tile& of) {
  const int thread = static_cast<int>(threadIdx.x), row = thread * rows_of_lane;
  unsigned long long taken = 0;
  if (thread == 0) taken = atomicAdd(&lists.all->taken, static_cast<unsigned>(width));
  of.systems = static_cast<int>(::min(std::int64_t{width}, count - of.first));
  for (int k = 0; k < width; ++k) {
    located_system system(task, of.at(lists, ::min(k, of.systems - 1)));
    if (k >= of.systems) system.n = 0;
    begin_copies(task, system, memory, k * length, length);
    if (k == row / length) of.left = system.n - lanes.piece() * rows_of_lane;
  }
  if (thread == 0)
    memory.next = static_cast<std::int64_t>(gridDim.x) * width + static_cast<std::int64_t>(taken);
  wait_copies_to_shared();
  sync_threads<Warps>();
  const int origin = row - lanes.piece() * rows_of_lane;
  const double weight = fabs(memory.d[origin]) + (fabs(memory.l[origin]) + fabs(memory.u[origin]));
  of.next = memory.next;
  of.next_system = of.next < count ? lists.remaining[of.next] : 0;
  sync_threads<Warps>();
  complete(memory.d + row, of.left, weight > 0 ? weight : 1);
  sync_threads<Warps>();
}

// A warp has some systems at a time, or some warps have one, in shared memory, a thread 17 rows. Bound by the
// latency of operations that follow one another.
template <int Warps>
__global__ void __launch_bounds__(32 * Warps, warps_at_once / Warps)
    prove_with_quick_factors(__grid_constant__ const short_systems task,
                             __grid_constant__ const worklists lists, std::int64_t count, int pieces) {
  extern __shared__ double raw_memory[];
  auto& memory = *reinterpret_cast<quick_memory<Warps>*>(raw_memory);
  const int thread = static_cast<int>(threadIdx.x), width = 32 * Warps / pieces;
  const int length = pieces * rows_of_lane, row = thread * rows_of_lane;
  const system_lanes<Warps> lanes(memory.lanes, pieces);
  memory.put_guards();
  ratio_tally of_ratios;
  radius_tally of_radii;
  tile of{std::int64_t{blockIdx.x} * width, 0, 0, 0, 0, 0};
  if (of.first < count) of.system = lists.remaining[of.first];
  for (; of.first < count; of.first = of.next, of.system = of.next_system) {
    bring(task, lists, count, width, length, lanes, memory, of);
    quick_ratios ratios;
    const int own = measure(memory, row, lanes, of.left, ratios);
    for (int k = 0; k < width && of.next + k < count; ++k)
      expect<Warps>(task, located_system(task, k == 0 ? of.next_system : lists.remaining[of.next + k]));
    factored_piece piece(rows_in_memory{memory.l + row, memory.d + row, memory.u + row, memory.b + row}, lanes);
    const bool good = piece.find();
    const double ratio = quick_ratios::bound(lanes.largest(good ? own : quick_ratios::none));
    if (ratio < HUGE_VAL && of.left > 0) {
      ratios.put(ratio, of_ratios);
      of_ratios.about[1] = ::max(of_ratios.about[1], static_cast<unsigned>(piece.largest_v()));
    }
    sync_threads<Warps>();
    for (int k = 0; k < of.systems; ++k) {
      const std::int64_t s = of.at(lists, k);
      const double of_system = width > 1 ? __shfl_sync(~0u, ratio, k * pieces) : ratio;
      if (of_system < HUGE_VAL) {
        store_radii<Warps>(task, located_system(task, s), of_system, memory.l + k * length,
                           memory.x + k * length, of_radii);
        if (thread == 0) task.ratio[s] = of_system;
      } else if (thread == 0) {
        lists.marginal[atomicAdd(&lists.all->hard, 1ull)] = s;
      }
    }
    sync_threads<Warps>();  // the memory goes to the next systems
  }
  join_block<Warps>(of_ratios, &lists.all->ratios);
  join_block<Warps>(of_radii, &lists.all->radii);
  if (thread == 0) report_to_host(lists);
}

template <int Warps>
void launch_with_quick_factors(const device& dev, const short_systems& task, const worklists& lists,
                               std::int64_t count) {
  int pieces = Warps > 1 ? 32 * Warps : 1;
  while (pieces * rows_of_lane < task.vectors.n) pieces *= 2;
  const std::int64_t width = 32 * Warps / pieces;
  launch(dev, "prove_with_quick_factors",
         resident_shape(dev, ceil_div(count, width), warps_at_once / Warps, 32 * Warps,
                        sizeof(quick_memory<Warps>)),
         prove_with_quick_factors<Warps>, task, lists, count, pieces);
}

}  // namespace

bool quick_factors_apply(const short_systems& task) {
  return task.certificate.x_lo == nullptr && task.certificate.middle == nullptr &&
         !(task.certificate.within.matrix > 0) && !(task.certificate.within.rhs > 0);
}

void prove_by_quick_factors(const device& dev, const short_systems& task, const worklists& lists,
                            std::int64_t count) {
  static_assert(short_systems::most_rows <= quick_memory<4>::slots);
  if (task.vectors.n <= quick_memory<1>::slots) return launch_with_quick_factors<1>(dev, task, lists, count);
  if (task.vectors.n <= quick_memory<2>::slots) return launch_with_quick_factors<2>(dev, task, lists, count);
  launch_with_quick_factors<4>(dev, task, lists, count);
}

// ---- all of them ----

namespace {

// Pinned memory in which the device leaves its counters for a thread of the host; kept for its next call.
proof_counters* pinned_counters() {
  struct give_back {
    void operator()(proof_counters* memory) const { cudaFreeHost(memory); }
  };
  thread_local std::unique_ptr<proof_counters, give_back> kept;
  if (kept == nullptr) {
    void* memory = nullptr;
    check(cudaHostAlloc(&memory, sizeof(proof_counters), cudaHostAllocMapped | cudaHostAllocPortable),
          "allocating pinned memory");
    kept.reset(static_cast<proof_counters*>(memory));
  }
  return kept.get();
}

void prove_remaining(const device& dev, const short_systems& task, worklists lists, std::int64_t count) {
  if (quick_factors_apply(task)) {
    if (task.vectors.row_stride != 1)
      prove_by_quick_factors_tiled(dev, task, lists);
    else
      prove_by_quick_factors(dev, task, lists, count);
    dev.synchronize();
    count = static_cast<std::int64_t>(lists.host->hard);
    lists.remaining = lists.marginal;
  }
  if (count == 0) return;
  prove_by_factors(dev, task, lists, count);
  dev.synchronize();
}

}  // namespace

proof_totals prove_short_systems_cuda(const device& dev, const short_systems& task, bool with_factors) {
  const std::int64_t systems = task.vectors.systems;
  if (systems == 0) return {};
  constexpr std::int64_t words = sizeof(proof_counters) / sizeof(std::int64_t);
  const scratch<std::int64_t> memory(dev, words + 2 * systems);
  const worklists lists{memory.data() + words, memory.data() + words + systems,
                        reinterpret_cast<proof_counters*>(memory.data()), pinned_counters()};
  zero_bytes(dev, lists.all, sizeof(proof_counters));
  const bool in_tiles = task.vectors.row_stride != 1;
  (in_tiles ? prove_by_comparison_tiled : prove_by_comparison)(dev, task, lists);
  dev.synchronize();
  if (const auto count = static_cast<std::int64_t>(lists.host->marginal); count > 0) {
    (in_tiles ? prove_marginal_tiled : prove_marginal)(dev, task, lists, count);
    dev.synchronize();
  }
  const auto remaining = static_cast<std::int64_t>(lists.host->remaining);
  if (remaining > 0 && with_factors && !task.A.periodic) {
    prove_remaining(dev, task, lists, remaining);
  } else if (remaining > 0) {
    lists.host->ratios.flags |= 2u;
  }
  const proof_counters& found = *lists.host;
  return {as_ratios(found.ratios), {number(found.radii.most[0]), number(found.radii.most[1])}, remaining > 0};
}

}  // namespace vouch::detail
