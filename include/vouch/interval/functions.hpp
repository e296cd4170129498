// vouch/interval/functions.hpp -- squares, roots, set operations and sizes of intervals.
#pragma once
#include <vouch/core/visibility.hpp>
#include <vouch/interval/interval.hpp>

VOUCH_AS_WRITTEN_BEGIN
namespace VOUCH_PUBLIC vouch {

namespace rounding {

template <direction To, real T>
VOUCH_HOST_DEVICE inline T converted(double x) {
  if constexpr (std::same_as<T, double>) {
    return x;
  } else {
#if defined(__CUDA_ARCH__)
    return To == direction::down ? __double2float_rd(x) : __double2float_ru(x);
#else
    return narrowed<To>(x);
#endif
  }
}

// Two halves that are doubles; rounding twice in one direction is rounding once.
template <direction To, real T, std::integral U>
VOUCH_HOST_DEVICE inline T converted(U x) {
  const auto high = static_cast<double>(static_cast<std::int64_t>(x >> 16 >> 16)) * 0x1p32;
  const auto low = static_cast<double>(static_cast<std::uint32_t>(x & 0xffffffffU));
  return converted<To, T>(To == direction::down ? add_down(high, low) : add_up(high, low));
}

}  // namespace rounding

/// The smallest interval around a number of any type: a double for interval<float>, a long integer. Empty for
/// NaN and infinities.
template <real T, class U>
requires std::integral<U> || real<U> VOUCH_HOST_DEVICE inline interval<T> enclosing(U x) {
  VOUCH_IN_IEEE(enclosing<T>(x));
  if constexpr (exact_in<U, T>) {
    return interval<T>(x);
  } else {
    if constexpr (std::floating_point<U>)
      if (!rounding::finite(x)) return interval<T>::empty();
    return interval<T>::unchecked(rounding::converted<rounding::direction::down, T>(x),
                                  rounding::converted<rounding::direction::up, T>(x));
  }
}

/// The smallest interval of the other type around one of doubles.
template <real T>
VOUCH_HOST_DEVICE inline interval<T> enclosing(interval<double> x) {
  VOUCH_IN_IEEE(enclosing<T>(x));
  return interval<T>::unchecked(rounding::converted<rounding::direction::down, T>(x.lo()),
                                rounding::converted<rounding::direction::up, T>(x.hi()));
}

/// The greatest lower bound; +infinity for the empty set.
template <real T>
VOUCH_HOST_DEVICE constexpr T inf(interval<T> x) {
  return is_empty(x) ? rounding::infinity<T> : x.lo();
}

/// The least upper bound; -infinity for the empty set.
template <real T>
VOUCH_HOST_DEVICE constexpr T sup(interval<T> x) {
  return is_empty(x) ? -rounding::infinity<T> : x.hi();
}

/// The largest |x|; NaN for the empty set, as all sizes below.
template <real T>
VOUCH_HOST_DEVICE constexpr T mag(interval<T> x) {
  VOUCH_IN_IEEE_UNLESS(rounding::is_usual(x.lo(), x.hi()), mag(x));
  return is_empty(x) ? x.lo() : rounding::larger(rounding::magnitude(x.lo()), rounding::magnitude(x.hi()));
}

/// The smallest |x|.
template <real T>
VOUCH_HOST_DEVICE constexpr T mig(interval<T> x) {
  VOUCH_IN_IEEE_UNLESS(rounding::is_usual(x.lo(), x.hi()), mig(x));
  if (is_empty(x)) return x.lo();
  if (x.lo() <= 0 && x.hi() >= 0) return T{};
  return rounding::smaller(rounding::magnitude(x.lo()), rounding::magnitude(x.hi()));
}

/// The width, rounded upwards.
template <real T>
VOUCH_HOST_DEVICE inline T wid(interval<T> x) {
  return sub_up(x.hi(), x.lo());
}

/// The midpoint to nearest; 0 for entire, the largest finite number of the right sign for a half line.
template <real T>
VOUCH_HOST_DEVICE constexpr T mid(interval<T> x) {
  VOUCH_IN_IEEE(mid(x));
  using rounding::infinity;
  using rounding::largest;
  if (x.lo() == -infinity<T>) return x.hi() == infinity<T> ? T{} : -largest<T>;
  if (x.hi() == infinity<T>) return largest<T>;
  // A sum that overflows has halves that are exact; any other is exact itself where its half is not.
  const T sum = x.lo() + x.hi();
  return rounding::magnitude(sum) == infinity<T> ? x.lo() / 2 + x.hi() / 2 : sum / 2;
}

/// The smallest r with x inside [mid(x) - r, mid(x) + r].
template <real T>
VOUCH_HOST_DEVICE inline T rad(interval<T> x) {
  VOUCH_IN_IEEE(rad(x));
  const T m = mid(x);
  if (rounding::is_nan(m)) return m;
  return rounding::larger(sub_up(m, x.lo()), sub_up(x.hi(), m));
}

template <real T>
VOUCH_HOST_DEVICE constexpr interval<T> intersection(interval<T> x, interval<T> y) {
  VOUCH_IN_IEEE_UNLESS(rounding::is_usual(x.lo(), x.hi(), y.lo(), y.hi()), intersection(x, y));
  if (is_empty(x) || is_empty(y)) return interval<T>::empty();
  const T lo = rounding::larger(x.lo(), y.lo());
  const T hi = rounding::smaller(x.hi(), y.hi());
  return lo <= hi ? interval<T>::unchecked(lo, hi) : interval<T>::empty();
}

/// The smallest interval that holds both.
template <real T>
VOUCH_HOST_DEVICE constexpr interval<T> hull(interval<T> x, interval<T> y) {
  VOUCH_IN_IEEE_UNLESS(rounding::is_usual(x.lo(), x.hi(), y.lo(), y.hi()), hull(x, y));
  if (is_empty(x)) return y;
  if (is_empty(y)) return x;
  return interval<T>::unchecked(rounding::smaller(x.lo(), y.lo()), rounding::larger(x.hi(), y.hi()));
}

template <real T>
VOUCH_HOST_DEVICE constexpr interval<T> abs(interval<T> x) {
  return interval<T>::unchecked(mig(x), mag(x));
}

template <real T>
VOUCH_HOST_DEVICE constexpr interval<T> min(interval<T> x, interval<T> y) {
  VOUCH_IN_IEEE_UNLESS(rounding::is_usual(x.lo(), x.hi(), y.lo(), y.hi()), min(x, y));
  if (is_empty(x) || is_empty(y)) return interval<T>::empty();
  return interval<T>::unchecked(rounding::smaller(x.lo(), y.lo()), rounding::smaller(x.hi(), y.hi()));
}

template <real T>
VOUCH_HOST_DEVICE constexpr interval<T> max(interval<T> x, interval<T> y) {
  VOUCH_IN_IEEE_UNLESS(rounding::is_usual(x.lo(), x.hi(), y.lo(), y.hi()), max(x, y));
  if (is_empty(x) || is_empty(y)) return interval<T>::empty();
  return interval<T>::unchecked(rounding::larger(x.lo(), y.lo()), rounding::larger(x.hi(), y.hi()));
}

template <real T>
VOUCH_HOST_DEVICE inline interval<T> sqr(interval<T> x) {
  VOUCH_IN_IEEE_UNLESS(rounding::is_usual(x.lo(), x.hi()), sqr(x));
  const T least = mig(x);
  const T most = mag(x);
  return interval<T>::unchecked(rounding::mul_down(least, least), rounding::mul_up(most, most));
}

/// The roots of what is not negative in x: empty where nothing is.
template <real T>
VOUCH_HOST_DEVICE inline interval<T> sqrt(interval<T> x) {
  VOUCH_IN_IEEE_UNLESS(rounding::is_usual(x.lo(), x.hi()), sqrt(x));
  if (is_empty(x) || x.hi() < 0) return interval<T>::empty();
  return interval<T>::unchecked(x.lo() <= 0 ? T{} : rounding::sqrt_down(x.lo()), rounding::sqrt_up(x.hi()));
}

/// 1 / x, with the quotient's cases for an x that holds 0.
template <real T>
VOUCH_HOST_DEVICE inline interval<T> recip(interval<T> x) {
  return T{1} / x;
}

namespace rounding {

// An infinite c decides alone; beside it an infinite product of the other sign must not make a NaN.
template <real T>
VOUCH_HOST_DEVICE inline T bound_down(T a, T b, T c) {
  return a == 0 || b == 0 || c == -infinity<T> ? c : fma_down(a, b, c);
}
template <real T>
VOUCH_HOST_DEVICE inline T bound_up(T a, T b, T c) {
  return a == 0 || b == 0 || c == infinity<T> ? c : fma_up(a, b, c);
}

}  // namespace rounding

/// x * y + z, each bound rounded once.
template <real T>
VOUCH_HOST_DEVICE inline interval<T> fma(interval<T> x, interval<T> y, interval<T> z) {
  VOUCH_IN_IEEE(fma(x, y, z));
  using namespace rounding;
  if (is_empty(x) || is_empty(y) || is_empty(z)) return interval<T>::empty();
  return interval<T>::unchecked(smaller(bound_down(x.lo(), x.lo() < 0 ? y.hi() : y.lo(), z.lo()),
                                        bound_down(x.hi(), x.hi() < 0 ? y.hi() : y.lo(), z.lo())),
                                larger(bound_up(x.lo(), x.lo() < 0 ? y.lo() : y.hi(), z.hi()),
                                       bound_up(x.hi(), x.hi() < 0 ? y.lo() : y.hi(), z.hi())));
}

}  // namespace vouch
VOUCH_AS_WRITTEN_END
