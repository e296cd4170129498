// vouch/sparse/spmv.hpp -- sparse matrix times vector.
#pragma once
#include <vouch/core/device.hpp>
#include <vouch/core/view.hpp>
#include <vouch/core/visibility.hpp>
#include <vouch/sparse/csr.hpp>

namespace VOUCH_PUBLIC vouch {

/// y := alpha*A*x + beta*y for a CSR matrix, used once; where A is used often, spmv_plan is faster.
///
/// Shapes  A is m-by-n, x has n elements, y has m; m, n and nnz may be 0.
/// Types   T is float or double.
/// Memory  A, x and y live on dev; x and y are contiguous; y overlaps neither x nor A.
/// Result  Same bits on every run on one device, on the CPU for any number of threads. Row i errs by at most
///         gamma(nnz_i + 2) * (|alpha| |A| |x| + |beta| |y|)_i.
///         beta == 0 overwrites y: a NaN in the old y does not spread.
/// Cost    A look through the pattern, a third of the time; 2 nnz flops; nnz (sizeof T + 4) + m (8 + 2 sizeof
///         T) + n sizeof T bytes. Waits for the device.
/// Throws  shape_error   lengths that do not fit, a stride other than 1
///         value_error   A is not what csr_view says; the text names row and entry
///         device_error  the launch failed; the text names the kernel
template <real T>
void spmv(const device& dev, T alpha, csr_view<const T> A, view<const T> x, T beta, view<T> y);

}  // namespace vouch
