#include <algorithm>
#include <cstring>

#include <vouch/reduce/set_text.hpp>
#include <vouch/text/digits.hpp>

namespace vouch {
namespace {

bool is_space(char c) { return c == ' ' || c == '\t'; }

bool ends_word(char c) { return is_space(c) || c == '\n' || c == '\r'; }

const char* skip_spaces(const char* p, const char* end) {
  while (p < end && is_space(*p)) ++p;
  return p;
}

// Whether a line ends here, but for blanks that were skipped; past is then behind its line feed.
bool line_ends(const char* p, const char* end, const char*& past) {
  const char* q = p;
  if (q < end && *q == '\r') ++q;
  if (q == end) {
    past = q;
    return true;
  }
  past = q + 1;
  return *q == '\n';
}

}  // namespace

bool set_parser::refuse(set_fault what, const char* where) {
  fault = what;
  fault_at = where;
  return false;
}

void set_parser::parse(const char* end, value_buffer& values, std::int64_t most_matrices) {
  if (tokens % shape.cols != 0 && !row(end, values)) return;
  while (at < end) {
    const char* const p = skip_spaces(at, end);
    const char* past = nullptr;
    if (p == end || line_ends(p, end, past)) {
      at = p == end ? p : past;
    } else if (*p == '*') {
      if (matrices >= most_matrices) return;
      at = p;
      if (!separator(end)) return;
    } else {
      at = p;
      if (tokens == elements()) {
        refuse(matrices == 0 ? set_fault::no_separator : set_fault::many_rows, p);
        return;
      }
      if (!row(end, values)) return;
    }
  }
}

void set_parser::finish(const char* end, bool end_of_file) {
  if (fault != set_fault::none || tokens == elements() || (end_of_file && tokens == 0)) return;
  refuse(tokens == 0 ? set_fault::empty_matrix : set_fault::few_rows, end);
}

bool set_parser::separator(const char* end) {
  const char* const p = at;
  if (tokens == 0) return refuse(set_fault::empty_matrix, p);
  if (tokens != elements()) return refuse(set_fault::few_rows, p);
  const bool three = end - p >= 3 && p[1] == '*' && p[2] == '*';
  const char* past = nullptr;
  if (!three || !line_ends(skip_spaces(p + 3, end), end, past)) return refuse(set_fault::bad_separator, p);
  at = past;
  tokens = 0;
  return true;
}

// The numbers of a line from where it stands on, and the line's end.
bool set_parser::row(const char* end, value_buffer& values) {
  std::int64_t left = shape.cols - tokens % shape.cols;
  const char* past = nullptr;
  for (;; --left) {
    at = skip_spaces(at, end);
    if (at == end || *at == '\n' || *at == '\r') {
      if (line_ends(at, end, past)) break;
    }
    if (left == 0) {
      // What is no number is named as such, though it is one too many as well.
      return value(end, values) ? refuse(set_fault::long_row, fault_at) : false;
    }
    if (!value(end, values)) return false;
    ++tokens;
  }
  if (left > 0) return refuse(set_fault::short_row, at);
  at = past;
  if (tokens == elements()) ++matrices;
  return true;
}

// fault_at is its first byte in any case.
bool set_parser::value(const char* end, value_buffer& values) {
  const char* const first = at;
  fault_at = first;
  const bool negative = *first == '-';
  const char* const mantissa = first + (negative || *first == '+');
  std::uint64_t m = 0;
  const char* p = digits::scan(mantissa, end, m);
  std::int64_t count = p - mantissa;
  std::int64_t exponent = 0;
  const bool point = p < end && *p == '.';
  if (point) {
    const char* const fraction = ++p;
    p = digits::scan(p, end, m);
    exponent = fraction - p;
    count -= exponent;
  }
  const bool power = p < end && (*p | 0x20) == 'e';
  if (count == 0 || count > 18 || power || !digits::composable(exponent)) [[unlikely]]
    return rare_value(end, values, point || power);
  if (p < end && !ends_word(*p)) return refuse(set_fault::bad_number, first);
  at = p;
  if (point) {
    const double magnitude = digits::compose(m, static_cast<int>(exponent));
    values.real(negative ? -magnitude : magnitude);
  } else {
    values.integer(negative ? -static_cast<std::int64_t>(m) : static_cast<std::int64_t>(m));
  }
  return true;
}

// No digits, many, or an exponent.
bool set_parser::rare_value(const char* end, value_buffer& values, bool is_real) {
  const auto taken = [&](const auto& number, set_fault overflow) {
    const bool whole = number.end == end || ends_word(*number.end);
    if (number.error == number_error::malformed || !whole) return refuse(set_fault::bad_number, at);
    if (number.error == number_error::overflow) return refuse(overflow, at);
    at = number.end;
    return true;
  };
  if (is_real) {
    const auto number = parse_real(at, end);
    if (!taken(number, set_fault::real_overflow)) return false;
    values.real(number.value);
  } else {
    const auto number = parse_integer(at, end);
    if (!taken(number, set_fault::integer_overflow)) return false;
    values.integer(number.value);
  }
  return true;
}

set_shape first_shape(const char* begin, const char* end) {
  set_shape shape;
  bool inside = false;
  for (const char* p = begin; p < end;) {
    const char* const feed = std::find(p, end, '\n');
    const char* q = skip_spaces(p, feed);
    if (q < feed && *q == '*') {
      if (inside) break;
      inside = true;
    } else if (inside && q < feed && *q != '\r') {
      ++shape.rows;
      for (; shape.rows == 1 && q < feed && *q != '\r'; q = skip_spaces(q, feed)) {
        ++shape.cols;
        while (q < feed && !is_space(*q) && *q != '\r') ++q;
      }
    }
    p = feed == end ? end : feed + 1;
  }
  return shape;
}

}  // namespace vouch
