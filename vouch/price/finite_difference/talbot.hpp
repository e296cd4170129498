// vouch/price/finite_difference/talbot.hpp -- the contour of the exponential scheme, for CPU and GPU; private.
#pragma once
#include <array>
#include <cstddef>

#include <vouch/price/contract.hpp>
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

}  // namespace vouch
