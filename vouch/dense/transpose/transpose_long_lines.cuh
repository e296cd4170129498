// vouch/dense/transpose/transpose_long_lines.cuh -- the shuffle within lines too long for one block, of matrices of few
// lines; private.
//
// Mapping   A group of blocks has a line in its shared memory, each block the part that ends at its place; the
//           groups take lines in turn. What ends in one part comes from as many runs of the line as there are
//           lines: a warp takes a run.
// Meetings  one of the group's blocks a line: all of it has been read before any of it is written.
// Bound     by memory.
#pragma once
#include <algorithm>
#include <cstdint>
#include <optional>

#include <vouch/core/gpu/async_copy.cuh>
#include <vouch/core/grid_barrier.cuh>
#include <vouch/core/launch.cuh>
#include <vouch/core/scratch.cuh>
#include <vouch/dense/transpose/transpose_elements.cuh>
#include <vouch/dense/transpose/transpose_lines.cuh>
#include <vouch/dense/transpose/transpose_panels.cuh>

namespace vouch::detail {

struct long_line_plan {
  std::uint32_t groups, members, each;  // blocks of a group, elements a block
};

inline constexpr int long_line_threads = 512;

/// Elements that end at first to last - 1 of line k in the order of `run`, of `lines` runs: element j of the
/// line goes to j lines + start - wraps of the line's length.
struct line_runs {
  transpose_shuffle of;

  template <class Body>
  __device__ void each(std::int64_t k, std::int64_t first, std::int64_t last, const Body& body) const {
    constexpr int warps = long_line_threads / 32;
    for (std::int64_t run = threadIdx.x / 32; run < of.lines; run += warps) {
      const std::int64_t turn = run / of.lines_over, wraps = run % of.lines_over;
      const std::int64_t start = (k + turn) % of.lines - wraps * of.length;
      const std::int64_t begin = max(std::int64_t{0}, ceil_div(first - start, of.lines)),
                         end = min(of.length_over, ceil_div(last - start, of.lines));
      for (std::int64_t j = begin + threadIdx.x % 32; j < end; j += 32)
        body(turn * of.length_over + j, start + j * of.lines);
    }
  }
};

/// Neighbours of a run stand `lines` elements apart: where that is a multiple of banks they change places
/// within 32 elements.
struct bank_order {
  bool mixed;
  __device__ std::uint32_t operator()(std::uint32_t i) const {
    return mixed ? i ^ ((i >> 5 ^ i >> 10) & 31) : i;
  }
};

template <class E, bool Back>
__global__ void __launch_bounds__(long_line_threads, panel_blocks)
    shuffle_long_lines(E* A, transpose_shuffle of, long_line_plan plan, unsigned* counters) {
  extern __shared__ __align__(16) char memory[];
  E* const entry = reinterpret_cast<E*>(memory);
  const line_runs runs{of};
  const bank_order bank{of.lines % 8 == 0};
  const std::uint32_t group = blockIdx.x % plan.groups, member = blockIdx.x / plan.groups;
  const std::int64_t first = min(of.length, std::int64_t{member} * plan.each),
                     last = min(of.length, first + plan.each);
  const auto here = static_cast<std::uint32_t>(last - first);
  unsigned meeting = 0;
  for (std::int64_t k = group; k < of.lines; k += plan.groups) {
    E* const line = A + k * of.length;
    if (Back)
      for (std::uint32_t i = threadIdx.x; i < here; i += long_line_threads)
        copy_to_shared<l2_fetch::line>(entry + bank(i), line + first + i);
    else
      runs.each(k, first, last, [&](std::int64_t from, std::int64_t to) {
        copy_to_shared<l2_fetch::line>(entry + bank(static_cast<std::uint32_t>(to - first)), line + from);
      });
    wait_copies_to_shared();
    __syncthreads();
    ++meeting;
    if (threadIdx.x == 0) grid_barrier(counters + group * apart, plan.members, meeting);
    __syncthreads();
    if (Back)
      runs.each(k, first, last, [&](std::int64_t to, std::int64_t from) {
        line[to] = entry[bank(static_cast<std::uint32_t>(from - first))];
      });
    else
      for (std::uint32_t i = threadIdx.x; i < here; i += long_line_threads) line[first + i] = entry[bank(i)];
    __syncthreads();
  }
}

/// Nothing where a line does not fit on the chip, or its runs would be short.
template <class E>
std::optional<long_line_plan> plan_long_lines(const device& dev, std::int64_t lines, std::int64_t length) {
  constexpr std::int64_t size = sizeof(E), shortest_run = 64;
  const std::int64_t most = shared_bytes_of_block(dev) / size / 32 * 32,
                     blocks = panel_blocks * dev.processors();
  const std::int64_t needed = ceil_div(length, most);
  if (needed > blocks || most * size < shortest_run * lines) return std::nullopt;
  const std::int64_t groups = std::min(blocks / needed, lines), members = blocks / groups;
  const std::int64_t each = std::min(most, ceil_div(ceil_div(length, members), std::int64_t{32}) * 32);
  return long_line_plan{static_cast<std::uint32_t>(groups), static_cast<std::uint32_t>(ceil_div(length, each)),
                        static_cast<std::uint32_t>(each)};
}

template <class E>
void run_long_line_pass(const device& dev, E* A, const transpose_shuffle& shuffle, const long_line_plan& plan,
                        bool back) {
  scratch<unsigned> counters(dev, plan.groups * apart);
  zero_bytes(dev, counters.data(), static_cast<std::size_t>(counters.size()) * sizeof(unsigned));
  launch(dev, "shuffle_long_lines",
         {std::int64_t{plan.groups} * plan.members, long_line_threads, plan.each * sizeof(E), 1, true},
         back ? shuffle_long_lines<E, true> : shuffle_long_lines<E, false>, A, shuffle, plan, counters.data());
}

}  // namespace vouch::detail
