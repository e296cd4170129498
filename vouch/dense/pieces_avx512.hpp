// vouch/dense/pieces_avx512.hpp -- the loops of pieces_portable.hpp on registers of 64 bytes; private.
//
// Intervals stay as they lie in memory, lower bounds in even lanes and upper bounds in odd ones; sums have the
// sign of their lower bounds changed, so that one instruction rounds both outwards. An infinite bound makes a
// NaN where a zero or an opposite infinity meets it, and what has none is right as it is; an empty operand
// always makes one. Such registers go through the portable loop.
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

/// Sums of intervals are kept as [-lo, hi], so that both bounds are rounded upwards; sums of numbers as they
/// are.
template <scalar R>
VOUCH_AVX512_INLINE typename bounds_of<R>::reg outward(typename bounds_of<R>::reg x) {
  if constexpr (is_interval<R>)
    return bounds_of<R>::flipped(x);
  else
    return x;
}

// Columns that are added at a time, each times its alpha.
template <int Columns, scalar R>
struct column_factors {
  using V = bounds_of<R>;
  typename V::reg low[Columns], high[Columns];  // alpha's bounds, as outward() has them
  typename V::control low_order[Columns], high_order[Columns];

  VOUCH_AVX512_INLINE explicit column_factors(const R* alpha) {
    for (int c = 0; c < Columns; ++c) {
      low[c] = outward<R>(V::all(detail::lower(alpha[c])));
      if constexpr (is_interval<R>) {
        high[c] = V::flipped(V::all(detail::upper(alpha[c])));
        low_order[c] = V::order(detail::lower(alpha[c]) < 0);
        high_order[c] = V::order(detail::upper(alpha[c]) < 0);
      }
    }
  }

  /// sums + alpha x; false where a NaN arose on the way, for then an operand was infinite or empty.
  template <scalar X>
  VOUCH_AVX512_INLINE bool add(const X* const* x, std::int64_t i, std::int64_t count,
                               typename V::reg& sums) const {
    if constexpr (!is_interval<R>) {
      for (int c = 0; c < Columns; ++c)
        sums = V::template fma<rounds::nearest>(low[c], load_as<R>(x[c] + i, count), sums);
      return true;
    } else {
      typename V::mask nan = 0;
      // The bound of x that belongs to a bound of alpha: its own lane, or for a negative factor the other one.
#pragma GCC unroll 4
      for (int c = 0; c < Columns; ++c) {
        const auto factor = load_as<R>(x[c] + i, count);
        const auto p = V::template fma<rounds::up>(low[c], V::ordered(factor, low_order[c]), sums);
        const auto q = V::template fma<rounds::up>(high[c], V::ordered(factor, high_order[c]), sums);
        nan |= V::unordered(p, q);
        sums = V::max(p, q);
      }
      return nan == 0;
    }
  }
};

// y := sum of alpha x over the columns + y, or without y where not Add; alphas are finite.
template <int Columns, bool Add, scalar R, scalar X>
VOUCH_AVX512 void axpy_finite(std::int64_t n, const R* alpha, const X* const* x, R* y) {
  using V = bounds_of<R>;
  constexpr int step = per_register<R>;
  const column_factors<Columns, R> factors(alpha);
  std::int64_t i = 0;
  for (; i + step <= n; i += step) {
    auto sums = Add ? outward<R>(load_as<R>(y + i, step)) : V::zero();
    if (factors.add(x, i, step, sums)) [[likely]]
      V::store(numbers(y + i), outward<R>(sums));
    else
      detail::portable::axpy_columns<Columns, Add>(step, alpha, x, i, y);
  }
  if (i == n) return;
  auto sums = Add ? outward<R>(load_as<R>(y + i, n - i)) : V::zero();
  if (factors.add(x, i, n - i, sums))
    V::store(first_of<R>(n - i), numbers(y + i), outward<R>(sums));
  else
    detail::portable::axpy_columns<Columns, Add>(n - i, alpha, x, i, y);
}

// What a reduction adds for one register: add(i, count, sums) does it or, where registers may not, returns
// false; add_one does it for a lane in memory.
template <scalar R, scalar A, scalar B>
struct product_terms {
  const A* a;
  const B* b;

  VOUCH_AVX512_INLINE bool add(std::int64_t i, std::int64_t count, typename bounds_of<R>::reg& sums) const {
    using V = bounds_of<R>;
    const auto first = load_as<R>(a + i, count), second = load_as<R>(b + i, count);
    if constexpr (!is_interval<R>) {
      sums = V::template fma<rounds::nearest>(first, second, sums);
      return true;
    } else if constexpr (!is_interval<A>) {
      sums = V::template fma<rounds::up>(V::flipped(first), V::swapped(V::below_zero(first), second), sums);
      return V::unordered(sums, sums) == 0;
    } else {
      const auto low = V::both_even(first), high = V::both_odd(first);
      const auto p = V::template fma<rounds::up>(V::flipped(low), V::swapped(V::below_zero(low), second), sums);
      const auto q =
          V::template fma<rounds::up>(V::flipped(high), V::swapped(V::below_zero(high), second), sums);
      sums = V::max(p, q);
      return V::unordered(p, q) == 0;
    }
  }
  void add_one(std::int64_t i, R& lane) const { lane = detail::multiply_add(a[i], b[i], lane); }
};

/// Mignitudes in the even lanes, magnitudes in the odd ones.
template <scalar R>
VOUCH_AVX512_INLINE typename bounds_of<R>::reg sizes(typename bounds_of<R>::reg x) {
  using V = bounds_of<R>;
  const auto turned = V::swapped(x);
  return V::blend(V::odd, V::max(V::max(x, V::negative(turned)), V::zero()), V::max(V::abs(x), V::abs(turned)));
}

template <scalar R>
struct magnitude_terms {
  const R* x;

  VOUCH_AVX512_INLINE bool add(std::int64_t i, std::int64_t count, typename bounds_of<R>::reg& sums) const {
    using V = bounds_of<R>;
    const auto element = load_as<R>(x + i, count);
    if constexpr (!is_interval<R>) {
      sums = V::template add<rounds::nearest>(sums, V::abs(element));
    } else {
      if (!V::finite(element)) return false;
      sums = V::template add<rounds::up>(sums, V::flipped(sizes<R>(element)));
    }
    return true;
  }
  void add_one(std::int64_t i, R& lane) const { lane = detail::add_magnitude(x[i], lane); }
};

template <scalar R>
struct square_terms {
  const R* x;

  VOUCH_AVX512_INLINE bool add(std::int64_t i, std::int64_t count, typename bounds_of<R>::reg& sums) const {
    using V = bounds_of<R>;
    const auto element = load_as<R>(x + i, count);
    if constexpr (!is_interval<R>) {
      sums = V::template fma<rounds::nearest>(element, element, sums);
    } else {
      if (!V::finite(element)) return false;
      const auto size = sizes<R>(element);
      sums = V::template fma<rounds::up>(V::flipped(size), size, sums);
    }
    return true;
  }
  void add_one(std::int64_t i, R& lane) const { lane = detail::add_square(x[i], lane); }
};

template <scalar R, class Terms>
VOUCH_AVX512_INLINE void add_register(const Terms& terms, std::int64_t i, std::int64_t count,
                                      typename bounds_of<R>::reg& sums) {
  using V = bounds_of<R>;
  const auto before = sums;
  if (terms.add(i, count, sums)) [[likely]]
    return;
  R lanes[per_register<R>];
  V::store(numbers(lanes), outward<R>(before));
  for (std::int64_t l = 0; l < count; ++l) terms.add_one(i + l, lanes[l]);
  sums = outward<R>(V::load(numbers(lanes)));
}

template <scalar R, class Terms>
VOUCH_AVX512 R reduce(std::int64_t n, Terms terms) {
  using V = bounds_of<R>;
  constexpr int step = per_register<R>;
  auto s0 = V::zero(), s1 = s0, s2 = s0, s3 = s0;
  std::int64_t i = 0;
  for (; i + 4 * step <= n; i += 4 * step) {
    add_register<R>(terms, i, step, s0);
    add_register<R>(terms, i + step, step, s1);
    add_register<R>(terms, i + 2 * step, step, s2);
    add_register<R>(terms, i + 3 * step, step, s3);
  }
  const auto left = [n](std::int64_t at) { return std::clamp<std::int64_t>(n - at, 0, per_register<R>); };
  if (i < n) {
    add_register<R>(terms, i, left(i), s0);
    add_register<R>(terms, i + step, left(i + step), s1);
    add_register<R>(terms, i + 2 * step, left(i + 2 * step), s2);
    add_register<R>(terms, i + 3 * step, left(i + 3 * step), s3);
  }
  lane_sums<R> sums;
  V::store(numbers(sums.lane), outward<R>(s0));
  V::store(numbers(sums.lane + step), outward<R>(s1));
  V::store(numbers(sums.lane + 2 * step), outward<R>(s2));
  V::store(numbers(sums.lane + 3 * step), outward<R>(s3));
  return sums.total();
}

template <int Columns, bool Add, scalar R, scalar X>
void axpy_columns(std::int64_t n, const R* alpha, const X* const* x, R* y) {
  bool all_finite = true;
  for (int c = 0; c < Columns; ++c) all_finite &= detail::finite(alpha[c]);
  is_interval<R> && !all_finite ? detail::portable::axpy_columns<Columns, Add>(n, alpha, x, 0, y)
                                : axpy_finite<Columns, Add>(n, alpha, x, y);
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
