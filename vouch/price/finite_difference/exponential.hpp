// vouch/price/finite_difference/exponential.hpp -- the exponential scheme, which has no error in time: by a contour
// integral of resolvents, or on logarithmic grids by sine transform; for CPU and GPU; private.
//
// With constant coefficients on a logarithmic grid the operator is L = D S D^-1, D = diag(ratio^i), where S has
// constant diagonals and the sines as eigenvectors. Of exp(T L) only the modes that are not lost in rounding
// are there, some 50, so that sums over modes replace a fast transform. Boundary values amount exp(-decay T /
// expiry) are taken out by the solutions of (L + decay) w = 0 that have them.
#pragma once
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include <vouch/core/device.hpp>
#include <vouch/price/contract.hpp>
#include <vouch/price/finite_difference/grid.hpp>
#include <vouch/price/finite_difference/time_stepping.hpp>

namespace vouch {

/// Points on the upper half of the contour; the other half is their mirror image. The error of exp(T L) V is
/// about 1e-12 of V for any L with a spectrum near the negative real axis.
inline constexpr std::size_t talbot_points = 12;

/// exp(T L) V = -2 Re sum_k weight_k (z_k - T L)^-1 V.
///
/// Source  Weideman, Trefethen, Math. Comp. 76 (2007): the cotangent contour.
struct talbot_contour {
  std::array<double, talbot_points> re, im, weight_re, weight_im;
};
talbot_contour make_talbot_contour();

/// amount * exp(-decay * tau / T).
struct exponential_term {
  double amount = 0, decay = 0;
};
using boundary_exponentials = std::array<exponential_term, 2>;

/// The value at the first (or last) node over time, for constant coefficients.
boundary_exponentials boundary_terms(const contract& c, const fd_payment& payment, double spot, bool high);

/// The same for constant coefficients without any error in time, by a contour integral of resolvents.
std::vector<double> exponential_by_contour(const contract& c, const fd_grid& grid, const fd_payment& payment);

/// exponential_by_contour() on a GPU; nothing for more than 16384 nodes. seconds, if not null, gets the time of the
/// kernels alone.
std::optional<std::vector<double>> exponential_by_contour_cuda(const device& gpu, const contract& c,
                                                               const fd_grid& grid, const fd_payment& payment,
                                                               double* seconds = nullptr);

/// amount * D_i / D_end * f(t) / f(cells), t the distance from the other end, f = sinh or sin of rate * t: a
/// solution that is `amount` at one end of the grid and 0 at the other.
struct sine_lift {
  double amount = 0, rate = 0;
  bool oscillates = false, at_last = false;
};

struct sine_plan {
  std::int64_t cells = 0;           // of the grid; the angle of mode k at node i is pi i k / cells
  double log_ratio = 0;             // of D
  std::vector<double> start;        // D^-1 V at expiry; 0 at the ends
  std::vector<double> decay, less;  // of each mode: its coefficient is decay * (sum of start * sine - less)
  std::array<sine_lift, 4> lifts;
};

VOUCH_HOST_DEVICE inline double lift_at(const sine_lift& lift, double log_ratio, double cells, double node) {
  const double t = lift.at_last ? node : cells - node;
  using std::exp, std::expm1, std::sin;
  const double weight = exp(log_ratio * (lift.at_last ? node - cells : node));
  const double share = lift.oscillates ? sin(lift.rate * t) / sin(lift.rate * cells)
                                       : exp(lift.rate * (t - cells)) * expm1(-2 * lift.rate * t) /
                                             expm1(-2 * lift.rate * cells);
  return lift.amount * weight * share;
}

/// Nothing where the grid is not logarithmic, the matrix too far from symmetric, more modes count than pay, or
/// the boundary values pass too slowly to be taken out.
std::optional<sine_plan> plan_sine(const contract& c, const fd_grid& grid, const fd_payment& payment);

/// exponential_by_contour() of the nodes [from, to); the others are 0.
std::vector<double> exponential_by_sine(const sine_plan& plan, std::int64_t from, std::int64_t to);

/// All nodes on a GPU; defined only in CUDA builds. seconds, if not null, gets the time of the kernels alone.
std::vector<double> exponential_by_sine_cuda(const device& gpu, const sine_plan& plan,
                                             double* seconds = nullptr);

}  // namespace vouch
