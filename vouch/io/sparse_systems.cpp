#include <vouch/io/sparse_systems.hpp>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>
#include <utility>

#include <vouch/core/error.hpp>
#include <vouch/core/ieee_environment.hpp>
#include <vouch/io/named_arrays.hpp>
#include <vouch/sparse/valid_csr.hpp>
#include <vouch/text/file.hpp>
#include <vouch/text/number.hpp>

namespace vouch {
namespace {

using detail::named_arrays, detail::shape_text;

constexpr std::string_view pattern_name[] = {"indptr"};
constexpr std::string_view names[] = {"indptr", "indices", "data", "b"};

template <class Integer>
std::vector<Integer> whole_numbers(const std::string& path, const char* name, const npy_array& array,
                                   double most) {
  if (array.shape.size() != 1)
    throw parse_error(path, 0, 0,
                      std::string(name) + " is " + shape_text(array) + ", and has one dimension in CSR");
  std::vector<Integer> numbers;
  numbers.reserve(array.values.size());
  for (const double value : array.values) {
    if (!(value >= 0 && value <= most && value == std::floor(value)))
      throw parse_error(path, 0, 0,
                        std::string(name) + ": element " + std::to_string(numbers.size()) + " is " +
                            number_text(value) + ", no index",
                        "indices are whole numbers from 0 to " + number_text(most));
    numbers.push_back(static_cast<Integer>(value));
  }
  return numbers;
}

// Whether an array holds as many numbers for each of so many systems; those of one without are for all.
struct rows_of {
  std::int64_t systems = 1;
  bool is_one = true;
};
rows_of count_rows(const std::string& path, const char* name, const npy_array& array, std::size_t length) {
  const auto fits = static_cast<std::int64_t>(length);
  if (array.shape.empty() || array.shape.size() > 2 || array.shape.back() != fits)
    throw parse_error(
        path, 0, 0, std::string(name) + " is " + shape_text(array) + " where a row has " + std::to_string(fits),
        "a row for each system, or one dimension for all");
  if (array.shape.size() == 1) return {};
  return {array.shape[0], false};
}

void require_pattern(const std::string& path, const sparse_systems& all) {
  try {
    const csr_view<const double> first{
        all.rows,           all.rows,       static_cast<std::int64_t>(all.col.size()),
        all.row_ptr.data(), all.col.data(), all.values.data()};
    const valid_csr valid("CSR", device::cpu(1), first);
  } catch (const value_error& e) {
    throw parse_error(path, 0, 0, e.what(),
                      "A.sum_duplicates() of SciPy puts the entries of a matrix in order");
  }
}

}  // namespace

std::optional<sparse_systems> read_sparse_systems(const std::string& path) {
  const ieee_environment here;
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(path, ignored)) return {};  // a pipe is read once
  if (!is_zip(input_file(path).peek(4)) || read_npz(path, pattern_name).empty()) return {};
  const named_arrays arrays(path, names,
                            "a batch of one pattern is written by numpy.savez(FILE, indptr=A.indptr, "
                            "indices=A.indices, data=values, b=b)");
  sparse_systems all;
  all.row_ptr = whole_numbers<std::int64_t>(path, "indptr", arrays.need("indptr"), 0x1p53);
  all.col = whole_numbers<std::int32_t>(path, "indices", arrays.need("indices"),
                                        std::numeric_limits<std::int32_t>::max());
  if (all.row_ptr.empty()) throw parse_error(path, 0, 0, "indptr is empty");
  all.rows = static_cast<std::int64_t>(all.row_ptr.size()) - 1;
  const npy_array &data = arrays.need("data"), &b = arrays.need("b");
  const rows_of matrices = count_rows(path, "data", data, all.col.size());
  const rows_of sides = count_rows(path, "b", b, static_cast<std::size_t>(all.rows));
  if (!matrices.is_one && !sides.is_one && matrices.systems != sides.systems)
    throw parse_error(path, 0, 0, "data is " + shape_text(data) + ", b is " + shape_text(b),
                      "as many right-hand sides as matrices, or one");
  all.one_matrix = matrices.is_one;
  all.one_rhs = sides.is_one;
  all.systems = matrices.is_one ? sides.systems : matrices.systems;
  if (all.systems == 0) throw parse_error(path, 0, 0, "there is no system in the file");
  all.values = data.values;
  all.b = b.values;
  require_pattern(path, all);
  return all;
}

}  // namespace vouch
