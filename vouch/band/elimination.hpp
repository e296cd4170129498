// vouch/band/elimination.hpp -- the methods for tridiagonal systems, on CPUs and on GPUs; private.
#pragma once
#include <cstdint>

#include <vouch/band/tridiagonal.hpp>
#include <vouch/band/workspace.hpp>
#include <vouch/core/device.hpp>

namespace vouch::detail {

/// How the elimination of one system went.
struct elimination_facts {
  double largest = 0;   // coefficient of eliminated rows; with pivoting, of rows scaled to size 1
  bool broken = false;  // a pivot was zero, or the answer is not finite
};

// ---- on a CPU
//
// Every method solves A x = b for all systems and fills facts, one for each system. x of a broken system holds
// anything. Shapes are checked by the caller; A, b and x lie on the CPU, x overlaps nothing. Bits do not depend
// on the number of threads.

/// Elimination without interchanges. Not periodic.
template <real T>
void solve_thomas(const device& dev, const tridiagonal_view<const T>& A, const batch_view<const T>& b,
                  const batch_view<T>& x, elimination_facts* facts);
/// LU with partial pivoting of rows scaled to the same size by powers of two. Not periodic.
template <real T>
void solve_pivoted(const device& dev, const tridiagonal_view<const T>& A, const batch_view<const T>& b,
                   const batch_view<T>& x, elimination_facts* facts);
/// Segments reduced to their boundary unknowns, with interchanges; periodic as well. x may be b.
template <real T>
void solve_partition(const device& dev, const tridiagonal_view<const T>& A, const batch_view<const T>& b,
                     const batch_view<T>& x, elimination_facts* facts);
/// Cyclic (odd-even) reduction. Not periodic.
template <real T>
void solve_cyclic_reduction(const device& dev, const tridiagonal_view<const T>& A, const batch_view<const T>& b,
                            const batch_view<T>& x, elimination_facts* facts);
/// Parallel cyclic reduction. Not periodic.
template <real T>
void solve_pcr(const device& dev, const tridiagonal_view<const T>& A, const batch_view<const T>& b,
               const batch_view<T>& x, elimination_facts* facts);

/// Systems of fewer rows are one segment to the partition method.
constexpr std::int64_t partition_least = 512;

// ---- on a GPU; defined only in CUDA builds

/// Solves all systems; offsets of the shapes lie in host memory. broken is nullptr or an int of every system on
/// the GPU, which becomes 1 where there is no answer. x is b itself or overlaps nothing.
///
/// Result  Which implementation was enqueued.
template <real T>
const char* partition_cuda(const device& dev, const tridiagonal_view<const T>& A, const batch_view<const T>& b,
                           const batch_view<T>& x, int* broken, tridiagonal_workspace& workspace);

// Methods without interchanges, to compare with: every level of a reduction is a kernel, as in the
// published work.

/// A thread a system. Offsets of the shapes lie in host memory, here and below; x overlaps nothing. Not
/// periodic.
template <real T>
void thomas_cuda(const device& dev, const tridiagonal_view<const T>& A, const batch_view<const T>& b,
                 const batch_view<T>& x, tridiagonal_workspace& workspace);
template <real T>
void cyclic_reduction_cuda(const device& dev, const tridiagonal_view<const T>& A, const batch_view<const T>& b,
                           const batch_view<T>& x, tridiagonal_workspace& workspace);
template <real T>
void pcr_cuda(const device& dev, const tridiagonal_view<const T>& A, const batch_view<const T>& b,
              const batch_view<T>& x, tridiagonal_workspace& workspace);

}  // namespace vouch::detail
