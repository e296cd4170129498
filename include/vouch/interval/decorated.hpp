// vouch/interval/decorated.hpp -- intervals that remember whether a function was defined and continuous on
// them.
#pragma once
#include <vouch/core/visibility.hpp>
#include <vouch/interval/interval.hpp>

VOUCH_AS_WRITTEN_BEGIN
namespace VOUCH_PUBLIC vouch {

/// What is known of the evaluation so far, the worst first.
///
/// Source  IEEE Std 1788-2015, 11.2.
enum class decoration : unsigned char {
  ill,  ///< not an interval: the construction was invalid
  trv,  ///< nothing
  def,  ///< defined everywhere on the box
  dac,  ///< defined and continuous on the box
  com   ///< defined and continuous, and all intervals bounded
};

/// An interval and its decoration; a separate type, so that bare intervals cost nothing.
///
/// Result  f(x) encloses as the bare f does. Its decoration is true of the whole expression that led to it. NaI
///         ("not an interval") goes through everything and equals nothing, itself included.
/// Source  IEEE Std 1788-2015, clause 11.
template <real T>
class decorated_interval {
 public:
  using bound_type = T;

  /// [0, 0]_com
  constexpr decorated_interval() = default;

  /// com for a bounded, dac for an unbounded and trv for the empty interval.
  VOUCH_HOST_DEVICE constexpr decorated_interval(interval<T> x) : part_(x), decoration_(best(x)) {}

  /// The strongest decoration that x can have and that is not above d; NaI for ill.
  VOUCH_HOST_DEVICE constexpr decorated_interval(interval<T> x, decoration d)
      : part_(d == decoration::ill ? interval<T>::empty() : x), decoration_(d < best(x) ? d : best(x)) {}

  VOUCH_HOST_DEVICE static constexpr decorated_interval nai() {
    return {interval<T>::empty(), decoration::ill};
  }

  /// The bare interval; on NaI the empty one.
  VOUCH_HOST_DEVICE constexpr interval<T> bare() const { return part_; }

  /// The bare interval, on the host.
  ///
  /// Throws  value_error  this is NaI
  interval<T> interval_part() const;

  VOUCH_HOST_DEVICE constexpr decoration decoration_part() const { return decoration_; }

 private:
  VOUCH_HOST_DEVICE static constexpr decoration best(interval<T> x) {
    if (is_empty(x)) return decoration::trv;
    return rounding::finite(x.lo()) && rounding::finite(x.hi()) ? decoration::com : decoration::dac;
  }

  interval<T> part_{};
  decoration decoration_ = decoration::com;
};

template <real T>
VOUCH_HOST_DEVICE constexpr bool is_nai(decorated_interval<T> x) {
  return x.decoration_part() == decoration::ill;
}

/// The result of a function of decorated operands, which is itself `local` on the box of the operands.
template <real T, class... Operands>
VOUCH_HOST_DEVICE constexpr decorated_interval<T> decorated_result(interval<T> result, decoration local,
                                                                   Operands... operands) {
  decoration least = local;
  ((least = operands.decoration_part() < least ? operands.decoration_part() : least), ...);
  return {result, least};
}

}  // namespace vouch
VOUCH_AS_WRITTEN_END
