#include <vouch/interval/text_number.hpp>

#include <algorithm>
#include <cctype>

#include <vouch/core/error.hpp>

namespace vouch::rounding {
namespace {

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

}  // namespace

std::string quoted_front(std::string_view text) {
  std::string front(text.substr(0, 60));
  for (char& c : front)
    if (std::iscntrl(static_cast<unsigned char>(c))) c = '?';
  return '"' + front + (text.size() > 60 ? "...\"" : "\"");
}

literal read_literal(std::string_view text) { return reader(text).all(); }

}  // namespace vouch::rounding
