// Rectangles transposed in place on a GPU: three passes (transpose_shuffle.hpp) with room for some lines.
#include <algorithm>
#include <cstdint>

#include <vouch/core/array.hpp>
#include <vouch/core/launch.cuh>
#include <vouch/dense/transpose_cuda.hpp>
#include <vouch/dense/transpose_elements.cuh>
#include <vouch/dense/transpose_shuffle.hpp>

namespace vouch::detail {
namespace {

constexpr int threads = 512, warps = threads / 32;
constexpr std::int64_t room_bytes = std::int64_t{16} << 20;  // stays in the L2 cache
constexpr int tile_lines = 64;

// All numbers are below 2^31.
struct walk {
  std::uint32_t lines, length, length_over;
};

// A block shuffles a line at a time, through shared memory, or through room of its own where that is too small.
// A thread takes every 512th element; j / length_over and j lines mod length go along with j. Bound by memory.
template <class E>
__global__ void __launch_bounds__(threads) shuffle_lines(E* A, walk of, E* room) {
  extern __shared__ __align__(16) char memory[];
  E* const out = room != nullptr ? room + std::int64_t{blockIdx.x} * of.length : reinterpret_cast<E*>(memory);
  const auto mod = [&](std::uint64_t v) { return static_cast<std::uint32_t>(v % of.length); };
  const std::uint32_t stride = mod(std::uint64_t{threads} * of.lines),
                      begin = mod(std::uint64_t{threadIdx.x} * of.lines);
  for (std::uint32_t k = blockIdx.x; k < of.lines; k += gridDim.x) {
    E* const line = A + std::int64_t{k} * of.length;
    std::uint32_t product = begin, turn = threadIdx.x / of.length_over, rest = threadIdx.x % of.length_over;
    for (std::uint32_t j = threadIdx.x; j < of.length; j += threads) {
      std::uint32_t place = k + turn;
      if (place >= of.lines) place -= of.lines;
      if (place >= of.length) place %= of.length;
      place += product;
      if (place >= of.length) place -= of.length;
      out[place] = line[j];
      product += stride;
      if (product >= of.length) product -= of.length;
      turn += threads / of.length_over;
      rest += threads % of.length_over;
      if (rest >= of.length_over) {
        rest -= of.length_over;
        ++turn;
      }
    }
    __syncthreads();
    for (std::uint32_t j = threadIdx.x; j < of.length; j += threads) line[j] = out[j];
    __syncthreads();
  }
}

// What a pass within columns does: line goes[k], or k itself, of the result has A[(k + shift(j)) mod lines][j].
struct columns_pass {
  std::int64_t lines, length, length_over;  // shift(j) is j / length_over
  const std::uint32_t* goes;
  __device__ std::int64_t shift(std::int64_t j) const { return j / length_over; }
};

// Columns first to first + width - 1 of the result into room, by lines. A block takes 64 lines of 32 columns
// through shared memory, where the columns' shifts differ by at most 31. Bound by memory.
template <class E>
__global__ void __launch_bounds__(threads) shuffle_columns(const E* A, columns_pass of, std::int64_t first,
                                                           std::int64_t width, E* room, std::int64_t down) {
  __shared__ E entry[tile_lines + 31][32];
  const int lane = static_cast<int>(threadIdx.x) % 32, warp = static_cast<int>(threadIdx.x) / 32;
  const std::int64_t k0 = blockIdx.x % down * tile_lines, begin = blockIdx.x / down * 32,
                     j = first + begin + lane;
  const bool inside = begin + lane < width;
  const std::int64_t least = of.shift(first + begin);
#pragma unroll 6
  for (int k = warp; k < tile_lines + 31; k += warps)
    if (inside) entry[k][lane] = A[(k0 + k + least) % of.lines * of.length + j];
  __syncthreads();
  if (!inside) return;
  const int more = static_cast<int>(of.shift(j) - least);
  for (int k = warp; k < tile_lines && k0 + k < of.lines; k += warps) {
    const std::int64_t line = of.goes != nullptr ? of.goes[k0 + k] : k0 + k;
    room[line * width + begin + lane] = entry[k + more][lane];
  }
}

// And back.
template <class E>
__global__ void __launch_bounds__(threads) put_columns(E* A, std::int64_t lines, std::int64_t length,
                                                       std::int64_t first, std::int64_t width, const E* room) {
  for (std::int64_t k = blockIdx.x; k < lines; k += gridDim.x)
    for (std::int64_t j = threadIdx.x; j < width; j += threads) A[k * length + first + j] = room[k * width + j];
}

// goes[source(k)] = k
__global__ void __launch_bounds__(threads) invert_source(transpose_shuffle shuffle, std::uint32_t* goes) {
  const std::int64_t k = std::int64_t{blockIdx.x} * threads + threadIdx.x;
  if (k < shuffle.lines) goes[shuffle.source(k)] = static_cast<std::uint32_t>(k);
}

template <class E>
void run_columns_pass(const device& dev, E* A, const columns_pass& of, array<std::byte>& room,
                      std::int64_t width) {
  E* const strip = reinterpret_cast<E*>(room.data());
  const std::int64_t down = ceil_div<std::int64_t>(of.lines, tile_lines);
  for (std::int64_t first = 0; first < of.length; first += width) {
    const std::int64_t here = std::min(width, of.length - first);
    launch(dev, "shuffle_columns", {down * ceil_div<std::int64_t>(here, 32), threads}, shuffle_columns<E>,
           static_cast<const E*>(A), of, first, here, strip, down);
    launch(dev, "put_columns", {std::min<std::int64_t>(of.lines, 8 * dev.processors()), threads},
           put_columns<E>, A, of.lines, of.length, first, here, static_cast<const E*>(strip));
  }
}

template <class E>
void run(const device& dev, E* A, std::int64_t lines, std::int64_t length) {
  const transpose_shuffle shuffle(lines, length);
  constexpr auto size = static_cast<std::int64_t>(sizeof(E));
  const std::int64_t width =
      std::min(length, std::max<std::int64_t>(32, room_bytes / (lines * size) / 32 * 32));
  const bool shared = length * size <= 200 << 10;
  const std::int64_t at_once =
      std::min({lines, std::int64_t{2} * dev.processors(),
                shared ? lines : std::max<std::int64_t>(32, room_bytes / (length * size))});
  array<std::byte> room(dev, std::max(width * lines, shared ? 0 : at_once * length) * size);
  array<std::uint32_t> goes(dev, lines);
  launch(dev, "invert_source", {ceil_div<std::int64_t>(lines, threads), threads}, invert_source, shuffle,
         goes.data());
  if (shuffle.common > 1)
    run_columns_pass<E>(dev, A, {lines, length, shuffle.length_over, nullptr}, room, width);
  launch(dev, "shuffle_lines",
         {at_once, threads, shared ? static_cast<std::size_t>(length * size) : std::size_t{0}},
         shuffle_lines<E>, A,
         walk{static_cast<std::uint32_t>(lines), static_cast<std::uint32_t>(length),
              static_cast<std::uint32_t>(shuffle.length_over)},
         shared ? nullptr : reinterpret_cast<E*>(room.data()));
  run_columns_pass<E>(dev, A, {lines, length, 1, goes.data()}, room, width);
}

}  // namespace

void transpose_rectangle_cuda(const device& dev, int bytes, element_grid<std::byte> A) {
  with_element(bytes, aligned(A.data, bytes), [&](auto element) {
    using E = decltype(element);
    run(dev, reinterpret_cast<E*>(A.data), A.cols, A.rows);
  });
}

}  // namespace vouch::detail
