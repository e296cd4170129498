// vouch/verify/error_bound.hpp -- how far an approximate solution is from the exact one, proved.
#pragma once
#include <cstdint>
#include <string>

#include <vouch/core/array.hpp>
#include <vouch/core/device.hpp>
#include <vouch/core/view.hpp>
#include <vouch/core/visibility.hpp>
#include <vouch/sparse/csr.hpp>
#include <vouch/verify/certificate.hpp>
#include <vouch/verify/uncertainty.hpp>

namespace VOUCH_PUBLIC vouch {

/// Components next to one another; count -1: all from the first on.
struct component_range {
  std::int64_t first = 0, count = -1;

  std::int64_t size(std::int64_t all) const { return count < 0 ? all - first : count; }
};

struct bound_options {
  uncertainty within;
  double relative = 0;  // asked: every component correct to this, relative to itself; 0: see bound_error
  int most_refinements = 10;
  int smoothing = 48;  // passes in single precision that bring the bound of an H-matrix near the error; of one
                       // that is not symmetric many more, see smoother.hpp
  double looseness = 50;    // a bound that many times what those passes found takes a solve to sharpen it
  component_range about{};  // what figures and refinements are concerned with: others serve these alone
};

/// The bound and its evidence. Only with `verified` do the numbers say anything.
struct error_bound {
  bool verified = false;      // |x - x*| <= radius, componentwise, for the x returned
  bool reached = false;       // and within what was asked, or nothing was asked
  std::string method;         // "h-matrix", ...
  std::string reason;         // one line, says why
  matrix_fingerprint matrix;  // that A
  component_range about{};    // what the numbers below are of
  array<double> radius;       // on the device
  double max_absolute = 0;    // the largest radius
  double max_relative = 0;    // the largest |x - x*| / |x*|, at most; infinite where x* may be 0
  double median_relative = 0;
  double condition_estimate = 0;  // about ||A||_inf ||A^-1||_inf; infinite where A is not square
  int refinements = 0;
  double seconds = 0;

  /// Decimal digits that every component is proved correct to, at least; 0 to 15.
  int digits() const;
};

/// Bounds the error of x as the solution of A x* = b, and improves x where the bound is wider than asked.
///
/// Shapes  A is n-by-n, b and x have n elements.
/// Memory  Everything lives on dev, vectors are contiguous; x is changed by refinement only. About 10 n doubles
///         besides.
/// Result  Proved for the numbers as stored and for all data within the radii: by the certificate and an
///         enclosure of the residual. Refined are x as a pair hi + lo, rounded to hi at the end; with no
///         `relative` asked once the largest radius is above 1e-6 of the largest component. Not verified: an x
///         that is not finite, bounds that overflow. Same bits on every run.
/// Cost    A pass over A and what the certificate's bound costs; for each refinement as much again and a
///         correction.
/// Throws  shape_error  lengths that do not fit
///         value_error  the proof is for another matrix, in another form, or for a smaller radius than
///                      options.within has; a radius that is negative or not finite
error_bound bound_error(const device& dev, csr_view<const double> A, certificate& proof, view<const double> b,
                        view<double> x, const bound_options& options = {});

/// The same for a dense matrix.
error_bound bound_error(const device& dev, matrix_view<const double> A, certificate& proof,
                        view<const double> b, view<double> x, const bound_options& options = {});

}  // namespace vouch
