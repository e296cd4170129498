#include <cstdint>

#include <vouch/core/launch.cuh>
#include <vouch/dense/transpose_cuda.hpp>

namespace vouch::detail {
namespace {

constexpr int tile = 32, rows_at_a_time = 8;
constexpr unsigned threads = tile * rows_at_a_time;

// Elements are copied as words of their size where both matrices are aligned to it, else as parts.
struct alignas(16) words4 {
  std::uint32_t word[4];
};
struct alignas(8) pairs2 {
  std::uint64_t pair[2];
};
struct alignas(4) words2 {
  std::uint32_t word[2];
};
struct alignas(8) words2_aligned {
  std::uint32_t word[2];
};

// One more column than rows, so that neither rows nor columns of a tile meet in a bank of shared memory.
template <class E>
struct shared_tile {
  E entry[tile][tile + 1];

  /// Element (i, j) of the block's tile of A from row and column given.
  __device__ void read(const E* data, std::int64_t ld, std::int64_t i0, std::int64_t j0, std::int64_t rows,
                       std::int64_t cols) {
    const int x = static_cast<int>(threadIdx.x) % tile, y = static_cast<int>(threadIdx.x) / tile;
#pragma unroll
    for (int s = 0; s < tile; s += rows_at_a_time)
      if (i0 + x < rows && j0 + y + s < cols) entry[y + s][x] = data[i0 + x + (j0 + y + s) * ld];
  }
  /// The tile's transpose to B from row and column given; B is rows-by-cols.
  __device__ void write(E* data, std::int64_t ld, std::int64_t i0, std::int64_t j0, std::int64_t rows,
                        std::int64_t cols) const {
    const int x = static_cast<int>(threadIdx.x) % tile, y = static_cast<int>(threadIdx.x) / tile;
#pragma unroll
    for (int s = 0; s < tile; s += rows_at_a_time)
      if (i0 + x < rows && j0 + y + s < cols) data[i0 + x + (j0 + y + s) * ld] = entry[x][y + s];
  }
};

// Tiles of A that a block takes, one below the other: smaller elements need more of them in flight.
template <class E>
constexpr int tiles_a_block = sizeof(E) == 4   ? 4
                              : sizeof(E) == 8 ? 2
                                               : 1;

// A block copies tiles_a_block tiles of 32 by 32 through shared memory, each warp a row of 32 neighbours.
// Bound by memory.
template <class E>
__global__ void __launch_bounds__(threads)
    transpose_tiles(element_grid<const E> A, element_grid<E> B, std::int64_t tiles_down) {
  constexpr int count = tiles_a_block<E>;
  __shared__ shared_tile<E> tiles[count];
  const std::int64_t i0 = blockIdx.x % tiles_down * (tile * count), j0 = blockIdx.x / tiles_down * tile;
#pragma unroll
  for (int t = 0; t < count; ++t) tiles[t].read(A.data, A.ld, i0 + t * tile, j0, A.rows, A.cols);
  __syncthreads();
#pragma unroll
  for (int t = 0; t < count; ++t) tiles[t].write(B.data, B.ld, j0, i0 + t * tile, B.rows, B.cols);
}

// Block b takes tile (i, j) of the upper triangle and the one opposite, b = j (j + 1) / 2 + i.
template <class E>
__global__ void __launch_bounds__(threads) transpose_square_tiles(element_grid<E> A) {
  __shared__ shared_tile<E> upper, lower;
  const std::int64_t b = blockIdx.x;
  auto j = static_cast<std::int64_t>((sqrt(8.0 * static_cast<double>(b) + 1) - 1) / 2);
  while (j * (j + 1) / 2 > b) --j;
  while ((j + 1) * (j + 2) / 2 <= b) ++j;
  const std::int64_t i0 = (b - j * (j + 1) / 2) * tile, j0 = j * tile;
  upper.read(A.data, A.ld, i0, j0, A.rows, A.cols);
  lower.read(A.data, A.ld, j0, i0, A.rows, A.cols);
  __syncthreads();
  upper.write(A.data, A.ld, j0, i0, A.rows, A.cols);
  if (i0 != j0) lower.write(A.data, A.ld, i0, j0, A.rows, A.cols);
}

template <class E, class Byte>
auto as(element_grid<Byte> A) {
  using entry = std::conditional_t<std::is_const_v<Byte>, const E, E>;
  return element_grid<entry>{reinterpret_cast<entry*>(A.data), A.rows, A.cols, A.ld};
}

template <class E>
void copy(const device& dev, element_grid<const std::byte> from, element_grid<std::byte> to) {
  const std::int64_t down = ceil_div<std::int64_t>(from.rows, tile * tiles_a_block<E>),
                     across = ceil_div<std::int64_t>(from.cols, tile);
  launch(dev, "transpose_tiles", {down * across, threads}, transpose_tiles<E>, as<E>(from), as<E>(to), down);
}

template <class E>
void swap(const device& dev, element_grid<std::byte> A) {
  const std::int64_t across = ceil_div<std::int64_t>(A.rows, tile);
  launch(dev, "transpose_square_tiles", {across * (across + 1) / 2, threads}, transpose_square_tiles<E>,
         as<E>(A));
}

bool aligned(const void* data, int bytes) { return reinterpret_cast<std::uintptr_t>(data) % bytes == 0; }

// body(element) with the widest element that the alignment allows.
template <class Body>
void with_element(int bytes, bool whole, const Body& body) {
  if (bytes == 4)
    body(std::uint32_t{});
  else if (bytes == 8)
    whole ? body(words2_aligned{}) : body(words2{});
  else
    whole ? body(words4{}) : body(pairs2{});
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
