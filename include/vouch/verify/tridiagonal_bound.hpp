// vouch/verify/tridiagonal_bound.hpp -- how far solutions of tridiagonal systems are from the exact ones,
// proved.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include <vouch/band/tridiagonal.hpp>
#include <vouch/core/device.hpp>
#include <vouch/core/visibility.hpp>
#include <vouch/verify/error_bound.hpp>

namespace VOUCH_PUBLIC vouch {

/// The bounds over a batch and their evidence, of the worst system where there are several.
struct tridiagonal_bound {
  bool verified = false;  // |x - x*| <= radius, componentwise, for every system and the x returned
  bool reached = false;   // and within what was asked, or nothing was asked
  std::string method;     // "h-matrix", "bidiagonal factors"
  std::string reason;     // one line, says why
  double max_absolute = 0;
  double max_relative = 0;        // infinite where some component of x* may be 0
  double condition_estimate = 0;  // the largest of about ||A||_inf ||A^-1||_inf; infinite where not proved
  int refinements = 0;
  std::int64_t systems_unproved = 0;
  std::vector<std::int64_t> first_unproved;  // at most 100 of them
  double seconds = 0;

  /// Decimal digits that every component is proved correct to, at least; 0 to 15.
  int digits() const;
};

/// Bounds the errors of x as the solutions of A x* = b for every system of a batch, and improves x where a
/// bound is wider than options.relative. Tried in turn: v = e for matrices whose rows dominate; v from one more
/// solve with the comparison matrix; for systems where that proves nothing, factors that are bidiagonal but for
/// pivots of two rows, of periodic ones without their last row and column.
///
/// Shapes  b, x and radius are stored alike and have the systems and rows of A; A of one system serves all.
/// Memory  A, b, x and radius live on dev; radius overlaps nothing, x is changed by refinement only. Up to 6
///         numbers a row besides.
/// Result  Proved for the numbers as stored and for all data within the radii. A system of which nothing is
///         proved, singular ones always, has an infinite radius, and verified is false. Same bits on every run
///         and, on the CPU, for any number of threads.
/// Cost    Dominant rows: reads A, b and x once, then x, and writes radius. Others: a solve with the comparison
///         matrix besides, of one system where one serves all; A, b, x and v are read once. Factors: four to
///         six sweeps more over A and v. On a GPU systems of up to 2048 rows, one after another or ragged, and
///         of up to 1024 side by side, with or without dominant rows: reads A, b and x once and writes radius;
///         once more where factors are needed, and, side by side, copies of those systems.
/// Throws  shape_error  shapes that do not fit
///         value_error  a radius that is negative or not finite
/// Source  docs/rigor.md.
tridiagonal_bound bound_error(const device& dev, const tridiagonal_view<const double>& A,
                              const batch_view<const double>& b, const batch_view<double>& x,
                              const batch_view<double>& radius, const bound_options& options = {});

}  // namespace vouch
