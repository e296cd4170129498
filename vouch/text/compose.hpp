// vouch/text/compose.hpp -- an integer times a power of ten, rounded once, on CPUs and GPUs; private to the
// parsers.
#pragma once
#include <bit>
#include <cstdint>

#include <vouch/core/int128.hpp>
#include <vouch/core/types.hpp>

namespace vouch::digits {

/// Integers up to here are doubles.
inline constexpr std::uint64_t exact_integer = std::uint64_t{1} << 53;
/// Powers of ten up to here are doubles.
inline constexpr int exact_power = 22;

/// 10^k, for k from 0 to exact_power.
VOUCH_HOST_DEVICE inline double power_of_ten_as_double(int k) {
  static constexpr double powers[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                      1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
  return powers[k];
}

/// Powers of five up to here are below 2^64.
inline constexpr int most_fives = 27;

VOUCH_HOST_DEVICE inline std::uint64_t power_of_five(int k) {
  // Spelled out: what a constexpr constructor computes is zeros on a GPU.
  static constexpr std::uint64_t powers[most_fives + 1] = {1u,
                                                           5u,
                                                           25u,
                                                           125u,
                                                           625u,
                                                           3125u,
                                                           15625u,
                                                           78125u,
                                                           390625u,
                                                           1953125u,
                                                           9765625u,
                                                           48828125u,
                                                           244140625u,
                                                           1220703125u,
                                                           6103515625u,
                                                           30517578125u,
                                                           152587890625u,
                                                           762939453125u,
                                                           3814697265625u,
                                                           19073486328125u,
                                                           95367431640625u,
                                                           476837158203125u,
                                                           2384185791015625u,
                                                           11920928955078125u,
                                                           59604644775390625u,
                                                           298023223876953125u,
                                                           1490116119384765625u,
                                                           7450580596923828125u};
  return powers[k];
}

/// Whether compose(m, exponent) is exact in its reach: any m, and a power of five below 2^64.
VOUCH_HOST_DEVICE constexpr bool composable(std::int64_t exponent) {
  return exponent >= -most_fives && exponent <= most_fives;
}

/// In the 64 bits of x. nvcc compiles std::countl_zero for GPUs without a word, and to nonsense.
VOUCH_HOST_DEVICE inline int leading_zeros(std::uint64_t x) {
#if defined(__CUDA_ARCH__)
  return __clzll(static_cast<long long>(x));
#else
  return std::countl_zero(x);
#endif
}

/// The double nearest to (q + a fraction that is 0 exactly if !sticky) * 2^exponent, ties to even, for
/// q >= 2^62 and results that are normal numbers.
VOUCH_HOST_DEVICE inline double round_to_double(std::uint64_t q, bool sticky, int exponent) {
  const int drop = 11 - leading_zeros(q);  // bits below the 53 that stay
  const std::uint64_t below = q & ((std::uint64_t{1} << drop) - 1);
  const std::uint64_t half = std::uint64_t{1} << (drop - 1);
  std::uint64_t kept = q >> drop;
  if (below > half || (below == half && (sticky || kept % 2 == 1))) ++kept;
  // kept == 2^53 carries into the exponent field by itself.
  const auto biased = static_cast<std::uint64_t>(exponent + drop + 52 + 1023);
  return std::bit_cast<double>((biased << 52) + (kept - (std::uint64_t{1} << 52)));
}

/// compose() by integers of 128 bits.
[[gnu::noinline]] VOUCH_HOST_DEVICE inline double compose_wide(std::uint64_t m, int exponent) {
  if (m == 0) return 0;
  if (exponent >= 0) {
    // The product is exact in 128 bits: m 5^e 2^e.
    const uint128 product = uint128{m} * power_of_five(exponent);
    const auto high = static_cast<std::uint64_t>(product >> 64);
    if (high == 0) {
      const auto low = static_cast<std::uint64_t>(product);
      const int shift = leading_zeros(low);
      return round_to_double(low << shift, false, exponent - shift);
    }
    const int shift = leading_zeros(high);
    const uint128 top = product << shift;
    return round_to_double(static_cast<std::uint64_t>(top >> 64), static_cast<std::uint64_t>(top) != 0,
                           exponent + 64 - shift);
  }
  // Numerator and divisor get their top bits set, so the quotient has 63 or 64 bits and its remainder tells
  // whether anything is left: exact rounding.
  const int zeros = leading_zeros(m);
  const std::uint64_t divisor = power_of_five(-exponent);
  const int shift = leading_zeros(divisor);
  const std::uint64_t d = divisor << shift;
  const uint128 n = uint128{m << zeros} << 63;
  const auto quotient = static_cast<std::uint64_t>(n / d);
  return round_to_double(quotient, n % d != 0, exponent - zeros + shift - 63);
}

/// m * 10^exponent, rounded once, for composable exponents.
///
/// Source  One operation on two exact doubles: Clinger, PLDI 1990. Else integer arithmetic.
VOUCH_HOST_DEVICE inline double compose(std::uint64_t m, int exponent) {
  if (m <= exact_integer && exponent >= -exact_power && exponent <= exact_power) [[likely]] {
    const auto integer = static_cast<double>(m);
    return exponent < 0 ? integer / power_of_ten_as_double(-exponent)
                        : integer * power_of_ten_as_double(exponent);
  }
  return compose_wide(m, exponent);
}

}  // namespace vouch::digits
