#include <vouch/verify/tridiagonal/factors.hpp>
#include <vouch/verify/tridiagonal/short_systems.cuh>

namespace vouch::detail {
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

}  // namespace vouch::detail
