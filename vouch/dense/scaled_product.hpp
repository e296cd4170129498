// vouch/dense/scaled_product.hpp -- long products of intervals that neither overflow nor underflow on the way;
// private.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>

#include <vouch/interval/functions.hpp>

namespace vouch::detail {

/// An enclosure as value * 2^exponent, the magnitude of value near 1.
template <real T>
class scaled_product {
 public:
  /// By a bounded interval.
  void multiply(interval<T> factor) {
    normalise(factor);
    value_ *= factor;
    normalise(value_);
  }
  /// By a number that is finite and not 0.
  void divide(T divisor) {
    interval<T> by = divisor;
    exponent_ *= -1;
    normalise(by);
    exponent_ *= -1;
    value_ /= by;
    normalise(value_);
  }
  /// Unbounded beyond the largest number.
  interval<T> result() const {
    interval<T> x = value_;
    for (std::int64_t left = exponent_; left != 0;) {
      const std::int64_t step = std::clamp<std::int64_t>(left, -most, most);
      x *= std::ldexp(T{1}, static_cast<int>(step));
      left -= step;
    }
    return x;
  }

 private:
  static constexpr std::int64_t most = sizeof(T) == 8 ? 1000 : 120;

  // Moves a power of two into the exponent; what that makes subnormal is rounded outwards.
  void normalise(interval<T>& x) {
    const T size = mag(x);
    if (size == 0) return;
    const std::int64_t power = std::clamp<std::int64_t>(std::ilogb(size), -most, most);
    x *= std::ldexp(T{1}, static_cast<int>(-power));
    exponent_ += power;
  }

  interval<T> value_ = T{1};
  std::int64_t exponent_ = 0;
};

}  // namespace vouch::detail
