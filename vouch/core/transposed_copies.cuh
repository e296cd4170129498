// vouch/core/transposed_copies.cuh -- transposed copies of matrices, some of a shape at once; private.
#pragma once
#include <cstdint>
#include <type_traits>

#include <vouch/core/launch.cuh>
#include <vouch/core/types.hpp>

namespace vouch {

/// Matrices of rows by cols, their columns from_ld apart, whose transposes are to have columns to_ld apart.
template <class E, int Most = 1>
struct transposed_copies {
  std::int64_t rows, cols;
  const E* from[Most];
  std::int64_t from_ld[Most];
  E* to[Most];
  std::int64_t to_ld;
};

namespace detail {

// A tile that a block copies, and its threads; a warp takes 32 neighbours of a column.
template <class E, bool Shifted>
struct copied_tile {
  static constexpr int rows = sizeof(E) == 16 ? 32 : sizeof(E) == 4 && Shifted ? 128 : 64;
  static constexpr int columns = sizeof(E) == 16 ? 32 : 64;
  static constexpr int threads = 8 * columns, warps = threads / 32;
  static constexpr int blocks = rows == 128 ? 3 : 2048 / threads;  // a multiprocessor
  // Memory is written so many elements at a time; as many columns more are read.
  static constexpr int granule = Shifted ? 32 / static_cast<int>(sizeof(E)) : 1;
  static constexpr int columns_read = columns + granule - 1;
};

// What is read of a tile in the registers of its block.
template <class Tile, class E>
struct read_tile {
  static constexpr int turns = (Tile::columns_read + Tile::warps - 1) / Tile::warps, parts = Tile::rows / 32;
  E entry[turns][parts];

  // body(entry, row, column) of all that this thread has.
  template <class Body>
  __device__ void each(const Body& body) {
    const int lane = static_cast<int>(threadIdx.x) % 32, warp = static_cast<int>(threadIdx.x) / 32;
#pragma unroll
    for (int k = 0; k < turns; ++k)
#pragma unroll
      for (int p = 0; p < parts; ++p)
        if (const int j = warp + k * Tile::warps; j < Tile::columns_read) body(entry[k][p], 32 * p + lane, j);
  }
};

template <class E, bool Shifted>
using tile_in_shared_memory = E[copied_tile<E, Shifted>::columns_read][copied_tile<E, Shifted>::rows + 1];

// A tile, or what there is of rows by cols elements; memory is written 32 bytes at a time.
template <bool Whole, bool Shifted, class E>
__device__ void copy_tile(const E* from, std::int64_t from_ld, E* to, std::int64_t to_ld, int rows, int cols,
                          bool leftmost, tile_in_shared_memory<E, Shifted>& entry) {
  using shape = copied_tile<E, Shifted>;
  constexpr int granule = shape::granule;
  read_tile<shape, E> all;
  all.each([&](E& value, int i, int j) {
    if (Whole || (i < rows && j < cols)) value = from[i + j * from_ld];
  });
  all.each([&](E& value, int i, int j) { entry[j][i] = value; });
  __syncthreads();
  const int lane = static_cast<int>(threadIdx.x) % 32, warp = static_cast<int>(threadIdx.x) / 32;
#pragma unroll
  for (int k = 0; k < shape::rows; k += shape::warps) {
    const int i = warp + k;
    if (!Whole && i >= rows) continue;
    E* const column = to + i * to_ld;
    const int beyond = static_cast<int>(reinterpret_cast<std::uintptr_t>(column) / sizeof(E) % granule);
    const int first = (granule - beyond) % granule;
#pragma unroll
    for (int j = 0; j < shape::columns; j += 32)
      if (Whole || first + j + lane < cols) column[first + j + lane] = entry[first + j + lane][i];
    if (leftmost && lane < first && lane < cols) column[lane] = entry[lane][i];
  }
}

// A block copies a tile through shared memory: one more row than there is there, so that neither rows nor
// columns meet in a bank. Where columns of the copy begin anywhere among 32 bytes (Shifted) the rows that a
// block has of a column are shifted to begin on these, within the tile and some columns more that it reads.
// Neighbours along the copy's columns follow each other. Bound by memory.
template <class E, bool Shifted, int Most>
__global__ void __launch_bounds__(copied_tile<E, Shifted>::threads, copied_tile<E, Shifted>::blocks)
    copy_transposed_tiles(const __grid_constant__ transposed_copies<E, Most> of, std::uint32_t across,
                          std::uint32_t tiles) {
  using shape = copied_tile<E, Shifted>;
  __shared__ tile_in_shared_memory<E, Shifted> entry;
  const std::uint32_t matrix = Most == 1 ? 0 : blockIdx.x / tiles, index = blockIdx.x - matrix * tiles;
  const std::int64_t j0 = std::int64_t{index % across} * shape::columns,
                     i0 = std::int64_t{index / across} * shape::rows;
  const std::int64_t from_ld = of.from_ld[matrix];
  const E* const from = of.from[matrix] + i0 + j0 * from_ld;
  E* const to = of.to[matrix] + j0 + i0 * of.to_ld;
  const auto rows = static_cast<int>(min(of.rows - i0, std::int64_t{shape::rows})),
             cols = static_cast<int>(min(of.cols - j0, std::int64_t{shape::columns_read}));
  // Whole tiles need no questions; larger elements have no registers for two ways.
  if (sizeof(E) == 4 && rows == shape::rows && cols == shape::columns_read)
    copy_tile<true, Shifted>(from, from_ld, to, of.to_ld, rows, cols, j0 == 0, entry);
  else
    copy_tile<false, Shifted>(from, from_ld, to, of.to_ld, rows, cols, j0 == 0, entry);
}

template <bool Shifted, class E, int Most>
void launch_copy_transposed(const device& dev, const transposed_copies<E, Most>& of, int count) {
  using shape = copied_tile<E, Shifted>;
  const std::int64_t down = ceil_div<std::int64_t>(of.rows, shape::rows),
                     across = ceil_div<std::int64_t>(of.cols, shape::columns);
  launch(dev, "copy_transposed_tiles", {count * down * across, shape::threads},
         copy_transposed_tiles<E, Shifted, Most>, of, static_cast<std::uint32_t>(across),
         static_cast<std::uint32_t>(down * across));
}

}  // namespace detail

/// Of the first `count`. Elements of 4, 8 or 16 bytes. Enqueued.
template <class E, int Most>
void copy_transposed(const device& dev, const transposed_copies<E, Most>& of, int count = 1) {
  constexpr std::uintptr_t sector = 32;
  std::uintptr_t begins = static_cast<std::uintptr_t>(of.to_ld) * sizeof(E);
  for (int k = 0; k < count; ++k) begins |= reinterpret_cast<std::uintptr_t>(of.to[k]);
  begins % sector != 0 ? detail::launch_copy_transposed<true>(dev, of, count)
                       : detail::launch_copy_transposed<false>(dev, of, count);
}

}  // namespace vouch
