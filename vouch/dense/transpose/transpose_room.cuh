// vouch/dense/transpose/transpose_room.cuh -- the shuffle of lines or columns that do not fit on the chip: through room
// in memory that stays in the second-level cache; private.
#pragma once
#include <algorithm>
#include <cstdint>

#include <vouch/core/launch.cuh>
#include <vouch/core/scratch.cuh>
#include <vouch/dense/transpose/transpose_lines.cuh>
#include <vouch/dense/transpose/transpose_panels.cuh>

namespace vouch::detail {

inline constexpr int room_threads = 512, room_warps = room_threads / 32;
inline constexpr std::int64_t room_bytes = std::int64_t{16} << 20;
inline constexpr int tile_lines = 64;

/// A block shuffles a line at a time, through room of its own. Bound by memory.
template <class E>
__global__ void __launch_bounds__(room_threads)
    shuffle_lines_in_room(E* __restrict__ A, walk of, E* __restrict__ room) {
  E* const own = room + std::int64_t{blockIdx.x} * of.length;
  constexpr int at_once = 8;  // on their way together
  for (std::uint32_t k = blockIdx.x; k < of.lines; k += gridDim.x) {
    E* const line = A + std::int64_t{k} * of.length;
    line_place at = of.at(threadIdx.x);
    E some[at_once];
    for (std::uint32_t begin = threadIdx.x; begin < of.length; begin += at_once * room_threads) {
#pragma unroll
      for (int u = 0; u < at_once; ++u)
        if (begin + u * room_threads < of.length) some[u] = line[begin + u * room_threads];
#pragma unroll
      for (int u = 0; u < at_once; ++u) {
        if (begin + u * room_threads < of.length) own[of.place(k, at)] = some[u];
        at = of.beyond(at, of.stride);
      }
    }
    __syncthreads();
#pragma unroll 8
    for (std::uint32_t j = threadIdx.x; j < of.length; j += room_threads) line[j] = own[j];
    __syncthreads();
  }
}

/// Columns first to first + width - 1 of the result into room, by lines. A block takes 64 lines of 32 columns
// through shared memory, where the columns' shifts differ by at most 31. Bound by memory.
template <class E>
__global__ void __launch_bounds__(room_threads)
    shuffle_columns(const E* __restrict__ A, panel_pass of, std::uint32_t first, std::uint32_t width,
                    E* __restrict__ room, std::uint32_t down) {
  constexpr int count = tile_lines + 31, turns = (count + room_warps - 1) / room_warps;
  __shared__ E entry[count][32];
  const std::uint32_t lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const std::uint32_t k0 = blockIdx.x % down * tile_lines, begin = blockIdx.x / down * 32,
                      j = first + begin + lane;
  const std::uint32_t least = (first + begin) / of.length_over;
  if (begin + lane < width) {
    E some[turns];
#pragma unroll
    for (int u = 0; u < turns; ++u) {
      std::uint32_t k = k0 + warp + u * room_warps + least;
      if (k >= of.lines) k -= of.lines;
      if (k >= of.lines) k %= of.lines;
      if (warp + u * room_warps < count) some[u] = A[std::int64_t{k} * of.length + j];
    }
#pragma unroll
    for (int u = 0; u < turns; ++u)
      if (warp + u * room_warps < count) entry[warp + u * room_warps][lane] = some[u];
  }
  __syncthreads();
  if (begin + lane >= width) return;
  const std::uint32_t more = j / of.length_over - least;
#pragma unroll
  for (int u = 0; u < tile_lines / room_warps; ++u) {
    const std::uint32_t k = warp + u * room_warps;
    if (k0 + k >= of.lines) continue;
    const std::int64_t line = of.place != nullptr ? of.place[k0 + k] : k0 + k;
    room[line * width + begin + lane] = entry[k + more][lane];
  }
}

/// And back; a warp a line.
template <class E>
__global__ void __launch_bounds__(room_threads)
    put_columns(E* __restrict__ A, std::int64_t lines, std::int64_t length, std::int64_t first,
                std::int64_t width, const E* __restrict__ room) {
  const std::int64_t k = std::int64_t{blockIdx.x} * room_warps + threadIdx.x / 32;
  if (k >= lines) return;
#pragma unroll 8
  for (std::int64_t j = threadIdx.x % 32; j < width; j += 32) A[k * length + first + j] = room[k * width + j];
}

template <class E>
void run_line_pass_in_room(const device& dev, E* A, const transpose_shuffle& shuffle) {
  constexpr auto size = static_cast<std::int64_t>(sizeof(E));
  const std::int64_t at_once = std::min({shuffle.lines, std::int64_t{2} * dev.processors(),
                                         std::max<std::int64_t>(32, room_bytes / (shuffle.length * size))});
  scratch<E> room(dev, at_once * shuffle.length);
  launch(dev, "shuffle_lines_in_room", {at_once, room_threads}, shuffle_lines_in_room<E>, A,
         walk(shuffle, room_threads), room.data());
}

template <class E>
void run_panel_pass_in_room(const device& dev, E* A, const panel_pass& of) {
  constexpr auto size = static_cast<std::int64_t>(sizeof(E));
  const std::int64_t lines = of.lines, length = of.length, down = ceil_div<std::int64_t>(lines, tile_lines);
  const std::int64_t width =
      std::min(length, std::max<std::int64_t>(32, room_bytes / (lines * size) / 32 * 32));
  scratch<E> room(dev, width * lines);
  for (std::int64_t first = 0; first < length; first += width) {
    const std::int64_t here = std::min(width, length - first);
    launch(dev, "shuffle_columns", {down * ceil_div<std::int64_t>(here, 32), room_threads}, shuffle_columns<E>,
           static_cast<const E*>(A), of, static_cast<std::uint32_t>(first), static_cast<std::uint32_t>(here),
           room.data(), static_cast<std::uint32_t>(down));
    launch(dev, "put_columns", {ceil_div<std::int64_t>(lines, room_warps), room_threads}, put_columns<E>, A,
           lines, length, first, here, static_cast<const E*>(room.data()));
  }
}

}  // namespace vouch::detail
