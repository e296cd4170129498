// The scalar parts of rotations: rotg and rotmg.
#include <algorithm>
#include <cmath>

#include <vouch/core/ieee_environment.hpp>
#include <vouch/dense/blas1.hpp>
#include <vouch/dense/complex_blas.hpp>

namespace vouch {
namespace {

using rounding::direction;

template <direction To, real T>
T product(T a, T b) {
  return To == direction::down ? mul_down(a, b) : mul_up(a, b);
}

// (x^2 + y^2)^(1/2) for x, y >= 0, in one direction: scaled by a power of two, every step rounded the same way.
template <direction To, real T>
T length(T x, T y) {
  const T most = std::max(x, y);
  if (most == 0 || !rounding::finite(most)) return most;
  constexpr int limit = sizeof(T) == 8 ? 1000 : 120;
  const int exponent = std::clamp(std::ilogb(most), -limit, limit);
  const T scale = std::ldexp(T{1}, -exponent);
  const T a = product<To>(x, scale), b = product<To>(y, scale);
  const T square = product<To>(b, b);
  const T sum = To == direction::down ? fma_down(a, a, square) : fma_up(a, a, square);
  const T root = To == direction::down ? sqrt_down(sum) : sqrt_up(sum);
  return product<To>(root, 1 / scale);
}

// The least upper bound of x / |(x, y)|, which grows with x; it falls with |y| for x > 0 and grows for x < 0.
template <real T>
T largest_cosine(interval<T> x, interval<T> y) {
  const T at = x.hi();
  if (at >= 0) {
    const T beside = length<direction::down>(at, mig(y));
    return beside == 0 ? T{1} : std::min(T{1}, div_up(at, beside));
  }
  return div_up(at, length<direction::up>(-at, mag(y)));
}

template <real T>
interval<T> cosine(interval<T> x, interval<T> y) {
  const bool both_hold_zero = detail::holds_zero(x) && detail::holds_zero(y);
  if (both_hold_zero || !detail::finite(x) || !detail::finite(y)) return interval<T>::unchecked(-1, 1);
  return interval<T>::unchecked(-largest_cosine(-x, y), largest_cosine(x, y));
}

template <real T>
rotation<interval<T>> rotation_of(interval<T> a, interval<T> b) {
  if (is_empty(a) || is_empty(b)) {
    const auto none = interval<T>::empty();
    return {none, none, none};
  }
  const auto r =
      interval<T>::unchecked(length<direction::down>(mig(a), mig(b)), length<direction::up>(mag(a), mag(b)));
  return {cosine(a, b), cosine(b, a), r};
}

template <real T>
rotation<T> rotation_of(T a, T b) {
  if (a == 0 && b == 0) return {1, 0, 0};
  const T r = std::copysign(std::hypot(a, b), std::abs(a) > std::abs(b) ? a : b);
  return {a / r, b / r, r};
}

// What a decision looks at.
template <scalar T>
bound_of<T> typical(T x) {
  if constexpr (is_interval<T>)
    return mid(x);
  else
    return x;
}

constexpr int scaling = 4096;

// Brings d back between 4096^-2 and 4096^2; x, g and h go with its root.
template <scalar T>
bool rescale(T& d, T* x, T& g, T& h) {
  using B = bound_of<T>;
  bool changed = false;
  const auto out = [&] {
    const B size = std::abs(typical(d));
    return detail::finite(d) && size != 0 && (size <= B(1) / (scaling * scaling) || size >= scaling * scaling);
  };
  while (out()) {
    const bool small = std::abs(typical(d)) < 1;
    const B root = small ? B(1) / scaling : B(scaling);
    d = d / (root * root);
    if (x != nullptr) *x = *x * root;
    g = g * root;
    h = h * root;
    changed = true;
  }
  return changed;
}

template <scalar T>
modified_rotation<T> rescaled(modified_rotation<T> rotation, T& d1, T& d2, T& x1) {
  const bool first = rescale(d1, &x1, rotation.h11, rotation.h12);
  const bool second = rescale(d2, static_cast<T*>(nullptr), rotation.h21, rotation.h22);
  if (first || second) rotation.flag = -1;
  return rotation;
}

// z / |z|, which for 0 is taken as 1.
template <real T>
complex_interval<T> direction_of(complex_interval<T> z) {
  if (z == complex_interval<T>{}) return interval<T>(T{1});
  return {cosine(z.real(), z.imag()), cosine(z.imag(), z.real())};
}

}  // namespace

template <real T>
complex_rotation<T> rotg(complex_interval<T> a, complex_interval<T> b) {
  const ieee_environment here;
  const auto sizes = rotation_of(abs(a), abs(b));
  const complex_interval<T> along = is_empty(a) ? a : direction_of(a);
  const complex_interval<T> across = is_empty(b) ? b : conj(direction_of(b));
  return {sizes.c, along * across * sizes.s, along * sizes.r};
}

template <scalar T>
rotation<T> rotg(T a, T b) {
  const ieee_environment here;
  return rotation_of(a, b);
}

template <scalar T>
modified_rotation<T> rotmg(T& d1, T& d2, T& x1, T y1) {
  const ieee_environment here;
  using B = bound_of<T>;
  const T one{B{1}}, zero{};
  const auto nothing = [&]() -> modified_rotation<T> {
    d1 = d2 = x1 = zero;
    return {-1, zero, zero, zero, zero};
  };
  if (typical(d1) < 0) return nothing();
  const T p2 = d2 * y1;
  if (detail::is_zero(p2)) return {-2, one, zero, zero, one};
  const T p1 = d1 * x1;
  const T q1 = p1 * x1, q2 = p2 * y1;
  if (std::abs(typical(q1)) > std::abs(typical(q2))) {
    const T h21 = -y1 / x1, h12 = p2 / p1;
    const T u = one - h12 * h21;
    if (!(typical(u) > 0)) return nothing();
    d1 = d1 / u;
    d2 = d2 / u;
    x1 = x1 * u;
    return rescaled<T>({0, one, h12, h21, one}, d1, d2, x1);
  }
  if (typical(q2) < 0) return nothing();
  const T h11 = p1 / p2, h22 = x1 / y1;
  const T u = one + h11 * h22;
  const T new_d1 = d2 / u;
  d2 = d1 / u;
  d1 = new_d1;
  x1 = y1 * u;
  return rescaled<T>({1, h11, one, -one, h22}, d1, d2, x1);
}

#define VOUCH_ONE_TYPE(T)                       \
  template VOUCH_PUBLIC rotation<T> rotg(T, T); \
  template VOUCH_PUBLIC modified_rotation<T> rotmg(T&, T&, T&, T);

template VOUCH_PUBLIC complex_rotation<float> rotg(complex_interval<float>, complex_interval<float>);
template VOUCH_PUBLIC complex_rotation<double> rotg(complex_interval<double>, complex_interval<double>);

VOUCH_ONE_TYPE(float)
VOUCH_ONE_TYPE(double)
VOUCH_ONE_TYPE(interval<float>)
VOUCH_ONE_TYPE(interval<double>)

}  // namespace vouch
