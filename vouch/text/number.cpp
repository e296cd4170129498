#include <array>
#include <bit>
#include <charconv>
#include <cstdint>
#include <limits>

#include <vouch/core/ieee_environment.hpp>
#include <vouch/text/digits.hpp>
#include <vouch/text/number.hpp>

namespace vouch {
namespace digits {
namespace {

// A number in [2^383, 2^384), of which a power of two was taken out; the highest limb first.
struct scaled_number {
  std::array<std::uint64_t, 6> limb{std::uint64_t{1} << 63};

  constexpr void times_five() {
    std::uint64_t carry = 0;
    for (auto l = limb.rbegin(); l != limb.rend(); ++l) {
      const uint128 product = uint128{*l} * 5 + carry;
      *l = static_cast<std::uint64_t>(product);
      carry = static_cast<std::uint64_t>(product >> 64);
    }
    for (; carry != 0; carry >>= 1) halve(carry & 1);
  }
  constexpr void over_five() {
    std::uint64_t rest = 0;
    for (std::uint64_t& l : limb) {
      const uint128 dividend = uint128{rest} << 64 | l;
      l = static_cast<std::uint64_t>(dividend / 5);
      rest = static_cast<std::uint64_t>(dividend % 5);
    }
    while (limb[0] >> 63 == 0) twice();
  }
  constexpr void halve(std::uint64_t from_above) {
    for (std::uint64_t& l : limb) {
      const std::uint64_t below = l & 1;
      l = l >> 1 | from_above << 63;
      from_above = below;
    }
  }
  constexpr void twice() {
    std::uint64_t from_below = 0;
    for (auto l = limb.rbegin(); l != limb.rend(); ++l) {
      const std::uint64_t above = *l >> 63;
      *l = *l << 1 | from_below;
      from_below = above;
    }
  }
};

// 384 bits are so many that what they lack is seen in no 128 leading ones.
constexpr powers_of_five make_powers_of_five() {
  powers_of_five table{};
  scaled_number power, reciprocal;
  for (int k = 0; k <= largest_power; ++k) {
    table.all[k - least_power] = {power.limb[0], power.limb[1]};
    power.times_five();
  }
  for (int k = -1; k >= least_power; --k) {
    reciprocal.over_five();
    const std::uint64_t low = reciprocal.limb[1] + 1;
    table.all[k - least_power] = {reciprocal.limb[0] + (low == 0), low};
  }
  return table;
}

constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }

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

constinit const powers_of_five fives = make_powers_of_five();

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

parsed_number<double> parse_real(const char* first, const char* last) {
  // A scope would look twice: of a call that takes 12 ns, one look more is seen.
  if (!ieee_environment::holds()) [[unlikely]]
    return in_ieee_environment([=] { return digits::scan_real(first, last); });
  return digits::scan_real(first, last);
}

}  // namespace vouch
