// vouch/dense/factor/prepared_divisor.hpp -- quotients by one number with the bits of a division; private.
#pragma once
#include <bit>
#include <cmath>
#include <cstdint>

#include <vouch/core/types.hpp>
#include <vouch/interval/rounding.hpp>

namespace vouch::detail {

/// A number that is divided by over and over: quotients of four steps, with the bits of a division.
///
/// Let d be in [1, 2), q = r/d and u = 2^-p for p bits. high is 1/d rounded to nearest and low the rest of 1/d
/// to 2u^2, so q0 = high r + low r, rounded to nearest, errs by at most 1/2 + 4u units of its last place, and
/// is q where q is a number. Then e = r - q0 d is a number, and q0 + e high differs from q by at most
/// |q - q0| u d/2, as |high d - 1| <= u d/2. But r - f d is a multiple of 2u units for every number f, so q is
/// no nearer than 2u/d units to any number that it is not, and no nearer than u/d to a middle of two. Hence
/// both lie between the same two numbers and, where d^2 (1/2 + 4u) < 2, on the same side of their middle. That
/// d is not next to 2, and that no step leaves the range of normal numbers, is looked at first.
///
/// Source  Markstein, IBM J. Res. Develop. 34 (1990), for the last step.
template <real T>
class prepared_divisor {
 public:
  VOUCH_HOST_DEVICE explicit prepared_divisor(T d)
      : d_(d), high_(T{1} / d), low_(std::fma(-d, high_, T{1}) * high_) {}

  VOUCH_HOST_DEVICE T to_nearest(T r) const { return std::fma(remainder(r), high_, guess(r)); }
  VOUCH_HOST_DEVICE T down(T r) const { return fma_down(remainder(r), high_, guess(r)); }
  VOUCH_HOST_DEVICE T up(T r) const { return fma_up(remainder(r), high_, guess(r)); }

  /// Quotients by this number may be formed so, if dividends may.
  VOUCH_HOST_DEVICE bool is_moderate() const {
    return is_between(d_, -limit, limit) && (size_bits(d_) & next_to_two) != next_to_two;
  }
  VOUCH_HOST_DEVICE static bool is_moderate(T r) { return r == 0 || is_between(r, -limit, limit); }

 private:
  static constexpr bool wide = sizeof(T) == 8;
  static constexpr int limit = wide ? 400 : 40;  // binary orders
  static constexpr unsigned next_to_two = wide ? 0xfffff : 0x7ff000;

  // Of the bits of a number those that order sizes: 32 of them.
  VOUCH_HOST_DEVICE static unsigned size_bits(T x) {
    if constexpr (wide)
      return static_cast<unsigned>(std::bit_cast<std::uint64_t>(x) >> 32) & 0x7fffffffU;
    else
      return std::bit_cast<std::uint32_t>(x) & 0x7fffffffU;
  }
  VOUCH_HOST_DEVICE static bool is_between(T x, int least, int most) {
    constexpr int bias = wide ? 1023 : 127, place = wide ? 20 : 23;
    const unsigned first = static_cast<unsigned>(bias + least) << place,
                   last = static_cast<unsigned>(bias + most) << place;
    return size_bits(x) - first < last - first;
  }
  VOUCH_HOST_DEVICE T guess(T r) const { return std::fma(r, high_, r * low_); }
  VOUCH_HOST_DEVICE T remainder(T r) const { return std::fma(-guess(r), d_, r); }

  T d_, high_, low_;
};

}  // namespace vouch::detail
