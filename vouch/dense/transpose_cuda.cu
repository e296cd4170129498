#include <cstdint>

#include <vouch/core/launch.cuh>
#include <vouch/core/shared_copy.cuh>
#include <vouch/core/transposed_copies.cuh>
#include <vouch/dense/transpose_cuda.hpp>
#include <vouch/dense/transpose_elements.cuh>

namespace vouch::detail {
namespace {

// Of tiles that change places a block holds one in shared memory, and of the other so many columns a warp in
// registers. Large squares whose columns begin off pairs of cache lines (Shifted) gain by more of both, and by
// lines brought in pairs; others by more blocks.
template <class E, bool Shifted>
struct square_tile {
  static constexpr int size = sizeof(E) == 16 ? 32 : sizeof(E) == 4 && Shifted ? 96 : 64;
  static constexpr int threads = 256, warps = threads / 32;
  static constexpr int blocks = Shifted ? 3 : 4;  // a multiprocessor
  static constexpr int at_once =
      Shifted ? size / warps : 32 / static_cast<int>(sizeof(E));  // columns of a warp
  static constexpr int pieces = size / 32 + 1;                    // of a column
  static constexpr brought lines = Shifted ? brought::two_lines : brought::line;
  static_assert(size % (warps * at_once) == 0);
};

// body(in memory, row, number) of the rows of a column, a warp's lanes side by side in so many pieces, which
// begin with cache lines.
template <int Pieces, class E, class Body>
__device__ void each_row(E* top, int rows, const Body& body) {
  constexpr int of_line = 128 / sizeof(E);
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const int before = static_cast<int>(reinterpret_cast<std::uintptr_t>(top) / sizeof(E) % of_line);
#pragma unroll
  for (int k = 0; k < Pieces; ++k) {
    const int row = 32 * k + lane - before;
    if (0 <= row && row < rows) body(top + row, row, k);
  }
}

// A is made of squares, `across` beside each other along a column. Of each square a block takes tile (i, j) of
// the upper triangle and the one opposite, row after row. The upper one waits in shared memory, the lower one
// passes through registers, and what stands in its place goes where it came from. Bound by memory.
template <class E, bool Shifted>
__global__ void __launch_bounds__(square_tile<E, Shifted>::threads, square_tile<E, Shifted>::blocks)
    transpose_square_tiles(element_grid<E> A, std::int64_t order, std::uint32_t across, std::uint32_t tiles,
                           std::uint32_t pairs) {
  using shape = square_tile<E, Shifted>;
  constexpr int size = shape::size, line = size + 1, step = shape::warps * shape::at_once,
                pieces = shape::pieces;
  extern __shared__ __align__(16) char memory[];
  E* const entry = reinterpret_cast<E*>(memory);
  const std::uint32_t square = blockIdx.x / pairs, left = pairs - 1 - blockIdx.x % pairs;
  E* const first =
      A.data + std::int64_t{square % across} * order + std::int64_t{square / across} * order * A.ld;
  auto below_it = static_cast<std::uint32_t>((sqrtf(8.0F * static_cast<float>(left) + 1) - 1) / 2);  // about
  while (below_it * (below_it + 1) / 2 > left) --below_it;
  while ((below_it + 1) * (below_it + 2) / 2 <= left) ++below_it;
  const std::uint32_t i = tiles - 1 - below_it, j = tiles - 1 - (left - below_it * (below_it + 1) / 2);
  const std::int64_t i0 = std::int64_t{i} * size, j0 = std::int64_t{j} * size;
  E* const above = first + i0 + j0 * A.ld;
  E* const below = first + j0 + i0 * A.ld;
  const int warp = static_cast<int>(threadIdx.x) / 32;
  const auto rows = static_cast<int>(min(order - i0, std::int64_t{size})),
             columns = static_cast<int>(min(order - j0, std::int64_t{size}));
#pragma unroll 2
  for (int column = warp; column < columns; column += shape::warps)
    each_row<pieces>(above + column * A.ld, rows, [&](E* from, int row, int) {
      copy_to_shared<shape::lines>(entry + column * line + row, from);
    });
  if (i == j) {
    await_copies_to_shared();
    __syncthreads();
#pragma unroll 2
    for (int column = warp; column < columns; column += shape::warps)
      each_row<pieces>(above + column * A.ld, rows,
                       [&](E* to, int row, int) { *to = entry[row * line + column]; });
    return;
  }
  E some[shape::at_once][pieces];
  const auto each = [&](int begin, const auto& body) {
#pragma unroll
    for (int k = 0; k < shape::at_once; ++k) {
      const int column = begin + k * shape::warps;
      if (Shifted && column >= rows) continue;  // never, but the compiler does better with it
      each_row<pieces>(below + column * A.ld, columns, [&](E* at, int row, int piece) {
        body(at, entry[row * line + column], some[k][piece]);
      });
    }
  };
  const auto read = [](E* from, E&, E& value) { value = read_of_line<shape::lines>(from); };
  each(warp, read);
  await_copies_to_shared();
  __syncthreads();
#pragma unroll 1
  for (int begin = warp; begin < size; begin += step) {
    each(begin, [](E* to, E& waiting, E& value) {
      const E other = waiting;
      waiting = value;
      *to = other;
    });
    if (begin + step < size) each(begin + step, read);
  }
  __syncthreads();
#pragma unroll 2
  for (int column = warp; column < columns; column += shape::warps)
    each_row<pieces>(above + column * A.ld, rows,
                     [&](E* to, int row, int) { *to = entry[column * line + row]; });
}

template <bool Shifted, class E>
void swap(const device& dev, element_grid<E> A, std::int64_t order) {
  using shape = square_tile<E, Shifted>;
  constexpr int size = shape::size;
  const std::int64_t tiles = ceil_div<std::int64_t>(order, size), pairs = tiles * (tiles + 1) / 2;
  const std::int64_t across = A.rows / order, squares = across * (A.cols / order);
  launch(dev, "transpose_square_tiles",
         {squares * pairs, shape::threads, std::size_t{size} * (size + 1) * sizeof(E)},
         transpose_square_tiles<E, Shifted>, A, order, static_cast<std::uint32_t>(across),
         static_cast<std::uint32_t>(tiles), static_cast<std::uint32_t>(pairs));
}

template <class E>
void swap(const device& dev, element_grid<E> A, std::int64_t order) {
  constexpr int two_lines = 256;
  constexpr std::int64_t large = 128 << 20;  // bytes
  if constexpr (sizeof(E) < 16)
    if (order * order * static_cast<std::int64_t>(sizeof(E)) >= large &&
        (!aligned(A.data, two_lines) || A.ld * static_cast<std::int64_t>(sizeof(E)) % two_lines != 0))
      return swap<true>(dev, A, order);
  swap<false>(dev, A, order);
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
