// vouch/dense/exact_sum.hpp -- sums of doubles and of their products without rounding; private.
#pragma once
#include <array>
#include <cstdint>

#include <vouch/interval/interval.hpp>

namespace vouch::detail {

/// A fixed-point number wide enough for sums of 2^62 products of finite doubles.
///
/// Cost    About 10 ns a product; reading it costs what the digits in use cost.
/// Source  Kulisch, Computer Arithmetic and Validity (2008), chapter 8.
class exact_sum {
 public:
  /// this + x 2^shift; the last bit of that must be at least 2^-2148, the first below 2^2048.
  void add(double x, int shift = 0);
  /// this + a b
  void add_product(double a, double b);
  /// The smallest interval around the sum. The sum begins again at 0.
  interval<double> take();

 private:
  // Digit d has the weight 2^(32 d + lowest); between carries digits are signed and exceed 32 bits.
  static constexpr int lowest = -2240;
  static constexpr int count = 136;

  void add_bits(std::uint64_t bits, int exponent, bool negative);
  void carry();
  bool make_positive();
  double leading(bool& inexact) const;

  std::array<std::int64_t, count> digit_{};
  int first_ = count, last_ = -1;
  std::uint32_t additions_ = 0;
};

/// A finite double as mantissa * 2^exponent.
struct binary_number {
  std::uint64_t mantissa;
  int exponent;
  bool negative;
};
binary_number parts_of(double x);

/// |a b| < |c d|, exactly, for finite numbers.
bool smaller_product(double a, double b, double c, double d);

}  // namespace vouch::detail
