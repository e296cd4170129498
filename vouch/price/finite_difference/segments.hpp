// vouch/price/finite_difference/segments.hpp -- how steps are laid over the time from expiry back to now; a detail of public headers.
#pragma once
#include <cstdint>
#include <vector>

#include <vouch/price/contract.hpp>

namespace vouch {

/// Steps of equal length between two events.
struct fd_segment {
  double from = 0, to = 0;  // time before expiry
  std::int64_t steps = 0;
  bool smooths = false;   // begins at a kink, or so soon behind one that a step would not see it
  double dividend = 0;    // what the share falls by at its end
  bool exercise = false;  // may be exercised at its end
};

/// The segments of about `steps` steps in all, more where many events need some each. Those of an American
/// option grow with the distance from expiry, as its boundary slows down.
///
/// Result  Twice as many steps are twice as many in every segment, however short, for `steps` that are 24 or
///         128 times a power of 2: what two such grids differ by shows the error in time of every segment.
std::vector<fd_segment> make_segments(const contract& c, std::int64_t steps);

/// The least distance, in logarithms, of what a grid has to tell apart before it shows its error: the deviation of the
/// share between a kink of the value, at expiry or by an event, and the dividend or date of exercise that comes next
/// before it, and what lies between strike and barrier. Infinite for none.
double sharpest_kink(const contract& c);

/// The same steps in shorter segments, as the border of exercise is noted behind each.
std::vector<fd_segment> in_pieces(const std::vector<fd_segment>& segments);

}  // namespace vouch
