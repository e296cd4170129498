#include <vouch/reduce/set_text.hpp>

#include <algorithm>
#include <cstring>
#include <memory>

#include <vouch/core/error.hpp>
#include <vouch/text/digits.hpp>
#include <vouch/text/lines.hpp>
#include <vouch/text/number.hpp>
#include <vouch/text/tokens.hpp>

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

namespace {

struct line_column {
  std::int64_t line = 0;
  std::int64_t column = 0;
};

line_column locate(const text_place& place, const char* at) {
  const std::int64_t feeds = std::count(place.begin, at, '\n');
  const char* start = at;
  while (start > place.begin && start[-1] != '\n') --start;
  return {place.first_line + feeds, at - start + 1};
}

[[noreturn]] void complain(const text_place& place, const char* at, const std::string& message,
                           const std::string& hint = {}) {
  const line_column where = locate(place, at);
  throw parse_error(place.file, where.line, where.column, message, hint);
}

std::string_view line_at(const char* p, const char* end) {
  const char* feed = std::find(p, end, '\n');
  if (feed > p && feed[-1] == '\r') --feed;
  return {p, static_cast<std::size_t>(feed - p)};
}

std::string_view word_at(const char* p, const char* end) {
  token word;
  tokens(line_at(p, end)).next(word);
  return word.text;
}

std::string numbers(std::int64_t n) { return std::to_string(n) + (n == 1 ? " number" : " numbers"); }

std::string announced(std::int64_t n) { return "the first line announces " + std::to_string(n); }

std::string complaint(const text_place& place, const set_parser& parser) {
  const set_shape shape = parser.shape;
  const bool inside = parser.tokens < parser.elements();
  const std::int64_t number = place.matrices + parser.matrices + inside;
  const std::string matrix = "matrix " + std::to_string(number);
  const std::string row = "row " + std::to_string(parser.tokens / shape.cols + 1) + " of " + matrix;
  const std::string_view word = word_at(parser.fault_at, place.end);
  switch (parser.fault) {
    case set_fault::no_separator:
      return "expected a line of three asterisks before the first matrix, found " + quoted(word);
    case set_fault::bad_separator:
      return "expected three asterisks alone on the line, found " + quoted(line_at(parser.fault_at, place.end));
    case set_fault::empty_matrix:
      return matrix + " has no rows";
    case set_fault::few_rows:
      return matrix + " has " + std::to_string(parser.tokens / shape.cols) + " of " +
             std::to_string(shape.rows) + " rows";
    case set_fault::many_rows:
      return matrix + " has more than " + std::to_string(shape.rows) + " rows";
    case set_fault::short_row: {
      // The last number of a full row has been counted already.
      const std::int64_t found = parser.tokens % shape.cols;
      return row + " has " + numbers(found) + ", not " + std::to_string(shape.cols);
    }
    case set_fault::long_row: {
      const std::string full = "row " + std::to_string(parser.tokens / shape.cols) + " of " + "matrix " +
                               std::to_string(place.matrices + parser.matrices + 1);
      return full + " has more than " + numbers(shape.cols);
    }
    case set_fault::integer_overflow:
      return quoted(word) + " is beyond integers of 64 bits";
    case set_fault::many_matrices:
      return "more matrices than the " + std::to_string(place.announced) + " that the first line announces";
    case set_fault::real_overflow:
    case set_fault::bad_number:
    case set_fault::none:
      break;
  }
  return not_a_number(word);
}

}  // namespace

void throw_first_fault(const text_place& place, set_shape shape, bool end_of_file) {
  accumulator nothing(shape.rows * shape.cols, reduce_needs({}));
  const auto values = std::make_unique<value_buffer>(nothing);
  set_parser parser(shape, place.begin);
  parser.parse(place.end, *values, place.announced - place.matrices);
  if (parser.fault == set_fault::none && parser.at < place.end) {
    parser.fault = set_fault::many_matrices;
    parser.fault_at = parser.at;
  }
  parser.finish(place.end, end_of_file);
  if (parser.fault == set_fault::none) throw_too_few(place);
  complain(place, parser.fault_at, complaint(place, parser));
}

void throw_too_few(const text_place& place) {
  complain(place, place.end,
           "the file ends after " + std::to_string(place.matrices) +
               (place.matrices == 1 ? " matrix, " : " matrices, ") + announced(place.announced),
           "the file may be truncated");
}

set_header parse_set_header(const std::string& file, const char* begin, const char* end) {
  const text_place place{file, begin, end, 1, 0, 0};
  const char* p = begin;
  std::string_view line;
  while (p < end && is_blank(line = line_at(p, end))) p = std::min(std::find(p, end, '\n') + 1, end);
  if (p >= end) complain(place, end, "the file is empty", "the first line holds the number of matrices");
  tokens words(line);
  token word;
  words.next(word);
  const char* const first = word.text.data();
  const auto number = parse_integer(first, first + word.text.size());
  if (number.error == number_error::malformed || number.end != first + word.text.size())
    complain(place, first, "expected the number of matrices, found " + quoted(word.text));
  if (number.error == number_error::overflow)
    complain(place, first, quoted(word.text) + " is beyond integers of 64 bits");
  if (number.value < 0) complain(place, first, "the number of matrices is negative: " + quoted(word.text));
  if (number.value == 0) complain(place, first, "the set is empty");
  if (token more; words.next(more))
    complain(place, more.text.data(),
             "expected the number of matrices alone on its line, found " + quoted(more.text));
  const char* const feed = std::find(p, end, '\n');
  return {number.value, feed == end ? end : feed + 1};
}

}  // namespace vouch
