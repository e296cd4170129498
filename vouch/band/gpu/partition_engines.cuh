// vouch/band/gpu/partition_engines.cuh -- the engines of the partition method on GPUs; private, defined
// only in CUDA builds.
#pragma once
#include <vouch/band/gpu/chunk.cuh>
#include <vouch/band/tridiagonal.hpp>
#include <vouch/band/workspace.hpp>
#include <vouch/core/device.hpp>

namespace vouch::detail {

/// Solves all systems where they fill the GPU with tiles, and every system begins as far from a line of 16
/// bytes in x as in all other arrays; side by side in a line. offsets: those of x on the GPU, where there are
/// any. broken: see partition_cuda(). x is b itself or overlaps nothing.
///
/// Result  Whether they do; if not, nothing has been enqueued.
template <real T>
bool solve_in_contiguous_tiles(const device& dev, const tridiagonal_view<const T>& A,
                               const batch_view<const T>& b, const batch_view<T>& x,
                               const std::int64_t* offsets, int* broken);
template <real T>
bool solve_in_interleaved_tiles(const device& dev, const tridiagonal_view<const T>& A,
                                const batch_view<const T>& b, const batch_view<T>& x, int* broken);
template <real T>
bool solve_in_tiles(const device& dev, const tridiagonal_view<const T>& A, const batch_view<const T>& b,
                    const batch_view<T>& x, int* broken);

/// Solves all systems of a task, offsets on the GPU; x is b itself or overlaps nothing.
///
/// Result  Which implementation was enqueued.
template <real T>
const char* solve_long_systems(const device& dev, const band_task<T>& task, tridiagonal_workspace& workspace);

/// What passes over long systems have found out; zeros at first.
struct pass_state {
  int halos_failed;        // one pass with halos cannot do
  int interchanges;        // rows do not dominate: if it cannot, register-resident runs are to try
  int coupled;             // nor can they
  unsigned barrier_count;  // of the blocks of a kernel
  unsigned taken[2];       // tiles in either of its passes
  unsigned items;          // that blocks of one pass have taken
};

constexpr int resident_run_rows = 32 * 17;  // of a warp

/// Of the memory that solve_register_resident() needs.
template <real T>
std::int64_t register_resident_numbers(const batch_shape& shape);

/// Enqueues a kernel that solves all systems if halos have failed and interchanges are needed; where far
/// couplings cannot be dropped it says that they are coupled, and x is not to be used. Returns false, and does
/// nothing, where the rows do not lie so that it can.
///
/// Memory  boundaries: register_resident_numbers() zeros; x overlaps nothing
template <real T>
bool solve_register_resident(const device& dev, const band_task<T>& task, pass_state* state, T* boundaries);

/// Of the memory that solve_general_system() needs.
std::int64_t general_system_numbers(std::int64_t n);

/// Enqueues a kernel that solves the system of a task if one pass has found out that it cannot do;
/// resident: and solve_register_resident(), where interchanges are needed. Returns false, and does nothing,
/// where there are more systems, or rows do not lie so that it can.
///
/// Memory  x overlaps nothing; on the way it holds reduced blocks
bool solve_general_system(const device& dev, const band_task<double>& task, bool resident, pass_state* state,
                          double* memory);

}  // namespace vouch::detail
