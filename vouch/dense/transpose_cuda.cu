#include <cstdint>

#include <vouch/core/l2_policy.cuh>
#include <vouch/core/launch.cuh>
#include <vouch/core/shared_copy.cuh>
#include <vouch/core/transposed_copies.cuh>
#include <vouch/dense/transpose_cuda.hpp>
#include <vouch/dense/transpose_elements.cuh>

namespace vouch::detail {
namespace {

// Of two tiles that change places a block holds one in shared memory and one in registers.
template <class E>
struct square_tile {
  static constexpr int size = sizeof(E) == 16 ? 32 : 64;
  static constexpr int threads = 256, warps = threads / 32;
  static constexpr int blocks = sizeof(E) == 8 ? 3 : 4;                    // a multiprocessor
  static constexpr int columns = size / warps, parts = size / 32;          // of a warp, of a column
  static constexpr int at_once = sizeof(E) == 16 ? columns : columns / 2;  // columns on their way
};

// body(column, number) of the first `count` columns of a tile that are the warp's; all of the tile's where
// Whole.
template <class E, bool Whole, int AtOnce, class Body>
__device__ void each_column(int count, const Body& body) {
#pragma unroll AtOnce
  for (int k = 0; k < square_tile<E>::columns; ++k) {
    int column = static_cast<int>(threadIdx.x) / 32 + k * square_tile<E>::warps;
    asm volatile("" : "+r"(column));  // addresses are made anew: there are no registers to keep them
    if (Whole || column < count) body(column, k);
  }
}

// body(row, part) of the first `count` rows of a column that begins at `top`. Lanes stand where lines do: those
// before the column's beginning take as many rows of its end instead.
template <class E, bool Whole, class Body>
__device__ void each_row(const E* top, int count, const Body& body) {
  constexpr int of_line = 128 / sizeof(E);
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const int at = lane - static_cast<int>(reinterpret_cast<std::uintptr_t>(top) / sizeof(E) % of_line);
#pragma unroll
  for (int part = 0; part < square_tile<E>::parts; ++part) {
    const int row = part == 0 && at < 0 ? at + square_tile<E>::size : at + 32 * part;
    if (Whole || row < count) body(row, part);
  }
}

// Tiles opposite each other, or the same one: `above` has rows by columns elements. The lower one waits in
// registers until the upper one is in shared memory; its elements come there for those that go where it was.
template <class E, bool Whole>
__device__ void exchange(E* above, E* below, std::int64_t ld, int rows, int columns, E* entry,
                         std::uint64_t policy) {
  using tile = square_tile<E>;
  constexpr int line = tile::size + 1;
  const bool apart = above != below;
  E waiting[tile::columns][tile::parts];
  if (apart)
    each_column<E, Whole, tile::columns>(rows, [&](int column, int k) {
      const E* const top = below + column * ld;
      each_row<E, Whole>(top, columns, [&](int row, int part) {
        waiting[k][part] = load_of_pair_of_lines(top + row, policy);
      });
    });
  each_column<E, Whole, tile::at_once>(columns, [&](int column, int) {
    const E* const top = above + column * ld;
    each_row<E, Whole>(top, rows,
                       [&](int row, int) { copy_to_shared(entry + column * line + row, top + row, policy); });
  });
  await_copies_to_shared();
  __syncthreads();
  if (apart) {
    each_column<E, Whole, tile::columns>(rows, [&](int column, int k) {
      E* const top = below + column * ld;
      each_row<E, Whole>(top, columns, [&](int row, int part) {
        E& place = entry[row * line + column];
        const E moved = place;
        place = waiting[k][part];
        top[row] = moved;
      });
    });
    __syncthreads();
  }
  const int row_step = apart ? 1 : line, column_step = apart ? line : 1;
  each_column<E, Whole, tile::at_once>(columns, [&](int column, int) {
    E* const top = above + column * ld;
    each_row<E, Whole>(top, rows,
                       [&](int row, int) { top[row] = entry[column * column_step + row * row_step]; });
  });
}

// Tiles (i, j) of an upper triangle in stripes of `width` columns of tiles, each row after row: neighbours,
// which share cache lines, are moved while L2 still has these.
struct tile_place {
  std::uint32_t i, j;
};
__device__ tile_place place_of(std::uint32_t number, std::uint32_t tiles, std::uint32_t width) {
  std::uint32_t first = 0;
  for (;; first += width) {
    width = min(width, tiles - first);
    const std::uint32_t count = width * first + width * (width + 1) / 2;
    if (number < count) break;
    number -= count;
  }
  if (number < width * first) return {number / width, first + number % width};
  const std::uint32_t left = width * first + width * (width + 1) / 2 - 1 - number;
  auto below_it = static_cast<std::uint32_t>((sqrtf(8.0F * static_cast<float>(left) + 1) - 1) / 2);  // about
  while (below_it * (below_it + 1) / 2 > left) --below_it;
  while ((below_it + 1) * (below_it + 2) / 2 <= left) ++below_it;
  const std::uint32_t last = first + width - 1;
  return {last - below_it, last - (left - below_it * (below_it + 1) / 2)};
}

// Squares side by side, `across` of them along a column, their tiles in stripes.
struct squares {
  std::int64_t order;
  std::uint32_t across, tiles, pairs, width;
  bool kept;  // what is read stays in L2 until it has been written
};

// A block takes a tile of a square and the one opposite. Bound by memory.
template <class E>
__global__ void __launch_bounds__(square_tile<E>::threads, square_tile<E>::blocks)
    transpose_square_tiles(element_grid<E> A, const __grid_constant__ squares of) {
  constexpr int size = square_tile<E>::size;
  extern __shared__ __align__(16) char memory[];
  E* const entry = reinterpret_cast<E*>(memory);
  const std::uint32_t square = blockIdx.x / of.pairs;
  E* const first =
      A.data + std::int64_t{square % of.across} * of.order + std::int64_t{square / of.across} * of.order * A.ld;
  const tile_place place = place_of(blockIdx.x % of.pairs, of.tiles, of.width);
  const std::int64_t i0 = std::int64_t{place.i} * size, j0 = std::int64_t{place.j} * size;
  E* const above = first + i0 + j0 * A.ld;
  E* const below = first + j0 + i0 * A.ld;
  const auto rows = static_cast<int>(min(of.order - i0, std::int64_t{size})),
             columns = static_cast<int>(min(of.order - j0, std::int64_t{size}));
  const std::uint64_t policy = of.kept ? evict_last_policy() : evict_unchanged_policy();
  if (columns == size)  // then rows, too: the upper tile stands before the lower one
    exchange<E, true>(above, below, A.ld, rows, columns, entry, policy);
  else
    exchange<E, false>(above, below, A.ld, rows, columns, entry, policy);
}

template <class E>
void swap(const device& dev, element_grid<E> A, std::int64_t order) {
  using tile = square_tile<E>;
  constexpr std::int64_t widest = 208, large = 128 << 20;  // tiles, bytes
  const std::int64_t tiles = ceil_div<std::int64_t>(order, tile::size), pairs = tiles * (tiles + 1) / 2;
  const std::int64_t across = A.rows / order, count = across * (A.cols / order);
  const squares of{order,
                   static_cast<std::uint32_t>(across),
                   static_cast<std::uint32_t>(tiles),
                   static_cast<std::uint32_t>(pairs),
                   static_cast<std::uint32_t>(ceil_div(tiles, ceil_div(tiles, widest))),
                   order * order * static_cast<std::int64_t>(sizeof(E)) >= large};
  launch(dev, "transpose_square_tiles",
         {count * pairs, tile::threads, std::size_t{tile::size} * (tile::size + 1) * sizeof(E)},
         transpose_square_tiles<E>, A, of);
}

}  // namespace

void transpose_elements_cuda(const device& dev, int bytes, element_grid<const std::byte> from,
                             element_grid<std::byte> to) {
  with_element(bytes, aligned(from.data, bytes) && aligned(to.data, bytes), [&](auto element) {
    using E = decltype(element);
    const auto A = grid_of<E>(from);
    const auto B = grid_of<E>(to);
    copy_transposed<E, 1>(dev, {A.rows, A.cols, {A.data}, {A.ld}, {B.data}, B.ld});
  });
}

void transpose_blocks_cuda(const device& dev, int bytes, element_grid<std::byte> A, std::int64_t order) {
  with_element(bytes, aligned(A.data, bytes),
               [&](auto element) { swap(dev, grid_of<decltype(element)>(A), order); });
}

}  // namespace vouch::detail
