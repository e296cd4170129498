// vouch/dense/pieces_avx512.hpp -- the loops of pieces_portable.hpp on registers of 64 bytes; private.
//
// Intervals stay as they lie in memory, lower bounds in even lanes and upper bounds in odd ones. Both roundings
// are computed in all lanes and each lane keeps its own: bound by memory all the same, without a shuffle of the
// results. Registers that hold an infinity or a NaN among the factors go through the portable loop.
#pragma once
#include <algorithm>
#include <cstdint>

#include <vouch/dense/avx512.hpp>
#include <vouch/dense/pieces_portable.hpp>

#if VOUCH_HAS_AVX512
namespace vouch::avx512 {

using detail::lane_count;
using detail::lane_sums;

template <scalar X>
using bounds_of = vec<bound_of<X>>;

/// Elements of R that one register holds.
template <scalar R>
inline constexpr int per_register = 64 / static_cast<int>(sizeof(R));

template <scalar X>
const bound_of<X>* numbers(const X* x) {
  return reinterpret_cast<const bound_of<X>*>(x);
}
template <scalar X>
bound_of<X>* numbers(X* x) {
  return reinterpret_cast<bound_of<X>*>(x);
}

/// The mask of count elements of type R.
template <scalar R>
VOUCH_AVX512_INLINE typename bounds_of<R>::mask first_of(std::int64_t count) {
  return bounds_of<R>::first(is_interval<R> ? 2 * count : count);
}

/// count elements of x as elements of R, points twice where R is an interval; zeros beyond.
template <scalar R, scalar X>
VOUCH_AVX512_INLINE typename bounds_of<R>::reg load_as(const X* x, std::int64_t count) {
  using V = bounds_of<R>;
  const auto lanes = V::load(first_of<X>(count), numbers(x));
  if constexpr (is_interval<R> && !is_interval<X>)
    return V::doubled(lanes);
  else
    return lanes;
}

/// Lower bounds, valid in even lanes, and upper bounds, valid in odd ones; for numbers only low counts.
template <scalar R>
struct pair_of_sums {
  typename bounds_of<R>::reg low;
  typename bounds_of<R>::reg high;
};

/// c + a b, with a as [a_low, a_high] in both lanes of each pair and negative where its mask says so.
template <scalar R, bool PointA>
VOUCH_AVX512_INLINE pair_of_sums<R> add_products(typename bounds_of<R>::reg a_low,
                                                 typename bounds_of<R>::reg a_high,
                                                 typename bounds_of<R>::mask low_negative,
                                                 typename bounds_of<R>::mask high_negative,
                                                 typename bounds_of<R>::reg b, pair_of_sums<R> c) {
  using V = bounds_of<R>;
  if constexpr (!is_interval<R>) {
    return {V::template fma<rounds::nearest>(a_low, b, c.low), c.high};
  } else {
    // The bound of b that belongs to a_low: its own lane, or for a negative factor the other one.
    const auto turned = V::swapped(b);
    const auto with_low = V::blend(low_negative, b, turned);
    const auto low = V::template fma<rounds::down>(a_low, with_low, c.low);
    const auto high = V::template fma<rounds::up>(a_low, with_low, c.high);
    if constexpr (PointA) return {low, high};
    const auto with_high = V::blend(high_negative, b, turned);
    return {V::min(low, V::template fma<rounds::down>(a_high, with_high, c.low)),
            V::max(high, V::template fma<rounds::up>(a_high, with_high, c.high))};
  }
}

/// As above with the factor a as it was loaded.
template <scalar R, bool PointA>
VOUCH_AVX512_INLINE pair_of_sums<R> add_products(typename bounds_of<R>::reg a, typename bounds_of<R>::reg b,
                                                 pair_of_sums<R> c) {
  using V = bounds_of<R>;
  if constexpr (PointA || !is_interval<R>) {
    const auto negative = V::below_zero(a);
    return add_products<R, true>(a, a, negative, negative, b, c);
  } else {
    const auto low = V::both_even(a), high = V::both_odd(a);
    return add_products<R, false>(low, high, V::below_zero(low), V::below_zero(high), b, c);
  }
}

// y := alpha x + y, or alpha x where not Add; alpha is finite.
template <bool Add, scalar R, scalar X>
VOUCH_AVX512 void axpy_finite(std::int64_t n, R alpha, const X* x, R* y) {
  using V = bounds_of<R>;
  constexpr int step = per_register<R>;
  constexpr auto everywhere = static_cast<typename V::mask>(~0U);
  const auto low = V::all(detail::lower(alpha)), high = V::all(detail::upper(alpha));
  const auto low_negative = detail::lower(alpha) < 0 ? everywhere : typename V::mask{};
  const auto high_negative = detail::upper(alpha) < 0 ? everywhere : typename V::mask{};
  for (std::int64_t i = 0; i < n; i += step) {
    const std::int64_t count = std::min<std::int64_t>(step, n - i);
    const auto factor = load_as<R>(x + i, count);
    if (is_interval<R> && !V::finite(factor)) {
      Add ? detail::portable::axpy(count, alpha, x + i, y + i)
          : detail::portable::scaled(count, alpha, x + i, y + i);
      continue;
    }
    const auto old = Add ? load_as<R>(y + i, count) : V::zero();
    const auto sum = add_products<R, false>(low, high, low_negative, high_negative, factor, {old, old});
    V::store(first_of<R>(count), numbers(y + i),
             is_interval<R> ? V::blend(V::odd, sum.low, sum.high) : sum.low);
  }
}

template <scalar R>
VOUCH_AVX512_INLINE void put(pair_of_sums<R> sums, R* lanes) {
  using V = bounds_of<R>;
  V::store(numbers(lanes), is_interval<R> ? V::blend(V::odd, sums.low, sums.high) : sums.low);
}
template <scalar R>
VOUCH_AVX512_INLINE pair_of_sums<R> get(const R* lanes) {
  const auto both = bounds_of<R>::load(numbers(lanes));
  return {both, both};
}

// What a reduction adds for one register: finite(i, count) tells whether registers may do it, in_register does
// it, and in_lanes does it for lanes in memory.
template <scalar R, scalar A, scalar B>
struct product_terms {
  const A* a;
  const B* b;

  VOUCH_AVX512_INLINE bool add(std::int64_t i, std::int64_t count, pair_of_sums<R>& sums) const {
    const auto first = load_as<R>(a + i, count), second = load_as<R>(b + i, count);
    using V = bounds_of<R>;
    if (is_interval<R> && !(V::finite(first) && V::finite(second))) return false;
    sums = add_products<R, !is_interval<A>>(first, second, sums);
    return true;
  }
  void add_one(std::int64_t i, R& lane) const { lane = detail::multiply_add(a[i], b[i], lane); }
};

/// Mignitudes in the even lanes of low, magnitudes in the odd ones of high.
template <scalar R>
VOUCH_AVX512_INLINE pair_of_sums<R> sizes(typename bounds_of<R>::reg x) {
  using V = bounds_of<R>;
  const auto turned = V::swapped(x);
  return {V::max(V::max(x, V::negative(turned)), V::zero()), V::max(V::abs(x), V::abs(turned))};
}

template <scalar R>
struct magnitude_terms {
  const R* x;

  VOUCH_AVX512_INLINE bool add(std::int64_t i, std::int64_t count, pair_of_sums<R>& sums) const {
    using V = bounds_of<R>;
    const auto element = load_as<R>(x + i, count);
    if constexpr (!is_interval<R>) {
      sums.low = V::template add<rounds::nearest>(sums.low, V::abs(element));
      return true;
    } else {
      if (!V::finite(element)) return false;
      const auto size = sizes<R>(element);
      sums = {V::template add<rounds::down>(sums.low, size.low),
              V::template add<rounds::up>(sums.high, size.high)};
      return true;
    }
  }
  void add_one(std::int64_t i, R& lane) const { lane = detail::add_magnitude(x[i], lane); }
};

template <scalar R>
struct square_terms {
  const R* x;

  VOUCH_AVX512_INLINE bool add(std::int64_t i, std::int64_t count, pair_of_sums<R>& sums) const {
    using V = bounds_of<R>;
    const auto element = load_as<R>(x + i, count);
    if constexpr (!is_interval<R>) {
      sums.low = V::template fma<rounds::nearest>(element, element, sums.low);
      return true;
    } else {
      if (!V::finite(element)) return false;
      const auto size = sizes<R>(element);
      sums = {V::template fma<rounds::down>(size.low, size.low, sums.low),
              V::template fma<rounds::up>(size.high, size.high, sums.high)};
      return true;
    }
  }
  void add_one(std::int64_t i, R& lane) const { lane = detail::add_square(x[i], lane); }
};

template <scalar R, class Terms>
VOUCH_AVX512_INLINE void add_register(const Terms& terms, std::int64_t i, std::int64_t count,
                                      pair_of_sums<R>& sums) {
  if (terms.add(i, count, sums)) [[likely]]
    return;
  R lanes[per_register<R>];
  put(sums, lanes);
  for (std::int64_t l = 0; l < count; ++l) terms.add_one(i + l, lanes[l]);
  sums = get(lanes);
}

template <scalar R, class Terms>
VOUCH_AVX512 R reduce(std::int64_t n, Terms terms) {
  using V = bounds_of<R>;
  constexpr int step = per_register<R>;
  pair_of_sums<R> s0{V::zero(), V::zero()}, s1 = s0, s2 = s0, s3 = s0;
  std::int64_t i = 0;
  for (; i + 4 * step <= n; i += 4 * step) {
    add_register(terms, i, step, s0);
    add_register(terms, i + step, step, s1);
    add_register(terms, i + 2 * step, step, s2);
    add_register(terms, i + 3 * step, step, s3);
  }
  const auto left = [n](std::int64_t at) { return std::clamp<std::int64_t>(n - at, 0, per_register<R>); };
  if (i < n) {
    add_register(terms, i, left(i), s0);
    add_register(terms, i + step, left(i + step), s1);
    add_register(terms, i + 2 * step, left(i + 2 * step), s2);
    add_register(terms, i + 3 * step, left(i + 3 * step), s3);
  }
  lane_sums<R> sums;
  put(s0, sums.lane);
  put(s1, sums.lane + step);
  put(s2, sums.lane + 2 * step);
  put(s3, sums.lane + 3 * step);
  return sums.total();
}

template <scalar R, scalar X>
void axpy(std::int64_t n, R alpha, const X* x, R* y) {
  is_interval<R> && !detail::finite(alpha) ? detail::portable::axpy(n, alpha, x, y)
                                           : axpy_finite<true>(n, alpha, x, y);
}

template <scalar R, scalar X>
void scaled(std::int64_t n, R alpha, const X* x, R* y) {
  is_interval<R> && !detail::finite(alpha) ? detail::portable::scaled(n, alpha, x, y)
                                           : axpy_finite<false>(n, alpha, x, y);
}

template <scalar R, scalar A, scalar B>
R dot(std::int64_t n, const A* a, const B* b) {
  if constexpr (is_interval<A> && !is_interval<B>)
    return reduce<R>(n, product_terms<R, B, A>{b, a});
  else
    return reduce<R>(n, product_terms<R, A, B>{a, b});
}

template <scalar R>
R sum_of_magnitudes(std::int64_t n, const R* x) {
  return reduce<R>(n, magnitude_terms<R>{x});
}

template <scalar R>
R sum_of_squares(std::int64_t n, const R* x) {
  return reduce<R>(n, square_terms<R>{x});
}

}  // namespace vouch::avx512
#endif
