#include <vouch/io/harwell_boeing.hpp>

#include <algorithm>
#include <array>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include <vouch/core/error.hpp>
#include <vouch/core/ieee_environment.hpp>
#include <vouch/core/loop_threads.hpp>
#include <vouch/io/fortran_format.hpp>
#include <vouch/text/digits.hpp>
#include <vouch/text/lines.hpp>
#include <vouch/text/tokens.hpp>

namespace vouch {
namespace {

constexpr std::int64_t most_rows = std::numeric_limits<std::int32_t>::max();

char upper(char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 32) : c; }

bool is_one_of(char c, std::string_view letters) { return letters.find(upper(c)) != letters.npos; }

bool is_type(std::string_view word) {
  return word.size() == 3 && is_one_of(word[0], "RCPIQ") && is_one_of(word[1], "SUHZR") &&
         is_one_of(word[2], "AE");
}

// Numbers in consecutive lines of one format.
struct section {
  enum { pointers, indices, values, rhs, ignored, skipped } what;  // ignored ones are parsed
  fortran_format format;
  std::int64_t count;
  std::int64_t first_line;

  std::int64_t lines() const { return format.lines(count); }
  std::int64_t end_line() const { return first_line + lines(); }
  std::int64_t line_of(std::int64_t k) const { return first_line + k / format.per_line; }
  std::int64_t column_of(std::int64_t k) const { return k % format.per_line * format.width + 1; }
};

// What the lines before the numbers say.
struct hb_header {
  matrix_market_header facts;
  std::vector<section> sections;

  const section& of(int what) const {
    return *std::find_if(sections.begin(), sections.end(), [what](const section& s) { return s.what == what; });
  }
};

// Takes the header off, line by line.
class header_reader {
 public:
  explicit header_reader(line_reader& reader) : reader_(reader) {}

  hb_header read() {
    take_line("title");
    take_line("line counts");
    const std::array<std::int64_t, 5> lines = take_line_counts();
    take_line("type and the sizes");
    take_type_and_sizes();
    take_line("formats");
    std::size_t at = 0;
    const fortran_format pointers = take_format(at, "pointers"), indices = take_format(at, "indices");
    if (!pointers.integers || !indices.integers)
      refuse({text_, 1}, "the formats of pointers and indices must be of integers", form);
    const bool has_values = header_.facts.field != matrix_field::pattern;
    const fortran_format values = has_values ? take_format(at, "values") : fortran_format{};
    const fortran_format rhs_format = lines[4] > 0 ? take_rhs_format(at) : fortran_format{};
    char parts[3] = {'F', ' ', ' '};
    if (lines[4] > 0) take_rhs_line(parts);

    next_ = reader_.lines() + 1;
    add(section::pointers, pointers, header_.facts.cols + 1, lines[1], "pointers");
    add(section::indices, indices, header_.facts.entries, lines[2], "indices");
    if (has_values) add(section::values, values, header_.facts.entries, lines[3], "values");
    const std::int64_t elements = header_.facts.rows * header_.facts.rhs;
    const std::int64_t before = next_;
    const bool full = is_one_of(parts[0], "F");
    if (!full) add(section::skipped, {}, lines[4], -1, "right-hand sides");
    if (full) add(section::rhs, rhs_format, elements, -1, "right-hand sides");
    if (full && is_one_of(parts[1], "G")) add(section::ignored, rhs_format, elements, -1, "starts");
    if (full && is_one_of(parts[2], "X")) add(section::ignored, rhs_format, elements, -1, "solutions");
    if (next_ - before != lines[4]) complain_of_count("right-hand sides", next_ - before, lines[4]);
    return std::move(header_);
  }

 private:
  static constexpr const char* form = "as (16I5) or (4E20.12)";

  [[noreturn]] void refuse(const token& at, const std::string& message, const std::string& hint = "") const {
    throw parse_error(reader_.path(), reader_.lines(), at.column, message, hint);
  }
  void take_line(const char* what) {
    if (!reader_.next_line(text_))
      throw parse_error(reader_.path(), reader_.lines() + 1, 0,
                        std::string("the file ends before the line of the ") + what, "it may be truncated");
  }
  std::int64_t count_in(const token& word, std::int64_t largest) const {
    const char* const last = word.text.data() + word.text.size();
    const auto number = parse_integer(word.text.data(), last);
    if (number.end != last || number.error == number_error::malformed)
      refuse(word, "expected a count, found " + quoted(word.text));
    if (number.error == number_error::overflow || number.value < 0 || number.value > largest)
      refuse(word,
             "the count " + std::string(word.text) + " does not lie from 0 to " + std::to_string(largest));
    return number.value;
  }
  // In all, of pointers, indices, values; of right-hand sides in Harwell-Boeing files alone.
  std::array<std::int64_t, 5> take_line_counts() const {
    std::array<std::int64_t, 5> counts{};
    tokens words(text_);
    token word;
    std::size_t found = 0;
    for (; words.next(word) && found < 5; ++found) counts[found] = count_in(word, reader_.most_bytes());
    if (found < 4) refuse(word, "expected four or five line counts");
    return counts;
  }
  void take_type_and_sizes() {
    tokens words(text_);
    token type, word;
    words.next(type);
    const char value = upper(type.text[0]), shape = upper(type.text[1]);
    matrix_market_header& h = header_.facts;
    h.file = reader_.path();
    h.container = "Harwell-Boeing";
    if (value == 'C' || shape == 'H')
      refuse(type, "complex matrices are not supported", "real, integer or pattern");
    if (upper(type.text[2]) == 'E')
      refuse(type, "a matrix of unassembled finite elements is not supported",
             "assemble it: type " + std::string(type.text.substr(0, 2)) + "A");
    h.field = value == 'R' ? matrix_field::real : value == 'I' ? matrix_field::integer : matrix_field::pattern;
    h.stored_as = shape == 'S'   ? symmetry::symmetric
                  : shape == 'Z' ? symmetry::skew_symmetric
                                 : symmetry::general;
    std::int64_t* const sizes[] = {&h.rows, &h.cols, &h.entries};
    for (std::int64_t* const size : sizes) {
      if (!words.next(word)) refuse(word, "the line ends before rows, columns and entries");
      *size = count_in(word, size == &h.entries ? std::numeric_limits<std::int64_t>::max() : most_rows);
      // Each column has a pointer of one byte at least, and each entry an index.
      if (size != &h.rows && *size > reader_.most_bytes())
        refuse(word, "the file has no room for so many", "it may be truncated");
    }
    if (h.stored_as != symmetry::general && h.rows != h.cols)
      refuse(word, "a symmetric matrix must be square, this is " + std::to_string(h.rows) + " by " +
                       std::to_string(h.cols));
  }
  fortran_format take_format(std::size_t& at, const char* what) const {
    const std::size_t start = text_.find('(', at), end = text_.find(')', std::min(start, text_.size()));
    if (end == text_.npos)
      refuse({text_, static_cast<std::int64_t>(at) + 1}, std::string("the format of ") + what + " is missing",
             form);
    at = end + 1;
    const std::string_view format = std::string_view(text_).substr(start, at - start);
    if (const auto found = parse_fortran_format(format)) return *found;
    refuse({format, static_cast<std::int64_t>(start) + 1},
           "the format " + quoted(format) + " is not understood", form);
  }
  // Pattern files may leave the one of values blank, or not.
  fortran_format take_rhs_format(std::size_t& at) const {
    if (header_.facts.field == matrix_field::pattern && std::count(text_.begin(), text_.end(), '(') > 3)
      take_format(at, "values");
    return take_format(at, "right-hand sides");
  }
  void take_rhs_line(char (&parts)[3]) {
    take_line("right-hand sides");
    const std::size_t letters = std::min(text_.find_first_of("0123456789"), text_.size());
    std::copy_n(text_.begin(), std::min<std::size_t>(letters, 3), parts);
    if (!is_one_of(parts[0], "F")) return;  // sparse ones, of the matrix's pattern
    tokens rest(std::string_view(text_).substr(letters));
    token word;
    if (!rest.next(word)) refuse({text_, 1}, "the number of right-hand sides is missing");
    word.column += static_cast<std::int64_t>(letters);
    header_.facts.rhs = count_in(word, most_rows);
    std::int64_t elements = 0;
    if (__builtin_mul_overflow(header_.facts.rows, header_.facts.rhs, &elements) ||
        elements > reader_.most_bytes())
      refuse(word, "the file has no room for so many", "it may be truncated");
  }
  [[noreturn]] void complain_of_count(const char* what, std::int64_t lines, std::int64_t declared) const {
    throw parse_error(reader_.path(), 2, 0,
                      std::to_string(declared) + " lines of " + what +
                          " declared, by number and format there are " + std::to_string(lines));
  }
  void add(decltype(section::what) what, const fortran_format& format, std::int64_t count,
           std::int64_t declared, const char* name) {
    header_.sections.push_back({what, format, count, next_});
    const std::int64_t lines = format.lines(count);
    if (declared >= 0 && lines != declared) complain_of_count(name, lines, declared);
    next_ += lines;
  }

  line_reader& reader_;
  hb_header header_;
  std::string text_;
  std::int64_t next_ = 0;  // line
};

// Where the numbers go.
struct hb_target {
  std::int64_t* start;
  std::int32_t* row;
  double* val;
  double* rhs;
};

// Parses blocks of lines.
class number_reader {
 public:
  number_reader(const std::string& file, const hb_header& header, read_as what, const hb_target& to)
      : file_(file), header_(header), what_(what), to_(to) {}

  void parse(const line_block& block) const {
    auto at = header_.sections.begin();
    std::int64_t number = block.first_line;
    for (const char* p = block.begin; p < block.end; ++number) {
      const char* const feed = std::find(p, block.end, '\n');
      while (at != header_.sections.end() && number >= at->end_line()) ++at;
      std::string_view line(p, static_cast<std::size_t>(feed - p));
      if (line.ends_with('\r')) line.remove_suffix(1);
      if (at != header_.sections.end() && at->what != section::skipped)
        parse_line(*at, line, number);
      else if (at == header_.sections.end() && !is_blank(line))
        throw parse_error(file_, number, 1, "more lines than the header declares");
      p = feed + 1;
    }
  }

 private:
  // Numbers first to last - 1 of a section stand on one line.
  struct numbers_of_line {
    std::int64_t first, last;
  };
  static numbers_of_line numbers_on(const section& s, std::int64_t number) {
    const std::int64_t first = (number - s.first_line) * s.format.per_line;
    return {first, std::min(first + s.format.per_line, s.count)};
  }
  // The field at column `at`, from 0, without blanks around it.
  static token field_at(std::string_view line, std::size_t at, std::size_t width) {
    std::string_view field = at < line.size() ? line.substr(at, width) : std::string_view();
    const std::size_t blanks = std::min(field.find_first_not_of(' '), field.size());
    field.remove_prefix(blanks);
    while (field.ends_with(' ')) field.remove_suffix(1);
    return {field, static_cast<std::int64_t>(std::min(at + blanks, line.size())) + 1};
  }

  void parse_line(const section& s, std::string_view line, std::int64_t number) const {
    if (!take_fields(s, line, number) && !take_words(s, line, number)) complain(s, line, number);
  }
  bool take_fields(const section& s, std::string_view line, std::int64_t number) const {
    const auto [first, last] = numbers_on(s, number);
    const auto width = static_cast<std::size_t>(s.format.width);
    std::size_t at = 0;
    for (std::int64_t k = first; k < last; ++k, at += width)
      if (!take(s, k, field_at(line, at, width).text)) return false;
    return at >= line.size() || is_blank(line.substr(at));
  }
  // Some programs write other columns than their formats say, with blanks between the numbers.
  bool take_words(const section& s, std::string_view line, std::int64_t number) const {
    const auto [first, last] = numbers_on(s, number);
    tokens words(line);
    token word;
    for (std::int64_t k = first; k < last; ++k)
      if (!words.next(word) || !take(s, k, word.text)) return false;
    return !words.next(word);
  }

  bool take(const section& s, std::int64_t k, std::string_view word) const {
    std::int64_t index = 0;
    if (s.what == section::pointers) {
      if (!integer(word, header_.facts.entries + 1, index)) return false;
      to_.start[k] = index - 1;
    } else if (s.what == section::indices) {
      if (!integer(word, header_.facts.rows, index)) return false;
      to_.row[k] = static_cast<std::int32_t>(index - 1);
    } else {
      double value = 0;
      if (!real(s, word, value)) return false;
      if (s.what == section::values) to_.val[k] = value;
      if (s.what == section::rhs) to_.rhs[k] = value;
    }
    return true;
  }
  static bool integer(std::string_view word, std::int64_t largest, std::int64_t& value) {
    const char* const last = word.data() + word.size();
    std::uint64_t plain = 0;
    if (word.empty() || word.size() > 18 || digits::scan(word.data(), last, plain) != last) return false;
    value = static_cast<std::int64_t>(plain);
    return value >= 1 && value <= largest;
  }
  bool real(const section& s, std::string_view word, double& value) const {
    const char* const last = word.data() + word.size();
    if (s.format.integers) {
      const auto whole = parse_integer(word.data(), last);
      value = what_ == read_as::radius ? 0 : static_cast<double>(whole.value);
      return whole.error == number_error::none && whole.end == last;
    }
    const auto found = parse_fortran_real(word, s.format, what_);
    value = found.value;
    return found.error == number_error::none && found.end == last;
  }

  // What is wrong with a line, by the columns of its format.
  [[noreturn]] void complain(const section& s, std::string_view line, std::int64_t number) const {
    const auto [first, last] = numbers_on(s, number);
    const auto width = static_cast<std::size_t>(s.format.width);
    std::size_t at = 0;
    for (std::int64_t k = first; k < last; ++k, at += width) {
      const token word = field_at(line, at, width);
      if (word.text.empty())
        refuse(
            number, word,
            "number " + std::to_string(k - first + 1) + " of " + std::to_string(last - first) + " is missing");
      if (!take(s, k, word.text)) complain_of(s, word, number);
    }
    const std::size_t more = std::min(line.find_first_not_of(" \t", at), line.size());
    refuse(number, {line.substr(more), static_cast<std::int64_t>(more) + 1},
           "unexpected " + quoted(line.substr(more)) + " behind the numbers of the line");
  }
  [[noreturn]] void complain_of(const section& s, const token& word, std::int64_t number) const {
    const char* const first = word.text.data();
    const char* const last = first + word.text.size();
    const bool index = s.what == section::pointers || s.what == section::indices;
    const auto whole = parse_integer(first, last);
    if (index) {
      const std::string what = s.what == section::pointers ? "pointer" : "row";
      if (whole.error == number_error::malformed || whole.end != last)
        refuse(number, word, "expected a " + what + ", found " + quoted(word.text));
      refuse(number, word,
             what + " " + std::string(word.text) + " does not lie from 1 to " +
                 std::to_string(s.what == section::pointers ? header_.facts.entries + 1 : header_.facts.rows));
    }
    if (s.format.integers && whole.error == number_error::overflow)
      refuse(number, word, quoted(word.text) + " overflows 64-bit integers");
    if (s.format.integers) refuse(number, word, "expected an integer, found " + quoted(word.text));
    const auto plain = parse_real(first, last);
    if (plain.error == number_error::none && plain.end == last)
      refuse(
          number, word,
          quoted(word.text) + " has no decimal point or no exponent: readers of the file's format differ on it",
          "Fortran puts the point where the format says; write it");
    refuse(number, word, not_a_number(word.text));
  }
  [[noreturn]] void refuse(std::int64_t line, const token& at, const std::string& message,
                           const char* hint = "") const {
    throw parse_error(file_, line, at.column, message, hint);
  }

  const std::string& file_;
  const hb_header& header_;
  read_as what_;
  hb_target to_;
};

void check_complete(const line_reader& reader, const hb_header& header) {
  const std::int64_t needed = header.sections.back().end_line() - 1;
  if (reader.lines() < needed)
    throw parse_error(
        reader.path(), reader.lines(), 0,
        "the file ends after " + std::to_string(reader.lines()) + " of " + std::to_string(needed) + " lines",
        "it may be truncated");
}

[[noreturn]] void refuse_number(const std::string& file, const section& s, std::int64_t k,
                                const std::string& what, const char* hint) {
  throw parse_error(file, s.line_of(k), s.column_of(k), what, hint);
}

void check_pointers(const std::string& file, const hb_header& header, const array<std::int64_t>& start) {
  const section& s = header.of(section::pointers);
  for (std::int64_t j = 0; j < start.size(); ++j)
    if (start[j] < (j == 0 ? 0 : start[j - 1]) || (j == 0 && start[j] != 0))
      refuse_number(file, s, j, "pointer " + std::to_string(start[j] + 1) + " is out of order",
                    "they ascend from 1");
  if (start[header.facts.cols] != header.facts.entries)
    refuse_number(file, s, header.facts.cols,
                  "the last pointer is " + std::to_string(start[header.facts.cols] + 1) + ", expected " +
                      std::to_string(header.facts.entries + 1),
                  "one more than the entries");
}

// The triangle that is not stored must be empty.
void check_triangle(const std::string& file, const hb_header& header, const coo& A, int threads) {
  if (A.stored_as == symmetry::general) return;
  const std::int64_t below = A.stored_as == symmetry::skew_symmetric ? 1 : 0, count = A.row.size();
  std::int64_t bad = count;
#pragma omp parallel for firstprivate(ieee) num_threads(loop_threads(threads, count)) schedule(static) \
    reduction(min                                                                                      \
              : bad)
  for (std::int64_t k = 0; k < count; ++k)
    if (A.row[k] < A.col[k] + below) bad = std::min(bad, k);
  if (bad < count)
    refuse_number(
        file, header.of(section::indices), bad,
        "row " + std::to_string(A.row[bad] + 1) + " of column " + std::to_string(A.col[bad] + 1) +
            " lies above what is stored of a symmetric matrix",
        below > 0 ? "only the triangle below the diagonal is stored" : "only the lower triangle is stored");
}

}  // namespace

bool is_harwell_boeing(std::string_view start) {
  for (int lines = 0; lines < 2; ++lines) {
    const std::size_t feed = start.find('\n');
    if (feed == start.npos) return false;
    start.remove_prefix(feed + 1);
  }
  return start.size() > 3 && (start[3] == ' ' || start[3] == '\t') && is_type(start.substr(0, 3));
}

harwell_boeing read_harwell_boeing(const device& cpu, input_file file, read_as what) {
  const ieee_environment here;
  line_reader reader(std::move(file));
  const hb_header header = header_reader(reader).read();
  const matrix_market_header& h = header.facts;
  harwell_boeing result{h,
                        {h.rows, h.cols, h.stored_as, array<std::int32_t>(cpu, h.entries),
                         array<std::int32_t>(cpu, h.entries), array<double>(cpu, h.entries)},
                        {h.rows, h.rhs, array<double>(cpu, h.rows * h.rhs)}};
  coo& A = result.A;
  array<std::int64_t> start(cpu, h.cols + 1);
  const number_reader numbers(reader.path(), header, what,
                              {start.data(), A.row.data(), A.val.data(), result.rhs.values.data()});
  for_each_block(reader, cpu.threads(), [&](const line_block& block) { numbers.parse(block); });
  check_complete(reader, header);
  check_pointers(reader.path(), header, start);
#pragma omp parallel for firstprivate(ieee) num_threads(loop_threads(cpu, h.entries)) schedule(static)
  for (std::int64_t j = 0; j < h.cols; ++j)
    std::fill(A.col.begin() + start[j], A.col.begin() + start[j + 1], static_cast<std::int32_t>(j));
  if (h.field == matrix_field::pattern)
    std::fill(A.val.begin(), A.val.end(), what == read_as::radius ? 0.0 : 1.0);
  check_triangle(reader.path(), header, A, cpu.threads());
  return result;
}

}  // namespace vouch
