// vouch/band/held_runs.cuh -- long systems that need interchanges, in one pass; private, defined only in CUDA
// builds.
#pragma once
#include <vouch/band/chunk.cuh>
#include <vouch/core/device.hpp>

namespace vouch::detail {

/// What passes over long systems have found out; zeros at first.
struct pass_state {
  int halos_failed;   // one pass with halos cannot do
  int interchanges;   // rows do not dominate: if it cannot, held runs are to try
  int coupled;        // nor can they
  unsigned meetings;  // of the blocks of a kernel
  unsigned taken[2];  // tiles in either of its passes
  unsigned items;     // that blocks of one pass have taken
};

constexpr int held_run_rows = 32 * 17;  // of a warp

/// Of the memory that solve_held_runs() needs.
template <real T>
std::int64_t held_run_numbers(const batch_shape& shape);

/// Enqueues a kernel that solves all systems if halos have failed and interchanges are needed; where far
/// couplings cannot be dropped it says that they are coupled, and x is not to be used. Returns false, and does
/// nothing, where the rows do not lie so that it can.
///
/// Memory  seams: held_run_numbers() zeros; x overlaps nothing
template <real T>
bool solve_held_runs(const device& dev, const band_task<T>& task, pass_state* state, T* seams);

}  // namespace vouch::detail
