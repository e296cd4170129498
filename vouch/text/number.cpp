#include <charconv>
#include <limits>

#include <vouch/text/digits.hpp>
#include <vouch/text/number.hpp>

namespace vouch {
namespace digits {
namespace {

constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }

constexpr std::uint64_t power_of_five(int exponent) {
  std::uint64_t power = 1;
  for (; exponent > 0; --exponent) power *= 5;
  return power;
}

struct fives {
  std::uint64_t power[28];
  constexpr fives() : power() {
    for (int k = 0; k < 28; ++k) power[k] = power_of_five(k);
  }
};
constexpr fives five;

// The double nearest to (q + a fraction that is 0 exactly if !sticky) * 2^exponent, ties to even, for
// q >= 2^62 and results that are normal numbers.
double round_to_double(std::uint64_t q, bool sticky, int exponent) {
  const int drop = 11 - std::countl_zero(q);  // bits below the 53 that stay
  const std::uint64_t below = q & ((std::uint64_t{1} << drop) - 1);
  const std::uint64_t half = std::uint64_t{1} << (drop - 1);
  std::uint64_t kept = q >> drop;
  if (below > half || (below == half && (sticky || kept % 2 == 1))) ++kept;
  // kept == 2^53 carries into the exponent field by itself.
  const auto biased = static_cast<std::uint64_t>(exponent + drop + 52 + 1023);
  return std::bit_cast<double>((biased << 52) + (kept - (std::uint64_t{1} << 52)));
}

// Where the first digit that is not zero stands: d.ddd * 10^result. Meaningless for zero.
std::int64_t leading_power(const char* mantissa, const char* end) {
  std::int64_t power = -1;
  const char* p = mantissa;
  const char* first = nullptr;
  for (; p < end && is_digit(*p); ++p) {
    if (first == nullptr && *p != '0') first = p;
    if (first != nullptr) ++power;
  }
  if (p < end && *p == '.') {
    const char* fraction = ++p;
    for (; p < end && is_digit(*p); ++p)
      if (first == nullptr && *p != '0') {
        first = p;
        power = fraction - p - 1;
      }
  }
  if (p == end) return power;
  const auto written = parse_integer(p + 1, end);
  if (written.error == number_error::overflow) return p[1] == '-' ? -1 : 1;
  return power + std::clamp<std::int64_t>(written.value, -(std::int64_t{1} << 60), std::int64_t{1} << 60);
}

}  // namespace

double compose_wide(std::uint64_t m, int exponent) {
  if (m == 0) return 0;
  const int zeros = std::countl_zero(m);
  if (exponent >= 0) {
    // The product is exact in 128 bits: m 5^e 2^e.
    const uint128 product = uint128{m} * five.power[exponent];
    const auto high = static_cast<std::uint64_t>(product >> 64);
    if (high == 0) {
      const auto low = static_cast<std::uint64_t>(product);
      const int shift = std::countl_zero(low);
      return round_to_double(low << shift, false, exponent - shift);
    }
    const int shift = std::countl_zero(high);
    const uint128 top = product << shift;
    return round_to_double(static_cast<std::uint64_t>(top >> 64), static_cast<std::uint64_t>(top) != 0,
                           exponent + 64 - shift);
  }
  // Numerator and divisor get their top bits set, so the quotient has 63 or 64 bits and its remainder tells
  // whether anything is left: exact rounding.
  const std::uint64_t divisor = five.power[-exponent];
  const int shift = std::countl_zero(divisor);
  const std::uint64_t d = divisor << shift;
  const uint128 n = uint128{m << zeros} << 63;
  const auto quotient = static_cast<std::uint64_t>(n / d);
  return round_to_double(quotient, n % d != 0, exponent - zeros + shift - 63);
}

parsed_number<double> parse_rare_real(const char* first, const char* last) {
  const bool negative = *first == '-';
  const char* const mantissa = first + (negative || *first == '+');
  double value = 0;
  const auto [end, error] = std::from_chars(mantissa, last, value, std::chars_format::general);
  if (error == std::errc::result_out_of_range) {
    if (leading_power(mantissa, end) > 0) return {0, end, number_error::overflow};
    value = 0;
  }
  return {negative ? -value : value, end, number_error::none};
}

}  // namespace digits

parsed_number<std::int64_t> parse_integer(const char* first, const char* last) {
  const bool negative = first < last && *first == '-';
  const char* const start = first + (first < last && (*first == '-' || *first == '+'));
  std::uint64_t magnitude = 0;
  const char* const end = digits::scan(start, last, magnitude);
  if (end == start) return {0, first, number_error::malformed};
  const char* significant = start;
  while (end - significant > 19 && *significant == '0') ++significant;
  const std::uint64_t largest = std::uint64_t{1} << 63;
  if (end - significant > 19 || magnitude > largest || (magnitude == largest && !negative))
    return {0, end, number_error::overflow};
  return {static_cast<std::int64_t>(negative ? 0 - magnitude : magnitude), end, number_error::none};
}

parsed_number<double> parse_real(const char* first, const char* last) { return digits::scan_real(first, last); }

}  // namespace vouch
