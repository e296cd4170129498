// vouch/interval/elementary.hpp -- exponentials, logarithms, trigonometric and related functions of intervals.
#pragma once
#include <vouch/interval/interval.hpp>

namespace vouch {

// The range of each function over those numbers of x where it is defined; empty where there are none.
//
// Types   T is float or double. On the host alone: no proven bounds of device functions are known to us.
// Result  The smallest interval that encloses the range (0 ulp of excess): each bound is the correctly rounded
//         directed value of an extremum that monotony locates.
// Cost    A few microseconds, more for trigonometric functions of huge numbers.
// Throws  error  this build has no MPFR (built_with_mpfr is false)
// Source  GNU MPFR: correct rounding of every function it offers. Domains: IEEE Std 1788-2015, table 9.1.

template <real T>
interval<T> exp(interval<T> x);
template <real T>
interval<T> exp2(interval<T> x);
template <real T>
interval<T> exp10(interval<T> x);
template <real T>
interval<T> expm1(interval<T> x);

/// The logarithms are defined above 0, log1p above -1.
template <real T>
interval<T> log(interval<T> x);
template <real T>
interval<T> log2(interval<T> x);
template <real T>
interval<T> log10(interval<T> x);
template <real T>
interval<T> log1p(interval<T> x);

/// x^y = exp(y log x) for x > 0, and 0^y = 0 for y > 0.
template <real T>
interval<T> pow(interval<T> x, interval<T> y);

/// The n-th root: defined everywhere for odd n > 0, from 0 on for even n > 0, without 0 for n < 0, nowhere for
/// n = 0.
template <real T>
interval<T> rootn(interval<T> x, int n);

template <real T>
interval<T> sin(interval<T> x);
template <real T>
interval<T> cos(interval<T> x);
/// Entire where x holds a pole.
template <real T>
interval<T> tan(interval<T> x);

/// asin and acos are defined from -1 to 1.
template <real T>
interval<T> asin(interval<T> x);
template <real T>
interval<T> acos(interval<T> x);
template <real T>
interval<T> atan(interval<T> x);
/// The angle of (x, y), from -pi to pi; defined everywhere but at the origin.
template <real T>
interval<T> atan2(interval<T> y, interval<T> x);

template <real T>
interval<T> sinh(interval<T> x);
template <real T>
interval<T> cosh(interval<T> x);
template <real T>
interval<T> tanh(interval<T> x);
template <real T>
interval<T> asinh(interval<T> x);
/// Defined from 1 on.
template <real T>
interval<T> acosh(interval<T> x);
/// Defined strictly between -1 and 1.
template <real T>
interval<T> atanh(interval<T> x);

template <real T>
interval<T> erf(interval<T> x);
template <real T>
interval<T> erfc(interval<T> x);

}  // namespace vouch
