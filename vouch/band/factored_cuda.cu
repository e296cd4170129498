#include <algorithm>

#include <vouch/band/chunk.cuh>
#include <vouch/band/factored_cuda.hpp>
#include <vouch/core/launch.cuh>

namespace vouch::detail {
namespace {

constexpr int threads = 128;
constexpr int rows_of_block = threads * rows_a_thread;
constexpr int widest_halo = 32;  // threads on either side

template <real T>
struct factored_task {
  factor_view<T> factors;
  batch_view<const T> b;
  batch_view<T> x;
  std::int64_t rhs_a_matrix;
};

// y -> factor * y + rhs.
template <real T>
struct affine {
  T factor, rhs;
};

template <real T>
struct factored_chunk {
  T *lower, *inverse, *upper, *f;
  affine<T>* maps;

  __device__ explicit factored_chunk(unsigned char* shared) {
    lower = reinterpret_cast<T*>(shared);
    inverse = lower + rows_of_block;
    upper = inverse + rows_of_block;
    f = upper + rows_of_block;
    maps = reinterpret_cast<affine<T>*>(f + rows_of_block);
  }
};

template <real T>
constexpr std::size_t factored_bytes = sizeof(T) * (4 * rows_of_block + 2 * threads);

template <real T>
__device__ void load_factored(const factored_task<T>& task, const segments& of, const factored_chunk<T>& to,
                              int thread) {
  const batch_shape& shape = task.factors.shape;
  for_rows(of, thread, threads, [&](int g, int i) {
    const std::int64_t s = of.system + g, row = of.begin + i;
    const std::int64_t at = shape.at(s / task.rhs_a_matrix, row < shape.n ? row : shape.n - 1);
    const int place = g * of.threads * rows_a_thread + i;
    copy_to_shared(to.lower + place, task.factors.lower + at);
    copy_to_shared(to.inverse + place, task.factors.inverse + at);
    copy_to_shared(to.upper + place, task.factors.upper + at);
    copy_to_shared(to.f + place, task.b.data + task.b.shape.at(s, row));
  });
  await_rows();
}

// What comes into a thread's piece from the pieces before it in its segment (behind it, if upward), where
// nothing comes into the first. A scan over the segment's threads.
template <real T>
__device__ T incoming(affine<T>* maps, const segments& of, const piece_place& at, affine<T> own, bool upward,
                      int thread) {
  const int place = upward ? of.threads - 1 - at.piece : at.piece, sign = upward ? 1 : -1;
  maps[thread] = own;
  __syncthreads();
  for (int step = 1; step < of.threads; step *= 2) {
    const bool joins = place >= step && at.segment < of.count;
    if (joins) {
      const affine<T> before = maps[thread + sign * step];
      own = {own.factor * before.factor, own.factor * before.rhs + own.rhs};
    }
    __syncthreads();
    maps[thread] = own;
    __syncthreads();
  }
  return place > 0 && at.segment < of.count ? maps[thread + sign].rhs : T{0};
}

// A block solves its segments: y down, x up, each thread first with nothing coming in, then with what does.
// Rows outside keep_from ... keep_to are halo. Bound by memory: three factors and b are read, x is written.
template <real T>
__global__ void __launch_bounds__(threads)
    solve_factored(factored_task<T> task, int per_block, int segment_threads, int across, std::int64_t chunks,
                   std::int64_t kept, int halo, std::int64_t n) {
  const int thread = static_cast<int>(threadIdx.x);
  const std::int64_t c = blockIdx.x % chunks;
  segments of;
  of.system = blockIdx.x / chunks * per_block;
  const std::int64_t left = task.b.shape.systems - of.system;
  of.count = static_cast<int>(left < per_block ? left : per_block);
  of.threads = segment_threads;
  of.across = across;
  const std::int64_t keep_from = c * kept, keep_to = keep_from + kept < n ? keep_from + kept : n;
  of.begin = keep_from > halo ? keep_from - halo : 0;
  of.end = keep_to + halo < n ? keep_to + halo : n;
  const factored_chunk<T> rows(dynamic_shared());
  load_factored(task, of, rows, thread);
  const piece_place at(of, thread);
  const int end = at.first + at.count;

  affine<T> down{T{1}, T{0}};
  for (int i = at.first; i < end; ++i)
    down = {-rows.lower[i] * down.factor, rows.inverse[i] * rows.f[i] - rows.lower[i] * down.rhs};
  T carried = incoming(rows.maps, of, at, down, false, thread);
  for (int i = at.first; i < end; ++i) {
    carried = rows.inverse[i] * rows.f[i] - rows.lower[i] * carried;
    rows.f[i] = carried;
  }
  affine<T> up{T{1}, T{0}};
  for (int i = end - 1; i >= at.first; --i)
    up = {-rows.upper[i] * up.factor, rows.f[i] - rows.upper[i] * up.rhs};
  __syncthreads();  // maps are read no more
  carried = incoming(rows.maps, of, at, up, true, thread);
  for (int i = end - 1; i >= at.first; --i) {
    carried = rows.f[i] - rows.upper[i] * carried;
    rows.f[i] = carried;
  }
  __syncthreads();
  for_rows(of, thread, threads, [&](int g, int i) {
    const std::int64_t row = of.begin + i;
    if (row >= keep_from && row < keep_to)
      task.x(of.system + g, row) = rows.f[g * of.threads * rows_a_thread + i];
  });
}

int halo_of(std::int64_t decay) {
  return static_cast<int>(ceil_div<std::int64_t>(decay, rows_a_thread)) * rows_a_thread;
}

}  // namespace

bool solves_in_place(std::int64_t rows) { return rows <= rows_of_block; }

bool factors_fit_chunks(std::int64_t rows, std::int64_t decay) {
  return solves_in_place(rows) || decay <= widest_halo * rows_a_thread;
}

template <real T>
void solve_factored_cuda(const device& dev, const factor_view<T>& factors, std::int64_t rows,
                         std::int64_t decay, const batch_view<const T>& b, const batch_view<T>& x) {
  const std::int64_t systems = b.shape.systems;
  const factored_task<T> task{factors, b, x, systems / factors.shape.systems};
  if (!solves_in_place(rows)) {
    const int halo = halo_of(decay);
    const std::int64_t kept = rows_of_block - 2 * halo, chunks = ceil_div(rows, kept);
    launch(dev, "solve_factored", {systems * chunks, threads, factored_bytes<T>}, solve_factored<T>, task, 1,
           threads, 0, chunks, kept, halo, rows);
    return;
  }
  const int segment = static_cast<int>(ceil_div<std::int64_t>(rows, rows_a_thread));
  const bool across = b.shape.system_stride == 1 && systems > 1;
  int per_block = threads / segment;
  if (across)
    while ((per_block & (per_block - 1)) != 0) per_block &= per_block - 1;
  launch(dev, "solve_factored", {ceil_div<std::int64_t>(systems, per_block), threads, factored_bytes<T>},
         solve_factored<T>, task, per_block, segment, across ? per_block : 0, std::int64_t{1}, rows, 0, rows);
}

template void solve_factored_cuda(const device&, const factor_view<float>&, std::int64_t, std::int64_t,
                                  const batch_view<const float>&, const batch_view<float>&);
template void solve_factored_cuda(const device&, const factor_view<double>&, std::int64_t, std::int64_t,
                                  const batch_view<const double>&, const batch_view<double>&);

}  // namespace vouch::detail
