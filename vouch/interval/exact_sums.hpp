// vouch/interval/exact_sums.hpp -- sums of doubles and of their squares without any rounding; private.
#pragma once
#include <bit>
#include <cstdint>
#include <span>
#include <vector>

#include <vouch/core/int128.hpp>
#include <vouch/interval/exact_number.hpp>
#include <vouch/interval/interval.hpp>

namespace vouch {

/// Bit 0 of sums of doubles is worth 2^-number_origin, that of sums of their products 2^-product_origin. Both
/// are whole digits.
inline constexpr int number_origin = 1088;
inline constexpr int product_origin = 2 * number_origin;

/// A finite double as mantissa * 2^(bit - number_origin), bit >= 0.
struct double_parts {
  std::uint64_t mantissa = 0;
  int bit = 0;
  bool negative = false;
};

inline double_parts parts_of(double x) {
  const auto bits = std::bit_cast<std::uint64_t>(x);
  const std::uint64_t fraction = bits & ((std::uint64_t{1} << 52) - 1);
  const int biased = static_cast<int>(bits >> 52) & 0x7ff;
  const bool normal = biased != 0;
  return {fraction | std::uint64_t{normal} << 52, biased - normal + 14, (bits >> 63) != 0};
}

/// One exact sum for each element, of terms m * 2^(bit - origin).
///
/// Source  Kulisch, Computer Arithmetic and Validity (2008), chapter 8, for sums of products without rounding.
///
/// A sum is a row of 32-bit digits held in int64, so that carries wait for 2^30 terms. All sums share one
/// window of digits, which grows to what the terms need: 4 to 6 digits for numbers of like size.
class exact_sums {
 public:
  /// The origin is number_origin or product_origin.
  exact_sums(std::int64_t elements, int origin) : elements_(elements), origin_(origin) {}

  void add(std::int64_t element, double x) { add(element, x, 0); }
  /// Adds x 2^shift, whose last bit is worth at least 2^-origin.
  void add(std::int64_t element, double x, int shift) {
    const double_parts p = parts_of(x);
    spread<3>(element, p.mantissa, p.bit + origin_ - number_origin + shift, p.negative);
  }
  void add_magnitude(std::int64_t element, double x) {
    const double_parts p = parts_of(x);
    spread<3>(element, p.mantissa, p.bit, false);
  }
  /// For sums of product_origin.
  void add_square(std::int64_t element, double x) {
    const double_parts p = parts_of(x);
    spread<5>(element, uint128{p.mantissa} * p.mantissa, 2 * p.bit, false);
  }
  /// For sums of product_origin.
  void add_product(std::int64_t element, double x, double y) {
    const double_parts p = parts_of(x);
    const double_parts q = parts_of(y);
    spread<5>(element, uint128{p.mantissa} * q.mantissa, p.bit + q.bit, p.negative != q.negative);
  }
  /// Adds digits[0] + digits[1] 2^32 + ... in units of 2^-origin; digits of any sign below 2^63.
  void add_digits(std::int64_t element, std::span<const std::int64_t> digits);
  void add_integer(std::int64_t element, int128 value) {
    const auto magnitude = static_cast<uint128>(value < 0 ? -value : value);
    spread<5>(element, magnitude, origin_, value < 0);
  }
  /// Adds the square of an integer of 64 bits.
  void add_integer_square(std::int64_t element, std::int64_t value) {
    const int128 wide = value;
    add_integer(element, wide * wide);
  }
  void merge(const exact_sums& other);

  /// The sum of one element.
  rounding::exact_number value(std::int64_t element) const;
  /// The sum of one element that took only whole numbers, below 2^127 in all.
  int128 integer(std::int64_t element) const;
  /// The smallest interval of doubles around the sum of one element, which begins again at 0.
  interval<double> take(std::int64_t element);

 private:
  // magnitude < 2^(32 Digits - 31)
  template <int Digits>
  void spread(std::int64_t element, uint128 magnitude, int bit, bool negative) {
    if (magnitude == 0) return;
    const int digit = bit / 32;
    if (digit < low_ || digit + Digits > low_ + width_) [[unlikely]]
      widen(digit, digit + Digits);
    if (++pending_ > most_pending) [[unlikely]]
      carry();
    std::int64_t* to = digits_.data() + element * width_ + (digit - low_);
    const int shift = bit % 32;
    const auto lowest = static_cast<std::uint32_t>(magnitude << shift);
    const uint128 rest = magnitude >> (32 - shift);
    const std::int64_t flip = -std::int64_t{negative};
    to[0] += (std::int64_t{lowest} ^ flip) - flip;
    for (int k = 1; k < Digits; ++k)
      to[k] += (std::int64_t{static_cast<std::uint32_t>(rest >> (32 * (k - 1)))} ^ flip) - flip;
  }
  void widen(int from, int to);
  void carry();

  static constexpr std::int64_t most_pending = std::int64_t{1} << 30;
  std::int64_t elements_;
  int origin_;
  int low_ = 0;    // the first digit of the window, in steps of 32 bits
  int width_ = 0;  // its digits
  std::int64_t pending_ = 0;
  std::vector<std::int64_t> digits_;
};

/// |a b| < |c d|, exactly, for finite numbers.
bool smaller_product(double a, double b, double c, double d);

/// The T nearest to a number, ties to even; infinite beyond the largest.
template <real T>
T nearest(const rounding::exact_number& x);

namespace rounding {
/// Arithmetic of what value() gives: whole numbers times powers of two.
exact_number operator-(const exact_number& a, const exact_number& b);
exact_number operator+(const exact_number& a, const exact_number& b);
exact_number operator*(const exact_number& a, const exact_number& b);
}  // namespace rounding
/// a / (p * q), for p and q that are positive.
rounding::exact_number divided(const rounding::exact_number& a, std::int64_t p, std::int64_t q = 1);
rounding::exact_number exact(int128 value);
rounding::exact_number exact(double value);
/// The square root, to one unit in the last place.
double root(rounding::exact_number x);

}  // namespace vouch
