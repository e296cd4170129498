#include <vouch/io/matrix_file.hpp>

#include <algorithm>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include <vouch/core/error.hpp>
#include <vouch/core/ieee_environment.hpp>
#include <vouch/core/loop_threads.hpp>
#include <vouch/io/npy_parts.hpp>
#include <vouch/sparse/transpose.hpp>

namespace vouch {
namespace {

constexpr std::int64_t most_rows = std::numeric_limits<std::int32_t>::max();

[[noreturn]] void refuse(const npy_bytes& array, const std::string& what, const char* hint = "") {
  throw parse_error(array.name, 0, 0, what, hint);
}

// The arrays of one archive, and the matrix that they are.
class sparse_archive {
 public:
  sparse_archive(const device& cpu, const input_file& file, read_as what)
      : cpu_(cpu), path_(file.path()), zip_(file), what_(what) {}

  coo read(matrix_market_header& header) {
    const std::string format = begin(header);
    return ended(entries(format), header);
  }
  /// The same as rows in order.
  csr<double> read_rows(matrix_market_header& header) {
    const std::string format = begin(header);
    if (format != "csr" && format != "csc") return to_csr(cpu_, ended(entries(format), header));
    const bool by_columns = format == "csc";
    csr<double> parts = compressed_parts(by_columns);
    if (!ascends(parts)) return to_csr(cpu_, ended(triplets_of(std::move(parts), by_columns), header));
    count(parts.nonzeros(), header);
    return by_columns ? transpose<double>(cpu_, parts) : std::move(parts);
  }

 private:
  // The name of the format.
  std::string begin(matrix_market_header& header) {
    if (!zip_.has("format") || !zip_.has("shape") || !zip_.has("data"))
      throw parse_error(path_, 0, 0,
                        "the .npz archive holds no sparse matrix: format, shape or data is missing",
                        "scipy.sparse.save_npz writes one; --batch reads systems of one pattern from indptr, "
                        "indices, data and b, "
                        "tridiagonal ones from dl, d, du and b");
    take({"format", "shape"});
    const std::string format = format_name();
    take_shape();
    header.file = path_;
    header.container = "SciPy .npz (" + format + ")";
    return format;
  }
  coo ended(coo A, matrix_market_header& header) const {
    count(A.val.size(), header);
    return A;
  }
  void count(std::int64_t entries, matrix_market_header& header) const {
    header.rows = rows_;
    header.cols = cols_;
    header.entries = entries;
    if (find("data").type.kind != 'f') header.field = matrix_field::integer;
  }
  void take(std::vector<std::string_view> names) {
    for (const std::string_view name : names)
      if (!zip_.has(name)) throw parse_error(path_, 0, 0, "the .npz archive has no array " + std::string(name));
    for (npz_member& m : zip_.unpack(names, cpu_.threads())) members_.push_back(std::move(m));
  }
  npy_bytes find(std::string_view name) const {
    const auto m =
        std::find_if(members_.begin(), members_.end(), [&](const npz_member& one) { return one.name == name; });
    return look_at_npy(m->label, m->bytes());
  }
  // Of dimensions that are asked for.
  npy_bytes find(std::string_view name, std::size_t dimensions) const {
    npy_bytes array = find(name);
    if (array.shape.size() != dimensions)
      refuse(array, std::to_string(array.shape.size()) + " dimensions, expected " + std::to_string(dimensions));
    return array;
  }
  npy_bytes find_of_length(std::string_view name, std::int64_t length) const {
    npy_bytes array = find(name, 1);
    if (array.size() != length)
      refuse(array, std::to_string(array.size()) + " elements, expected " + std::to_string(length));
    return array;
  }
  std::string format_name() const {
    const npy_bytes format = find("format");
    std::string name;
    for (const char c : format.elements)
      if (c != '\0') name += c;
    const bool is_text = format.type.kind == 'S' || format.type.kind == 'U';
    for (const char* known : {"csr", "csc", "coo", "bsr", "dia"})
      if (is_text && name == known) return name;
    refuse(format, "no format that is known", "csr, csc, coo, bsr or dia");
  }
  void take_shape() {
    const npy_bytes shape = find_of_length("shape", 2);
    with_integers(shape, [&](auto at) {
      rows_ = at(0);
      cols_ = at(1);
    });
    if (rows_ < 0 || cols_ < 0 || rows_ > most_rows || cols_ > most_rows)
      refuse(shape, "rows and columns must be from 0 to " + std::to_string(most_rows));
  }

  // Indices below `limit`.
  array<std::int32_t> indices(const npy_bytes& from, std::int64_t limit) const {
    const std::int64_t count = from.size();
    array<std::int32_t> to(cpu_, count);
    std::int64_t bad = count, value = 0;
    with_integers(from, [&](auto at) {
#pragma omp parallel for firstprivate(ieee) num_threads(loop_threads(cpu_, count)) schedule(static) \
    reduction(min                                                                                   \
              : bad)
      for (std::int64_t k = 0; k < count; ++k) {
        const std::int64_t index = at(k);
        if (index < 0 || index >= limit) bad = std::min(bad, k);
        to[k] = static_cast<std::int32_t>(index);
      }
      if (bad < count) value = at(bad);
    });
    if (bad < count)
      refuse(from,
             "element " + std::to_string(bad) + ": index " + std::to_string(value) +
                 " does not lie from 0 to " + std::to_string(limit - 1),
             "indices count from 0");
    return to;
  }
  // Where `parts` rows or columns of `count` entries begin, and where the last one ends.
  array<std::int64_t> pointers(std::int64_t parts, std::int64_t count) const {
    const npy_bytes from = find_of_length("indptr", parts + 1);
    array<std::int64_t> to(cpu_, parts + 1);
    with_integers(from, [&](auto at) {
      for (std::int64_t k = 0; k <= parts; ++k) {
        to[k] = at(k);
        if (to[k] < (k == 0 ? 0 : to[k - 1]) || to[k] > count)
          refuse(from, "element " + std::to_string(k) + ": " + std::to_string(to[k]) + " is out of order");
      }
    });
    if (to[0] != 0 || to[parts] != count)
      refuse(from, "it goes from " + std::to_string(to[0]) + " to " + std::to_string(to[parts]) +
                       ", expected 0 to " + std::to_string(count));
    return to;
  }

  coo entries(const std::string& format) {
    const bool by_columns = format == "csc";
    if (by_columns || format == "csr") return triplets_of(compressed_parts(by_columns), by_columns);
    if (format == "bsr") return blocks();
    return format == "coo" ? triplets() : diagonals();
  }
  coo triplets() {
    take({"row", "col", "data"});
    const npy_bytes data = find("data", 1);
    coo A{rows_,
          cols_,
          symmetry::general,
          indices(find_of_length("row", data.size()), rows_),
          indices(find_of_length("col", data.size()), cols_),
          npy_doubles(cpu_, data, what_)};
    return A;
  }
  // Rows, or columns as if they were rows.
  csr<double> compressed_parts(bool by_columns) {
    take({"indptr", "indices", "data"});
    const npy_bytes data = find("data", 1);
    const std::int64_t parts = by_columns ? cols_ : rows_, across = by_columns ? rows_ : cols_;
    array<std::int64_t> start = pointers(parts, data.size());
    return {parts, across, std::move(start), indices(find_of_length("indices", data.size()), across),
            npy_doubles(cpu_, data, what_)};
  }
  bool ascends(const csr<double>& A) const {
    bool all = true;
#pragma omp parallel for firstprivate(ieee) num_threads(loop_threads(cpu_, A.nonzeros())) schedule(static) \
    reduction(&& : all)
    for (std::int64_t i = 0; i < A.rows; ++i)
      for (std::int64_t k = A.row_ptr[i] + 1; k < A.row_ptr[i + 1]; ++k) all = all && A.col[k - 1] < A.col[k];
    return all;
  }
  coo triplets_of(csr<double> parts, bool by_columns) const {
    array<std::int32_t> outer(cpu_, parts.nonzeros());
#pragma omp parallel for firstprivate(ieee) num_threads(loop_threads(cpu_, outer.size())) schedule(static)
    for (std::int64_t i = 0; i < parts.rows; ++i)
      std::fill(outer.begin() + parts.row_ptr[i], outer.begin() + parts.row_ptr[i + 1],
                static_cast<std::int32_t>(i));
    if (by_columns) std::swap(parts.col, outer);
    return {rows_, cols_, symmetry::general, std::move(outer), std::move(parts.col), std::move(parts.val)};
  }
  coo blocks() {
    take({"indptr", "indices", "data"});
    const npy_bytes data = find("data", 3);
    const std::int64_t count = data.shape[0], height = data.shape[1], width = data.shape[2];
    if (data.fortran_order)
      refuse(data, "the blocks are in Fortran order", "save a copy of the matrix: A.copy()");
    if (height < 1 || width < 1 || rows_ % height != 0 || cols_ % width != 0)
      refuse(data, "blocks of " + std::to_string(height) + " by " + std::to_string(width) +
                       " do not tile a matrix of " + std::to_string(rows_) + " by " + std::to_string(cols_));
    const array<std::int64_t> start = pointers(rows_ / height, count);
    const array<std::int32_t> block_col = indices(find_of_length("indices", count), cols_ / width);
    coo A{rows_,
          cols_,
          symmetry::general,
          array<std::int32_t>(cpu_, data.size()),
          array<std::int32_t>(cpu_, data.size()),
          npy_doubles(cpu_, data, what_)};
#pragma omp parallel for firstprivate(ieee) num_threads(loop_threads(cpu_, data.size())) schedule(static)
    for (std::int64_t i = 0; i < rows_ / height; ++i)
      for (std::int64_t k = start[i] * height * width; k < start[i + 1] * height * width; ++k) {
        const std::int64_t block = k / (height * width), within = k % (height * width);
        A.row[k] = static_cast<std::int32_t>(i * height + within / width);
        A.col[k] = static_cast<std::int32_t>(block_col[block] * width + within % width);
      }
    return A;
  }
  // Row d of data is a diagonal: element j of it stands in column j.
  coo diagonals() {
    take({"offsets", "data"});
    const npy_bytes data = find("data", 2);
    const std::int64_t diagonals = data.shape[0], length = data.shape[1];
    const array<double> val = npy_doubles(cpu_, data, what_);
    const array<double> nearest =
        what_ == read_as::radius ? npy_doubles(cpu_, data, read_as::double_nearest) : array<double>();
    const array<double>& seen = what_ == read_as::radius ? nearest : val;
    std::vector<std::int32_t> row, col;
    std::vector<double> kept;
    with_integers(find_of_length("offsets", diagonals), [&](auto at) {
      for (std::int64_t d = 0; d < diagonals; ++d) {
        const std::int64_t offset = std::clamp(at(d), -most_rows, most_rows);
        const std::int64_t first = std::max<std::int64_t>(0, offset);
        for (std::int64_t j = first; j < std::min({length, cols_, rows_ + offset}); ++j) {
          const std::int64_t k = data.fortran_order ? j * diagonals + d : d * length + j;
          if (seen[k] == 0) continue;
          row.push_back(static_cast<std::int32_t>(j - offset));
          col.push_back(static_cast<std::int32_t>(j));
          kept.push_back(val[k]);
        }
      }
    });
    return {rows_,
            cols_,
            symmetry::general,
            array<std::int32_t>::from(cpu_, row),
            array<std::int32_t>::from(cpu_, col),
            array<double>::from(cpu_, kept)};
  }

  const device& cpu_;
  std::string path_;
  npz_archive zip_;
  read_as what_;
  std::vector<npz_member> members_;
  std::int64_t rows_ = 0, cols_ = 0;
};

}  // namespace

csr<double> read_scipy_csr(const device& cpu, const input_file& file, matrix_market_header& header) {
  const ieee_environment here;
  return sparse_archive(cpu, file, read_as::double_nearest).read_rows(header);
}

coo read_scipy_npz(const device& cpu, const input_file& file, read_as what, matrix_market_header& header) {
  const ieee_environment here;
  return sparse_archive(cpu, file, what).read(header);
}

}  // namespace vouch
