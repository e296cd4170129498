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

// Where the elements of a line go that a thread has: every 512th, one after the other. j / length_over and
// j lines mod length go along with j.
struct line_walk {
  walk of;
  std::uint32_t line, stride, product, turn, rest;

  __device__ line_walk(const walk& w, std::uint32_t k)
      : of(w),
        line(k),
        stride(static_cast<std::uint32_t>(std::uint64_t{threads} * of.lines % of.length)),
        product(static_cast<std::uint32_t>(std::uint64_t{threadIdx.x} * of.lines % of.length)),
        turn(threadIdx.x / of.length_over),
        rest(threadIdx.x % of.length_over) {}

  __device__ std::uint32_t place() const {
    std::uint32_t to = line + turn;
    if (to >= of.lines) to -= of.lines;
    if (to >= of.length) to %= of.length;
    to += product;
    return to >= of.length ? to - of.length : to;
  }
  __device__ void advance() {
    product += stride;
    if (product >= of.length) product -= of.length;
    turn += threads / of.length_over;
    rest += threads % of.length_over;
    if (rest < of.length_over) return;
    rest -= of.length_over;
    ++turn;
  }
};

// A block shuffles a line at a time, through shared memory, or through room of its own where that is too small.
// Bound by memory.
template <class E>
__global__ void __launch_bounds__(threads) shuffle_lines(E* __restrict__ A, walk of, E* __restrict__ room) {
  extern __shared__ __align__(16) char memory[];
  E* const shared = reinterpret_cast<E*>(memory);
  E* const own = room + std::int64_t{blockIdx.x} * of.length;
  constexpr int at_once = 8;  // on their way together
  for (std::uint32_t k = blockIdx.x; k < of.lines; k += gridDim.x) {
    E* const line = A + std::int64_t{k} * of.length;
    line_walk to(of, k);
    E some[at_once];
    for (std::uint32_t begin = threadIdx.x; begin < of.length; begin += at_once * threads) {
#pragma unroll
      for (int u = 0; u < at_once; ++u)
        if (begin + u * threads < of.length) some[u] = line[begin + u * threads];
#pragma unroll
      for (int u = 0; u < at_once; ++u) {
        if (begin + u * threads < of.length) (room != nullptr ? own : shared)[to.place()] = some[u];
        to.advance();
      }
    }
    __syncthreads();
    for (std::uint32_t begin = threadIdx.x; begin < of.length; begin += at_once * threads) {
#pragma unroll
      for (int u = 0; u < at_once; ++u)
        if (const std::uint32_t j = begin + u * threads; j < of.length)
          some[u] = room != nullptr ? own[j] : shared[j];
#pragma unroll
      for (int u = 0; u < at_once; ++u)
        if (const std::uint32_t j = begin + u * threads; j < of.length) line[j] = some[u];
    }
    __syncthreads();
  }
}

// What a pass within columns does: line goes[k], or k itself, of the result has A[(k + shift(j)) mod lines][j].
struct columns_pass {
  std::uint32_t lines, length, length_over;  // shift(j) is j / length_over
  const std::uint32_t* goes;
  __device__ std::uint32_t shift(std::uint32_t j) const { return j / length_over; }
};

// Columns first to first + width - 1 of the result into room, by lines. A block takes 64 lines of 32 columns
// through shared memory, where the columns' shifts differ by at most 31. Bound by memory.
template <class E>
__global__ void __launch_bounds__(threads)
    shuffle_columns(const E* __restrict__ A, columns_pass of, std::uint32_t first, std::uint32_t width,
                    E* __restrict__ room, std::uint32_t down) {
  constexpr int count = tile_lines + 31, turns = (count + warps - 1) / warps;
  __shared__ E entry[count][32];
  const std::uint32_t lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const std::uint32_t k0 = blockIdx.x % down * tile_lines, begin = blockIdx.x / down * 32,
                      j = first + begin + lane;
  const std::uint32_t least = of.shift(first + begin);
  if (begin + lane < width) {
    E some[turns];
#pragma unroll
    for (int u = 0; u < turns; ++u) {
      std::uint32_t k = k0 + warp + u * warps + least;
      if (k >= of.lines) k -= of.lines;
      if (k >= of.lines) k %= of.lines;
      if (warp + u * warps < count) some[u] = A[std::int64_t{k} * of.length + j];
    }
#pragma unroll
    for (int u = 0; u < turns; ++u)
      if (warp + u * warps < count) entry[warp + u * warps][lane] = some[u];
  }
  __syncthreads();
  if (begin + lane >= width) return;
  const std::uint32_t more = of.shift(j) - least;
#pragma unroll
  for (int u = 0; u < tile_lines / warps; ++u) {
    const std::uint32_t k = warp + u * warps;
    if (k0 + k >= of.lines) continue;
    const std::int64_t line = of.goes != nullptr ? of.goes[k0 + k] : k0 + k;
    room[line * width + begin + lane] = entry[k + more][lane];
  }
}

// And back; a warp a line.
template <class E>
__global__ void __launch_bounds__(threads)
    put_columns(E* __restrict__ A, std::int64_t lines, std::int64_t length, std::int64_t first,
                std::int64_t width, const E* __restrict__ room) {
  const std::int64_t k = std::int64_t{blockIdx.x} * warps + threadIdx.x / 32;
  if (k >= lines) return;
#pragma unroll 8
  for (std::int64_t j = threadIdx.x % 32; j < width; j += 32) A[k * length + first + j] = room[k * width + j];
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
           static_cast<const E*>(A), of, static_cast<std::uint32_t>(first), static_cast<std::uint32_t>(here),
           strip, static_cast<std::uint32_t>(down));
    launch(dev, "put_columns", {ceil_div<std::int64_t>(of.lines, warps), threads}, put_columns<E>, A,
           std::int64_t{of.lines}, std::int64_t{of.length}, first, here, static_cast<const E*>(strip));
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
  const auto short_lines = static_cast<std::uint32_t>(lines), short_length = static_cast<std::uint32_t>(length),
             over = static_cast<std::uint32_t>(shuffle.length_over);
  if (shuffle.common > 1) run_columns_pass<E>(dev, A, {short_lines, short_length, over, nullptr}, room, width);
  launch(dev, "shuffle_lines",
         {at_once, threads, shared ? static_cast<std::size_t>(length * size) : std::size_t{0}},
         shuffle_lines<E>, A, walk{short_lines, short_length, over},
         shared ? nullptr : reinterpret_cast<E*>(room.data()));
  run_columns_pass<E>(dev, A, {short_lines, short_length, 1, goes.data()}, room, width);
}

}  // namespace

void transpose_rectangle_cuda(const device& dev, int bytes, element_grid<std::byte> A) {
  with_element(bytes, aligned(A.data, bytes), [&](auto element) {
    using E = decltype(element);
    run(dev, reinterpret_cast<E*>(A.data), A.cols, A.rows);
  });
}

}  // namespace vouch::detail
