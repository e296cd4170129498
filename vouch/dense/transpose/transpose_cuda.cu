#include <cuda_runtime.h>

#include <cstdint>
#include <type_traits>

#include <vouch/core/check.cuh>
#include <vouch/core/launch.cuh>
#include <vouch/core/scratch.cuh>
#include <vouch/core/transposed_copies.cuh>
#include <vouch/dense/transpose/transpose_cuda.hpp>

namespace vouch::detail {
namespace {

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

template <class E, class Byte>
auto grid_of(element_grid<Byte> A) {
  using entry = std::conditional_t<std::is_const_v<Byte>, const E, E>;
  return element_grid<entry>{reinterpret_cast<entry*>(A.data), A.rows, A.cols, A.ld};
}

bool aligned(const void* data, int bytes) { return reinterpret_cast<std::uintptr_t>(data) % bytes == 0; }

// body(element) with the widest element that the alignment allows.
template <class Body>
void with_element(int bytes, bool whole, const Body& body) {
  if (bytes == 4)
    body(std::uint32_t{});
  else if (bytes == 8)
    whole ? body(std::uint64_t{}) : body(words2{});
  else
    whole ? body(words4{}) : body(pairs2{});
}

// A tile in shared memory, column after column: with one element more in each, so that neither rows nor columns
// have bank conflicts.
constexpr int tile = 32, threads = 256, warps = threads / 32;
template <class E>
using tile_in_shared_memory = E[tile][tile + 1];

// A warp takes a column.
template <class E>
__device__ void read_tile(const E* from, std::int64_t ld, int rows, int columns,
                          tile_in_shared_memory<E>& entry) {
  const int i = static_cast<int>(threadIdx.x) % 32, warp = static_cast<int>(threadIdx.x) / 32;
#pragma unroll
  for (int k = 0; k < tile; k += warps)
    if (const int j = k + warp; i < rows && j < columns) entry[j][i] = from[i + j * ld];
}
// The transpose of the tile, of so many rows and columns.
template <class E>
__device__ void write_transposed(const tile_in_shared_memory<E>& entry, E* to, std::int64_t ld, int rows,
                                 int columns) {
  const int i = static_cast<int>(threadIdx.x) % 32, warp = static_cast<int>(threadIdx.x) / 32;
#pragma unroll
  for (int k = 0; k < tile; k += warps)
    if (const int j = k + warp; i < rows && j < columns) to[i + j * ld] = entry[i][j];
}

// A block exchanges a tile of the lower triangle and the one opposite; those on the diagonal are opposite
// themselves. The triangle of 2 half by 2 half tiles is folded into 2 half + 1 rows of half tiles: below the
// diagonal its first half columns, on and above it the rest, transposed. Bound by memory.
template <class E>
__global__ void __launch_bounds__(threads)
    transpose_square_tiles(E* A, std::int64_t n, std::int64_t ld, unsigned half) {
  __shared__ tile_in_shared_memory<E> lower, upper;
  const unsigned row = blockIdx.x / half, column = blockIdx.x % half;
  const bool folded = row <= column;
  const std::int64_t i0 = std::int64_t{folded ? half + column : row - 1} * tile,
                     j0 = std::int64_t{folded ? half + row : column} * tile;
  if (i0 >= n) return;  // an odd number of tiles is rounded up
  const auto rows = static_cast<int>(min(n - i0, std::int64_t{tile})),
             columns = static_cast<int>(min(n - j0, std::int64_t{tile}));
  E *const below = A + i0 + j0 * ld, *const above = A + j0 + i0 * ld;
  read_tile(below, ld, rows, columns, lower);
  if (i0 != j0) read_tile(above, ld, columns, rows, upper);
  __syncthreads();
  write_transposed(lower, above, ld, columns, rows);
  if (i0 != j0) write_transposed(upper, below, ld, rows, columns);
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

void transpose_square_cuda(const device& dev, int bytes, element_grid<std::byte> any) {
  with_element(bytes, aligned(any.data, bytes), [&](auto element) {
    using E = decltype(element);
    const auto A = grid_of<E>(any);
    const std::int64_t half = ceil_div<std::int64_t>(A.rows, 2 * tile);
    launch(dev, "transpose_square_tiles", {half * (2 * half + 1), threads}, transpose_square_tiles<E>, A.data,
           A.rows, A.ld, static_cast<unsigned>(half));
  });
}

void transpose_rectangle_cuda(const device& dev, int bytes, element_grid<std::byte> A) {
  const scratch<std::byte> copy(dev, A.rows * A.cols * bytes);
  check(cudaMemcpyAsync(copy.data(), A.data, static_cast<std::size_t>(copy.size()), cudaMemcpyDefault,
                        static_cast<cudaStream_t>(dev.stream())),
        "copying a matrix");
  transpose_elements_cuda(dev, bytes, {copy.data(), A.rows, A.cols, A.rows}, {A.data, A.cols, A.rows, A.cols});
}

}  // namespace vouch::detail
