#include <algorithm>
#include <functional>

#include <vouch/band/elimination.hpp>
#include <vouch/band/gpu/chunk.cuh>
#include <vouch/band/gpu/device_offsets.cuh>
#include <vouch/band/gpu/partition_engines.cuh>
#include <vouch/core/launch.cuh>
#include <vouch/core/scratch.cuh>
#include <vouch/core/transposed_copies.cuh>

namespace vouch::detail {
namespace {

// As many as shared memory has room for; more registers would not be of use.
constexpr int threads_a_multiprocessor = 576;

// ---- whole systems in a block

// A block solves `per_block` neighbouring systems: everything is read once and written once. Bound by memory.
template <real T, int Threads, bool Full, layout Layout>
__global__ void __launch_bounds__(Threads, threads_a_multiprocessor / Threads)
    solve_resident(band_task<T> task, slices of) {
  const int thread = static_cast<int>(threadIdx.x);
  of.system = std::int64_t{blockIdx.x} * of.count;
  const std::int64_t left = task.b.shape.systems - of.system;
  of.count = static_cast<int>(left < of.count ? left : of.count);
  of.end = task.b.shape.rows(of.system);
  if (of.end == 0) return;  // the whole block: unequal lengths have a block each
  chunk_solver<T, Threads, Full, Layout> solver(task, of, thread);
  const reduced_block<T> all = solver.reduce();
  boundary_unknowns<T> whole{};
  if (solver.works()) close(all, task.A.periodic, whole);
  if (!solver.fill(whole) && task.broken != nullptr) task.broken[solver.system()] = 1;
  solver.store(task.x, 0, of.end);
}

// ---- launchers

template <real T, int Threads, bool Full, layout Layout>
void launch_resident(const device& dev, const band_task<T>& task, const slices& of) {
  launch(dev, "solve_resident",
         {ceil_div<std::int64_t>(task.b.shape.systems, of.count), Threads, chunk_bytes<T, Full>(Threads)},
         solve_resident<T, Threads, Full, Layout>, task, of);
}

constexpr int least_threads = 96, most_threads = 384;

int threads_for(int segments) {
  int threads = least_threads;
  while (threads < segments) threads *= 2;
  return threads;
}

template <real T, layout Layout>
void launch_resident(const device& dev, const band_task<T>& task, const slices& of, int threads) {
  if (threads == least_threads) return launch_resident<T, least_threads, true, Layout>(dev, task, of);
  if (threads == most_threads) return launch_resident<T, most_threads, true, Layout>(dev, task, of);
  launch_resident<T, 2 * least_threads, true, Layout>(dev, task, of);
}

// Systems side by side: enough of them a block to fill the lines that memory moves.
template <real T>
void solve_across(const device& dev, const band_task<T>& task, int segments) {
  slices of;
  of.across = 16;
  while (of.across > 4 && segments * of.across > 2 * least_threads) of.across /= 2;
  while (segments * of.across > most_threads) of.across /= 2;
  const int threads = threads_for(segments * of.across);
  of.count = of.across;
  of.set_segments(threads / of.across);
  launch_resident<T, layout::across>(dev, task, of, threads);
}

// Blocks of few threads, so that many share a multiprocessor and hide each other's latencies.
template <real T>
void solve_whole_systems(const device& dev, const band_task<T>& task) {
  const batch_shape& shape = task.b.shape;
  int segments = static_cast<int>(ceil_div<std::int64_t>(shape.n, rows_a_thread));
  slices of;
  if (task.A.periodic) {
    of.set_segments(most_threads);
    return launch_resident<T, most_threads, false, layout::single>(dev, task, of);
  }
  if (shape.offsets == nullptr && shape.system_stride == 1 && shape.systems > 1)
    return solve_across(dev, task, segments);
  if (shape.offsets != nullptr || 2 * segments > least_threads) {
    const int threads = threads_for(segments);
    of.set_segments(threads);
    return launch_resident<T, layout::single>(dev, task, of, threads);
  }
  if (segments > 2) segments = ceil_div(segments, line_size<T>) * line_size<T>;
  of.set_segments(segments);
  of.count = least_threads / segments;
  while ((1 << of.sharing_shift) < shape.n / line_size<T> && of.sharing_shift < 5) ++of.sharing_shift;
  launch_resident<T, layout::in_line>(dev, task, of, least_threads);
}

// ---- copies of systems side by side, one after another

constexpr std::int64_t transposed_from = 2048;  // rows
constexpr std::int64_t gaps_from = 4606;        // rows: longer ones are solved faster where all begin in lines
template <real T>
constexpr std::int64_t slab_rows = (std::int64_t{32} << 20) /
                                   static_cast<std::int64_t>(sizeof(T));  // of a slab's systems together

/// Solves systems that lie side by side in all arrays, and are long enough for it to pay, slab by slab: `solve`
/// is called with a task of systems one after another.
///
/// Memory  168 MB at most, for the time of the work
/// Result  Whether it has done so; if not, nothing has been enqueued.
template <real T>
bool solve_transposed(const device& dev, const band_task<T>& task,
                      const std::function<void(const band_task<T>&)>& solve) {
  constexpr int least_systems = 16;  // of a slab, so that lines are worth moving
  const batch_shape &a = task.A.shape, &b = task.b.shape, &x = task.x.shape;
  for (const batch_shape* its : {&a, &b, &x})
    if (its->offsets != nullptr || its->system_stride != 1 || its->row_stride < its->systems) return false;
  const std::int64_t n = b.n, systems = b.systems, most = slab_rows<T> / n;
  if (task.A.periodic || n < transposed_from || systems < least_systems || most < least_systems) return false;
  const std::int64_t slabs = ceil_div(systems, most), each = ceil_div(systems, slabs);
  const std::int64_t pitch = n < gaps_from ? n : ceil_div<std::int64_t>(n, line_size<T>) * line_size<T>;
  const std::int64_t size = each * pitch;
  const scratch<T> room(dev, 5 * size);
  T* const copies[] = {room.data(), room.data() + size, room.data() + 2 * size, room.data() + 3 * size,
                       room.data() + 4 * size};
  for (std::int64_t first = 0; first < systems; first += each) {
    const std::int64_t count = std::min(each, systems - first);
    copy_transposed<T, 4>(dev,
                          {count,
                           n,
                           {task.A.dl + first, task.A.d + first, task.A.du + first, task.b.data + first},
                           {a.row_stride, a.row_stride, a.row_stride, b.row_stride},
                           {copies[0], copies[1], copies[2], copies[3]},
                           pitch},
                          4);
    const batch_shape shape{n, count, 1, pitch, nullptr};
    solve({{copies[0], copies[1], copies[2], shape, false},
           {copies[3], shape},
           {copies[4], shape},
           task.broken != nullptr ? task.broken + first : nullptr});
    copy_transposed<T, 1>(dev, {n, count, {copies[4]}, {pitch}, {task.x.data + first}, x.row_stride});
  }
  return true;
}

}  // namespace

template <real T>
const char* partition_cuda(const device& dev, const tridiagonal_view<const T>& A, const batch_view<const T>& b,
                           const batch_view<T>& x, int* broken, tridiagonal_workspace& workspace) {
  if (b.shape.systems == 0 || b.shape.n == 0) return "nothing to do";
  const device_offsets offsets(dev, b.shape.systems);
  const band_task<T> task{offsets.of(A), offsets.of(b), offsets.of(x), broken};
  const char* engine = "tiles of whole systems";
  if (!solve_in_contiguous_tiles(dev, A, b, x, task.x.shape.offsets, broken) &&
      !solve_in_tiles(dev, A, b, x, broken) && !solve_in_interleaved_tiles(dev, A, b, x, broken)) {
    engine = "whole systems in blocks";
    const auto solve_copies = [&](const band_task<T>& of) {
      partition_cuda(dev, of.A, of.b, of.x, of.broken, workspace);
    };
    if (solve_transposed(dev, task, {solve_copies}))
      engine = "copies one after another";
    else if (b.shape.n <= most_threads * rows_a_thread)
      solve_whole_systems(dev, task);
    else
      engine = solve_long_systems(dev, task, workspace);
  }
  if (offsets.any()) dev.synchronize();  // the offsets' copies go with this call
  return engine;
}

template const char* partition_cuda(const device&, const tridiagonal_view<const float>&,
                                    const batch_view<const float>&, const batch_view<float>&, int*,
                                    tridiagonal_workspace&);
template const char* partition_cuda(const device&, const tridiagonal_view<const double>&,
                                    const batch_view<const double>&, const batch_view<double>&, int*,
                                    tridiagonal_workspace&);

}  // namespace vouch::detail
