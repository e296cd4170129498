// vouch/interval/ball.hpp -- sets of real numbers by midpoint and radius.
#pragma once
#include <vouch/core/visibility.hpp>
#include <vouch/interval/functions.hpp>

VOUCH_AS_WRITTEN_BEGIN
namespace VOUCH_PUBLIC vouch {

/// All x with |x - mid| <= rad. A NaN midpoint is the empty set, an infinite radius all numbers.
template <real T>
struct ball {
  T mid{};
  T rad{};
};

/// The ball around an interval: the midpoint to nearest, and the larger of the distances to both bounds,
/// rounded upwards. No ball with numbers of type T around this interval has a smaller radius.
///
/// Source  Rump, BIT 39 (1999), theorem 3.6.
template <real T>
VOUCH_HOST_DEVICE inline ball<T> to_ball(interval<T> x) {
  return {mid(x), rad(x)};
}

/// The smallest interval around a ball.
template <real T>
VOUCH_HOST_DEVICE inline interval<T> to_interval(ball<T> x) {
  return interval<T>::unchecked(sub_down(x.mid, x.rad), add_up(x.mid, x.rad));
}

}  // namespace vouch
VOUCH_AS_WRITTEN_END
