// vouch/solve/direct/sparse_lu.hpp -- sparse systems solved by factorisation and refined.
#pragma once
#include <vouch/core/device.hpp>
#include <vouch/core/view.hpp>
#include <vouch/core/visibility.hpp>
#include <vouch/solve/loop/report.hpp>
#include <vouch/solve/loop/stopping_criterion.hpp>
#include <vouch/sparse/csr.hpp>
#include <vouch/sparse/lu_factors.hpp>

namespace VOUCH_PUBLIC vouch {

/// Solves A x = b with the factors of A, then refines x on residuals in twice the precision.
///
/// Shapes  A is n-by-n, b and x have n elements; n may be 0.
/// Types   T is float or double.
/// Memory  Everything lives on the CPU. x holds the start and receives the result.
/// Result  The numerical contract of docs/contract.md, goal's tolerance included; an iteration is one solve
///         with the factors, which serve any number of right-hand sides. Status breakdown where a pivot is
///         exactly zero, unless b = 0. Same bits on every run, for any number of threads.
/// Cost    2 factors.entries() flops and one pass over A an iteration.
/// Throws  shape_error  A not square, wrong lengths, factors of a matrix of another size
///         value_error  dev is a GPU; a goal other than the residual; NaN or infinity in A, b or x
/// Source  Wilkinson; Higham, Accuracy and Stability of Numerical Algorithms, 2002, chapter 12.
template <real T>
solve_report sparse_lu(const device& dev, csr_view<const T> A, const lu_factors<T>& factors, view<const T> b,
                       view<T> x, const stopping_criterion& goal = {});

/// The same with factors made for this right-hand side alone.
template <real T>
solve_report sparse_lu(const device& dev, csr_view<const T> A, view<const T> b, view<T> x,
                       const stopping_criterion& goal = {});

}  // namespace vouch
