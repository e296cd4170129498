#include <algorithm>
#include <cmath>
#include <deque>
#include <mutex>
#include <vector>

#include <vouch/core/error.hpp>
#include <vouch/core/ieee_environment.hpp>
#include <vouch/io/matrix_market_parts.hpp>
#include <vouch/io/npy.hpp>
#include <vouch/io/vectors.hpp>
#include <vouch/text/lines.hpp>
#include <vouch/text/number.hpp>
#include <vouch/text/ordered_writer.hpp>
#include <vouch/text/tokens.hpp>

namespace vouch {
namespace {

// A symmetric array or a coordinate file; a general array is already in the order of the result.
vectors read_matrix_market_vectors(const device& cpu, line_reader& reader, const matrix_market_header& header) {
  if (header.format == matrix_format::array && header.stored_as == symmetry::general)
    return {header.rows, header.cols, read_array_elements(cpu, reader, header)};
  const csr<double> A = read_csr(cpu, reader, header);
  vectors result{A.rows, A.cols, array<double>::zeros(cpu, A.rows * A.cols)};
  for (std::int64_t i = 0; i < A.rows; ++i)
    for (std::int64_t k = A.row_ptr[i]; k < A.row_ptr[i + 1]; ++k)
      result.values[A.col[k] * A.rows + i] = A.val[k];
  return result;
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

// print(to, k) writes element k.
template <class Print>
void write_text(atomic_file& file, std::int64_t rows, std::int64_t cols, const Print& print) {
  constexpr std::int64_t piece = 4096;  // rows printed by a thread at a time
  write_in_order(file, ceil_div(rows, piece), device::cpu().threads(), [&] {
    return [&, text = std::string()](std::int64_t number) mutable -> std::string_view {
      text.clear();
      char digits[number_width];
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
void write_array(atomic_file& file, std::int64_t rows, std::int64_t cols, const Print& print) {
  file.write("%%MatrixMarket matrix array real general\n" + std::to_string(rows) + " " + std::to_string(cols) +
             "\n");
  write_text(file, rows * cols, 1, print);
}

}  // namespace

vectors read_vectors(const device& cpu, const std::string& path) {
  const ieee_environment here;
  input_file file(path);
  const std::string_view start = file.peek(6);
  if (is_npy(start)) return read_npy(cpu, file);
  if (start.empty() && path.ends_with(".npy"))
    throw parse_error(path, 1, 1, "the file is empty, no array of NumPy");
  const bool is_matrix_market = start.starts_with('%');
  line_reader reader(std::move(file));
  if (!is_matrix_market) return read_text_vectors(cpu, reader);
  const matrix_market_header header = take_matrix_market_header(reader);
  return read_matrix_market_vectors(cpu, reader, header);
}

std::variant<csr<double>, vectors> read_matrix(const device& dev, const std::string& path,
                                               std::optional<matrix_market_header>* header) {
  const ieee_environment here;
  const device cpu = dev.is_cuda() ? device::cpu() : dev;
  input_file file(path);
  if (is_npy(file.peek(6))) return read_npy(cpu, file);
  line_reader reader(std::move(file));
  const matrix_market_header facts = take_matrix_market_header(reader);
  if (header != nullptr) *header = facts;
  if (facts.format == matrix_format::array) return read_matrix_market_vectors(cpu, reader, facts);
  return read_csr(dev, reader, facts);
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
    write_array(file, rows, cols, print);
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

}  // namespace vouch
