#include <algorithm>

#include <vouch/band/factored/factored_chunk.cuh>
#include <vouch/band/factored/factored_cuda.hpp>
#include <vouch/band/workspace_layout.hpp>
#include <vouch/core/launch.cuh>

namespace vouch::detail {
namespace {

constexpr int threads = factored_threads;

// How systems lie in blocks.
struct cutting {
  slices in;                          // every block, but where
  std::int64_t chunks = 1, kept = 0;  // of every system, and the rows that each answers for
  int halo = 0, reach = threads;
};

__device__ slices slices_of(const cutting& cut, const batch_shape& b, std::int64_t rows, std::int64_t item) {
  slices of = cut.in;
  of.system = item / cut.chunks * of.count;
  const std::int64_t left = b.systems - of.system;
  of.count = static_cast<int>(left < of.count ? left : of.count);
  of.begin = item % cut.chunks * cut.kept;
  of.end = of.begin + cut.kept < rows ? of.begin + cut.kept : rows;
  of.begin = of.begin > cut.halo ? of.begin - cut.halo : 0;
  of.end = of.end + cut.halo < rows ? of.end + cut.halo : rows;
  return of;
}

// A block solves its slices as if nothing lay beyond them, and keeps what is right. Bound by memory: three
// factors (two if symmetric) and b are read, x is written.
template <real T, bool Symmetric, layout Layout>
__global__ void __launch_bounds__(threads)
    solve_factored(factored_task<T> task, cutting cut, std::int64_t rows) {
  const int thread = static_cast<int>(threadIdx.x);
  const slices of = slices_of(cut, task.b.shape, rows, blockIdx.x);
  factored_chunk<T, Symmetric, Layout> work(dynamic_shared(), task, of, thread);
  work.reduce(cut.reach);
  work.fill(0, 0);
  const std::int64_t from = blockIdx.x % cut.chunks * cut.kept;
  work.store(task.x, from, from + cut.kept < rows ? from + cut.kept : rows);
}

// Of every chunk of every system: its affine map, and what comes into it.
template <real T>
struct affine_maps {
  T *out, *out_rhs, *first_behind, *first_before, *first_rhs;
  T *before, *behind;
};

// First pass. Bound by memory.
template <real T, bool Symmetric>
__global__ void __launch_bounds__(threads, Symmetric ? 4 : 3)
    reduce_factored(factored_task<T> task, cutting cut, std::int64_t rows, affine_maps<T> to) {
  const int thread = static_cast<int>(threadIdx.x);
  const slices of = slices_of(cut, task.b.shape, rows, blockIdx.x);
  factored_chunk<T, Symmetric, layout::single> work(dynamic_shared(), task, of, thread, true);
  const affine_map<T> here = work.reduce(cut.reach);
  if (thread == 0) {
    to.out[blockIdx.x] = here.out;
    to.out_rhs[blockIdx.x] = here.out_rhs;
    to.first_behind[blockIdx.x] = here.first_behind;
    to.first_before[blockIdx.x] = here.first_before;
    to.first_rhs[blockIdx.x] = here.first_rhs;
  }
}

constexpr int carrying_threads = 256, carried_together = 16,
              carrying_room = carrying_threads * (carried_together + 1);

// x -> factor x + rhs.
template <real T>
struct affine {
  T factor = 1, rhs = 0;
  __device__ T operator()(T x) const { return factor * x + rhs; }
  __device__ affine after(const affine& first) const { return {factor * first.factor, (*this)(first.rhs)}; }
};

// The maps of all threads below this one, one after another, and those of the whole block. For all threads.
template <real T>
__device__ affine<T> carried_into(affine<T> own, affine<T>& block) {
  constexpr int count = carrying_threads / 32;
  __shared__ affine<T> of_warps[count];
  const int lane = static_cast<int>(threadIdx.x) % 32, warp = static_cast<int>(threadIdx.x) / 32;
  const auto join_lower = [lane](affine<T>& map) {
#pragma unroll
    for (int d = 1; d < 32; d *= 2) {
      const affine<T> lower{__shfl_up_sync(~0u, map.factor, static_cast<unsigned>(d)),
                            __shfl_up_sync(~0u, map.rhs, static_cast<unsigned>(d))};
      if (lane >= d) map = map.after(lower);
    }
  };
  join_lower(own);
  __syncthreads();  // of_warps has been read
  if (lane == 31) of_warps[warp] = own;
  __syncthreads();
  affine<T> warps = of_warps[min(lane, count - 1)];
  join_lower(warps);
  const auto of_lane = [](const affine<T>& map, int source) {
    return affine<T>{__shfl_sync(~0u, map.factor, source), __shfl_sync(~0u, map.rhs, source)};
  };
  block = of_lane(warps, count - 1);
  const affine<T> warps_below = of_lane(warps, max(warp - 1, 0)), below = of_lane(own, max(lane - 1, 0));
  affine<T> into;
  if (warp > 0) into = warps_below;
  if (lane > 0) into = below.after(into);
  return into;
}

// Between the passes: a block a system, a thread so many neighbouring chunks at a time, down and then up. Maps
// come through shared memory, so that neighbouring threads read neighbouring ones. Bound by latency.
template <real T>
__global__ void __launch_bounds__(carrying_threads) carry_factored(std::int64_t chunks, affine_maps<T> all) {
  constexpr int together = carried_together, step = carrying_threads * together;
  T* const factors = reinterpret_cast<T*>(dynamic_shared());  // room for one more between those of threads
  T* const sources = factors + carrying_room;
  const std::int64_t begin = blockIdx.x * chunks, end = begin + chunks - 1;
  const int thread = static_cast<int>(threadIdx.x);
  // The map of the chunk that lies so far from where the way begins is map_of(k); put(k, what comes into it).
  const auto carry = [&](const auto& map_of, const auto& put) {
    T carried = 0;
    affine<T> next[together];
    const auto load = [&](std::int64_t base) {
#pragma unroll
      for (int j = 0; j < together; ++j) {
        const std::int64_t k = base + thread + j * carrying_threads;
        next[j] = k < chunks ? map_of(k) : affine<T>{};
      }
    };
    load(0);
    for (std::int64_t base = 0; base < chunks; base += step) {
      const auto place = [&](int k) { return k + k / together; };
#pragma unroll
      for (int j = 0; j < together; ++j) {
        factors[place(thread + j * carrying_threads)] = next[j].factor;
        sources[place(thread + j * carrying_threads)] = next[j].rhs;
      }
      load(base + step);
      __syncthreads();
      T* const own_factors = factors + thread * (together + 1);
      T* const own_sources = sources + thread * (together + 1);
      affine<T> own, block;
#pragma unroll
      for (int j = 0; j < together; ++j) own = affine<T>{own_factors[j], own_sources[j]}.after(own);
      T into = carried_into(own, block)(carried);
#pragma unroll
      for (int j = 0; j < together; ++j) {
        const T out = affine<T>{own_factors[j], own_sources[j]}(into);
        own_sources[j] = into;
        into = out;
      }
      carried = block(carried);
      __syncthreads();
#pragma unroll
      for (int j = 0; j < together; ++j) {
        const std::int64_t k = base + thread + j * carrying_threads;
        if (k < chunks) put(k, sources[place(thread + j * carrying_threads)]);
      }
      __syncthreads();
    }
  };
  carry(
      [&](std::int64_t k) {
        return affine<T>{all.out[begin + k], all.out_rhs[begin + k]};
      },
      [&](std::int64_t k, T into) { all.before[begin + k] = into; });
  carry(
      [&](std::int64_t k) {
        const std::int64_t c = end - k;
        return affine<T>{all.first_behind[c], all.first_rhs[c] + all.first_before[c] * all.before[c]};
      },
      [&](std::int64_t k, T into) { all.behind[end - k] = into; });
}

// Second pass: the same rows again, those that came last first. Bound by memory.
template <real T, bool Symmetric>
__global__ void __launch_bounds__(threads, Symmetric ? 4 : 3)
    fill_factored(factored_task<T> task, cutting cut, std::int64_t rows, affine_maps<T> from) {
  const int thread = static_cast<int>(threadIdx.x);
  const std::int64_t item = gridDim.x - 1 - blockIdx.x;
  const slices of = slices_of(cut, task.b.shape, rows, item);
  __shared__ T known[2];  // comes with the rows
  if (thread == 0) {
    copy_to_shared(known, from.before + item);
    copy_to_shared(known + 1, from.behind + item);
  }
  factored_chunk<T, Symmetric, layout::single> work(dynamic_shared(), task, of, thread, true);
  work.reduce(cut.reach);
  work.fill(known[0], known[1]);
  work.store(task.x, of.begin, of.end);
}

int segments_of(std::int64_t rows) { return static_cast<int>(ceil_div<std::int64_t>(rows, rows_a_thread)); }

bool side_by_side(const batch_shape& b) { return b.system_stride == 1 && b.systems > 1; }

template <real T>
cutting whole_systems(const batch_shape& b, std::int64_t rows) {
  cutting cut;
  cut.kept = rows;
  const int segments = segments_of(rows);
  cut.in.count = threads / segments;
  cut.in.set_segments(segments);
  if (side_by_side(b)) {
    while ((cut.in.count & (cut.in.count - 1)) != 0) cut.in.count &= cut.in.count - 1;
    cut.in.across = cut.in.count;
    cut.in.set_segments(threads / cut.in.count);
  }
  while ((1 << cut.in.sharing_shift) < rows / line_size<T> && cut.in.sharing_shift < 6) ++cut.in.sharing_shift;
  return cut;
}

cutting chunks_of(std::int64_t rows, std::int64_t kept) {
  cutting cut;
  cut.in.set_segments(threads);
  cut.kept = kept;
  cut.chunks = ceil_div(rows, kept);
  return cut;
}

template <real T, bool Symmetric>
void solve_in_two_passes(const device& dev, const factored_task<T>& task, std::int64_t rows,
                         tridiagonal_workspace& workspace) {
  const cutting cut = chunks_of(rows, factored_rows);
  const std::int64_t systems = task.b.shape.systems, blocks = systems * cut.chunks;
  affine_maps<T> all{};
  lay_out_workspace(dev, workspace, [&](workspace_layout& parts) {
    for (T** of : {&all.out, &all.out_rhs, &all.first_behind, &all.first_before, &all.first_rhs, &all.before,
                   &all.behind})
      parts.add(of, blocks);
  });
  const launch_shape shape{blocks, threads, unlimited_bytes<T>(Symmetric)};
  launch(dev, "reduce_factored", shape, reduce_factored<T, Symmetric>, task, cut, rows, all);
  launch(dev, "carry_factored", {systems, carrying_threads, 2 * sizeof(T) * carrying_room}, carry_factored<T>,
         cut.chunks, all);
  launch(dev, "fill_factored", shape, fill_factored<T, Symmetric>, task, cut, rows, all);
}

template <real T, bool Symmetric>
void solve_as(const device& dev, const typename factored_tridiagonal<T>::storage& kept,
              const factored_task<T>& task) {
  const std::int64_t systems = task.b.shape.systems, rows = kept.rows;
  const std::size_t bytes = factored_bytes<T>(Symmetric);
  const auto start = [&](const char* name, auto* kernel, const cutting& cut) {
    launch(dev, name, {ceil_div<std::int64_t>(systems, cut.in.count) * cut.chunks, threads, bytes}, kernel,
           task, cut, rows);
  };
  if (rows <= factored_rows) {
    const cutting cut = whole_systems<T>(task.b.shape, rows);
    if (side_by_side(task.b.shape))
      return start("solve_factored", solve_factored<T, Symmetric, layout::across>, cut);
    return start("solve_factored", solve_factored<T, Symmetric, layout::in_line>, cut);
  }
  if (kept.decay > widest_shared_halo)
    return solve_in_two_passes<T, Symmetric>(dev, task, rows, *kept.workspace);
  const int halo_segments = segments_of(kept.decay), halo = ceil_div(halo_segments * rows_a_thread, 4) * 4;
  cutting cut = chunks_of(rows, factored_rows - 2 * halo);
  cut.halo = halo;
  cut.reach = halo_segments;
  start("solve_factored", solve_factored<T, Symmetric, layout::single>, cut);
}

}  // namespace

bool gpu_can_use_factors(std::int64_t rows, std::int64_t decay, bool bounded) {
  return rows <= factored_rows || decay <= widest_shared_halo || bounded;
}

template <real T>
void solve_factored_cuda(const device& dev, const typename factored_tridiagonal<T>::storage& kept,
                         const batch_view<const T>& b, const batch_view<T>& x) {
  factored_task<T> task{kept.view(), b, x, b.shape.systems / kept.shape.systems};
  const run_plan plan = plan_of_runs<T>(dev, kept, b.shape);
  const bool halos = plan == run_plan::halos ||
                     (plan == run_plan::none && kept.rows > factored_rows && kept.decay <= widest_shared_halo);
  if (halos && b.data == x.data) {  // a chunk would read its neighbour's answer
    const std::int64_t bytes = b.shape.extent() * static_cast<std::int64_t>(sizeof(T));
    T* const copy = static_cast<T*>(kept.workspace->bytes(dev, bytes));
    check(cudaMemcpyAsync(copy, b.data, static_cast<std::size_t>(bytes), cudaMemcpyDeviceToDevice,
                          static_cast<cudaStream_t>(dev.stream())),
          "copying a right-hand side");
    task.b.data = copy;
  }
  if (plan != run_plan::none) return solve_in_runs(dev, plan, kept, task);
  if (kept.symmetric) return solve_as<T, true>(dev, kept, task);
  solve_as<T, false>(dev, kept, task);
}

template void solve_factored_cuda(const device&, const factored_tridiagonal<float>::storage&,
                                  const batch_view<const float>&, const batch_view<float>&);
template void solve_factored_cuda(const device&, const factored_tridiagonal<double>::storage&,
                                  const batch_view<const double>&, const batch_view<double>&);

}  // namespace vouch::detail
