// vouch/interval/integer.hpp -- sign, floor, ceil, trunc and rounding to integers of intervals.
#pragma once
#include <cmath>

#include <vouch/core/visibility.hpp>
#include <vouch/interval/interval.hpp>

VOUCH_AS_WRITTEN_BEGIN
namespace VOUCH_PUBLIC vouch {

// All are exact and not decreasing, so that the bounds go to the bounds. An empty x gives the empty set.

namespace rounding {

template <real T>
VOUCH_HOST_DEVICE constexpr T sign(T x) {
  return x > 0 ? T{1} : x < 0 ? T{-1} : x;
}

// The difference is exact, a tie is a tie.
template <real T>
VOUCH_HOST_DEVICE inline T nearest_away(T x) {
  const T whole = std::trunc(x);
  return magnitude(x - whole) >= T(0.5) ? whole + sign(x) : whole;
}

template <real T>
VOUCH_HOST_DEVICE inline T nearest_even(T x) {
  const T whole = std::trunc(x);
  const T rest = magnitude(x - whole);
  if (rest < T(0.5) || !(rest == rest)) return whole;
  const bool odd = std::trunc(whole / 2) * 2 != whole;
  return rest > T(0.5) || odd ? whole + sign(x) : whole;
}

}  // namespace rounding

template <real T>
VOUCH_HOST_DEVICE constexpr interval<T> sign(interval<T> x) {
  VOUCH_IN_IEEE(sign(x));
  return interval<T>::unchecked(rounding::sign(x.lo()), rounding::sign(x.hi()));
}

template <real T>
VOUCH_HOST_DEVICE inline interval<T> floor(interval<T> x) {
  VOUCH_IN_IEEE(floor(x));
  return interval<T>::unchecked(std::floor(x.lo()), std::floor(x.hi()));
}

template <real T>
VOUCH_HOST_DEVICE inline interval<T> ceil(interval<T> x) {
  VOUCH_IN_IEEE(ceil(x));
  return interval<T>::unchecked(std::ceil(x.lo()), std::ceil(x.hi()));
}

template <real T>
VOUCH_HOST_DEVICE inline interval<T> trunc(interval<T> x) {
  VOUCH_IN_IEEE(trunc(x));
  return interval<T>::unchecked(std::trunc(x.lo()), std::trunc(x.hi()));
}

/// To the nearest integer, ties away from zero, as std::round.
template <real T>
VOUCH_HOST_DEVICE inline interval<T> round(interval<T> x) {
  VOUCH_IN_IEEE(round(x));
  return interval<T>::unchecked(rounding::nearest_away(x.lo()), rounding::nearest_away(x.hi()));
}

/// To the nearest integer, ties to the even one.
template <real T>
VOUCH_HOST_DEVICE inline interval<T> round_ties_to_even(interval<T> x) {
  VOUCH_IN_IEEE(round_ties_to_even(x));
  return interval<T>::unchecked(rounding::nearest_even(x.lo()), rounding::nearest_even(x.hi()));
}

}  // namespace vouch
VOUCH_AS_WRITTEN_END
