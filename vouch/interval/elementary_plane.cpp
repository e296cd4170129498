// Powers, roots and the angle of a point: functions of two operands.
#include <vouch/core/ieee_environment.hpp>
#include <vouch/interval/elementary.hpp>
#include <vouch/interval/elementary_mpfr.hpp>

namespace vouch {
namespace {

using elementary::bound;
using elementary::number;
using rounding::larger;
using rounding::smaller;

using binary = int (*)(mpfr_ptr, mpfr_srcptr, mpfr_srcptr, mpfr_rnd_t);

template <real T>
T bound_of(mpfr_rnd_t mode, binary f, T a, T b) {
  return bound<T>(mode, [&](mpfr_ptr result, mpfr_rnd_t direction) {
    const number first(a + T{});  // no -0
    const number second(b + T{});
    f(result, first, second, direction);
  });
}

template <real T>
T power(mpfr_rnd_t mode, T x, T y) {
  return bound_of(mode, mpfr_pow, x, y);
}

template <real T>
T angle_down(T y, T x) {
  return bound_of(MPFR_RNDD, mpfr_atan2, y, x);
}
template <real T>
T angle_up(T y, T x) {
  return bound_of(MPFR_RNDU, mpfr_atan2, y, x);
}

template <real T>
T pi_down() {
  return angle_down(T{0}, T{-1});
}
template <real T>
T pi_up() {
  return angle_up(T{0}, T{-1});
}

// The angles of a box with y >= 0 that is not the origin alone. Right of the axis the angle grows with y, left
// of it it falls; it always falls with x.
template <real T>
interval<T> upper_angles(interval<T> y, interval<T> x) {
  if (x.hi() <= 0 && y.hi() == 0) return interval<T>::unchecked(pi_down<T>(), pi_up<T>());
  const T lo = angle_down(x.hi() > 0 ? y.lo() : y.hi(), x.hi());
  const T hi = angle_up(x.lo() < 0 ? y.lo() : y.hi(), x.lo());
  return interval<T>::unchecked(lo, hi);
}

template <real T>
T root(mpfr_rnd_t mode, T x, int n) {
  return bound<T>(mode, [&](mpfr_ptr result, mpfr_rnd_t direction) {
    const number operand(x + T{});
    mpfr_rootn_si(result, operand, n, direction);
  });
}

}  // namespace

// y log x has its extremes at corners of the box, limits at 0 and infinity included, which mpfr_pow knows.
template <real T>
interval<T> pow(interval<T> x, interval<T> y) {
  const ieee_environment here;
  if (is_empty(x) || is_empty(y) || x.hi() < 0) return interval<T>::empty();
  if (x.hi() == 0) return y.hi() > 0 ? interval<T>{} : interval<T>::empty();
  const T least = larger(x.lo(), T{});
  const T most = x.hi();
  const T lo = smaller(smaller(power(MPFR_RNDD, least, y.lo()), power(MPFR_RNDD, least, y.hi())),
                       smaller(power(MPFR_RNDD, most, y.lo()), power(MPFR_RNDD, most, y.hi())));
  const T hi = larger(larger(power(MPFR_RNDU, least, y.lo()), power(MPFR_RNDU, least, y.hi())),
                      larger(power(MPFR_RNDU, most, y.lo()), power(MPFR_RNDU, most, y.hi())));
  return interval<T>::unchecked(lo, hi);
}

template <real T>
interval<T> rootn(interval<T> x, int n) {
  const ieee_environment here;
  const bool even = n % 2 == 0;
  if (even) x = intersection(x, interval<T>::unchecked(0, std::numeric_limits<T>::infinity()));
  if (is_empty(x) || n == 0 || (n < 0 && x.lo() == 0 && x.hi() == 0)) return interval<T>::empty();
  if (n > 0) return interval<T>::unchecked(root(MPFR_RNDD, x.lo(), n), root(MPFR_RNDU, x.hi(), n));
  if (x.lo() < 0 && x.hi() > 0) return interval<T>::entire();
  const auto of_positive = [n](interval<T> y) {
    return interval<T>::unchecked(root(MPFR_RNDD, y.hi(), n), root(MPFR_RNDU, y.lo(), n));
  };
  return x.hi() <= 0 ? -of_positive(-x) : of_positive(x);
}

// The value at y = 0, x < 0 is pi: a box that reaches this cut from below has all angles between its two sides.
template <real T>
interval<T> atan2(interval<T> y, interval<T> x) {
  const ieee_environment here;
  if (is_empty(x) || is_empty(y)) return interval<T>::empty();
  const bool level = y.lo() == 0 && y.hi() == 0;
  if (level && x.lo() == 0 && x.hi() == 0) return interval<T>::empty();
  if (y.lo() >= 0) return upper_angles(y, x);
  if (x.lo() < 0 && y.hi() >= 0) return interval<T>::unchecked(-pi_up<T>(), pi_up<T>());
  if (y.hi() <= 0) return -upper_angles(-y, x);
  return interval<T>::unchecked(angle_down(y.lo(), x.lo()), angle_up(y.hi(), x.lo()));
}

template <real T>
interval<T> hypot(interval<T> x, interval<T> y) {
  const ieee_environment here;
  if (is_empty(x) || is_empty(y)) return interval<T>::empty();
  return interval<T>::unchecked(bound_of(MPFR_RNDD, mpfr_hypot, mig(x), mig(y)),
                                bound_of(MPFR_RNDU, mpfr_hypot, mag(x), mag(y)));
}

template interval<float> pow(interval<float>, interval<float>);
template interval<double> pow(interval<double>, interval<double>);
template interval<float> rootn(interval<float>, int);
template interval<double> rootn(interval<double>, int);
template interval<float> atan2(interval<float>, interval<float>);
template interval<double> atan2(interval<double>, interval<double>);
template interval<float> hypot(interval<float>, interval<float>);
template interval<double> hypot(interval<double>, interval<double>);

}  // namespace vouch
