// vouch/dense/transpose/transpose_panels.cuh -- lines of a matrix that change places, each column turned besides, in one
// reading and one writing; private.
//
// Mapping   A panel is some neighbouring columns, 32 to 256 bytes of every line. A group of blocks has a panel
// in
//           its shared memory, each block its share of the lines; the groups take panels in turn. Two blocks a
//           multiprocessor: while one waits the other reads or writes.
// Meetings  one of the group's blocks a panel: all of it has been read before any of it is written.
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

namespace vouch::detail {

/// A[place(k)][j] := A[(k + j / length_over) mod lines][j], or back:
/// A[(k + j / length_over) mod lines][j] := A[place(k)][j].
struct panel_pass {
  std::uint32_t lines, length;
  std::uint32_t length_over;   // length: no column is turned
  const std::uint32_t* place;  // nullptr: k itself
};

/// How the blocks share the work.
struct panel_plan {
  std::uint32_t width_log;        // of a panel
  std::uint32_t groups, members;  // blocks of a group
  std::uint32_t each;             // lines a block
  std::size_t shared_bytes;

  template <class E>
  std::int64_t width_bytes() const {
    return std::int64_t{sizeof(E)} << width_log;
  }
};

inline constexpr std::uint32_t panel_threads = 512;
inline constexpr int panel_blocks = 2;     // a multiprocessor
inline constexpr std::int64_t apart = 32;  // counters, that groups do not share a cache line

/// What a thread of a block has to do with one panel: a column, of which it takes every step-th line.
template <class E>
struct panel_column {
  E* top;                         // of the column, in the matrix
  E* entry;                       // in shared memory, of the block's first line
  std::uint32_t width_log, here;  // lines of the block
  std::uint32_t start;            // the line that the panel's first column has for the block's first one
  std::uint32_t more, most;       // lines that this column, and the panel's last one, is turned beyond that
  std::uint32_t first, step;

  /// body(in shared memory, in the matrix) of all lines, where place says.
  template <class Body>
  __device__ void each_placed(const panel_pass& of, const std::uint32_t* place, const Body& body) const {
#pragma unroll 4
    for (std::uint32_t k = first; k < here; k += step)
      body(entry + (k << width_log), top + std::int64_t{place[k]} * of.length);
  }
  /// The same, turned.
  template <class Body>
  __device__ void each_turned(const panel_pass& of, const Body& body) const {
    std::uint32_t line = (start + first) % of.lines;
#pragma unroll 4
    for (std::uint32_t q = first; q < here + most; q += step) {
      const std::uint32_t k = q - more;
      if (k < here) body(entry + (k << width_log), top + std::int64_t{line} * of.length);
      line += step;
      if (line >= of.lines) line -= of.lines;
      if (line >= of.lines) line %= of.lines;
    }
  }
};

template <class E, bool Back>
__global__ void __launch_bounds__(panel_threads, panel_blocks)
    move_panels(E* A, panel_pass of, panel_plan plan, unsigned* counters) {
  extern __shared__ __align__(16) char memory[];
  const std::uint32_t width = 1u << plan.width_log, lane = threadIdx.x & (width - 1);
  const std::uint32_t group = blockIdx.x % plan.groups, member = blockIdx.x / plan.groups;
  const std::uint32_t first_line = min(of.lines, member * plan.each),
                      here = min(plan.each, of.lines - first_line);
  E* const entries = reinterpret_cast<E*>(memory);
  auto* const place = reinterpret_cast<std::uint32_t*>(entries + (std::size_t{plan.each} << plan.width_log));
  for (std::uint32_t k = threadIdx.x; k < here; k += panel_threads)
    place[k] = of.place != nullptr ? of.place[first_line + k] : first_line + k;
  __syncthreads();
  unsigned meeting = 0;
  for (std::uint32_t begin = group << plan.width_log; begin < of.length;
       begin += plan.groups << plan.width_log) {
    const std::uint32_t j = begin + lane, least = begin / of.length_over;
    const std::uint32_t last = min(begin + width, of.length) - 1;
    const panel_column<E> column{A + j,
                                 entries + lane,
                                 plan.width_log,
                                 here,
                                 first_line + least,
                                 j / of.length_over - least,
                                 last / of.length_over - least,
                                 threadIdx.x >> plan.width_log,
                                 panel_threads >> plan.width_log};
    const auto read = [](E* shared, const E* from) { copy_to_shared<l2_fetch::line>(shared, from); };
    const auto write = [](const E* shared, E* to) { *to = *shared; };
    if (j <= last) Back ? column.each_placed(of, place, read) : column.each_turned(of, read);
    wait_copies_to_shared();
    __syncthreads();
    if (plan.members > 1) {
      ++meeting;
      if (threadIdx.x == 0) grid_barrier(counters + group * apart, plan.members, meeting);
      __syncthreads();
    }
    if (j <= last) Back ? column.each_turned(of, write) : column.each_placed(of, place, write);
    __syncthreads();
  }
}

/// Of one of panel_blocks on a multiprocessor.
inline std::int64_t shared_bytes_of_block(const device& dev) {
  return (shared_memory(dev, cudaDevAttrMaxSharedMemoryPerMultiprocessor) / panel_blocks -
          shared_memory(dev, cudaDevAttrReservedSharedMemoryPerBlock)) /
         16 * 16;
}

/// Nothing where so many lines do not fit on the chip.
template <class E>
std::optional<panel_plan> plan_panels(const device& dev, std::int64_t lines, std::int64_t length) {
  constexpr auto size = static_cast<std::int64_t>(sizeof(E));
  const std::int64_t bytes = shared_bytes_of_block(dev);
  const std::int64_t blocks = panel_blocks * dev.processors();
  for (std::uint32_t log = 6; (size << log) >= 32; --log) {
    if ((size << log) > 256) continue;
    const std::int64_t line_bytes = (size << log) + 4, most = bytes / line_bytes;
    const std::int64_t needed = ceil_div(lines, most);
    if (needed > blocks) continue;
    const std::int64_t groups = std::min(blocks / needed, ceil_div(length, std::int64_t{1} << log));
    const std::int64_t each = ceil_div(lines, std::min(blocks / groups, lines)),
                       members = ceil_div(lines, each);
    return panel_plan{log, static_cast<std::uint32_t>(groups), static_cast<std::uint32_t>(members),
                      static_cast<std::uint32_t>(each), static_cast<std::size_t>(each * line_bytes)};
  }
  return std::nullopt;
}

template <class E>
void run_panel_pass(const device& dev, E* A, const panel_pass& of, const panel_plan& plan, bool back) {
  scratch<unsigned> counters(dev, plan.groups * apart);
  zero_bytes(dev, counters.data(), static_cast<std::size_t>(counters.size()) * sizeof(unsigned));
  launch(dev, "move_panels",
         {std::int64_t{plan.groups} * plan.members, panel_threads, plan.shared_bytes, 1, plan.members > 1},
         back ? move_panels<E, true> : move_panels<E, false>, A, of, plan, counters.data());
}

}  // namespace vouch::detail
