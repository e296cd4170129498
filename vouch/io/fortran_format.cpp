#include <vouch/io/fortran_format.hpp>

#include <algorithm>

#include <vouch/text/digits.hpp>
#include <vouch/text/number.hpp>

namespace vouch {
namespace {

constexpr std::int64_t most = 4096;  // of numbers on a line, and of columns

// Takes parts of a format off its front.
class format_text {
 public:
  explicit format_text(std::string_view text) : text_(text) {}

  bool accept(char upper) {
    const bool letter = 'A' <= upper && upper <= 'Z';
    if (text_.empty() || (text_[0] != upper && !(letter && text_[0] == upper + 32))) return false;
    text_.remove_prefix(1);
    return true;
  }
  std::optional<std::int64_t> number() {
    const auto found = parse_integer(text_.data(), text_.data() + text_.size());
    if (found.error != number_error::none || found.value < -most || found.value > most) return std::nullopt;
    text_.remove_prefix(static_cast<std::size_t>(found.end - text_.data()));
    return found.value;
  }
  bool ended() const { return text_.empty(); }

 private:
  std::string_view text_;
};

// With E before the exponent, as everybody else writes it: D, Q or its sign alone stood there.
parsed_number<double> parse_with_exponent(std::string_view text, std::size_t mantissa, read_as what) {
  std::string plain(text.substr(0, mantissa));
  std::string_view exponent = text.substr(mantissa);
  const bool letter = std::string_view("DdQq").find(exponent[0]) != std::string_view::npos;
  if (letter) exponent.remove_prefix(1);
  plain.append("E").append(exponent);
  parsed_number<double> number = parse_real(plain.data(), plain.data() + plain.size());
  const bool whole = number.end == plain.data() + plain.size();
  number.end = whole ? text.data() + text.size() : text.data();
  if (!whole) number.error = number_error::malformed;
  if (number.error == number_error::none && what == read_as::radius) number.value = decimal_radius(plain);
  return number;
}

}  // namespace

std::optional<fortran_format> parse_fortran_format(std::string_view text) {
  std::string solid(text);  // blanks say nothing, not even within a number
  std::erase(solid, ' ');
  format_text rest(solid);
  fortran_format format;
  if (!rest.accept('(')) return std::nullopt;
  std::optional<std::int64_t> count = rest.number();
  if (rest.accept('P')) {
    if (!count) return std::nullopt;
    format.scale = *count;
    rest.accept(',');
    count = rest.number();
  }
  format.integers = rest.accept('I');
  const bool real =
      !format.integers && (rest.accept('F') || rest.accept('E') || rest.accept('D') || rest.accept('G'));
  if (!format.integers && !real) return std::nullopt;
  const std::optional<std::int64_t> width = rest.number();
  if (rest.accept('.')) {
    const std::optional<std::int64_t> decimals = rest.number();
    if (!decimals || *decimals < 0) return std::nullopt;
    if (real) format.decimals = *decimals;
    if (rest.accept('E') && !rest.number()) return std::nullopt;
  }
  if (!rest.accept(')') || !rest.ended() || !width || *width < 1 || count.value_or(1) < 1) return std::nullopt;
  format.per_line = count.value_or(1);
  format.width = *width;
  return format;
}

parsed_number<double> parse_fortran_real(std::string_view text, const fortran_format& format, read_as what) {
  const char* const first = text.data();
  const char* const last = first + text.size();
  parsed_number<double> number = digits::scan_real(first, last);
  if (number.error == number_error::malformed) return number;
  const bool has_point = text.find('.') != text.npos;
  const std::size_t mantissa = text.find_first_not_of("+-.0123456789");
  const std::size_t sign = text.find_first_of("+-", 1);
  const bool has_exponent = mantissa != text.npos || sign != text.npos;
  const bool zero = number.value == 0;
  if (!zero && ((format.decimals > 0 && !has_point) || (format.scale != 0 && !has_exponent)))
    return {0, first, number_error::malformed};
  if (number.end != last) {
    const auto at = static_cast<std::size_t>(number.end - first);
    if (std::string_view("DdQq+-").find(text[at]) == std::string_view::npos) return number;
    return parse_with_exponent(text, at, what);
  }
  if (number.error == number_error::none && what == read_as::radius) number.value = decimal_radius(text);
  return number;
}

}  // namespace vouch
