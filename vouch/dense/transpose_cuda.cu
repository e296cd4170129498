#include <cstdint>

#include <vouch/core/launch.cuh>
#include <vouch/dense/transpose_cuda.hpp>
#include <vouch/dense/transpose_elements.cuh>

namespace vouch::detail {
namespace {

// Rows and columns of a tile, and threads that copy it; a warp takes 32 neighbours of a column.
template <class E>
constexpr int tile = sizeof(E) == 16 ? 32 : 64;
template <class E>
constexpr int threads = 8 * tile<E>;

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

// A block copies a tile through shared memory: one more column than rows there, so that neither rows nor
// columns meet in a bank. Memory is written 32 bytes at a time, and columns of B may begin anywhere among them:
// the rows that a block has of a column of B are shifted to begin on 32 bytes, within the tile and some columns
// more that it reads. Neighbours along B follow each other. Bound by memory.
template <class E>
__global__ void __launch_bounds__(threads<E>, 2048 / threads<E>)
    transpose_tiles(element_grid<const E> A, element_grid<E> B, std::int64_t across) {
  constexpr int granule = 32 / static_cast<int>(sizeof(E)), columns = tile<E> + granule - 1;
  __shared__ E entry[columns][tile<E> + 1];
  const std::int64_t j0 = blockIdx.x % across * tile<E>, i0 = blockIdx.x / across * tile<E>;
  strip<E, tile<E>, columns, threads<E> / 32> of_A;
  of_A.read(A, i0, j0);
  of_A.each([&](E& value, int i, int j) { entry[j][i] = value; });
  __syncthreads();
  const int lane = static_cast<int>(threadIdx.x) % 32, warp = static_cast<int>(threadIdx.x) / 32;
#pragma unroll
  for (int k = 0; k < tile<E>; k += threads<E> / 32) {
    const int i = warp + k;
    if (i0 + i >= A.rows) continue;
    E* const column = B.data + (i0 + i) * B.ld;
    const int beyond = static_cast<int>(reinterpret_cast<std::uintptr_t>(column) / sizeof(E) % granule);
    const int first = (granule - beyond) % granule;
#pragma unroll
    for (int j = 0; j < tile<E>; j += 32)
      if (j0 + first + j + lane < B.rows) column[j0 + first + j + lane] = entry[first + j + lane][i];
    if (j0 == 0 && lane < first && lane < B.rows) column[lane] = entry[lane][i];
  }
}

// Of tiles that change places a block holds two.
constexpr int square_tile = 32, square_threads = 8 * square_tile;

// Block b takes tile (i, j) of the upper triangle and the one opposite, b = j (j + 1) / 2 + i. Bound by memory.
template <class E>
__global__ void __launch_bounds__(square_threads, 2048 / square_threads)
    transpose_square_tiles(element_grid<E> A) {
  constexpr int size = square_tile;
  __shared__ E entry[2][size][size + 1];
  const std::int64_t b = blockIdx.x;
  auto j = static_cast<std::int64_t>((sqrtf(8.0F * static_cast<float>(b) + 1) - 1) / 2);  // about
  while (j * (j + 1) / 2 > b) --j;
  while ((j + 1) * (j + 2) / 2 <= b) ++j;
  const std::int64_t i0 = (b - j * (j + 1) / 2) * size, j0 = j * size;
  strip<E, size, size, square_threads / 32> upper, lower;
  upper.read({A.data, A.rows, A.cols, A.ld}, i0, j0);
  lower.read({A.data, A.rows, A.cols, A.ld}, j0, i0);
  upper.each([&](E& value, int row, int column) { entry[0][column][row] = value; });
  lower.each([&](E& value, int row, int column) { entry[1][column][row] = value; });
  __syncthreads();
  upper.each([&](E&, int row, int column) {
    if (j0 + row < A.rows && i0 + column < A.cols)
      A.data[j0 + row + (i0 + column) * A.ld] = entry[0][row][column];
  });
  if (i0 == j0) return;
  lower.each([&](E&, int row, int column) {
    if (i0 + row < A.rows && j0 + column < A.cols)
      A.data[i0 + row + (j0 + column) * A.ld] = entry[1][row][column];
  });
}

template <class E>
void copy(const device& dev, element_grid<const std::byte> from, element_grid<std::byte> to) {
  const std::int64_t down = ceil_div<std::int64_t>(from.rows, tile<E>),
                     across = ceil_div<std::int64_t>(from.cols, tile<E>);
  launch(dev, "transpose_tiles", {down * across, threads<E>}, transpose_tiles<E>, grid_of<E>(from),
         grid_of<E>(to), across);
}

template <class E>
void swap(const device& dev, element_grid<std::byte> A) {
  const std::int64_t across = ceil_div<std::int64_t>(A.rows, square_tile);
  launch(dev, "transpose_square_tiles", {across * (across + 1) / 2, square_threads}, transpose_square_tiles<E>,
         grid_of<E>(A));
}

}  // namespace

void transpose_elements_cuda(const device& dev, int bytes, element_grid<const std::byte> from,
                             element_grid<std::byte> to) {
  with_element(bytes, aligned(from.data, bytes) && aligned(to.data, bytes),
               [&](auto element) { copy<decltype(element)>(dev, from, to); });
}

void transpose_square_cuda(const device& dev, int bytes, element_grid<std::byte> A) {
  with_element(bytes, aligned(A.data, bytes), [&](auto element) { swap<decltype(element)>(dev, A); });
}

}  // namespace vouch::detail
