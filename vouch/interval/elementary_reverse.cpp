// Elementary functions solved for an operand.
#include <vouch/core/ieee_environment.hpp>
#include <vouch/interval/elementary.hpp>
#include <vouch/interval/elementary_mpfr.hpp>
#include <vouch/interval/reverse.hpp>

namespace vouch {

// ---- periodic functions, cosh and powers

namespace {

using elementary::narrowest;
using elementary::number;
using rounding::infinity;
using rounding::stretch;
using rounding::within;

// A periodic function on its branches, half a turn long each: branch k is [k pi - pi/2, k pi + pi/2], or
// [k pi, k pi + pi] where it is not centered, and f(k pi + inverse(s)) = s there, -s for odd k if it
// alternates.
struct branches {
  elementary::unary inverse;
  bool rising;
  bool alternating;
  bool centered;
};

// The branch of x, from the quarter turn that x is in.
template <real T>
void branch_of(number& k, T x, bool centered) {
  elementary::quarter_of(k, x);
  if (centered) mpfr_add_ui(k, k, 1, MPFR_RNDN);
  mpfr_div_2ui(k, k, 1, MPFR_RNDN);
  mpfr_floor(k, k);
}

bool is_odd(const number& k) {
  number half(mpfr_get_prec(k));
  mpfr_div_2ui(half, k, 1, MPFR_RNDN);
  return mpfr_integer_p(half) == 0;
}

// Around k pi + inverse(s), which is 0 or no number of type T (Lindemann).
template <real T>
interval<T> solution(const number& k, elementary::unary inverse, T s) {
  const number operand(s);
  const bool negative = mpfr_sgn(static_cast<mpfr_srcptr>(k)) < 0;
  const auto enclose = [&](mpfr_ptr low, mpfr_ptr high) {
    const bool exact = inverse(low, operand, MPFR_RNDD) == 0;
    mpfr_set(high, low, MPFR_RNDN);
    if (!exact) mpfr_nextabove(high);
    number turns(mpfr_get_prec(low));
    mpfr_const_pi(turns, negative ? MPFR_RNDU : MPFR_RNDD);
    mpfr_mul(turns, turns, k, MPFR_RNDD);
    mpfr_add(low, low, turns, MPFR_RNDD);
    mpfr_const_pi(turns, negative ? MPFR_RNDD : MPFR_RNDU);
    mpfr_mul(turns, turns, k, MPFR_RNDU);
    mpfr_add(high, high, turns, MPFR_RNDU);
  };
  const bool here = mpfr_zero_p(static_cast<mpfr_srcptr>(k)) != 0;
  // -pi + acos(-1) alone is a 0 that no precision shows
  return narrowest<T>(
      enclose, [](T t) { return t == 0; }, here ? 0 : mpfr_get_exp(k));
}

template <real T>
interval<T> solutions_on_branch(const branches& f, const number& k, interval<T> c, interval<T> x) {
  if (f.alternating && is_odd(k)) c = -c;
  const interval<T> low = solution(k, f.inverse, c.lo());
  const interval<T> high = solution(k, f.inverse, c.hi());
  return within(f.rising ? stretch<T>{low, high} : stretch<T>{high, low}, x);
}

// Every branch has solutions: those next to a bound of x lie on the branch of that bound or on the next one.
template <real T>
interval<T> solutions_next_to(const branches& f, T bound, long inward, interval<T> c, interval<T> x) {
  if (!rounding::finite(bound)) return x;
  const elementary::full_range range;
  number k(2);
  branch_of(k, bound, f.centered);
  const interval<T> here = solutions_on_branch(f, k, c, x);
  if (!is_empty(here)) return here;
  mpfr_add_si(k, k, inward, MPFR_RNDN);
  return solutions_on_branch(f, k, c, x);
}

template <real T>
interval<T> periodic_rev(const branches& f, interval<T> c, interval<T> x) {
  if (is_empty(c) || is_empty(x)) return interval<T>::empty();
  const interval<T> first = solutions_next_to(f, x.lo(), 1, c, x);
  const interval<T> last = solutions_next_to(f, x.hi(), -1, c, x);
  return interval<T>::unchecked(first.lo(), last.hi());
}

template <real T>
interval<T> sines(interval<T> c) {
  return intersection(c, interval<T>::unchecked(-1, 1));
}

// x^y = c as log x * y = log c, solved for x: products are the logarithms of c, divisors the y, and a quotient
// log x stands as x.
template <real T>
struct base_algebra {
  static constexpr T pivot_of_divisors = 0;
  static constexpr T pivot_of_products = 1;
  static interval<T> at_pivot() { return interval<T>(T{1}); }
  static stretch<T> all() { return {rounding::just_above(T{}), rounding::exactly(infinity<T>)}; }
  static interval<T> quotient(T c, T y, bool positive) {
    if (y == 0 || c == 0 || c == infinity<T>)
      return positive ? rounding::exactly(infinity<T>) : rounding::just_above(T{});
    if (!rounding::finite(y)) return positive ? rounding::just_above(T{1}) : rounding::just_below(T{1});
    const number power(c);
    const number exponent(y);
    const auto enclose = [&](mpfr_ptr low, mpfr_ptr high) {
      mpfr_ui_div(low, 1, exponent, MPFR_RNDD);
      mpfr_ui_div(high, 1, exponent, MPFR_RNDU);
      if (c < 1) mpfr_swap(low, high);
      mpfr_pow(low, power, low, MPFR_RNDD);
      mpfr_pow(high, power, high, MPFR_RNDU);
    };
    return narrowest<T>(enclose, [&](T x) { return is_power(x, y, c); });
  }
  // x^y = c
  static bool is_power(T x, T y, T c) {
    const number base(x);
    const number exponent(y);
    number power(elementary::precision<T>);
    return mpfr_pow(power, base, exponent, MPFR_RNDN) == 0 && mpfr_cmp_d(power, static_cast<double>(c)) == 0;
  }
};

// The same solved for y: the divisors are logarithms, too.
template <real T>
struct exponent_algebra {
  static constexpr T pivot_of_divisors = 1;
  static constexpr T pivot_of_products = 1;
  static interval<T> at_pivot() { return {}; }
  static stretch<T> all() { return {rounding::exactly(-infinity<T>), rounding::exactly(infinity<T>)}; }
  static interval<T> quotient(T c, T x, bool positive) {
    if (x == 1 || c == 0 || c == infinity<T>) return rounding::exactly(positive ? infinity<T> : -infinity<T>);
    if (x == 0 || x == infinity<T>) return positive ? rounding::just_above(T{}) : rounding::just_below(T{});
    const number power(c);
    const number base(x);
    const auto enclose = [&](mpfr_ptr low, mpfr_ptr high) {
      number divisor(mpfr_get_prec(low));
      mpfr_log(divisor, base, MPFR_RNDA);
      mpfr_log(low, power, MPFR_RNDZ);
      mpfr_div(low, low, divisor, MPFR_RNDZ);
      mpfr_log(divisor, base, MPFR_RNDZ);
      mpfr_log(high, power, MPFR_RNDA);
      mpfr_div(high, high, divisor, MPFR_RNDA);
      if (!positive) mpfr_swap(low, high);
    };
    return narrowest<T>(enclose, [&](T y) { return base_algebra<T>::is_power(x, y, c); });
  }
};

}  // namespace

template <real T>
interval<T> sin_rev(interval<T> c, interval<T> x) {
  const ieee_environment here;
  return periodic_rev({mpfr_asin, true, true, true}, sines(c), x);
}

template <real T>
interval<T> cos_rev(interval<T> c, interval<T> x) {
  const ieee_environment here;
  return periodic_rev({mpfr_acos, false, true, false}, sines(c), x);
}

template <real T>
interval<T> tan_rev(interval<T> c, interval<T> x) {
  const ieee_environment here;
  return periodic_rev({mpfr_atan, true, false, true}, c, x);
}

template <real T>
interval<T> cosh_rev(interval<T> c, interval<T> x) {
  const ieee_environment here;
  c = intersection(c, interval<T>::unchecked(1, infinity<T>));
  if (is_empty(c)) return c;
  const auto solution = [](T s) {
    return interval<T>::unchecked(elementary::down(mpfr_acosh, s), elementary::up(mpfr_acosh, s));
  };
  return rounding::within_both_signs(stretch<T>{solution(c.lo()), solution(c.hi())}, x);
}

// Numbers above 0 by their logarithms; 0 itself is a base for exponents above 0, and its power is 0.
template <real T>
interval<T> pow_rev1(interval<T> y, interval<T> c, interval<T> x) {
  const ieee_environment here;
  const interval<T> powers = rounding::not_negative(c);
  auto result = interval<T>::empty();
  if (y.hi() > 0 && is_member(T{}, c)) result = intersection(x, interval<T>{});
  if (powers.hi() > 0) result = hull(result, hull(rounding::solutions<base_algebra<T>>(y, powers, x)));
  return result;
}

template <real T>
interval<T> pow_rev2(interval<T> x, interval<T> c, interval<T> y) {
  const ieee_environment here;
  const interval<T> bases = rounding::not_negative(x);
  const interval<T> powers = rounding::not_negative(c);
  const stretch<T> positive{rounding::just_above(T{}), rounding::exactly(infinity<T>)};
  auto result = interval<T>::empty();
  if (is_member(T{}, x) && is_member(T{}, c)) result = within(positive, y);
  if (bases.hi() > 0 && powers.hi() > 0)
    result = hull(result, hull(rounding::solutions<exponent_algebra<T>>(bases, powers, y)));
  return result;
}

#define VOUCH_INSTANTIATE(function)                                    \
  template interval<float> function(interval<float>, interval<float>); \
  template interval<double> function(interval<double>, interval<double>);
VOUCH_INSTANTIATE(sin_rev)
VOUCH_INSTANTIATE(cos_rev)
VOUCH_INSTANTIATE(tan_rev)
VOUCH_INSTANTIATE(cosh_rev)
#undef VOUCH_INSTANTIATE
template VOUCH_PUBLIC interval<float> pow_rev1(interval<float>, interval<float>, interval<float>);
template VOUCH_PUBLIC interval<double> pow_rev1(interval<double>, interval<double>, interval<double>);
template VOUCH_PUBLIC interval<float> pow_rev2(interval<float>, interval<float>, interval<float>);
template VOUCH_PUBLIC interval<double> pow_rev2(interval<double>, interval<double>, interval<double>);

// ---- the angle of a point, solved for either coordinate

namespace {

using elementary::number;
using rounding::infinity;
using rounding::stretch;
using rounding::within;

// The largest number below pi; that below pi/2 is its half.
template <real T>
T below_pi() {
  return elementary::bound<T>(MPFR_RNDD, [](mpfr_ptr pi, mpfr_rnd_t mode) { mpfr_const_pi(pi, mode); });
}

template <real T>
bool holds_pi(interval<T> c) {
  return c.lo() <= below_pi<T>() && c.hi() > below_pi<T>();
}

// How steep a line is, abs(tan(angle)); along an axis, 0 or infinite, it is a limit that is not reached.
template <real T>
struct slope {
  T angle;
  bool flat;
  bool upright;
};

// x times the slope, or over the slope, for 0 <= x <= infinity, where 0 and infinity are limits that are not
// reached. The tangent of a number is no algebraic one (Lindemann).
template <real T>
interval<T> along(slope<T> s, T x, bool over) {
  if (x == 0 || (over ? s.upright : s.flat)) return rounding::just_above(T{});
  if (x == infinity<T> || (over ? s.flat : s.upright)) return rounding::exactly(infinity<T>);
  const number angle(s.angle);
  const number side(x);
  const auto f = over ? mpfr_cot : mpfr_tan;
  const auto enclose = [&](mpfr_ptr low, mpfr_ptr high) {
    f(low, angle, MPFR_RNDZ);
    f(high, angle, MPFR_RNDA);
    mpfr_abs(low, low, MPFR_RNDN);
    mpfr_abs(high, high, MPFR_RNDN);
    mpfr_mul(low, low, side, MPFR_RNDD);
    mpfr_mul(high, high, side, MPFR_RNDU);
  };
  return elementary::narrowest<T>(enclose, [](T) { return false; });
}

// The lines from the origin between two slopes.
template <real T>
struct sector {
  bool exists;
  slope<T> flattest;
  slope<T> steepest;

  // The y over those x, and the x under those y.
  stretch<T> over(interval<T> x) const {
    return {along(flattest, x.lo(), false), along(steepest, x.hi(), false)};
  }
  stretch<T> under(interval<T> y) const {
    return {along(steepest, y.lo(), true), along(flattest, y.hi(), true)};
  }
};

// Where the angles of c in (0, pi) point to.
template <real T>
struct half_plane {
  sector<T> right;
  bool up;
  sector<T> left;

  explicit half_plane(interval<T> c) {
    const T turn = below_pi<T>();
    const T quarter = turn / 2;
    const bool from_right = c.lo() <= quarter;
    const bool to_left = c.hi() > quarter;
    right = {c.hi() > 0 && from_right, {c.lo(), c.lo() <= 0, false}, {c.hi(), false, to_left}};
    up = from_right && to_left;
    left = {to_left && c.lo() <= turn, {c.hi(), c.hi() > turn, false}, {c.lo(), false, from_right}};
  }
};

// What y has of ordinates above 0.
template <real T>
interval<T> ordinates(interval<T> x, interval<T> c, interval<T> y) {
  const half_plane<T> towards(c);
  const interval<T> east = rounding::not_negative(x);
  const interval<T> west = rounding::not_negative(-x);
  auto result = interval<T>::empty();
  if (towards.right.exists && east.hi() > 0) result = within(towards.right.over(east), y);
  if (towards.left.exists && west.hi() > 0) result = hull(result, within(towards.left.over(west), y));
  if (towards.up && is_member(T{}, x))
    result = hull(result, within({rounding::just_above(T{}), rounding::exactly(infinity<T>)}, y));
  return result;
}

// What x has of the abscissas of points with ordinates of y above 0.
template <real T>
interval<T> abscissas(interval<T> y, interval<T> c, interval<T> x) {
  const half_plane<T> towards(c);
  const interval<T> north = rounding::not_negative(y);
  auto result = interval<T>::empty();
  if (!(north.hi() > 0)) return result;
  if (towards.right.exists) result = within(towards.right.under(north), x);
  if (towards.left.exists) result = hull(result, within(-towards.left.under(north), x));
  if (towards.up) result = hull(result, intersection(x, interval<T>{}));
  return result;
}

}  // namespace

template <real T>
interval<T> atan2_rev1(interval<T> x, interval<T> c, interval<T> y) {
  const ieee_environment here;
  auto result = hull(ordinates(x, c, y), -ordinates(x, -c, -y));
  if ((is_member(T{}, c) && x.hi() > 0) || (holds_pi(c) && x.lo() < 0))
    result = hull(result, intersection(y, interval<T>{}));
  return result;
}

template <real T>
interval<T> atan2_rev2(interval<T> y, interval<T> c, interval<T> x) {
  const ieee_environment here;
  const stretch<T> positive{rounding::just_above(T{}), rounding::exactly(infinity<T>)};
  auto result = hull(abscissas(y, c, x), abscissas(-y, -c, x));
  if (is_member(T{}, y) && is_member(T{}, c)) result = hull(result, within(positive, x));
  if (is_member(T{}, y) && holds_pi(c)) result = hull(result, within(-positive, x));
  return result;
}

template VOUCH_PUBLIC interval<float> atan2_rev1(interval<float>, interval<float>, interval<float>);
template VOUCH_PUBLIC interval<double> atan2_rev1(interval<double>, interval<double>, interval<double>);
template VOUCH_PUBLIC interval<float> atan2_rev2(interval<float>, interval<float>, interval<float>);
template VOUCH_PUBLIC interval<double> atan2_rev2(interval<double>, interval<double>, interval<double>);

}  // namespace vouch
