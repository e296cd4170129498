#include <cstdint>

#include <vouch/core/gpu/async_copy.cuh>
#include <vouch/core/gpu/l2_policy.cuh>
#include <vouch/core/launch.cuh>
#include <vouch/core/transposed_copies.cuh>
#include <vouch/dense/transpose/transpose_cuda.hpp>
#include <vouch/dense/transpose/transpose_elements.cuh>

namespace vouch::detail {
namespace {

// A block exchanges two tiles.
template <class E>
struct square_tile {
  static constexpr int size = sizeof(E) == 16 ? 32 : 64;
  static constexpr int threads = 256, warps = threads / 32;
  static constexpr int blocks = sizeof(E) == 16 ? 4 : 3;           // a multiprocessor
  static constexpr int columns = size / warps, parts = size / 32;  // of a warp, of a column
  // Percent of a multiprocessor's memory that is shared memory. The rest is its first-level cache, which limits
  // the lines on their way to it: 92 KB, for larger elements 60, serve columns that begin anywhere better than
  // 156 or 28.
  static constexpr int shared_percent = sizeof(E) == 4 ? 70 : 85;
};

// A tile, or what there is of one at an edge.
template <class E>
struct square_part {
  E* data;
  std::int64_t ld;
  int rows, columns;
};

// body(in memory, row, column, which of the warp's columns, which part of it) of all elements of a thread.
// Lanes stand where cache lines do: those before a column's beginning take as many rows of its end instead.
template <class E, bool Whole, int AtOnce, class Body>
__device__ void each_entry(const square_part<E>& of, const Body& body) {
  using tile = square_tile<E>;
  constexpr int of_line = 128 / sizeof(E);
#pragma unroll AtOnce
  for (int k = 0; k < tile::columns; ++k) {
    int column = static_cast<int>(threadIdx.x) / 32 + k * tile::warps;
    // Addresses are made anew: there are no registers to keep them, and nvcc 13.0 has compiled copies that
    // carry a policy to illegal instructions without this.
    asm volatile("" : "+r"(column));
    if (!Whole && column >= of.columns) return;
    E* const top = of.data + column * of.ld;
    const int at = static_cast<int>(threadIdx.x) % 32 -
                   static_cast<int>(reinterpret_cast<std::uintptr_t>(top) / sizeof(E) % of_line);
#pragma unroll
    for (int part = 0; part < tile::parts; ++part) {
      const int row = part == 0 && at < 0 ? at + tile::size : at + 32 * part;
      if (Whole || row < of.rows) body(top + row, row, column, k, part);
    }
  }
}
// Whole tiles need no questions.
template <int AtOnce, class E, class Body>
__device__ void each_entry(const square_part<E>& of, const Body& body) {
  if (of.rows == square_tile<E>::size && of.columns == square_tile<E>::size)
    each_entry<E, true, AtOnce>(of, body);
  else
    each_entry<E, false, AtOnce>(of, body);
}

// Parts opposite each other, or the same one. The lower one waits in registers until the upper one is in shared
// memory; its elements come there for those that go where it was. The upper one is read first and written last:
// the tiles below it, moved a little later, read the lines that they share with it before it writes them.
template <class E>
__device__ void exchange(const square_part<E>& above, const square_part<E>& below, E* entry,
                         std::uint64_t policy) {
  using tile = square_tile<E>;
  constexpr int line = tile::size + 1;
  const bool apart = above.data != below.data;
  E waiting[tile::columns][tile::parts];
  const auto read = [&](const square_part<E>& from, E(&to)[tile::columns][tile::parts]) {
    each_entry<tile::columns>(
        from, [&](const E* here, int, int, int k, int part) { to[k][part] = load_line_pair(here, policy); });
  };
  if constexpr (sizeof(E) == 4) {  // by 4 bytes each copies to shared memory are slower than registers
    E upper[tile::columns][tile::parts];
    read(above, upper);
    if (apart) read(below, waiting);
    each_entry<tile::columns>(above, [&](const E*, int row, int column, int k, int part) {
      entry[column * line + row] = upper[k][part];
    });
  } else {
    each_entry<1>(above, [&](const E* from, int row, int column, int, int) {
      copy_to_shared(entry + column * line + row, from, policy);
    });
    if (apart) read(below, waiting);
    wait_copies_to_shared();
  }
  __syncthreads();
  if (apart) {
    each_entry<tile::columns>(below, [&](E* to, int row, int column, int k, int part) {
      E& place = entry[row * line + column];
      const E moved = place;
      place = waiting[k][part];
      *to = moved;
    });
    __syncthreads();
  }
  const int row_step = apart ? 1 : line, column_step = apart ? line : 1;
  each_entry<1>(
      above, [&](E* to, int row, int column, int, int) { *to = entry[column * column_step + row * row_step]; });
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
  float root;
  asm("sqrt.approx.f32 %0, %1;" : "=f"(root) : "f"(8.0F * static_cast<float>(left) + 1));
  auto below_it = static_cast<std::uint32_t>((root - 1) / 2);  // off by one at most: stripes are narrow
  if (below_it * (below_it + 1) / 2 > left)
    --below_it;
  else if ((below_it + 1) * (below_it + 2) / 2 <= left)
    ++below_it;
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
  E* first = A.data;
  std::uint32_t number = blockIdx.x;
  if (number >= of.pairs) {
    const std::uint32_t square = number / of.pairs;
    number -= square * of.pairs;
    first += (square % of.across + square / of.across * A.ld) * of.order;
  }
  const tile_place place = place_of(number, of.tiles, of.width);
  const std::int64_t i0 = std::int64_t{place.i} * size, j0 = std::int64_t{place.j} * size;
  const auto rows = static_cast<int>(min(of.order - i0, std::int64_t{size})),
             columns = static_cast<int>(min(of.order - j0, std::int64_t{size}));
  exchange<E>({first + i0 + j0 * A.ld, A.ld, rows, columns}, {first + j0 + i0 * A.ld, A.ld, columns, rows},
              entry, of.kept ? evict_last_policy() : evict_unchanged_policy());
}

template <class E>
void swap(const device& dev, element_grid<E> A, std::int64_t order) {
  using tile = square_tile<E>;
  constexpr std::int64_t widest = 208, large = 160 << 20;  // tiles, bytes
  const std::int64_t tiles = ceil_div<std::int64_t>(order, tile::size), pairs = tiles * (tiles + 1) / 2;
  const std::int64_t across = A.rows / order, count = across * (A.cols / order);
  const squares of{order,
                   static_cast<std::uint32_t>(across),
                   static_cast<std::uint32_t>(tiles),
                   static_cast<std::uint32_t>(pairs),
                   static_cast<std::uint32_t>(ceil_div(tiles, ceil_div(tiles, widest))),
                   order * order * static_cast<std::int64_t>(sizeof(E)) >= large};
  launch(dev, "transpose_square_tiles",
         {.blocks = count * pairs,
          .threads = tile::threads,
          .shared_bytes = std::size_t{tile::size} * (tile::size + 1) * sizeof(E),
          .shared_percent = tile::shared_percent},
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
