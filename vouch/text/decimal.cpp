
#include <cmath>
#include <cstdint>

#include <vouch/core/ieee_environment.hpp>
#include <vouch/text/number.hpp>

namespace vouch {
namespace {

// A decimal number as significand * 10^exponent.
struct decimal {
  std::uint64_t significand = 0;
  std::int64_t exponent = 0;
  bool whole = true;  // the significand has all the digits
};

constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }

decimal take_apart(std::string_view text) {
  decimal d;
  bool after_point = false;
  std::size_t k = 0;
  if (k < text.size() && (text[k] == '-' || text[k] == '+')) ++k;
  for (; k < text.size() && (is_digit(text[k]) || text[k] == '.'); ++k) {
    if (text[k] == '.') {
      after_point = true;
      continue;
    }
    if (d.significand >= (UINT64_MAX - 9) / 10) d.whole = d.whole && text[k] == '0';
    if (d.significand < (UINT64_MAX - 9) / 10) {
      d.significand = 10 * d.significand + static_cast<std::uint64_t>(text[k] - '0');
      d.exponent -= after_point ? 1 : 0;
    } else {
      d.exponent += after_point ? 0 : 1;
    }
  }
  if (k < text.size()) {
    const auto written = parse_integer(text.data() + k + 1, text.data() + text.size());
    d.whole = d.whole && written.error == number_error::none;
    d.exponent += written.error == number_error::none && std::abs(written.value) < 10000 ? written.value : 0;
    d.whole = d.whole && std::abs(written.value) < 10000;
  }
  return d;
}

// Whether a decimal number is a double; false where that is not seen.
bool is_double(decimal d) {
  if (d.significand == 0) return d.whole;
  if (!d.whole) return false;
  constexpr std::uint64_t most = std::uint64_t{1} << 53;
  for (; d.exponent < 0; ++d.exponent) {
    if (d.significand % 5 != 0) return false;
    d.significand /= 5;  // and half as much again, which the exponent of two holds
  }
  while (d.significand % 2 == 0) d.significand /= 2;
  for (; d.exponent > 0 && d.significand < most; --d.exponent) d.significand *= 5;
  return d.exponent == 0 && d.significand < most;
}

}  // namespace

double decimal_radius(std::string_view text) {
  const ieee_environment here;
  if (is_double(take_apart(text))) return 0;
  const double size = std::fabs(parse_real(text.data(), text.data() + text.size()).value);
  // Half a unit is at most 2^-53 of a normal number and 2^-1075 of a smaller one; above 2^-1021 the product
  // with a power of two is exact.
  return size >= 0x1p-968 ? size * 0x1p-53 : 0x1p-1021;
}

}  // namespace vouch
