#include <vouch/io/decimal_radii.hpp>

#include <algorithm>
#include <cmath>
#include <string_view>
#include <utility>
#include <vector>

#include <vouch/core/error.hpp>
#include <vouch/core/ieee_environment.hpp>
#include <vouch/io/harwell_boeing.hpp>
#include <vouch/io/matrix_file.hpp>
#include <vouch/io/matrix_market_parts.hpp>
#include <vouch/io/npy.hpp>
#include <vouch/text/lines.hpp>
#include <vouch/text/number.hpp>
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

// Of a Matrix Market file, each in the place of its entry.
coo matrix_market_radii(const device& cpu, const std::string& path, const char* part, input_file file) {
  line_reader reader(std::move(file));
  const matrix_market_header header = take_matrix_market_header(reader);
  if (header.field == matrix_field::pattern) return coo_for(cpu, header, 0);
  const std::vector<double> radii = entry_radii(reader);
  matrix_market_header unused;
  coo places = header.format == matrix_format::array ? array_places(cpu, header)
                                                     : read_coo(cpu, open_part(path, part), unused);
  if (places.row.size() != std::ssize(radii)) throw value_error(path + ": the file changed while it was read");
  places.val = array<double>::from(cpu, radii);
  return places;
}

csr<double> summed(const device& cpu, const std::string& path, const coo& radii) {
  const csr<double> A = to_csr(cpu, radii);
  if (A.nonzeros() != entries_of_both_triangles(radii))
    throw value_error(path + ": an entry stands there twice, and its sum is rounded", "write each entry once");
  return without_zeros(cpu, A);
}

csr<double> matrix_radii(const device& cpu, const std::string& path, const char* part) {
  input_file file = open_part(path, part);
  const file_content content = content_of(file);
  if (content == file_content::npy) return without_zeros(cpu, read_npy_radii(cpu, file));
  if (content == file_content::harwell_boeing)
    return summed(cpu, path, read_harwell_boeing(cpu, std::move(file), read_as::radius).A);
  matrix_market_header unused;
  if (content == file_content::npz)
    return summed(cpu, path, read_scipy_npz(cpu, file, read_as::radius, unused));
  return summed(cpu, path, matrix_market_radii(cpu, path, part, std::move(file)));
}

}  // namespace

csr<double> read_matrix_radii(const device& cpu, const std::string& path) {
  const ieee_environment here;
  return matrix_radii(cpu, path, "");
}

vectors read_vector_radii(const device& cpu, const std::string& path) {
  const ieee_environment here;
  constexpr const char* rhs = "_b";
  input_file file = open_part(path, rhs);
  const file_content content = content_of(file);
  if (content == file_content::npy) return read_npy_radii(cpu, file);
  if (content == file_content::harwell_boeing)
    return read_harwell_boeing(cpu, std::move(file), read_as::radius).rhs;
  if (content != file_content::other) return densified(cpu, matrix_radii(cpu, path, rhs));
  vectors shape = read_vectors(cpu, path);
  line_reader reader(std::move(file));
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
