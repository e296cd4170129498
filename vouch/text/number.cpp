#include <charconv>
#include <limits>

#include <vouch/core/ieee_environment.hpp>
#include <vouch/text/digits.hpp>
#include <vouch/text/number.hpp>

namespace vouch {
namespace digits {
namespace {

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
