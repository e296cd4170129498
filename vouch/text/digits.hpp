// vouch/text/digits.hpp -- decimal digits eight at a time, and their exact rounding; private to the parsers.
#pragma once
#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>

#include <vouch/core/int128.hpp>
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

inline constexpr std::uint64_t power_of_ten[] = {1, 10, 100, 1000, 10000, 100000, 1000000, 10000000, 100000000};

/// Appends the decimal digits at the front of [p, last) to number, modulo 2^64; returns their end.
inline const char* scan(const char* p, const char* last, std::uint64_t& number) {
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
  for (; p < last && *p >= '0' && *p <= '9'; ++p) number = number * 10 + static_cast<std::uint64_t>(*p - '0');
  return p;
}

/// Integers up to here are doubles.
inline constexpr std::uint64_t exact_integer = std::uint64_t{1} << 53;
/// Powers of ten up to here are doubles.
inline constexpr int exact_power = 22;
inline constexpr double exact_powers[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                          1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                          1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

/// Whether compose(m, exponent) is exact in its reach: any m, and a power of five below 2^64.
constexpr bool composable(std::int64_t exponent) { return exponent >= -27 && exponent <= 27; }

double compose_wide(std::uint64_t m, int exponent);

/// m * 10^exponent, rounded once, for composable exponents.
///
/// Source  One operation on two exact doubles: Clinger, PLDI 1990. Else integer arithmetic, see number.cpp.
inline double compose(std::uint64_t m, int exponent) {
  if (m <= exact_integer && exponent >= -exact_power && exponent <= exact_power) [[likely]]
    return exponent < 0 ? static_cast<double>(m) / exact_powers[-exponent]
                        : static_cast<double>(m) * exact_powers[exponent];
  return compose_wide(m, exponent);
}

/// As parse_real, by the standard library: for long digit strings and far exponents.
parsed_number<double> parse_rare_real(const char* first, const char* last);

/// parse_real, to be inlined in hot loops.
inline parsed_number<double> scan_real(const char* first, const char* last) {
  const char* p = first;
  // Signs are as good as random: no branch on them.
  const char sign = p < last ? *p : '0';
  const bool negative = sign == '-';
  p += negative | (sign == '+');
  const char* const mantissa = p;
  std::uint64_t m = 0;
  p = scan(p, last, m);
  std::int64_t count = p - mantissa;
  std::int64_t exponent = 0;
  if (p < last && *p == '.') {
    const char* const fraction = ++p;
    p = scan(p, last, m);
    exponent = fraction - p;
    count -= exponent;
  }
  if (count == 0) [[unlikely]]
    return {0, first, number_error::malformed};
  if (p < last && (*p | 0x20) == 'e') {
    const char* e = p + 1;
    const bool down = e < last && *e == '-';
    if (down || (e < last && *e == '+')) ++e;
    std::uint64_t power = 0;
    const char* const end = scan(e, last, power);
    if (end - e > 8) return parse_rare_real(first, last);
    if (end > e) {
      p = end;
      exponent += down ? -static_cast<std::int64_t>(power) : static_cast<std::int64_t>(power);
    }
  }
  if (count > 19 || !composable(exponent)) [[unlikely]]
    return parse_rare_real(first, last);
  const auto magnitude = std::bit_cast<std::uint64_t>(compose(m, static_cast<int>(exponent)));
  return {std::bit_cast<double>(magnitude | std::uint64_t{negative} << 63), p, number_error::none};
}

}  // namespace digits
}  // namespace vouch
