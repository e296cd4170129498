#include <vouch/io/matrix_market_parts.hpp>

#include <algorithm>
#include <limits>

#include <vouch/core/error.hpp>
#include <vouch/io/matrix_file.hpp>
#include <vouch/io/npz.hpp>
#include <vouch/text/number.hpp>
#include <vouch/text/tokens.hpp>

namespace vouch {
namespace {

// One line of the header and the place for complaints.
struct header_line {
  const std::string& file;
  std::int64_t number;
  tokens words;

  [[noreturn]] void refuse(const token& at, const std::string& message, const char* hint = "") const {
    throw parse_error(file, number, at.column, message, hint);
  }
  token take(const char* what, const char* hint) {
    token word;
    if (!words.next(word)) refuse(word, std::string("the line ends before the ") + what, hint);
    return word;
  }
  void end() {
    token word;
    if (words.next(word)) refuse(word, "unexpected " + quoted(word.text) + " at the end of the line");
  }
};

constexpr const char* form = "the first line reads: %%MatrixMarket matrix coordinate|array FIELD SYMMETRY";
constexpr const char* fields = "real, complex, integer or pattern";
constexpr const char* symmetries = "general, symmetric, skew-symmetric or hermitian";

void take_banner_word(header_line& line, const token& word) {
  if (same_word(word.text, "%%MatrixMarket") && word.column == 1) return;
  if (same_word(word.text, "%MatrixMarket"))
    line.refuse(word, "expected %%MatrixMarket with two percent signs", form);
  line.refuse({word.text, 1}, "expected %%MatrixMarket, found " + quoted(word.text), form);
}

matrix_format take_format(header_line& line) {
  const token word = line.take("format", form);
  if (same_word(word.text, "coordinate")) return matrix_format::coordinate;
  if (same_word(word.text, "array")) return matrix_format::array;
  line.refuse(word, "unknown format " + quoted(word.text), "coordinate or array");
}

matrix_field take_field(header_line& line) {
  const token word = line.take("field", fields);
  if (same_word(word.text, "real")) return matrix_field::real;
  if (same_word(word.text, "integer")) return matrix_field::integer;
  if (same_word(word.text, "pattern")) return matrix_field::pattern;
  if (same_word(word.text, "complex")) return matrix_field::complex;
  line.refuse(word, "unknown field " + quoted(word.text), fields);
}

symmetry take_symmetry(header_line& line) {
  const token word = line.take("symmetry", symmetries);
  if (same_word(word.text, "general")) return symmetry::general;
  if (same_word(word.text, "symmetric")) return symmetry::symmetric;
  if (same_word(word.text, "skew-symmetric")) return symmetry::skew_symmetric;
  if (same_word(word.text, "hermitian")) return symmetry::hermitian;
  if (same_word(word.text, "skew-hermitian"))
    line.refuse(word, "skew-hermitian is no symmetry of the format", "write the matrix as general");
  line.refuse(word, "unknown symmetry " + quoted(word.text), symmetries);
}

void take_banner(header_line& line, matrix_market_header& header) {
  token word;
  if (!line.words.next(word)) line.refuse(word, "expected %%MatrixMarket, found an empty line", form);
  take_banner_word(line, word);
  const token object = line.take("object", form);
  if (!same_word(object.text, "matrix"))
    line.refuse(object, "unknown object " + quoted(object.text),
                "only matrix; vectors are matrices of one column");
  header.format = take_format(line);
  header.field = take_field(line);
  header.stored_as = take_symmetry(line);
  line.end();
  if (header.field == matrix_field::pattern && header.format == matrix_format::array)
    line.refuse({}, "an array cannot have the field pattern");
  if (header.field == matrix_field::pattern && header.stored_as == symmetry::skew_symmetric)
    line.refuse({}, "a pattern cannot be skew-symmetric");
  if (header.stored_as == symmetry::hermitian && header.field != matrix_field::complex)
    line.refuse({}, std::string("hermitian is of complex matrices, the field is ") + name(header.field),
                "a real one is symmetric");
}

std::int64_t take_count(header_line& line, const char* what, std::int64_t largest, token& word) {
  word = line.take(what, "the size line reads: ROWS COLUMNS, and ENTRIES for coordinate files");
  const char* const last = word.text.data() + word.text.size();
  const auto number = parse_integer(word.text.data(), last);
  if (number.error == number_error::malformed || number.end != last)
    line.refuse(word, std::string("expected the ") + what + ", found " + quoted(word.text));
  if (number.error == number_error::none && number.value < 0)
    line.refuse(word, std::string("the ") + what + " cannot be negative");
  if (number.error == number_error::overflow || number.value > largest)
    line.refuse(word, std::string("the ") + what + ", " + std::string(word.text) + ", exceeds " +
                          std::to_string(largest));
  return number.value;
}

std::int64_t array_elements(const matrix_market_header& header) {
  if (holds_lower_triangle(header.stored_as)) return header.rows * (header.rows + 1) / 2;
  if (header.stored_as == symmetry::skew_symmetric)
    return header.rows * std::max<std::int64_t>(header.rows - 1, 0) / 2;
  return header.rows * header.cols;
}

std::int64_t shortest_line(const matrix_market_header& header) {
  const std::int64_t value = header.field == matrix_field::complex ? 4 : 2;  // "0 0", "0" and a line feed
  if (header.format == matrix_format::array) return value;
  return header.field == matrix_field::pattern ? 4 : 4 + value;  // "1 1", "1 1 0"
}

void take_size(header_line& line, matrix_market_header& header, std::int64_t most_bytes) {
  constexpr std::int64_t most = std::numeric_limits<std::int32_t>::max();
  token word;
  token cols;
  header.rows = take_count(line, "number of rows", most, word);
  header.cols = take_count(line, "number of columns", most, cols);
  if (header.format == matrix_format::array)
    header.entries = array_elements(header);
  else
    header.entries = take_count(line, "number of entries", std::numeric_limits<std::int64_t>::max(), word);
  line.end();
  if (header.stored_as != symmetry::general && header.rows != header.cols)
    line.refuse(cols, std::string("a ") + name(header.stored_as) + " matrix must be square, this is " +
                          std::to_string(header.rows) + " by " + std::to_string(header.cols));
  // The last line may lack its line feed.
  const std::int64_t room = most_bytes / shortest_line(header) + 1;
  if (header.entries > room)
    line.refuse(word,
                std::to_string(header.entries) + " entries declared, the file has room for at most " +
                    std::to_string(room),
                "it may be truncated");
}

}  // namespace

const char* name(matrix_format format) { return format == matrix_format::array ? "array" : "coordinate"; }

const char* name(matrix_field field) {
  if (field == matrix_field::real) return "real";
  if (field == matrix_field::complex) return "complex";
  return field == matrix_field::integer ? "integer" : "pattern";
}

const char* name(symmetry stored_as) {
  if (stored_as == symmetry::general) return "general";
  if (stored_as == symmetry::hermitian) return "hermitian";
  return stored_as == symmetry::symmetric ? "symmetric" : "skew-symmetric";
}

matrix_market_header take_matrix_market_header(line_reader& reader) {
  matrix_market_header header;
  header.file = reader.path();
  std::string text;
  if (!reader.next_line(text)) throw parse_error(header.file, 1, 1, "the file is empty", form);
  if (is_zip(text))
    throw parse_error(header.file, 0, 0, "a zip archive (.npz), not a Matrix Market file",
                      "--batch reads arrays of tridiagonal systems from it; write a matrix as .mtx or .npy");
  if (const std::size_t at = text.find('\r'); at != text.npos)
    throw parse_error(header.file, 1, static_cast<std::int64_t>(at) + 1, "a carriage return inside the line",
                      "lines end in LF or CR LF");
  header_line banner{header.file, 1, tokens(text)};
  take_banner(banner, header);
  while (reader.next_line(text)) {
    if (text.starts_with('%') || is_blank(text)) continue;
    header_line size{header.file, reader.lines(), tokens(text)};
    take_size(size, header, reader.most_bytes());
    return header;
  }
  throw parse_error(header.file, reader.lines(), 0, "the file ends before the size line");
}

void require_real(const matrix_market_header& header, const char* hint) {
  if (header.field != matrix_field::complex) return;
  throw parse_error(header.file, 1, 0, "the matrix is complex, and what was asked for takes real numbers alone",
                    hint);
}

matrix_market_header read_matrix_market_header(const std::string& path) {
  line_reader reader{open_part(path)};
  return take_matrix_market_header(reader);
}

}  // namespace vouch
