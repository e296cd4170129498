// vouch/verify/sparse/smoother.hpp -- the rough part of the solution of a system, by a few passes in single precision;
// private.
#pragma once
#include <cstdint>

#include <vouch/core/array.hpp>
#include <vouch/core/device.hpp>
#include <vouch/core/view.hpp>
#include <vouch/interval/interval.hpp>
#include <vouch/sparse/csr.hpp>
#include <vouch/sparse/spmv_plan.hpp>

namespace vouch {
namespace detail {

/// For a symmetric H-matrix A with diagonal D > 0, whose D^-1 A has eigenvalues in (0, 2), polynomials of D^-1
/// A that leave little of a rough residual; for any other H-matrix, stabilised biconjugate gradients, since
/// errors that flow one way show in parts of x only.
///
/// The residual of step m is a multiple of P_m(I - D^-1 A), P_m the Jacobi polynomial (3/2, 1/2): of those that
/// are 1 at 0 it has the least mean square for eigenvalues that lie as those of a grid in three dimensions; of
/// white noise it leaves about sqrt(3) / m^(3/2) in the mean square.
/// Source  Brakhage, in: Inverse and Ill-Posed Problems (1987), the nu-method.
class smoother {
 public:
  /// Memory  A lives on dev; its pattern must outlive the object, unless few diagonals hold all entries. scale
  ///         holds about 1/sqrt(a_ii). A copy of the values in single precision.
  ///         positive: A is symmetric and its diagonal positive.
  smoother(const device& dev, csr_view<const double> A, const array<double>& scale, bool positive);

  /// Whether a few diagonals hold all entries.
  bool has_diagonals() const { return plan_.kept_as() == layout::dia; }

  /// d := part of A^-1 s, about, s the midpoint of residual; false where s is zero or not finite, or nothing
  /// was gained.
  ///
  /// Cost    steps - 1 passes over the copy and five over vectors; otherwise up to 40 steps of the
  ///         iteration, two passes each, for one of these.
  bool smooth(view<const interval<double>> residual, const array<double>& scale, int steps,
              view<double> d) const;

 private:
  bool iterate(array<float>& r, int steps, array<float>& z) const;
  void take_polynomial(const array<float>& r, int steps, array<float>& z) const;

  device device_;
  bool positive_;
  array<float> values_;  // where diagonals do not hold the matrix
  csr_view<const float> rows_;
  spmv_plan<float> plan_;
};

}  // namespace detail
}  // namespace vouch
