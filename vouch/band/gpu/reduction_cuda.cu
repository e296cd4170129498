#include <algorithm>
#include <bit>
#include <utility>

#include <vouch/band/elimination.hpp>
#include <vouch/band/gpu/device_offsets.cuh>
#include <vouch/band/reduction_row.hpp>
#include <vouch/core/launch.cuh>

namespace vouch::detail {
namespace {

constexpr unsigned block = 256;

template <real T>
struct systems_task {
  tridiagonal_view<const T> A;
  batch_view<const T> b;
  batch_view<T> x;

  // A system and a number in 0 ... of - 1, for each thread; system is negative where there is none.
  __device__ void place(std::int64_t of, std::int64_t& system, std::int64_t& k) const {
    const std::int64_t thread = std::int64_t{blockIdx.x} * block + threadIdx.x;
    system = thread / of < b.shape.systems ? thread / of : -1;
    k = thread % of;
  }
};

// A thread a system, down and up. Neighbouring threads keep what they need later side by side; bound by latency
// unless systems are interleaved and many.
template <real T>
__global__ void __launch_bounds__(block) thomas(systems_task<T> task, T* kept) {
  const std::int64_t systems = task.b.shape.systems, s = std::int64_t{blockIdx.x} * block + threadIdx.x;
  if (s >= systems) return;
  const std::int64_t n = task.b.shape.rows(s);
  T up = 0, y = 0;
  for (std::int64_t i = 0; i < n; ++i) {
    const std::int64_t at = task.A.shape.at(s, i);
    const T a = i > 0 ? task.A.dl[at] : T{0}, inverse = T{1} / (task.A.d[at] - a * up);
    y = (task.b(s, i) - a * y) * inverse;
    up = i + 1 < n ? task.A.du[at] * inverse : T{0};
    task.x(s, i) = y;
    kept[i * systems + s] = up;
  }
  for (std::int64_t i = n - 2; i >= 0; --i) {
    y = task.x(s, i) - kept[i * systems + s] * y;
    task.x(s, i) = y;
  }
}

// The rows of all systems, one after another, what is not used as zeros.
template <real T>
__global__ void __launch_bounds__(block) load_systems(systems_task<T> task, reduction_view<T> rows) {
  std::int64_t s, i;
  task.place(task.b.shape.n, s, i);
  if (s < 0 || i >= task.b.shape.rows(s)) return;
  const std::int64_t at = task.A.shape.at(s, i), to = s * task.b.shape.n + i;
  rows.a[to] = i > 0 ? task.A.dl[at] : T{0};
  rows.d[to] = task.A.d[at];
  rows.c[to] = i + 1 < task.b.shape.rows(s) ? task.A.du[at] : T{0};
  rows.f[to] = task.b(s, i);
}

template <real T>
__device__ reduction_view<T> system_of(const reduction_view<T>& all, std::int64_t s, std::int64_t n) {
  return {all.a + s * n, all.d + s * n, all.c + s * n, all.f + s * n};
}

// One level down: the rows first, first + stride, ... lose their neighbours at a distance of step.
template <real T>
__global__ void __launch_bounds__(block)
    reduce_level(systems_task<T> task, reduction_view<T> from, reduction_view<T> to, std::int64_t first,
                 std::int64_t stride, std::int64_t step, std::int64_t of) {
  std::int64_t s, k;
  task.place(of, s, k);
  const std::int64_t i = first + k * stride, longest = task.b.shape.n;
  if (s < 0 || i >= task.b.shape.rows(s)) return;
  reduce_row(system_of(from, s, longest), system_of(to, s, longest), i, step, task.b.shape.rows(s));
}

// One level up: the unknowns first, first + stride, ...
template <real T>
__global__ void __launch_bounds__(block)
    substitute_level(systems_task<T> task, reduction_view<T> rows, std::int64_t first, std::int64_t stride,
                     std::int64_t step, std::int64_t of) {
  std::int64_t s, k;
  task.place(of, s, k);
  const std::int64_t i = first + k * stride;
  if (s < 0 || i >= task.b.shape.rows(s)) return;
  substitute_row(system_of(rows, s, task.b.shape.n), i, step, task.b.shape.rows(s),
                 task.x.data + task.x.shape.at(s, 0), task.x.shape.row_stride);
}

launch_shape for_each(std::int64_t count) { return {ceil_div<std::int64_t>(count, block), block}; }

template <real T>
reduction_view<T> rows_in(void* memory, std::int64_t size) {
  T* first = static_cast<T*>(memory);
  return {first, first + size, first + 2 * size, first + 3 * size};
}

template <real T>
std::int64_t bytes_of(std::int64_t numbers) {
  return numbers * static_cast<std::int64_t>(sizeof(T));
}

}  // namespace

template <real T>
void thomas_cuda(const device& dev, const tridiagonal_view<const T>& A, const batch_view<const T>& b,
                 const batch_view<T>& x, tridiagonal_workspace& workspace) {
  const device_offsets offsets(dev, b.shape.systems);
  T* kept = static_cast<T*>(workspace.bytes(dev, bytes_of<T>(b.shape.systems * b.shape.n)));
  launch(dev, "thomas", for_each(b.shape.systems), thomas<T>,
         systems_task<T>{offsets.of(A), offsets.of(b), offsets.of(x)}, kept);
  if (offsets.any()) dev.synchronize();
}

template <real T>
void cyclic_reduction_cuda(const device& dev, const tridiagonal_view<const T>& A, const batch_view<const T>& b,
                           const batch_view<T>& x, tridiagonal_workspace& workspace) {
  const std::int64_t n = b.shape.n, systems = b.shape.systems;
  if (n * systems == 0) return;
  const device_offsets offsets(dev, systems);
  const systems_task<T> task{offsets.of(A), offsets.of(b), offsets.of(x)};
  const auto rows = rows_in<T>(workspace.bytes(dev, 4 * bytes_of<T>(systems * n)), systems * n);
  launch(dev, "load_systems", for_each(systems * n), load_systems<T>, task, rows);
  for (std::int64_t step = 1; 2 * step - 1 < n; step *= 2) {
    const std::int64_t of = ceil_div(n - (2 * step - 1), 2 * step);
    launch(dev, "reduce_level", for_each(systems * of), reduce_level<T>, task, rows, rows, 2 * step - 1,
           2 * step, step, of);
  }
  for (auto step = static_cast<std::int64_t>(std::bit_floor(static_cast<std::uint64_t>(n))); step > 0;
       step /= 2) {
    const std::int64_t of = ceil_div(n - (step - 1), 2 * step);
    launch(dev, "substitute_level", for_each(systems * of), substitute_level<T>, task, rows, step - 1, 2 * step,
           step, of);
  }
  if (offsets.any()) dev.synchronize();
}

template <real T>
void pcr_cuda(const device& dev, const tridiagonal_view<const T>& A, const batch_view<const T>& b,
              const batch_view<T>& x, tridiagonal_workspace& workspace) {
  const std::int64_t n = b.shape.n, systems = b.shape.systems, size = systems * n;
  if (size == 0) return;
  const device_offsets offsets(dev, systems);
  const systems_task<T> task{offsets.of(A), offsets.of(b), offsets.of(x)};
  T* memory = static_cast<T*>(workspace.bytes(dev, 8 * bytes_of<T>(size)));
  auto rows = rows_in<T>(memory, size), next = rows_in<T>(memory + 4 * size, size);
  launch(dev, "load_systems", for_each(size), load_systems<T>, task, rows);
  for (std::int64_t step = 1; step < n; step *= 2) {
    launch(dev, "reduce_level", for_each(size), reduce_level<T>, task, rows, next, std::int64_t{0},
           std::int64_t{1}, step, n);
    std::swap(rows, next);
  }
  launch(dev, "substitute_level", for_each(size), substitute_level<T>, task, rows, std::int64_t{0},
         std::int64_t{1}, n, n);
  if (offsets.any()) dev.synchronize();
}

template void thomas_cuda(const device&, const tridiagonal_view<const float>&, const batch_view<const float>&,
                          const batch_view<float>&, tridiagonal_workspace&);
template void thomas_cuda(const device&, const tridiagonal_view<const double>&, const batch_view<const double>&,
                          const batch_view<double>&, tridiagonal_workspace&);
template void cyclic_reduction_cuda(const device&, const tridiagonal_view<const float>&,
                                    const batch_view<const float>&, const batch_view<float>&,
                                    tridiagonal_workspace&);
template void cyclic_reduction_cuda(const device&, const tridiagonal_view<const double>&,
                                    const batch_view<const double>&, const batch_view<double>&,
                                    tridiagonal_workspace&);
template void pcr_cuda(const device&, const tridiagonal_view<const float>&, const batch_view<const float>&,
                       const batch_view<float>&, tridiagonal_workspace&);
template void pcr_cuda(const device&, const tridiagonal_view<const double>&, const batch_view<const double>&,
                       const batch_view<double>&, tridiagonal_workspace&);

}  // namespace vouch::detail
