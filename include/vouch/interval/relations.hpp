// vouch/interval/relations.hpp -- comparisons of intervals as sets and as ranges.
#pragma once
#include <vouch/core/visibility.hpp>
#include <vouch/interval/interval.hpp>

VOUCH_AS_WRITTEN_BEGIN
namespace VOUCH_PUBLIC vouch {

// All comparisons are those of IEEE Std 1788-2015, 9.5 (table 9.3) and 10.6.4 (table 10.7), the empty set
// included. They are exact.

template <real T>
VOUCH_HOST_DEVICE constexpr bool is_entire(interval<T> x) {
  return x.lo() == -rounding::infinity<T> && x.hi() == rounding::infinity<T>;
}

/// One number and no more.
template <real T>
VOUCH_HOST_DEVICE constexpr bool is_singleton(interval<T> x) {
  VOUCH_IN_IEEE_UNLESS(rounding::is_usual(x.lo(), x.hi()), is_singleton(x));
  return x.lo() == x.hi();
}

/// Bounded and not empty.
template <real T>
VOUCH_HOST_DEVICE constexpr bool is_common(interval<T> x) {
  return rounding::finite(x.lo()) && rounding::finite(x.hi());
}

/// Whether the real number m lies in x; an infinity or NaN lies in nothing.
template <real T>
VOUCH_HOST_DEVICE constexpr bool is_member(T m, interval<T> x) {
  VOUCH_IN_IEEE_UNLESS(rounding::is_usual(m, x.lo(), x.hi()), is_member(m, x));
  return rounding::finite(m) && x.lo() <= m && m <= x.hi();
}

template <real T>
VOUCH_HOST_DEVICE constexpr bool equal(interval<T> x, interval<T> y) {
  VOUCH_IN_IEEE_UNLESS(rounding::is_usual(x.lo(), x.hi(), y.lo(), y.hi()), equal(x, y));
  return x == y;
}

template <real T>
VOUCH_HOST_DEVICE constexpr bool subset(interval<T> x, interval<T> y) {
  VOUCH_IN_IEEE_UNLESS(rounding::is_usual(x.lo(), x.hi(), y.lo(), y.hi()), subset(x, y));
  return is_empty(x) || (y.lo() <= x.lo() && x.hi() <= y.hi());
}

namespace rounding {

// a < b, or both are the same infinity: there the open line has no boundary point.
template <real T>
VOUCH_HOST_DEVICE constexpr bool below_or_unbounded(T a, T b) {
  return a < b || (a == b && magnitude(a) == infinity<T>);
}

}  // namespace rounding

/// x inside the topological interior of y.
template <real T>
VOUCH_HOST_DEVICE constexpr bool interior(interval<T> x, interval<T> y) {
  VOUCH_IN_IEEE_UNLESS(rounding::is_usual(x.lo(), x.hi(), y.lo(), y.hi()), interior(x, y));
  return is_empty(x) ||
         (rounding::below_or_unbounded(y.lo(), x.lo()) && rounding::below_or_unbounded(x.hi(), y.hi()));
}

template <real T>
VOUCH_HOST_DEVICE constexpr bool disjoint(interval<T> x, interval<T> y) {
  VOUCH_IN_IEEE_UNLESS(rounding::is_usual(x.lo(), x.hi(), y.lo(), y.hi()), disjoint(x, y));
  return is_empty(x) || is_empty(y) || x.hi() < y.lo() || y.hi() < x.lo();
}

/// Weakly less: for each number of x one of y that is not below, and the other way round.
template <real T>
VOUCH_HOST_DEVICE constexpr bool less(interval<T> x, interval<T> y) {
  VOUCH_IN_IEEE_UNLESS(rounding::is_usual(x.lo(), x.hi(), y.lo(), y.hi()), less(x, y));
  return (is_empty(x) && is_empty(y)) || (x.lo() <= y.lo() && x.hi() <= y.hi());
}

template <real T>
VOUCH_HOST_DEVICE constexpr bool strict_less(interval<T> x, interval<T> y) {
  VOUCH_IN_IEEE_UNLESS(rounding::is_usual(x.lo(), x.hi(), y.lo(), y.hi()), strict_less(x, y));
  return (is_empty(x) && is_empty(y)) ||
         (rounding::below_or_unbounded(x.lo(), y.lo()) && rounding::below_or_unbounded(x.hi(), y.hi()));
}

/// No number of x above any of y.
template <real T>
VOUCH_HOST_DEVICE constexpr bool precedes(interval<T> x, interval<T> y) {
  VOUCH_IN_IEEE_UNLESS(rounding::is_usual(x.lo(), x.hi(), y.lo(), y.hi()), precedes(x, y));
  return is_empty(x) || is_empty(y) || x.hi() <= y.lo();
}

template <real T>
VOUCH_HOST_DEVICE constexpr bool strict_precedes(interval<T> x, interval<T> y) {
  VOUCH_IN_IEEE_UNLESS(rounding::is_usual(x.lo(), x.hi(), y.lo(), y.hi()), strict_precedes(x, y));
  return is_empty(x) || is_empty(y) || x.hi() < y.lo();
}

/// How two intervals lie to each other; exactly one holds.
enum class overlap_state {
  both_empty,
  first_empty,
  second_empty,
  before,
  meets,
  overlaps,
  starts,
  contained_by,
  finishes,
  equals,
  finished_by,
  contains,
  started_by,
  overlapped_by,
  met_by,
  after
};

namespace rounding {

// For x and y that are not empty and not apart, nor touching at one end only.
template <real T>
VOUCH_HOST_DEVICE constexpr overlap_state overlap_inside(interval<T> x, interval<T> y) {
  using enum overlap_state;
  if (x.lo() < y.lo()) return x.hi() < y.hi() ? overlaps : x.hi() == y.hi() ? finished_by : contains;
  if (x.lo() == y.lo()) return x.hi() < y.hi() ? starts : x.hi() == y.hi() ? equals : started_by;
  return x.hi() < y.hi() ? contained_by : x.hi() == y.hi() ? finishes : overlapped_by;
}

}  // namespace rounding

template <real T>
VOUCH_HOST_DEVICE constexpr overlap_state overlap(interval<T> x, interval<T> y) {
  VOUCH_IN_IEEE_UNLESS(rounding::is_usual(x.lo(), x.hi(), y.lo(), y.hi()), overlap(x, y));
  using enum overlap_state;
  if (is_empty(x) || is_empty(y)) return !is_empty(y) ? first_empty : is_empty(x) ? both_empty : second_empty;
  if (x.hi() < y.lo()) return before;
  if (y.hi() < x.lo()) return after;
  if (x.hi() == y.lo() && x.lo() < x.hi() && y.lo() < y.hi()) return meets;
  if (y.hi() == x.lo() && y.lo() < y.hi() && x.lo() < x.hi()) return met_by;
  return rounding::overlap_inside(x, y);
}

}  // namespace vouch
VOUCH_AS_WRITTEN_END
