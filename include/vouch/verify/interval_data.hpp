// vouch/verify/interval_data.hpp -- bounds that hold for every system whose data lie within given radii.
#pragma once
#include <vouch/core/array.hpp>
#include <vouch/core/device.hpp>
#include <vouch/core/view.hpp>
#include <vouch/core/visibility.hpp>
#include <vouch/sparse/csr.hpp>
#include <vouch/verify/certificate.hpp>
#include <vouch/verify/error_bound.hpp>

namespace VOUCH_PUBLIC vouch {

/// All A' and b' with |A' - A| <= matrix and |b' - b| <= rhs, entry by entry, on the CPU. No entry is negative;
/// the pattern need not be that of A.
struct data_radii {
  csr<double> matrix;
  array<double> rhs;
};

/// Widens the bound of the solution of one system to one of the solutions of all within the radii.
///
/// Shapes  The matrix of radii is n-by-n, its right-hand side, x and bound.radius have n elements.
/// Memory  proof, x and bound belong to A x* = b, on dev; the radii live on the CPU.
/// Result  Proved: no matrix within the radii is singular, and |x - x'| <= bound.radius for all A' x' = b'.
///         Where that is not found, bound.verified is false: a singular matrix may be among them. relative
///         is what was asked of the error, 0 for anything.
/// Cost    Mostly three bounds by the proof and passes over the radii.
/// Throws  shape_error  lengths that do not fit
///         value_error  a radius that is negative or not finite; proof and bound are for different matrices
/// Source  Neumaier, Interval Methods for Systems of Equations (1990), 4.1; docs/rigor.md.
void widen_to_data(const device& dev, certificate& proof, const data_radii& radii, view<const double> x,
                   double relative, error_bound& bound);

}  // namespace vouch
