// vouch/solve/direct/direct.hpp -- dense systems solved by factorisation and refined.
#pragma once
#include <vouch/core/device.hpp>
#include <vouch/core/view.hpp>
#include <vouch/core/visibility.hpp>
#include <vouch/dense/matrix.hpp>
#include <vouch/dense/types.hpp>
#include <vouch/solve/loop/report.hpp>
#include <vouch/solve/loop/stopping_criterion.hpp>

namespace VOUCH_PUBLIC vouch {

/// Solves op(A) x = b by LU with partial pivoting, then refines x on residuals in twice the precision.
///
/// Shapes  A is n-by-n, b and x have n elements; n may be 0.
/// Types   T is float or double.
/// Memory  Everything lives on dev; a copy of A besides, on a GPU two of them unless A is row-major with whole
///         16 bytes a row. x holds the start and receives the result.
/// Result  The numerical contract of docs/contract.md, goal's tolerance included; an iteration is one solve
///         with the factors. On the CPU rows whose sizes differ by more than 2^3 are brought near 1 first, by
///         powers of two. Status breakdown where a pivot is exactly zero, unless b = 0. The same bits on
///         every run with one LAPACK or one cuSOLVER; on the CPU for any number of threads up to 1024 rows, for
///         one number of them beyond, where the report says that the bits are not reproducible.
/// Cost    2/3 n^3 flops, and 2 n^2 and one pass over A an iteration.
/// Throws  shape_error  A not square, wrong lengths
///         value_error  there is no LAPACK (of OpenBLAS or of Netlib); a goal other than the residual; NaN or
///                      infinity in A, b or x
///         no_cuda_error  dev is a GPU and there is no cuSOLVER
/// Source  Wilkinson; Higham, Accuracy and Stability of Numerical Algorithms, 2002, chapter 12.
template <real T>
solve_report lu(const device& dev, transpose op, matrix_view<const T> A, view<const T> b, view<T> x,
                const stopping_criterion& goal = {});

/// The same by Cholesky for a symmetric positive definite A, of which the factorisation reads the lower
/// triangle alone: what else is in A shows in the residual.
///
/// Result  Status not_spd where A is not positive definite, unless b = 0.
/// Cost    1/3 n^3 flops, half of those of lu().
template <real T>
solve_report cholesky(const device& dev, matrix_view<const T> A, view<const T> b, view<T> x,
                      const stopping_criterion& goal = {});

}  // namespace vouch
