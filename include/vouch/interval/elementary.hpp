// vouch/interval/elementary.hpp -- exponentials, logarithms, trigonometric and related functions of intervals.
#pragma once
#include <vouch/core/visibility.hpp>
#include <vouch/interval/interval.hpp>

namespace VOUCH_PUBLIC vouch {

// The range of each function over those numbers of x where it is defined; empty where there are none.
//
// Types   T is float or double. On the host alone: no proven bounds of device functions are known to us.
// Result  The smallest interval that encloses the range (0 ulp of excess): each bound is the correctly rounded
//         directed value of an extremum that monotony locates.
// Cost    A few microseconds, tens for reverse trigonometric ones; more for trigonometric functions of huge numbers.
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

/// sec is not defined at odd multiples of pi/2, csc and cot not at multiples of pi: entire where such a pole is
/// inside x, else bounded on the sides that no pole is on.
template <real T>
interval<T> sec(interval<T> x);
template <real T>
interval<T> csc(interval<T> x);
template <real T>
interval<T> cot(interval<T> x);
/// From pi down to 0, continuous: pi/2 at 0.
template <real T>
interval<T> acot(interval<T> x);

template <real T>
interval<T> sech(interval<T> x);
/// csch and coth are not defined at 0.
template <real T>
interval<T> csch(interval<T> x);
template <real T>
interval<T> coth(interval<T> x);
/// Defined below -1 and above 1.
template <real T>
interval<T> acoth(interval<T> x);

/// sqrt(x^2 + y^2)
template <real T>
interval<T> hypot(interval<T> x, interval<T> y);

template <real T>
interval<T> erf(interval<T> x);
template <real T>
interval<T> erfc(interval<T> x);

// NAME_rev(c, x) is the smallest interval around those t of x for which NAME(t) lies in c: see reverse.hpp,
// also for sqr, abs, pown and products.

template <real T>
interval<T> sin_rev(interval<T> c, interval<T> x = interval<T>::entire());
template <real T>
interval<T> cos_rev(interval<T> c, interval<T> x = interval<T>::entire());
template <real T>
interval<T> tan_rev(interval<T> c, interval<T> x = interval<T>::entire());
template <real T>
interval<T> cosh_rev(interval<T> c, interval<T> x = interval<T>::entire());

/// Those t of x for which t^s lies in c for some s of y.
template <real T>
interval<T> pow_rev1(interval<T> y, interval<T> c, interval<T> x = interval<T>::entire());
/// Those t of y for which s^t lies in c for some s of x.
template <real T>
interval<T> pow_rev2(interval<T> x, interval<T> c, interval<T> y = interval<T>::entire());

/// Those t of y for which atan2(t, s) lies in c for some s of x.
template <real T>
interval<T> atan2_rev1(interval<T> x, interval<T> c, interval<T> y = interval<T>::entire());
/// Those t of x for which atan2(s, t) lies in c for some s of y.
template <real T>
interval<T> atan2_rev2(interval<T> y, interval<T> c, interval<T> x = interval<T>::entire());

}  // namespace vouch
