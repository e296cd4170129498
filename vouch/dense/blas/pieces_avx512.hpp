// vouch/dense/blas/pieces_avx512.hpp -- the loops of pieces_portable.hpp on registers of 64 bytes; private.
//
// Intervals stay as they lie in memory, lower bounds in even lanes and upper bounds in odd ones; sums have the
// sign of their lower bounds changed, so that one instruction rounds both outwards. An infinite bound makes a
// NaN where a zero or an opposite infinity meets it, and what has none is right as it is; an empty operand
// always makes one. Such registers go through the portable loop.
#pragma once
#include <algorithm>
#include <cstdint>

#include <vouch/dense/blas/avx512.hpp>
#include <vouch/dense/blas/pieces_portable.hpp>

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
//
// Matrices are larger than what the hardware looks ahead in a column: elements so many ahead are fetched too.
template <int Columns, bool Add, scalar R, scalar X>
VOUCH_AVX512 void axpy_finite(std::int64_t n, const R* alpha, const X* const* x, std::int64_t ahead, R* y) {
  using V = bounds_of<R>;
  constexpr int step = per_register<R>;
  const column_factors<Columns, R> factors(alpha);
  std::int64_t i = 0;
  for (; i + step <= n; i += step) {
    auto sums = Add ? outward<R>(load_as<R>(y + i, step)) : V::zero();
    for (int c = 0; c < Columns && Columns > 1; ++c) _mm_prefetch(x[c] + i + ahead, _MM_HINT_T1);
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

// A register of factors, ready to be multiplied by others.
template <scalar R, bool Point>
struct left_factors {
  using V = bounds_of<R>;
  typename V::reg low, high;  // bounds in both lanes of each pair, as outward() has them
  typename V::mask low_negative, high_negative;

  VOUCH_AVX512_INLINE explicit left_factors(typename V::reg x) {
    if constexpr (!is_interval<R>) {
      low = x;
    } else {
      const auto lower = Point ? x : V::both_even(x);
      low = V::flipped(lower);
      low_negative = V::below_zero(lower);
      if constexpr (!Point) {
        const auto upper = V::both_odd(x);
        high = V::flipped(upper);
        high_negative = V::below_zero(upper);
      }
    }
  }

  /// sums + these times x; false where a NaN arose, for then an operand was infinite or empty.
  VOUCH_AVX512_INLINE bool add(typename V::reg x, typename V::reg& sums) const {
    if constexpr (!is_interval<R>) {
      sums = V::template fma<rounds::nearest>(low, x, sums);
      return true;
    } else if constexpr (Point) {
      sums = V::template fma<rounds::up>(low, V::swapped(low_negative, x), sums);
      return V::unordered(sums, sums) == 0;
    } else {
      const auto p = V::template fma<rounds::up>(low, V::swapped(low_negative, x), sums);
      const auto q = V::template fma<rounds::up>(high, V::swapped(high_negative, x), sums);
      sums = V::max(p, q);
      return V::unordered(p, q) == 0;
    }
  }
};

// What a reduction adds for one register: add(i, count, sums) does it or, where registers may not, returns
// false; add_one does it for a lane in memory.
template <scalar R, scalar A, scalar B>
struct product_terms {
  const A* a;
  const B* b;

  VOUCH_AVX512_INLINE bool add(std::int64_t i, std::int64_t count, typename bounds_of<R>::reg& sums) const {
    return left_factors<R, !is_interval<A>>(load_as<R>(a + i, count)).add(load_as<R>(b + i, count), sums);
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

// Registers l of the lanes of columns times x, for count elements from i on.
template <int Columns, scalar R, scalar A, scalar X>
VOUCH_AVX512_INLINE void add_to_lanes(const A* const* a, const X* x, std::int64_t i, std::int64_t count, int l,
                                      typename bounds_of<R>::reg (&sums)[Columns][4]) {
  using V = bounds_of<R>;
  const left_factors<R, !is_interval<X>> factors(load_as<R>(x + i, count));
#pragma GCC unroll 4
  for (int c = 0; c < Columns; ++c) {
    const auto before = sums[c][l];
    if (factors.add(load_as<R>(a[c] + i, count), sums[c][l])) [[likely]]
      continue;
    R lanes[per_register<R>];
    V::store(numbers(lanes), outward<R>(before));
    for (std::int64_t e = 0; e < count; ++e) lanes[e] = detail::multiply_add(a[c][i + e], x[i + e], lanes[e]);
    sums[c][l] = outward<R>(V::load(numbers(lanes)));
  }
}

// to[c] := the inner product of column c and x, as dot() adds it up.
template <int Columns, scalar R, scalar A, scalar X>
VOUCH_AVX512 void dot_columns(std::int64_t n, const A* const* a, const X* x, R* to) {
  using V = bounds_of<R>;
  constexpr int step = per_register<R>;
  typename V::reg sums[Columns][4];
#pragma GCC unroll 4
  for (int c = 0; c < Columns; ++c)
#pragma GCC unroll 4
    for (int l = 0; l < 4; ++l) sums[c][l] = V::zero();
  std::int64_t i = 0;
  for (; i + 4 * step <= n; i += 4 * step)
#pragma GCC unroll 4
    for (int l = 0; l < 4; ++l) add_to_lanes<Columns, R>(a, x, i + l * step, step, l, sums);
#pragma GCC unroll 4
  for (int l = 0; l < 4; ++l)
    if (const auto left = std::clamp<std::int64_t>(n - i - l * step, 0, step); left > 0)
      add_to_lanes<Columns, R>(a, x, i + l * step, left, l, sums);
#pragma GCC unroll 4
  for (int c = 0; c < Columns; ++c) {
    lane_sums<R> lanes;
#pragma GCC unroll 4
    for (int l = 0; l < 4; ++l) V::store(numbers(lanes.lane + l * step), outward<R>(sums[c][l]));
    to[c] = lanes.total();
  }
}

template <int Columns, bool Add, scalar R, scalar X>
void axpy_columns(std::int64_t n, const R* alpha, const X* const* x, std::int64_t ahead, R* y) {
  bool all_finite = true;
  for (int c = 0; c < Columns; ++c) all_finite &= detail::finite(alpha[c]);
  is_interval<R> && !all_finite ? detail::portable::axpy_columns<Columns, Add>(n, alpha, x, 0, y)
                                : axpy_finite<Columns, Add>(n, alpha, x, ahead, y);
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
