// vouch/interval/roots.hpp -- roots of numbers, rounded both ways, on host and device.
#pragma once
#include <cmath>

#include <vouch/core/int128.hpp>
#include <vouch/core/visibility.hpp>
#include <vouch/interval/functions.hpp>

VOUCH_AS_WRITTEN_BEGIN
namespace VOUCH_PUBLIC vouch {
namespace rounding {

// fraction * 2^exponent, the first of 128 bits set. exact: nothing was cut off on the way.
struct long_power {
  uint128 fraction;
  std::int64_t exponent;
  bool exact;
};

// Of a finite x > 0.
VOUCH_HOST_DEVICE inline long_power long_number(double x) {
  int exponent = 0;
  const double fraction = std::frexp(x, &exponent);
  return {uint128{static_cast<std::uint64_t>(fraction * 0x1p64)} << 64, std::int64_t{exponent} - 128, true};
}

// What is below the 128 bits is cut off: less than 2^-127 of the product.
VOUCH_HOST_DEVICE inline long_power times(long_power x, long_power y) {
  const auto high = [](uint128 a) { return static_cast<std::uint64_t>(a >> 64); };
  const auto low = [](uint128 a) { return static_cast<std::uint64_t>(a); };
  const auto product = [](std::uint64_t a, std::uint64_t b) { return uint128{a} * b; };
  const uint128 least = product(low(x.fraction), low(y.fraction));
  const uint128 cross = product(low(x.fraction), high(y.fraction));
  const uint128 other = product(high(x.fraction), low(y.fraction));
  const uint128 middle = uint128{high(least)} + low(cross) + low(other);
  const uint128 top = product(high(x.fraction), high(y.fraction)) + high(cross) + high(other) + high(middle);
  const uint128 rest = middle << 64 | low(least);
  const bool doubled = top >> 127 == 0;
  return {doubled ? top << 1 | rest >> 127 : top, x.exponent + y.exponent + (doubled ? 127 : 128),
          x.exact && y.exact && (doubled ? rest << 1 : rest) == 0};
}

VOUCH_HOST_DEVICE inline int compared(long_power x, long_power y) {
  if (x.exponent != y.exponent) return x.exponent < y.exponent ? -1 : 1;
  return x.fraction < y.fraction ? -1 : x.fraction > y.fraction ? 1 : 0;
}

// Whether y is certainly not above (not below) the root: y^n <= c for n > 0, y^-n c <= 1 else. Such a power
// comes out less than 2 |n| + 1 units of its last place too small: each of |n| products loses less than 2^-127.
template <direction To>
VOUCH_HOST_DEVICE inline bool is_outside_of_root(double y, double c, std::int64_t n) {
  long_power square = long_number(y);
  long_power power = n < 0 ? long_number(c) : long_power{uint128{1} << 127, -127, true};
  for (std::uint64_t k = static_cast<std::uint64_t>(n < 0 ? -n : n); k != 0; k /= 2) {
    if (k % 2 == 1) power = times(power, square);
    if (k > 1) square = times(square, square);
  }
  const long_power goal = long_number(n < 0 ? 1.0 : c);
  const bool from_above = To == direction::up;
  if (from_above) return compared(power, goal) >= 0;
  if (!power.exact) {
    const uint128 error = 2 * static_cast<uint128>(n < 0 ? -n : n) + 1;
    if (power.fraction + error < error) return false;
    power.fraction += error;
  }
  return compared(power, goal) <= 0;
}

// The root of a finite c > 0, nearly, for |n| >= 2: of c = f 2^(q n) as 2^q times the root of an f near 1.
VOUCH_HOST_DEVICE inline double near_root(double c, int n) {
  int exponent = 0;
  std::frexp(c, &exponent);
  const int quotient = exponent / n;
  return std::ldexp(std::pow(std::ldexp(c, -quotient * n), 1.0 / n), quotient);
}

template <direction To, real T>
VOUCH_HOST_DEVICE inline T root_bound(T c, int n) {
  const auto outward = [](T y) { return To == direction::down ? next_down(y) : next_up(y); };
  const auto inward = [](T y) { return To == direction::down ? next_up(y) : next_down(y); };
  const auto outside = [c, n](T y) { return is_outside_of_root<To>(y, c, n); };
  auto y = static_cast<T>(near_root(c, n));
  while (!outside(y)) y = outward(y);
  for (T closer = inward(y); outside(closer); closer = inward(closer)) y = closer;
  return y;
}

// Around the y >= 0 with y^n = c, for c >= 0 and n != 0: infinite for c = 0 and n < 0; where c is infinite what
// y comes to, from above where that is 0. As tight as pown_rev says.
template <real T>
VOUCH_HOST_DEVICE inline interval<T> root_bounds(T c, int n) {
  using set = interval<T>;
  if (c == 0 || c == infinity<T>)
    return (c == 0) == (n > 0) ? set::unchecked(0, n > 0 ? T{} : least_positive<T>)
                               : set::unchecked(infinity<T>, infinity<T>);
  if (n == 1) return set(c);
  if (n == -1) return set::unchecked(div_down(T{1}, c), div_up(T{1}, c));
  if (n == 2) return set::unchecked(sqrt_down(c), sqrt_up(c));
  return set::unchecked(root_bound<direction::down>(c, n), root_bound<direction::up>(c, n));
}

}  // namespace rounding
}  // namespace vouch
VOUCH_AS_WRITTEN_END
