#include <vouch/interval/text.hpp>

#include <charconv>

#include <vouch/core/error.hpp>
#include <vouch/core/ieee_environment.hpp>
#include <vouch/interval/text_number.hpp>

namespace vouch {
namespace {

using rounding::direction;
using rounding::exact_number;
using rounding::literal;

template <real T>
interval<T> enclosed(const literal& read) {
  if (read.what != literal::kind::bounds) return interval<T>::empty();
  return interval<T>::unchecked(
      read.lo ? rounding::nearest_bound<T>(*read.lo, direction::down) : -rounding::infinity<T>,
      read.hi ? rounding::nearest_bound<T>(*read.hi, direction::up) : rounding::infinity<T>);
}

decoration best(const literal& read) {
  if (read.what == literal::kind::nai) return decoration::ill;
  if (read.what == literal::kind::empty) return decoration::trv;
  return read.lo && read.hi ? decoration::com : decoration::dac;
}

// digits * 10^(power - digits.size() + 1), the first digit not 0: x = d.ddd * 10^power.
struct decimal_text {
  std::string digits;
  int power;
};

// |x| to the nearest decimal of so many digits.
template <real T>
decimal_text nearest_decimal(T x, int digits) {
  char text[160];
  const auto end = std::to_chars(text, text + sizeof text, x, std::chars_format::scientific, digits - 1).ptr;
  const std::string all(text, end);
  const std::size_t e = all.find('e');
  decimal_text d{all.substr(0, e), 0};
  if (digits > 1) d.digits.erase(1, 1);  // the point
  d.power = std::stoi(all.substr(e + 1));
  return d;
}

void increase(decimal_text& d) {
  std::size_t k = d.digits.size();
  while (k > 0 && d.digits[k - 1] == '9') d.digits[--k] = '0';
  if (k > 0) {
    ++d.digits[k - 1];
    return;
  }
  d.digits[0] = '1';
  ++d.power;
}

void decrease(decimal_text& d) {
  std::size_t k = d.digits.size();
  while (d.digits[k - 1] == '0') d.digits[--k] = '9';
  --d.digits[k - 1];
  if (d.digits[0] != '0') return;
  // 10...0 went to 09...9
  d.digits.assign(d.digits.size(), '9');
  --d.power;
}

std::string written(decimal_text d) {
  const auto count = static_cast<int>(d.digits.size());
  const auto strip = [](std::string s) {
    if (s.find('.') == std::string::npos) return s;
    s.erase(s.find_last_not_of('0') + 1);
    if (s.back() == '.') s.pop_back();
    return s;
  };
  if (d.power >= 0 && d.power < count)
    return strip(d.digits.substr(0, static_cast<std::size_t>(d.power) + 1) + '.' +
                 d.digits.substr(static_cast<std::size_t>(d.power) + 1));
  if (d.power < 0 && d.power >= -5)
    return strip(std::string("0.").append(static_cast<std::size_t>(-d.power) - 1, '0').append(d.digits));
  return strip(d.digits.substr(0, 1) + '.' + d.digits.substr(1)) + 'e' + std::to_string(d.power);
}

// The text of |x|, not above it or not below it.
template <real T>
std::string magnitude_text(T x, int digits, bool away) {
  if (x == 0) return "0";
  decimal_text d = nearest_decimal(x, digits);
  exact_number shown;
  shown.numerator = rounding::whole_number(d.digits, 10);
  shown.decimal = d.power - digits + 1;
  if (away && rounding::nearest_bound<T>(shown, direction::down) < x) increase(d);
  if (!away && rounding::nearest_bound<T>(shown, direction::up) > x) decrease(d);
  return written(d);
}

template <real T>
std::string bound_text(T x, int digits, direction to) {
  if (!rounding::finite(x)) return x < 0 ? "-inf" : "inf";
  const bool away = (x < 0) == (to == direction::down);
  return std::string(x < 0 ? "-" : "").append(magnitude_text(rounding::magnitude(x), digits, away));
}

template <real T>
std::string exact_bound_text(T x) {
  if (!rounding::finite(x)) return x < 0 ? "-inf" : "inf";
  if (x == 0) return "0x0p+0";
  char text[40];
  const auto end = std::to_chars(text, text + sizeof text, rounding::magnitude(x), std::chars_format::hex).ptr;
  return std::string(x < 0 ? "-0x" : "0x").append(text, end);
}

constexpr const char* decoration_names[] = {"ill", "trv", "def", "dac", "com"};

template <real T>
std::string decorated_text(const std::string& bare, decorated_interval<T> x) {
  return is_nai(x) ? "[nai]" : bare + '_' + decoration_names[static_cast<int>(x.decoration_part())];
}

}  // namespace

template <real T>
interval<T> parse_interval(std::string_view text) {
  const ieee_environment here;
  const literal read = rounding::read_literal(text);
  if (read.what == literal::kind::nai || read.mark)
    throw value_error(rounding::quoted_front(text) + " is no bare interval");
  return enclosed<T>(read);
}

template <real T>
decorated_interval<T> parse_decorated_interval(std::string_view text) {
  const ieee_environment here;
  const literal read = rounding::read_literal(text);
  const decoration most = best(read);
  if (read.mark && *read.mark > most)
    throw value_error(rounding::quoted_front(text) + ": the interval cannot have this decoration");
  return {enclosed<T>(read), read.mark.value_or(most)};
}

template <real T>
std::string interval_text(interval<T> x, int digits) {
  const ieee_environment here;
  if (digits < 1 || digits > 100)
    throw value_error("interval_text: " + std::to_string(digits) + " digits; 1 to 100 are possible");
  if (is_empty(x)) return "[empty]";
  return '[' + bound_text(x.lo(), digits, direction::down) + ", " + bound_text(x.hi(), digits, direction::up) +
         ']';
}

template <real T>
std::string exact_interval_text(interval<T> x) {
  const ieee_environment here;
  if (is_empty(x)) return "[empty]";
  return '[' + exact_bound_text(x.lo()) + ", " + exact_bound_text(x.hi()) + ']';
}

template <real T>
std::string interval_text(decorated_interval<T> x, int digits) {
  const ieee_environment here;
  return decorated_text(interval_text(x.bare(), digits), x);
}

template <real T>
std::string exact_interval_text(decorated_interval<T> x) {
  const ieee_environment here;
  return decorated_text(exact_interval_text(x.bare()), x);
}

template interval<float> parse_interval(std::string_view);
template interval<double> parse_interval(std::string_view);
template decorated_interval<float> parse_decorated_interval(std::string_view);
template decorated_interval<double> parse_decorated_interval(std::string_view);
template std::string interval_text(interval<float>, int);
template std::string interval_text(interval<double>, int);
template std::string exact_interval_text(interval<float>);
template std::string exact_interval_text(interval<double>);
template std::string interval_text(decorated_interval<float>, int);
template std::string interval_text(decorated_interval<double>, int);
template std::string exact_interval_text(decorated_interval<float>);
template std::string exact_interval_text(decorated_interval<double>);

}  // namespace vouch
