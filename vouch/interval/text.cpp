#include <vouch/interval/text.hpp>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <optional>
#include <string>
#include <string_view>

#include <vouch/core/error.hpp>
#include <vouch/core/ieee_environment.hpp>
#include <vouch/interval/decorated.hpp>
#include <vouch/interval/exact_number.hpp>

namespace vouch {

// ---- numbers and literals of intervals as exact numbers

namespace rounding {
namespace {

// The front of the text in quotes, on one line.
std::string quoted_front(std::string_view text) {
  std::string front(text.substr(0, 60));
  for (char& c : front)
    if (std::iscntrl(static_cast<unsigned char>(c))) c = '?';
  return '"' + front + (text.size() > 60 ? "...\"" : "\"");
}

// What a text says: bounds as exact numbers, none for an infinite one.
struct literal {
  enum class kind { bounds, empty, nai } what = kind::bounds;
  std::optional<exact_number> lo;
  std::optional<exact_number> hi;
  std::optional<decoration> mark;
};

constexpr std::size_t most_digits = 5000;
constexpr std::int64_t most_exponent = 20000;

// A number as it is written, and whether it is an infinity.
struct bound {
  bool infinite = false;
  exact_number number{};
};

class reader {
 public:
  explicit reader(std::string_view text) : shown_(text), text_(text) {
    for (char& c : text_) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }

  literal all() {
    skip();
    literal read = peek() == '[' ? bracketed() : uncertain();
    if (peek() == '_') read.mark = mark();
    skip();
    if (at_ != text_.size()) fail("the end");
    return read;
  }

 private:
  literal bracketed() {
    literal read;
    ++at_;
    skip();
    if (take(']') || take_word("empty]")) {
      read.what = literal::kind::empty;
    } else if (take_word("nai]")) {
      read.what = literal::kind::nai;
    } else if (!take_word("entire]")) {
      bounds(read);
    }
    return read;
  }

  void bounds(literal& read) {
    const bool lower_left_out = peek() == ',';
    bound lower;
    if (!lower_left_out) lower = number();
    skip();
    if (take(']')) {
      if (lower.infinite) refuse("an infinity is no number");
      read.lo = read.hi = lower.number;
      return;
    }
    expect(',');
    skip();
    const bool upper_left_out = peek() == ']';
    bound upper;
    if (!upper_left_out) upper = number();
    skip();
    expect(']');
    if (lower.infinite && !lower.number.negative) refuse("the lower bound is infinity");
    if (upper.infinite && upper.number.negative) refuse("the upper bound is -infinity");
    if (!lower_left_out && !lower.infinite) read.lo = lower.number;
    if (!upper_left_out && !upper.infinite) read.hi = upper.number;
    if (read.lo && read.hi && compare(*read.lo, *read.hi) > 0) refuse("the lower bound is above the upper");
  }

  // m ? r, in units of the last digit of m; everything in tenths of that unit, for the half.
  literal uncertain() {
    const bool negative = sign();
    exact_number middle = decimal(negative);
    expect('?');
    const bool unbounded = take('?');
    whole_number radius(5U);
    if (!unbounded && is_digit(peek())) {
      radius = whole_number(digits(10), 10);
      radius.multiply_add(10, 0);
    }
    const bool up = take('u');
    const bool down = !up && take('d');
    if (take('e')) middle.decimal += exponent();
    middle.numerator.multiply_add(10, 0);
    --middle.decimal;
    literal read;
    read.lo = up ? middle : moved(middle, radius, true);
    read.hi = down ? middle : moved(middle, radius, false);
    if (unbounded && !up) read.lo.reset();
    if (unbounded && !down) read.hi.reset();
    return read;
  }

  static exact_number moved(exact_number x, const whole_number& by, bool downwards) {
    if (x.negative == downwards) {
      x.numerator = x.numerator + by;
    } else if (compare(x.numerator, by) >= 0) {
      x.numerator = x.numerator - by;
    } else {
      x.numerator = by - x.numerator;
      x.negative = downwards;
    }
    return x;
  }

  bound number() {
    const bool negative = sign();
    if (take_word("infinity") || take_word("inf")) {
      bound infinite{true, {}};
      infinite.number.negative = negative;
      return infinite;
    }
    if (take_word("0x")) return {false, hexadecimal(negative)};
    exact_number x = decimal(negative);
    if (take('e')) {
      x.decimal += exponent();
    } else if (x.decimal == 0 && take('/')) {
      x.denominator = whole_number(digits(10), 10);
      if (x.denominator.is_zero()) refuse("the divisor is 0");
    }
    return {false, x};
  }

  exact_number decimal(bool negative) {
    const std::string whole(digits(10, false));
    std::string fraction;
    if (take('.')) fraction = digits(10, whole.empty());
    if (whole.empty() && fraction.empty()) fail("a number");
    exact_number x;
    x.negative = negative;
    x.numerator = whole_number(whole + fraction, 10);
    x.decimal = -static_cast<std::int64_t>(fraction.size());
    return x;
  }

  exact_number hexadecimal(bool negative) {
    const std::string whole(digits(16, false));
    std::string fraction;
    if (take('.')) fraction = digits(16, whole.empty());
    if (whole.empty() && fraction.empty()) fail("a hexadecimal number");
    exact_number x;
    x.negative = negative;
    x.numerator = whole_number(whole + fraction, 16);
    x.binary = -4 * static_cast<std::int64_t>(fraction.size());
    if (take('p')) x.binary += exponent();
    return x;
  }

  std::int64_t exponent() {
    const bool negative = sign();
    std::int64_t value = 0;
    for (const char c : digits(10)) value = std::min(value * 10 + (c - '0'), most_exponent + 1);
    if (value > most_exponent) fail("an exponent of at most 20000");
    return negative ? -value : value;
  }

  std::string_view digits(unsigned base, bool required = true) {
    const std::size_t start = at_;
    while (is_digit(peek()) || (base == 16 && peek() >= 'a' && peek() <= 'f')) ++at_;
    if (required && at_ == start) fail("a digit");
    if (at_ - start > most_digits) fail("at most 5000 digits");
    return std::string_view(text_).substr(start, at_ - start);
  }

  decoration mark() {
    ++at_;
    for (const auto& [name, mark] : {std::pair{"com", decoration::com}, std::pair{"dac", decoration::dac},
                                     std::pair{"def", decoration::def}, std::pair{"trv", decoration::trv}})
      if (take_word(name)) return mark;
    fail("com, dac, def or trv");
  }

  bool sign() {
    const bool negative = peek() == '-';
    if (negative || peek() == '+') ++at_;
    return negative;
  }

  static bool is_digit(char c) { return c >= '0' && c <= '9'; }
  char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }

  bool take(char c) {
    if (peek() != c) return false;
    ++at_;
    return true;
  }

  // A word whose last letter may be a bracket, spaces before that allowed.
  bool take_word(std::string_view word) {
    const std::size_t start = at_;
    for (const char c : word) {
      if (c == ']') skip();
      if (!take(c)) {
        at_ = start;
        return false;
      }
    }
    return true;
  }

  void expect(char c) {
    if (!take(c)) fail(std::string(1, c));
  }

  void skip() {
    while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_]))) ++at_;
  }

  [[noreturn]] void fail(const std::string& wanted) const {
    throw parse_error(quoted_front(shown_), 1, static_cast<std::int64_t>(at_) + 1, "expected " + wanted);
  }

  [[noreturn]] void refuse(const std::string& why) const {
    throw value_error(quoted_front(shown_) + " is no interval: " + why);
  }

  std::string_view shown_;
  std::string text_;
  std::size_t at_ = 0;
};

// Throws parse_error and value_error as parse_interval says.
literal read_literal(std::string_view text) { return reader(text).all(); }

}  // namespace
}  // namespace rounding

// ---- intervals from and to text

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

template VOUCH_PUBLIC interval<float> parse_interval(std::string_view);
template VOUCH_PUBLIC interval<double> parse_interval(std::string_view);
template VOUCH_PUBLIC decorated_interval<float> parse_decorated_interval(std::string_view);
template VOUCH_PUBLIC decorated_interval<double> parse_decorated_interval(std::string_view);
template VOUCH_PUBLIC std::string interval_text(interval<float>, int);
template VOUCH_PUBLIC std::string interval_text(interval<double>, int);
template VOUCH_PUBLIC std::string exact_interval_text(interval<float>);
template VOUCH_PUBLIC std::string exact_interval_text(interval<double>);
template VOUCH_PUBLIC std::string interval_text(decorated_interval<float>, int);
template VOUCH_PUBLIC std::string interval_text(decorated_interval<double>, int);
template VOUCH_PUBLIC std::string exact_interval_text(decorated_interval<float>);
template VOUCH_PUBLIC std::string exact_interval_text(decorated_interval<double>);

}  // namespace vouch
