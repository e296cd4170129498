#include <vouch/io/decimal_radii.hpp>

#include <algorithm>
#include <cmath>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include <vouch/core/error.hpp>
#include <vouch/core/ieee_environment.hpp>
#include <vouch/io/matrix_market_parts.hpp>
#include <vouch/io/npy.hpp>
#include <vouch/text/decimal.hpp>
#include <vouch/text/lines.hpp>
#include <vouch/text/tokens.hpp>

namespace vouch {
namespace {

// Calls use(words of the line) for every line left that is not blank, in order.
template <class Use>
void for_each_line(line_reader& reader, const Use& use) {
  line_block block;
  while (reader.next_block(block))
    for (const char* p = block.begin; p < block.end;) {
      const char* const feed = std::find(p, block.end, '\n');
      std::string_view line(p, static_cast<std::size_t>(feed - p));
      if (line.ends_with('\r')) line.remove_suffix(1);
      if (!is_blank(line)) use(tokens(line));
      p = feed + 1;
    }
}

// Of the last number of each line, in the order of the file.
std::vector<double> entry_radii(line_reader& reader) {
  std::vector<double> radii;
  for_each_line(reader, [&](tokens words) {
    token word, last;
    while (words.next(word)) last = word;
    radii.push_back(decimal_radius(last.text));
  });
  return radii;
}

// The places of the elements of an array file, in its order.
coo array_places(const device& cpu, const matrix_market_header& header) {
  coo A = coo_for(cpu, header, header.entries);
  const std::int64_t below = header.stored_as == symmetry::skew_symmetric ? 1 : 0;
  std::int64_t k = 0;
  for (std::int64_t j = 0; j < header.cols; ++j)
    for (std::int64_t i = header.stored_as == symmetry::general ? 0 : j + below; i < header.rows; ++i, ++k) {
      A.row[k] = static_cast<std::int32_t>(i);
      A.col[k] = static_cast<std::int32_t>(j);
    }
  return A;
}

std::int64_t entries_of_both_triangles(const coo& A) {
  std::int64_t count = A.row.size();
  for (std::int64_t k = 0; k < A.row.size() && A.stored_as != symmetry::general; ++k)
    count += A.row[k] != A.col[k] ? 1 : 0;
  return count;
}

// Entries that are not zero, row after row.
class radius_rows {
 public:
  void take(std::int64_t col, double radius) {
    if (radius == 0) return;
    col_.push_back(static_cast<std::int32_t>(col));
    val_.push_back(std::fabs(radius));
  }
  void end_row() { row_ptr_.push_back(std::ssize(val_)); }
  csr<double> matrix(const device& cpu, std::int64_t cols) const {
    return {std::ssize(row_ptr_) - 1, cols, array<std::int64_t>::from(cpu, row_ptr_),
            array<std::int32_t>::from(cpu, col_), array<double>::from(cpu, val_)};
  }

 private:
  std::vector<std::int64_t> row_ptr_{0};
  std::vector<std::int32_t> col_;
  std::vector<double> val_;
};

csr<double> without_zeros(const device& cpu, const csr<double>& A) {
  radius_rows rows;
  for (std::int64_t i = 0; i < A.rows; ++i) {
    for (std::int64_t k = A.row_ptr[i]; k < A.row_ptr[i + 1]; ++k) rows.take(A.col[k], A.val[k]);
    rows.end_row();
  }
  return rows.matrix(cpu, A.cols);
}

csr<double> without_zeros(const device& cpu, const vectors& A) {
  radius_rows rows;
  for (std::int64_t i = 0; i < A.rows; ++i) {
    for (std::int64_t j = 0; j < A.cols; ++j) rows.take(j, A.values[j * A.rows + i]);
    rows.end_row();
  }
  return rows.matrix(cpu, A.cols);
}

csr<double> no_radii(const device& cpu, std::int64_t rows, std::int64_t cols) {
  return {rows, cols, array<std::int64_t>::zeros(cpu, rows + 1), array<std::int32_t>(cpu, 0),
          array<double>(cpu, 0)};
}

// Of a .npy file; nothing where the file is another.
std::optional<vectors> npy_radii(const device& cpu, const std::string& path) {
  input_file file(path);
  if (!is_npy(file.peek(6))) return {};
  return read_npy_radii(cpu, file);
}

vectors densified(const device& cpu, const csr<double>& A) {
  vectors result{A.rows, A.cols, array<double>::zeros(cpu, A.rows * A.cols)};
  for (std::int64_t i = 0; i < A.rows; ++i)
    for (std::int64_t k = A.row_ptr[i]; k < A.row_ptr[i + 1]; ++k)
      result.values[A.col[k] * A.rows + i] = A.val[k];
  return result;
}

}  // namespace

csr<double> read_matrix_radii(const device& cpu, const std::string& path) {
  const ieee_environment here;
  if (const std::optional<vectors> radii = npy_radii(cpu, path)) return without_zeros(cpu, *radii);
  line_reader reader{input_file(path)};
  const matrix_market_header header = take_matrix_market_header(reader);
  if (header.field == matrix_field::pattern) return no_radii(cpu, header.rows, header.cols);
  const std::vector<double> radii = entry_radii(reader);
  coo places = header.format == matrix_format::array ? array_places(cpu, header) : read_coo(cpu, path);
  if (places.row.size() != std::ssize(radii)) throw value_error(path + ": the file changed while it was read");
  places.val = array<double>::from(cpu, radii);
  const csr<double> A = to_csr(cpu, places);
  if (A.nonzeros() != entries_of_both_triangles(places))
    throw value_error(path + ": an entry stands there twice, and its sum is rounded", "write each entry once");
  return without_zeros(cpu, A);
}

vectors read_vector_radii(const device& cpu, const std::string& path) {
  const ieee_environment here;
  if (std::optional<vectors> radii = npy_radii(cpu, path)) return std::move(*radii);
  vectors shape = read_vectors(cpu, path);
  if (input_file(path).peek(1).starts_with('%')) return densified(cpu, read_matrix_radii(cpu, path));
  line_reader reader{input_file(path)};
  std::int64_t row = 0;
  for_each_line(reader, [&](tokens words) {
    token word;
    for (std::int64_t j = 0; words.next(word) && row < shape.rows && j < shape.cols; ++j)
      shape.values[j * shape.rows + row] = decimal_radius(word.text);
    ++row;
  });
  if (row != shape.rows) throw value_error(path + ": the file changed while it was read");
  return shape;
}

}  // namespace vouch
