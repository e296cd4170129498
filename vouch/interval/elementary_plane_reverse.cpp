// The angle of a point, solved for either coordinate.
#include <vouch/core/ieee_environment.hpp>
#include <vouch/interval/elementary.hpp>
#include <vouch/interval/elementary_mpfr.hpp>
#include <vouch/interval/reverse.hpp>

namespace vouch {
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

template interval<float> atan2_rev1(interval<float>, interval<float>, interval<float>);
template interval<double> atan2_rev1(interval<double>, interval<double>, interval<double>);
template interval<float> atan2_rev2(interval<float>, interval<float>, interval<float>);
template interval<double> atan2_rev2(interval<double>, interval<double>, interval<double>);

}  // namespace vouch
