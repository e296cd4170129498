#include <algorithm>
#include <memory>

#include <vouch/core/error.hpp>
#include <vouch/reduce/set_text.hpp>
#include <vouch/text/lines.hpp>
#include <vouch/text/number.hpp>
#include <vouch/text/tokens.hpp>

namespace vouch {
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

[[noreturn]] void refuse(const text_place& place, const char* at, const std::string& message,
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
  refuse(place, parser.fault_at, complaint(place, parser));
}

void throw_too_few(const text_place& place) {
  refuse(place, place.end,
         "the file ends after " + std::to_string(place.matrices) +
             (place.matrices == 1 ? " matrix, " : " matrices, ") + announced(place.announced),
         "the file may be truncated");
}

set_header parse_set_header(const std::string& file, const char* begin, const char* end) {
  const text_place place{file, begin, end, 1, 0, 0};
  const char* p = begin;
  std::string_view line;
  while (p < end && is_blank(line = line_at(p, end))) p = std::min(std::find(p, end, '\n') + 1, end);
  if (p >= end) refuse(place, end, "the file is empty", "the first line holds the number of matrices");
  tokens words(line);
  token word;
  words.next(word);
  const char* const first = word.text.data();
  const auto number = parse_integer(first, first + word.text.size());
  if (number.error == number_error::malformed || number.end != first + word.text.size())
    refuse(place, first, "expected the number of matrices, found " + quoted(word.text));
  if (number.error == number_error::overflow)
    refuse(place, first, quoted(word.text) + " is beyond integers of 64 bits");
  if (number.value < 0) refuse(place, first, "the number of matrices is negative: " + quoted(word.text));
  if (number.value == 0) refuse(place, first, "the set is empty");
  if (token more; words.next(more))
    refuse(place, more.text.data(),
           "expected the number of matrices alone on its line, found " + quoted(more.text));
  const char* const feed = std::find(p, end, '\n');
  return {number.value, feed == end ? end : feed + 1};
}

}  // namespace vouch
