// vouch/verify/enclosed_residual.hpp -- b - A x between two bounds.
#pragma once
#include <vouch/core/device.hpp>
#include <vouch/core/view.hpp>
#include <vouch/core/visibility.hpp>
#include <vouch/interval/interval.hpp>
#include <vouch/sparse/csr.hpp>
#include <vouch/verify/pass.hpp>
#include <vouch/verify/uncertainty.hpp>

namespace VOUCH_PUBLIC vouch {

/// r := an enclosure of b - A (x + x_lo), componentwise, for all data within the radii.
///
/// Shapes  A is m-by-n, x has n elements, b and r have m; m, n and nnz may be 0. x_lo is nullptr, meaning zero,
///         or has n elements.
/// Memory  Everything lives on dev, vectors are contiguous and r overlaps nothing.
/// Result  Proved. Without radii as tight as twice the working precision allows: row i is wider than exact by
///         at most 2 ulp of itself and c nnz_i^2 u^2 (|b| + |A||x|)_i with c below 40. What is NaN or infinite,
///         and what overflows, gives the entire line. Same bits on every run on one device, on the CPU for any
///         number of threads.
/// Cost    One pass over A; 16 flops an entry, 32 with x_lo; a look through the pattern besides. Waits for the
///         device. A dense matrix costs the same an entry.
/// Throws  shape_error  lengths that do not fit, a stride other than 1
///         value_error  a radius that is negative or not finite
/// Source  Error-free transformations: Ogita, Rump, Oishi, SIAM J. Sci. Comput. 26 (2005); docs/rigor.md.
void enclosed_residual(const device& dev, csr_view<const double> A, view<const double> b, view<const double> x,
                       const double* x_lo, view<interval<double>> r, const uncertainty& within = {});

void enclosed_residual(const device& dev, matrix_view<const double> A, view<const double> b,
                       view<const double> x, const double* x_lo, view<interval<double>> r,
                       const uncertainty& within = {});

namespace detail {
void enclosed_residual(const device& dev, const matrix_rows& A, view<const double> b, view<const double> x,
                       const double* x_lo, view<interval<double>> r, const uncertainty& within);
}

}  // namespace vouch
