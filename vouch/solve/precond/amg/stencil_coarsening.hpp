// vouch/solve/precond/amg/stencil_coarsening.hpp -- from a stencil to the next coarser one; private.
#pragma once
#include <array>
#include <cstdint>
#include <vector>

#include <vouch/core/device.hpp>
#include <vouch/solve/precond/amg/stencil.hpp>

namespace vouch::multigrid {

/// In each direction 2 where every other point is left out, else 1.
using coarsening = std::array<int, 3>;

/// The points that are kept: those whose numbers are even in each direction that is coarsened.
box coarse_box(const box& fine, const coarsening& by);

/// What decides how a stencil is coarsened and smoothed.
struct stencil_facts {
  /// Means of the couplings in each direction over the diagonal; those of points out of line count for each.
  std::array<double, 3> strength{};
  double largest_row_sum = 1;  // of |a_ij| over the diagonal entry, which no eigenvalue of D^-1 A exceeds
  bool row_sums_zero = false;
  bool two_colours =
      false;  // every coupling changes the colour of a chessboard: the spectrum is symmetric about 1
};
stencil_facts examine(const device& dev, const stencil_matrix& A);  // the same bits on every device

/// Those directions whose mean coupling is at least a quarter of the strongest; all are 1 where none is left.
coarsening directions_of(const box& fine, const stencil_facts& facts);

/// Interpolation that the operator gives (black-box multigrid): of(k)[I] is the weight of the coarse point I for the
/// fine point by(I) + steps[k]; 0 where that is not in the box. A point between two coarse points in one direction
/// has the weights of its row summed over the other directions; one in more directions that of its row summed over
/// the directions in which it lies on a coarse line, with those before it put in. Here and in galerkin() CPUs and GPUs
/// give the same bits.
///
/// Source  Dendy, J. Comput. Phys. 48 (1982); Dendy, Two multigrid methods for three-dimensional problems with
///         discontinuous and anisotropic coefficients, SIAM J. Sci. Stat. Comput. 8 (1987).
step_values<double> interpolation(const device& dev, const stencil_matrix& A, const coarsening& by);

/// P^T A P, by its diagonals.
stencil_matrix galerkin(const device& dev, const stencil_matrix& A, const step_values<double>& P,
                        const coarsening& by);

/// Whether no coarse point has lost its energy, as a component of the grid does whose constants cost none.
bool is_positive(const device& dev, const stencil_matrix& coarse, const stencil_matrix& fine,
                 const coarsening& by);

}  // namespace vouch::multigrid
