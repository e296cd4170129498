// vouch/reduce/text_automaton.hpp -- the grammar of a matrix set, byte by byte, for one GPU thread of many;
// private. It compiles for the host too, where tests run it.
#pragma once
#include <cstdint>

#include <vouch/core/types.hpp>
#include <vouch/text/compose.hpp>

namespace vouch {

inline constexpr int strip_bytes = 256;
inline constexpr int most_integer_digits = 8;   // so that all integers are below accumulator::narrow_limit
inline constexpr int most_decimal_digits = 18;  // so that they fit 64 bits
inline constexpr int most_exact_digits = 15;    // of an integer among decimals, so that it is a double

/// A chunk of text, and what is wanted of it.
struct parse_task {
  const char* text;  // aligned to 8 bytes, readable up to 8 bytes behind end
  std::int64_t begin, end;
  bool end_of_file;
  int cols, elements;
  bool least, most, sums, magnitudes;  // of the last two only integers
};

/// What a strip of the text turned out to be.
struct strip_result {
  bool irregular = false;  // or simply wrong
  bool points = false;
  unsigned matrices = 0;
};

/// The strict parser's rules as an automaton over bytes. It is stricter in one thing: numbers of many digits or
/// with an exponent are irregular.
template <bool Decimals, class Parts>
struct automaton {
  enum line_kind { blank, row, separator };
  enum number_state { none, sign, digits };

  const parse_task& task;
  const Parts& parts;
  std::int64_t strip_end;

  std::int64_t line_start = 0;
  bool searching = true;  // for the first separator of the strip
  bool done = false;
  bool irregular = false;
  bool points = false;
  unsigned matrices = 0;
  int element = 0;  // of the current matrix; all of them: complete, or none yet
  int in_row = 0;
  line_kind kind = blank;
  int stars = 0;
  bool star_before = false, carriage = false;
  number_state number = none;
  bool negative = false, point = false;
  int count = 0, fraction = 0;  // digits
  unsigned long long magnitude = 0;

  VOUCH_HOST_DEVICE automaton(const parse_task& t, const Parts& p, std::int64_t end)
      : task(t), parts(p), strip_end(end), element(t.elements) {}

  VOUCH_HOST_DEVICE void refuse() { irregular = done = true; }

  VOUCH_HOST_DEVICE void step(char c, std::int64_t at) {
    if (c == '\n') return end_line(at);
    if (carriage) return refuse();
    const bool white = c == ' ' || c == '\t';
    if (searching) {
      // Only the first byte of a line that is not blank is looked at.
      if (kind == blank && !white) {
        if (c != '*') {
          kind = row;
          return;
        }
        searching = false;
      } else {
        return;
      }
    }
    if (number != none && (white || c == '\r')) end_number();
    if (c == '*')
      star();
    else if (c >= '0' && c <= '9')
      digit(c - '0');
    else if (c == '-' || c == '+' || c == '.')
      mark(c);
    else if (!white && c != '\r')
      refuse();
    carriage = c == '\r';
    star_before = c == '*';
  }

  VOUCH_HOST_DEVICE void end_line(std::int64_t at) {
    if (!searching) {
      if (number != none) end_number();
      if (kind == separator && stars != 3) refuse();
      if (kind == row) end_row();
    }
    kind = blank;
    carriage = star_before = false;
    stars = in_row = 0;
    line_start = at + 1;
    if (searching && line_start >= strip_end) done = true;
  }
  VOUCH_HOST_DEVICE void end_row() {
    if (in_row != task.cols) refuse();
    matrices += element == task.elements;
  }

  VOUCH_HOST_DEVICE void star() {
    if (kind == separator) {
      if (!star_before || ++stars > 3) refuse();
      return;
    }
    if (kind == row || element != task.elements) return refuse();
    if (line_start >= strip_end) {  // the next thread's
      done = true;
      return;
    }
    kind = separator;
    stars = 1;
    element = 0;
  }

  VOUCH_HOST_DEVICE void begin_number() {
    if (kind == separator || element == task.elements || in_row == task.cols) refuse();
    kind = row;
    negative = point = false;
    count = fraction = 0;
    magnitude = 0;
  }
  VOUCH_HOST_DEVICE void digit(int value) {
    if (number == none) begin_number();
    number = digits;
    magnitude = 10 * magnitude + static_cast<unsigned>(value);
    fraction += point;
    if (++count > (Decimals ? most_decimal_digits : most_integer_digits)) refuse();
  }
  VOUCH_HOST_DEVICE void mark(char c) {
    if (c == '.') {
      if (!Decimals) return refuse();
      if (number == none) begin_number();
      if (point) refuse();
      point = points = true;
      if (number == none) number = sign;  // digits must follow, if none came before
      return;
    }
    if (number != none) return refuse();
    begin_number();
    number = sign;
    negative = c == '-';
  }
  VOUCH_HOST_DEVICE void end_number() {
    if (number == sign || irregular) return refuse();
    if constexpr (Decimals) {
      if (!point && count > most_exact_digits) return refuse();
      const double value = digits::compose(magnitude, -fraction);
      parts.take(task, element, negative ? 0 - value : value);
    } else {
      parts.take(task, element, negative ? -static_cast<int>(magnitude) : static_cast<int>(magnitude));
    }
    number = none;
    ++element;
    ++in_row;
  }

  // The text is over: its last line may lack a line feed, a separator may end the file.
  VOUCH_HOST_DEVICE void finish() {
    if (done || searching) return;
    end_line(task.end);
    const bool ended = element == task.elements || (task.end_of_file && element == 0);
    if (!ended) refuse();
  }
};

// Whether a line starts at a place of the text.
VOUCH_HOST_DEVICE inline bool starts_line(const parse_task& task, std::int64_t at) {
  return at == task.begin || task.text[at - 1] == '\n';
}

/// Reads the matrices whose separators' lines start in strip number `strip` of the text, and on until the next
/// one's. parts.take(task, element, value) is given every value.
template <bool Decimals, class Parts>
VOUCH_HOST_DEVICE strip_result read_strip(const parse_task& task, const Parts& parts, std::int64_t strip) {
  const std::int64_t from = task.begin + strip * strip_bytes;
  if (from >= task.end) return {};
  const std::int64_t next = from + strip_bytes;
  automaton<Decimals, Parts> reader(task, parts, next < task.end ? next : task.end);
  reader.line_start = from;
  if (strip == 0) reader.searching = false;  // only blank lines may be before the first separator
  // In the middle of a line nothing begins: it is searched as if a row had been seen.
  if (!starts_line(task, from)) reader.kind = automaton<Decimals, Parts>::row;
  for (std::int64_t at = from; !reader.done && at < task.end;) {
    const std::int64_t word_at = at / 8 * 8, word_end = word_at + 8 < task.end ? word_at + 8 : task.end;
    auto word = *reinterpret_cast<const unsigned long long*>(task.text + word_at) >> (8 * (at - word_at));
    for (; at < word_end && !reader.done; ++at, word >>= 8) reader.step(static_cast<char>(word & 0xff), at);
  }
  reader.finish();
  return {reader.irregular, reader.points, reader.matrices};
}

}  // namespace vouch
