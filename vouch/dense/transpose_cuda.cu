#include <cstdint>

#include <vouch/core/launch.cuh>
#include <vouch/dense/transpose_cuda.hpp>
#include <vouch/dense/transpose_elements.cuh>

namespace vouch::detail {
namespace {

// A tile of A that a block copies, and its threads; a warp takes 32 neighbours of a column.
template <class E, bool Shifted>
struct tile {
  static constexpr int rows = sizeof(E) == 16 ? 32 : sizeof(E) == 4 && Shifted ? 128 : 64;
  static constexpr int columns = sizeof(E) == 16 ? 32 : 64;
  static constexpr int threads = 8 * columns, warps = threads / 32;
  static constexpr int blocks = rows == 128 ? 3 : 2048 / threads;  // a multiprocessor
};

// So many rows and columns of a matrix, from row i0 and column j0 on, in the registers of a block of so many
// warps.
template <class E, int Rows, int Columns, int Warps>
struct strip {
  static constexpr int turns = (Columns + Warps - 1) / Warps, parts = Rows / 32;
  E entry[turns][parts];

  // body(entry, row, column) of all in the strip.
  template <class Body>
  __device__ void each(const Body& body) {
    const int lane = static_cast<int>(threadIdx.x) % 32, warp = static_cast<int>(threadIdx.x) / 32;
#pragma unroll
    for (int k = 0; k < turns; ++k)
#pragma unroll
      for (int p = 0; p < parts; ++p)
        if (const int j = warp + k * Warps; j < Columns) body(entry[k][p], 32 * p + lane, j);
  }
  __device__ void read(element_grid<const E> A, std::int64_t i0, std::int64_t j0) {
    each([&](E& value, int i, int j) {
      if (i0 + i < A.rows && j0 + j < A.cols) value = A.data[i0 + i + (j0 + j) * A.ld];
    });
  }
};

// A block copies a tile through shared memory: one more row than there is there, so that neither rows nor
// columns meet in a bank. Memory is written 32 bytes at a time. Where columns of B begin anywhere among them
// (Shifted) the rows that a block has of a column of B are shifted to begin on 32 bytes, within the tile and
// some columns more that it reads. Neighbours along B follow each other. Bound by memory.
template <class E, bool Shifted>
__global__ void __launch_bounds__(tile<E, Shifted>::threads, tile<E, Shifted>::blocks)
    transpose_tiles(element_grid<const E> A, element_grid<E> B, std::uint32_t across) {
  using shape = tile<E, Shifted>;
  constexpr int granule = Shifted ? 32 / static_cast<int>(sizeof(E)) : 1,
                columns = shape::columns + granule - 1;
  __shared__ E entry[columns][shape::rows + 1];
  const std::int64_t j0 = std::int64_t{blockIdx.x % across} * shape::columns,
                     i0 = std::int64_t{blockIdx.x / across} * shape::rows;
  strip<E, shape::rows, columns, shape::warps> of_A;
  of_A.read(A, i0, j0);
  of_A.each([&](E& value, int i, int j) { entry[j][i] = value; });
  __syncthreads();
  const int lane = static_cast<int>(threadIdx.x) % 32, warp = static_cast<int>(threadIdx.x) / 32;
#pragma unroll
  for (int k = 0; k < shape::rows; k += shape::warps) {
    const int i = warp + k;
    if (i0 + i >= A.rows) continue;
    E* const column = B.data + (i0 + i) * B.ld;
    const int beyond = static_cast<int>(reinterpret_cast<std::uintptr_t>(column) / sizeof(E) % granule);
    const int first = (granule - beyond) % granule;
#pragma unroll
    for (int j = 0; j < shape::columns; j += 32)
      if (j0 + first + j + lane < B.rows) column[j0 + first + j + lane] = entry[first + j + lane][i];
    if (j0 == 0 && lane < first && lane < B.rows) column[lane] = entry[lane][i];
  }
}

// Of tiles that change places a block holds two.
template <class E>
constexpr int square_tile = sizeof(E) == 16 ? 32 : 64;
template <class E>
constexpr int square_threads = 8 * square_tile<E>;
template <class E>
constexpr int square_blocks = sizeof(E) == 4 ? 4 : 3;  // a multiprocessor

// body(in memory, row, column) of all in a tile of so many rows and columns, a warp 32 neighbours of a column.
template <class E, class Body>
__device__ void each_of_tile(E* tile, std::int64_t ld, int rows, int columns, const Body& body) {
  constexpr int size = square_tile<E>, warps = square_threads<E> / 32;
  const int lane = static_cast<int>(threadIdx.x) % 32, warp = static_cast<int>(threadIdx.x) / 32;
#pragma unroll
  for (int k = 0; k < size; k += warps) {
    const int column = warp + k;
    if (column >= columns) continue;
    E* const top = tile + column * ld;
#pragma unroll
    for (int row = lane; row < size; row += 32)
      if (row < rows) body(top + row, row, column);
  }
}

// A is made of squares, `across` beside each other along a column. Of each square a block takes tile (i, j) of
// the upper triangle and the one opposite, row after row. Bound by memory.
template <class E>
__global__ void __launch_bounds__(square_threads<E>, square_blocks<E>)
    transpose_square_tiles(element_grid<E> A, std::int64_t order, std::uint32_t across, std::uint32_t tiles,
                           std::uint32_t pairs) {
  constexpr int size = square_tile<E>, line = size + 1;
  extern __shared__ __align__(16) char memory[];
  E* const upper = reinterpret_cast<E*>(memory);
  E* const lower = upper + size * line;
  const std::uint32_t square = blockIdx.x / pairs, left = pairs - 1 - blockIdx.x % pairs;
  E* const first =
      A.data + std::int64_t{square % across} * order + std::int64_t{square / across} * order * A.ld;
  auto row =
      static_cast<std::uint32_t>((sqrtf(8.0F * static_cast<float>(left) + 1) - 1) / 2);  // from below, about
  while (row * (row + 1) / 2 > left) --row;
  while ((row + 1) * (row + 2) / 2 <= left) ++row;
  const std::uint32_t i = tiles - 1 - row, j = tiles - 1 - (left - row * (row + 1) / 2);
  const std::int64_t i0 = std::int64_t{i} * size, j0 = std::int64_t{j} * size;
  E* const above = first + i0 + j0 * A.ld;
  E* const below = first + j0 + i0 * A.ld;
  const auto rows = static_cast<int>(min(order - i0, std::int64_t{size})),
             columns = static_cast<int>(min(order - j0, std::int64_t{size}));
  each_of_tile(above, A.ld, rows, columns,
               [&](E* from, int row, int column) { fetch(upper + column * line + row, from); });
  if (i0 != j0)
    each_of_tile(below, A.ld, columns, rows,
                 [&](E* from, int row, int column) { fetch(lower + column * line + row, from); });
  await_fetched();
  __syncthreads();
  each_of_tile(below, A.ld, columns, rows,
               [&](E* to, int row, int column) { *to = upper[row * line + column]; });
  if (i0 != j0)
    each_of_tile(above, A.ld, rows, columns,
                 [&](E* to, int row, int column) { *to = lower[row * line + column]; });
}

template <class E, bool Shifted>
void copy(const device& dev, element_grid<const E> from, element_grid<E> to) {
  using shape = tile<E, Shifted>;
  const std::int64_t down = ceil_div<std::int64_t>(from.rows, shape::rows),
                     across = ceil_div<std::int64_t>(from.cols, shape::columns);
  launch(dev, "transpose_tiles", {down * across, shape::threads}, transpose_tiles<E, Shifted>, from, to,
         static_cast<std::uint32_t>(across));
}

template <class E>
void copy(const device& dev, element_grid<const std::byte> from, element_grid<std::byte> to) {
  const bool shifted = !aligned(to.data, 32) || to.ld * static_cast<std::int64_t>(sizeof(E)) % 32 != 0;
  shifted ? copy<E, true>(dev, grid_of<E>(from), grid_of<E>(to))
          : copy<E, false>(dev, grid_of<E>(from), grid_of<E>(to));
}

template <class E>
void swap(const device& dev, element_grid<std::byte> A, std::int64_t order) {
  constexpr int size = square_tile<E>;
  const std::int64_t tiles = ceil_div<std::int64_t>(order, size), pairs = tiles * (tiles + 1) / 2;
  const std::int64_t across = A.rows / order, squares = across * (A.cols / order);
  launch(dev, "transpose_square_tiles",
         {squares * pairs, square_threads<E>, std::size_t{2} * size * (size + 1) * sizeof(E)},
         transpose_square_tiles<E>, grid_of<E>(A), order, static_cast<std::uint32_t>(across),
         static_cast<std::uint32_t>(tiles), static_cast<std::uint32_t>(pairs));
}

}  // namespace

void transpose_elements_cuda(const device& dev, int bytes, element_grid<const std::byte> from,
                             element_grid<std::byte> to) {
  with_element(bytes, aligned(from.data, bytes) && aligned(to.data, bytes),
               [&](auto element) { copy<decltype(element)>(dev, from, to); });
}

void transpose_blocks_cuda(const device& dev, int bytes, element_grid<std::byte> A, std::int64_t order) {
  with_element(bytes, aligned(A.data, bytes), [&](auto element) { swap<decltype(element)>(dev, A, order); });
}

}  // namespace vouch::detail
