// tests/interval/inclusion.hpp -- intervals with points in them, and what operations on them must enclose.
#pragma once
#include <vouch/interval/ball.hpp>
#include <vouch/interval/reverse.hpp>

namespace vouch::testing {

/// Three intervals and a point of each.
template <real T>
struct inclusion_case {
  interval<T> x, y, z;
  T a, b, c;
};

template <real T>
VOUCH_HOST_DEVICE bool encloses(interval<T> result, T lo, T hi) {
  return lo != lo || hi != hi || (result.lo() <= lo && hi <= result.hi());
}

/// The operations that leave out the result for the points, one bit each. The results for points come from the
/// directed operations, which have their own comparison with MPFR.
template <real T>
VOUCH_HOST_DEVICE unsigned violations(const inclusion_case<T>& v) {
  const T a = v.a;
  const T b = v.b;
  const bool good[] = {encloses(v.x + v.y, add_down(a, b), add_up(a, b)),
                       encloses(v.x - v.y, sub_down(a, b), sub_up(a, b)),
                       encloses(v.x * v.y, mul_down(a, b), mul_up(a, b)),
                       b == 0 || encloses(v.x / v.y, div_down(a, b), div_up(a, b)),
                       encloses(v.x + b, add_down(a, b), add_up(a, b)),
                       encloses(b - v.x, sub_down(b, a), sub_up(b, a)),
                       encloses(b * v.x, mul_down(a, b), mul_up(a, b)),
                       b == 0 || encloses(v.x / b, div_down(a, b), div_up(a, b)),
                       encloses(fma(v.x, v.y, v.z), fma_down(a, b, v.c), fma_up(a, b, v.c)),
                       encloses(sqr(v.x), mul_down(a, a), mul_up(a, a)),
                       a < 0 || encloses(sqrt(v.x), sqrt_down(a), sqrt_up(a)),
                       a == 0 || encloses(recip(v.x), div_down(T(1), a), div_up(T(1), a)),
                       is_member(mid(v.x), v.x),
                       subset(v.x, to_interval(to_ball(v.x)))};
  unsigned bad = 0;
  for (unsigned k = 0; k < sizeof good; ++k) bad |= good[k] ? 0U : 1U << k;
  return bad;
}

/// All directed operations on three numbers.
template <real T>
struct directed_results {
  static constexpr int count = 12;
  T of[count];
};

template <real T>
VOUCH_HOST_DEVICE directed_results<T> all_directed(T a, T b, T c) {
  return {{add_down(a, b), add_up(a, b), sub_down(a, b), sub_up(a, b), mul_down(a, b), mul_up(a, b),
           div_down(a, b), div_up(a, b), sqrt_down(a), sqrt_up(a), fma_down(a, b, c), fma_up(a, b, c)}};
}

/// The reverse operations that host and device share, of three intervals.
template <real T>
struct reverse_results {
  static constexpr int count = 14;
  interval<T> of[count];
};

template <real T>
VOUCH_HOST_DEVICE reverse_results<T> all_reverse(interval<T> b, interval<T> c, interval<T> x) {
  return {{mul_rev(b, c), mul_rev(b, c, x), sqr_rev(c), sqr_rev(c, x), abs_rev(c), abs_rev(c, x),
           pown_rev(c, 3), pown_rev(c, x, 4), pown_rev(c, x, 7), pown_rev(c, x, 1000), pown_rev(c, x, 0),
           pown_rev(c, x, -1), pown_rev(c, x, -2), pown_rev(c, -5)}};
}

}  // namespace vouch::testing
