// vouch/band/reduction_cuda.hpp -- methods without interchanges on GPUs; private, defined only in CUDA builds.
//
// They are there to be compared with: every level of a reduction is a kernel, as in the published work.
// partition is the one that is fast.
#pragma once
#include <vouch/band/tridiagonal.hpp>
#include <vouch/band/workspace.hpp>
#include <vouch/core/device.hpp>

namespace vouch::detail {

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
