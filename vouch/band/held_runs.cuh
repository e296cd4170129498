// vouch/band/held_runs.cuh -- long systems that need interchanges, in one pass; private, defined only in CUDA
// builds.
#pragma once
#include <vouch/band/chunk.cuh>
#include <vouch/core/device.hpp>

namespace vouch::detail {

/// What passes over a long system have found out; zeros at first.
struct pass_state {
  int interchanges;  // rows do not dominate: held runs are to try
  int two_passes;    // nothing but two passes can do
};

/// Of the memory that solve_held_runs() needs.
template <real T>
std::int64_t held_run_numbers(const batch_shape& shape);

/// Enqueues a kernel that solves all systems where *state asks for interchanges; where far couplings cannot be
/// dropped it asks for two passes, and x is not to be used. Returns false, and does nothing, where the rows do
/// not lie so that it can.
///
/// Memory  seams: held_run_numbers() of anything; x overlaps nothing
template <real T>
bool solve_held_runs(const device& dev, const band_task<T>& task, pass_state* state, T* seams);

}  // namespace vouch::detail
