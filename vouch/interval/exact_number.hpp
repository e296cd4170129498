// vouch/interval/exact_number.hpp -- rational numbers without rounding, for text; private.
#pragma once
#include <cstdint>
#include <string_view>
#include <vector>

#include <vouch/core/types.hpp>
#include <vouch/interval/rounding_host.hpp>

namespace vouch::rounding {

/// A whole number >= 0 of any size.
class whole_number {
 public:
  whole_number() = default;
  explicit whole_number(std::uint32_t x) {
    if (x != 0) limbs_.push_back(x);
  }
  /// Digits of base 10 or 16, lower case.
  whole_number(std::string_view digits, unsigned base);

  bool is_zero() const { return limbs_.empty(); }
  int bits() const;
  /// this * factor + summand
  void multiply_add(std::uint32_t factor, std::uint32_t summand);
  void multiply_power(std::uint32_t base, int exponent);
  void shift_left(int count);

  friend whole_number operator*(const whole_number& a, const whole_number& b);
  friend whole_number operator+(const whole_number& a, const whole_number& b);
  /// a >= b
  friend whole_number operator-(const whole_number& a, const whole_number& b);
  /// -1, 0 or 1
  friend int compare(const whole_number& a, const whole_number& b);

 private:
  void trim();
  std::vector<std::uint32_t> limbs_;  // the lowest first, the highest not 0
};

/// Plus or minus numerator / denominator * 2^binary * 10^decimal.
struct exact_number {
  bool negative = false;
  whole_number numerator{};
  whole_number denominator{1U};
  std::int64_t binary = 0;
  std::int64_t decimal = 0;
};

/// -1, 0 or 1 for a < b, a == b, a > b.
int compare(const exact_number& a, const exact_number& b);

/// The largest T that is not above x, or the smallest that is not below: infinite where there is no finite one.
template <real T>
T nearest_bound(const exact_number& x, direction to);

}  // namespace vouch::rounding
