#include <algorithm>

#include <vouch/band/transposed.cuh>
#include <vouch/core/launch.cuh>
#include <vouch/core/scratch.cuh>

namespace vouch::detail {
namespace {

constexpr int tile = 64, transposing_threads = 256;  // a block moves tiles of 64 x 64
constexpr std::int64_t transposed_from = 2048;       // rows
constexpr std::int64_t gaps_from = 4606;  // rows: longer ones are solved faster where all begin in lines
template <real T>
constexpr std::int64_t slab_rows = (std::int64_t{32} << 20) /
                                   static_cast<std::int64_t>(sizeof(T));  // of a slab's systems together

// Matrices with rows from_pitch apart, to be written with columns to_pitch apart.
template <real T>
struct transposing {
  const T* from[4];
  T* to[4];
  std::int64_t from_pitch[4], to_pitch[4];
  std::int64_t rows, columns, row_tiles, column_tiles;
};

// A tile a block, through shared memory. Bound by memory.
template <real T>
__global__ void __launch_bounds__(transposing_threads)
    transpose_tiles(const __grid_constant__ transposing<T> of) {
  __shared__ T held[tile][tile + 1];
  const std::int64_t tiles = of.row_tiles * of.column_tiles;
  const int array = static_cast<int>(blockIdx.x / tiles);
  const std::int64_t index = blockIdx.x - array * tiles, row_tile = index / of.column_tiles;
  const std::int64_t row = row_tile * tile, column = (index - row_tile * of.column_tiles) * tile;
  const int lane = static_cast<int>(threadIdx.x) % tile, line = static_cast<int>(threadIdx.x) / tile;
  const T* const from = of.from[array] + row * of.from_pitch[array] + column;
  T* const to = of.to[array] + column * of.to_pitch[array] + row;
#pragma unroll
  for (int k = line; k < tile; k += transposing_threads / tile)
    if (row + k < of.rows && column + lane < of.columns) held[k][lane] = from[k * of.from_pitch[array] + lane];
  __syncthreads();
#pragma unroll
  for (int k = line; k < tile; k += transposing_threads / tile)
    if (column + k < of.columns && row + lane < of.rows) to[k * of.to_pitch[array] + lane] = held[lane][k];
}

template <real T>
void transpose(const device& dev, transposing<T> of, int arrays) {
  of.row_tiles = ceil_div<std::int64_t>(of.rows, tile);
  of.column_tiles = ceil_div<std::int64_t>(of.columns, tile);
  launch(dev, "transpose_tiles", {of.row_tiles * of.column_tiles * arrays, transposing_threads},
         transpose_tiles<T>, of);
}

}  // namespace

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
    transposing<T> in{{task.A.dl + first, task.A.d + first, task.A.du + first, task.b.data + first},
                      {copies[0], copies[1], copies[2], copies[3]},
                      {a.row_stride, a.row_stride, a.row_stride, b.row_stride},
                      {pitch, pitch, pitch, pitch},
                      n,
                      count,
                      0,
                      0};
    transpose(dev, in, 4);
    const batch_shape shape{n, count, 1, pitch, nullptr};
    solve({{copies[0], copies[1], copies[2], shape, false},
           {copies[3], shape},
           {copies[4], shape},
           task.broken != nullptr ? task.broken + first : nullptr});
    transpose(dev, transposing<T>{{copies[4]}, {task.x.data + first}, {pitch}, {x.row_stride}, count, n, 0, 0},
              1);
  }
  return true;
}

template bool solve_transposed(const device&, const band_task<float>&,
                               const std::function<void(const band_task<float>&)>&);
template bool solve_transposed(const device&, const band_task<double>&,
                               const std::function<void(const band_task<double>&)>&);

}  // namespace vouch::detail
