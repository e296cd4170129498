
#include <algorithm>
#include <charconv>
#include <cmath>
#include <string>

#include <vouch/core/ieee_environment.hpp>
#include <vouch/text/number.hpp>

namespace vouch {
namespace {

// 0.d1 d2 d3 ... * 10^exponent, d1 not 0.
struct decimal_digits {
  std::string digits;
  int exponent = 0;
};

// Of a text as std::to_chars writes it: digits with a point among them or none, perhaps an exponent.
decimal_digits digits_of(const char* at, const char* end) {
  decimal_digits d;
  bool after_point = false;
  for (; at < end && *at != 'e'; ++at) {
    if (*at == '.') {
      after_point = true;
      continue;
    }
    if (d.digits.empty() && *at == '0')
      d.exponent -= after_point ? 1 : 0;
    else {
      d.digits += *at;
      d.exponent += after_point ? 0 : 1;
    }
  }
  if (at < end) d.exponent += static_cast<int>(parse_integer(at + 1, end).value);
  return d;
}

// The size rounded to so many digits; all of a double's are fewer than 770.
constexpr int all_digits = 770;
decimal_digits rounded_digits(double size, int count) {
  char text[all_digits + 16];
  return digits_of(text,
                   std::to_chars(text, text + sizeof text, size, std::chars_format::scientific, count - 1).ptr);
}

// -1, 0 or 1 for a < b, a == b, a > b.
int compare(const decimal_digits& a, const decimal_digits& b) {
  if (a.exponent != b.exponent) return a.exponent < b.exponent ? -1 : 1;
  const std::size_t length = std::max(a.digits.size(), b.digits.size());
  for (std::size_t k = 0; k < length; ++k) {
    const char x = k < a.digits.size() ? a.digits[k] : '0', y = k < b.digits.size() ? b.digits[k] : '0';
    if (x != y) return x < y ? -1 : 1;
  }
  return 0;
}

// The digits of the size as far as it takes to tell it from d and from its own first 20 digits: where digits
// that were rounded differ from those, the size itself does, to the same side.
decimal_digits telling_digits(double size, const decimal_digits& d) {
  constexpr int few = 40, most_kept = 20;
  decimal_digits exact = rounded_digits(size, few);
  if (compare(exact, d) != 0 && exact.digits.find_first_not_of('0', most_kept) != std::string::npos)
    return exact;
  return rounded_digits(size, all_digits);
}

// The first `kept` digits, and where `bigger` one unit of the last of them more.
decimal_digits cut(const decimal_digits& exact, std::size_t kept, bool bigger) {
  decimal_digits d{exact.digits.substr(0, kept), exact.exponent};
  if (!bigger) return d;
  std::size_t k = d.digits.size();
  while (k > 0 && d.digits[k - 1] == '9') d.digits[--k] = '0';
  if (k > 0) {
    ++d.digits[k - 1];
  } else {
    d.digits.insert(d.digits.begin(), '1');
    ++d.exponent;
  }
  return d;
}

std::string text_of(const decimal_digits& d) {
  const auto whole = static_cast<std::size_t>(std::max(d.exponent, 0));
  if (d.exponent > -4 && whole < d.digits.size())
    return (whole == 0 ? "0" : d.digits.substr(0, whole)) + "." +
           std::string(static_cast<std::size_t>(std::max(-d.exponent, 0)), '0') + d.digits.substr(whole);
  return d.digits.substr(0, 1) + "." + d.digits.substr(1) + "e" + std::to_string(d.exponent - 1);
}

}  // namespace

char* print_number(char* to, double value, text_side side) {
  const ieee_environment here;
  char* const end = print_number(to, value);
  if (side == text_side::nearest || value == 0 || !std::isfinite(value)) return end;
  const double size = std::fabs(value);
  const bool bigger = (side == text_side::above) == (value > 0);
  char* const first = to + (value < 0 ? 1 : 0);
  const decimal_digits shortest = digits_of(first, end), exact = telling_digits(size, shortest);
  const int order = compare(shortest, exact);
  if (order == 0 || (order > 0) == bigger) return end;
  for (std::size_t kept = 17;; ++kept) {
    const std::string text = text_of(cut(exact, kept, bigger));
    if (parse_real(text.data(), text.data() + text.size()).value != size) continue;
    return std::copy(text.begin(), text.end(), first);
  }
}

}  // namespace vouch
