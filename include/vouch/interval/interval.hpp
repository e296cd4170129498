// vouch/interval/interval.hpp -- closed intervals of real numbers and their arithmetic.
#pragma once
#include <concepts>
#include <limits>

#include <vouch/core/types.hpp>
#include <vouch/core/visibility.hpp>
#include <vouch/interval/rounding.hpp>

// What operators do where they cannot do both bounds at once.
#if defined(VOUCH_OUTWARD_IN_PAIRS)
#define VOUCH_RARE [[gnu::noinline]]
#else
#define VOUCH_RARE
#endif

namespace VOUCH_PUBLIC vouch {

/// Types whose every value is a value of T: what may enter interval arithmetic without a word about rounding.
template <class U, class T>
concept exact_in =
    real<T> && std::numeric_limits<U>::is_specialized && !std::same_as<U, bool> &&
    std::numeric_limits<U>::digits <= std::numeric_limits<T>::digits && (std::integral<U> || real<U>);

/// The set of the real numbers x with lo <= x <= hi: IEEE 1788-2015, set-based flavour.
///
/// Types   T is float or double; the same type on host and device, trivially copyable, two numbers long.
/// Memory  lo, then hi. A bound may be infinite, but -infinity is no upper and +infinity no lower bound. The
///         empty set is [NaN, NaN], so that it passes through sums by itself. A zero bound has either sign.
/// Result  Every operation encloses the set of all results for operands out of the given sets. Those of this
///         header and its neighbours, pown apart, give the smallest such interval.
/// Source  IEEE Std 1788-2015, clauses 9 to 12. Formulas for products and quotients: docs/rigor.md.
template <real T>
class alignas(2 * sizeof(T)) interval {
 public:
  using bound_type = T;

  /// [0, 0]
  constexpr interval() = default;

  /// [x, x]; empty where x is no real number (NaN or infinite). A type that T does not hold exactly does not
  /// compile; enclosing() takes it.
  template <exact_in<T> U>
  VOUCH_HOST_DEVICE constexpr interval(U x) : interval(unchecked(static_cast<T>(x), static_cast<T>(x))) {
    if constexpr (std::floating_point<U>)
      if (!rounding::finite(x)) *this = empty();
  }

  /// The same set in a wider type.
  template <real U>
  requires(std::same_as<U, float>&& std::same_as<T, double>) VOUCH_HOST_DEVICE constexpr interval(interval<U> x)
      : lo_(x.lo()), hi_(x.hi()) {}

  /// [lo, hi], on the host.
  ///
  /// Throws  value_error  a bound is NaN, lo > hi, lo is +infinity or hi is -infinity
  static interval from_bounds(T lo, T hi);

  /// [lo, hi] as it stands: for kernels that know that it is an interval.
  VOUCH_HOST_DEVICE static constexpr interval unchecked(T lo, T hi) {
    interval x;
    x.lo_ = lo;
    x.hi_ = hi;
    return x;
  }

  VOUCH_HOST_DEVICE static constexpr interval empty() {
    return unchecked(rounding::not_a_number<T>, rounding::not_a_number<T>);
  }
  VOUCH_HOST_DEVICE static constexpr interval entire() {
    return unchecked(-rounding::infinity<T>, rounding::infinity<T>);
  }

  VOUCH_HOST_DEVICE constexpr T lo() const { return lo_; }
  VOUCH_HOST_DEVICE constexpr T hi() const { return hi_; }

  VOUCH_HOST_DEVICE friend constexpr interval operator+(interval x) { return x; }
  VOUCH_HOST_DEVICE friend constexpr interval operator-(interval x) { return unchecked(-x.hi_, -x.lo_); }

  [[gnu::always_inline]] VOUCH_HOST_DEVICE friend interval operator+(interval x, interval y) {
#if defined(VOUCH_OUTWARD_IN_PAIRS)
    if constexpr (std::same_as<T, double>)
      if (are_usual(x, y)) [[likely]]
        return sum_of_pairs(x, y);
#endif
    return sum(x, y);
  }
  [[gnu::always_inline]] VOUCH_HOST_DEVICE friend interval operator-(interval x, interval y) { return x + -y; }
  [[gnu::always_inline]] VOUCH_HOST_DEVICE friend interval operator*(interval x, interval y) {
#if defined(VOUCH_OUTWARD_IN_PAIRS)
    if constexpr (std::same_as<T, double>)
      if (are_usual(x, y)) [[likely]]
        return product_of_pairs(x, y);
#endif
    return product(x, y);
  }
  /// The hull of all quotients with divisors other than 0: empty for y = [0, 0], a half line where only a bound
  /// of y is 0 and x does not straddle 0, entire for a y that holds 0 inside; mul_rev_to_pair tells the two
  /// parts apart.
  [[gnu::always_inline]] VOUCH_HOST_DEVICE friend interval operator/(interval x, interval y) {
#if defined(VOUCH_OUTWARD_IN_PAIRS)
    if constexpr (std::same_as<T, double>)
      if (are_usual(x, y)) [[likely]]
        return quotient_of_pairs(x, y);
#endif
    return quotient(x, y);
  }

  // Points stay points: half the work of the interval [x, x].
  template <exact_in<T> U>
  VOUCH_HOST_DEVICE friend interval operator+(interval x, U y) {
    return shifted(x, static_cast<T>(y));
  }
  template <exact_in<T> U>
  VOUCH_HOST_DEVICE friend interval operator+(U x, interval y) {
    return shifted(y, static_cast<T>(x));
  }
  template <exact_in<T> U>
  VOUCH_HOST_DEVICE friend interval operator-(interval x, U y) {
    return shifted(x, -static_cast<T>(y));
  }
  template <exact_in<T> U>
  VOUCH_HOST_DEVICE friend interval operator-(U x, interval y) {
    return shifted(-y, static_cast<T>(x));
  }
  template <exact_in<T> U>
  VOUCH_HOST_DEVICE friend interval operator*(interval x, U y) {
    return multiple(static_cast<T>(y), x);
  }
  template <exact_in<T> U>
  VOUCH_HOST_DEVICE friend interval operator*(U x, interval y) {
    return multiple(static_cast<T>(x), y);
  }
  template <exact_in<T> U>
  VOUCH_HOST_DEVICE friend interval operator/(interval x, U y) {
    return part(x, static_cast<T>(y));
  }
  template <exact_in<T> U>
  VOUCH_HOST_DEVICE friend interval operator/(U x, interval y) {
    return quotient(interval(x), y);
  }

  template <class U>
  VOUCH_HOST_DEVICE interval& operator+=(const U& y) {
    return *this = *this + y;
  }
  template <class U>
  VOUCH_HOST_DEVICE interval& operator-=(const U& y) {
    return *this = *this - y;
  }
  template <class U>
  VOUCH_HOST_DEVICE interval& operator*=(const U& y) {
    return *this = *this * y;
  }
  template <class U>
  VOUCH_HOST_DEVICE interval& operator/=(const U& y) {
    return *this = *this / y;
  }

  /// The same set; -0 is 0.
  VOUCH_HOST_DEVICE friend constexpr bool operator==(interval x, interval y) {
    VOUCH_IN_IEEE_UNLESS(are_usual(x, y), x == y);
    using rounding::equal, rounding::is_nan;
    return (equal(x.lo_, y.lo_) && equal(x.hi_, y.hi_)) || (is_nan(x.lo_) && is_nan(y.lo_));
  }

 private:
  // Whether no environment changes what one operation makes of them.
  [[gnu::always_inline]] VOUCH_HOST_DEVICE static constexpr bool are_usual(interval x, interval y) {
#if defined(VOUCH_OUTWARD_IN_PAIRS)
    if constexpr (std::same_as<T, double>)
      if (!std::is_constant_evaluated()) return rounding::is_usual(x.pair(), y.pair());
#endif
    return rounding::is_usual(x.lo_, x.hi_, y.lo_, y.hi_);
  }
#if defined(VOUCH_OUTWARD_IN_PAIRS)
  [[gnu::always_inline]] __m128d pair() const {
    double lo = lo_, hi = hi_;
    __asm__("" : "+x"(lo), "+x"(hi));  // not loaded as one, which waits where they were stored as two
    return _mm_set_pd(hi, lo);
  }
  [[gnu::always_inline]] static interval outward(__m128d bounds) {
    bounds = rounding::first_negated(bounds);
    return unchecked(_mm_cvtsd_f64(bounds), _mm_cvtsd_f64(_mm_unpackhi_pd(bounds, bounds)));
  }
  [[gnu::always_inline]] static interval sum_of_pairs(interval x, interval y) {
    using rounding::first_negated;
    return outward(rounding::sum_up(first_negated(x.pair()), first_negated(y.pair())));
  }
  [[gnu::always_inline]] static interval product_of_pairs(interval x, interval y) {
    const __m128d X = x.pair(), low = _mm_set1_pd(y.lo_), high = _mm_set1_pd(y.hi_);
    const __m128d exchange = _mm_and_pd(_mm_xor_pd(low, high), _mm_cmplt_pd(X, _mm_setzero_pd()));
    const __m128d least = rounding::product_up(rounding::negated(X), _mm_xor_pd(low, exchange)),
                  most = rounding::product_up(X, _mm_xor_pd(high, exchange));
    return outward(_mm_max_pd(_mm_unpacklo_pd(least, most), _mm_unpackhi_pd(least, most)));
  }
  [[gnu::always_inline]] static interval quotient_of_pairs(interval x, interval y) {
    if (y.lo_ < 0) {
      if (y.hi_ > 0) return entire();
      x = -x;
      y = -y;
    }
    const T at_low = x.lo_ < 0 ? y.lo_ : y.hi_, at_high = x.hi_ < 0 ? y.hi_ : y.lo_;
    return outward(rounding::quotient_up(rounding::first_negated(x.pair()), _mm_set_pd(at_high, at_low)));
  }
#endif

  VOUCH_RARE VOUCH_HOST_DEVICE static interval sum(interval x, interval y);
  VOUCH_HOST_DEVICE static interval shifted(interval x, T y) {
    return rounding::finite(y) ? x + unchecked(y, y) : empty();
  }
  VOUCH_HOST_DEVICE static interval multiple(T x, interval y);
  VOUCH_HOST_DEVICE static interval part(interval x, T y);
  VOUCH_RARE VOUCH_HOST_DEVICE static interval product(interval x, interval y);
  VOUCH_RARE VOUCH_HOST_DEVICE static interval quotient(interval x, interval y);

  T lo_{};
  T hi_{};
};

template <real T>
VOUCH_HOST_DEVICE constexpr bool is_empty(interval<T> x) {
  return rounding::is_nan(x.lo());
}

namespace rounding {

// Smaller and larger of two numbers that are not NaN.
template <real T>
VOUCH_HOST_DEVICE constexpr T smaller(T a, T b) {
  return b < a ? b : a;
}
template <real T>
VOUCH_HOST_DEVICE constexpr T larger(T a, T b) {
  return a < b ? b : a;
}

// Products of bounds: 0 times an infinite bound is 0, since the bound itself is not in the set.
template <real T>
VOUCH_HOST_DEVICE inline T bound_down(T a, T b) {
  return a == 0 || b == 0 ? T{} : mul_down(a, b);
}
template <real T>
VOUCH_HOST_DEVICE inline T bound_up(T a, T b) {
  return a == 0 || b == 0 ? T{} : mul_up(a, b);
}

}  // namespace rounding

template <real T>
VOUCH_HOST_DEVICE interval<T> interval<T>::sum(interval x, interval y) {
  VOUCH_IN_IEEE_UNLESS(are_usual(x, y), sum(x, y));
  return unchecked(rounding::add_down(x.lo_, y.lo_), rounding::add_up(x.hi_, y.hi_));
}

// For a fixed x the least x*y stands at y.hi where x < 0 and at y.lo elsewhere; that minimum is concave in x on
// each side of 0, so the least of all stands at a bound of x. Likewise the largest.
template <real T>
VOUCH_HOST_DEVICE interval<T> interval<T>::product(interval x, interval y) {
  VOUCH_IN_IEEE_UNLESS(are_usual(x, y), product(x, y));
  using namespace rounding;
  if (is_empty(x) || is_empty(y)) return empty();
  return unchecked(
      smaller(bound_down(x.lo_, x.lo_ < 0 ? y.hi_ : y.lo_), bound_down(x.hi_, x.hi_ < 0 ? y.hi_ : y.lo_)),
      larger(bound_up(x.lo_, x.lo_ < 0 ? y.lo_ : y.hi_), bound_up(x.hi_, x.hi_ < 0 ? y.lo_ : y.hi_)));
}

template <real T>
VOUCH_HOST_DEVICE interval<T> interval<T>::multiple(T x, interval y) {
  VOUCH_IN_IEEE_UNLESS(rounding::is_usual(x, y.lo_, y.hi_), multiple(x, y));
  using namespace rounding;
  if (!finite(x) || is_empty(y)) return empty();
  return x < 0 ? unchecked(bound_down(x, y.hi_), bound_up(x, y.lo_))
               : unchecked(bound_down(x, y.lo_), bound_up(x, y.hi_));
}

template <real T>
VOUCH_HOST_DEVICE interval<T> interval<T>::part(interval x, T y) {
  VOUCH_IN_IEEE_UNLESS(rounding::is_usual(x.lo_, x.hi_, y), part(x, y));
  if (!rounding::finite(y) || y == 0) return empty();
  return y < 0 ? unchecked(rounding::div_down(x.hi_, y), rounding::div_up(x.lo_, y))
               : unchecked(rounding::div_down(x.lo_, y), rounding::div_up(x.hi_, y));
}

// With y brought to y >= 0: a bound y.lo of 0 makes the quotient grow beyond all numbers on the sides that x
// reaches, and no quotient of two infinite bounds is ever formed.
template <real T>
VOUCH_HOST_DEVICE interval<T> interval<T>::quotient(interval x, interval y) {
  VOUCH_IN_IEEE_UNLESS(are_usual(x, y), quotient(x, y));
  if (is_empty(x) || is_empty(y) || (y.lo_ == 0 && y.hi_ == 0)) return empty();
  if (x.lo_ == 0 && x.hi_ == 0) return interval{};
  if (y.lo_ < 0 && y.hi_ > 0) return entire();
  if (y.hi_ <= 0) {
    x = -x;
    y = -y;
  }
  const T at_low = y.lo_ == 0 ? T{} : y.lo_;  // 0 of positive sign
  const T lo = x.lo_ >= 0    ? rounding::div_down(x.lo_, y.hi_)
               : at_low == 0 ? -rounding::infinity<T>
                             : rounding::div_down(x.lo_, at_low);
  const T hi = x.hi_ <= 0    ? rounding::div_up(x.hi_, y.hi_)
               : at_low == 0 ? rounding::infinity<T>
                             : rounding::div_up(x.hi_, at_low);
  return unchecked(lo, hi);
}

}  // namespace vouch
