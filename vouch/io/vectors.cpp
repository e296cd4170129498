#include <algorithm>
#include <cmath>
#include <complex>
#include <concepts>
#include <deque>
#include <mutex>
#include <vector>

#include <vouch/core/error.hpp>
#include <vouch/core/ieee_environment.hpp>
#include <vouch/io/matrix_file.hpp>
#include <vouch/io/matrix_market_parts.hpp>
#include <vouch/io/npy.hpp>
#include <vouch/io/vectors.hpp>
#include <vouch/text/lines.hpp>
#include <vouch/text/number.hpp>
#include <vouch/text/ordered_writer.hpp>
#include <vouch/text/tokens.hpp>

namespace vouch {
namespace {

// Both triangles of a matrix of which elements has one, column by column: signs of zeros are kept.
template <class T>
array<T> both_triangles(const device& cpu, const matrix_market_header& header, const array<T>& elements) {
  const std::int64_t n = header.rows, below = holds_lower_triangle(header.stored_as) ? 0 : 1;
  const auto mirrored = [&](T value) -> T {
    if constexpr (std::same_as<T, std::complex<double>>)
      if (header.stored_as == symmetry::hermitian) return std::conj(value);
    return header.stored_as == symmetry::skew_symmetric ? -value : value;
  };
  array<T> whole = array<T>::zeros(cpu, n * n);
  std::int64_t next = 0;
  for (std::int64_t j = 0; j < n; ++j)
    for (std::int64_t i = j + below; i < n; ++i) {
      const T value = elements[next++];
      whole[j * n + i] = value;
      if (i != j) whole[i * n + j] = mirrored(value);
    }
  return whole;
}

// As Vectors; read(...) reads a coordinate file. A general array is already in the order of the result.
template <class Vectors, class T, class Read>
Vectors read_columns(const device& cpu, line_reader& reader, const matrix_market_header& header, Read read) {
  if (header.format == matrix_format::array) {
    array<T> elements = read_array_elements<T>(cpu, reader, header);
    if (header.stored_as != symmetry::general) elements = both_triangles(cpu, header, elements);
    return {header.rows, header.cols, std::move(elements)};
  }
  const csr<T> A = read(cpu, reader, header);
  Vectors result{A.rows, A.cols, array<T>::zeros(cpu, A.rows * A.cols)};
  for (std::int64_t i = 0; i < A.rows; ++i)
    for (std::int64_t k = A.row_ptr[i]; k < A.row_ptr[i + 1]; ++k)
      result.values[A.col[k] * A.rows + i] = A.val[k];
  return result;
}

std::variant<vectors, complex_vectors> read_matrix_market_vectors(const device& cpu, line_reader& reader,
                                                                  const matrix_market_header& header) {
  using complex = std::complex<double>;
  if (header.field == matrix_field::complex)
    return read_columns<complex_vectors, complex>(cpu, reader, header,
                                                  [](auto&... all) { return read_complex_csr(all...); });
  return read_columns<vectors, double>(cpu, reader, header, [](auto&... all) { return read_csr(all...); });
}

// The numbers of one block, row by row.
struct text_rows {
  std::vector<double> values;
  std::int64_t rows = 0;
  std::int64_t cols = 0;
  std::int64_t first_line = 0;  // that holds a row
  std::int64_t first_cols = 0;  // numbers on it
};

class text_parser {
 public:
  explicit text_parser(const std::string& file) : file_(file) {}

  text_rows parse(const line_block& block) const {
    text_rows rows;
    std::int64_t line = block.first_line;
    for (const char* p = block.begin; p < block.end; ++line) {
      const char* feed = std::find(p, block.end, '\n');
      const std::int64_t count = parse_line(p, feed, line, rows.values);
      if (count > 0) add_row(rows, count, line);
      p = feed + 1;
    }
    return rows;
  }

  /// Every row has as many numbers as the first of the file.
  [[noreturn]] void refuse_length(std::int64_t line, std::int64_t found, std::int64_t expected) const {
    throw parse_error(file_, line, 0,
                      std::to_string(found) + " numbers, the rows before have " + std::to_string(expected));
  }

 private:
  void add_row(text_rows& rows, std::int64_t count, std::int64_t line) const {
    if (rows.rows++ == 0) {
      rows.first_line = line;
      rows.cols = count;
    }
    if (count != rows.cols) refuse_length(line, count, rows.cols);
  }

  // Appends the numbers of a line; returns how many.
  std::int64_t parse_line(const char* begin, const char* end, std::int64_t line,
                          std::vector<double>& values) const {
    if (end > begin && end[-1] == '\r') --end;
    std::int64_t count = 0;
    const char* p = begin;
    for (;; ++count) {
      while (p < end && (*p == ' ' || *p == '\t')) ++p;
      if (p == end) return count;
      const auto number = parse_real(p, end);
      const bool whole = number.end == end || *number.end == ' ' || *number.end == '\t';
      if (number.error != number_error::none || !whole) refuse(begin, p, end, line);
      values.push_back(number.value);
      p = number.end;
    }
  }
  [[noreturn]] void refuse(const char* begin, const char* at, const char* end, std::int64_t line) const {
    token word;
    tokens(std::string_view(at, static_cast<std::size_t>(end - at))).next(word);
    throw parse_error(file_, line, at - begin + 1, not_a_number(word.text));
  }

  const std::string& file_;
};

vectors read_text_vectors(const device& cpu, line_reader& reader) {
  const text_parser parser(reader.path());
  std::deque<text_rows> pieces;  // by the number of the block
  std::mutex adding;
  for_each_block(reader, cpu.threads(), [&](const line_block& block) {
    text_rows rows = parser.parse(block);
    const std::lock_guard lock(adding);
    const auto at = static_cast<std::size_t>(block.number);
    if (pieces.size() <= at) pieces.resize(at + 1);
    pieces[at] = std::move(rows);
  });

  std::int64_t rows = 0;
  std::int64_t cols = 0;
  for (const text_rows& piece : pieces) {
    if (piece.rows == 0) continue;
    if (rows > 0 && piece.cols != cols) parser.refuse_length(piece.first_line, piece.cols, cols);
    cols = piece.cols;
    rows += piece.rows;
  }
  if (rows == 0) cols = 1;  // what is written of no numbers
  vectors result{rows, cols, array<double>(cpu, rows * cols)};
  std::int64_t row = 0;
  for (const text_rows& piece : pieces)
    for (auto value = piece.values.begin(); value != piece.values.end(); ++row)
      for (std::int64_t j = 0; j < cols; ++j) result.values[j * rows + row] = *value++;
  return result;
}

bool is_empty_npy(input_file& file) { return file.peek(1).empty() && file.path().ends_with(".npy"); }
[[noreturn]] void refuse_empty_npy(const std::string& path) {
  throw parse_error(path, 1, 1, "the file is empty, no array of NumPy");
}

[[noreturn]] void refuse_complex(const std::string& path) {
  throw parse_error(path, 0, 0, "the numbers are complex, and what was asked for takes real numbers alone");
}

// Two columns of real numbers are one of complex ones.
complex_vectors pairs(const device& cpu, const std::string& path, const vectors& numbers) {
  if (numbers.cols % 2 != 0)
    throw parse_error(
        path, 0, 0, std::to_string(numbers.cols) + " numbers a line are no pairs of real and imaginary parts");
  complex_vectors result{numbers.rows, numbers.cols / 2,
                         array<std::complex<double>>(cpu, numbers.rows * (numbers.cols / 2))};
  for (std::int64_t j = 0; j < result.cols; ++j)
    for (std::int64_t i = 0; i < result.rows; ++i)
      result.values[j * result.rows + i] = {numbers.values[2 * j * result.rows + i],
                                            numbers.values[(2 * j + 1) * result.rows + i]};
  return result;
}

// print(to, k) writes element k.
template <class Print>
void write_text(atomic_file& file, std::int64_t rows, std::int64_t cols, const Print& print) {
  constexpr std::int64_t piece = 4096;  // rows printed by a thread at a time
  write_in_order(file, ceil_div(rows, piece), device::cpu().threads(), [&] {
    return [&, text = std::string()](std::int64_t number) mutable -> std::string_view {
      text.clear();
      char digits[2 * number_width];
      for (std::int64_t i = number * piece; i < std::min(rows, (number + 1) * piece); ++i)
        for (std::int64_t j = 0; j < cols; ++j) {
          text.append(digits, print(digits, j * rows + i));
          text += j + 1 < cols ? ' ' : '\n';
        }
      return text;
    };
  });
}

template <class Print>
void write_array(atomic_file& file, const std::string& field, std::int64_t rows, std::int64_t cols,
                 const Print& print) {
  file.write("%%MatrixMarket matrix array " + field + " general\n" + std::to_string(rows) + " " +
             std::to_string(cols) + "\n");
  write_text(file, rows * cols, 1, print);
}

}  // namespace

std::variant<vectors, complex_vectors> read_any_vectors(const device& cpu, const std::string& path,
                                                        bool pairs_in_text) {
  const ieee_environment here;
  input_file file = open_part(path, "_b");
  const file_content content = content_of(file);
  if (content == file_content::npy) return read_any_npy(cpu, file);
  if (is_empty_npy(file)) refuse_empty_npy(path);
  if (is_other_format(content)) return read_other_format_vectors(content, cpu, std::move(file));
  line_reader reader(std::move(file));
  if (content == file_content::other) {
    vectors numbers = read_text_vectors(cpu, reader);
    if (!pairs_in_text || numbers.cols == 1) return numbers;
    return pairs(cpu, path, numbers);
  }
  const matrix_market_header header = take_matrix_market_header(reader);
  return read_matrix_market_vectors(cpu, reader, header);
}

vectors read_vectors(const device& cpu, const std::string& path) {
  std::variant<vectors, complex_vectors> read = read_any_vectors(cpu, path);
  if (std::holds_alternative<complex_vectors>(read)) refuse_complex(path);
  return std::get<vectors>(std::move(read));
}

namespace {

enum class plain_text { refused, taken };

any_matrix read_matrix_or(plain_text text, const device& dev, const std::string& path,
                          std::optional<matrix_market_header>* header) {
  const device cpu = dev.is_cuda() ? device::cpu() : dev;
  const auto any = [](std::variant<vectors, complex_vectors> dense) {
    return std::visit([](auto& values) -> any_matrix { return std::move(values); }, dense);
  };
  input_file file = open_part(path);
  const file_content content = content_of(file);
  if (content == file_content::npy) return any(read_any_npy(cpu, file));
  if (is_other_format(content)) {
    matrix_market_header facts;
    csr<double> A = read_other_format_csr(content, dev, std::move(file), facts);
    if (header != nullptr) *header = facts;
    return A;
  }
  if (text == plain_text::taken && is_empty_npy(file)) refuse_empty_npy(path);
  line_reader reader(std::move(file));
  if (text == plain_text::taken && content == file_content::other) return read_text_vectors(cpu, reader);
  const matrix_market_header facts = take_matrix_market_header(reader);
  if (header != nullptr) *header = facts;
  if (facts.format == matrix_format::array) return any(read_matrix_market_vectors(cpu, reader, facts));
  if (facts.field == matrix_field::complex) return read_complex_csr(cpu, reader, facts);
  return read_csr(dev, reader, facts);
}

}  // namespace

any_matrix read_any_matrix(const device& dev, const std::string& path,
                           std::optional<matrix_market_header>* header) {
  const ieee_environment here;
  return read_matrix_or(plain_text::refused, dev, path, header);
}

any_matrix read_any_numbers(const device& dev, const std::string& path,
                            std::optional<matrix_market_header>* header) {
  const ieee_environment here;
  const bool matrix_market = path.ends_with(".mtx") || path.ends_with(".mtx.gz");
  return read_matrix_or(matrix_market ? plain_text::refused : plain_text::taken, dev, path, header);
}

std::variant<csr<double>, vectors> read_matrix(const device& dev, const std::string& path,
                                               std::optional<matrix_market_header>* header) {
  any_matrix read = read_any_matrix(dev, path, header);
  if (auto* sparse = std::get_if<csr<double>>(&read)) return std::move(*sparse);
  if (auto* dense = std::get_if<vectors>(&read)) return std::move(*dense);
  refuse_complex(path);
}

void write_vectors(atomic_file& file, view<const double> values, std::int64_t rows, std::int64_t cols,
                   std::span<const text_side> sides) {
  const ieee_environment here;
  if (values.size() != rows * cols)
    throw shape_error("write_vectors: " + std::to_string(values.size()) + " values for " +
                      std::to_string(rows) + " by " + std::to_string(cols));
  for (std::int64_t k = 0; k < values.size(); ++k)
    if (!std::isfinite(values[k]))
      throw value_error("element " + std::to_string(k) + " is " + number_text(values[k]) +
                        ", it cannot be written");
  const auto print = [&](char* to, std::int64_t k) {
    const text_side side =
        sides.empty() ? text_side::nearest : sides[static_cast<std::size_t>(k / rows) % sides.size()];
    return print_number(to, values[k], side);
  };
  if (file.path().ends_with(".npy")) {
    const std::int64_t shape[] = {rows, cols};
    write_npy(file, values, {shape, cols == 1 ? 1u : 2u}, true);  // one dimension for one column
  } else if (file.path().ends_with(".mtx")) {
    write_array(file, "real", rows, cols, print);
  } else {
    write_text(file, rows, cols, print);
  }
  file.finish();
}

void write_vectors(const std::string& path, view<const double> values, std::int64_t rows, std::int64_t cols,
                   std::span<const text_side> sides) {
  atomic_file file(path);
  write_vectors(file, values, rows, cols, sides);
  file.commit();
}

void write_vectors(atomic_file& file, view<const std::complex<double>> values, std::int64_t rows,
                   std::int64_t cols) {
  const ieee_environment here;
  if (values.size() != rows * cols)
    throw shape_error("write_vectors: " + std::to_string(values.size()) + " values for " +
                      std::to_string(rows) + " by " + std::to_string(cols));
  for (std::int64_t k = 0; k < values.size(); ++k)
    if (!std::isfinite(values[k].real()) || !std::isfinite(values[k].imag()))
      throw value_error("element " + std::to_string(k) + " is " + number_text(values[k].real()) + ", " +
                        number_text(values[k].imag()) + ", it cannot be written");
  const auto print = [&](char* to, std::int64_t k) {
    to = print_number(to, values[k].real());
    *to++ = ' ';
    return print_number(to, values[k].imag());
  };
  if (file.path().ends_with(".npy")) {
    const std::int64_t shape[] = {rows, cols};
    write_npy(file, values, {shape, cols == 1 ? 1u : 2u}, true);
  } else if (file.path().ends_with(".mtx")) {
    write_array(file, "complex", rows, cols, print);
  } else {
    write_text(file, rows, cols, print);
  }
  file.finish();
}

void write_vectors(const std::string& path, view<const std::complex<double>> values, std::int64_t rows,
                   std::int64_t cols) {
  atomic_file file(path);
  write_vectors(file, values, rows, cols);
  file.commit();
}

}  // namespace vouch
