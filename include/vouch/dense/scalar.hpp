// vouch/dense/scalar.hpp -- what a BLAS routine asks of its elements: numbers, or intervals of them.
#pragma once
#include <cmath>
#include <concepts>
#include <cstdint>
#include <type_traits>

#include <vouch/core/types.hpp>
#include <vouch/core/visibility.hpp>
#include <vouch/interval/complex_interval.hpp>
#include <vouch/interval/functions.hpp>
#include <vouch/interval/interval.hpp>

VOUCH_AS_WRITTEN_BEGIN
namespace VOUCH_PUBLIC vouch {

template <class T>
struct bound_type_of {
  using type = T;
};
template <real T>
struct bound_type_of<interval<T>> {
  using type = T;
};

/// The numbers that T is made of: double for double and for interval<double>.
template <class T>
using bound_of = typename bound_type_of<T>::type;

/// float, double, or an interval of these.
template <class T>
concept scalar = real<bound_of<T>>;

template <class T>
inline constexpr bool is_interval = !std::same_as<T, bound_of<T>>;

/// What a product of As and Bs is: an interval as soon as one of them is.
template <scalar A, scalar B>
using product_of = std::conditional_t<is_interval<A>, A, B>;

/// Products of the other types can be added up in R: the same precision, and an interval does not become a
/// point. Points may become an interval, which then encloses the result of exact arithmetic on them.
template <class R, class... Operands>
concept accumulates = scalar<R> &&(scalar<Operands>&&...) &&
                      (std::same_as<bound_of<R>, bound_of<Operands>> && ...) &&
                      (is_interval<R> || (!is_interval<Operands> && ...));

namespace detail {

template <real T>
VOUCH_HOST_DEVICE constexpr bool finite(T x) {
  return rounding::finite(x);
}
template <real T>
VOUCH_HOST_DEVICE constexpr bool finite(interval<T> x) {
  return rounding::finite(x.lo()) && rounding::finite(x.hi());
}

template <scalar T>
VOUCH_HOST_DEVICE constexpr bool holds_zero(T x) {
  if constexpr (is_interval<T>)
    return x.lo() <= 0 && x.hi() >= 0;
  else
    return x == 0;
}

template <real T>
VOUCH_HOST_DEVICE constexpr bool holds_zero(complex_interval<T> z) {
  return holds_zero(z.real()) && holds_zero(z.imag());
}

/// A point as it is, an interval by its bounds.
template <real T>
VOUCH_HOST_DEVICE constexpr T lower(T x) {
  return x;
}
template <real T>
VOUCH_HOST_DEVICE constexpr T lower(interval<T> x) {
  return x.lo();
}
template <real T>
VOUCH_HOST_DEVICE constexpr T upper(T x) {
  return x;
}
template <real T>
VOUCH_HOST_DEVICE constexpr T upper(interval<T> x) {
  return x.hi();
}

// c + a b rounded downwards, a b being one of the products that stand at the lower bound of a product of sets.
// A zero factor makes 0 of an infinite bound, and nothing lies below -infinity.
template <real T>
VOUCH_HOST_DEVICE T least_with(T a, T b, T c) {
  return a == 0 || b == 0 || c == -rounding::infinity<T> ? c : fma_down(a, b, c);
}
template <real T>
VOUCH_HOST_DEVICE T most_with(T a, T b, T c) {
  return a == 0 || b == 0 || c == rounding::infinity<T> ? c : fma_up(a, b, c);
}

/// c + a b. For intervals the smallest enclosure, each bound rounded once; for numbers one rounding to nearest.
/// The step of which every sum of products in this room is a chain.
template <scalar C, scalar A, scalar B>
requires accumulates<C, A, B> VOUCH_HOST_DEVICE C multiply_add(A a, B b, C c) {
  if constexpr (!is_interval<C>) {
    return fused(a, b, c);
  } else {
    using T = bound_of<C>;
    const bool point_operands_finite =
        (is_interval<A> || finite(lower(a))) && (is_interval<B> || finite(lower(b)));
    if (lower(a) != lower(a) || lower(b) != lower(b) || is_empty(c) || !point_operands_finite)
      return C::empty();
    const T al = lower(a), ah = upper(a), bl = lower(b), bh = upper(b);
    // The least product stands at a.lo or a.hi, with the bound of b that the sign of that one asks for.
    return C::unchecked(
        rounding::smaller(least_with(al, al < 0 ? bh : bl, c.lo()), least_with(ah, ah < 0 ? bh : bl, c.lo())),
        rounding::larger(most_with(al, al < 0 ? bl : bh, c.hi()), most_with(ah, ah < 0 ? bl : bh, c.hi())));
  }
}

/// c + |x|.
template <scalar T>
VOUCH_HOST_DEVICE T add_magnitude(T x, T c) {
  if constexpr (is_interval<T>)
    return c + abs(x);
  else
    return c + std::abs(x);
}

/// c + x^2, not below c also where x straddles 0.
template <scalar T>
VOUCH_HOST_DEVICE T add_square(T x, T c) {
  if constexpr (is_interval<T>) {
    const T size = abs(x);
    return T::unchecked(is_empty(c) ? c.lo() : least_with(size.lo(), size.lo(), c.lo()),
                        is_empty(c) ? c.hi() : most_with(size.hi(), size.hi(), c.hi()));
  } else {
    return fused(x, x, c);
  }
}

/// The largest and the smallest absolute value in x; NaN for the empty set.
template <scalar T>
VOUCH_HOST_DEVICE bound_of<T> largest_size(T x) {
  if constexpr (is_interval<T>)
    return mag(x);
  else
    return std::abs(x);
}
template <scalar T>
VOUCH_HOST_DEVICE bound_of<T> smallest_size(T x) {
  if constexpr (is_interval<T>)
    return mig(x);
  else
    return std::abs(x);
}

template <scalar T>
VOUCH_HOST_DEVICE constexpr bool is_one(T x) {
  return x == T{bound_of<T>{1}};
}
template <scalar T>
VOUCH_HOST_DEVICE constexpr bool is_zero(T x) {
  return x == T{};
}

}  // namespace detail
}  // namespace vouch
VOUCH_AS_WRITTEN_END
