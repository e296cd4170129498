// vouch/price/finite_difference/range.hpp -- how far a grid reaches, for CPU and GPU; private.
#pragma once
#include <cmath>

#include <vouch/core/types.hpp>

namespace vouch {

/// Logarithms of the share.
struct share_range {
  double low, high;
};

/// As far as a grid reaches: 1e-10 of the probability lies beyond.
inline constexpr double reached_deviations = 6.5;

/// From where to where a share may get that drifts down and up by so much at most and varies by `deviation`.
/// The strike as well, unless, not kept, the share gets there so rarely that no price would show it.
VOUCH_HOST_DEVICE inline share_range range_of_share(double spot, double strike, double deviation, double down,
                                                    double up, bool keeps_strike) {
  constexpr double reach = reached_deviations, never = 9;
  const double margin = std::fmax(reach * deviation, 1e-4), beyond = (never / reach - 1) * margin;
  share_range r{spot + down - margin, spot + up + margin};
  const bool above_never = keeps_strike || strike > r.low - beyond,
             below_never = keeps_strike || strike < r.high + beyond;
  if (above_never) r.low = std::fmin(r.low, strike - 0.2 * margin);
  if (below_never) r.high = std::fmax(r.high, strike + 0.2 * margin);
  return r;
}

}  // namespace vouch
