#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include <vouch/core/int128.hpp>
#include <vouch/dense/exact_sum.hpp>

namespace vouch::detail {
namespace {

__extension__ typedef unsigned __int128 wide;

constexpr int digit_bits = 32;
constexpr std::int64_t digit_mask = 0xffffffff;
constexpr int smallest_exponent = -1074;

int leading_zeros(wide x) {
  const auto high = static_cast<std::uint64_t>(x >> 64);
  return high != 0 ? std::countl_zero(high) : 64 + std::countl_zero(static_cast<std::uint64_t>(x));
}

}  // namespace

binary_number parts_of(double x) {
  const auto bits = std::bit_cast<std::uint64_t>(x);
  const auto field = static_cast<int>(bits >> 52 & 0x7ff);
  const std::uint64_t fraction = bits & ((std::uint64_t{1} << 52) - 1);
  if (field == 0) return {fraction, smallest_exponent, std::signbit(x)};
  return {fraction | std::uint64_t{1} << 52, field - 1 + smallest_exponent, std::signbit(x)};
}

bool smaller_product(double a, double b, double c, double d) {
  const auto normal = [](double x, double y, int& top) {
    const binary_number p = parts_of(x), q = parts_of(y);
    const wide product = wide{p.mantissa} * q.mantissa;
    if (product == 0) return wide{0};
    const int zeros = leading_zeros(product);
    top = p.exponent + q.exponent - zeros;
    return product << zeros;
  };
  int top_ab = 0, top_cd = 0;
  const wide ab = normal(a, b, top_ab), cd = normal(c, d, top_cd);
  if (ab == 0 || cd == 0) return ab == 0 && cd != 0;
  return top_ab != top_cd ? top_ab < top_cd : ab < cd;
}

void exact_sum::add_bits(std::uint64_t bits, int exponent, bool negative) {
  if (bits == 0) return;
  const int at = (exponent - lowest) / digit_bits, shift = (exponent - lowest) % digit_bits;
  const wide shifted = wide{bits} << shift;
  for (int d = 0; d < 3; ++d) {
    const auto part = static_cast<std::int64_t>(shifted >> (digit_bits * d)) & digit_mask;
    digit_[static_cast<std::size_t>(at + d)] += negative ? -part : part;
  }
  first_ = std::min(first_, at);
  last_ = std::max(last_, at + 2);
  // 2^30 summands below 2^32, and what a carry has left, do not overflow a digit.
  if (++additions_ == std::uint32_t{1} << 30) carry();
}

void exact_sum::add(double x, int shift) {
  const binary_number p = parts_of(x);
  add_bits(p.mantissa, p.exponent + shift, p.negative);
}

void exact_sum::add_product(double a, double b) {
  const binary_number p = parts_of(a), q = parts_of(b);
  const wide product = wide{p.mantissa} * q.mantissa;
  const int exponent = p.exponent + q.exponent;
  const bool negative = p.negative != q.negative;
  add_bits(static_cast<std::uint64_t>(product), exponent, negative);
  add_bits(static_cast<std::uint64_t>(product >> 64), exponent + 64, negative);
}

// Brings all digits to 0 .. 2^32 - 1 but for the last in use, which keeps the sign.
void exact_sum::carry() {
  additions_ = 0;
  if (last_ < 0) return;
  last_ = std::min(last_ + 2, count - 1);
  for (int d = first_; d < last_; ++d) {
    auto& low = digit_[static_cast<std::size_t>(d)];
    digit_[static_cast<std::size_t>(d + 1)] += low >> digit_bits;
    low &= digit_mask;
  }
}

// Carries; the magnitude stays. True if the sum was negative.
bool exact_sum::make_positive() {
  carry();
  if (last_ < 0 || digit_[static_cast<std::size_t>(last_)] >= 0) return false;
  for (int d = first_; d <= last_; ++d) digit_[static_cast<std::size_t>(d)] *= -1;
  carry();
  return true;
}

// The sum, which is not negative, cut to 53 bits or where doubles end; whether that left something out.
double exact_sum::leading(bool& inexact) const {
  int top = last_;
  while (top >= first_ && digit_[static_cast<std::size_t>(top)] == 0) --top;
  if (top < first_) return 0;
  const auto top_digit = static_cast<std::uint64_t>(digit_[static_cast<std::size_t>(top)]);
  const int highest = lowest + digit_bits * top + 63 - std::countl_zero(top_digit);
  const int below = std::max(highest - 52, smallest_exponent);
  std::uint64_t mantissa = 0;
  for (int d = first_; d <= top; ++d) {
    const auto bits = static_cast<std::uint64_t>(digit_[static_cast<std::size_t>(d)]);
    const int drop = below - (lowest + digit_bits * d);  // bits of this digit that are too low
    if (drop >= 64) {
      inexact |= bits != 0;
    } else if (drop > 0) {
      inexact |= (bits & ((std::uint64_t{1} << drop) - 1)) != 0;
      mantissa += bits >> drop;
    } else {
      mantissa += bits << -drop;
    }
  }
  return std::ldexp(static_cast<double>(mantissa), below);
}

interval<double> exact_sum::take() {
  constexpr double inf = std::numeric_limits<double>::infinity();
  const bool negative = make_positive();
  bool inexact = false;
  const double low = leading(inexact);
  std::fill(digit_.begin() + std::min(first_, last_ + 1), digit_.begin() + last_ + 1, 0);
  first_ = count;
  last_ = -1;
  double high = low;
  double least = low;
  if (low == inf)
    least = std::numeric_limits<double>::max();
  else if (inexact)
    high = std::nextafter(low, inf);
  return negative ? interval<double>::unchecked(-high, -least) : interval<double>::unchecked(least, high);
}

}  // namespace vouch::detail
