// vouch/text/digits.hpp -- decimal digits and their exact rounding, on CPUs and GPUs; private to the parsers.
#pragma once
#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>

#include <vouch/core/int128.hpp>
#include <vouch/core/types.hpp>
#include <vouch/text/compose.hpp>
#include <vouch/text/number.hpp>

namespace vouch {

static_assert(std::endian::native == std::endian::little, "the digit at the lowest address is the lowest byte");

namespace digits {

inline constexpr std::uint64_t ones = 0x0101010101010101u;

inline std::uint64_t load_eight(const char* p) {
  std::uint64_t x;
  std::memcpy(&x, p, sizeof x);
  return x;
}

/// The high bit of each byte of x that is no digit; those above the first such byte may be wrong.
constexpr std::uint64_t non_digits(std::uint64_t x) {
  return ((x + 0x46 * ones) | (x - 0x30 * ones)) & 0x80 * ones;
}

/// The number that eight bytes 0 to 9 spell, the lowest byte first: pairs, fours, eight.
constexpr std::uint64_t spelled(std::uint64_t x) {
  x = x * 10 + (x >> 8);
  return ((x & 0x000000ff000000ffu) * (100 + (std::uint64_t{1000000} << 32)) +
          ((x >> 16) & 0x000000ff000000ffu) * (1 + (std::uint64_t{10000} << 32))) >>
         32;
}

inline constexpr std::uint64_t power_of_ten[] = {1,
                                                 10,
                                                 100,
                                                 1000,
                                                 10000,
                                                 100000,
                                                 1000000,
                                                 10000000,
                                                 100000000,
                                                 1000000000,
                                                 10000000000u,
                                                 100000000000u,
                                                 1000000000000u,
                                                 10000000000000u,
                                                 100000000000000u,
                                                 1000000000000000u,
                                                 10000000000000000u,
                                                 100000000000000000u,
                                                 1000000000000000000u};

/// The number that the first `count` of eight bytes at p spell, all of them digits; count from 1 to 8.
inline std::uint64_t spelled_front(const char* p, int count) {
  // Shifting moves the digits to the top; the bytes that enter below are leading zeros.
  return spelled((load_eight(p) & 0x0f * ones) << (64 - 8 * count));
}

/// Appends the decimal digits at the front of [p, last) to number, modulo 2^64; returns their end.
///
/// A CPU takes eight at a time; GPUs load only from aligned places.
VOUCH_HOST_DEVICE inline const char* scan(const char* p, const char* last, std::uint64_t& number) {
#if !defined(__CUDA_ARCH__)
  while (last - p >= 8) {
    const std::uint64_t x = load_eight(p);
    const std::uint64_t stops = non_digits(x);
    if (stops == 0) {
      number = number * power_of_ten[8] + spelled(x - 0x30 * ones);
      p += 8;
      continue;
    }
    const int count = std::countr_zero(stops) / 8;
    // Shifting moves the digits to the top; the bytes that enter below are leading zeros.
    const std::uint64_t top = ((x & 0x0f * ones) << (56 - 8 * count)) << 8;
    number = number * power_of_ten[count] + spelled(top);
    return p + count;
  }
#endif
  for (; p < last && *p >= '0' && *p <= '9'; ++p) number = number * 10 + static_cast<std::uint64_t>(*p - '0');
  return p;
}

/// A decimal number as it is written.
struct decimal_text {
  std::uint64_t digits = 0;   // all of them as one integer, modulo 2^64
  std::int64_t exponent = 0;  // digits * 10^exponent
  std::int64_t count = 0;     // of digits; 0: no number
  const char* end = nullptr;
  bool negative = false;
  bool exact = false;       // digits and exponent are what stands there
  bool composable = false;  // that, and within the reach of compose()
};

/// What parse_real takes, at the front of [first, last).
VOUCH_HOST_DEVICE inline decimal_text scan_decimal(const char* first, const char* last) {
  decimal_text d;
  const char* p = first;
  // Signs are as good as random: no branch on them.
  const char sign = p < last ? *p : '0';
  d.negative = sign == '-';
  p += d.negative | (sign == '+');
  const char* const mantissa = p;
  p = scan(p, last, d.digits);
  d.count = p - mantissa;
  if (p < last && *p == '.') {
    const char* const fraction = ++p;
    p = scan(p, last, d.digits);
    d.exponent = fraction - p;
    d.count -= d.exponent;
  }
  if (d.count == 0) [[unlikely]]
    return d;
  bool far = false;
  if (p < last && (*p | 0x20) == 'e') {
    const char* e = p + 1;
    const bool down = e < last && *e == '-';
    if (down || (e < last && *e == '+')) ++e;
    std::uint64_t power = 0;
    const char* const end = scan(e, last, power);
    if (end > e) {
      far = end - e > 8;
      p = end;
      d.exponent += down ? -static_cast<std::int64_t>(power) : static_cast<std::int64_t>(power);
    }
  }
  d.end = p;
  d.exact = !far && d.count <= 19;
  d.composable = d.exact && composable(d.exponent);
  return d;
}

/// The double nearest to a composable number.
VOUCH_HOST_DEVICE inline double composed(const decimal_text& d) {
  const auto magnitude = std::bit_cast<std::uint64_t>(compose(d.digits, static_cast<int>(d.exponent)));
  return std::bit_cast<double>(magnitude | std::uint64_t{d.negative} << 63);
}

/// The 128 leading bits of 5^k: cut off for k >= 0, the next larger number below.
struct leading_bits {
  std::uint64_t high, low;
};
inline constexpr int least_power = -290, largest_power = 280;
struct powers_of_five {
  leading_bits all[largest_power - least_power + 1];
};
extern const powers_of_five fives;

/// The double nearest to m * 10^power, for powers of the table; false where 128 bits do not tell.
///
/// Source  Lemire, Software: Practice and Experience 51 (2021); Mushtak, Lemire, ibid. 53 (2023).
inline bool nearest_double(std::uint64_t m, int power, double& nearest) {
  if (m == 0) {
    nearest = 0;
    return true;
  }
  const int zeros = std::countl_zero(m);
  const std::uint64_t w = m << zeros;
  const leading_bits& five = fives.all[power - least_power];
  const uint128 product = uint128{w} * five.high;
  auto high = static_cast<std::uint64_t>(product >> 64), low = static_cast<std::uint64_t>(product);
  if ((high & 0x1ff) == 0x1ff) [[unlikely]] {  // what is below may carry into the bits that count
    const auto below = static_cast<std::uint64_t>((uint128{w} * five.low) >> 64);
    low += below;
    high += low < below;
    if (low == ~std::uint64_t{0} && (power < -27 || power > 55)) return false;
  }
  const auto top = static_cast<int>(high >> 63);
  const int drop = 9 + top;  // 53 bits and one to round by stay
  std::uint64_t kept = high >> drop;
  const bool middle = low <= 1 && power >= -4 && power <= 23 && (kept & 3) == 1 && kept << drop == high;
  if (middle) kept &= ~std::uint64_t{1};
  kept = (kept + (kept & 1)) >> 1;
  const int exponent = ((217706 * power) >> 16) + 63 - zeros + top;  // floor(power log2(10)), and so on
  // kept == 2^53 carries into the exponent field by itself.
  nearest = std::bit_cast<double>((static_cast<std::uint64_t>(exponent + 1023) << 52) +
                                  (kept - (std::uint64_t{1} << 52)));
  return true;
}

/// The double nearest to a number; false where that is for parse_rare_real to tell.
inline bool nearest_double(const decimal_text& d, double& nearest) {
  if (d.exponent < least_power || d.exponent > largest_power) [[unlikely]]
    return false;
  const auto power = static_cast<int>(d.exponent);
  double magnitude;
  if (d.digits <= exact_integer && power >= -exact_power && power <= exact_power)
    magnitude = compose(d.digits, power);
  else if (!nearest_double(d.digits, power, magnitude)) [[unlikely]]
    return false;
  const std::uint64_t sign = std::uint64_t{d.negative} << 63;
  nearest = std::bit_cast<double>(std::bit_cast<std::uint64_t>(magnitude) | sign);
  return true;
}

/// As parse_real, by the standard library: for long digit strings and far exponents.
parsed_number<double> parse_rare_real(const char* first, const char* last);

/// parse_real, to be inlined in hot loops.
inline parsed_number<double> scan_real(const char* first, const char* last) {
  const decimal_text d = scan_decimal(first, last);
  if (d.count == 0) [[unlikely]]
    return {0, first, number_error::malformed};
  double number;
  if (!d.exact || !nearest_double(d, number)) [[unlikely]]
    return parse_rare_real(first, last);
  return {number, d.end, number_error::none};
}

}  // namespace digits
}  // namespace vouch
