// vouch/solve/krylov/cg_resident_plan.hpp -- how a small system is laid out over the shared memories of a GPU;
// a detail of public headers.
//
// Rows are dealt to blocks in contiguous pieces of equal work. Each block keeps its rows of A, and the vectors
// of its own rows and of the foreign rows ("halo") that its entries touch. Slots number both: own rows first,
// longest first, then the halo by row. All blocks use the same strides, so that an offset in shared memory
// means the same in every block of a cluster.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include <vouch/sparse/csr.hpp>

namespace vouch {

/// What the kernel is launched with; found by a stored rule, or given by a benchmark that searches for the
/// rule.
struct resident_shape {
  bool cluster = true;  // one cluster with distributed shared memory; else the whole grid through L2
  int blocks = 16;
  int threads = 512;
  int lanes = 8;  // threads a row: 1, 2, 4 or 8
};

struct resident_block {
  std::int32_t own = 0;     // rows of this block
  std::int32_t slots = 0;   // own and halo
  std::int32_t slices = 0;  // groups of 32/lanes rows
  std::int32_t tasks = 0;   // of sending, in a cluster
};

/// Element counts in shared memory, the same for every block.
struct resident_strides {
  std::int32_t entries = 0;  // values and columns: slices of 32 lanes, row after row of 32
  std::int32_t slices = 0;   // slice starts: slices + 1
  std::int32_t slots = 0;
  std::int32_t own = 0;
  std::int32_t pushes = 0;
  std::int32_t tasks = 0;
};

/// Up to 32 values that a warp sends to neighbouring slots of one other block: from the own slots
/// push[first] to push[first + count - 1].
struct resident_task {
  std::uint16_t block;
  std::uint16_t slot;
  std::uint16_t first;
  std::uint16_t count;
};

template <real T>
struct resident_plan {
  resident_shape shape;
  resident_strides stride;
  std::int64_t rows = 0;
  std::vector<resident_block> block;
  std::vector<T> val;                // blocks x stride.entries; padding is 0 at slot 0
  std::vector<std::uint16_t> col;    // the slot of each entry's column
  std::vector<std::uint32_t> slice;  // blocks x (stride.slices + 1), in units of 32 entries
  std::vector<std::int32_t> row;     // blocks x stride.slots: the matrix row of each slot
  std::vector<std::uint16_t>
      push;  // blocks x stride.pushes: own slots, grouped by where they go (clusters only)
  std::vector<resident_task> task;  // blocks x stride.tasks (clusters only)

  std::size_t shared_bytes(bool diagonal) const;
};

/// The layout of A (on the CPU) for a shape; nothing if a block would need more than 65,535 slots.
template <real T>
std::optional<resident_plan<T>> plan_resident(csr_view<const T> A, const resident_shape& shape);

/// The shape that the stored rule gives for a matrix of this size: a cluster where it is the faster.
resident_shape choose_resident_shape(std::int64_t rows, std::int64_t nonzeros, int processors);
/// The best shape over the whole grid.
resident_shape grid_resident_shape(std::int64_t rows, std::int64_t nonzeros, int processors);

}  // namespace vouch
